// SPDX-License-Identifier: Apache-2.0
// Tests where threads are put: the choice on topologies that are made up, the binding on this machine.
#include "common/pin.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/pin_choice.h"

#define TWO_PACKAGES "pack:2 numa:1 core:4 pu:2" // package 0 has PUs 0-7, package 1 has 8-15; core C has 2C and 2C+1

static hwloc_topology_t topology;

static void make(const char *synthetic)
{
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, synthetic), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
}

// A list as in taskset -c; the caller frees it.
static hwloc_cpuset_t cpus(const char *list)
{
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    assert_non_null(set);
    assert_int_equal(hwloc_bitmap_list_sscanf(set, list), 0);
    return set;
}

static int chosen(const char *may_use, const char *locality)
{
    hwloc_cpuset_t a = cpus(may_use), l = cpus(locality);
    int pu = pin_choose(topology, a, l);
    assert_int_equal(pin_choose(topology, a, l), pu);
    hwloc_bitmap_free(a);
    hwloc_bitmap_free(l);
    return pu;
}

static int worker(const char *may_use, unsigned index, int avoid)
{
    hwloc_cpuset_t a = cpus(may_use);
    int pu = pin_choose_worker(topology, a, index, avoid);
    hwloc_bitmap_free(a);
    return pu;
}

static void chooses_the_first_pu_of_a_near_core_but_not_core_0(void **state)
{
    (void)state;
    make(TWO_PACKAGES);
    assert_int_equal(chosen("0-15", "0-15"), 2);
    assert_int_equal(chosen("0-15", "0-7"), 2);
    assert_int_equal(chosen("0-15", "8-15"), 8);
    assert_int_equal(chosen("1-15", "0-7"), 2); // core 0 is core 0 even where PU 0 itself is hidden
    assert_int_equal(chosen("5,13", "8-15"), 13);
    hwloc_topology_destroy(topology);
}

static void keeps_to_what_is_allowed(void **state)
{
    (void)state;
    make(TWO_PACKAGES);
    assert_int_equal(chosen("4-5", "8-15"), 4);  // nothing near is allowed
    assert_int_equal(chosen("0-1,8", "0-7"), 0); // the locality is worth more than another core than 0
    assert_int_equal(chosen("0,9", "12-15"), 9);
    assert_int_equal(chosen("1", "0-15"), 1);
    hwloc_topology_destroy(topology);
}

static void finds_the_sibling(void **state)
{
    (void)state;
    make(TWO_PACKAGES);
    hwloc_cpuset_t all = cpus("0-15"), some = cpus("0,2-15");
    assert_int_equal(pin_choose_sibling(topology, all, 0), 1);
    assert_int_equal(pin_choose_sibling(topology, all, 13), 12);
    assert_int_equal(pin_choose_sibling(topology, some, 0), -1); // it may not be used
    assert_int_equal(pin_choose_sibling(topology, all, -1), -1);
    hwloc_topology_destroy(topology);
    make("core:4 pu:1");
    assert_int_equal(pin_choose_sibling(topology, all, 2), -1);
    hwloc_topology_destroy(topology);
    hwloc_bitmap_free(all);
    hwloc_bitmap_free(some);
}

static void finds_nodes_that_may_be_used(void **state)
{
    (void)state;
    make(TWO_PACKAGES);
    hwloc_cpuset_t all = cpus("0-15"), second = cpus("11-12"), first = cpus("0");
    assert_int_equal(pin_choose_node(topology, all, 0), 2); // not on core 0
    assert_int_equal(pin_choose_node(topology, all, 1), 8);
    assert_int_equal(pin_choose_node(topology, all, 2), -1);
    assert_int_equal(pin_choose_node(topology, second, 0), 11); // node 0 is none of this process's
    assert_int_equal(pin_choose_node(topology, second, 1), -1);
    assert_int_equal(pin_choose_node(topology, first, 0), 0);
    hwloc_topology_destroy(topology);
    hwloc_bitmap_free(all);
    hwloc_bitmap_free(second);
    hwloc_bitmap_free(first);
}

static void makes_do_with_one_core(void **state)
{
    (void)state;
    make("core:1 pu:2");
    assert_int_equal(chosen("0-1", "0-1"), 0);
    assert_int_equal(worker("0-1", 0, 0), 1);
    assert_int_equal(worker("0-1", 5, 0), 1);
    hwloc_topology_destroy(topology);
    make("core:1 pu:1");
    assert_int_equal(chosen("0", "0"), 0);
    assert_int_equal(worker("0", 0, 0), -1);
    assert_int_equal(worker("0", 0, -1), 0);
    hwloc_topology_destroy(topology);
}

static void counts_by_the_systems_numbers(void **state)
{
    (void)state;
    make("core:4 pu:2(indexes=0,4,1,5,2,6,3,7)"); // SMT siblings are C and C + 4, as on most servers
    assert_int_equal(hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, 1)->os_index, 4);
    assert_int_equal(chosen("0-7", "0-7"), 1);
    assert_int_equal(chosen("0,4-7", "0-7"), 5);
    assert_int_equal(worker("0-7", 6, 1), 5);
    hwloc_topology_destroy(topology);
}

static void workers_take_siblings_last(void **state)
{
    (void)state;
    static const int order[] = {0, 1, 4, 5, 6, 7, 3};
    make("core:4 pu:2");
    for (unsigned i = 0; i < 14; i++) assert_int_equal(worker("0-7", i, 2), order[i % 7]);
    assert_int_equal(worker("2-3,6", 0, 2), 6);
    assert_int_equal(worker("2-3,6", 1, 2), 3);
    assert_int_equal(worker("2-3,6", 2, 2), 6);
    assert_int_equal(worker("0-7", 2, -1), 2);
    assert_int_equal(worker("6-7", 1, 0), 7);
    hwloc_topology_destroy(topology);
}

// TWO_PACKAGES with a GPU at 0000:06:00.0 inside package 1.
static void make_with_device(void)
{
    static const char device[] = "<object type=\"PCIDev\" gp_index=\"1000\" pci_busid=\"0000:06:00.0\" "
                                 "pci_type=\"0302 [10de:2335] [10de:18be] a1\" pci_link_speed=\"0.000000\"/>\n";
    char *xml;
    int length;
    make(TWO_PACKAGES);
    assert_int_equal(hwloc_topology_export_xmlbuffer(topology, &xml, &length, 0), 0);
    hwloc_topology_t plain = topology;
    char *last = strstr(strstr(xml, "type=\"Package\"") + 1, "type=\"Package\"");
    for (char *end = last; (end = strstr(end + 1, "</object>"));)
        if (!strncmp(end + strlen("</object>"), "\n  </object>", strlen("\n  </object>"))) last = end;
    size_t room = (size_t)length + sizeof device;
    char *with = calloc(1, room);
    assert_non_null(with);
    int head = (int)(last - xml);
    snprintf(with, room, "%.*s%s%s", head, xml, device, last);
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL), 0);
    assert_int_equal(hwloc_topology_set_xmlbuffer(topology, with, (int)strlen(with) + 1), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    hwloc_free_xmlbuffer(plain, xml);
    hwloc_topology_destroy(plain);
    free(with);
}

static void knows_what_is_near_a_device(void **state)
{
    (void)state;
    make_with_device();
    hwloc_cpuset_t near = hwloc_bitmap_alloc();
    assert_true(pin_locality(topology, "0000:06:00.0", near));
    assert_int_equal(hwloc_bitmap_weight(near), 8);
    assert_int_equal(hwloc_bitmap_first(near), 8);
    assert_false(pin_locality(topology, "0000:07:00.0", near));
    assert_false(pin_locality(topology, "no bus id", near));
    assert_false(pin_locality(topology, NULL, near));
    hwloc_bitmap_free(near);
    hwloc_topology_destroy(topology);
}

// The rest binds threads of this machine. Each runs in a process of its own, because pin.c keeps what it saw first.
static void in_child(void (*test)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        test();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static int first_allowed(void)
{
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    for (int pu = 0; pu < CPU_SETSIZE; pu++)
        if (CPU_ISSET(pu, &set)) return pu;
    return -1;
}

static void restrict_to(int pu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(pu, &set);
    CHECK(sched_setaffinity(0, sizeof set, &set) == 0);
}

static void near_binds(void)
{
    struct pin_place place;
    unsigned count = pin_count();
    CHECK(pin_thread("near", NULL, &place) == NULL);
    CHECK(place.pu >= 0 && place.pu == sched_getcpu() && place.pu == pin_current());
    CHECK(pin_count() == count); // binding one thread takes nothing from the process
    struct pin_place again;
    CHECK(pin_thread("near", NULL, &again) == NULL && again.pu == place.pu && again.core == place.core);
}

static void restriction_is_kept(void)
{
    struct pin_place place;
    int only = first_allowed();
    restrict_to(only);
    CHECK(pin_count() == 1);
    CHECK(pin_thread("near", "0000:06:00.0", &place) == NULL && place.pu == only);
    CHECK(pin_worker(3, only) == -1);
    CHECK(pin_worker(3, -1) == only);
    char other[16];
    snprintf(other, sizeof other, "%d", only + 1);
    CHECK(pin_thread(other, NULL, &place) != NULL && place.pu == -1 && place.numa_node == -1 && place.core == -1);
}

static void named_pu_is_taken(void)
{
    static const char *const wrong[] = {"", "x", "-1", "1x", " 1", "+1", "999999", "99999999999999999999", "Near"};
    struct pin_place place;
    char name[16];
    int pu = first_allowed();
    snprintf(name, sizeof name, "%d", pu);
    CHECK(pin_thread(name, NULL, &place) == NULL && place.pu == pu && pin_current() == pu);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(pin_thread(wrong[i], NULL, &place) != NULL && place.pu == -1);
    CHECK(pin_current() == pu); // a failure moves nothing
}

static void none_binds_nothing(void)
{
    cpu_set_t before, after;
    struct pin_place place = {7, 7, 7};
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    CHECK(pin_thread("none", NULL, &place) == NULL);
    CHECK(place.pu == -1 && place.numa_node == -1 && place.core == -1);
    CHECK(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_EQUAL(&before, &after));
}

static void foreign_topology_is_refused(void)
{
    struct pin_place place;
    setenv("HWLOC_SYNTHETIC", TWO_PACKAGES, 1);
    CHECK(pin_thread("near", NULL, &place) != NULL && place.pu == -1);
    CHECK(pin_count() == 1 && pin_worker(0, -1) == -1 && pin_current() == -1 && pin_device_numa(NULL) == -1);
}

static void *work(void *index)
{
    int pu = pin_worker((unsigned)(uintptr_t)index, -1);
    CHECK(pu >= 0 && pin_current() == pu && sched_getcpu() == pu);
    return NULL;
}

static void threads_come_at_once(void)
{
    pthread_t threads[8];
    for (uintptr_t i = 0; i < 8; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (size_t i = 0; i < 8; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

static void binds_on_this_machine(void **state)
{
    (void)state;
    in_child(near_binds);
    in_child(restriction_is_kept);
    in_child(named_pu_is_taken);
    in_child(none_binds_nothing);
    in_child(foreign_topology_is_refused);
    in_child(threads_come_at_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chooses_the_first_pu_of_a_near_core_but_not_core_0),
        cmocka_unit_test(keeps_to_what_is_allowed),
        cmocka_unit_test(finds_the_sibling),
        cmocka_unit_test(finds_nodes_that_may_be_used),
        cmocka_unit_test(makes_do_with_one_core),
        cmocka_unit_test(counts_by_the_systems_numbers),
        cmocka_unit_test(workers_take_siblings_last),
        cmocka_unit_test(knows_what_is_near_a_device),
        cmocka_unit_test(binds_on_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
