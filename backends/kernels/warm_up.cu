// SPDX-License-Identifier: Apache-2.0
// Kernels that count the cycles of a loop's iterations, issue mixes of instructions, and tell when blocks begin.
#include "backends/kernels/warm_up.h"

#include "backends/kernels/kernel.h"

#define SUM(v) (v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7])
#define EIGHT(value)                                                                                                   \
    {                                                                                                                  \
        value, value, value, value, value, value, value, value                                                         \
    }

// One of the two for a bit; long enough that no compiler runs both and keeps one.
#define BRANCH(bit)                                                                                                    \
    if (pattern & 1u << (bit)) {                                                                                       \
        KERNEL_CODE_256(v, argument.by, argument.plus)                                                                 \
    } else {                                                                                                           \
        KERNEL_CODE_256(v, argument.plus, argument.by)                                                                 \
    }
#define FIRST(bit) KERNEL_CODE_256(v, argument.by, argument.plus)
#define SECOND(bit) KERNEL_CODE_256(v, argument.plus, argument.by)
#define EACH_BRANCH(piece) piece(0) piece(1) piece(2) piece(3) piece(4) piece(5) piece(6) piece(7)

// Both kernels make the pattern, so that a compiler that does so between the clock reads does it in both.
#define WARM(name, body, rest)                                                                                         \
    KERNEL(name, struct warm_argument)                                                                                 \
    {                                                                                                                  \
        struct warm_stamp *out = argument.out + block_index();                                                         \
        float v[8] = EIGHT(argument.plus);                                                                             \
        uint32_t state = argument.seed, patterns = 0;                                                                  \
        KERNEL_LOOP for (uint32_t i = 0; i < WARM_ITERATIONS; i++)                                                     \
        {                                                                                                              \
            state = state * 1664525 + 1013904223;                                                                      \
            uint32_t pattern = argument.pattern ^ (state >> 16 & argument.random);                                     \
            if (thread_index() & 1) pattern ^= argument.divergent;                                                     \
            patterns |= pattern;                                                                                       \
            uint64_t before = cycle_count();                                                                           \
            body uint64_t cycles = cycle_count() - before;                                                             \
            if (!thread_index()) out->cycles[i] = cycles;                                                              \
        }                                                                                                              \
        if (patterns >> WARM_BRANCHES) { /* never */                                                                   \
            rest                                                                                                       \
        }                                                                                                              \
        if (thread_index()) return;                                                                                    \
        out->warp_threads = warp_threads();                                                                            \
        out->sequence = argument.sequence + (uint64_t)SUM(v);                                                          \
    }
WARM(warm_straight, EACH_BRANCH(FIRST), EACH_BRANCH(SECOND))
WARM(warm_branches, EACH_BRANCH(BRANCH), )

// The first round of one pass fetches the code, and all warps begin the second together.
#define MIX(name, code)                                                                                                \
    KERNEL_BOUNDED(name, struct mix_argument, MIX_THREADS)                                                             \
    {                                                                                                                  \
        struct mix_stamp *out = argument.out + block_index();                                                          \
        float v[8] = EIGHT(argument.plus);                                                                             \
        uint32_t w[8] = EIGHT((uint32_t)argument.plus);                                                                \
        uint64_t outer = 0, begin_ticks = 0, begin = 0, end = 0;                                                       \
        KERNEL_LOOP for (uint32_t round = 0; round < 2; round++)                                                       \
        {                                                                                                              \
            block_barrier();                                                                                           \
            outer = cycle_count();                                                                                     \
            begin_ticks = device_clock();                                                                              \
            begin = cycle_count();                                                                                     \
            const uint32_t passes = round ? argument.passes : 1;                                                       \
            KERNEL_LOOP for (uint32_t pass = 0; pass < passes; pass++){code(v, w, argument.by, argument.plus)} end =   \
                cycle_count();                                                                                         \
        }                                                                                                              \
        uint64_t end_ticks = device_clock();                                                                           \
        outer = cycle_count() - outer;                                                                                 \
        uint64_t made = (uint64_t)SUM(v) + SUM(w);                                                                     \
        if (thread_index() % warp_threads() == 0) {                                                                    \
            out->begin_cycles[thread_index() / warp_threads()] = begin;                                                \
            out->end_cycles[thread_index() / warp_threads()] = end + made;                                             \
        }                                                                                                              \
        block_barrier();                                                                                               \
        if (thread_index()) return;                                                                                    \
        out->begin_ticks = begin_ticks;                                                                                \
        out->end_ticks = end_ticks;                                                                                    \
        out->outer_cycles = outer;                                                                                     \
        out->warps = (block_threads() + warp_threads() - 1) / warp_threads();                                          \
        out->schedulers = scheduler_count();                                                                           \
        out->sequence = argument.sequence + made;                                                                      \
    }
#define TWICE(code, v, w, by, plus) code(v, w, by, plus) code(v, w, by, plus)
#define FMA_TWICE(v, w, by, plus) TWICE(KERNEL_MIX_FMA, v, w, by, plus)
#define ADD_XOR_TWICE(v, w, by, plus) TWICE(KERNEL_MIX_ADD_XOR, v, w, by, plus)
#define FMA_ADD_XOR_TWICE(v, w, by, plus) TWICE(KERNEL_MIX_FMA_ADD_XOR, v, w, by, plus)
MIX(mix_fma, KERNEL_MIX_FMA)
MIX(mix_fma_twice, FMA_TWICE)
MIX(mix_add_xor, KERNEL_MIX_ADD_XOR)
MIX(mix_add_xor_twice, ADD_XOR_TWICE)
MIX(mix_fma_add_xor, KERNEL_MIX_FMA_ADD_XOR)
MIX(mix_fma_add_xor_twice, FMA_ADD_XOR_TWICE)

KERNEL(block_start, struct start_argument)
{
    uint64_t begin = device_clock();
    while (device_clock() - begin < argument.stay_ticks) relax();
    if (thread_index()) return;
    struct start_stamp *out = argument.out + block_index();
    out->multiprocessor = multiprocessor_index();
    out->begin_ticks = begin;
    out->sequence = argument.sequence;
}
