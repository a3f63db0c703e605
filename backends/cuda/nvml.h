// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's management library knows of a device. The library is loaded and left at each use, so that no client of
// it is alive while something is measured. It needs no CUDA context.
#ifndef LIFTOFF_NVML_H
#define LIFTOFF_NVML_H

#include "backends/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

// Tells EMIT what does not change while measuring: versions, limits, modes, link, `other_processes`, `mps`. What the
// library, the driver or the device cannot say is not told. `device_serial` and `device_uuid` identify the device.
void nvml_facts(const char *pci_bus_id, gpu_fact_function *emit, void *context);

// Tells EMIT what changes: PREFIX_clock_sm_mhz, PREFIX_clock_memory_mhz, PREFIX_temperature_c, PREFIX_power_w and
// PREFIX_throttle_reasons (`none`, or words joined by `+`). *THROTTLED says whether heat or power is among the reasons.
void nvml_state(const char *pci_bus_id, const char *prefix, gpu_fact_function *emit, void *context, bool *throttled);

// Whether a CUDA program that is started now becomes a client of MPS: the daemon's control pipe is there.
bool nvml_mps_client(void);

#ifdef __cplusplus
}
#endif
#endif
