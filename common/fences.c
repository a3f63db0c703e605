// SPDX-License-Identifier: Apache-2.0
// Times fences in a kernel, behind stores. See fences.h.
#include "common/fences.h"

#include <math.h>

#include "backends/kernels/stream_fence.h"
#include "common/launch.h"

GPU_KERNEL(fences_none);
GPU_KERNEL(fences_block);
GPU_KERNEL(fences_device);
GPU_KERNEL(fences_system);

static const struct {
    const char *variant;
    const void *kernel;
} fences[] = {{"none", gpu_kernel(fences_none)},
              {"block", gpu_kernel(fences_block)},
              {"device", gpu_kernel(fences_device)},
              {"system", gpu_kernel(fences_system)}};
enum { NONE, KINDS = sizeof fences / sizeof *fences };

static const unsigned sizes[] = {0, 128, 4096, 65536};
enum { SIZES = sizeof sizes / sizeof *sizes, BYTES_MAX = 65536, QUICK_BYTES = 4096, READS = 4 };
static const double BUDGET_SHARE = 0.1; // of a point

static struct gpu_launch launch;
static struct fences_argument argument;

// The mean of the fences of one launch, behind stores to COUNT words each.
static enum gpu_status time_fences(unsigned kind, unsigned count, double *cycles)
{
    struct fences_seen seen;
    launch.kernel = fences[kind].kernel;
    argument.sequence++;
    argument.count = count;
    enum gpu_status status = gpu_launch_prepare(&launch);
    if (!status) status = launch_drain(launch.stream, gpu_launch_runtime(&launch));
    if (!status) status = gpu_read(&seen, argument.out, sizeof seen);
    if (status) return status;
    if (seen.sequence != argument.sequence) return gpu_reason(GPU_FAILED, "the kernel with the fences did not run");
    *cycles = (double)seen.cycles / FENCES;
    return GPU_OK;
}

// fence: cycles from before a fence until its thread goes on, behind stores of its warp to so many bytes; the mean of
// FENCES in one kernel. What two reads of the counter are apart is in it, and bounds the error.
static enum gpu_status measure_fence(struct bench_case *c, unsigned samples, double *values)
{
    const unsigned count = (unsigned)(c->axis_value / sizeof *argument.words);
    enum gpu_status status = GPU_OK;
    double reads = INFINITY;
    for (int i = 0; i < READS && !status; i++) { // the least: what disturbs the counter's reads is not their cost
        double cycles;
        status = time_fences(NONE, 0, &cycles);
        if (!status) reads = fmin(reads, cycles);
    }
    c->error_bound[0] = reads;
    for (unsigned i = 0; i < samples && !status; i++) status = time_fences((unsigned)c->argument, count, &values[i]);
    return status;
}

void fences_add(struct bench_plan *plan, bool quick)
{
    struct bench_case c = {.params = LAUNCH_PARAMS,
                           .axis = "bytes",
                           .batch = FENCES,
                           .samples = 10,
                           .budget_share = BUDGET_SHARE,
                           .measure = measure_fence,
                           .outputs = {{"fence", "cycles", "lower", .resolution = 1.0 / FENCES}}};
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned kind = 0; kind < KINDS; kind++) {
            if (quick && sizes[s] != QUICK_BYTES) continue;
            c.variant = fences[kind].variant;
            c.axis_value = sizes[s];
            c.argument = kind;
            bench_add(plan, &c);
        }
}

enum gpu_status fences_open(struct gpu_stream *stream)
{
    void *words, *out;
    enum gpu_status status = gpu_alloc(&words, BYTES_MAX);
    if (!status) status = gpu_alloc(&out, sizeof *argument.out);
    if (status) return status;
    argument = (struct fences_argument){words, out, 0, 0};
    status = launch_prepare_empty(&launch, stream);
    launch.argument = &argument;
    launch.argument_bytes = sizeof argument;
    return status;
}

void fences_close(void)
{
    if (argument.words) gpu_free(argument.words);
    if (argument.out) gpu_free(argument.out);
}
