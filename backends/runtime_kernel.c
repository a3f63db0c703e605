// SPDX-License-Identifier: Apache-2.0
// What CUDA and HIP tell of kernels and limits, and launches that they refuse (gpu_kernel.h). C11 that is also valid
// C++17: HIP over CUDA needs it.
#include "backends/gpu_kernel.h"
#include "backends/runtime.h"

#include <stdio.h>
#include <string.h>

#include "backends/code.h"

enum gpu_status gpu_kernel_attributes(const void *kernel, struct gpu_kernel_attributes *attributes)
{
    VENDOR_FUNCTION_ATTRIBUTES told;
    CHECK(FuncGetAttributes, &told, kernel);
    attributes->registers_per_thread = (unsigned)told.numRegs;
    attributes->block_threads_max = (unsigned)told.maxThreadsPerBlock;
    attributes->shared_static_bytes = told.sharedSizeBytes;
    attributes->local_bytes = told.localSizeBytes;
    return GPU_OK;
}

// A device of NVIDIA's runs the newest code of its major version that is no newer than itself.
enum gpu_status gpu_kernel_code_bytes(const char *name, size_t *bytes)
{
    int device = 0;
    VENDOR(DeviceProp_t) told;
    CHECK(GetDevice, &device);
    CHECK(GetDeviceProperties, &told, device);
#if defined(__HIP_PLATFORM_AMD__)
    told.gcnArchName[strcspn(told.gcnArchName, ":")] = '\0';
    return code_find(told.gcnArchName, name, bytes);
#else
    enum gpu_status status = GPU_UNSUPPORTED;
    for (int minor = told.minor; minor >= 0 && status; minor--) {
        char architecture[24];
        snprintf(architecture, sizeof architecture, "%d%d", told.major, minor);
        status = code_find(architecture, name, bytes);
    }
    return status;
#endif
}

enum gpu_status gpu_kernel_occupancy(const void *kernel, unsigned block_threads, size_t shared_bytes, unsigned *blocks)
{
    int told = 0;
    CHECK(OccupancyMaxActiveBlocksPerMultiprocessor, &told, kernel, (int)block_threads, shared_bytes);
    *blocks = (unsigned)told;
    return GPU_OK;
}

enum gpu_status gpu_kernel_allow_shared(const void *kernel, size_t bytes)
{
    CHECK(FuncSetAttribute, kernel, VENDOR(FuncAttributeMaxDynamicSharedMemorySize), (int)bytes);
    return GPU_OK;
}

enum gpu_status gpu_kernel_prefer_shared(const void *kernel, unsigned percent)
{
    CHECK(FuncSetAttribute, kernel, VENDOR(FuncAttributePreferredSharedMemoryCarveout), (int)percent);
    return GPU_OK;
}

enum gpu_status gpu_limits(struct gpu_limits *limits)
{
    int device = 0;
    VENDOR(DeviceProp_t) told;
    CHECK(GetDevice, &device);
    CHECK(GetDeviceProperties, &told, device);
    limits->shared_per_block = told.sharedMemPerBlock;
    limits->threads_per_block = (unsigned)told.maxThreadsPerBlock;
    for (int d = 0; d < 3; d++) {
        limits->block_max[d] = (unsigned)told.maxThreadsDim[d];
        limits->grid_max[d] = (unsigned)told.maxGridSize[d];
    }
    vendor_limits(device, limits);
    return GPU_OK;
}

enum gpu_status gpu_pointer_known(const void *pointer)
{
    VENDOR_POINTER_ATTRIBUTES told;
    VENDOR(Error_t) error = VENDOR(PointerGetAttributes)(&told, pointer);
    return error == VENDOR(Success) ? GPU_OK : runtime_status(error, TEXT(VENDOR(PointerGetAttributes)));
}

enum gpu_status gpu_device_current(int *device)
{
    CHECK(GetDevice, device);
    return GPU_OK;
}

enum gpu_status gpu_device_select(int device)
{
    CHECK(SetDevice, device);
    return GPU_OK;
}

enum gpu_status gpu_alloc_managed(void **memory, size_t bytes)
{
    CHECK_ROOM(MallocManaged, memory, bytes, VENDOR_MANAGED_GLOBAL);
    return GPU_OK;
}

enum gpu_status gpu_alloc_raw(void **device_memory, size_t bytes)
{
    CHECK_ROOM(Malloc, device_memory, bytes);
    return GPU_OK;
}

int gpu_launch_code(const struct gpu_launch *launch)
{
    dim3 grid = runtime_dimensions(launch->grid), block = runtime_dimensions(launch->block);
    VENDOR(Stream_t) stream = (VENDOR(Stream_t))(void *)launch->stream;
    void **arguments = (void **)launch->arguments;
    if (launch->cluster[0]) return vendor_launch_code(launch);
    if (launch->cooperative)
        return (int)VENDOR(LaunchCooperativeKernel)(launch->kernel, grid, block, arguments,
                                                    VENDOR_SHARED_BYTES(launch->shared_bytes), stream);
    return (int)VENDOR(LaunchKernel)(launch->kernel, grid, block, arguments, launch->shared_bytes, stream);
}

int gpu_allow_shared_code(const void *kernel, size_t bytes)
{
    return (int)VENDOR(FuncSetAttribute)(kernel, VENDOR(FuncAttributeMaxDynamicSharedMemorySize), (int)bytes);
}

int gpu_code_last(void) { return (int)VENDOR(GetLastError)(); }

int gpu_stream_code(struct gpu_stream *stream)
{
    return (int)VENDOR(StreamSynchronize)((VENDOR(Stream_t))(void *)stream);
}

const char *gpu_code_name(int code) { return VENDOR(GetErrorName)((VENDOR(Error_t))code); }
