// SPDX-License-Identifier: Apache-2.0
// The kernel that tells the host of its end by itself.
#include "backends/kernels/synchronize.h"

#include "backends/kernels/kernel.h"

// No fence before the flag: it would come between the last clock read and the host's knowing. Who reads the stamp waits
// for the kernel.
KERNEL(stamp_flag, struct stamp_flag_argument)
{
    if (block_index() || thread_index()) return;
    uint64_t begin = device_clock(), end;
    do end = device_clock();
    while (end - begin < argument.stamp.spin_ticks);
    system_store(argument.flag, argument.value);
    argument.stamp.out->begin_ticks = begin;
    argument.stamp.out->end_ticks = end;
    argument.stamp.out->sequence = argument.stamp.sequence;
}
