// SPDX-License-Identifier: Apache-2.0
// Kernels of straight code that count the cycles of each pass through it.
#include "backends/kernels/instruction_cache.h"

#include "backends/kernels/kernel.h"

// N KiB less 512 bytes each.
#define HALF KERNEL_CODE_512(v, argument.by, argument.plus)
#define EIGHT KERNEL_CODE_8192(v, argument.by, argument.plus)
#define CODE_1 HALF
#define CODE_2 HALF HALF HALF
#define CODE_4 CODE_2 CODE_2 HALF
#define CODE_8 CODE_4 CODE_4 HALF
#define CODE_16 CODE_8 EIGHT
#define CODE_24 CODE_16 EIGHT
#define CODE_32 CODE_24 EIGHT
#define CODE_48 CODE_32 EIGHT EIGHT
#define CODE_64 CODE_48 EIGHT EIGHT
#define CODE_96 CODE_64 EIGHT EIGHT EIGHT EIGHT
#define CODE_128 CODE_96 EIGHT EIGHT EIGHT EIGHT
#define MORE_64 EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT
#define CODE_192 CODE_128 MORE_64
#define CODE_256 CODE_192 MORE_64
#define CODE_384 CODE_256 MORE_64 MORE_64
#define CODE_512 CODE_384 MORE_64 MORE_64

// The clock that all share is read first and last: what is around the passes is inside it. What the code makes of PLUS
// is used, or a compiler would leave the code out.
#define STRAIGHT(name, kibibytes, code)                                                                                \
    KERNEL(straight_##name, struct straight_argument)                                                                  \
    {                                                                                                                  \
        uint64_t begin = device_clock();                                                                               \
        struct straight_stamp *out = argument.out + block_index();                                                     \
        float v[8] = {argument.plus, argument.plus, argument.plus, argument.plus,                                      \
                      argument.plus, argument.plus, argument.plus, argument.plus};                                     \
        KERNEL_LOOP for (uint32_t pass = 0; pass < argument.passes; pass++)                                            \
        {                                                                                                              \
            uint64_t before = cycle_count();                                                                           \
            code                                                                                                       \
            uint64_t cycles = cycle_count() - before;                                                                  \
            if (!thread_index() && pass < STRAIGHT_PASSES) out->cycles[pass] = (uint32_t)cycles;                       \
        }                                                                                                              \
        if (thread_index()) return;                                                                                    \
        out->multiprocessor = multiprocessor_index();                                                                  \
        out->instructions = STRAIGHT_BYTES(kibibytes) / KERNEL_INSTRUCTION_BYTES;                                      \
        out->begin_ticks = begin;                                                                                      \
        out->end_ticks = device_clock();                                                                               \
        out->sequence = argument.sequence + (uint64_t)(v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7]);         \
    }
#define STRAIGHT_OF(kibibytes) STRAIGHT(kibibytes, kibibytes, CODE_##kibibytes)
STRAIGHT_KIBIBYTES(STRAIGHT_OF)
STRAIGHT(evictor, 512, CODE_512)

KERNEL(load_lines, struct load_lines_argument)
{
    if (block_index() || thread_index()) return;
    uint64_t index = 0, before = cycle_count();
    KERNEL_UNROLL for (uint32_t i = 0; i < LINE_LOADS; i++) index += system_load(&argument.words[index]) + LINE_WORDS;
    uint64_t cycles = cycle_count() - before;
    argument.out->cycles[0] = (uint32_t)cycles;
    argument.out->sequence = argument.sequence + index - (uint64_t)LINE_LOADS * LINE_WORDS;
}
