// SPDX-License-Identifier: Apache-2.0
// The host device's share of gpu_module.h: it has no modules.
#include "backends/gpu_module.h"

enum gpu_status gpu_module_load(struct gpu_module *module, unsigned functions, enum gpu_image image)
{
    (void)module, (void)functions, (void)image;
    return gpu_reason(GPU_UNSUPPORTED, "a host kernel is part of the program: none is loaded at run time");
}

void gpu_module_unload(struct gpu_module *module) { (void)module; }

enum gpu_status gpu_module_prepare(const struct gpu_module *module, struct gpu_launch *launch)
{
    (void)module, (void)launch;
    return gpu_reason(GPU_UNSUPPORTED, "the host device has no modules");
}

const char *gpu_loading(void) { return ""; }
