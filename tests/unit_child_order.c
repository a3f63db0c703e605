// SPDX-License-Identifier: Apache-2.0
// Orders to children: what is written is what is read, and what is no order is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/child_order.h"

static struct child_order carried(const struct child_order *order)
{
    char text[CHILD_ORDER_BYTES];
    struct child_order read = {0};
    child_order_write(order, text);
    setenv(CHILD_VARIABLE, text, 1);
    assert_true(child_order_read(&read));
    assert_null(getenv(CHILD_VARIABLE)); // a child's own children are none by that
    return read;
}

static void test_an_order_comes_as_it_was(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    clock_init();
    struct child_order order = {.benchmark = "first_launch",
                                .pci_bus_id = "0000:06:00.0",
                                .device = 3,
                                .process = 4,
                                .processes = 6,
                                .to_parent = ends[1],
                                .from_parent = ends[0],
                                .probe = "lazy",
                                .pu = -1,
                                .member = 2,
                                .members = 3,
                                .shared = ends[0],
                                .clock = clock_state,
                                .asked_ticks = clock_ticks()};
    struct child_order read = carried(&order);
    assert_string_equal(read.benchmark, "first_launch");
    assert_string_equal(read.moment, "");
    assert_string_equal(read.pci_bus_id, "0000:06:00.0");
    assert_string_equal(read.probe, "lazy");
    assert_int_equal(read.device, 3);
    assert_int_equal(read.process, 4);
    assert_int_equal(read.processes, 6);
    assert_int_equal(read.to_parent, ends[1]);
    assert_int_equal(read.from_parent, ends[0]);
    assert_int_equal(read.pu, -1);
    assert_int_equal(read.member, 2);
    assert_int_equal(read.members, 3);
    assert_int_equal(read.shared, ends[0]);
    assert_true(read.asked_ticks == order.asked_ticks && read.entered_ticks >= order.asked_ticks);
    assert_true(read.clock.counter == clock_state.counter && read.clock.ns_per_tick == clock_state.ns_per_tick);
    close(ends[0]), close(ends[1]);
}

static void test_what_is_no_order_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "x", ",,,", "a,b,c,d", "a,b,c,d,1,2,3,4,5,6", "a,,,,1,1,1,x,1,1,1,0x1p0,1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct child_order read = {0};
        setenv(CHILD_VARIABLE, texts[i], 1);
        assert_false(child_order_read(&read));
    }
    struct child_order read = {0};
    unsetenv(CHILD_VARIABLE);
    assert_false(child_order_read(&read));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_order_comes_as_it_was),
        cmocka_unit_test(test_what_is_no_order_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
