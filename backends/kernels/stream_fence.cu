// SPDX-License-Identifier: Apache-2.0
// Kernels that time fences behind stores. See stream_fence.h.
#include "backends/kernels/stream_fence.h"

#include "backends/kernels/kernel.h"

// A kernel a fence, so that no branch stands between the two reads. The first turn, which brings the code, is not
// counted.
#define FENCES_KERNEL(name, fence)                                                                                     \
    KERNEL(name, struct fences_argument)                                                                               \
    {                                                                                                                  \
        uint64_t cycles = 0;                                                                                           \
        for (uint32_t turn = 0; turn <= FENCES; turn++) {                                                              \
            for (uint32_t i = thread_index(); i < argument.count; i += block_threads())                                \
                system_store(&argument.words[i], turn);                                                                \
            uint64_t begin = cycle_count();                                                                            \
            fence;                                                                                                     \
            uint64_t end = cycle_count();                                                                              \
            if (turn) cycles += end - begin;                                                                           \
        }                                                                                                              \
        if (thread_index()) return;                                                                                    \
        argument.out->cycles = cycles;                                                                                 \
        argument.out->sequence = argument.sequence;                                                                    \
    }

FENCES_KERNEL(fences_none, (void)0)
FENCES_KERNEL(fences_block, fence_block())
FENCES_KERNEL(fences_device, fence_device())
FENCES_KERNEL(fences_system, fence_system())
