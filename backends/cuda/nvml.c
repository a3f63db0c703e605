// SPDX-License-Identifier: Apache-2.0
// Asks NVIDIA's management library for facts. Its few types and constants are declared here, because not every machine
// that builds has nvml.h.
#include "backends/cuda/nvml.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/sysfs.h"

struct nvmlDevice_st;
typedef struct nvmlDevice_st *nvmlDevice_t;
typedef int nvmlReturn_t; // 0 is success

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_TEMPERATURE_GPU = 0 };

struct nvml_process { // nvmlProcessInfo_t since its second version
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
};

struct session {
    void *library;
    nvmlDevice_t device;
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
    nvmlReturn_t (*leave)(void);
    if (find(session, "nvmlShutdown", &leave)) leave();
    dlclose(session->library);
}

static bool session_begin(struct session *session, const char *pci_bus_id)
{
    nvmlReturn_t (*enter)(void), (*look_up)(const char *, nvmlDevice_t *);
    session->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!session->library) return false;
    if (find(session, "nvmlInit_v2", &enter) && enter() == 0) {
        if (find(session, "nvmlDeviceGetHandleByPciBusId_v2", &look_up) && look_up(pci_bus_id, &session->device) == 0)
            return true;
        session_end(session);
    } else {
        dlclose(session->library);
    }
    return false;
}

// What a getter takes after the device.
enum shape {
    TEXT,   // char *, unsigned size
    NUMBER, // unsigned *
    PAIR,   // unsigned *now, unsigned *after_reboot
    CHOSEN, // int choice (a clock, a sensor), unsigned *
};

struct query {
    const char *key, *symbol;
    enum shape shape;
    unsigned divisor;         // of the number
    int choice;               // CHOSEN
    const char *const *words; // of the numbers 0 …, NULL-ended; NULL: the number itself is told
};

static const char *const switch_words[] = {"disabled", "enabled", NULL};
static const char *const compute_words[] = {"default", "exclusive_thread", "prohibited", "exclusive_process", NULL};
static const char *const virtual_words[] = {"none", "passthrough", "vgpu", "host_vgpu", "host_vsga", NULL};

static const struct query fact_queries[] = {
    {"device_serial", "nvmlDeviceGetSerial", TEXT, 0, 0, NULL},
    {"device_uuid", "nvmlDeviceGetUUID", TEXT, 0, 0, NULL},
    {"vbios", "nvmlDeviceGetVbiosVersion", TEXT, 0, 0, NULL},
    {"power_limit_w", "nvmlDeviceGetEnforcedPowerLimit", NUMBER, 1000, 0, NULL},
    {"power_limit_default_w", "nvmlDeviceGetPowerManagementDefaultLimit", NUMBER, 1000, 0, NULL},
    {"clock_sm_max_mhz", "nvmlDeviceGetMaxClockInfo", CHOSEN, 1, NVML_CLOCK_SM, NULL},
    {"clock_memory_max_mhz", "nvmlDeviceGetMaxClockInfo", CHOSEN, 1, NVML_CLOCK_MEM, NULL},
    {"ecc", "nvmlDeviceGetEccMode", PAIR, 1, 0, switch_words},
    {"mig", "nvmlDeviceGetMigMode", PAIR, 1, 0, switch_words},
    {"persistence", "nvmlDeviceGetPersistenceMode", NUMBER, 1, 0, switch_words},
    {"compute_mode", "nvmlDeviceGetComputeMode", NUMBER, 1, 0, compute_words},
    {"virtualization", "nvmlDeviceGetVirtualizationMode", NUMBER, 1, 0, virtual_words},
    {"pcie_generation_now", "nvmlDeviceGetCurrPcieLinkGeneration", NUMBER, 1, 0, NULL},
    {"pcie_generation_max", "nvmlDeviceGetMaxPcieLinkGeneration", NUMBER, 1, 0, NULL},
    {"pcie_width_now", "nvmlDeviceGetCurrPcieLinkWidth", NUMBER, 1, 0, NULL},
    {"pcie_width_max", "nvmlDeviceGetMaxPcieLinkWidth", NUMBER, 1, 0, NULL},
    {0},
};

static const struct query state_queries[] = {
    {"clock_sm_mhz", "nvmlDeviceGetClockInfo", CHOSEN, 1, NVML_CLOCK_SM, NULL},
    {"clock_memory_mhz", "nvmlDeviceGetClockInfo", CHOSEN, 1, NVML_CLOCK_MEM, NULL},
    {"temperature_c", "nvmlDeviceGetTemperature", CHOSEN, 1, NVML_TEMPERATURE_GPU, NULL},
    {"power_w", "nvmlDeviceGetPowerUsage", NUMBER, 1000, 0, NULL},
    {0},
};

// Calls the getter; TEXT's answer goes to TEXT, any other's to *NUMBER.
static bool ask(const struct session *session, const struct query *query, char *text, unsigned size, unsigned *number)
{
    union {
        nvmlReturn_t (*text)(nvmlDevice_t, char *, unsigned);
        nvmlReturn_t (*number)(nvmlDevice_t, unsigned *);
        nvmlReturn_t (*pair)(nvmlDevice_t, unsigned *, unsigned *);
        nvmlReturn_t (*chosen)(nvmlDevice_t, int, unsigned *);
    } get;
    if (!find(session, query->symbol, &get)) return false;
    unsigned pending;
    switch (query->shape) {
    case TEXT: return get.text(session->device, text, size) == 0;
    case NUMBER: return get.number(session->device, number) == 0;
    case PAIR: return get.pair(session->device, number, &pending) == 0;
    case CHOSEN: return get.chosen(session->device, query->choice, number) == 0;
    }
    return false;
}

static const char *word(const char *const *words, unsigned number)
{
    while (*words && number--) words++;
    return *words;
}

static void tell_all(const struct session *session, const struct query *query, const char *prefix,
                     gpu_fact_function *emit, void *context)
{
    for (; query->key; query++) {
        char key[64], text[128] = "";
        unsigned number = 0;
        if (!ask(session, query, text, sizeof text, &number)) continue;
        const char *value = query->words ? word(query->words, number) : text;
        if (!query->words && query->shape != TEXT)
            snprintf(text, sizeof text, "%u", (number + query->divisor / 2) / query->divisor);
        snprintf(key, sizeof key, "%s%s", prefix, query->key);
        if (value && *value) emit(context, key, value);
    }
}

static void tell_versions(const struct session *session, gpu_fact_function *emit, void *context)
{
    nvmlReturn_t (*driver)(char *, unsigned), (*cuda)(int *);
    char text[80];
    int version;
    if (find(session, "nvmlSystemGetDriverVersion", &driver) && driver(text, sizeof text) == 0)
        emit(context, "driver_version", text);
    if (!find(session, "nvmlSystemGetCudaDriverVersion_v2", &cuda) || cuda(&version) != 0) return;
    snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
    emit(context, "cuda_driver_version", text);
}

// In another PID namespace than the driver's, this process is not recognised: ask before it has a context.
static void tell_processes(const struct session *session, gpu_fact_function *emit, void *context)
{
    nvmlReturn_t (*list)(nvmlDevice_t, unsigned *, struct nvml_process *);
    struct nvml_process processes[256];
    unsigned count = sizeof processes / sizeof *processes, others = 0;
    if (!find(session, "nvmlDeviceGetComputeRunningProcesses_v3", &list)) return;
    if (list(session->device, &count, processes) != 0) return;
    for (unsigned i = 0; i < count; i++) others += processes[i].pid != (unsigned)getpid();
    char text[16];
    snprintf(text, sizeof text, "%u", others);
    emit(context, "other_processes", text);
}

static bool mps_server_runs(void)
{
    DIR *processes = opendir("/proc");
    if (!processes) return false;
    bool runs = false;
    for (struct dirent *entry; !runs && (entry = readdir(processes));) {
        char path[300], command[256];
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name); // comm is cut at 15 letters: too short
        if (!isdigit((unsigned char)entry->d_name[0]) || !sysfs_read(path, command, sizeof command)) continue;
        const char *slash = strrchr(command, '/');
        runs = !strcmp(slash ? slash + 1 : command, "nvidia-cuda-mps-server");
    }
    closedir(processes);
    return runs;
}

// The pipe decides, even if the daemon runs in another container.
bool nvml_mps_client(void)
{
    const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    char path[4096];
    snprintf(path, sizeof path, "%s/control", folder ? folder : "/tmp/nvidia-mps");
    return access(path, F_OK) == 0;
}

static void tell_mps(gpu_fact_function *emit, void *context)
{
    emit(context, "mps", mps_server_runs() ? "yes (server process)" : nvml_mps_client() ? "yes (control pipe)" : "no");
}

void nvml_facts(const char *pci_bus_id, gpu_fact_function *emit, void *context)
{
    struct session session;
    tell_mps(emit, context);
    if (!session_begin(&session, pci_bus_id)) return;
    tell_versions(&session, emit, context);
    tell_all(&session, fact_queries, "", emit, context);
    tell_processes(&session, emit, context);
    session_end(&session);
}

// Names the reasons, from the lowest bit; true if heat or power is among them.
static bool name_reasons(unsigned long long reasons, char *text, size_t size)
{
    static const struct {
        const char *word;
        bool throttles;
    } bits[] = {
        {"gpu_idle", false},           {"applications_clocks_setting", false},
        {"sw_power_cap", true},        {"hw_slowdown", true},
        {"sync_boost", false},         {"sw_thermal_slowdown", true},
        {"hw_thermal_slowdown", true}, {"hw_power_brake_slowdown", true},
        {"display_clock_setting", false},
    };
    enum { KNOWN = sizeof bits / sizeof *bits };
    bool throttles = false;
    size_t used = 0;
    text[0] = '\0';
    for (unsigned bit = 0; bit < KNOWN; bit++) {
        if (!(reasons >> bit & 1)) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "+" : "", bits[bit].word);
        throttles |= bits[bit].throttles;
    }
    if (reasons >> KNOWN) snprintf(text + used, size - used, "%sother", used ? "+" : "");
    else if (!reasons) snprintf(text, size, "none");
    return throttles;
}

void nvml_state(const char *pci_bus_id, const char *prefix, gpu_fact_function *emit, void *context, bool *throttled)
{
    struct session session;
    char text[256], key[64];
    *throttled = false;
    if (!session_begin(&session, pci_bus_id)) return;
    snprintf(key, sizeof key, "%s_", prefix);
    tell_all(&session, state_queries, key, emit, context);

    nvmlReturn_t (*get)(nvmlDevice_t, unsigned long long *);
    unsigned long long reasons;
    bool found = find(&session, "nvmlDeviceGetCurrentClocksEventReasons", &get) || // its name since driver 535
                 find(&session, "nvmlDeviceGetCurrentClocksThrottleReasons", &get);
    if (found && get(session.device, &reasons) == 0) {
        *throttled = name_reasons(reasons, text, sizeof text);
        snprintf(key, sizeof key, "%s_throttle_reasons", prefix);
        emit(context, key, text);
    }
    session_end(&session);
}
