// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels in cache_loss.cu, and what they leave behind.
#ifndef LIFTOFF_KERNELS_CACHE_LOSS_H
#define LIFTOFF_KERNELS_CACHE_LOSS_H

#include <stdint.h>

#include "backends/kernels/common.h"

// A working set is LINES lines (a power of two), each of which holds where the next one is: a cycle through all of
// them. A second word, RELOAD_SELF_BYTES behind the first in global memory and the last one of a line elsewhere, holds
// where it is itself. In global memory a line begins every STRIDE bytes, 128 or more; with more, where in its stride
// differs from line to line, or all would fall into a few sets of a cache.
enum {
    RELOAD_LINE_BYTES = 128,
    RELOAD_INDEXED_LINE_BYTES = 64,
    RELOAD_LONG_LINE_BYTES = 256,
    RELOAD_SELF_BYTES = 8,
    RELOAD_THREADS = 1024
};
#define RELOAD_NEXT(line, lines) (((line)*1664525u + 1013904223u) & ((lines)-1))
#define RELOAD_PLACE(line, stride)                                                                                     \
    ((uint64_t)(line) * (stride) + ((line)*17u & ((stride) / RELOAD_LINE_BYTES - 1)) * (uint64_t)RELOAD_LINE_BYTES)

// Constant memory holds one cycle for each power of two of bytes from RELOAD_CONSTANT_BYTES_MIN on, in word I of a line
// for the I-th of them; and the same once more through lines four times as long, from word RELOAD_CONSTANT_CYCLES on.
enum { RELOAD_CONSTANT_BYTES_MIN = 1024, RELOAD_CONSTANT_CYCLES = 7, RELOAD_PARAMETER_LINES = 32 };

enum { RELOAD_NO_SET = 0xffff };

// What a block leaves.
struct reload_stamp {
    uint64_t sequence;
    uint64_t begin_ticks, end_ticks;
    uint64_t end; // where the chase ended, from its set's first line; without one anything
    uint32_t multiprocessor, has_set;
    uint32_t cycles;      // of the chase
    uint32_t self[2];     // the least of one load, and of two, of the word that holds where it is
    uint32_t read_cycles; // between two clock reads with nothing between them
};

// `reload_…`: in blocks of RELOAD_THREADS, one a multiprocessor. TOUCH: all threads together load every line of their
// block's set. CHASE: then one thread follows the cycle from START on, one line and, timed, HOPS more.
enum reload_actions { RELOAD_TOUCH = 1, RELOAD_CHASE = 2 };
struct reload_argument {
    struct reload_stamp *out; // one a block, the device's
    uint64_t sequence;
    const uint16_t *sets; // by multiprocessor_index(), the device's
    uint64_t first;       // the first set's address, or byte of the array
    uint64_t set_bytes;   // from one set to the next
    uint64_t start, self; // from a set's FIRST to the chase's, and from there to the word that holds where it is
    uint32_t lines, stride, hops, actions;
};

// What `reload_parameters` takes: the set is the parameters themselves.
struct reload_parameters {
    struct reload_argument chase;
    // The next line's byte in WORDS, or the word's own.
    uint32_t words[RELOAD_PARAMETER_LINES * RELOAD_INDEXED_LINE_BYTES / 4];
};

// `reload_link`: makes SETS working sets in global memory, all threads of all blocks together; the first one of each
// block leaves SEQUENCE.
struct reload_link_argument {
    uint64_t *out; // one a block, the device's
    uint64_t sequence;
    uint64_t first, set_bytes;
    uint32_t lines, stride, sets;
};

#endif
