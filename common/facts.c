// SPDX-License-Identifier: Apache-2.0
// Finds out about the host from uname, /proc, /sys, CPUID and hwloc; each fact stands alone, so none can spoil another.
#include "common/facts.h"

#include <dirent.h>
#include <hwloc.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

#include "common/sysfs.h"

struct listener {
    facts_emit *emit;
    void *context;
};

__attribute__((format(printf, 3, 4)))
static void tell(const struct listener *to, const char *key, const char *format, ...)
{
    char value[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    if (*value) to->emit(to->context, key, value);
}

static void tell_file(const struct listener *to, const char *key, const char *path)
{
    char text[256];
    if (sysfs_read(path, text, sizeof text)) tell(to, key, "%s", text);
}

// The rest of the first line of PATH that begins with START, without the white space and the quotes around it.
static bool rest_of_line(const char *path, const char *start, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    if (!file) return false;
    char line[1024];
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) found = !strncmp(line, start, strlen(start));
    fclose(file);
    if (!found) return false;
    const char *rest = line + strlen(start);
    rest += strspn(rest, " \t\"");
    size_t length = strlen(rest);
    while (length && strchr(" \t\"\n", rest[length - 1])) length--;
    snprintf(text, size, "%.*s", (int)length, rest);
    return length > 0;
}

static void tell_system(const struct listener *to, bool anonymous)
{
    struct utsname system;
    if (!uname(&system)) {
        if (!anonymous) tell(to, "host", "%s", system.nodename);
        tell(to, "kernel", "%s %s", system.sysname, system.release);
        tell(to, "machine", "%s", system.machine);
    }
    char text[256];
    if (rest_of_line("/etc/os-release", "PRETTY_NAME=", text, sizeof text)) tell(to, "os", "%s", text);
#if defined(__GLIBC__)
    tell(to, "libc", "glibc %s", gnu_get_libc_version());
#endif
    tell(to, "privileged", "%s", geteuid() == 0 ? "yes" : "no");
    double load[3];
    if (getloadavg(load, 3) == 3) { // in hundredths: a locale's decimal comma has no place here
        unsigned hundredths[3] = {(unsigned)(load[0] * 100), (unsigned)(load[1] * 100), (unsigned)(load[2] * 100)};
        tell(to, "load_average", "%u.%02u %u.%02u %u.%02u", hundredths[0] / 100, hundredths[0] % 100,
             hundredths[1] / 100, hundredths[1] % 100, hundredths[2] / 100, hundredths[2] % 100);
    }
    if (rest_of_line("/proc/self/status", "Cpus_allowed_list:", text, sizeof text))
        tell(to, "cpus_allowed", "%s", text);
}

static void tell_model(const struct listener *to, hwloc_topology_t topology)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    if (!package) package = hwloc_get_root_obj(topology);
    const char *model = hwloc_obj_get_info_by_name(package, "CPUModel");
    const char *implementer = hwloc_obj_get_info_by_name(package, "CPUImplementer"); // AArch64 has numbers only
    const char *part = hwloc_obj_get_info_by_name(package, "CPUPart");
    if (model) tell(to, "cpu_model", "%s", model);
    else if (implementer && part) tell(to, "cpu_model", "implementer %s part %s", implementer, part);
    else tell(to, "cpu_model", "unknown");
}

static void tell_count(const struct listener *to, const char *key, hwloc_topology_t topology, hwloc_obj_type_t type)
{
    int count = hwloc_get_nbobjs_by_type(topology, type);
    if (count > 0) tell(to, key, "%d", count);
}

static void tell_topology(const struct listener *to)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology)) return;
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED); // of the machine, not of the cgroup
    hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    if (!hwloc_topology_load(topology) && hwloc_topology_is_thissystem(topology)) {
        tell_model(to, topology);
        tell_count(to, "packages", topology, HWLOC_OBJ_PACKAGE);
        tell_count(to, "numa_nodes", topology, HWLOC_OBJ_NUMANODE);
        tell_count(to, "cpu_cores", topology, HWLOC_OBJ_CORE);
        tell_count(to, "cpu_threads", topology, HWLOC_OBJ_PU);
        hwloc_obj_t root = hwloc_get_root_obj(topology);
        if (root->total_memory) tell(to, "memory_bytes", "%llu", (unsigned long long)root->total_memory);
        const char *version = hwloc_obj_get_info_by_name(root, "hwlocVersion");
        if (version) tell(to, "hwloc_version", "%s", version);
    } else {
        tell(to, "cpu_model", "unknown");
    }
    hwloc_topology_destroy(topology);
}

// FILE holds a number: NUMBER_ON means on, any other off.
static bool tell_switch(const struct listener *to, const char *key, const char *file, int number_on)
{
    char text[16];
    if (!sysfs_read(file, text, sizeof text)) return false;
    tell(to, key, "%s", atoi(text) == number_on ? "on" : "off");
    return true;
}

static void tell_clocking(const struct listener *to)
{
    tell_file(to, "cpu_governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (!tell_switch(to, "cpu_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo", 0))
        tell_switch(to, "cpu_turbo", "/sys/devices/system/cpu/cpufreq/boost", 1);
    tell_switch(to, "smt", "/sys/devices/system/cpu/smt/active", 1);
}

// `name=state` of each weakness that is mitigated or open; of a state, the first clause only.
static void tell_mitigations(const struct listener *to)
{
    static const char folder[] = "/sys/devices/system/cpu/vulnerabilities";
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    char all[2048] = "";
    for (int i = 0; i < count; i++) {
        char path[sizeof folder + NAME_MAX + 2], state[256];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        const char *mitigation = NULL, *vulnerable = NULL;
        if (entries[i]->d_name[0] != '.' && sysfs_read(path, state, sizeof state)) {
            mitigation = strstr(state, "Mitigation: ");
            vulnerable = strstr(state, "Vulnerable");
        }
        const char *clause = mitigation ? mitigation + strlen("Mitigation: ") : vulnerable;
        size_t used = strlen(all);
        if (clause)
            snprintf(all + used, sizeof all - used, "%s%s=%.*s", used ? ";" : "", entries[i]->d_name,
                     (int)strcspn(clause, ";,"), clause);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    tell(to, "mitigations", "%s", all);
}

static void tell_hypervisor(const struct listener *to)
{
#if defined(__x86_64__)
    unsigned eax, ebx, ecx, edx;
    __cpuid(1, eax, ebx, ecx, edx);
    if (ecx >> 31) { // a hypervisor signs leaf 0x40000000 with twelve letters
        unsigned signature[4] = {0};
        __cpuid(0x40000000, eax, signature[0], signature[1], signature[2]);
        tell(to, "hypervisor", "%s", signature[0] ? (const char *)signature : "unsigned");
    }
#else
    tell_file(to, "hypervisor", "/sys/hypervisor/type");
#endif
    char vendor[128], product[128];
    if (sysfs_read("/sys/class/dmi/id/sys_vendor", vendor, sizeof vendor) &&
        sysfs_read("/sys/class/dmi/id/product_name", product, sizeof product))
        tell(to, "system_model", "%s %s", vendor, product);
    else tell_file(to, "system_model", "/sys/firmware/devicetree/base/model");
}

// The CPU time that FOLDER's cgroup grants, in hundredths of a CPU; LONG_MAX where it sets no limit.
static long cpu_quota(const char *folder)
{
    char path[1200], text[64], second[32];
    long quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", folder); // version 2: "max 100000" or "50000 100000"
    if (sysfs_read(path, text, sizeof text) && sscanf(text, "%ld %ld", &quota, &period) == 2 && period > 0)
        return quota * 100 / period;
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder); // version 1: −1 for none
    if (!sysfs_read(path, text, sizeof text)) return LONG_MAX;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    if (!sysfs_read(path, second, sizeof second)) return LONG_MAX;
    quota = atol(text), period = atol(second);
    return quota > 0 && period > 0 ? quota * 100 / period : LONG_MAX;
}

// The tightest limit from the process's cgroup up to the root (version 2), or that of the container (version 1).
static void tell_cpu_limit(const struct listener *to)
{
    char folder[1100] = "/sys/fs/cgroup", below[1024];
    size_t root = strlen(folder);
    long least = cpu_quota("/sys/fs/cgroup/cpu");
    if (rest_of_line("/proc/self/cgroup", "0::", below, sizeof below))
        snprintf(folder + root, sizeof folder - root, "%s", below);
    for (;;) {
        long quota = cpu_quota(folder);
        if (quota < least) least = quota;
        char *last = strrchr(folder + root, '/');
        if (!last) break;
        *last = '\0';
    }
    if (least < LONG_MAX) tell(to, "cgroup_cpus", "%ld.%02ld", least / 100, least % 100);
}

// A path has a slash, and a UUID (a device may be named by one) a dash inside.
static bool is_private(const char *value)
{
    return strchr(value, '/') || (*value && strchr(value + 1, '-'));
}

static void tell_environment(const struct listener *to, bool anonymous, const char *const *names)
{
    for (; names && *names; names++) {
        const char *value = getenv(*names);
        if (!value) continue;
        char key[128];
        snprintf(key, sizeof key, "env_%s", *names);
        // That a variable is set changes launches, so it is told even where its value may not be.
        to->emit(to->context, key, anonymous && is_private(value) ? "(withheld)" : value);
    }
}

void facts_host(bool anonymous, const char *const *environment, facts_emit *emit, void *context)
{
    const struct listener to = {emit, context};
    tell_system(&to, anonymous);
    tell_topology(&to);
    tell_clocking(&to);
    tell_mitigations(&to);
    tell_hypervisor(&to);
    tell_cpu_limit(&to);
    tell_environment(&to, anonymous, environment);
}

void facts_pci(const char *pci_bus_id, facts_emit *emit, void *context)
{
    static const struct {
        const char *key, *file, *none; // none: what the kernel writes where it does not know
    } rows[] = {
        {"pci_link_speed_now", "current_link_speed", "Unknown"}, {"pci_link_speed_max", "max_link_speed", "Unknown"},
        {"pci_link_width_now", "current_link_width", "0"},       {"pci_link_width_max", "max_link_width", "0"},
        {"pci_numa_node", "numa_node", "-1"},                    {"pci_local_cpus", "local_cpulist", ""},
    };
    const struct listener to = {emit, context};
    char text[4096], path[128];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!sysfs_pci_read(pci_bus_id, rows[i].file, text, sizeof text)) continue;
        size_t none = strlen(rows[i].none);
        bool known = none == 0 || strncmp(text, rows[i].none, none) != 0;
        if (known) tell(&to, rows[i].key, "%s", text);
    }
    if (!sysfs_pci_path(pci_bus_id, "iommu_group", path, sizeof path)) return;
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length <= 0) return;
    text[length] = '\0';
    const char *slash = strrchr(text, '/');
    tell(&to, "iommu_group", "%s", slash ? slash + 1 : text);
}
