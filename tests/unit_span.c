// SPDX-License-Identifier: Apache-2.0
// Spans of time, by hand: how far two overlap, which begins later, and how many there are at once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/span.h"

static void test_overlap(void **state)
{
    (void)state;
    const struct span whole = {100, 200}, later = {150, 350}, within = {120, 140}, after = {200, 300},
                      none = {150, 150};
    assert_true(span_overlap_ratio(&whole, &whole) == 1);
    assert_true(span_overlap_ratio(&whole, &later) == 0.5);
    assert_true(span_overlap_ratio(&later, &whole) == 0.5);
    assert_true(span_overlap_ratio(&whole, &within) == 1);
    assert_true(span_overlap_ratio(&whole, &after) == 0);
    assert_true(span_overlap_ratio(&after, &within) == 0);
    assert_true(span_overlap_ratio(&whole, &none) == 0);
}

static void test_begins(void **state)
{
    (void)state;
    const struct span first = {100, 200}, second = {130, 150};
    assert_int_equal(span_begins_apart(&first, &second), 30);
    assert_int_equal(span_begins_apart(&second, &first), 30);
    assert_int_equal(span_begins_apart(&first, &first), 0);
}

static void test_concurrent(void **state)
{
    (void)state;
    const struct span spans[] = {{100, 200}, {200, 300}, {150, 250}, {240, 260}, {400, 500}};
    assert_int_equal(span_concurrent(spans, 1), 1);
    assert_int_equal(span_concurrent(spans, 2), 1); // one after the other
    assert_int_equal(span_concurrent(spans, 3), 2);
    assert_int_equal(span_concurrent(spans, 4), 3);
    assert_int_equal(span_concurrent(spans, 5), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_overlap), cmocka_unit_test(test_begins),
                                       cmocka_unit_test(test_concurrent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
