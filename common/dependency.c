// SPDX-License-Identifier: Apache-2.0
// What the stamps of two kernels of a chain say. See dependency.h.
#include "common/dependency.h"

static uint64_t first_begin(const struct dependent_stamp *stamps, unsigned blocks)
{
    uint64_t first = UINT64_MAX;
    for (unsigned b = 0; b < blocks; b++)
        if (stamps[b].begin_ticks < first) first = stamps[b].begin_ticks;
    return first;
}

struct dependency dependency_between(const struct dependent_stamp *producer, const struct dependent_stamp *consumer,
                                     unsigned blocks)
{
    const uint64_t begin = first_begin(consumer, blocks);
    uint64_t end = 0, ready = UINT64_MAX;
    unsigned broken = 0;
    for (unsigned b = 0; b < blocks; b++) {
        if (producer[b].end_ticks > end) end = producer[b].end_ticks;
        if (consumer[b].ready_ticks < ready) ready = consumer[b].ready_ticks;
        broken += consumer[b].value != DEPENDENT_NEXT(producer[(b + 1) % blocks].value);
    }
    return (struct dependency){.gap = (int64_t)(ready - end),
                               .overlap = (int64_t)(end - begin),
                               .period = (int64_t)(begin - first_begin(producer, blocks)),
                               .broken = broken};
}
