// SPDX-License-Identifier: Apache-2.0
// Further contexts, and green contexts as parts of the device, through the driver's calls.
#include "backends/gpu_share.h"

#include <cuda_runtime_api.h>

#include "backends/cuda/driver.h"

enum { PARTS_MAX = 16 };

static CUresult (*context_create)(CUcontext *, unsigned, CUdevice);
static CUresult (*context_destroy)(CUcontext);
static CUresult (*context_set)(CUcontext);
static CUresult (*context_device)(CUdevice *);
static CUcontext opened; // the one that gpu_open made

enum gpu_status driver_contexts_open(void)
{
    CUresult (*context_get)(CUcontext *);
    enum gpu_status status = driver_fetch(&context_get, "cuCtxGetCurrent");
    if (!status) status = driver_fetch(&context_set, "cuCtxSetCurrent");
    if (!status) status = driver_fetch(&context_device, "cuCtxGetDevice");
    if (status) return status;
    CUresult error = context_get(&opened);
    return error == CUDA_SUCCESS ? GPU_OK : driver_status(error, "cuCtxGetCurrent");
}

enum gpu_status gpu_context_create(struct gpu_context **context)
{
    CUdevice device;
    CUcontext created;
    enum gpu_status status = driver_fetch_version(&context_create, "cuCtxCreate", 3020);
    if (!status) status = driver_fetch_version(&context_destroy, "cuCtxDestroy", 4000);
    if (status) return status;
    CUresult error = context_device(&device);
    if (error == CUDA_SUCCESS) error = context_create(&created, CU_CTX_SCHED_SPIN | CU_CTX_MAP_HOST, device);
    if (error != CUDA_SUCCESS) return driver_status(error, "cuCtxCreate");
    *context = (struct gpu_context *)(void *)created;
    return GPU_OK;
}

void gpu_context_destroy(struct gpu_context *context)
{
    if (context) (void)context_destroy((CUcontext)(void *)context);
}

enum gpu_status gpu_context_use(struct gpu_context *context)
{
    CUresult error = context_set(context ? (CUcontext)(void *)context : opened);
    return error == CUDA_SUCCESS ? GPU_OK : driver_status(error, "cuCtxSetCurrent");
}

enum gpu_status gpu_processes_share(void) { return GPU_OK; }

#if CUDART_VERSION >= 12040
static struct {
    CUresult (*resource)(CUdevice, CUdevResource *, CUdevResourceType);
    CUresult (*split)(CUdevResource *, unsigned *, const CUdevResource *, CUdevResource *, unsigned, unsigned);
    CUresult (*describe)(CUdevResourceDesc *, CUdevResource *, unsigned);
    CUresult (*create)(CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned);
} green;
static CUresult (*green_stream_create)(CUstream *, CUgreenCtx, unsigned, int);

static enum gpu_status fetch_green(void)
{
    enum gpu_status status = driver_fetch_version(&green.resource, "cuDeviceGetDevResource", 12040);
    if (!status) status = driver_fetch_version(&green.split, "cuDevSmResourceSplitByCount", 12040);
    if (!status) status = driver_fetch_version(&green.describe, "cuDevResourceGenerateDesc", 12040);
    if (!status) status = driver_fetch_version(&green.create, "cuGreenCtxCreate", 12040);
    if (!status) status = driver_fetch_version(&green_stream_create, "cuGreenCtxStreamCreate", 12050);
    return status;
}

static CUresult create_part(struct gpu_stream **stream, CUdevResource *share, CUdevice device)
{
    CUdevResourceDesc description;
    CUgreenCtx context;
    CUstream created;
    CUresult error = green.describe(&description, share, 1);
    if (error == CUDA_SUCCESS) error = green.create(&context, description, device, CU_GREEN_CTX_DEFAULT_STREAM);
    if (error == CUDA_SUCCESS) error = green_stream_create(&created, context, CU_STREAM_NON_BLOCKING, 0);
    if (error == CUDA_SUCCESS) *stream = (struct gpu_stream *)(void *)created;
    return error;
}

enum gpu_status gpu_stream_create_parts(struct gpu_stream **streams, unsigned parts, unsigned *multiprocessors)
{
    CUdevice device;
    CUdevResource whole, share[PARTS_MAX];
    unsigned shares = parts;
    if (parts > PARTS_MAX) return gpu_reason(GPU_UNSUPPORTED, "more than %d parts", PARTS_MAX);
    enum gpu_status status = fetch_green();
    if (status) return status;
    CUresult error = context_device(&device);
    if (error == CUDA_SUCCESS) error = green.resource(device, &whole, CU_DEV_RESOURCE_TYPE_SM);
    if (error != CUDA_SUCCESS) return driver_status(error, "cuDeviceGetDevResource");
    error = green.split(share, &shares, &whole, NULL, 0, whole.sm.smCount / parts / 8 * 8); // they come in eights
    if (error != CUDA_SUCCESS) return driver_status(error, "cuDevSmResourceSplitByCount");
    if (shares < parts)
        return gpu_reason(GPU_UNSUPPORTED, "the driver makes %u parts of %u multiprocessors", shares, whole.sm.smCount);
    for (unsigned i = 0; i < parts && error == CUDA_SUCCESS; i++) error = create_part(&streams[i], &share[i], device);
    *multiprocessors = share[0].sm.smCount;
    return error == CUDA_SUCCESS ? GPU_OK : driver_status(error, "cuGreenCtxCreate");
}
#else
enum gpu_status gpu_stream_create_parts(struct gpu_stream **streams, unsigned parts, unsigned *multiprocessors)
{
    (void)streams, (void)parts, (void)multiprocessors;
    return gpu_reason(GPU_UNSUPPORTED, "green contexts came with CUDA 12.4");
}
#endif
