// SPDX-License-Identifier: Apache-2.0
// The host device's share of gpu_share.h: none. It lives within one process, and is whole.
#include "backends/gpu_share.h"

enum gpu_status gpu_context_create(struct gpu_context **context)
{
    (void)context;
    return gpu_reason(GPU_UNSUPPORTED, "the host device has no contexts");
}

void gpu_context_destroy(struct gpu_context *context) { (void)context; }

enum gpu_status gpu_context_use(struct gpu_context *context)
{
    return context ? gpu_reason(GPU_UNSUPPORTED, "the host device has no contexts") : GPU_OK;
}

enum gpu_status gpu_stream_create_parts(struct gpu_stream **streams, unsigned parts, unsigned *multiprocessors)
{
    (void)streams, (void)parts, (void)multiprocessors;
    return gpu_reason(GPU_UNSUPPORTED, "the host device's workers serve all streams");
}

enum gpu_status gpu_processes_share(void)
{
    return gpu_reason(GPU_UNSUPPORTED, "each process has a host device of its own");
}

const char *const gpu_server_environment[] = {NULL};

enum gpu_status gpu_server_start(const char *folder)
{
    (void)folder;
    return gpu_reason(GPU_UNSUPPORTED, "each process has a host device of its own");
}

enum gpu_status gpu_server_stop(void) { return GPU_OK; }

enum gpu_status gpu_server_absent(void) { return GPU_OK; }
