// SPDX-License-Identifier: Apache-2.0
// The part of the contract (gpu.h) about modules that are loaded at run time: images of code, whose functions are then
// launched by the driver's call.
#ifndef LIFTOFF_GPU_MODULE_H
#define LIFTOFF_GPU_MODULE_H

#include "backends/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

// NATIVE: machine code for the devices that the program was built for. PORTABLE: code for all of them, older than any,
// which the driver compiles when it is loaded.
enum gpu_image { GPU_IMAGE_NATIVE, GPU_IMAGE_PORTABLE };

struct gpu_module {
    void *handle;
};

// Loads the image that has so many functions: 1, 10, 100 or 1000, of GPU_IMAGE_PORTABLE 10 only. One call of the
// vendor's. GPU_UNSUPPORTED where the program holds no such image, or none that this device can run.
enum gpu_status gpu_module_load(struct gpu_module *module, unsigned functions, enum gpu_image image);
void gpu_module_unload(struct gpu_module *module);

// Looks up the module's last function, which takes a struct code_argument (kernels/first_launch.h), and prepares LAUNCH
// for gpu_launch_driver. One call of the vendor's.
enum gpu_status gpu_module_prepare(const struct gpu_module *module, struct gpu_launch *launch);

// When this process's driver loads functions, in the words of gpu_loading_variants; "" where it cannot be asked. The
// device is open.
const char *gpu_loading(void);

#ifdef __cplusplus
}
#endif
#endif
