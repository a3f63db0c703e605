// SPDX-License-Identifier: Apache-2.0
// Tests the host's facts: true in any container, as any user, never "unknown", and nothing private where that is asked.
#include "common/facts.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

enum { FACTS_MAX = 64 };

static struct {
    char key[64], value[2048];
} facts[FACTS_MAX];
static unsigned fact_count;
static char context_token;

static void hear(void *context, const char *key, const char *value)
{
    assert_ptr_equal(context, &context_token);
    assert_true(fact_count < FACTS_MAX);
    snprintf(facts[fact_count].key, sizeof facts->key, "%s", key);
    snprintf(facts[fact_count++].value, sizeof facts->value, "%s", value);
}

static const char *fact(const char *key)
{
    for (unsigned i = 0; i < fact_count; i++)
        if (!strcmp(facts[i].key, key)) return facts[i].value;
    return NULL;
}

static void collect(bool anonymous, const char *const *environment)
{
    fact_count = 0;
    facts_host(anonymous, environment, hear, &context_token);
}

static void tells_what_every_linux_knows(void **state)
{
    (void)state;
    struct utsname system;
    assert_int_equal(uname(&system), 0);
    collect(false, NULL);
    assert_string_equal(fact("host"), system.nodename);
    assert_string_equal(fact("machine"), system.machine);
    assert_non_null(strstr(fact("kernel"), system.release));
    assert_string_equal(fact("privileged"), geteuid() == 0 ? "yes" : "no");
    assert_non_null(fact("hwloc_version"));
    assert_true(atol(fact("cpu_threads")) >= 1);
    assert_true(atol(fact("numa_nodes")) >= 1);
    assert_true(strtoull(fact("memory_bytes"), NULL, 10) > 1 << 20);
}

static void keys_are_words_and_values_are_known(void **state)
{
    (void)state;
    collect(false, NULL);
    for (unsigned i = 0; i < fact_count; i++) {
        assert_int_equal(strspn(facts[i].key, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(facts[i].key));
        assert_true(facts[i].value[0] != '\0');
        assert_null(strchr(facts[i].value, '\n'));
        assert_int_not_equal(strcasecmp(facts[i].value, "unknown"), 0);
        for (unsigned j = 0; j < i; j++) assert_string_not_equal(facts[i].key, facts[j].key);
    }
}

static void switches_and_numbers_are_well_formed(void **state)
{
    (void)state;
    unsigned whole, hundredths;
    int end = 0;
    collect(false, NULL);
    const char *smt = fact("smt"), *turbo = fact("cpu_turbo"), *limit = fact("cgroup_cpus");
    if (smt) assert_true(!strcmp(smt, "on") || !strcmp(smt, "off"));
    if (turbo) assert_true(!strcmp(turbo, "on") || !strcmp(turbo, "off"));
    if (limit) assert_int_equal(sscanf(limit, "%u.%2u", &whole, &hundredths), 2);
    assert_int_equal(sscanf(fact("load_average"), "%*u.%*2u %*u.%*2u %*u.%*2u%n", &end), 0);
    assert_int_equal(fact("load_average")[end], '\0');
    const char *mitigations = fact("mitigations");
    if (mitigations) assert_non_null(strchr(mitigations, '='));
}

static void tells_the_environment_that_is_set(void **state)
{
    (void)state;
    static const char *const names[] = {"LIFTOFF_SET", "LIFTOFF_EMPTY", "LIFTOFF_UNSET", NULL};
    setenv("LIFTOFF_SET", "lazy", 1);
    setenv("LIFTOFF_EMPTY", "", 1);
    unsetenv("LIFTOFF_UNSET");
    collect(false, names);
    assert_string_equal(fact("env_LIFTOFF_SET"), "lazy");
    assert_string_equal(fact("env_LIFTOFF_EMPTY"), "");
    assert_null(fact("env_LIFTOFF_UNSET"));
}

static void anonymous_hides_host_paths_and_identities(void **state)
{
    (void)state;
    static const char *const names[] = {"LIFTOFF_PATH", "LIFTOFF_UUID", "LIFTOFF_NUMBER", "LIFTOFF_INDEX", NULL};
    setenv("LIFTOFF_PATH", "/home/someone/libinject.so", 1);
    setenv("LIFTOFF_UUID", "GPU-00000000-1111", 1);
    setenv("LIFTOFF_NUMBER", "-1", 1);
    setenv("LIFTOFF_INDEX", "0,1", 1);
    collect(true, names);
    assert_null(fact("host"));
    assert_string_equal(fact("env_LIFTOFF_PATH"), "(withheld)");
    assert_string_equal(fact("env_LIFTOFF_UUID"), "(withheld)");
    assert_string_equal(fact("env_LIFTOFF_NUMBER"), "-1");
    assert_string_equal(fact("env_LIFTOFF_INDEX"), "0,1");
    collect(false, names);
    assert_string_equal(fact("env_LIFTOFF_PATH"), "/home/someone/libinject.so");
}

static void another_machines_topology_is_not_told(void **state)
{
    (void)state;
    setenv("HWLOC_SYNTHETIC", "pack:2 core:4 pu:2", 1);
    collect(false, NULL);
    unsetenv("HWLOC_SYNTHETIC");
    assert_null(fact("cpu_threads"));
    assert_string_equal(fact("cpu_model"), "unknown"); // every file has one
    assert_non_null(fact("kernel"));
}

static void of_no_pci_device_nothing_is_told(void **state)
{
    (void)state;
    static const char *const none[] = {"ffff:1f:1f.7", "", "no bus id", NULL};
    fact_count = 0;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) facts_pci(none[i], hear, &context_token);
    assert_int_equal(fact_count, 0);
}

static void tells_of_the_first_pci_device(void **state)
{
    (void)state;
    glob_t devices;
    if (glob("/sys/bus/pci/devices/*/local_cpulist", 0, NULL, &devices)) skip(); // a machine without PCI
    char bus[32], capitals[40];
    assert_int_equal(sscanf(devices.gl_pathv[0], "/sys/bus/pci/devices/%31[^/]", bus), 1);
    globfree(&devices);
    fact_count = 0;
    facts_pci(bus, hear, &context_token);
    unsigned count = fact_count;
    assert_non_null(fact("pci_local_cpus"));
    for (unsigned i = 0; i < fact_count; i++) assert_null(strstr(facts[i].value, "Unknown"));
    if (fact("pci_numa_node")) assert_string_not_equal(fact("pci_numa_node"), "-1");
    snprintf(capitals, sizeof capitals, "0000%s", bus); // as some libraries write the domain
    for (char *c = capitals; *c; c++)
        if (*c >= 'a' && *c <= 'f') *c = (char)(*c - 'a' + 'A');
    facts_pci(capitals, hear, &context_token);
    assert_int_equal(fact_count, 2 * count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_every_linux_knows),
        cmocka_unit_test(keys_are_words_and_values_are_known),
        cmocka_unit_test(switches_and_numbers_are_well_formed),
        cmocka_unit_test(tells_the_environment_that_is_set),
        cmocka_unit_test(anonymous_hides_host_paths_and_identities),
        cmocka_unit_test(another_machines_topology_is_not_told),
        cmocka_unit_test(of_no_pci_device_nothing_is_told),
        cmocka_unit_test(tells_of_the_first_pci_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
