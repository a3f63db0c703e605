// SPDX-License-Identifier: Apache-2.0
// HIP on NVIDIA: what HIP's headers, which turn its calls into CUDA's, leave to be said. C++, as the headers are.
#include "backends/gpu_stream.h"
#include "backends/runtime.h"

#include "backends/cuda/nvml.h"

const char gpu_backend[] = "hip-nvidia";

enum gpu_status vendor_open(unsigned device)
{
    (void)device;
    return GPU_OK;
}

void vendor_facts(unsigned device, const char *pci_bus_id, gpu_fact_function *emit, void *context)
{
    (void)device;
    nvml_facts(pci_bus_id, emit, context);
}

void gpu_state(unsigned device, const char *prefix, gpu_fact_function *emit, void *context, bool *throttled)
{
    char bus[32];
    *throttled = false;
    if (hipDeviceGetPCIBusId(bus, sizeof bus, (int)device) == hipSuccess)
        nvml_state(bus, prefix, emit, context, throttled);
}

double gpu_clock_ns_per_tick(void) { return 1.0; } // %globaltimer counts nanoseconds, in steps

enum gpu_status gpu_stream_wait_value(struct gpu_stream *stream, void *device_view, uint32_t value)
{
    hipError_t error = hipStreamWaitValue32((hipStream_t)(void *)stream, device_view, (int32_t)value,
                                            hipStreamWaitValueGte);
    return runtime_status(error, "hipStreamWaitValue32");
}

enum gpu_status gpu_stream_write_value(struct gpu_stream *stream, void *device_view, uint32_t value)
{
    return runtime_status(hipStreamWriteValue32((hipStream_t)(void *)stream, device_view, (int32_t)value, 0),
                          "hipStreamWriteValue32");
}

enum gpu_status gpu_stream_call(struct gpu_stream *stream, void (*function)(void *), void *context)
{
    (void)stream, (void)function, (void)context;
    return gpu_reason(GPU_UNSUPPORTED, "HIP's headers for NVIDIA lack hipLaunchHostFunc");
}

// Before CUDA 12.1 kernels take 4 KB.
enum { ARGUMENT_BYTES_MAX = CUDART_VERSION >= 12010 ? 32764 : 4096 };

// HIP calls it hipGetFuncBySymbol, but its headers for NVIDIA lack it.
enum gpu_status vendor_prepare(struct gpu_launch *launch)
{
    if (launch->argument_bytes > ARGUMENT_BYTES_MAX)
        return gpu_reason(GPU_UNSUPPORTED, "this toolkit's kernels take %d bytes of arguments", ARGUMENT_BYTES_MAX);
    if (launch->cluster[0]) return gpu_reason(GPU_UNSUPPORTED, "HIP has no clusters");
    if (launch->dependent) return gpu_reason(GPU_UNSUPPORTED, "HIP has no dependent launches");
    cudaFunction_t function = NULL;
    hipError_t error = hipCUDAErrorTohipError(cudaGetFuncBySymbol(&function, launch->kernel));
    launch->function = function;
    return runtime_status(error, "cudaGetFuncBySymbol");
}

enum gpu_status gpu_launch_ex(const struct gpu_launch *launch)
{
    (void)launch;
    return gpu_reason(GPU_UNSUPPORTED, "HIP has no hipLaunchKernelExC on NVIDIA");
}
