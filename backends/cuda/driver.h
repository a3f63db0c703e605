// SPDX-License-Identifier: Apache-2.0
// The driver's own calls, reached through the runtime, so that the binary links and starts without a driver.
#ifndef LIFTOFF_CUDA_DRIVER_H
#define LIFTOFF_CUDA_DRIVER_H

#include <cuda.h>

#include "backends/gpu.h"

// Sets the function pointer at ENTRY_POINTER. GPU_UNSUPPORTED if this driver has no SYMBOL.
enum gpu_status driver_fetch(void *entry_pointer, const char *symbol);

// Records that CALL failed with ERROR, which is not CUDA_SUCCESS.
enum gpu_status driver_status(CUresult error, const char *call);

// Fetches what gpu_module.h needs; for vendor_open.
enum gpu_status driver_modules_open(void);

#endif
