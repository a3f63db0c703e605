// SPDX-License-Identifier: Apache-2.0
// Includes HIP's unmodified headers for NVIDIA, also with CUDA 13, which lacks some of what they call. C++ only.
//
// Those headers wrap every call in an inline function, and liftoff calls none of the functions that CUDA 13 removed or
// gave another parameter: while the headers are read, the names of these stand for one function that does nothing.
#ifndef LIFTOFF_CUDA13_H
#define LIFTOFF_CUDA13_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#if CUDART_VERSION >= 13000

#ifdef __CUDACC__
#include <cuda_runtime.h>
template <class T, int dimensions, cudaTextureReadMode mode> struct texture;
#endif
struct textureReference;
template <class... T> static inline cudaError_t hip_absent(T &&...) { return cudaErrorNotSupported; }
template <class... T> static inline CUresult hip_absent_driver(T &&...) { return CUDA_ERROR_NOT_SUPPORTED; }

// hipGetDeviceProperties copies these from where they are no longer.
struct hip_device_properties : cudaDeviceProp {
    int clockRate = 0, memoryClockRate = 0, computeMode = 0, kernelExecTimeoutEnabled = 0,
        cooperativeMultiDeviceLaunch = 0;
};

#define cudaDeviceProp hip_device_properties
#define cudaDevAttrCooperativeMultiDeviceLaunch cudaDevAttrReserved96
#define cudaBindTexture hip_absent
#define cudaBindTexture2D hip_absent
#define cudaBindTextureToArray hip_absent
#define cudaGetTextureAlignmentOffset hip_absent
#define cudaGraphAddDependencies hip_absent
#define cudaGraphGetEdges hip_absent
#define cudaGraphNodeGetDependencies hip_absent
#define cudaGraphNodeGetDependentNodes hip_absent
#define cudaGraphRemoveDependencies hip_absent
#define cudaLaunchCooperativeKernelMultiDevice hip_absent
#define cudaMemAdvise hip_absent
#define cudaMemPrefetchAsync hip_absent
#define cudaStreamGetCaptureInfo_v2 hip_absent
#define cudaStreamUpdateCaptureDependencies hip_absent
#define cudaUnbindTexture hip_absent
#undef cuCtxCreate
#define cuCtxCreate hip_absent_driver

#include <hip/hip_runtime_api.h>

#undef cudaDeviceProp
#undef cudaDevAttrCooperativeMultiDeviceLaunch
#undef cudaBindTexture
#undef cudaBindTexture2D
#undef cudaBindTextureToArray
#undef cudaGetTextureAlignmentOffset
#undef cudaGraphAddDependencies
#undef cudaGraphGetEdges
#undef cudaGraphNodeGetDependencies
#undef cudaGraphNodeGetDependentNodes
#undef cudaGraphRemoveDependencies
#undef cudaLaunchCooperativeKernelMultiDevice
#undef cudaMemAdvise
#undef cudaMemPrefetchAsync
#undef cudaStreamGetCaptureInfo_v2
#undef cudaStreamUpdateCaptureDependencies
#undef cudaUnbindTexture
#undef cuCtxCreate

#else
#include <hip/hip_runtime_api.h>
#endif
#endif
