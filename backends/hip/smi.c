// SPDX-License-Identifier: Apache-2.0
// Asks AMD's management library for facts. Of its calls, only those are used whose arguments are numbers and texts: the
// layout of its structs changes between releases. Clocks, which it tells in such a struct, are read from hwmon instead.
#include "backends/hip/smi.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/sysfs.h"

enum { RSMI_SW_COMP_DRIVER = 0, RSMI_TEMP_TYPE_EDGE = 0, RSMI_TEMP_TYPE_JUNCTION = 1, RSMI_TEMP_CURRENT = 0 };

struct session {
    void *library;
    uint32_t device;
};

// Gets the function SYMBOL; ISO C has no cast from an object to a function pointer.
static bool find(const struct session *session, const char *symbol, void *function)
{
    void *entry = dlsym(session->library, symbol);
    memcpy(function, &entry, sizeof entry);
    return entry != NULL;
}

static void session_end(struct session *session)
{
    int (*leave)(void);
    if (find(session, "rsmi_shut_down", &leave)) leave();
    dlclose(session->library);
}

// Partitions of one card differ in the function only, or in bits above the bus; the facts told here are the card's.
static bool find_device(struct session *session, const char *pci_bus_id)
{
    int (*get_count)(uint32_t *), (*get_place)(uint32_t, uint64_t *);
    unsigned domain, bus, slot;
    uint32_t count = 0;
    uint64_t place;
    if (sscanf(pci_bus_id, "%x:%x:%x", &domain, &bus, &slot) != 3) return false;
    if (!find(session, "rsmi_num_monitor_devices", &get_count) || get_count(&count)) return false;
    if (!find(session, "rsmi_dev_pci_id_get", &get_place)) return false;
    for (session->device = 0; session->device < count; session->device++)
        if (!get_place(session->device, &place) && place >> 32 == domain && (place >> 8 & 0xff) == bus &&
            (place >> 3 & 0x1f) == slot)
            return true;
    return false;
}

static bool session_begin(struct session *session, const char *pci_bus_id)
{
    // The bare name comes with development packages only; the others are the versions that ROCm 5 to 7 and Debian ship.
    static const char *const names[] = {"librocm_smi64.so", "librocm_smi64.so.7", "librocm_smi64.so.6",
                                        "librocm_smi64.so.5", "librocm_smi64.so.1"};
    int (*enter)(uint64_t);
    if (access("/dev/kfd", F_OK) != 0) return false;
    session->library = NULL;
    for (size_t i = 0; !session->library && i < sizeof names / sizeof *names; i++)
        session->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!session->library) return false;
    if (find(session, "rsmi_init", &enter) && enter(0) == 0) {
        if (find_device(session, pci_bus_id)) return true;
        session_end(session);
    } else {
        dlclose(session->library);
    }
    return false;
}

static void tell_text(const struct session *session, const char *key, const char *symbol, gpu_fact_function *emit,
                      void *context)
{
    int (*get)(uint32_t, char *, uint32_t);
    char text[128] = "";
    if (find(session, symbol, &get) && get(session->device, text, sizeof text) == 0 && *text) emit(context, key, text);
}

static bool ask(const struct session *session, const char *symbol, uint64_t *value)
{
    int (*get)(uint32_t, uint64_t *);
    return find(session, symbol, &get) && get(session->device, value) == 0;
}

static bool ask_sensor(const struct session *session, const char *symbol, uint64_t *value)
{
    int (*get)(uint32_t, uint32_t, uint64_t *);
    return find(session, symbol, &get) && get(session->device, 0, value) == 0;
}

static void tell_number(const char *prefix, const char *key, uint64_t value, gpu_fact_function *emit, void *context)
{
    char name[64], text[32];
    snprintf(name, sizeof name, "%s%s", prefix, key);
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    emit(context, name, text);
}

static uint64_t millionths(uint64_t value) { return (value + 500000) / 1000000; }

void smi_facts(const char *pci_bus_id, gpu_fact_function *emit, void *context)
{
    static const char *const levels[] = {
        "auto",        "low",             "high",            "manual",     "stable_std",
        "stable_peak", "stable_min_mclk", "stable_min_sclk", "determinism"};
    struct session session;
    int (*get_version)(int, char *, uint32_t), (*get_level)(uint32_t, unsigned *);
    char text[128] = "";
    uint64_t value;
    unsigned level;
    if (!session_begin(&session, pci_bus_id)) return;
    if (find(&session, "rsmi_version_str_get", &get_version) &&
        get_version(RSMI_SW_COMP_DRIVER, text, sizeof text) == 0 && *text)
        emit(context, "driver_version", text);
    tell_text(&session, "vbios", "rsmi_dev_vbios_version_get", emit, context);
    tell_text(&session, "device_serial", "rsmi_dev_serial_number_get", emit, context);
    if (ask(&session, "rsmi_dev_unique_id_get", &value)) {
        snprintf(text, sizeof text, "%016llx", (unsigned long long)value);
        emit(context, "device_uuid", text);
    }
    if (ask_sensor(&session, "rsmi_dev_power_cap_get", &value))
        tell_number("", "power_limit_w", millionths(value), emit, context);
    if (ask(&session, "rsmi_dev_power_cap_default_get", &value))
        tell_number("", "power_limit_default_w", millionths(value), emit, context);
    if (ask(&session, "rsmi_dev_ecc_enabled_get", &value)) emit(context, "ecc", value ? "enabled" : "disabled");
    if (find(&session, "rsmi_dev_perf_level_get", &get_level) && get_level(session.device, &level) == 0 &&
        level < sizeof levels / sizeof *levels)
        emit(context, "performance_level", levels[level]);
    session_end(&session);
}

// FILE is one of the hwmon files that the kernel documents for amdgpu, in Hz.
static void tell_clock(const char *pci_bus_id, const char *file, const char *prefix, const char *key,
                       gpu_fact_function *emit, void *context)
{
    char pattern[64], path[128], text[32];
    glob_t found;
    snprintf(pattern, sizeof pattern, "hwmon/hwmon*/%s", file);
    if (!sysfs_pci_path(pci_bus_id, pattern, path, sizeof path) || glob(path, 0, NULL, &found)) return;
    if (sysfs_read(found.gl_pathv[0], text, sizeof text))
        tell_number(prefix, key, millionths(strtoull(text, NULL, 10)), emit, context);
    globfree(&found);
}

void smi_state(const char *pci_bus_id, const char *prefix, gpu_fact_function *emit, void *context, bool *throttled)
{
    struct session session;
    int (*get_temperature)(uint32_t, uint32_t, int, int64_t *), (*get_power)(uint32_t, uint64_t *, int *), power_kind;
    char start[48];
    int64_t millidegrees;
    uint64_t value;
    *throttled = false;
    snprintf(start, sizeof start, "%s_", prefix);
    tell_clock(pci_bus_id, "freq1_input", start, "clock_sm_mhz", emit, context);
    tell_clock(pci_bus_id, "freq2_input", start, "clock_memory_mhz", emit, context);
    if (!session_begin(&session, pci_bus_id)) return;
    // Some cards have one sensor, some the other; rsmi_dev_power_get knows both kinds of power, but only since ROCm 6.
    if (find(&session, "rsmi_dev_temp_metric_get", &get_temperature) &&
        (get_temperature(session.device, RSMI_TEMP_TYPE_JUNCTION, RSMI_TEMP_CURRENT, &millidegrees) == 0 ||
         get_temperature(session.device, RSMI_TEMP_TYPE_EDGE, RSMI_TEMP_CURRENT, &millidegrees) == 0) &&
        millidegrees >= 0)
        tell_number(start, "temperature_c", (uint64_t)(millidegrees + 500) / 1000, emit, context);
    if ((find(&session, "rsmi_dev_power_get", &get_power) && get_power(session.device, &value, &power_kind) == 0) ||
        ask_sensor(&session, "rsmi_dev_power_ave_get", &value))
        tell_number(start, "power_w", millionths(value), emit, context);
    session_end(&session);
}
