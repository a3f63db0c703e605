// SPDX-License-Identifier: Apache-2.0
// The argument of the kernels in context_switch.cu, and what they leave behind.
#ifndef LIFTOFF_KERNELS_CONTEXT_SWITCH_H
#define LIFTOFF_KERNELS_CONTEXT_SWITCH_H

#include <stdint.h>

// RESIDENT_REGISTERS: nominal registers a thread of resident_registers. RESIDENT_WORDS: words that it
// reads.
enum { RESIDENT_THREADS = 128, RESIDENT_REGISTERS = 128, RESIDENT_WORDS = 1024 };

// While a kernel ran: the first and the last clock read between which no two reads in a row were far apart.
struct slice {
    uint64_t begin_ticks, end_ticks;
};

struct resident_told {
    uint64_t longest_pass_ticks; // between two reads in a row within a slice
    uint64_t slices;
    uint64_t sequence; // the argument's; written last by block 0
    uint32_t ended;    // the argument's sequence: the other blocks may go
    uint32_t lost;     // the argument's sequence: in some block not all that was held came back as it was
};

// All of them: the first thread of block 0 reads the clock without pause and writes down the SLICES in which it ran, a
// new one when two reads are more than APART_TICKS apart. It ends in its ROOMth slice or after LIMIT_TICKS; the other
// blocks stay so long with all that they hold. `resident` holds little, `resident_registers` many registers,
// `resident_shared` SHARED_BYTES of dynamic shared memory; what they hold is other values in each block, and begins
// with SEED, other ones in each process.
struct resident_argument {
    struct slice *slices; // ROOM
    struct resident_told *told;
    uint32_t *words; // RESIDENT_WORDS, from which registers are filled
    uint64_t room, limit_ticks, apart_ticks;
    uint64_t sequence; // 1 … 2^32 − 1
    uint64_t shared_bytes;
    uint32_t seed;
};

#endif
