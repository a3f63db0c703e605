// SPDX-License-Identifier: Apache-2.0
// Several streams side by side with a grid each, which race: from gates that one store opens, or as they are launched.
#ifndef LIFTOFF_LANES_H
#define LIFTOFF_LANES_H

#include "backends/kernels/resources.h"
#include "common/launch.h"
#include "common/span.h"

enum { LANES_MAX = 32 };

struct lanes {
    struct chain *chain; // its stream and gate are lane 0's
    unsigned count;
    struct gpu_stream *streams[LANES_MAX];

    unsigned racing; // the first lanes, with GRIDS
    struct gpu_launch grids[LANES_MAX];
    struct hold_argument arguments[LANES_MAX];
};

// COUNT lanes (1 … LANES_MAX). CHAIN is open, and closed after them.
enum gpu_status lanes_open(struct lanes *lanes, struct chain *chain, unsigned count);
void lanes_close(struct lanes *lanes);

// Gives each of the first RACING lanes a grid like GRID, of a holding kernel, with an argument like ARGUMENT; they
// leave their stamps one grid's after the other's.
enum gpu_status lanes_prepare(struct lanes *lanes, unsigned racing, const struct gpu_launch *grid,
                              const struct hold_argument *argument);

// Runs them once, under SEQUENCE (1 …), and waits. STAMPS has room for all of theirs; SPANS[lane] is from a grid's
// first begin of any block to its last end of any. GPU_FAILED also if a gate had given up waiting.
enum gpu_status lanes_race(struct lanes *lanes, bool gated, uint64_t sequence, struct hold_stamp *stamps,
                           struct span *spans);

#endif
