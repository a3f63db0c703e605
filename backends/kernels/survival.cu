// SPDX-License-Identifier: Apache-2.0
// Kernels that leave a pattern in shared or device memory, and others that count what they find of it.
#include "backends/kernels/survival.h"

#include "backends/kernels/kernel.h"

// One to one in the seed and, within a period, in the index, but for two words that are both 1: memory that was cleared
// never matches, and no two seeds have a pattern in common.
KERNEL_FUNCTION uint32_t survival_word(uint32_t seed, uint64_t index)
{
    uint32_t word = seed + ((uint32_t)(index % SURVIVAL_PERIOD) + 1) * 0x9e3779b9u;
    word = (word ^ word >> 16) * 0x85ebca6bu;
    word = (word ^ word >> 13) * 0xc2b2ae35u;
    word ^= word >> 16;
    return word ? word : 1;
}

KERNEL_FUNCTION void survival_end(const struct survival_argument *argument, uint32_t matching)
{
    struct survival_stamp *out = argument->out + block_index();
    out->matching[thread_index()] = matching;
    block_barrier();
    if (thread_index()) return;
    out->multiprocessor = multiprocessor_index();
    out->sequence = argument->sequence;
}

// Volatile: or a compiler drops stores that nothing reads, and makes of words that nothing wrote what it likes.
#define SURVIVAL_SHARED(name, declaration, count, actions)                                                             \
    KERNEL_BOUNDED(name, struct survival_argument, SURVIVAL_THREADS)                                                   \
    {                                                                                                                  \
        declaration;                                                                                                   \
        uint32_t matching = 0;                                                                                         \
        if ((actions) & SURVIVAL_LEAVE)                                                                                \
            for (uint32_t i = thread_index(); i < (count); i += block_threads())                                       \
                words[i] = survival_word(argument.seed, i);                                                            \
        block_barrier();                                                                                               \
        if ((actions) & SURVIVAL_LOOK)                                                                                 \
            for (uint32_t i = thread_index(); i < (count); i += block_threads())                                       \
                matching += words[i] == survival_word(argument.seed, i);                                               \
        survival_end(&argument, matching);                                                                             \
    }
#define SURVIVAL_BLOCK(name, actions)                                                                                  \
    SURVIVAL_SHARED(name, KERNEL_SHARED(volatile uint32_t, words, SURVIVAL_WORDS), SURVIVAL_WORDS, actions)
SURVIVAL_BLOCK(survival_leave, SURVIVAL_LEAVE)
SURVIVAL_BLOCK(survival_look, SURVIVAL_LOOK)
SURVIVAL_BLOCK(survival_either, argument.action)
SURVIVAL_SHARED(survival_whole, KERNEL_SHARED_DYNAMIC(volatile uint32_t, words), argument.count, argument.action)

#define SURVIVAL_EACH(i)                                                                                               \
    for (uint64_t i = (uint64_t)block_index() * block_threads() + thread_index(); i < argument.count;                  \
         i += (uint64_t)block_count() * block_threads())

KERNEL_BOUNDED(survival_leave_memory, struct survival_argument, SURVIVAL_THREADS)
{
    SURVIVAL_EACH(i) argument.words[i] = survival_word(argument.seed, i);
    survival_end(&argument, 0);
}

KERNEL_BOUNDED(survival_look_memory, struct survival_argument, SURVIVAL_THREADS)
{
    uint32_t matching = 0;
    SURVIVAL_EACH(i) matching += argument.words[i] == survival_word(argument.seed, i);
    survival_end(&argument, matching);
}
