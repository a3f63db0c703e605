// SPDX-License-Identifier: Apache-2.0
// The environment variables that change launches on NVIDIA, variants made of them, and whether MPS shares a context;
// for CUDA and for HIP over CUDA.
#include "backends/cuda/nvml.h"
#include "backends/gpu_kernel.h"
#include "backends/gpu_share.h"

const char *const gpu_environment[] = {"CUDA_LAUNCH_BLOCKING",     "CUDA_MODULE_LOADING",
                                       "CUDA_MODULE_DATA_LOADING", "CUDA_DEVICE_MAX_CONNECTIONS",
                                       "CUDA_SCALE_LAUNCH_QUEUES", "CUDA_VISIBLE_DEVICES",
                                       "CUDA_DEVICE_ORDER",        "CUDA_CACHE_DISABLE",
                                       "CUDA_FORCE_PTX_JIT",       "CUDA_AUTO_BOOST",
                                       "CUDA_MPS_PIPE_DIRECTORY",  "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                                       "CUDA_INJECTION64_PATH",    NULL};

const struct gpu_variant gpu_queue_variants[] = {{"queues_quarter", {"CUDA_SCALE_LAUNCH_QUEUES=0.25x"}},
                                                 {"queues_4x", {"CUDA_SCALE_LAUNCH_QUEUES=4x"}},
                                                 {"connections_1", {"CUDA_DEVICE_MAX_CONNECTIONS=1"}, true},
                                                 {NULL, {NULL}}};
const struct gpu_variant gpu_loading_variants[] = {
    {"lazy", {"CUDA_MODULE_LOADING=LAZY"}}, {"eager", {"CUDA_MODULE_LOADING=EAGER"}}, {NULL, {NULL}}};

const char *const gpu_cache_environment[] = {"CUDA_CACHE_DISABLE=0", "CUDA_CACHE_PATH=", NULL};

enum gpu_status gpu_fault_confined(void)
{
    if (!nvml_mps_client()) return GPU_OK;
    return gpu_reason(GPU_UNSUPPORTED, "an MPS daemon's control pipe is there: a fault would end the contexts of its "
                                       "other clients, too");
}

enum gpu_status gpu_server_absent(void)
{
    if (!nvml_mps_client()) return GPU_OK;
    return gpu_reason(GPU_UNSUPPORTED, "an MPS daemon's control pipe is there: its clients take no turns; stop it, or "
                                       "let CUDA_MPS_PIPE_DIRECTORY name an empty folder");
}
