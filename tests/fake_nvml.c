// SPDX-License-Identifier: Apache-2.0
// Stands in for NVIDIA's management library: one H200 at 0000:06:00.0. It lacks nvmlDeviceGetVirtualizationMode and the
// newer name of the clock reasons, as an old driver does, and its MIG mode is "not supported".
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };

// What a test sets and reads.
unsigned long long fake_nvml_reasons;
int fake_nvml_sessions; // begun and not ended

struct nvmlDevice_st {
    int dummy;
};
static struct nvmlDevice_st h200;

struct process {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
};

#define DEVICE struct nvmlDevice_st *device
#define GETTER(name, value)                                                                                            \
    int name(DEVICE, unsigned *to);                                                                                    \
    int name(DEVICE, unsigned *to)                                                                                     \
    {                                                                                                                  \
        *to = (value);                                                                                                 \
        return device == &h200 && fake_nvml_sessions > 0 ? SUCCESS : INVALID_ARGUMENT;                                 \
    }
#define TEXT_GETTER(name, text)                                                                                        \
    int name(DEVICE, char *to, unsigned size);                                                                         \
    int name(DEVICE, char *to, unsigned size)                                                                          \
    {                                                                                                                  \
        snprintf(to, size, "%s", text);                                                                                \
        return device == &h200 ? SUCCESS : INVALID_ARGUMENT;                                                           \
    }
// CLOCK or SENSOR numbers as the library's header has them: SM is 1, memory 2, the GPU's sensor 0.
#define CHOICE_GETTER(name, zero, one, two)                                                                            \
    int name(DEVICE, int choice, unsigned *to);                                                                        \
    int name(DEVICE, int choice, unsigned *to)                                                                         \
    {                                                                                                                  \
        *to = choice == 0 ? (zero) : choice == 1 ? (one) : (two);                                                      \
        return device == &h200 && choice >= 0 && choice <= 2 ? SUCCESS : INVALID_ARGUMENT;                             \
    }

TEXT_GETTER(nvmlDeviceGetSerial, "1650000000001")
TEXT_GETTER(nvmlDeviceGetUUID, "GPU-00000000-1111-2222-3333-444444444444")
TEXT_GETTER(nvmlDeviceGetVbiosVersion, "96.00.CF.00.01")
GETTER(nvmlDeviceGetEnforcedPowerLimit, 699600)
GETTER(nvmlDeviceGetPowerManagementDefaultLimit, 700000)
GETTER(nvmlDeviceGetPersistenceMode, 1)
GETTER(nvmlDeviceGetComputeMode, 3)
GETTER(nvmlDeviceGetCurrPcieLinkGeneration, 5)
GETTER(nvmlDeviceGetMaxPcieLinkGeneration, 5)
GETTER(nvmlDeviceGetCurrPcieLinkWidth, 8)
GETTER(nvmlDeviceGetMaxPcieLinkWidth, 16)
GETTER(nvmlDeviceGetPowerUsage, 123456)
CHOICE_GETTER(nvmlDeviceGetMaxClockInfo, 1981, 1980, 3201)
CHOICE_GETTER(nvmlDeviceGetClockInfo, 346, 345, 2619)
CHOICE_GETTER(nvmlDeviceGetTemperature, 31, 99, 99)

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    fake_nvml_sessions++;
    return SUCCESS;
}

int nvmlShutdown(void);
int nvmlShutdown(void)
{
    fake_nvml_sessions--;
    return SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, struct nvmlDevice_st **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, struct nvmlDevice_st **device)
{
    *device = &h200;
    return strcmp(bus, "0000:06:00.0") == 0 ? SUCCESS : NOT_FOUND;
}

int nvmlSystemGetDriverVersion(char *to, unsigned size);
int nvmlSystemGetDriverVersion(char *to, unsigned size)
{
    snprintf(to, size, "580.159.04");
    return SUCCESS;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version);
int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = 13000;
    return SUCCESS;
}

int nvmlDeviceGetEccMode(DEVICE, unsigned *now, unsigned *pending);
int nvmlDeviceGetEccMode(DEVICE, unsigned *now, unsigned *pending)
{
    *now = 1;
    *pending = 0;
    return device == &h200 ? SUCCESS : INVALID_ARGUMENT;
}

int nvmlDeviceGetMigMode(DEVICE, unsigned *now, unsigned *pending);
int nvmlDeviceGetMigMode(DEVICE, unsigned *now, unsigned *pending)
{
    (void)device;
    *now = *pending = 1;
    return NOT_SUPPORTED;
}

// This process and two others.
int nvmlDeviceGetComputeRunningProcesses_v3(DEVICE, unsigned *count, struct process *processes);
int nvmlDeviceGetComputeRunningProcesses_v3(DEVICE, unsigned *count, struct process *processes)
{
    unsigned room = *count;
    *count = 3;
    if (device != &h200) return INVALID_ARGUMENT;
    if (room < 3) return INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < 3; i++) processes[i] = (struct process){.pid = (unsigned)getpid() + i};
    return SUCCESS;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(DEVICE, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(DEVICE, unsigned long long *reasons)
{
    *reasons = fake_nvml_reasons;
    return device == &h200 ? SUCCESS : INVALID_ARGUMENT;
}
