// SPDX-License-Identifier: Apache-2.0
// Kernels that hold registers, shared or local memory while each block takes a fixed time and says when and where.
#include "backends/kernels/resources.h"

#include "backends/kernels/kernel.h"

// In all of them the first thread reads the clock before anything else, so that what is filled is part of the fixed
// time and not of the gap before it.

// LOST is 0 unless something that was kept came back changed.
KERNEL_FUNCTION void hold_leave(const struct hold_argument *argument, uint64_t begin, uint64_t end, uint32_t lost)
{
    struct hold_stamp *out = argument->out + block_index();
    out->begin_ticks = begin;
    out->end_ticks = end;
    out->multiprocessor = multiprocessor_index();
    out->sequence = argument->sequence + lost;
}

KERNEL_FUNCTION void hold_spin(const struct hold_argument *argument, uint64_t begin, uint32_t lost)
{
    uint64_t end;
    do end = device_clock();
    while (end - begin < argument->spin_ticks);
    hold_leave(argument, begin, end, lost);
}

// Writes where nobody foresees, reads it back, and answers what has changed.
KERNEL_FUNCTION uint32_t hold_words(volatile uint32_t *words, uint32_t count, uint32_t value)
{
    uint32_t lost = 0;
    for (uint32_t k = 0; k < 4; k++) words[(value + k * (count / 4)) % count] = value;
    for (uint32_t k = 0; k < 4; k++) lost |= words[(value + k * (count / 4)) % count] ^ value;
    return lost;
}

// --- Registers ---------------------------------------------------------------------------------------------

// The values come from memory and may change in the spin, for all that a compiler knows: each needs a register in it.
// Each block has a line of memory of its own, because all that begin together would queue for one.
#define HOLD_REGISTERS(registers)                                                                                      \
    KERNEL_BOUNDED(hold_registers_##registers, struct hold_argument, HOLD_THREADS)                                     \
    {                                                                                                                  \
        if (thread_index() == 0) {                                                                                     \
            uint64_t begin = device_clock(), end;                                                                      \
            uint32_t held[KERNEL_HELD(registers)], lost = 0;                                                           \
            const uint32_t *zeros = argument.zeros + KERNEL_CONFUSED(block_index() * HOLD_ZEROS);                      \
            KERNEL_UNROLL for (unsigned k = 0; k < KERNEL_HELD(registers); k++) held[k] = system_load(zeros + k);      \
            do {                                                                                                       \
                end = device_clock();                                                                                  \
                if (end == argument.sequence) {                                                                        \
                    KERNEL_UNROLL for (unsigned k = 0; k < KERNEL_HELD(registers); k++) held[k] += (uint32_t)end;      \
                }                                                                                                      \
            } while (end - begin < argument.spin_ticks);                                                               \
            KERNEL_UNROLL for (unsigned k = 0; k < KERNEL_HELD(registers); k++) lost |= held[k];                       \
            hold_leave(&argument, begin, end, lost);                                                                   \
        }                                                                                                              \
        block_barrier();                                                                                               \
    }
RESOURCES_REGISTERS(HOLD_REGISTERS)

// --- Shared memory -----------------------------------------------------------------------------------------

#define HOLD_STATIC(bytes)                                                                                             \
    KERNEL_BOUNDED(hold_static_##bytes, struct hold_argument, HOLD_THREADS)                                            \
    {                                                                                                                  \
        KERNEL_SHARED(uint32_t, words, bytes / 4);                                                                     \
        if (thread_index() == 0) {                                                                                     \
            uint64_t begin = device_clock();                                                                           \
            hold_spin(&argument, begin, hold_words(words, bytes / 4, (uint32_t)argument.sequence));                    \
        }                                                                                                              \
        block_barrier();                                                                                               \
    }
RESOURCES_STATIC(HOLD_STATIC)

#define HOLD_DYNAMIC(name)                                                                                             \
    KERNEL_BOUNDED(name, struct hold_argument, HOLD_THREADS)                                                           \
    {                                                                                                                  \
        KERNEL_SHARED_DYNAMIC(uint32_t, words);                                                                        \
        if (thread_index() == 0) {                                                                                     \
            uint64_t begin = device_clock();                                                                           \
            uint32_t count = (uint32_t)(argument.shared_bytes / 4), value = (uint32_t)argument.sequence;               \
            hold_spin(&argument, begin, count ? hold_words(words, count, value) : 0);                                  \
        }                                                                                                              \
        block_barrier();                                                                                               \
    }
HOLD_DYNAMIC(hold_dynamic)
HOLD_DYNAMIC(carve_first)
HOLD_DYNAMIC(carve_second)

// --- Local memory ------------------------------------------------------------------------------------------

// Indexed by what is known at run time only, an array cannot lie in registers. 0 bytes: it is as small as can be.
#define HOLD_LOCAL(bytes)                                                                                              \
    KERNEL_BOUNDED(hold_local_##bytes, struct hold_argument, HOLD_THREADS)                                             \
    {                                                                                                                  \
        enum { WORDS = bytes ? bytes / 4 : 4 };                                                                        \
        uint64_t begin = device_clock();                                                                               \
        volatile uint32_t words[WORDS];                                                                                \
        uint32_t lost = hold_words(words, WORDS, (uint32_t)argument.sequence);                                         \
        if (thread_index() == 0) hold_spin(&argument, begin, lost);                                                    \
    }
RESOURCES_LOCAL(HOLD_LOCAL)
