// SPDX-License-Identifier: Apache-2.0
// The link of a chain of kernels, each of which needs a value of the one before: producer and consumer in one.
#include "backends/kernels/dependent_launch.h"

#include "backends/kernels/kernel.h"

KERNEL_FUNCTION void dependent_spin(uint64_t from, uint64_t ticks)
{
    while (device_clock() - from < ticks) relax();
}

// The load is no part of what follows it: its value is needed last.
KERNEL(dependent_link, struct dependent_argument)
{
    if (thread_index()) return;
    uint64_t begin = device_clock(), ready = begin, value = argument.sequence;
    if (argument.waits) {
        dependency_wait();
        ready = device_clock();
    }
    if (argument.before) value = system_load(&argument.before[(block_index() + 1) % block_count()].value);
    if (argument.trigger == DEPENDENT_TRIGGER_START) dependency_trigger();
    dependent_spin(ready, argument.spin_ticks / 2);
    if (argument.trigger == DEPENDENT_TRIGGER_MIDDLE) dependency_trigger();
    dependent_spin(ready, argument.spin_ticks);
    if (argument.trigger == DEPENDENT_TRIGGER_END) dependency_trigger();

    struct dependent_stamp *out = argument.out + block_index();
    value = DEPENDENT_NEXT(value);
    system_store(&out->value, value);
    out->end_ticks = device_clock();
    out->begin_ticks = begin;
    out->ready_ticks = ready;
    out->sequence = argument.sequence;
}
