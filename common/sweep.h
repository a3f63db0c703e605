// SPDX-License-Identifier: Apache-2.0
// A launch that reads twice what the shared cache holds, so that nothing which was there before is there any more.
#ifndef LIFTOFF_SWEEP_H
#define LIFTOFF_SWEEP_H

#include "backends/gpu.h"
#include "backends/kernels/common.h"

struct sweep {
    struct gpu_launch launch;
    struct sweep_argument argument;
    struct gpu_outcome unsupported; // GPU_OK where there is a sweep
};

// Takes memory of twice gpu_cache_bytes() and prepares the launch into STREAM. Where nobody tells how large that cache
// is, this succeeds and sweep_submit answers GPU_UNSUPPORTED. sweep_close takes a zeroed one, too.
enum gpu_status sweep_open(struct sweep *sweep, struct gpu_stream *stream);
void sweep_close(struct sweep *sweep);

// One launch.
enum gpu_status sweep_submit(struct sweep *sweep);

// Once the stream is drained: GPU_FAILED if the last sweep_submit's launch did not run.
enum gpu_status sweep_prove(const struct sweep *sweep);

#endif
