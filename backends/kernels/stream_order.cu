// SPDX-License-Identifier: Apache-2.0
// A kernel that writes much and one that depends on it: what passes between two kernels in a stream.
#include "backends/kernels/stream_order.h"

#include "backends/kernels/kernel.h"

KERNEL_FUNCTION void write_leave(const struct write_argument *argument, uint64_t begin, uint64_t end, uint64_t lost)
{
    struct hold_stamp *out = argument->out + block_index();
    out->begin_ticks = begin;
    out->end_ticks = end;
    out->multiprocessor = multiprocessor_index();
    out->sequence = argument->sequence + lost;
}

KERNEL_BOUNDED(write, struct write_argument, WRITE_THREADS)
{
    uint64_t begin = device_clock(), step = (uint64_t)block_count() * block_threads();
    for (uint64_t i = (uint64_t)block_index() * block_threads() + thread_index(); i < argument.count; i += step)
        argument.words[i] = argument.sequence;
    if (argument.fenced) fence_device();
    block_barrier();
    if (thread_index() == 0) write_leave(&argument, begin, device_clock(), 0);
}

KERNEL(look, struct write_argument)
{
    if (block_index() || thread_index()) return;
    uint64_t begin = device_clock(), lost = 0;
    for (uint64_t k = 0; k < 4 && argument.count; k++)
        lost |= system_load(argument.words + k * (argument.count - 1) / 3) ^ argument.sequence;
    write_leave(&argument, begin, device_clock(), lost);
}
