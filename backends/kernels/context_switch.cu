// SPDX-License-Identifier: Apache-2.0
// Kernels that stay, hold registers or shared memory, and write down when they ran and when another had the device.
#include "backends/kernels/context_switch.h"

#include "backends/kernels/kernel.h"

// Block 0's first thread. TOUCH stands in its loop, before each clock read is judged. What a slice needs is stored only
// when it is over, so that a pass of the loop is short.
#define RESIDENT_WATCH(touch)                                                                                          \
    uint64_t begin = device_clock(), last = begin, start = begin, longest = 0, taken = 0, now;                         \
    do {                                                                                                               \
        now = device_clock();                                                                                          \
        touch;                                                                                                         \
        if (now - last > argument.apart_ticks) {                                                                       \
            argument.slices[taken].begin_ticks = start;                                                                \
            argument.slices[taken].end_ticks = last;                                                                   \
            start = now;                                                                                               \
            if (++taken == argument.room) break;                                                                       \
        } else if (now - last > longest) {                                                                             \
            longest = now - last;                                                                                      \
        }                                                                                                              \
        last = now;                                                                                                    \
    } while (now - begin < argument.limit_ticks);                                                                      \
    if (taken < argument.room) {                                                                                       \
        argument.slices[taken].begin_ticks = start;                                                                    \
        argument.slices[taken].end_ticks = last;                                                                       \
        taken++;                                                                                                       \
    }                                                                                                                  \
    argument.told->longest_pass_ticks = longest;                                                                       \
    argument.told->slices = taken

KERNEL_FUNCTION void resident_leave(const struct resident_argument *argument, uint32_t lost)
{
    argument->told->sequence = argument->sequence + lost;
    system_store(&argument->told->ended, (uint32_t)argument->sequence);
}

KERNEL_FUNCTION void resident_stay(const struct resident_argument *argument)
{
    uint64_t begin = device_clock();
    while (system_load(&argument->told->ended) != (uint32_t)argument->sequence &&
           device_clock() - begin < argument->limit_ticks)
        relax();
}

KERNEL_BOUNDED(resident, struct resident_argument, RESIDENT_THREADS)
{
    if (thread_index() == 0) {
        if (block_index()) {
            resident_stay(&argument);
        } else {
            RESIDENT_WATCH((void)0);
            resident_leave(&argument, 0);
        }
    }
    block_barrier();
}

// The values come from memory and may change in the loop, for all that a compiler knows: each needs a register in it.
// The loop and the compiler's own take the rest.
#define RESIDENT_HELD (RESIDENT_REGISTERS - 16)
KERNEL_BOUNDED(resident_registers, struct resident_argument, RESIDENT_THREADS)
{
    if (thread_index() == 0) {
        uint32_t held[RESIDENT_HELD], lost = 0;
        const uint32_t *zeros = argument.zeros + KERNEL_CONFUSED(0);
        if (block_index()) {
            resident_stay(&argument);
        } else {
            KERNEL_UNROLL for (unsigned k = 0; k < RESIDENT_HELD; k++) held[k] = system_load(zeros + k);
            RESIDENT_WATCH(if (now == argument.sequence) {
                KERNEL_UNROLL for (unsigned k = 0; k < RESIDENT_HELD; k++) held[k] += (uint32_t)now;
            });
            KERNEL_UNROLL for (unsigned k = 0; k < RESIDENT_HELD; k++) lost |= held[k];
            resident_leave(&argument, lost);
        }
    }
    block_barrier();
}

// All words are written, and those of block 0 are read again when it has been away and come back.
KERNEL_BOUNDED(resident_shared, struct resident_argument, RESIDENT_THREADS)
{
    KERNEL_SHARED_DYNAMIC(uint32_t, words);
    uint32_t count = (uint32_t)(argument.shared_bytes / 4), lost = 0;
    for (uint32_t k = thread_index(); k < count; k += block_threads()) words[k] = k ^ (uint32_t)argument.sequence;
    block_barrier();
    if (thread_index() == 0) {
        if (block_index()) {
            resident_stay(&argument);
        } else {
            RESIDENT_WATCH((void)0);
            for (uint32_t k = 0; k < count; k++) lost |= words[k] ^ k ^ (uint32_t)argument.sequence;
            resident_leave(&argument, lost);
        }
    }
    block_barrier();
}
