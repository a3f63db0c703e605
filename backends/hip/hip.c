// SPDX-License-Identifier: Apache-2.0
// The launch by the driver's handle, for HIP on AMD and on NVIDIA. C11 that is also valid C++17.
#include "backends/gpu_graph.h"
#include "backends/runtime.h"

// HIP's properties have no more than these.
void vendor_limits(int device, struct gpu_limits *limits)
{
    (void)device;
    limits->shared_per_block_most = limits->shared_per_block;
}

enum gpu_status gpu_capture_keeps_dependent(void)
{
    return gpu_reason(GPU_UNSUPPORTED, "HIP has no dependent launches");
}

int vendor_launch_code(const struct gpu_launch *launch)
{
    (void)launch;
    return (int)hipErrorNotSupported;
}

enum gpu_status gpu_stack_allow(size_t bytes)
{
#if HIP_VERSION >= 50300000
    CHECK(DeviceSetLimit, hipLimitStackSize, bytes);
    return GPU_OK;
#else
    (void)bytes;
    return gpu_reason(GPU_UNSUPPORTED, "hipDeviceSetLimit came with HIP 5.3");
#endif
}

int gpu_stack_code(size_t bytes)
{
#if HIP_VERSION >= 50300000
    return (int)hipDeviceSetLimit(hipLimitStackSize, bytes);
#else
    (void)bytes;
    return (int)hipErrorNotSupported;
#endif
}

enum gpu_status gpu_launch_driver(const struct gpu_launch *launch)
{
    if (!launch->function)
        return gpu_reason(GPU_UNSUPPORTED, "hipGetFuncBySymbol, which this needs, came with HIP 6.2");
    hipError_t error =
        hipModuleLaunchKernel((hipFunction_t)launch->function, launch->grid[0], launch->grid[1], launch->grid[2],
                              launch->block[0], launch->block[1], launch->block[2], (unsigned)launch->shared_bytes,
                              (hipStream_t)(void *)launch->stream, (void **)launch->arguments, NULL);
    return error == hipSuccess ? GPU_OK : runtime_status(error, "hipModuleLaunchKernel");
}

enum gpu_status gpu_launch_packed(const struct gpu_launch *launch)
{
    if (!launch->function)
        return gpu_reason(GPU_UNSUPPORTED, "hipGetFuncBySymbol, which this needs, came with HIP 6.2");
    size_t bytes = launch->argument_bytes;
    void *packed[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, launch->argument, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                      HIP_LAUNCH_PARAM_END};
    hipError_t error =
        hipModuleLaunchKernel((hipFunction_t)launch->function, launch->grid[0], launch->grid[1], launch->grid[2],
                              launch->block[0], launch->block[1], launch->block[2], (unsigned)launch->shared_bytes,
                              (hipStream_t)(void *)launch->stream, NULL, packed);
    return error == hipSuccess ? GPU_OK : runtime_status(error, "hipModuleLaunchKernel");
}
