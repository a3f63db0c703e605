// SPDX-License-Identifier: Apache-2.0
// Several streams side by side, each with a gate of its own, all of which one store opens.
#ifndef LIFTOFF_LANES_H
#define LIFTOFF_LANES_H

#include "common/launch.h"

enum { LANES_MAX = 32 };

struct lanes {
    struct chain *chain; // its stream and gate are lane 0's
    unsigned count;
    struct gpu_stream *streams[LANES_MAX];
    struct gpu_launch gates[LANES_MAX];
};

// COUNT lanes (1 … LANES_MAX). CHAIN is open, and closed after them.
enum gpu_status lanes_open(struct lanes *lanes, struct chain *chain, unsigned count);
void lanes_close(struct lanes *lanes);

// Closes a lane's gate, as chain_hold. Lane 0 comes first.
enum gpu_status lanes_hold(struct lanes *lanes, unsigned lane);

// Waits for the first COUNT lanes, whatever happened before. Answers STATUS if it is not GPU_OK, else the first error
// that was met.
enum gpu_status lanes_drain(struct lanes *lanes, unsigned count, enum gpu_status status);

// Opens all gates and does the same. GPU_FAILED also if a gate had given up waiting.
enum gpu_status lanes_release(struct lanes *lanes, unsigned count, enum gpu_status status);

#endif
