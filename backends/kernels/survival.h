// SPDX-License-Identifier: Apache-2.0
// The kernels in survival.cu, which leave a pattern in shared or device memory or look for one, and their argument.
#ifndef LIFTOFF_KERNELS_SURVIVAL_H
#define LIFTOFF_KERNELS_SURVIVAL_H

#include <stdint.h>

// Shared memory is filled in blocks of SURVIVAL_BYTES, the most that every device grants. The pattern repeats itself
// every SURVIVAL_PERIOD words, so that it is found where another block, or another page, has come to lie on it.
enum { SURVIVAL_THREADS = 128, SURVIVAL_BYTES = 48 * 1024, SURVIVAL_WORDS = SURVIVAL_BYTES / 4, SURVIVAL_PERIOD = 32 };

// What a block leaves of itself: never a word that it found.
struct survival_stamp {
    uint64_t sequence; // the argument's, written last
    uint32_t multiprocessor;
    uint32_t matching[SURVIVAL_THREADS]; // of the words that each thread looked at
};

enum survival_action { SURVIVAL_LEAVE = 1, SURVIVAL_LOOK = 2 }; // bits: first the one, then the other

// `survival_leave` writes the pattern of SEED over a block's shared memory, `survival_look` counts the words that are
// as SEED has them and writes none; `survival_either` does as ACTION says; `survival_whole`, too, with COUNT
// words of the shared memory that the launch gives it. `survival_leave_memory` and
// `survival_look_memory` do so with COUNT words of device memory at WORDS, all blocks together.
struct survival_argument {
    struct survival_stamp *out; // one a block, the device's
    uint64_t sequence;
    uint32_t *words;
    uint64_t count;
    uint32_t seed, action;
};

#endif
