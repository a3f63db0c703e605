// SPDX-License-Identifier: Apache-2.0
// The half of the CUDA and HIP backends that both runtimes spell alike. C11 that is also valid C++17: HIP over CUDA
// needs it.
#include "backends/gpu_stream.h"
#include "backends/runtime.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum gpu_status runtime_status(VENDOR(Error_t) error, const char *call)
{
    if (error == VENDOR(Success)) return GPU_OK;
    (void)VENDOR(GetLastError)();
    enum gpu_status status = error == VENDOR(ErrorNotSupported) ? GPU_UNSUPPORTED : GPU_FAILED;
    const char *name = VENDOR(GetErrorName)(error), *text = VENDOR(GetErrorString)(error); // HIP's may be the same
    if (strcmp(name, text) == 0) return gpu_reason(status, "%s: %s", call, name);
    return gpu_reason(status, "%s: %s (%s)", call, name, text);
}

// --- Devices -----------------------------------------------------------------------------------------------

enum gpu_status gpu_count(unsigned *devices)
{
    int count = 0, driver = 0, runtime = 0;
    *devices = 0;
    VENDOR(Error_t) error = VENDOR(GetDeviceCount)(&count);
    if (error == VENDOR(ErrorInsufficientDriver)) { // which also stands for none at all
        (void)VENDOR(DriverGetVersion)(&driver);
        (void)VENDOR(RuntimeGetVersion)(&runtime);
        if (driver == 0) return gpu_reason(GPU_FAILED, "%s: no driver is installed", VENDOR(GetErrorName)(error));
        return gpu_reason(GPU_FAILED, "%s: the driver is of version %d, older than the runtime's %d",
                          VENDOR(GetErrorName)(error), driver, runtime);
    }
    if (error != VENDOR(Success)) return runtime_status(error, TEXT(VENDOR(GetDeviceCount)));
    if (count < 1) return gpu_reason(GPU_FAILED, "the %s runtime sees no device", gpu_backend);
    *devices = (unsigned)count;
    return GPU_OK;
}

enum gpu_status gpu_open_waiting(unsigned device, enum gpu_wait how)
{
    const unsigned waits[GPU_WAITS] = {VENDOR(DeviceScheduleSpin), VENDOR(DeviceScheduleYield),
                                       VENDOR(DeviceScheduleBlockingSync)};
    CHECK(SetDevice, (int)device);
    CHECK(SetDeviceFlags, waits[how] | VENDOR(DeviceMapHost));
    CHECK(Free, NULL); // creates the context
    unsigned flags = 0;
    CHECK(GetDeviceFlags, &flags);
    if ((flags & VENDOR(DeviceScheduleMask)) != waits[how])
        return gpu_reason(GPU_FAILED, "the %s runtime does not wait in the way that it was asked to", gpu_backend);
    return vendor_open(device);
}

enum gpu_status gpu_open(unsigned device) { return gpu_open_waiting(device, GPU_WAIT_SPIN); }

void gpu_close(void) {} // the end of the process gives everything back, sooner than a reset

void runtime_fact(gpu_fact_function *emit, void *context, const char *key, long long value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", value);
    emit(context, key, text);
}

enum gpu_status gpu_facts(unsigned device, gpu_fact_function *emit, void *context)
{
    VENDOR(DeviceProp_t) properties;
    CHECK(GetDeviceProperties, &properties, (int)device);
    char text[64], bus[32];
    emit(context, "device", properties.name);
    snprintf(bus, sizeof bus, "%04x:%02x:%02x.0", (unsigned)properties.pciDomainID, (unsigned)properties.pciBusID,
             (unsigned)properties.pciDeviceID);
    emit(context, "pci_bus_id", bus);
    runtime_fact(emit, context, "multiprocessors", properties.multiProcessorCount);
    runtime_fact(emit, context, "warp_threads", properties.warpSize);
    runtime_fact(emit, context, "l2_bytes", properties.l2CacheSize);
    runtime_fact(emit, context, "memory_device_bytes", (long long)properties.totalGlobalMem);
    runtime_fact(emit, context, "shared_block_bytes", (long long)properties.sharedMemPerBlock);
    snprintf(text, sizeof text, "%d.%d", properties.major, properties.minor);
    emit(context, "compute_capability", text);
    int version = 0, khz = 0;
    if (VENDOR(DeviceGetAttribute)(&khz, VENDOR_ATTRIBUTE(ClockRate), (int)device) == VENDOR(Success))
        runtime_fact(emit, context, "clock_nominal_mhz", khz / 1000);
    if (VENDOR(RuntimeGetVersion)(&version) == VENDOR(Success)) runtime_fact(emit, context, "runtime_version", version);
    if (VENDOR(DriverGetVersion)(&version) == VENDOR(Success))
        runtime_fact(emit, context, "driver_api_version", version);
    vendor_facts(device, bus, emit, context);
    return GPU_OK;
}

const char *gpu_injection(void) { return NULL; }

// --- Memory ------------------------------------------------------------------------------------------------

enum gpu_status gpu_alloc(void **device_memory, size_t bytes)
{
    CHECK(Malloc, device_memory, bytes);
    CHECK(Memset, *device_memory, 0, bytes);
    CHECK(StreamSynchronize, 0);
    return GPU_OK;
}

void gpu_free(void *device_memory) { (void)VENDOR(Free)(device_memory); }

enum gpu_status gpu_alloc_mapped(void **host_view, void **device_view, size_t bytes)
{
    CHECK_ROOM(HostMalloc, host_view, bytes, VENDOR_HOST_MAPPED);
    memset(*host_view, 0, bytes);
    CHECK(HostGetDevicePointer, device_view, *host_view, 0);
    return GPU_OK;
}

void gpu_free_mapped(void *host_view) { (void)VENDOR(FreeHost)(host_view); }

enum gpu_status gpu_read(void *to, const void *device_memory, size_t bytes)
{
    CHECK(Memcpy, to, device_memory, bytes, VENDOR(MemcpyDeviceToHost));
    return GPU_OK;
}

// --- Streams -----------------------------------------------------------------------------------------------

enum gpu_status gpu_stream_create(struct gpu_stream **stream)
{
    VENDOR(Stream_t) created;
    CHECK(StreamCreateWithFlags, &created, VENDOR(StreamNonBlocking));
    *stream = (struct gpu_stream *)(void *)created;
    return GPU_OK;
}

void gpu_stream_destroy(struct gpu_stream *stream) { (void)VENDOR(StreamDestroy)(runtime_native(stream)); }

enum gpu_status gpu_stream_synchronize(struct gpu_stream *stream)
{
    VENDOR(Error_t) error = VENDOR(StreamSynchronize)(runtime_native(stream));
    return error == VENDOR(Success) ? GPU_OK : runtime_status(error, TEXT(VENDOR(StreamSynchronize)));
}

enum gpu_status gpu_stream_copy(struct gpu_stream *stream, void *to, const void *from, size_t bytes)
{
    VENDOR(Error_t) error = VENDOR(MemcpyAsync)(to, from, bytes, VENDOR(MemcpyDefault), runtime_native(stream));
    return error == VENDOR(Success) ? GPU_OK : runtime_status(error, TEXT(VENDOR(MemcpyAsync)));
}

enum gpu_status gpu_event_create(struct gpu_event **event, bool timed)
{
    VENDOR(Event_t) created;
    CHECK(EventCreateWithFlags, &created, timed ? VENDOR(EventDefault) : VENDOR(EventDisableTiming));
    *event = (struct gpu_event *)(void *)created;
    return GPU_OK;
}

void gpu_event_destroy(struct gpu_event *event) { (void)VENDOR(EventDestroy)((VENDOR(Event_t))(void *)event); }

enum gpu_status gpu_event_record(struct gpu_event *event, struct gpu_stream *stream)
{
    VENDOR(Error_t) error = VENDOR(EventRecord)((VENDOR(Event_t))(void *)event, runtime_native(stream));
    return error == VENDOR(Success) ? GPU_OK : runtime_status(error, TEXT(VENDOR(EventRecord)));
}

// --- Launches ----------------------------------------------------------------------------------------------

void gpu_launch_fill(struct gpu_launch *launch)
{
    launch->arguments[0] = launch->argument;
    for (unsigned i = 1; i < launch->argument_count; i++) launch->arguments[i] = (uint64_t *)launch->argument + i;
}

enum gpu_status gpu_launch_prepare(struct gpu_launch *launch)
{
    if (launch->argument_count > GPU_ARGUMENTS_MAX)
        return gpu_reason(GPU_UNSUPPORTED, "more than %d arguments", GPU_ARGUMENTS_MAX);
    gpu_launch_fill(launch);
    return vendor_prepare(launch);
}

enum gpu_status gpu_launch_runtime(const struct gpu_launch *launch)
{
    dim3 grid = runtime_dimensions(launch->grid), block = runtime_dimensions(launch->block);
    VENDOR(Error_t)
    error = VENDOR(LaunchKernel)(launch->kernel, grid, block, (void **)launch->arguments, launch->shared_bytes,
                                 runtime_native(launch->stream));
    return error == VENDOR(Success) ? GPU_OK : runtime_status(error, TEXT(VENDOR(LaunchKernel)));
}

// An attribute of the device that is a number of things; 0 where it cannot be had.
static unsigned device_attribute(VENDOR_DEVICE_ATTRIBUTE attribute)
{
    int device = 0, count = 0;
    if (VENDOR(GetDevice)(&device) != VENDOR(Success)) return 0;
    if (VENDOR(DeviceGetAttribute)(&count, attribute, device) != VENDOR(Success)) return 0;
    return (unsigned)count;
}

unsigned gpu_multiprocessors(void) { return device_attribute(VENDOR_ATTRIBUTE(MultiProcessorCount)); }

size_t gpu_cache_bytes(void) { return device_attribute(VENDOR_ATTRIBUTE(L2CacheSize)); }

// Both vendors map large allocations in pages of 2 MiB, and tell no one that they do.
size_t gpu_page_bytes(void) { return 2 << 20; }

enum gpu_status gpu_launch_error(void) { return runtime_status(VENDOR(GetLastError)(), "<<<>>>"); }

GPU_KERNEL(empty);

enum gpu_status gpu_plain_submit(const struct gpu_launch *launch, unsigned count, double *elapsed_ns)
{
    dim3 one = {1, 1, 1}, threads = {launch->block[0], 1, 1};
    VENDOR(Stream_t) stream = runtime_native(launch->stream);
    void *arguments[1] = {NULL};
    struct timespec begin, end;

    clock_gettime(CLOCK_MONOTONIC_RAW, &begin);
    for (unsigned i = 0; i < count; i++) {
        VENDOR(Error_t) error = VENDOR(LaunchKernel)(gpu_kernel(empty), one, threads, arguments, 0, stream);
        if (error != VENDOR(Success)) return runtime_status(error, TEXT(VENDOR(LaunchKernel)));
    }
    clock_gettime(CLOCK_MONOTONIC_RAW, &end);

    *elapsed_ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    return GPU_OK;
}
