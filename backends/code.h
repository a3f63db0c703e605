// SPDX-License-Identifier: Apache-2.0
// How much code each kernel came to: the symbol tables of what the build made, read by scripts/code-sizes.
#ifndef LIFTOFF_CODE_H
#define LIFTOFF_CODE_H

#include "backends/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

// Sets *BYTES to the size of KERNEL's code for ARCHITECTURE ("90", "gfx90a", "host"). GPU_UNSUPPORTED if the program
// holds none, so that the driver must have made it.
enum gpu_status code_find(const char *architecture, const char *kernel, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
