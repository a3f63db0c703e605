// SPDX-License-Identifier: Apache-2.0
// Modules through CUDA's driver (gpu_module.h).
#include "backends/cuda/driver.h"
#include "backends/images.h"

static CUresult (*module_load)(CUmodule *, const void *);
static CUresult (*module_function)(CUfunction *, CUmodule, const char *);
static CUresult (*module_unload)(CUmodule);
static CUresult (*loading_mode)(int *);

enum gpu_status driver_modules_open(void)
{
    if (driver_fetch(&loading_mode, "cuModuleGetLoadingMode")) loading_mode = NULL; // it came with CUDA 11.7
    enum gpu_status status = driver_fetch(&module_load, "cuModuleLoadData");
    if (!status) status = driver_fetch(&module_function, "cuModuleGetFunction");
    if (!status) status = driver_fetch(&module_unload, "cuModuleUnload");
    return status;
}

enum gpu_status gpu_module_load(struct gpu_module *module, unsigned functions, enum gpu_image image)
{
    const void *data;
    CUmodule loaded;
    enum gpu_status status = image_find(functions, image, &data);
    if (status) return status;
    CUresult error = module_load(&loaded, data);
    if (error == CUDA_ERROR_NO_BINARY_FOR_GPU)
        return gpu_reason(GPU_UNSUPPORTED, "no machine code for this device: build with its CUDA_ARCH");
    if (error != CUDA_SUCCESS) return driver_status(error, "cuModuleLoadData");
    module->handle = loaded;
    return GPU_OK;
}

void gpu_module_unload(struct gpu_module *module) { (void)module_unload((CUmodule)module->handle); }

enum gpu_status gpu_module_prepare(const struct gpu_module *module, struct gpu_launch *launch)
{
    CUfunction function;
    CUresult error = module_function(&function, (CUmodule)module->handle, IMAGE_FUNCTION);
    if (error != CUDA_SUCCESS) return driver_status(error, "cuModuleGetFunction");
    launch->function = function;
    gpu_launch_fill(launch);
    return GPU_OK;
}

const char *gpu_loading(void)
{
    enum { EAGER = 1, LAZY = 2 }; // CUmoduleLoadingMode, which older toolkits lack
    int mode = EAGER;             // as all drivers did before they could be asked
    if (loading_mode && loading_mode(&mode) != CUDA_SUCCESS) return "";
    return mode == LAZY ? "lazy" : "eager";
}
