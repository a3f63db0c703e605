// SPDX-License-Identifier: Apache-2.0
// Which kernels warm_up.cu has, their arguments and what they leave: shared with the host code.
#ifndef LIFTOFF_KERNELS_WARM_UP_H
#define LIFTOFF_KERNELS_WARM_UP_H

#include <stdint.h>

// `warm_straight`, `warm_branches`: a loop of WARM_ITERATIONS, each of WARM_BRANCHES pieces of straight code.
// `warm_branches` chooses each piece from two by a bit of a pattern; `warm_straight` runs the first of each pair and
// has the second ones behind the loop, never run.
enum { WARM_ITERATIONS = 64, WARM_BRANCHES = 8 };

// What a block leaves: of its first thread.
struct warm_stamp {
    uint64_t sequence; // the argument's, plus what the code made of PLUS: 0 of 0
    uint32_t warp_threads;
    uint64_t cycles[WARM_ITERATIONS];
};

// The pattern of an iteration is PATTERN, changed in the bits of RANDOM by what a generator of the state SEED makes,
// the same in all threads, and in every other thread in the bits of DIVERGENT.
struct warm_argument {
    struct warm_stamp *out; // one a block, the device's
    uint64_t sequence;
    uint32_t seed, pattern, random, divergent;
    float by, plus;
};

// `mix_fma`, `mix_add_xor`, `mix_fma_add_xor`: PASSES times MIX_INSTRUCTIONS independent instructions in every thread,
// once their code has been fetched; `mix_fma_twice` and so on have twice as many a pass. In blocks of at most
// MIX_THREADS.
enum { MIX_INSTRUCTIONS = 512, MIX_THREADS = 512, MIX_WARPS_MAX = 16 };

// What a block leaves. Of its first thread: the ticks, and its cycles from before the first of them to behind the last,
// which are more than what lies between the two, as its own begin and end are less.
struct mix_stamp {
    uint64_t begin_ticks, end_ticks, outer_cycles;
    uint64_t sequence;
    uint32_t warps, schedulers; // of the block; of its multiprocessor, 0 where cycles are not the multiprocessor's
    uint64_t begin_cycles[MIX_WARPS_MAX], end_cycles[MIX_WARPS_MAX]; // of each warp
};

struct mix_argument {
    struct mix_stamp *out; // one a block, the device's
    uint64_t sequence;
    uint32_t passes;
    float by, plus;
};

// `block_start`: each block tells when it began, and stays for STAY_TICKS.
struct start_stamp {
    uint64_t begin_ticks, sequence;
    uint32_t multiprocessor;
};

struct start_argument {
    struct start_stamp *out; // one a block, the device's
    uint64_t sequence, stay_ticks;
};

#endif
