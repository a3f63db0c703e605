// SPDX-License-Identifier: Apache-2.0
// A kernel that stays on the device and writes down when it ran: how a process sees that others have their turn.
#ifndef LIFTOFF_RESIDENT_H
#define LIFTOFF_RESIDENT_H

#include "backends/gpu.h"
#include "common/slices.h"

// What there is to save when another has its turn. FULL: as many blocks as the device holds at once.
enum resident_state { RESIDENT_ONE_WARP, RESIDENT_FULL_REGISTERS, RESIDENT_FULL_SHARED };

struct resident {
    struct gpu_stream *stream;
    struct gpu_launch launch;
    struct resident_argument argument;
    char detail[96]; // what it came to: blocks, and registers or bytes
};

// What one has seen. It can lie in memory that processes share.
struct resident_record {
    struct slice slices[SLICES_TRACK_MAX];
    unsigned count;
    double ns_per_tick,
        longest_pass_ns; // the usual loop's longest pass: how much later than its last read it can have run
    char detail[96];
};

// Makes it ready in the thread's context, with a stream of its own, and launches it once for no time. It will stay for
// LIMIT_NS. GPU_UNSUPPORTED where the device has no such state. resident_close follows in any case.
enum gpu_status resident_open(struct resident *resident, enum resident_state state, double limit_ns);
void resident_close(struct resident *resident);

enum gpu_status resident_launch(struct resident *resident);

// Waits for it. GPU_FAILED if it did not run, or lost what it held.
enum gpu_status resident_read(struct resident *resident, struct resident_record *record);

#endif
