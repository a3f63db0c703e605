// SPDX-License-Identifier: Apache-2.0
// The host device's share of gpu_kernel.h: it has no registers or shared memory to allot, but it does refuse launches.
#include "backends/gpu_kernel.h"

#include <stdlib.h>

#include "backends/code.h"
#include "backends/host/device.h"
#include "backends/host/inject.h"

static enum gpu_status nothing_to_allot(void)
{
    return gpu_reason(GPU_UNSUPPORTED, "the host device has no registers, stacks or shared memory to allot to blocks");
}

enum gpu_status gpu_kernel_attributes(const void *kernel, struct gpu_kernel_attributes *attributes)
{
    (void)kernel, (void)attributes;
    return nothing_to_allot();
}

enum gpu_status gpu_kernel_code_bytes(const char *name, size_t *bytes) { return code_find("host", name, bytes); }

enum gpu_status gpu_kernel_occupancy(const void *kernel, unsigned block_threads, size_t shared_bytes, unsigned *blocks)
{
    (void)kernel, (void)block_threads, (void)shared_bytes, (void)blocks;
    return nothing_to_allot();
}

enum gpu_status gpu_kernel_allow_shared(const void *kernel, size_t bytes)
{
    (void)kernel, (void)bytes;
    return nothing_to_allot();
}

enum gpu_status gpu_kernel_prefer_shared(const void *kernel, unsigned percent)
{
    (void)kernel, (void)percent;
    return nothing_to_allot();
}

enum gpu_status gpu_limits(struct gpu_limits *limits)
{
    (void)limits;
    return nothing_to_allot();
}

enum gpu_status gpu_stack_allow(size_t bytes)
{
    (void)bytes;
    return nothing_to_allot();
}

enum gpu_status gpu_pointer_known(const void *pointer)
{
    (void)pointer;
    return gpu_reason(GPU_UNSUPPORTED, "the host device's pointers are the host's own");
}

enum gpu_status gpu_device_current(int *current)
{
    if (inject.ask_ticks) inject_spin(inject.ask_ticks);
    *current = 0;
    return GPU_OK;
}

enum gpu_status gpu_device_select(int selected)
{
    return selected == 0 ? GPU_OK : gpu_reason(GPU_FAILED, "there is no host device %d, only 0", selected);
}

enum gpu_status gpu_alloc_managed(void **memory, size_t bytes)
{
    void *device_view;
    return gpu_alloc_mapped(memory, &device_view, bytes);
}

enum gpu_status gpu_alloc_raw(void **device_memory, size_t bytes)
{
    enum gpu_status status = inject_allocation();
    if (status) return status;
    *device_memory = malloc(bytes);
    return *device_memory ? GPU_OK : gpu_reason(GPU_UNSUPPORTED, "no memory for %zu bytes", bytes);
}

// A code is the index of its name.
enum { SUCCESS, LAUNCH_REFUSED };
static const char *const names[] = {[SUCCESS] = "success", [LAUNCH_REFUSED] = "LAUNCH_REFUSED"};
static int last_code;

int gpu_launch_code(const struct gpu_launch *launch)
{
    enum gpu_status status = host_launch_check(launch);
    if (status && inject.refuse_ticks) inject_spin(inject.refuse_ticks);
    if (!status)
        status = stream_launch(launch->stream, launch->kernel, launch->grid, launch->argument, launch->argument_bytes);
    if (status) last_code = LAUNCH_REFUSED;
    return status ? LAUNCH_REFUSED : SUCCESS;
}

int gpu_stack_code(size_t bytes)
{
    (void)bytes;
    return last_code = LAUNCH_REFUSED;
}

int gpu_allow_shared_code(const void *kernel, size_t bytes)
{
    (void)kernel, (void)bytes;
    return last_code = LAUNCH_REFUSED;
}

int gpu_code_last(void)
{
    int code = last_code;
    last_code = SUCCESS;
    return code;
}

int gpu_stream_code(struct gpu_stream *stream) { return gpu_stream_synchronize(stream) ? 1 : 0; }

enum gpu_status gpu_fault_confined(void) { return GPU_OK; }

const char *gpu_code_name(int code) { return names[code ? 1 : 0]; }
