// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels in common.cu, and what they leave behind: shared by kernels and the host code that
// launches them.
#ifndef LIFTOFF_KERNELS_COMMON_H
#define LIFTOFF_KERNELS_COMMON_H

#include <stdint.h>

// What multiprocessor_index() stays below where the target tells.
enum { MULTIPROCESSORS_MAX = 4096 };

// Ticks of device_clock() are "ticks" below. A struct lies in device memory unless it says mapped.

// What a stamping kernel proves: that it ran, when, and for which launch.
struct stamp {
    uint64_t begin_ticks, end_ticks; // the first thread's first and last clock read
    uint64_t sequence;               // the argument's, written last
};

// `stamp`: reads the clock, spins for SPIN_TICKS, reads it again, and writes OUT. Block 0's first thread does the work.
struct stamp_argument {
    struct stamp *out;
    uint64_t sequence;
    uint64_t spin_ticks;
};

// `flag`: stores VALUE to the mapped word FLAG as its only act.
struct flag_argument {
    uint32_t *flag;
    uint32_t value;
};

// `gate`: stores VALUE to the mapped word RAN and holds its stream until the mapped word OPEN is >= VALUE, or for
// LIMIT_TICKS; then sets *EXPIRED (mapped) to 1.
struct gate_argument {
    uint32_t *open;
    uint32_t *expired;
    uint32_t *ran;
    uint64_t limit_ticks;
    uint32_t value;
};

// What `pingpong` writes for the host: where its clock began, once, and then one word a ping. One word, because it
// needs no fence before it: a fence would wait for the bus and loosen what the answer proves.
struct pong {
    uint64_t begin_ticks;
    uint64_t answer; // see PONG_…
};

// An answer holds, from its lowest bit: the ping's number (8 bits); how long before AFTER the device's clock stood at
// the last poll that missed the ping (20 bits, 0 if there was none or it is too long ago): the ping was stored after
// that moment; and AFTER less begin_ticks (36 bits), read when the poll had seen the ping: it was stored before that,
// and the answer after.
#define PONG_AGE_MAX 0xfffff
#define PONG_ANSWER(after, age, sequence) ((uint64_t)(after) << 28 | (uint64_t)(age) << 8 | (uint64_t)(sequence))
#define PONG_AFTER(answer) ((answer) >> 28)
#define PONG_AGE(answer) ((answer) >> 8 & PONG_AGE_MAX)
#define PONG_SEQUENCE(answer) ((answer)&0xff)

// `pingpong`: answers pings 1 … COUNT (at most 255), each within LIMIT_TICKS, then ends. PING and PONG are mapped.
struct pingpong_argument {
    uint64_t *ping;
    struct pong *pong;
    uint64_t limit_ticks;
    uint64_t count;
};

// `clock_steps`: reads the clock until it has seen COUNT steps and writes their sizes to STEPS.
struct clock_steps_argument {
    uint64_t *steps;
    uint64_t count;
};

// `sweep`: reads COUNT words, one of each 32 bytes, so that nothing else is left in a cache that holds no more. All
// threads of all blocks share the work; the first one stores SEQUENCE to OUT.
enum { SWEEP_STRIDE = 4 };
struct sweep_argument {
    uint64_t *out;
    uint64_t sequence;
    uint64_t *words; // zeros
    uint64_t count;
};

#endif
