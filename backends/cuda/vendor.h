// SPDX-License-Identifier: Apache-2.0
// The names that backends/runtime.c uses for what CUDA and HIP share: renames only.
#ifndef LIFTOFF_VENDOR_H
#define LIFTOFF_VENDOR_H

#include <cuda_runtime_api.h>

#define VENDOR(name) cuda##name // the runtime's calls, types and constants

#define VENDOR_ATTRIBUTE(name) cudaDevAttr##name
#define VENDOR_DEVICE_ATTRIBUTE enum cudaDeviceAttr
#define VENDOR_HOST_MAPPED cudaHostAllocMapped
#define VENDOR_FUNCTION_ATTRIBUTES struct cudaFuncAttributes
#define VENDOR_POINTER_ATTRIBUTES struct cudaPointerAttributes
#define VENDOR_KERNEL_NODE_PARAMS struct cudaKernelNodeParams
#define VENDOR_MANAGED_GLOBAL cudaMemAttachGlobal
#define VENDOR_SHARED_BYTES(bytes) (bytes)
#define cudaHostMalloc cudaHostAlloc
#define cudaDeviceProp_t struct cudaDeviceProp

#endif
