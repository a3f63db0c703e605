// SPDX-License-Identifier: Apache-2.0
// HIP on AMD: what differs between versions, stream memory operations, the device's clock, facts.
#include "backends/gpu_stream.h"
#include "backends/runtime.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "backends/hip/smi.h"
#include "backends/kernels/common.h"

const char gpu_backend[] = "hip";

enum gpu_status gpu_fault_confined(void) { return GPU_OK; } // a context is a process's own

const char *const gpu_environment[] = {
    "HIP_LAUNCH_BLOCKING", "HIP_VISIBLE_DEVICES", "HIP_FORCE_DEV_KERNARG", "HIP_FORCE_QUEUE_PROFILING",
    "HIP_HOST_COHERENT", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "GPU_MAX_HW_QUEUES", "GPU_FLUSH_ON_EXECUTION",
    "GPU_FORCE_QUEUE_PROFILING", "GPU_STREAMOPS_CP_WAIT", "GPU_USE_DEVICE_QUEUE", "AMD_DIRECT_DISPATCH",
    "AMD_SERIALIZE_KERNEL", "AMD_SERIALIZE_COPY", "AMD_CPU_AFFINITY", "AMD_OPT_FLUSH", "AMD_LOG_LEVEL",
    "AMD_THREAD_TRACE_ENABLE", "ROC_ACTIVE_WAIT_TIMEOUT", "ROC_AQL_QUEUE_SIZE", "ROC_CPU_WAIT_FOR_SIGNAL",
    "ROC_GLOBAL_CU_MASK", "ROC_SIGNAL_POOL_SIZE", "ROC_SYSTEM_SCOPE_SIGNAL", "ROC_USE_FGS_KERNARG",
    "ROCR_VISIBLE_DEVICES", "HSA_CU_MASK", "HSA_DISABLE_CACHE", "HSA_ENABLE_DEBUG", "HSA_ENABLE_INTERRUPT",
    "HSA_ENABLE_SDMA", "HSA_MAX_QUEUES", "HSA_NO_SCRATCH_RECLAIM", "HSA_OVERRIDE_GFX_VERSION", "HSA_TOOLS_LIB",
    "HSA_XNACK", NULL};

const struct gpu_variant gpu_queue_variants[] = {{"hw_queues_1", {"GPU_MAX_HW_QUEUES=1"}, true}, {NULL, {NULL}}};
const struct gpu_variant gpu_loading_variants[] = {{"default", {NULL}}, {NULL, {NULL}}};

const char *const gpu_cache_environment[] = {NULL};

static bool can_wait;
static double tick_ns; // 0: not known yet

enum gpu_status vendor_open(unsigned device)
{
    int value = 0;
    hipError_t error = hipDeviceGetAttribute(&value, hipDeviceAttributeCanUseStreamWaitValue, (int)device);
    if (error != hipSuccess) return runtime_status(error, "hipDeviceGetAttribute");
    can_wait = value != 0;
#if HIP_VERSION >= 50500000
    error = hipDeviceGetAttribute(&value, hipDeviceAttributeWallClockRate, (int)device); // in kHz
    if (error != hipSuccess) return runtime_status(error, "hipDeviceGetAttribute");
    if (value > 0) tick_ns = 1e6 / value;
#endif
    return GPU_OK;
}

void vendor_facts(unsigned device, const char *pci_bus_id, gpu_fact_function *emit, void *context)
{
    hipDeviceProp_t properties;
    if (hipGetDeviceProperties(&properties, (int)device) == hipSuccess)
        emit(context, "architecture", properties.gcnArchName);
    smi_facts(pci_bus_id, emit, context);
}

void gpu_state(unsigned device, const char *prefix, gpu_fact_function *emit, void *context, bool *throttled)
{
    char bus[32];
    *throttled = false;
    if (hipDeviceGetPCIBusId(bus, sizeof bus, (int)device) == hipSuccess)
        smi_state(bus, prefix, emit, context, throttled);
}

// HIP's documentation asks for memory of hipExtMallocWithFlags. A runtime that lets a kernel of its own do the waiting
// takes any memory that the device sees; one that lets the queue's processor wait refuses ours.
enum gpu_status gpu_stream_wait_value(struct gpu_stream *stream, void *device_view, uint32_t value)
{
    if (!can_wait) return gpu_reason(GPU_UNSUPPORTED, "the device's attribute CanUseStreamWaitValue is 0");
    hipError_t error = hipStreamWaitValue32((hipStream_t)(void *)stream, device_view, value,
                                            hipStreamWaitValueGte, UINT32_MAX);
    if (error != hipErrorInvalidValue) return runtime_status(error, "hipStreamWaitValue32");
    (void)hipGetLastError();
    return gpu_reason(GPU_UNSUPPORTED, "hipStreamWaitValue32 refuses mapped host memory and takes signal memory only");
}

enum gpu_status gpu_stream_write_value(struct gpu_stream *stream, void *device_view, uint32_t value)
{
    return runtime_status(hipStreamWriteValue32((hipStream_t)(void *)stream, device_view, value, 0),
                          "hipStreamWriteValue32");
}

enum gpu_status gpu_stream_call(struct gpu_stream *stream, void (*function)(void *), void *context)
{
#if HIP_VERSION >= 50300000
    hipError_t error = hipLaunchHostFunc((hipStream_t)(void *)stream, function, context);
    return error == hipSuccess ? GPU_OK : runtime_status(error, "hipLaunchHostFunc");
#else
    (void)stream, (void)function, (void)context;
    return gpu_reason(GPU_UNSUPPORTED, "hipLaunchHostFunc came with HIP 5.3; this is %d.%d", HIP_VERSION_MAJOR,
                      HIP_VERSION_MINOR);
#endif
}

// --- Launches ----------------------------------------------------------------------------------------------

enum { ARGUMENT_BYTES_MAX = 4096 };

enum gpu_status vendor_prepare(struct gpu_launch *launch)
{
    if (launch->argument_bytes > ARGUMENT_BYTES_MAX)
        return gpu_reason(GPU_UNSUPPORTED, "HIP's kernels take %d bytes of arguments", ARGUMENT_BYTES_MAX);
    if (launch->cluster[0]) return gpu_reason(GPU_UNSUPPORTED, "HIP has no clusters");
    if (launch->dependent) return gpu_reason(GPU_UNSUPPORTED, "HIP has no dependent launches");
    launch->function = NULL;
#if HIP_VERSION >= 60200000
    hipFunction_t function;
    hipError_t error = hipGetFuncBySymbol(&function, launch->kernel);
    if (error != hipSuccess) return runtime_status(error, "hipGetFuncBySymbol");
    launch->function = function;
#endif
#if HIP_VERSION >= 70000000
    if (launch->cooperative)
        return gpu_reason(GPU_UNSUPPORTED, "no attributes are given to hipLaunchKernelExC yet");
    hipLaunchConfig_t configuration = {
        .gridDim = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .blockDim = {launch->block[0], launch->block[1], launch->block[2]},
        .dynamicSmemBytes = launch->shared_bytes,
        .stream = (hipStream_t)(void *)launch->stream,
    };
    _Static_assert(sizeof configuration <= sizeof launch->configuration, "struct gpu_launch is too small");
    memcpy(launch->configuration, &configuration, sizeof configuration);
#endif
    return GPU_OK;
}

enum gpu_status gpu_launch_ex(const struct gpu_launch *launch)
{
#if HIP_VERSION >= 70000000
    hipError_t error = hipLaunchKernelExC((const hipLaunchConfig_t *)(const void *)launch->configuration,
                                          launch->kernel, (void **)launch->arguments);
    return error == hipSuccess ? GPU_OK : runtime_status(error, "hipLaunchKernelExC");
#else
    (void)launch;
    return gpu_reason(GPU_UNSUPPORTED, "hipLaunchKernelExC came with HIP 7.0; this is %d.%d", HIP_VERSION_MAJOR,
                      HIP_VERSION_MINOR);
#endif
}

// --- The device's clock ------------------------------------------------------------------------------------

GPU_KERNEL(stamp);

// Launches LAUNCH and waits; gives the moment when the host knew of its end. The stamp is older by the way back.
static enum gpu_status stamp_now(const struct gpu_launch *launch, double *host_ns)
{
    struct timespec now;
    enum gpu_status status = gpu_launch_runtime(launch);
    if (!status) status = gpu_stream_synchronize(launch->stream);
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    *host_ns = (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
    return status;
}

// Two stamps 50 ms apart, against the host's clock. The ways back differ by microseconds: good to 0.01 %.
static enum gpu_status measure_tick(double *ns_per_tick)
{
    void *stamps, *stamps_device;
    struct gpu_stream *stream;
    enum gpu_status status = gpu_alloc_mapped(&stamps, &stamps_device, 2 * sizeof(struct stamp));
    if (!status) status = gpu_stream_create(&stream);
    if (status) return status;
    struct stamp *seen = stamps, *out = stamps_device;
    struct stamp_argument argument = {out, 1, 0};
    struct gpu_launch launch = {.kernel = gpu_kernel(stamp), .grid = {1, 1, 1}, .block = {1, 1, 1},
                                .argument = &argument, .argument_bytes = sizeof argument, .stream = stream};
    double begin_ns = 0, end_ns = 0;
    status = gpu_launch_prepare(&launch);
    if (!status) status = stamp_now(&launch, &begin_ns); // loads the code
    if (!status) status = stamp_now(&launch, &begin_ns);
    nanosleep(&(struct timespec){0, 50 * 1000 * 1000}, NULL);
    argument.out = out + 1;
    if (!status) status = stamp_now(&launch, &end_ns);
    if (!status && seen[1].end_ticks <= seen[0].end_ticks)
        status = gpu_reason(GPU_FAILED, "the device's clock stands still");
    if (!status) *ns_per_tick = (end_ns - begin_ns) / (double)(seen[1].end_ticks - seen[0].end_ticks);
    gpu_stream_destroy(stream);
    gpu_free_mapped(stamps);
    return status;
}

// A HIP that cannot tell the rate measures it at the first call: boards tick at 25, 27 or 100 MHz. Where that fails,
// whoever launches next fails for the same reason, so that no row is made with the rate given here.
double gpu_clock_ns_per_tick(void)
{
    if (tick_ns == 0 && measure_tick(&tick_ns)) tick_ns = 10;
    return tick_ns;
}
