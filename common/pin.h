// SPDX-License-Identifier: Apache-2.0
// Where threads run: hwloc finds the core to pin to, and this is the only file that moves threads.
#ifndef LIFTOFF_PIN_H
#define LIFTOFF_PIN_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pin_place {
    int pu;        // OS index of the processing unit, −1 if not pinned
    int numa_node; // of that PU, −1 if unknown
    int core;      // logical index of its core, −1 if unknown
};

// Chooses and binds the calling thread. HOW is "near", "none" or a PU's OS index in decimal. "near" takes a core of the
// locality of PCI_BUS_ID ("0000:06:00.0"; NULL or unknown: any), avoiding core 0 and its SMT siblings where there is a
// choice, within the PUs that the process may use. Returns NULL, or why it could not (static text).
const char *pin_thread(const char *how, const char *pci_bus_id, struct pin_place *place);

// For device threads of the host backend: the number of PUs that the process may use, and binding of the calling thread
// to the INDEXth of them that is not AVOID_PU (cyclic; PUs of other cores than AVOID_PU's come first). Returns the PU
// or −1.
unsigned pin_count(void);
int pin_worker(unsigned index, int avoid_pu);

// Binds the calling thread to another PU of PU's core. Returns that PU, or −1 if the process may use none.
int pin_sibling(int pu);

// How many NUMA nodes have PUs that the process may use, 0 if unknown; and binding of the calling thread to a PU of the
// INDEXth of them, by preference not on core 0. Returns the PU or −1.
unsigned pin_nodes(void);
int pin_node(unsigned index);

// Binds the calling thread to the PU. False if the process may not use it or the system refuses.
bool pin_pu(int pu);

// Lets the calling thread run wherever the process may.
void pin_release(void);

// The OS index of the PU that the calling thread is bound to if it is exactly one, else −1.
int pin_current(void);

// The NUMA node of the PCI device, −1 if unknown.
int pin_device_numa(const char *pci_bus_id);

#ifdef __cplusplus
}
#endif
#endif
