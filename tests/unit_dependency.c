// SPDX-License-Identifier: Apache-2.0
// Stamps of kernels in a chain, by hand: the gap and the overlap, of one block and of several, and a wrong order.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/dependency.h"

// NEXT(0) … NEXT(NEXT(NEXT(0))), worked out by hand modulo 2^64.
static const uint64_t values[] = {1442695040888963407u, 1876011003808476466u, 11166244414315200793u};

static void test_values(void **state)
{
    (void)state;
    uint64_t value = 0;
    for (unsigned i = 0; i < 3; i++) {
        value = DEPENDENT_NEXT(value);
        assert_true(value == values[i]);
    }
}

static void test_one_after_another(void **state)
{
    (void)state;
    const struct dependent_stamp producer = {100, 100, 200, values[0], 1}, consumer = {230, 240, 300, values[1], 2};
    const struct dependency found = dependency_between(&producer, &consumer, 1);
    assert_int_equal(found.gap, 40);
    assert_int_equal(found.overlap, -30);
    assert_int_equal(found.period, 130);
    assert_int_equal(found.broken, 0);
}

static void test_overlap(void **state)
{
    (void)state;
    const struct dependent_stamp producer = {100, 100, 200, values[0], 1}, waits = {120, 210, 300, values[1], 2},
                                 runs = {120, 120, 190, values[2], 2};
    struct dependency found = dependency_between(&producer, &waits, 1);
    assert_int_equal(found.gap, 10);
    assert_int_equal(found.overlap, 80);
    assert_int_equal(found.period, 20);
    assert_int_equal(found.broken, 0);

    found = dependency_between(&producer, &runs, 1);
    assert_int_equal(found.gap, -80);
    assert_int_equal(found.overlap, 80);
    assert_int_equal(found.broken, 1);
}

// The first begin, the first past its wait and the last end are three blocks'. Block b reads what block b + 1 left.
static void test_blocks(void **state)
{
    (void)state;
    const struct dependent_stamp producer[] = {
        {103, 103, 190, 0, 1}, {100, 100, 205, values[0], 1}, {101, 101, 200, values[1], 1}};
    struct dependent_stamp consumer[] = {
        {160, 220, 300, values[1], 2}, {150, 218, 305, values[2], 2}, {155, 215, 310, values[0], 2}};
    struct dependency found = dependency_between(producer, consumer, 3);
    assert_int_equal(found.gap, 10);
    assert_int_equal(found.overlap, 55);
    assert_int_equal(found.period, 50);
    assert_int_equal(found.broken, 0);

    consumer[2].value = values[1]; // it read the value of a block that is not its own
    consumer[0].value = values[0]; // it read what was there before
    found = dependency_between(producer, consumer, 3);
    assert_int_equal(found.broken, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_one_after_another),
                                       cmocka_unit_test(test_overlap), cmocka_unit_test(test_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
