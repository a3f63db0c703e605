// SPDX-License-Identifier: Apache-2.0
// A device full of blocks, and launches beside them. See filler.h.
#include "common/filler.h"

#include <math.h>
#include <stdio.h>

#include "backends/gpu_stream.h"

GPU_KERNEL(hold_dynamic);

enum { LEAD_NS = 30000 }; // until the filler runs

// Where there is one priority, it is the lowest one.
static enum gpu_status create_lowest(struct gpu_stream **stream)
{
    enum gpu_status status = gpu_stream_create_priority(stream, false);
    return status == GPU_UNSUPPORTED ? gpu_stream_create(stream) : status;
}

enum gpu_status filler_open(struct filler *filler, struct hold_stamp *out)
{
    enum gpu_status status = create_lowest(&filler->stream);
    if (!status) status = create_lowest(&filler->low);
    if (status) return status;
    gpu_outcome_keep(&filler->high_outcome, gpu_stream_create_priority(&filler->high, true));
    filler->argument.out = out;
    return launch_prepare(&filler->launch, gpu_kernel(hold_dynamic), FILLER_BLOCKS * gpu_multiprocessors(),
                          HOLD_THREADS, &filler->argument, sizeof filler->argument, filler->stream);
}

void filler_close(struct filler *filler)
{
    if (filler->stream) gpu_stream_destroy(filler->stream);
    if (filler->low) gpu_stream_destroy(filler->low);
    if (filler->high) gpu_stream_destroy(filler->high);
    *filler = (struct filler){0};
}

// Returns when it runs: after a while that is another one for each launch, spread over the time that a block takes, so
// that launches do not all meet the same moment of a block.
static enum gpu_status start(struct filler *filler, double spin_ns, uint64_t sequence)
{
    filler->argument.spin_ticks = (uint64_t)(spin_ns / gpu_clock_ns_per_tick());
    filler->argument.sequence = sequence;
    enum gpu_status status = gpu_launch_runtime(&filler->launch);
    clock_spin_ns(LEAD_NS + spin_ns * fmod(0.618034 * (double)sequence, 1));
    return status;
}

enum gpu_status filler_launch(struct filler *filler, struct parts *parts, double spin_ns, uint64_t sequence,
                              bool *beside)
{
    struct host_reads *host = &parts->reads[parts->stamps.used];
    bool ended = false;
    enum gpu_status status = sequence ? start(filler, spin_ns, sequence) : GPU_OK, asked = GPU_OK;
    stamp_launch_aim(&parts->stamps);
    host->called = clock_ticks();
    if (!status) status = gpu_launch_runtime(&parts->stamps.launch);
    if (sequence) asked = gpu_stream_query(filler->stream, &ended);
    *beside = !ended;
    status = launch_drain(parts->stamps.launch.stream, status ? status : asked);
    return sequence ? launch_drain(filler->stream, status) : status;
}
