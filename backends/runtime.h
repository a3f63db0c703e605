// SPDX-License-Identifier: Apache-2.0
// Between runtime.c, which CUDA and HIP share, and what each vendor adds to it.
#ifndef LIFTOFF_RUNTIME_H
#define LIFTOFF_RUNTIME_H

#include "backends/gpu.h"
#include "vendor.h"

#ifdef __cplusplus
extern "C" {
#endif

// GPU_OK for success; else GPU_FAILED, or GPU_UNSUPPORTED where the vendor says "not supported", with CALL and the
// vendor's name of the error as the reason. It also clears the runtime's last error.
enum gpu_status runtime_status(VENDOR(Error_t) error, const char *call);

// To be written by the vendor's own file: fetches what the driver alone can do, and adds it to a prepared launch.
enum gpu_status vendor_open(unsigned device);
enum gpu_status vendor_prepare(struct gpu_launch *launch);
void vendor_facts(unsigned device, const char *pci_bus_id, gpu_fact_function *emit, void *context);

// Tells one fact as a decimal number.
void runtime_fact(gpu_fact_function *emit, void *context, const char *key, long long value);

#ifdef __cplusplus
}
#endif
#endif
