// SPDX-License-Identifier: Apache-2.0
// The images of modules that the program holds within itself, for gpu_module_load.
#ifndef LIFTOFF_IMAGES_H
#define LIFTOFF_IMAGES_H

#include "backends/gpu_module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IMAGE_FUNCTION "kernel_module_last" // the last function of each

// Sets *DATA to the image's first byte; it ends with a NUL. GPU_UNSUPPORTED if there is none.
enum gpu_status image_find(unsigned functions, enum gpu_image image, const void **data);

#ifdef __cplusplus
}
#endif
#endif
