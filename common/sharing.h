// SPDX-License-Identifier: Apache-2.0
// What the processes of context_switch do, in groups that share one device, and what they leave in common memory.
#ifndef LIFTOFF_SHARING_H
#define LIFTOFF_SHARING_H

#include "common/neighbour.h"
#include "common/probe.h"
#include "common/resident.h"

// Who takes turns, with what to be saved. Their names are a result's variant and parameter.
enum { ONE_WARP, FULL_REGISTERS, FULL_SHARED, THREE, FOUR, CONTEXTS, SERVED, TURNS };
struct sharing_turns {
    const char *variant, *state;
    unsigned tracks; // contexts that take turns
    enum resident_state held;
};
extern const struct sharing_turns sharing_turns[TURNS];

// Whom the light one has beside it.
enum { ALONE, LONG, SHORT, SERVED_LONG, SERVED_SHORT, PART_ALONE, PART_LONG, VISITS };

// A group of processes, and what of turns and visits it does (bits). SERVED: through the server.
enum { QUICK, PAIR, STATES, SHORT_PAIR, FOUR_PROCESSES, TWO_CONTEXTS, MPS, PARTS, GROUPS };
struct sharing_group {
    const char *probe;
    unsigned processes;
    unsigned repeats; // how many of the run's processes start it; 0: all
    bool served;
    unsigned turns, visits;
};
extern const struct sharing_group sharing_groups[GROUPS];
#define BIT(n) (1u << (n))

// What a group's processes have in common.
struct sharing_page {
    struct {
        struct gpu_outcome told;
        struct resident_record record;
    } turns[TURNS][SLICES_TRACKS_MAX];
    struct {
        struct gpu_outcome told, busy; // of the light one, of the other
        struct neighbour_feed feed;
        struct neighbour_record record;
    } visits[VISITS];
};

// A member of group NAME, as a benchmark's probe: opens the device and does its share.
enum gpu_status sharing_probe(const char *name, struct probe_answer *answer);

#endif
