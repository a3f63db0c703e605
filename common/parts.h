// SPDX-License-Identifier: Apache-2.0
// The parts of one stamping launch, from the host's call to the host's knowing, on one time line.
#ifndef LIFTOFF_PARTS_H
#define LIFTOFF_PARTS_H

#include "common/launch.h"
#include "common/sync.h"

// The host's clock before the call, after it, and when the stream is known to be empty.
struct host_reads {
    uint64_t called, returned, known;
};

enum { PARTS_ROOM = 260 }; // launches between parts_begin and parts_end, at most

// A series of stamping launches into one stream, inside one window of the clocks.
struct parts {
    struct stamp_launch stamps;
    struct sync_window window;
    struct host_reads reads[PARTS_ROOM];
    double clock_error_ns,
        stamp_error_ns; // what a clock read, and a stamping kernel's own work, put on top of the truth
};

// Measures the two errors with CHAIN, into whose stream the launches go. sync_open comes first.
enum gpu_status parts_open(struct parts *parts, struct chain *chain);
void parts_close(struct parts *parts);

enum gpu_status parts_begin(struct parts *parts);

// One stamping launch into an idle device; its host reads are number STAMPS.USED − 1 then.
static inline __attribute__((always_inline)) enum gpu_status parts_launch(struct parts *parts, launch_function *submit)
{
    struct host_reads *host = &parts->reads[parts->stamps.used];
    stamp_launch_aim(&parts->stamps);
    host->called = clock_ticks();
    enum gpu_status status = submit(&parts->stamps.launch);
    host->returned = clock_ticks();
    enum gpu_status ended = gpu_stream_synchronize(parts->stamps.launch.stream);
    host->known = clock_ticks();
    return status ? status : ended;
}

// Ends the window and brings the stamps. STATUS is passed on if it is not GPU_OK.
enum gpu_status parts_end(struct parts *parts, enum gpu_status status);

// Of launch I, in ns:
double parts_launch_latency(const struct parts *parts,
                            unsigned i); // before the call … the first thread's first clock read
double parts_submit_to_start(const struct parts *parts,
                             unsigned i); // the call's return … the same; negative if that was first
double parts_duration(const struct parts *parts, unsigned i);           // … the last thread's last clock read
double parts_completion_latency(const struct parts *parts, unsigned i); // that … the synchronise has returned, spinning
double parts_submit(const struct parts *parts, unsigned i);             // before the call … its return
double parts_round_trip(const struct parts *parts, unsigned i); // before the call … the synchronise has returned

// The bound of what stands on both clocks.
double parts_bound_ns(const struct parts *parts);

#endif
