// SPDX-License-Identifier: Apache-2.0
// What only CUDA has: the driver's own launch and stream memory operations, the extensible launch, NVML's facts.
#include "backends/gpu_graph.h"
#include "backends/gpu_stream.h"
#include "backends/runtime.h"

#include <string.h>

#include "backends/cuda/driver.h"
#include "backends/cuda/nvml.h"

const char gpu_backend[] = "cuda";

static CUresult (*driver_launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 CUstream, void **, void **);
static CUresult (*driver_wait_value)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
static CUresult (*driver_write_value)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
static CUresult (*driver_error_name)(CUresult, const char **);

static enum gpu_status fetched(cudaError_t error, enum cudaDriverEntryPointQueryResult found, void *entry,
                               const char *symbol, void *entry_pointer)
{
    if (error != cudaSuccess) return runtime_status(error, "GetDriverEntryPoint");
    if (found != cudaDriverEntryPointSuccess || !entry)
        return gpu_reason(GPU_UNSUPPORTED, "this driver has no %s", symbol);
    memcpy(entry_pointer, &entry, sizeof entry); // ISO C has no cast from an object to a function pointer
    return GPU_OK;
}

enum gpu_status driver_fetch(void *entry_pointer, const char *symbol)
{
#if CUDART_VERSION >= 12050
    return driver_fetch_version(entry_pointer, symbol, 11080);
#else
    void *entry = NULL;
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSuccess;
#if CUDART_VERSION >= 12000
    cudaError_t error = cudaGetDriverEntryPoint(symbol, &entry, cudaEnableDefault, &found);
#else
    cudaError_t error = cudaGetDriverEntryPoint(symbol, &entry, cudaEnableDefault);
#endif
    return fetched(error, found, entry, symbol, entry_pointer);
#endif
}

enum gpu_status driver_fetch_version(void *entry_pointer, const char *symbol, unsigned version)
{
#if CUDART_VERSION >= 12050
    void *entry = NULL;
    enum cudaDriverEntryPointQueryResult found;
    cudaError_t error = cudaGetDriverEntryPointByVersion(symbol, &entry, version, cudaEnableDefault, &found);
    return fetched(error, found, entry, symbol, entry_pointer);
#else
    (void)entry_pointer, (void)version;
    return gpu_reason(GPU_UNSUPPORTED, "this runtime, older than CUDA 12.5, does not tell versions of %s apart",
                      symbol);
#endif
}

enum gpu_status driver_status(CUresult error, const char *call)
{
    const char *name = NULL;
    driver_error_name(error, &name);
    return gpu_reason(error == CUDA_ERROR_NOT_SUPPORTED ? GPU_UNSUPPORTED : GPU_FAILED, "%s: %s", call,
                      name ? name : "unnamed error");
}

enum gpu_status vendor_open(unsigned device)
{
    (void)device;
    enum gpu_status status = driver_fetch(&driver_error_name, "cuGetErrorName");
    if (!status) status = driver_fetch(&driver_launch, "cuLaunchKernel");
    if (!status) status = driver_fetch(&driver_wait_value, "cuStreamWaitValue32");
    if (!status) status = driver_fetch(&driver_write_value, "cuStreamWriteValue32");
    if (!status) status = driver_modules_open();
    if (!status) status = driver_contexts_open();
    return status;
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
    if (cudaDeviceGetPCIBusId(bus, sizeof bus, (int)device) == cudaSuccess)
        nvml_state(bus, prefix, emit, context, throttled);
}

double gpu_clock_ns_per_tick(void) { return 1.0; } // %globaltimer counts nanoseconds, in steps

enum gpu_status gpu_stream_wait_value(struct gpu_stream *stream, void *device_view, uint32_t value)
{
    CUresult error = driver_wait_value((CUstream)(void *)stream, (CUdeviceptr)(uintptr_t)device_view, value,
                                       CU_STREAM_WAIT_VALUE_GEQ);
    return error == CUDA_SUCCESS ? GPU_OK : driver_status(error, "cuStreamWaitValue32");
}

enum gpu_status gpu_stream_write_value(struct gpu_stream *stream, void *device_view, uint32_t value)
{
    CUresult error = driver_write_value((CUstream)(void *)stream, (CUdeviceptr)(uintptr_t)device_view, value,
                                        CU_STREAM_WRITE_VALUE_DEFAULT);
    return error == CUDA_SUCCESS ? GPU_OK : driver_status(error, "cuStreamWriteValue32");
}

enum gpu_status gpu_stream_call(struct gpu_stream *stream, void (*function)(void *), void *context)
{
    cudaError_t error = cudaLaunchHostFunc((cudaStream_t)(void *)stream, function, context);
    return error == cudaSuccess ? GPU_OK : runtime_status(error, "cudaLaunchHostFunc");
}

// Captured with an older toolkit or driver, the attribute is refused or becomes an ordinary edge.
enum gpu_status gpu_capture_keeps_dependent(void)
{
    enum { SINCE = 12030 };
    int driver = 0;
    cudaError_t error = cudaDriverGetVersion(&driver);
    if (error != cudaSuccess) return runtime_status(error, "DriverGetVersion");
    if (CUDART_VERSION >= SINCE && driver >= SINCE) return GPU_OK;
    return gpu_reason(GPU_UNSUPPORTED, "dependent launches in graphs came with CUDA 12.3; this is %d.%d",
                      CUDART_VERSION >= SINCE ? driver / 1000 : CUDART_VERSION / 1000,
                      (CUDART_VERSION >= SINCE ? driver : CUDART_VERSION) % 1000 / 10);
}

enum { ATTRIBUTES = 3 };

// Returns how many of the attributes are set.
static unsigned fill_attributes(const struct gpu_launch *launch, cudaLaunchAttribute attributes[ATTRIBUTES])
{
    unsigned count = 0;
    memset(attributes, 0, ATTRIBUTES * sizeof *attributes);
    if (launch->cluster[0]) {
        attributes[count].id = cudaLaunchAttributeClusterDimension;
        attributes[count].val.clusterDim.x = launch->cluster[0];
        attributes[count].val.clusterDim.y = launch->cluster[1] ? launch->cluster[1] : 1;
        attributes[count++].val.clusterDim.z = launch->cluster[2] ? launch->cluster[2] : 1;
    }
    if (launch->cooperative) {
        attributes[count].id = cudaLaunchAttributeCooperative;
        attributes[count++].val.cooperative = 1;
    }
    if (launch->dependent) {
        attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    return count;
}

// Whether this device can do what LAUNCH asks of gpu_launch_ex. More than 8 blocks a cluster are not portable and need
// the kernel's leave.
static enum gpu_status allow_attributes(const struct gpu_launch *launch)
{
    const unsigned *cluster = launch->cluster;
    int device, clusters, cooperative, major;
    if (!cluster[0] && !launch->cooperative && !launch->dependent) return GPU_OK;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess) return runtime_status(error, "DeviceGetAttribute");
    if (launch->dependent && major < 9)
        return gpu_reason(GPU_UNSUPPORTED, "dependent launches came with compute capability 9.0");
    if (cluster[0] && !clusters) return gpu_reason(GPU_UNSUPPORTED, "this device has no clusters");
    if (launch->cooperative && !cooperative)
        return gpu_reason(GPU_UNSUPPORTED, "this device has no cooperative launches");
    if (cluster[0] * (cluster[1] ? cluster[1] : 1) * (cluster[2] ? cluster[2] : 1) <= 8) return GPU_OK;
    error = cudaFuncSetAttribute(launch->kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    return error == cudaSuccess ? GPU_OK : runtime_status(error, "FuncSetAttribute");
}

// Before CUDA 12.1 kernels take 4 KB; a driver of that time refuses more at the launch.
enum { ARGUMENT_BYTES_MAX = CUDART_VERSION >= 12010 ? 32764 : 4096 };

enum gpu_status vendor_prepare(struct gpu_launch *launch)
{
    if (launch->argument_bytes > ARGUMENT_BYTES_MAX)
        return gpu_reason(GPU_UNSUPPORTED, "this toolkit's kernels take %d bytes of arguments", ARGUMENT_BYTES_MAX);
    enum gpu_status allowed = allow_attributes(launch);
    if (allowed) return allowed;
    cudaFunction_t function;
    cudaError_t error = cudaGetFuncBySymbol(&function, launch->kernel);
    if (error != cudaSuccess) return runtime_status(error, "GetFuncBySymbol");
    launch->function = function;

    cudaLaunchConfig_t configuration = {
        .gridDim = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .blockDim = {launch->block[0], launch->block[1], launch->block[2]},
        .dynamicSmemBytes = launch->shared_bytes,
        .stream = (cudaStream_t)(void *)launch->stream,
    };
    cudaLaunchAttribute attributes[ATTRIBUTES];
    _Static_assert(sizeof configuration <= sizeof launch->configuration, "struct gpu_launch is too small");
    _Static_assert(sizeof attributes <= sizeof launch->attributes, "struct gpu_launch is too small");
    configuration.numAttrs = fill_attributes(launch, attributes);
    configuration.attrs = (cudaLaunchAttribute *)(void *)launch->attributes;
    memcpy(launch->attributes, attributes, sizeof attributes);
    memcpy(launch->configuration, &configuration, sizeof configuration);

    void *packed[5] = {CU_LAUNCH_PARAM_BUFFER_POINTER, launch->argument, CU_LAUNCH_PARAM_BUFFER_SIZE,
                       &launch->argument_bytes, CU_LAUNCH_PARAM_END};
    memcpy(launch->packed, packed, sizeof packed);
    return GPU_OK;
}

void vendor_limits(int device, struct gpu_limits *limits)
{
    int bytes = 0;
    limits->shared_per_block_most = limits->shared_per_block;
    if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) == cudaSuccess)
        limits->shared_per_block_most = (size_t)bytes;
}

int vendor_launch_code(const struct gpu_launch *launch)
{
    return (int)cudaLaunchKernelExC((const cudaLaunchConfig_t *)(const void *)launch->configuration, launch->kernel,
                                    (void **)launch->arguments);
}

enum gpu_status gpu_stack_allow(size_t bytes)
{
    CHECK(DeviceSetLimit, cudaLimitStackSize, bytes);
    return GPU_OK;
}

int gpu_stack_code(size_t bytes) { return (int)cudaDeviceSetLimit(cudaLimitStackSize, bytes); }

enum gpu_status gpu_launch_driver(const struct gpu_launch *launch)
{
    CUresult error = driver_launch((CUfunction)launch->function, launch->grid[0], launch->grid[1], launch->grid[2],
                                   launch->block[0], launch->block[1], launch->block[2], (unsigned)launch->shared_bytes,
                                   (CUstream)(void *)launch->stream, (void **)launch->arguments, NULL);
    return error == CUDA_SUCCESS ? GPU_OK : driver_status(error, "cuLaunchKernel");
}

enum gpu_status gpu_launch_packed(const struct gpu_launch *launch)
{
    CUresult error = driver_launch((CUfunction)launch->function, launch->grid[0], launch->grid[1], launch->grid[2],
                                   launch->block[0], launch->block[1], launch->block[2], (unsigned)launch->shared_bytes,
                                   (CUstream)(void *)launch->stream, NULL, (void **)launch->packed);
    return error == CUDA_SUCCESS ? GPU_OK : driver_status(error, "cuLaunchKernel");
}

enum gpu_status gpu_launch_ex(const struct gpu_launch *launch)
{
    cudaError_t error = cudaLaunchKernelExC((const cudaLaunchConfig_t *)(const void *)launch->configuration,
                                            launch->kernel, (void **)launch->arguments);
    if (error == cudaSuccess) return GPU_OK;
    enum gpu_status status = runtime_status(error, "LaunchKernelExC");
    return error == cudaErrorInvalidClusterSize ? GPU_UNSUPPORTED : status; // a size that other devices may take
}
