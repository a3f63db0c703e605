// SPDX-License-Identifier: Apache-2.0
// Keeps the device busy. See busy.h.
#include "common/busy.h"

#include "common/launch.h"

GPU_KERNEL(busy);

enum { STARTED, RELEASE, ENDED, WORDS };
static const double STARTED_NS = 1e9;

enum gpu_status busy_open(struct busy *busy)
{
    void *host, *device;
    enum gpu_status status = gpu_stream_create(&busy->stream);
    if (!status) status = gpu_alloc_mapped(&host, &device, WORDS * sizeof *busy->words);
    if (status) return status;
    busy->words = host;
    uint32_t *words = device;
    busy->argument = (struct busy_argument){words + STARTED, words + RELEASE, words + ENDED, 0};
    busy->launch = (struct gpu_launch){.kernel = gpu_kernel(busy),
                                       .grid = {1, 1, 1},
                                       .block = {LAUNCH_BLOCK_THREADS, 1, 1},
                                       .argument = &busy->argument,
                                       .argument_bytes = sizeof busy->argument,
                                       .stream = busy->stream};
    gpu_launch_fill(&busy->launch);
    return GPU_OK;
}

enum gpu_status busy_begin(struct busy *busy, double limit_ns)
{
    for (int i = 0; i < WORDS; i++) busy->words[i] = 0;
    busy->argument.limit_ticks = (uint64_t)(limit_ns / gpu_clock_ns_per_tick());
    enum gpu_status status = gpu_launch_runtime(&busy->launch);
    uint64_t begin = clock_ticks();
    while (!status && !__atomic_load_n(&busy->words[STARTED], __ATOMIC_ACQUIRE))
        if (clock_ns(clock_ticks() - begin) > STARTED_NS)
            status = gpu_reason(GPU_FAILED, "the kernel that is to keep the device busy did not start");
    return status;
}

bool busy_ended(const struct busy *busy) { return __atomic_load_n(&busy->words[ENDED], __ATOMIC_ACQUIRE); }

enum gpu_status busy_end(struct busy *busy, enum gpu_status status)
{
    if (!busy->words) return status;
    __atomic_store_n(&busy->words[RELEASE], 1, __ATOMIC_RELEASE);
    return launch_drain(busy->stream, status);
}
