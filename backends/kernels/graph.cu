// SPDX-License-Identifier: Apache-2.0
// Kernels that leave a stamp behind those of all before them, for a node that runs more than once.
#include "backends/kernels/graph.h"

#include "backends/kernels/kernel.h"

KERNEL_FUNCTION uint64_t append_stamp(struct append_argument argument)
{
    uint64_t begin = device_clock();
    uint64_t index = *argument.count;
    *argument.count = index + 1;
    if (index < argument.room) {
        struct stamp *out = &argument.out[index];
        out->begin_ticks = begin;
        out->sequence = argument.sequence + index;
        out->end_ticks = device_clock();
    }
    return index + 1;
}

KERNEL(append, struct append_argument)
{
    if (block_index() || thread_index()) return;
    append_stamp(argument);
}

// In a kernel of its own: one that names a condition may need a newer driver than the others.
KERNEL(append_while, struct append_argument)
{
    if (block_index() || thread_index()) return;
    uint64_t count = append_stamp(argument);
    graph_condition_set(argument.handle, count < argument.room);
}
