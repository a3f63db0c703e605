// SPDX-License-Identifier: Apache-2.0
// What AMD's management library knows of a device. The library is loaded and left at each use, and only where the
// amdgpu driver is, because without it the library complains on the terminal.
#ifndef LIFTOFF_SMI_H
#define LIFTOFF_SMI_H

#include "backends/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

// Tells EMIT what does not change while measuring: versions, power limits, ECC, performance level. What the library,
// the driver or the device cannot say is not told. `device_serial` and `device_uuid` identify the device.
void smi_facts(const char *pci_bus_id, gpu_fact_function *emit, void *context);

// Tells EMIT what changes: PREFIX_clock_sm_mhz, PREFIX_clock_memory_mhz, PREFIX_temperature_c (the hottest spot) and
// PREFIX_power_w. No documented call of stable layout tells why a clock is low, so *THROTTLED becomes false.
void smi_state(const char *pci_bus_id, const char *prefix, gpu_fact_function *emit, void *context, bool *throttled);

#ifdef __cplusplus
}
#endif
#endif
