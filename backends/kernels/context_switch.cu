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

KERNEL_FUNCTION void resident_leave(const struct resident_argument *argument)
{
    argument->told->sequence = argument->sequence;
    system_store(&argument->told->ended, (uint32_t)argument->sequence);
}

KERNEL_FUNCTION void resident_stay(const struct resident_argument *argument)
{
    uint64_t begin = device_clock();
    while (system_load(&argument->told->ended) != (uint32_t)argument->sequence &&
           device_clock() - begin < argument->limit_ticks)
        relax();
}

KERNEL_FUNCTION void resident_tell(const struct resident_argument *argument, uint32_t wrong)
{
    if (wrong) system_store(&argument->told->lost, (uint32_t)argument->sequence);
}

// What a kernel that stays does between taking what it holds and looking at it again.
#define RESIDENT_RUN(touch)                                                                                            \
    do {                                                                                                               \
        if (thread_index() == 0 && block_index()) resident_stay(&argument);                                            \
        if (thread_index() == 0 && !block_index()) {                                                                   \
            RESIDENT_WATCH(touch);                                                                                     \
            resident_leave(&argument);                                                                                 \
        }                                                                                                              \
        block_barrier();                                                                                               \
    } while (0)

KERNEL_BOUNDED(resident, struct resident_argument, RESIDENT_THREADS)
{
    RESIDENT_RUN((void)0);
}

// The values come from memory and may change in the loop, for all that a compiler knows: each needs a register in it.
// The loop and the compiler's own take the rest. Blocks may write the same words of memory, always with the same
// values.
#define RESIDENT_HELD (RESIDENT_REGISTERS - 16)
#define RESIDENT_VALUE(k) ((argument.seed + from + (k)) * 2654435761u)
KERNEL_BOUNDED(resident_registers, struct resident_argument, RESIDENT_THREADS)
{
    const uint32_t from = block_index() % (RESIDENT_WORDS - RESIDENT_HELD + 1);
    uint32_t held[RESIDENT_HELD], wrong = 0;
    for (uint32_t k = thread_index(); k < RESIDENT_HELD; k += block_threads())
        system_store(&argument.words[from + k], RESIDENT_VALUE(k));
    block_barrier();
    KERNEL_UNROLL for (uint32_t k = 0; k < RESIDENT_HELD; k++) held[k] = system_load(&argument.words[from + k]);
    RESIDENT_RUN(if (now == argument.sequence) {
        KERNEL_UNROLL for (unsigned k = 0; k < RESIDENT_HELD; k++) held[k] += (uint32_t)now;
    });
    KERNEL_UNROLL for (uint32_t k = 0; k < RESIDENT_HELD; k++) wrong |= held[k] ^ RESIDENT_VALUE(k);
    resident_tell(&argument, wrong);
}

// All words are written, and read again at the end.
KERNEL_BOUNDED(resident_shared, struct resident_argument, RESIDENT_THREADS)
{
    KERNEL_SHARED_DYNAMIC(uint32_t, words);
    const uint32_t count = (uint32_t)(argument.shared_bytes / 4), from = block_index() * count;
    uint32_t wrong = 0;
    for (uint32_t k = thread_index(); k < count; k += block_threads()) words[k] = RESIDENT_VALUE(k);
    block_barrier();
    RESIDENT_RUN((void)0);
    for (uint32_t k = thread_index(); k < count; k += block_threads()) wrong |= words[k] ^ RESIDENT_VALUE(k);
    resident_tell(&argument, wrong);
}
