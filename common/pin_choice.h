// SPDX-License-Identifier: Apache-2.0
// Which PU pin.c takes, on any topology: apart from the binding, so that machines that are not here can be tested.
#ifndef LIFTOFF_PIN_CHOICE_H
#define LIFTOFF_PIN_CHOICE_H

#include <hwloc.h>
#include <stdbool.h>

// Fills CPUS with the PUs that are near the PCI device; false if its place is unknown (CPUS is then undefined).
bool pin_locality(hwloc_topology_t topology, const char *pci_bus_id, hwloc_cpuset_t cpus);

// The first PU (OS index) of ALLOWED that is in LOCALITY and not on core 0; where there is none, core 0 is taken before
// the locality is given up. −1 if ALLOWED is empty.
int pin_choose(hwloc_topology_t topology, hwloc_const_cpuset_t allowed, hwloc_const_cpuset_t locality);

// The INDEXth PU of ALLOWED that is not AVOID_PU (cyclic), those that share its core last. −1 if there is none.
int pin_choose_worker(hwloc_topology_t topology, hwloc_const_cpuset_t allowed, unsigned index, int avoid_pu);

// Another PU of ALLOWED on the core of PU. −1 if there is none.
int pin_choose_sibling(hwloc_topology_t topology, hwloc_const_cpuset_t allowed, int pu);

// Of the INDEXth NUMA node that has PUs of ALLOWED: the first such PU that is not on core 0, else the first. −1 if
// there are fewer nodes.
int pin_choose_node(hwloc_topology_t topology, hwloc_const_cpuset_t allowed, unsigned index);

#endif
