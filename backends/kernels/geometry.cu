// SPDX-License-Identifier: Apache-2.0
// The kernel that shows how many blocks the device holds at once: each block takes a fixed time and says when.
#include "backends/kernels/geometry.h"

#include "backends/kernels/kernel.h"

KERNEL(wave, struct wave_argument)
{
    if (thread_index() == 0) {
        uint64_t begin = device_clock(), end;
        do end = device_clock();
        while (end - begin < argument.spin_ticks);
        struct stamp *out = argument.out + block_index();
        out->begin_ticks = begin;
        out->end_ticks = end;
        out->sequence = argument.sequence;
    }
    block_barrier(); // the others wait here, so that they keep the places of a whole block
}
