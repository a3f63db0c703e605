// SPDX-License-Identifier: Apache-2.0
// How long it takes until all multiprocessors are busy. See block_start.h.
#include "common/block_start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu_kernel.h"
#include "backends/kernels/warm_up.h"
#include "common/launch.h"
#include "common/stats.h"
#include "common/sync.h"

GPU_KERNEL(block_start);

enum {
    STAY_NS = 5000,
    ROUNDS = 2,
    SAMPLES = 5,
    ROUND_MAX = SAMPLES + BENCH_LEAD,
};

static struct gpu_stream *stream;
static unsigned multiprocessors;

static struct start_argument start_argument;
static struct gpu_launch start;
static struct start_stamp *start_stamps;

static int compare_begin(const void *a, const void *b)
{
    const uint64_t x = ((const struct start_stamp *)a)->begin_ticks, y = ((const struct start_stamp *)b)->begin_ticks;
    return (x > y) - (x < y);
}

// Launches a block for each multiprocessor. The *COUNT first ones of start_stamps are then those of each
// multiprocessor's first block, in the order in which they began.
static enum gpu_status try_start(unsigned *count, uint64_t *called_ticks)
{
    static bool seen[MULTIPROCESSORS_MAX];
    *count = 0;
    start_argument.sequence++;
    *called_ticks = clock_ticks();
    enum gpu_status status = launch_drain(stream, gpu_launch_runtime(&start));
    if (!status) status = gpu_read(start_stamps, start_argument.out, multiprocessors * sizeof *start_stamps);
    if (!status)
        status = launch_check_stamps(&start_stamps->sequence, sizeof *start_stamps, multiprocessors,
                                     start_argument.sequence);
    if (status) return status;
    qsort(start_stamps, multiprocessors, sizeof *start_stamps, compare_begin);
    memset(seen, 0, sizeof seen);
    for (unsigned b = 0; b < multiprocessors; b++) {
        const unsigned at = start_stamps[b].multiprocessor;
        if (at >= MULTIPROCESSORS_MAX || seen[at]) continue;
        seen[at] = true;
        start_stamps[(*count)++] = start_stamps[b];
    }
    return GPU_OK;
}

// The same with a block on each; launches again where a multiprocessor took two. GPU_UNSUPPORTED if one always does.
static enum gpu_status run_start(uint64_t *called_ticks)
{
    unsigned count = 0;
    for (unsigned attempt = 0; attempt < 8 && count < multiprocessors; attempt++) {
        enum gpu_status status = try_start(&count, called_ticks);
        if (status) return status;
    }
    if (count < multiprocessors)
        return gpu_reason(GPU_UNSUPPORTED, "a grid of a block for each of %u multiprocessors began on %u of them only",
                          multiprocessors, count);
    return GPU_OK;
}

// block_start_skew: from the first block's first clock read to that of the last to begin, of one launch with a block on
// each multiprocessor.
static enum gpu_status measure_skew(struct bench_case *c, unsigned samples, double *values)
{
    const double step_ns = sync_device_resolution_ns();
    double sorted[ROUND_MAX];
    uint64_t called;
    enum gpu_status status = GPU_OK;
    if (multiprocessors < 2)
        return gpu_reason(GPU_UNSUPPORTED, "this device has only %u of at least 2 multiprocessors", multiprocessors);
    for (unsigned i = 0; i < samples && !status; i++) {
        status = run_start(&called);
        values[i] = (double)(start_stamps[multiprocessors - 1].begin_ticks - start_stamps[0].begin_ticks) *
                    gpu_clock_ns_per_tick();
    }
    if (status) return status;
    memcpy(sorted, values, samples * sizeof *sorted);
    stats_sort(sorted, samples);
    const double median_ns = stats_quantile(sorted, samples, 0.5);
    if (median_ns < 10 * step_ns)
        return gpu_reason(GPU_UNSUPPORTED,
                          "the blocks begin within %.0f ns of each other, less than ten steps of the device's clock",
                          median_ns);
    c->error_bound[0] = step_ns;
    snprintf(c->detail, sizeof c->detail, "multiprocessors=%u", multiprocessors);
    return GPU_OK;
}

// all_busy_latency: starts before the launch call into an idle device, stops with the first clock read on the last
// multiprocessor to begin.
static enum gpu_status measure_all_busy(struct bench_case *c, unsigned samples, double *values)
{
    uint64_t called[ROUND_MAX], begun[ROUND_MAX];
    struct sync_window window;
    enum gpu_status status = sync_burst(&window.begin);
    for (unsigned i = 0; i < samples && !status; i++) {
        status = run_start(&called[i]);
        begun[i] = start_stamps[multiprocessors - 1].begin_ticks;
    }
    if (!status) status = sync_burst(&window.end);
    if (status) return status;
    for (unsigned i = 0; i < samples; i++) values[i] = sync_ns_after(&window, called[i], begun[i]);
    c->error_bound[0] = sync_bound_ns(&window) + clock_cost_ns();
    snprintf(c->detail, sizeof c->detail, "multiprocessors=%u", multiprocessors);
    return GPU_OK;
}

// A block on each multiprocessor and, where it has not twice what a block may ask for, none beside it.
static enum gpu_status open_start(struct gpu_stream *into)
{
    stream = into;
    multiprocessors = gpu_multiprocessors();
    if (multiprocessors > MULTIPROCESSORS_MAX) multiprocessors = MULTIPROCESSORS_MAX;
    struct gpu_limits limits;
    void *out;
    enum gpu_status status = gpu_alloc(&out, multiprocessors * sizeof *start_stamps);
    if (status) return status;
    start_argument.out = out;
    start_stamps = calloc(multiprocessors, sizeof *start_stamps);
    if (!start_stamps) return gpu_reason(GPU_FAILED, "no memory for the stamps of %u multiprocessors", multiprocessors);
    status = launch_prepare(&start, gpu_kernel(block_start), multiprocessors, LAUNCH_BLOCK_THREADS, &start_argument,
                            sizeof start_argument, stream);
    start_argument.stay_ticks = (uint64_t)(STAY_NS / gpu_clock_ns_per_tick());
    if (!status) status = gpu_limits(&limits);
    if (status) return status == GPU_UNSUPPORTED ? GPU_OK : status; // nothing is allotted to blocks here
    start.shared_bytes = limits.shared_per_block_most;
    status = gpu_kernel_allow_shared(start.kernel, start.shared_bytes);
    return status ? status : gpu_launch_prepare(&start);
}

enum gpu_status block_start_plan(struct bench_plan *plan, struct gpu_stream *into)
{
    enum gpu_status status = open_start(into);
    if (status) return status;
    const double resolution = sync_device_resolution_ns();
    struct bench_case c = {.variant = "",
                           .params = "block_threads=32;blocks=multiprocessors",
                           .samples = SAMPLES,
                           .rounds = ROUNDS,
                           .measure = measure_skew,
                           .outputs = {{"block_start_skew", "ns", "lower", .resolution = resolution}}};
    bench_add(plan, &c);
    c.measure = measure_all_busy;
    c.outputs[0].metric = "all_busy_latency";
    bench_add(plan, &c);
    return GPU_OK;
}

void block_start_close(void)
{
    gpu_free(start_argument.out);
    free(start_stamps);
}
