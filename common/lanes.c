// SPDX-License-Identifier: Apache-2.0
// Grids in several streams that race. See lanes.h.
#include "common/lanes.h"

#include <assert.h>

#include "common/hold.h"

enum gpu_status lanes_open(struct lanes *lanes, struct chain *chain, unsigned count)
{
    assert(count >= 1 && count <= LANES_MAX);
    *lanes = (struct lanes){.chain = chain, .count = 1, .streams = {chain->stream}};
    enum gpu_status status = GPU_OK;
    for (unsigned lane = 1; lane < count && !status; lane++) {
        status = gpu_stream_create(&lanes->streams[lane]);
        if (!status) lanes->count++;
    }
    return status;
}

void lanes_close(struct lanes *lanes)
{
    for (unsigned lane = 1; lane < lanes->count; lane++) gpu_stream_destroy(lanes->streams[lane]);
    lanes->count = 0;
}

enum gpu_status lanes_prepare(struct lanes *lanes, unsigned racing, const struct gpu_launch *grid,
                              const struct hold_argument *argument)
{
    assert(racing >= 1 && racing <= lanes->count);
    enum gpu_status status = GPU_OK;
    lanes->racing = racing;
    for (unsigned lane = 0; lane < racing && !status; lane++) {
        lanes->arguments[lane] = *argument;
        lanes->arguments[lane].out += lane * grid->grid[0];
        lanes->grids[lane] = *grid;
        lanes->grids[lane].argument = &lanes->arguments[lane];
        lanes->grids[lane].argument_bytes = sizeof *argument;
        lanes->grids[lane].stream = lanes->streams[lane];
        status = gpu_launch_prepare(&lanes->grids[lane]);
    }
    return status;
}

// Whatever happened before. Answers STATUS if it is not GPU_OK, else the first error that was met.
static enum gpu_status drain(const struct lanes *lanes, enum gpu_status status)
{
    for (unsigned lane = 0; lane < lanes->racing; lane++) status = launch_drain(lanes->streams[lane], status);
    return status;
}

// Stream after stream gets all that is for it, as programs do. Lane 0's gate is the first, as the others share its
// word.
enum gpu_status lanes_race(struct lanes *lanes, bool gated, uint64_t sequence, struct hold_stamp *stamps,
                           struct span *spans)
{
    const unsigned blocks = lanes->grids[0].grid[0];
    enum gpu_status status = GPU_OK;
    for (unsigned lane = 0; lane < lanes->racing && !status; lane++) {
        lanes->arguments[lane].sequence = sequence;
        if (gated) status = lane ? chain_hold_too(lanes->chain, lanes->streams[lane]) : chain_hold(lanes->chain);
        if (!status) status = gpu_launch_runtime(&lanes->grids[lane]);
    }
    const enum gpu_status released = gated ? chain_release(lanes->chain) : GPU_OK;
    status = drain(lanes, status ? status : released);
    if (!status) status = gpu_read(stamps, lanes->arguments[0].out, lanes->racing * blocks * sizeof *stamps);
    for (unsigned lane = 0; lane < lanes->racing && !status; lane++)
        status = hold_span(stamps + lane * blocks, blocks, sequence, &spans[lane].begin_ticks, &spans[lane].end_ticks);
    return status;
}
