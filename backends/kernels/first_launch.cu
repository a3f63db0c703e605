// SPDX-License-Identifier: Apache-2.0
// Kernels that differ in the size of their code only, and one that keeps the device busy.
#include "backends/kernels/first_launch.h"

#include "backends/kernels/kernel.h"

// N pieces of code of 512 bytes each; what is around them takes as much as one more.
#define PIECE KERNEL_CODE_512(v, argument.by, argument.plus)
#define FOUR_TIMES(code) code code code code
#define PIECES_1 PIECE
#define PIECES_7 FOUR_TIMES(PIECE) PIECE PIECE PIECE
#define PIECES_31 FOUR_TIMES(PIECES_7) PIECE PIECE PIECE
#define PIECES_127 FOUR_TIMES(PIECES_31) PIECE PIECE PIECE

#define CODE(name, pieces)                                                                                             \
    KERNEL(code_##name, struct code_argument)                                                                          \
    {                                                                                                                  \
        if (block_index() || thread_index()) return;                                                                   \
        float v[8] = {argument.v};                                                                                     \
        if (argument.run) {                                                                                            \
            pieces                                                                                                     \
        }                                                                                                              \
        system_store(argument.flag, argument.value + (uint32_t)v[0]);                                                  \
    }
CODE(none, )
CODE(1, PIECES_1)
CODE(4, PIECES_7)
CODE(16, PIECES_31)
CODE(64, PIECES_127)

KERNEL(busy, struct busy_argument)
{
    if (block_index() || thread_index()) return;
    uint64_t begin = device_clock();
    system_store(argument.started, (uint32_t)1);
    while (!system_load(argument.release) && device_clock() - begin < argument.limit_ticks) relax();
    system_store(argument.ended, (uint32_t)1);
}
