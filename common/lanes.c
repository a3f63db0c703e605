// SPDX-License-Identifier: Apache-2.0
// Several streams behind gates that open together. See lanes.h.
#include "common/lanes.h"

#include <assert.h>

enum gpu_status lanes_open(struct lanes *lanes, struct chain *chain, unsigned count)
{
    assert(count >= 1 && count <= LANES_MAX);
    *lanes = (struct lanes){.chain = chain, .count = 1, .streams = {chain->stream}};
    enum gpu_status status = GPU_OK;
    for (unsigned lane = 1; lane < count && !status; lane++) {
        status = gpu_stream_create(&lanes->streams[lane]);
        if (status) break;
        lanes->count++;
        lanes->gates[lane] = chain->gate;
        lanes->gates[lane].stream = lanes->streams[lane];
        status = gpu_launch_prepare(&lanes->gates[lane]);
    }
    return status;
}

void lanes_close(struct lanes *lanes)
{
    for (unsigned lane = 1; lane < lanes->count; lane++) gpu_stream_destroy(lanes->streams[lane]);
    lanes->count = 0;
}

enum gpu_status lanes_hold(struct lanes *lanes, unsigned lane)
{
    return lane ? gpu_launch_runtime(&lanes->gates[lane]) : chain_hold(lanes->chain);
}

enum gpu_status lanes_drain(struct lanes *lanes, unsigned count, enum gpu_status status)
{
    for (unsigned lane = 0; lane < count; lane++) status = launch_drain(lanes->streams[lane], status);
    return status;
}

enum gpu_status lanes_release(struct lanes *lanes, unsigned count, enum gpu_status status)
{
    chain_let_go(lanes->chain);
    status = lanes_drain(lanes, count, status);
    enum gpu_status released = chain_release(lanes->chain); // all gates have ended: one that gave up has said so
    return status ? status : released;
}
