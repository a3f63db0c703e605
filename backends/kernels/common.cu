// SPDX-License-Identifier: Apache-2.0
// The kernels that every benchmark may need: they prove a launch, hold a stream, read the device's clock, and
// sweep the shared cache.
#include "backends/kernels/common.h"

#include "backends/kernels/kernel.h"

KERNEL_EMPTY(empty)

// No fence before the sequence: it would prolong the kernel after END_TICKS, and who reads OUT waits for the kernel.
KERNEL(stamp, struct stamp_argument)
{
    if (block_index() || thread_index()) return;
    uint64_t begin = device_clock(), end;
    do end = device_clock();
    while (end - begin < argument.spin_ticks);
    argument.out->begin_ticks = begin;
    argument.out->end_ticks = end;
    argument.out->sequence = argument.sequence;
}

KERNEL(flag, struct flag_argument)
{
    if (block_index() || thread_index()) return;
    system_store(argument.flag, argument.value);
}

KERNEL(gate, struct gate_argument)
{
    if (block_index() || thread_index()) return;
    uint64_t begin = device_clock();
    system_store(argument.ran, argument.value);
    while (system_load(argument.open) < argument.value) {
        if (device_clock() - begin > argument.limit_ticks) {
            system_store(argument.expired, (uint32_t)1);
            return;
        }
        relax();
    }
}

// The two branches keep the order of clock and poll on a device that issues a load or a clock read without waiting for
// what stands before it: the poll waits until its clock read is compared, the last clock read until the ping is.
KERNEL(pingpong, struct pingpong_argument)
{
    if (block_index() || thread_index()) return;
    uint64_t start = device_clock();
    system_store(&argument.pong->begin_ticks, start);
    for (uint64_t sequence = 1; sequence <= argument.count; sequence++) {
        uint64_t begin = device_clock(), missed = 0, after;
        for (;;) {
            uint64_t now = device_clock();
            if (now - begin > argument.limit_ticks) return;
            if (system_load(argument.ping) >= sequence) break;
            missed = now;
            relax();
        }
        after = device_clock();
        uint64_t age = missed && after - missed <= PONG_AGE_MAX ? after - missed : 0;
        uint64_t answer = PONG_ANSWER(after - start, age, sequence);
        // The first answer tells the host that begin_ticks is there, too.
        if (sequence == 1) system_publish(&argument.pong->answer, answer);
        else system_store(&argument.pong->answer, answer);
    }
}

KERNEL(clock_steps, struct clock_steps_argument)
{
    if (block_index() || thread_index()) return;
    uint64_t last = device_clock();
    for (uint64_t step = 0, reads = 0; step < argument.count && reads < 1 << 20; reads++) { // a clock may stand still
        uint64_t now = device_clock();
        if (now == last) continue;
        argument.steps[step++] = now - last;
        last = now;
        reads = 0;
    }
}

KERNEL(sweep, struct sweep_argument)
{
    const uint64_t all = (uint64_t)block_count() * block_threads();
    uint64_t sum = 0;
    for (uint64_t i = (uint64_t)block_index() * block_threads() + thread_index(); i < argument.count; i += all)
        sum += system_load(&argument.words[i * SWEEP_STRIDE]);
    if (sum) argument.words[0] = sum; // never, but the loads are to be of use
    if (!block_index() && !thread_index()) *argument.out = argument.sequence;
}
