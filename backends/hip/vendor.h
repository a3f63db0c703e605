// SPDX-License-Identifier: Apache-2.0
// The names that backends/runtime.c uses for what CUDA and HIP share: renames only.
#ifndef LIFTOFF_VENDOR_H
#define LIFTOFF_VENDOR_H

#ifdef __HIP_PLATFORM_NVIDIA__
#include "backends/hip/cuda13.h"
#else
#include <hip/hip_runtime_api.h>
#endif

#define VENDOR(name) hip##name // the runtime's calls, types and constants

#define VENDOR_ATTRIBUTE(name) hipDeviceAttribute##name
#define VENDOR_DEVICE_ATTRIBUTE hipDeviceAttribute_t
#define VENDOR_HOST_MAPPED (hipHostMallocMapped | hipHostMallocCoherent)
#define VENDOR_FUNCTION_ATTRIBUTES hipFuncAttributes
#define VENDOR_POINTER_ATTRIBUTES hipPointerAttribute_t
#define VENDOR_KERNEL_NODE_PARAMS hipKernelNodeParams
#define VENDOR_MANAGED_GLOBAL hipMemAttachGlobal
#define VENDOR_SHARED_BYTES(bytes) ((unsigned)(bytes))
#define hipFreeHost hipHostFree
#define hipDeviceAttributeMultiProcessorCount hipDeviceAttributeMultiprocessorCount

#endif
