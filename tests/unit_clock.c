// SPDX-License-Identifier: Apache-2.0
// Holds common/clock.c against CLOCK_MONOTONIC_RAW, with the counter and with the fallback.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"

// A length on both clocks. Each moment is a bracket, so that a thread that loses its core falsifies nothing.
static void assert_same_length(void)
{
    uint64_t ns[4], ticks[2];
    for (int end = 0; end < 2; end++) {
        if (end) clock_spin_ns(20e6);
        ns[2 * end] = clock_gettime_ns();
        ticks[end] = clock_ticks();
        ns[2 * end + 1] = clock_gettime_ns();
    }
    double length = clock_ns(ticks[1] - ticks[0]);
    assert_true(length > (double)(ns[2] - ns[1]) * 0.999);
    assert_true(length < (double)(ns[3] - ns[0]) * 1.001);
}

static void test_calibration(void **state)
{
    (void)state;
    assert_true(clock_state.ns_per_tick > 0);
    assert_int_equal(clock_state.counter, strcmp(clock_source(), "clock_gettime") != 0);
    assert_same_length();
}

static void test_calibration_again(void **state)
{
    (void)state;
    double first = clock_state.ns_per_tick;
    clock_init();
    assert_true(clock_state.ns_per_tick > first * 0.99 && clock_state.ns_per_tick < first * 1.01);
    assert_same_length();
}

static void test_ticks_never_fall(void **state)
{
    (void)state;
    uint64_t last = clock_ticks();
    for (int i = 0; i < 100000; i++) {
        uint64_t now = clock_ticks();
        assert_true(now >= last);
        last = now;
    }
}

static void test_cost_and_resolution(void **state)
{
    (void)state;
    double cost = clock_cost_ns(), resolution = clock_resolution_ns();
    assert_true(cost >= 0);
    assert_true(resolution > 0);
    double steps = resolution / clock_state.ns_per_tick; // a whole number of ticks
    assert_true(steps > 0.999 && steps - (double)(uint64_t)(steps + 0.5) < 1e-6);
    if (clock_state.counter && cost > 0) assert_true(resolution <= cost);
}

static void test_spin(void **state)
{
    (void)state;
    uint64_t begin = clock_gettime_ns();
    clock_spin_ns(3e6);
    assert_true((double)(clock_gettime_ns() - begin) > 3e6 * 0.999);
    clock_spin_ns(0);
}

// In a process of its own, because a process chooses its clock once.
static void test_fallback(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("LIFTOFF_CLOCK", "gettime", 1);
        clock_state = (struct clock_state){0};
        clock_init();
        uint64_t before = clock_gettime_ns(), ticks = clock_ticks(), after = clock_gettime_ns();
        bool good = !clock_state.counter && clock_state.ns_per_tick == 1 && !strcmp(clock_source(), "clock_gettime") &&
                    before <= ticks && ticks <= after && clock_cost_ns() >= 0 && clock_resolution_ns() >= 1;
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    clock_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calibration),         cmocka_unit_test(test_calibration_again),
        cmocka_unit_test(test_ticks_never_fall),    cmocka_unit_test(test_cost_and_resolution),
        cmocka_unit_test(test_spin),                cmocka_unit_test(test_fallback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
