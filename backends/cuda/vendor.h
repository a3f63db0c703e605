// SPDX-License-Identifier: Apache-2.0
// The names that backends/runtime.c uses for what CUDA and HIP share: renames only.
#ifndef LIFTOFF_VENDOR_H
#define LIFTOFF_VENDOR_H

#include <cuda_runtime_api.h>

#define VENDOR(name) cuda##name // the runtime's calls, types and constants

#define VENDOR_ATTRIBUTE(name) cudaDevAttr##name
#define VENDOR_HOST_MAPPED cudaHostAllocMapped
#define cudaHostMalloc cudaHostAlloc
#define cudaDeviceProp_t struct cudaDeviceProp

#endif
