// SPDX-License-Identifier: Apache-2.0
// Which kernels instruction_cache.cu has, their arguments and what they leave: shared with the host code.
#ifndef LIFTOFF_KERNELS_INSTRUCTION_CACHE_H
#define LIFTOFF_KERNELS_INSTRUCTION_CACHE_H

#include <stdint.h>

// `straight_N`: so many KiB of straight code, with what is around it; `straight_evictor` as the largest, for nothing
// but to be elsewhere. Independent multiply-adds: nothing but their fetch keeps a warp from issuing one a cycle or two.
#define STRAIGHT_KIBIBYTES(X) X(1) X(2) X(4) X(8) X(16) X(24) X(32) X(48) X(64) X(96) X(128) X(192) X(256) X(384) X(512)

enum { STRAIGHT_PASSES = 3 };

// What a block leaves.
struct straight_stamp {
    uint64_t begin_ticks, end_ticks; // its first thread's first and last clock read
    uint64_t sequence;               // the argument's, plus what the code made of PLUS: 0 of 0
    uint32_t multiprocessor;
    uint32_t instructions;            // of one pass
    uint32_t cycles[STRAIGHT_PASSES]; // of the first passes through the code
};

// Runs the code PASSES times in every thread. BY and PLUS are what it reckons with.
struct straight_argument {
    struct straight_stamp *out; // one a block, the device's
    uint64_t sequence;
    uint32_t passes;
    float by, plus;
};

// The bytes of instructions that one pass runs of a kernel of so many KiB; the rest is for what is around them.
#define STRAIGHT_BYTES(kibibytes) ((kibibytes)*1024 - 512)

// `load_lines`: counts the cycles of LINE_LOADS loads, each of a line that lies where the one before says.
enum { LINE_LOADS = 16, LINE_WORDS = 64 };
struct load_lines_argument {
    struct straight_stamp *out;
    uint64_t sequence;
    const uint64_t *words; // zeros, the device's: LINE_LOADS * LINE_WORDS
};

#endif
