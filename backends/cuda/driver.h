// SPDX-License-Identifier: Apache-2.0
// The driver's own calls, reached through the runtime, so that the binary links and starts without a driver.
#ifndef LIFTOFF_CUDA_DRIVER_H
#define LIFTOFF_CUDA_DRIVER_H

#include <cuda.h>

#include "backends/gpu.h"

// Sets the function pointer at ENTRY_POINTER. GPU_UNSUPPORTED if this driver has no SYMBOL.
enum gpu_status driver_fetch(void *entry_pointer, const char *symbol);

// The same, as SYMBOL was declared in CUDA VERSION (12040 for 12.4). GPU_UNSUPPORTED also if the runtime, older than
// 12.5, cannot tell versions apart.
enum gpu_status driver_fetch_version(void *entry_pointer, const char *symbol, unsigned version);

// Records that CALL failed with ERROR, which is not CUDA_SUCCESS.
enum gpu_status driver_status(CUresult error, const char *call);

// Fetch what gpu_module.h and gpu_share.h need; for vendor_open, once there is a context.
enum gpu_status driver_modules_open(void);
enum gpu_status driver_contexts_open(void);

#endif
