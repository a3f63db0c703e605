// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a device that several take in turn: their slices, what lies between them, and what they sum up to.
#ifndef LIFTOFF_SLICES_H
#define LIFTOFF_SLICES_H

#include "backends/kernels/context_switch.h"

enum { SLICES_TRACKS_MAX = 4, SLICES_TRACK_MAX = 64, SLICES_ALL = SLICES_TRACKS_MAX * SLICES_TRACK_MAX };

// When one of them ran: COUNT (1 … SLICES_TRACK_MAX) slices in order, on a clock that all have in common.
struct slices_track {
    const struct slice *slices;
    unsigned count;
};

// All in ticks, within the span in which all were there: from the latest first begin to the earliest last end.
struct slices_account {
    double span;                       // 0 or less: they were never there together
    double running;                    // the sum of all slices, as far as they lie in the span
    double most_apart, typical_switch; // the lower quartile of switch_time; MOST_APART: also between slices of one
    unsigned changes;                  // of turn, without the OVERLAPS, where the next began before the end
    unsigned slices, switches, overlaps;
    double slice[SLICES_ALL];       // whole ones: neither the first nor the last thing that one did in the span
    double switch_time[SLICES_ALL]; // at CHANGES, without the first after each one's first slice and before it: cold
    double turn_period[SLICES_ALL]; // from where the turn began that ends with the same switch to where the next begins
};

// The share of the span that slices explain, and as many typical switches as there were changes of turn.
double slices_accounted(const struct slices_account *account);

void slices_count(const struct slices_track *tracks, unsigned count, struct slices_account *account);

#endif
