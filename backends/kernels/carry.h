// SPDX-License-Identifier: Apache-2.0
// What carry.cu's kernels pass from a producer to a consumer, their arguments and what they leave:
// shared with the host code.
#ifndef LIFTOFF_KERNELS_CARRY_H
#define LIFTOFF_KERNELS_CARRY_H

#include <stdint.h>

// What is passed, at once by one thread. A block has whole tiles of them, one after the other; the consumer of item I
// is the thread that produced item I ^ CARRY_NEIGHBOUR, of another warp.
struct carry_item {
    uint32_t word[4];
} __attribute__((aligned(16)));
enum { CARRY_THREADS = 1024, CARRY_TILE = 1024, CARRY_NEIGHBOUR = 64, CARRY_LOADS_AT_ONCE = 4 };

// What a block leaves.
struct carry_stamp {
    uint64_t begin_ticks, end_ticks; // its first thread's first clock read, and its last when all threads were done
    uint64_t sequence;               // the argument's
    uint64_t checksum;               // of what its threads consumed, 32 bits; over all blocks the sum is what counts
};

// `carry_registers`, `carry_shared`, `carry_phases`: produce COUNT items from SEED, and consume them.
// `carry_produce`, `carry_consume`: one of the two.
struct carry_argument {
    struct carry_stamp *out; // one a block, the device's
    uint64_t sequence;
    struct carry_item *items; // the device's
    uint32_t count;           // a power of two, from 2 * CARRY_NEIGHBOUR on
    uint32_t own;             // `carry_consume`: not 0: a block consumes what its index produced, else the mirror image
    uint32_t seed;            // another in each launch: what an earlier one left is no answer
};

// `bandwidth_load`, `bandwidth_store`, `bandwidth_shared`: each thread reads, or writes, so many items; those of all
// threads together lie one after the other, and again from the first.
struct bandwidth_argument {
    struct carry_stamp *out; // one a block, the device's
    uint64_t sequence;
    struct carry_item *items; // the device's
    uint32_t count;           // at least as many as there are threads
    uint32_t each;            // a multiple of CARRY_LOADS_AT_ONCE
};

#endif
