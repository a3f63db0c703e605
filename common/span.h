// SPDX-License-Identifier: Apache-2.0
// Spans of the device's time, and how they lie to each other.
#ifndef LIFTOFF_SPAN_H
#define LIFTOFF_SPAN_H

#include <stdint.h>

// From a first clock read to a last one, in ticks.
struct span {
    uint64_t begin_ticks, end_ticks;
};

// How long both last at once, over the length of the shorter; 0 where they do not meet, or where one has no length.
double span_overlap_ratio(const struct span *a, const struct span *b);

// From the begin of the one that is first to the begin of the other, whichever that is.
uint64_t span_begins_apart(const struct span *a, const struct span *b);

// How many of COUNT (1 …) last at once, at most. One that begins when another ends does not meet it.
unsigned span_concurrent(const struct span *spans, unsigned count);

#endif
