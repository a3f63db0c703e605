// SPDX-License-Identifier: Apache-2.0
// What is known of the machine around the device: CPU, kernel, topology, hypervisor, environment. Keys are in
// docs/schema.md.
#ifndef LIFTOFF_FACTS_H
#define LIFTOFF_FACTS_H

#include <stdbool.h>

typedef void facts_emit(void *context, const char *key, const char *value);

// Tells EMIT every fact of this host that can be had without privileges; what cannot be had is not told. With
// ANONYMOUS, no host name, serial, user or path. ENVIRONMENT (NULL-ended) names the variables to record where they are
// set.
void facts_host(bool anonymous, const char *const *environment, facts_emit *emit, void *context);

// The PCI device at PCI_BUS_ID ("0000:06:00.0"): link speed and width (now, max), NUMA node, local CPUs, IOMMU group,
// from sysfs.
void facts_pci(const char *pci_bus_id, facts_emit *emit, void *context);

#endif
