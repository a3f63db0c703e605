// SPDX-License-Identifier: Apache-2.0
// What HIP has of gpu_share.h: on AMD streams of some compute units only. C11 that is also valid C++17.
#include "backends/gpu_share.h"

#include "backends/runtime.h"

enum gpu_status gpu_context_create(struct gpu_context **context)
{
    (void)context;
    return gpu_reason(GPU_UNSUPPORTED, "HIP has one context a device; hipCtxCreate is deprecated");
}

void gpu_context_destroy(struct gpu_context *context) { (void)context; }

enum gpu_status gpu_context_use(struct gpu_context *context)
{
    return context ? gpu_reason(GPU_UNSUPPORTED, "HIP has one context a device") : GPU_OK;
}

enum gpu_status gpu_processes_share(void) { return GPU_OK; }

#if defined(__HIP_PLATFORM_NVIDIA__)
enum gpu_status gpu_stream_create_parts(struct gpu_stream **streams, unsigned parts, unsigned *multiprocessors)
{
    (void)streams, (void)parts, (void)multiprocessors;
    return gpu_reason(GPU_UNSUPPORTED, "HIP has no green contexts");
}
#else
enum { MASK_WORDS = 16 };

enum gpu_status gpu_stream_create_parts(struct gpu_stream **streams, unsigned parts, unsigned *multiprocessors)
{
    unsigned share = gpu_multiprocessors() / parts;
    if (share == 0 || share * parts > MASK_WORDS * 32)
        return gpu_reason(GPU_UNSUPPORTED, "%u compute units make no %u parts", gpu_multiprocessors(), parts);
    for (unsigned p = 0; p < parts; p++) {
        uint32_t mask[MASK_WORDS] = {0};
        hipStream_t created;
        for (unsigned unit = p * share; unit < (p + 1) * share; unit++) mask[unit / 32] |= 1u << unit % 32;
        CHECK(ExtStreamCreateWithCUMask, &created, (share * parts + 31) / 32, mask);
        streams[p] = (struct gpu_stream *)(void *)created;
    }
    *multiprocessors = share;
    return GPU_OK;
}

const char *const gpu_server_environment[] = {NULL};

enum gpu_status gpu_server_start(const char *folder)
{
    (void)folder;
    return gpu_reason(GPU_UNSUPPORTED, "AMD has no server between processes: they share the device's queues");
}

enum gpu_status gpu_server_stop(void) { return GPU_OK; }

enum gpu_status gpu_server_absent(void) { return GPU_OK; }
#endif
