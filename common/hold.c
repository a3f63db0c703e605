// SPDX-License-Identifier: Apache-2.0
// What the blocks of a holding kernel tell. See hold.h.
#include "common/hold.h"

#include "common/stats.h"

enum gpu_status hold_span(const struct hold_stamp *stamps, unsigned count, uint64_t sequence, uint64_t *begin_ticks,
                          uint64_t *end_ticks)
{
    *begin_ticks = UINT64_MAX;
    *end_ticks = 0;
    for (unsigned b = 0; b < count; b++) {
        const struct hold_stamp *stamp = &stamps[b];
        if (stamp->sequence != sequence)
            return gpu_reason(GPU_FAILED, "block %u of %u did not run, or lost what it held", b, count);
        if (stamp->multiprocessor >= MULTIPROCESSORS_MAX)
            return gpu_reason(GPU_UNSUPPORTED,
                              "the kernels of this device do not tell their multiprocessor (block %u: %llu)", b,
                              (unsigned long long)stamp->multiprocessor);
        if (stamp->begin_ticks < *begin_ticks) *begin_ticks = stamp->begin_ticks;
        if (stamp->end_ticks > *end_ticks) *end_ticks = stamp->end_ticks;
    }
    return GPU_OK;
}

double hold_resident(const struct hold_stamp *stamps, unsigned count)
{
    static uint64_t first_end[MULTIPROCESSORS_MAX];
    static double resident[MULTIPROCESSORS_MAX];
    for (unsigned m = 0; m < MULTIPROCESSORS_MAX; m++) first_end[m] = UINT64_MAX, resident[m] = 0;
    for (unsigned b = 0; b < count; b++) {
        uint64_t *end = &first_end[stamps[b].multiprocessor];
        if (stamps[b].end_ticks < *end) *end = stamps[b].end_ticks;
    }
    for (unsigned b = 0; b < count; b++)
        if (stamps[b].begin_ticks < first_end[stamps[b].multiprocessor]) resident[stamps[b].multiprocessor]++;
    unsigned used = 0;
    for (unsigned m = 0; m < MULTIPROCESSORS_MAX; m++)
        if (resident[m] > 0) resident[used++] = resident[m];
    stats_sort(resident, used);
    return stats_quantile(resident, used, 0.5);
}
