// SPDX-License-Identifier: Apache-2.0
// A process that keeps the device busy, and one beside it that asks little of it: what the second has to wait for.
#ifndef LIFTOFF_NEIGHBOUR_H
#define LIFTOFF_NEIGHBOUR_H

#include "backends/kernels/geometry.h"
#include "common/parts.h"

// --- The busy one ------------------------------------------------------------------------------------------

// Each kernel is two blocks of 1024 threads a multiprocessor, which spin for 10 ms or for 10 µs.
enum neighbour_kind { NEIGHBOUR_LONG, NEIGHBOUR_SHORT };

struct neighbour {
    struct gpu_launch launch;
    struct wave_argument argument;
    unsigned blocks;
};

// Into STREAM, for so many multiprocessors; launches it once for no time.
enum gpu_status neighbour_open(struct neighbour *neighbour, struct gpu_stream *stream, unsigned multiprocessors);
void neighbour_close(struct neighbour *neighbour);

// Submits COUNT kernels and waits for nothing.
enum gpu_status neighbour_submit(struct neighbour *neighbour, enum neighbour_kind kind, unsigned count);

// What the busy one and the light one tell each other, in memory that their processes share.
struct neighbour_feed {
    uint32_t busy, stop;   // by the busy one, by the light one
    uint32_t refills, dry; // how often the busy one refilled its stream, and how often that had run out by then
};

// Keeps the stream filled from when BUSY is set to 1, which it does when the first kernels have ended, until STOP is
// set, or for at most 5 s: then BUSY is 0 again. GPU_FAILED if the stream ran out more often than once in ten.
enum gpu_status neighbour_feed(struct neighbour *neighbour, enum neighbour_kind kind, struct neighbour_feed *feed);

// Waits for all of it. GPU_FAILED if the last kernel left no stamps.
enum gpu_status neighbour_drain(struct neighbour *neighbour);

// --- The light one -----------------------------------------------------------------------------------------

enum { NEIGHBOUR_SAMPLES = 170, NEIGHBOUR_CHUNK = 10 };

struct neighbour_record {
    double launch_latency_ns[NEIGHBOUR_SAMPLES], round_trip_ns[NEIGHBOUR_SAMPLES];
    double bound_ns, clock_error_ns; // of either
    long switched_off;               // how often the light one lost its core against its will
};

// COUNT (1 … NEIGHBOUR_SAMPLES) pauses between launches: one in each of COUNT equal parts of 0 … 5 ms, anywhere in it,
// in a random order. *RANDOM, which it changes, may begin as anything.
void neighbour_pauses(double *pauses_ns, unsigned count, uint64_t *random);

// COUNT stamping launches, each after such a pause, between parts_begin and parts_end. Adds to SWITCHED_OFF.
enum gpu_status neighbour_visit(struct parts *parts, unsigned count, struct neighbour_record *record);

// Takes them, when the window is closed, as samples FIRST …; widens the bound.
void neighbour_take(const struct parts *parts, unsigned first, unsigned count, struct neighbour_record *record);

#endif
