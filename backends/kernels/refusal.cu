// SPDX-License-Identifier: Apache-2.0
// A kernel that needs more registers than a large block can have, and kernels that the device has to stop.
#include "backends/kernels/refusal.h"

#include "backends/kernels/kernel.h"

#define EIGHT(each, n) each(n##0) each(n##1) each(n##2) each(n##3) each(n##4) each(n##5) each(n##6) each(n##7)
#define ALL(each)                                                                                                      \
    EIGHT(each, 1) EIGHT(each, 2) EIGHT(each, 3) EIGHT(each, 4) EIGHT(each, 5) EIGHT(each, 6) EIGHT(each, 7)           \
    EIGHT(each, 8)
#define BEGIN(n) uint64_t value_##n = argument.count ^ n;
#define MIX(n) mixed = value_##n = value_##n * (mixed | 1) + turn;
#define SUM(n) mixed ^= value_##n;

// Each value depends on the one before it and on itself a turn ago, so that all are alive all the time.
KERNEL(refusal_registers, struct refusal_registers_argument)
{
    uint64_t mixed = 1;
    ALL(BEGIN)
    for (uint64_t turn = 0; turn < argument.count; turn++) {
        ALL(MIX)
    }
    ALL(SUM)
    if (argument.out) *argument.out = mixed;
}

KERNEL(fault_shared, struct fault_argument)
{
    KERNEL_SHARED_DYNAMIC(uint32_t, shared);
    const uint32_t words = (uint32_t)(argument.bytes / sizeof *shared);
    for (uint32_t word = thread_index(); word < words; word += block_threads()) system_store(&shared[word], word);
    block_barrier();
    if (thread_index() == 0) *argument.out = system_load(&shared[words - 1]);
}

KERNEL(fault_store, struct fault_argument)
{
    if (block_index() || thread_index()) return;
    system_store((uint32_t *)(uintptr_t)argument.address, (uint32_t)1);
}

KERNEL_BARE(fault_trap) { device_trap(); }
