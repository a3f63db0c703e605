// SPDX-License-Identifier: Apache-2.0
// Modules through HIP, on AMD and on NVIDIA (gpu_module.h). C11 that is also valid C++17.
#include "backends/images.h"
#include "backends/runtime.h"

#ifdef __HIP_PLATFORM_NVIDIA__
#define ARCHITECTURES "CUDA_ARCH"
#else
#define ARCHITECTURES "HIP_ARCH"
#endif

enum gpu_status gpu_module_load(struct gpu_module *module, unsigned functions, enum gpu_image image)
{
    const void *data;
    hipModule_t loaded;
#ifndef __HIP_PLATFORM_NVIDIA__
    if (image == GPU_IMAGE_PORTABLE)
        return gpu_reason(GPU_UNSUPPORTED, "HIP on AMD loads machine code only, it has no portable form");
#endif
    enum gpu_status status = image_find(functions, image, &data);
    if (status) return status;
    hipError_t error = hipModuleLoadData(&loaded, data);
    if (error == hipErrorNoBinaryForGpu) {
        (void)hipGetLastError();
        return gpu_reason(GPU_UNSUPPORTED, "no machine code for this device: build with its " ARCHITECTURES);
    }
    if (error != hipSuccess) return runtime_status(error, "hipModuleLoadData");
    module->handle = loaded;
    return GPU_OK;
}

void gpu_module_unload(struct gpu_module *module) { (void)hipModuleUnload((hipModule_t)module->handle); }

enum gpu_status gpu_module_prepare(const struct gpu_module *module, struct gpu_launch *launch)
{
    hipFunction_t function;
    CHECK_WITH(hipModuleGetFunction, &function, (hipModule_t)module->handle, IMAGE_FUNCTION);
    launch->function = function;
    gpu_launch_fill(launch);
    return GPU_OK;
}

const char *gpu_loading(void)
{
#if defined(__HIP_PLATFORM_NVIDIA__) && CUDART_VERSION >= 11070
    CUmoduleLoadingMode mode;
    if (cuModuleGetLoadingMode(&mode) == CUDA_SUCCESS) return mode == CU_MODULE_LAZY_LOADING ? "lazy" : "eager";
#endif
    return "";
}
