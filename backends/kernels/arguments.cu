// SPDX-License-Identifier: Apache-2.0
// Kernels that differ in their arguments alone, and prove that the last of them arrived.
#include "backends/kernels/arguments.h"

#include "backends/kernels/kernel.h"

KERNEL_GLOBAL struct arguments_seen seen;

KERNEL_FUNCTION void see(uint64_t last)
{
    if (block_index() || thread_index()) return;
    seen.begin_ticks = device_clock();
    seen.sum += last;
}

KERNEL_BARE(arguments_none) { see(1); }

#define TAKES_BYTES(bytes)                                                                                             \
    struct arguments_##bytes {                                                                                         \
        unsigned char byte[bytes];                                                                                     \
    };                                                                                                                 \
    KERNEL(arguments_bytes_##bytes, struct arguments_##bytes) { see(argument.byte[bytes - 1]); }
ARGUMENTS_BYTES(TAKES_BYTES)

#if KERNEL_ARGUMENT_BYTES_MAX > 4096
ARGUMENTS_BYTES_LARGE(TAKES_BYTES)
#else // gpu_launch_prepare refuses them; if it did not, the missing proof would tell
#define TAKES_NONE(bytes) KERNEL_EMPTY(arguments_bytes_##bytes)
ARGUMENTS_BYTES_LARGE(TAKES_NONE)
#endif

#define TAKES_COUNT(count)                                                                                             \
    KERNEL_SCALARS(arguments_count_##count, count) { see(last); }
ARGUMENTS_COUNTS(TAKES_COUNT)

KERNEL(arguments_report, struct arguments_report_argument)
{
    if (block_index() || thread_index()) return;
    argument.out->begin_ticks = seen.begin_ticks;
    argument.out->sum = seen.sum;
    argument.out->sequence = argument.sequence;
}
