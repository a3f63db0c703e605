// SPDX-License-Identifier: Apache-2.0
// The launch that sweeps the shared cache, and the proof that it ran.
#include "common/sweep.h"

#include "common/launch.h"

GPU_KERNEL(sweep);

enum { SWEEP_THREADS = 256, SWEEP_BLOCKS = 4 }; // a multiprocessor

enum gpu_status sweep_open(struct sweep *sweep, struct gpu_stream *stream)
{
    const size_t bytes = 2 * gpu_cache_bytes();
    void *words = NULL, *out = NULL;
    if (!bytes) {
        gpu_outcome_keep(&sweep->unsupported, gpu_reason(GPU_UNSUPPORTED, "nobody tells how large the shared cache is: "
                                                                          "nothing can be swept"));
        return GPU_OK;
    }
    enum gpu_status status = gpu_alloc(&words, bytes);
    sweep->argument = (struct sweep_argument){.words = words, .count = bytes / (SWEEP_STRIDE * sizeof(uint64_t))};
    if (!status) status = gpu_alloc(&out, sizeof *sweep->argument.out);
    sweep->argument.out = out;
    if (status) return status;
    return launch_prepare(&sweep->launch, gpu_kernel(sweep), SWEEP_BLOCKS * gpu_multiprocessors(), SWEEP_THREADS,
                          &sweep->argument, sizeof sweep->argument, stream);
}

void sweep_close(struct sweep *sweep)
{
    gpu_free(sweep->argument.out);
    gpu_free(sweep->argument.words);
    *sweep = (struct sweep){0};
}

enum gpu_status sweep_submit(struct sweep *sweep)
{
    if (sweep->unsupported.status) return gpu_outcome_tell(&sweep->unsupported);
    sweep->argument.sequence++;
    return gpu_launch_runtime(&sweep->launch);
}

enum gpu_status sweep_prove(const struct sweep *sweep)
{
    uint64_t sequence = 0;
    enum gpu_status status = gpu_read(&sequence, sweep->argument.out, sizeof sequence);
    if (!status && sequence != sweep->argument.sequence)
        status = gpu_reason(GPU_FAILED, "the sweep of the shared cache did not run");
    return status;
}
