// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels in stream_fence.cu, and what they leave behind.
#ifndef LIFTOFF_KERNELS_STREAM_FENCE_H
#define LIFTOFF_KERNELS_STREAM_FENCE_H

#include <stdint.h>

enum { FENCES = 16 }; // of a launch, each behind stores of its own

struct fences_seen {
    uint64_t cycles; // of the first thread, over all FENCES
    uint64_t sequence;
};

// `fences_none`, `fences_block`, `fences_device`, `fences_system`: the block stores to COUNT words, and then its first
// thread times a fence of this kind, FENCES times.
struct fences_argument {
    uint32_t *words;
    struct fences_seen *out;
    uint64_t sequence;
    uint32_t count;
};

#endif
