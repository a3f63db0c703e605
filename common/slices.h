// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a device that several take in turn: their slices, what lies between them, and what they sum up to.
#ifndef LIFTOFF_SLICES_H
#define LIFTOFF_SLICES_H

#include "backends/kernels/context_switch.h"

enum { SLICES_TRACKS_MAX = 4, SLICES_TRACK_MAX = 64 };

// When one of them ran: COUNT (1 … SLICES_TRACK_MAX) slices in order, on a clock that all have in common.
struct slices_track {
    const struct slice *slices;
    unsigned count;
};

// All in ticks, within the span in which all were there: from the latest first begin to the earliest last end.
struct slices_account {
    double span;    // 0 or less: they were never there together
    double running; // the sum of all slices, as far as they lie in the span
    double between; // the sum of what lies between one's slice and the next of another
    unsigned slices, switches, overlaps;
    double slice[SLICES_TRACKS_MAX *
                 SLICES_TRACK_MAX]; // whole ones: neither the first nor the last thing that one did in the span
    double
        switch_time[SLICES_TRACKS_MAX * SLICES_TRACK_MAX]; // not of the OVERLAPS, where the next began before the end
};

void slices_count(const struct slices_track *tracks, unsigned count, struct slices_account *account);

#endif
