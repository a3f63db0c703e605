// SPDX-License-Identifier: Apache-2.0
// Chooses processing units with hwloc and binds threads to them.
#include "common/pin.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/pin_choice.h"
#include "common/sysfs.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static hwloc_topology_t machine; // kept until the process ends, NULL if it cannot be had
static hwloc_cpuset_t allowed;   // what the process may use, as it was before any thread was bound here

static void load(void)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology)) return;
    // Disallowed PUs stay in the topology so that core 0 is known even where a cgroup hides a part of it.
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_ALL);
    allowed = hwloc_bitmap_alloc();
    // HWLOC_XMLFILE and HWLOC_SYNTHETIC may describe another machine; binding would then do nothing and report success.
    if (!allowed || hwloc_topology_load(topology) || !hwloc_topology_is_thissystem(topology)) {
        hwloc_topology_destroy(topology);
        return;
    }
    hwloc_bitmap_copy(allowed, hwloc_topology_get_allowed_cpuset(topology));
    hwloc_cpuset_t bound = hwloc_bitmap_alloc();
    if (bound && !hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS)) hwloc_bitmap_and(allowed, allowed, bound);
    hwloc_bitmap_free(bound);
    machine = topology;
}

static bool loaded(void)
{
    pthread_once(&once, load);
    return machine != NULL;
}

static hwloc_obj_t device_parent(hwloc_topology_t topology, const char *pci_bus_id)
{
    hwloc_obj_t device = pci_bus_id ? hwloc_get_pcidev_by_busidstring(topology, pci_bus_id) : NULL;
    return device ? hwloc_get_non_io_ancestor_obj(topology, device) : NULL;
}

bool pin_locality(hwloc_topology_t topology, const char *pci_bus_id, hwloc_cpuset_t cpus)
{
    hwloc_obj_t parent = device_parent(topology, pci_bus_id);
    if (parent) return hwloc_bitmap_copy(cpus, parent->cpuset) == 0;
    char list[4096];
    return hwloc_topology_is_thissystem(topology) && sysfs_pci_read(pci_bus_id, "local_cpulist", list, sizeof list) &&
           hwloc_bitmap_list_sscanf(cpus, list) == 0;
}

// Whether PU lies on the core of the PU with this OS index; false for a negative one.
static bool shares_core(hwloc_topology_t topology, hwloc_obj_t pu, int os_index)
{
    if (os_index < 0) return false;
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
    return hwloc_bitmap_isset((core ? core : pu)->cpuset, (unsigned)os_index);
}

int pin_choose(hwloc_topology_t topology, hwloc_const_cpuset_t may_use, hwloc_const_cpuset_t locality)
{
    int best = -1, best_rank = -1;
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu));) {
        if (!hwloc_bitmap_isset(may_use, pu->os_index)) continue;
        int rank = 2 * hwloc_bitmap_isset(locality, pu->os_index) + !shares_core(topology, pu, 0);
        if (rank <= best_rank) continue;
        best = (int)pu->os_index;
        best_rank = rank;
    }
    return best;
}

int pin_choose_worker(hwloc_topology_t topology, hwloc_const_cpuset_t may_use, unsigned index, int avoid_pu)
{
    unsigned count = (unsigned)hwloc_bitmap_weight(may_use);
    if (avoid_pu >= 0 && hwloc_bitmap_isset(may_use, (unsigned)avoid_pu)) count--;
    if (count == 0) return -1;
    index %= count;
    for (int siblings = 0; siblings <= 1; siblings++) {
        for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu));) {
            if (!hwloc_bitmap_isset(may_use, pu->os_index) || (int)pu->os_index == avoid_pu) continue;
            if (shares_core(topology, pu, avoid_pu) == siblings && index-- == 0) return (int)pu->os_index;
        }
    }
    return -1;
}

int pin_choose_sibling(hwloc_topology_t topology, hwloc_const_cpuset_t may_use, int pu)
{
    for (hwloc_obj_t other = NULL; (other = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, other));)
        if ((int)other->os_index != pu && hwloc_bitmap_isset(may_use, other->os_index) &&
            shares_core(topology, other, pu))
            return (int)other->os_index;
    return -1;
}

int pin_choose_node(hwloc_topology_t topology, hwloc_const_cpuset_t may_use, unsigned index)
{
    for (hwloc_obj_t node = NULL; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));)
        if (hwloc_bitmap_intersects(node->cpuset, may_use) && index-- == 0)
            return pin_choose(topology, may_use, node->cpuset);
    return -1;
}

// PU is one that the process may use.
static bool bind_thread(int pu)
{
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    bool bound = set && !hwloc_bitmap_only(set, (unsigned)pu) && !hwloc_set_cpubind(machine, set, HWLOC_CPUBIND_THREAD);
    hwloc_bitmap_free(set);
    return bound;
}

static int choose_near(const char *pci_bus_id)
{
    hwloc_cpuset_t locality = hwloc_bitmap_alloc();
    if (!locality) return -1;
    bool known = pin_locality(machine, pci_bus_id, locality);
    int pu = pin_choose(machine, allowed, known ? locality : allowed);
    hwloc_bitmap_free(locality);
    return pu;
}

// The PU that TEXT names in decimal, −1 if it names none that the process may use.
static int named_pu(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 6 || text[digits]) return -1;
    int pu = atoi(text);
    return hwloc_bitmap_isset(allowed, (unsigned)pu) ? pu : -1;
}

static int first_node(hwloc_obj_t object) { return object->nodeset ? hwloc_bitmap_first(object->nodeset) : -1; }

const char *pin_thread(const char *how, const char *pci_bus_id, struct pin_place *place)
{
    *place = (struct pin_place){.pu = -1, .numa_node = -1, .core = -1};
    if (!strcmp(how, "none")) return NULL;
    if (!loaded()) return "hwloc cannot read this machine's topology (or HWLOC_XMLFILE, HWLOC_SYNTHETIC name another)";
    int pu = strcmp(how, "near") ? named_pu(how) : choose_near(pci_bus_id);
    if (pu < 0) return "not near, none or a processing unit that this process may use";
    if (!bind_thread(pu)) return "the system refused to bind the thread";

    hwloc_obj_t object = hwloc_get_pu_obj_by_os_index(machine, (unsigned)pu);
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_CORE, object);
    *place = (struct pin_place){pu, first_node(object), core ? (int)core->logical_index : -1};
    return NULL;
}

unsigned pin_count(void) { return loaded() ? (unsigned)hwloc_bitmap_weight(allowed) : 1; }

int pin_worker(unsigned index, int avoid_pu)
{
    int pu = loaded() ? pin_choose_worker(machine, allowed, index, avoid_pu) : -1;
    return pu >= 0 && bind_thread(pu) ? pu : -1;
}

int pin_sibling(int pu)
{
    int sibling = loaded() ? pin_choose_sibling(machine, allowed, pu) : -1;
    return sibling >= 0 && bind_thread(sibling) ? sibling : -1;
}

unsigned pin_nodes(void)
{
    unsigned count = 0;
    while (loaded() && pin_choose_node(machine, allowed, count) >= 0) count++;
    return count;
}

int pin_node(unsigned index)
{
    int pu = loaded() ? pin_choose_node(machine, allowed, index) : -1;
    return pu >= 0 && bind_thread(pu) ? pu : -1;
}

bool pin_pu(int pu) { return loaded() && pu >= 0 && hwloc_bitmap_isset(allowed, (unsigned)pu) && bind_thread(pu); }

void pin_release(void)
{
    if (machine) hwloc_set_cpubind(machine, allowed, HWLOC_CPUBIND_THREAD); // who has not looked has bound nothing
}

int pin_current(void)
{
    hwloc_cpuset_t set = loaded() ? hwloc_bitmap_alloc() : NULL;
    if (!set) return -1;
    bool one = !hwloc_get_cpubind(machine, set, HWLOC_CPUBIND_THREAD) && hwloc_bitmap_weight(set) == 1;
    int pu = one ? hwloc_bitmap_first(set) : -1;
    hwloc_bitmap_free(set);
    return pu;
}

int pin_device_numa(const char *pci_bus_id)
{
    hwloc_obj_t parent = loaded() ? device_parent(machine, pci_bus_id) : NULL;
    if (parent && parent->nodeset && hwloc_bitmap_weight(parent->nodeset) == 1) return first_node(parent);
    char node[16];
    return sysfs_pci_read(pci_bus_id, "numa_node", node, sizeof node) ? atoi(node) : -1;
}
