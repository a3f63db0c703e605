// SPDX-License-Identifier: Apache-2.0
// How spans of the device's time lie to each other. See span.h.
#include "common/span.h"

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

double span_overlap_ratio(const struct span *a, const struct span *b)
{
    uint64_t begin = a->begin_ticks > b->begin_ticks ? a->begin_ticks : b->begin_ticks;
    uint64_t end = least(a->end_ticks, b->end_ticks);
    uint64_t shorter = least(a->end_ticks - a->begin_ticks, b->end_ticks - b->begin_ticks);
    return end > begin ? (double)(end - begin) / (double)shorter : 0;
}

uint64_t span_begins_apart(const struct span *a, const struct span *b)
{
    return a->begin_ticks < b->begin_ticks ? b->begin_ticks - a->begin_ticks : a->begin_ticks - b->begin_ticks;
}

// The most are there when one of them begins.
unsigned span_concurrent(const struct span *spans, unsigned count)
{
    unsigned most = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned now = 0;
        for (unsigned k = 0; k < count; k++)
            now += spans[k].begin_ticks <= spans[i].begin_ticks && spans[k].end_ticks > spans[i].begin_ticks;
        if (now > most) most = now;
    }
    return most;
}
