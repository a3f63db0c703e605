// SPDX-License-Identifier: Apache-2.0
// Fulfils gpu.h with the device of CPU threads: facts, memory, the check of launches, and the one way to launch.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "backends/gpu.h"
#include "backends/host/device.h"
#include "backends/host/inject.h"
#include "common/clock.h"

enum { BLOCK_THREADS_MAX = 1024 };

const char gpu_backend[] = "host";

const char *const gpu_environment[] = {"LIFTOFF_HOST_INJECT", "LIFTOFF_CLOCK", NULL};

const struct gpu_variant gpu_queue_variants[] = {{NULL, {NULL}}};
const struct gpu_variant gpu_loading_variants[] = {{"default", {NULL}}, {NULL, {NULL}}};

const char *const gpu_cache_environment[] = {NULL};

enum gpu_status gpu_count(unsigned *devices)
{
    *devices = 1;
    return GPU_OK;
}

static enum gpu_status check_device(unsigned index)
{
    return index == 0 ? GPU_OK : gpu_reason(GPU_FAILED, "there is no host device %u, only 0", index);
}

// What must be right before the device can be used or told about.
static enum gpu_status check_use(unsigned index)
{
    enum gpu_status status = check_device(index);
    if (status) return status;
    if (clock_state.ns_per_tick == 0) clock_init();
    return inject_read();
}

enum gpu_status gpu_open_waiting(unsigned index, enum gpu_wait how)
{
    enum gpu_status status = check_use(index);
    if (status) return status;
    if (inject.open_ticks) inject_spin(inject.open_ticks);
    device.wait = how;
    device.sleepers = how == GPU_WAIT_BLOCK;
    return device_start();
}

enum gpu_status gpu_open(unsigned index) { return gpu_open_waiting(index, GPU_WAIT_SPIN); }

void gpu_close(void) { device_stop(); }

// The processor's name from /proc/cpuinfo, where the architecture gives one there, else the architecture. No commas: it
// becomes a CSV field that people cut.
static void processor_name(char *name, size_t bytes)
{
    struct utsname system;
    snprintf(name, bytes, "%s", uname(&system) ? "unknown" : system.machine);
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file) return;
    for (char line[256]; fgets(line, sizeof line, file);) {
        if (strncmp(line, "model name", 10)) continue;
        const char *colon = strchr(line, ':');
        line[strcspn(line, "\n")] = '\0';
        if (colon) snprintf(name, bytes, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    fclose(file);
    for (char *c = name; (c = strchr(c, ',')); c++) *c = ' ';
}

enum gpu_status gpu_facts(unsigned index, gpu_fact_function *emit, void *context)
{
    enum gpu_status status = check_use(index);
    if (status) return status;
    char processor[96], text[128];
    processor_name(processor, sizeof processor);
    snprintf(text, sizeof text, "CPU threads (%s)", processor);
    emit(context, "device", text);
    snprintf(text, sizeof text, "%u", device_workers());
    emit(context, "workers", text);
    snprintf(text, sizeof text, "%d", RING_PACKETS);
    emit(context, "ring_packets", text);
    return GPU_OK;
}

void gpu_state(unsigned index, const char *prefix, gpu_fact_function *emit, void *context, bool *throttled)
{
    (void)index, (void)prefix, (void)emit, (void)context;
    *throttled = false;
}

double gpu_clock_ns_per_tick(void) { return clock_state.ns_per_tick; }

// --- Memory: the device reads the host's -------------------------------------------------------------------

static enum gpu_status allocate(void **memory, size_t bytes, enum gpu_status without_room)
{
    enum gpu_status status = inject_allocation();
    if (status) return status;
    if (posix_memalign(memory, 4096, bytes)) return gpu_reason(without_room, "no memory for %zu bytes", bytes);
    memset(*memory, 0, bytes);
    return GPU_OK;
}

enum gpu_status gpu_alloc(void **device_memory, size_t bytes) { return allocate(device_memory, bytes, GPU_FAILED); }

void gpu_free(void *device_memory)
{
    inject_freed();
    free(device_memory);
}

enum gpu_status gpu_alloc_mapped(void **host_view, void **device_view, size_t bytes)
{
    enum gpu_status status = allocate(host_view, bytes, GPU_UNSUPPORTED);
    if (!status) *device_view = *host_view;
    return status;
}

void gpu_free_mapped(void *host_view) { gpu_free(host_view); }

enum gpu_status gpu_read(void *to, const void *device_memory, size_t bytes)
{
    memcpy(to, device_memory, bytes);
    return GPU_OK;
}

// --- Launches ----------------------------------------------------------------------------------------------

// The product of three sizes, 0 if one is, UINT64_MAX if it does not fit.
static uint64_t product(const unsigned size[3])
{
    uint64_t plane = (uint64_t)size[0] * size[1], all;
    return __builtin_mul_overflow(plane, size[2], &all) ? UINT64_MAX : all;
}

enum gpu_status host_launch_check(const struct gpu_launch *launch)
{
    const unsigned *grid = launch->grid, *block = launch->block;
    if (!launch->kernel) return gpu_reason(GPU_FAILED, "the launch names no kernel");
    if (!launch->stream) return gpu_reason(GPU_FAILED, "the launch names no stream");
    if (product(grid) == 0) return gpu_reason(GPU_FAILED, "a grid of %ux%ux%u has no block", grid[0], grid[1], grid[2]);
    if (product(grid) > UINT32_MAX)
        return gpu_reason(GPU_UNSUPPORTED, "a grid of %ux%ux%u has 2^32 blocks or more", grid[0], grid[1], grid[2]);
    if (product(block) == 0)
        return gpu_reason(GPU_FAILED, "a block of %ux%ux%u has no thread", block[0], block[1], block[2]);
    if (product(block) > BLOCK_THREADS_MAX)
        return gpu_reason(GPU_UNSUPPORTED, "a block of %ux%ux%u has more than %d threads", block[0], block[1], block[2],
                          BLOCK_THREADS_MAX);
    if (launch->argument_bytes > ARGUMENT_BYTES_MAX)
        return gpu_reason(GPU_UNSUPPORTED, "%zu bytes of argument are more than %d", launch->argument_bytes,
                          ARGUMENT_BYTES_MAX);
    if (!launch->argument != !launch->argument_bytes)
        return gpu_reason(GPU_FAILED, "the argument and its %zu bytes contradict each other", launch->argument_bytes);
    if (launch->dependent) return gpu_reason(GPU_UNSUPPORTED, "the host device has no dependent launches");
    if (launch->shared_bytes) return gpu_reason(GPU_UNSUPPORTED, "the host device has no shared memory");
    return GPU_OK;
}

enum gpu_status gpu_launch_prepare(struct gpu_launch *launch)
{
    enum gpu_status status = host_launch_check(launch);
    if (status) return status;
    return launch->argument_bytes > INLINE_BYTES ? stream_grow(launch->stream) : GPU_OK;
}

void gpu_launch_fill(struct gpu_launch *launch) { (void)launch; }

enum gpu_status gpu_launch_runtime(const struct gpu_launch *launch)
{
    return stream_launch(launch->stream, launch->kernel, launch->grid, launch->argument, launch->argument_bytes);
}

static enum gpu_status no_other_way(void)
{
    return gpu_reason(GPU_UNSUPPORTED, "the host device has one way to launch");
}

enum gpu_status gpu_launch_driver(const struct gpu_launch *launch)
{
    (void)launch;
    return no_other_way();
}

enum gpu_status gpu_launch_ex(const struct gpu_launch *launch)
{
    (void)launch;
    return no_other_way();
}

enum gpu_status gpu_launch_chevron(const struct gpu_launch *launch)
{
    (void)launch;
    return no_other_way();
}

enum gpu_status gpu_launch_packed(const struct gpu_launch *launch)
{
    (void)launch;
    return no_other_way();
}

unsigned gpu_multiprocessors(void) { return device_workers(); }

// The second level: the third belongs to who knows whom, and a guest is told of a size that it does not have.
size_t gpu_cache_bytes(void)
{
    long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 && !inject.no_cache ? (size_t)bytes : 0;
}

size_t gpu_page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

enum gpu_status gpu_launch_error(void) { return GPU_OK; }

GPU_KERNEL(empty);

enum gpu_status gpu_plain_submit(const struct gpu_launch *launch, unsigned count, double *elapsed_ns)
{
    const unsigned one[3] = {1, 1, 1};
    struct timespec begin, end;

    clock_gettime(CLOCK_MONOTONIC_RAW, &begin);
    for (unsigned i = 0; i < count; i++) {
        enum gpu_status status = stream_launch(launch->stream, gpu_kernel(empty), one, NULL, 0);
        if (status) return status;
    }
    clock_gettime(CLOCK_MONOTONIC_RAW, &end);

    *elapsed_ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    return GPU_OK;
}
