// SPDX-License-Identifier: Apache-2.0
// Tests what NVIDIA's management library tells, with a stand-in for it: fake/libnvidia-ml.so.1 beside this program.
#include "backends/cuda/nvml.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/scratch.h"

#define BUS "0000:06:00.0"

static char told[4096]; // "key=value\n" of each fact
static unsigned long long *reasons;
static int *sessions;

static void hear(void *context, const char *key, const char *value)
{
    (void)context;
    size_t used = strlen(told);
    snprintf(told + used, sizeof told - used, "%s=%s\n", key, value);
}

static void expect_fact(const char *fact)
{
    char line[256];
    snprintf(line, sizeof line, "%s\n", fact);
    const char *found = strstr(told, line);
    if (!found || (found != told && found[-1] != '\n')) fail_msg("\"%s\" is not among:\n%s", fact, told);
}

static void facts_of(const char *bus)
{
    told[0] = '\0';
    nvml_facts(bus, hear, NULL);
}

static bool state_with(unsigned long long bits)
{
    bool throttled = true;
    told[0] = '\0';
    *reasons = bits;
    nvml_state(BUS, "begin", hear, NULL, &throttled);
    return throttled;
}

static void tells_every_fact(void **state)
{
    (void)state;
    static const char *const facts[] = {"driver_version=580.159.04",
                                        "cuda_driver_version=13.0",
                                        "device_serial=1650000000001",
                                        "device_uuid=GPU-00000000-1111-2222-3333-444444444444",
                                        "vbios=96.00.CF.00.01",
                                        "power_limit_w=700",
                                        "power_limit_default_w=700",
                                        "clock_sm_max_mhz=1980",
                                        "clock_memory_max_mhz=3201",
                                        "ecc=enabled",
                                        "persistence=enabled",
                                        "compute_mode=exclusive_process",
                                        "pcie_generation_now=5",
                                        "pcie_generation_max=5",
                                        "pcie_width_now=8",
                                        "pcie_width_max=16",
                                        "other_processes=2"};
    facts_of(BUS);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) expect_fact(facts[i]);
    assert_int_equal(*sessions, 0);
}

static void does_not_tell_what_is_missing(void **state)
{
    (void)state;
    facts_of(BUS);
    assert_null(strstr(told, "virtualization=")); // the stand-in lacks the symbol
    assert_null(strstr(told, "mig="));            // and answers an error here
}

static void tells_nothing_of_an_unknown_device(void **state)
{
    (void)state;
    bool throttled = true;
    facts_of("0000:07:00.0");
    assert_ptr_equal(strstr(told, "mps="), told);
    assert_ptr_equal(strchr(told, '\n'), told + strlen(told) - 1);
    told[0] = '\0';
    nvml_state("0000:07:00.0", "begin", hear, NULL, &throttled);
    assert_string_equal(told, "");
    assert_false(throttled);
    assert_int_equal(*sessions, 0);
}

static void finds_mps_by_its_control_pipe(void **state)
{
    (void)state;
    struct scratch folder;
    char pipe[320];
    assert_int_equal(scratch_make(&folder), GPU_OK);
    snprintf(pipe, sizeof pipe, "%s/control", folder.path);
    assert_int_equal(setenv("CUDA_MPS_PIPE_DIRECTORY", folder.path, 1), 0);
    facts_of(BUS);
    bool server = strstr(told, "mps=yes (server process)") != NULL; // a real one, on this machine
    if (!server) expect_fact("mps=no");
    assert_false(nvml_mps_client());
    assert_int_equal(close(creat(pipe, 0600)), 0);
    facts_of(BUS);
    if (!server) expect_fact("mps=yes (control pipe)");
    assert_true(nvml_mps_client());
    assert_int_equal(unlink(pipe), 0);
    assert_int_equal(rmdir(folder.path), 0);
    assert_int_equal(unsetenv("CUDA_MPS_PIPE_DIRECTORY"), 0);
}

static void tells_the_state(void **state)
{
    (void)state;
    assert_false(state_with(0));
    assert_string_equal(told, "begin_clock_sm_mhz=345\nbegin_clock_memory_mhz=2619\nbegin_temperature_c=31\n"
                              "begin_power_w=123\nbegin_throttle_reasons=none\n");
    assert_int_equal(*sessions, 0);
}

static void knows_which_reasons_throttle(void **state)
{
    (void)state;
    static const struct {
        unsigned long long bit;
        const char *word;
        bool throttles;
    } bits[] = {
        {0x1, "gpu_idle", false},
        {0x2, "applications_clocks_setting", false},
        {0x4, "sw_power_cap", true},
        {0x8, "hw_slowdown", true},
        {0x10, "sync_boost", false},
        {0x20, "sw_thermal_slowdown", true},
        {0x40, "hw_thermal_slowdown", true},
        {0x80, "hw_power_brake_slowdown", true},
        {0x100, "display_clock_setting", false},
        {0x200, "other", false},
        {1ull << 63, "other", false},
    };
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        char fact[64];
        snprintf(fact, sizeof fact, "begin_throttle_reasons=%s", bits[i].word);
        assert_int_equal(state_with(bits[i].bit), bits[i].throttles);
        expect_fact(fact);
    }
    assert_true(state_with(0x5));
    expect_fact("begin_throttle_reasons=gpu_idle+sw_power_cap");
    assert_true(state_with(~0ull));
    assert_non_null(strstr(told, "+display_clock_setting+other\n"));
}

// In a process of its own: once the stand-in is loaded, it stays.
static void lives_without_the_library(void)
{
    facts_of("ffff:1f:1f.7");
    bool throttled = true, only_mps = strstr(told, "mps=") == told && strchr(told, '\n') == told + strlen(told) - 1;
    told[0] = '\0';
    nvml_state("ffff:1f:1f.7", "begin", hear, NULL, &throttled);
    _exit(only_mps && told[0] == '\0' && !throttled ? 0 : 1);
}

static void survives_a_missing_library(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) lives_without_the_library();
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

// nvml.c asks for the library by its name, and the loader gives what is already loaded under it.
static int load_fake(void **state)
{
    (void)state;
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
    if (length <= 0) return -1;
    path[length] = '\0';
    strcpy(strrchr(path, '/'), "/fake/libnvidia-ml.so.1");
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
    reasons = dlsym(library, "fake_nvml_reasons");
    sessions = dlsym(library, "fake_nvml_sessions");
    return reasons && sessions ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest without[] = {cmocka_unit_test(survives_a_missing_library)};
    const struct CMUnitTest with[] = {
        cmocka_unit_test(tells_every_fact),
        cmocka_unit_test(does_not_tell_what_is_missing),
        cmocka_unit_test(tells_nothing_of_an_unknown_device),
        cmocka_unit_test(finds_mps_by_its_control_pipe),
        cmocka_unit_test(tells_the_state),
        cmocka_unit_test(knows_which_reasons_throttle),
    };
    int failed = cmocka_run_group_tests(without, NULL, NULL);
    return cmocka_run_group_tests(with, load_fake, NULL) || failed;
}
