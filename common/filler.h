// SPDX-License-Identifier: Apache-2.0
// A grid that fills the device with blocks of the lowest priority while more of them wait, and launches beside it.
#ifndef LIFTOFF_FILLER_H
#define LIFTOFF_FILLER_H

#include "backends/kernels/resources.h"
#include "common/parts.h"

struct filler {
    struct gpu_stream *stream, *low, *high; // the first two are of the lowest priority
    struct gpu_launch launch;
    struct hold_argument argument;
    struct gpu_outcome high_outcome; // why there is no HIGH
};

enum { FILLER_BLOCKS = 160 }; // each multiprocessor

// OUT: the device's, room for FILLER_BLOCKS stamps a multiprocessor.
enum gpu_status filler_open(struct filler *filler, struct hold_stamp *out);
void filler_close(struct filler *filler);

// One launch of PARTS, number PARTS->STAMPS.USED − 1 then, some way into the filler under SEQUENCE, whose blocks spin
// for SPIN_NS each; SEQUENCE 0: without it.
// Waits for both. *BESIDE: whether the filler had still not ended after the call.
enum gpu_status filler_launch(struct filler *filler, struct parts *parts, double spin_ns, uint64_t sequence,
                              bool *beside);

#endif
