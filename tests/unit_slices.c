// SPDX-License-Identifier: Apache-2.0
// The arithmetic of slices, held against timelines that are made up slice by slice.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/slices.h"

static struct slices_account account;

#define TRACK(name) ((struct slices_track){name, sizeof name / sizeof *name})
#define COUNT(...)                                                                                                     \
    slices_count((struct slices_track[]){__VA_ARGS__},                                                                 \
                 sizeof((struct slices_track[]){__VA_ARGS__}) / sizeof(struct slices_track), &account)

static void assert_near(double value, double expected)
{
    assert_true(value > expected - 1e-6 && value < expected + 1e-6);
}

// Two in turn: 2000 each, 100 between; the first is alone for 500 at the beginning.
static void test_two_in_turn(void **state)
{
    (void)state;
    static const struct slice a[] = {{1000, 1500}, {3700, 5700}, {7900, 9900}, {12100, 12600}};
    static const struct slice b[] = {{1600, 3600}, {5800, 7800}, {10000, 12000}, {12700, 12800}};
    COUNT(TRACK(a), TRACK(b));
    // From b's first begin to a's last end: three whole slices of b, two of a, 500 of a, and five times 100 between.
    assert_near(account.span, 12600 - 1600);
    assert_near(account.running, 5 * 2000 + 500);
    assert_near(account.between, 500);
    assert_int_equal(account.switches, 5); // not the one that ends where the span begins
    for (unsigned i = 0; i < account.switches; i++) assert_near(account.switch_time[i], 100);
    assert_int_equal(account.overlaps, 0);
    assert_int_equal(account.slices, 4); // b's first begins with the span, a's last ends with the work
    for (unsigned i = 0; i < account.slices; i++) assert_near(account.slice[i], 2000);
}

// What nobody had is in no sum: the first pauses, and comes back without another's turn.
static void test_a_pause_is_missed(void **state)
{
    (void)state;
    static const struct slice a[] = {{0, 100}, {210, 300}, {400, 500}, {610, 700}};
    static const struct slice b[] = {{110, 200}, {510, 600}, {710, 720}};
    COUNT(TRACK(a), TRACK(b));
    assert_near(account.span, 700 - 110);
    assert_near(account.running, 90 + 90 + 100 + 90 + 90);
    assert_near((account.running + account.between) / account.span, (460. + 10 * 3) / 590);
}

static void test_at_the_same_time(void **state)
{
    (void)state;
    static const struct slice a[] = {{100, 1100}}, b[] = {{200, 1300}};
    COUNT(TRACK(a), TRACK(b));
    assert_near(account.span, 900);
    assert_near(account.running, 1800);
    assert_int_equal(account.switches, 0);
    assert_int_equal(account.overlaps, 1);
    assert_int_equal(account.slices, 0);
}

static void test_one_after_the_other(void **state)
{
    (void)state;
    static const struct slice a[] = {{100, 200}}, b[] = {{300, 400}};
    COUNT(TRACK(a), TRACK(b));
    assert_true(account.span <= 0);
    assert_int_equal(account.slices + account.switches, 0);
}

static void test_three(void **state)
{
    (void)state;
    static const struct slice a[] = {{0, 10}, {36, 46}, {72, 82}}, b[] = {{12, 22}, {48, 58}, {84, 94}},
                              c[] = {{24, 34}, {60, 70}, {96, 99}};
    COUNT(TRACK(c), TRACK(a), TRACK(b));
    assert_near(account.span, 82 - 24);
    assert_near(account.running, 5 * 10);
    assert_int_equal(account.slices, 3);
    assert_int_equal(account.switches, 4);
    assert_near(account.between, 4 * 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_in_turn),
        cmocka_unit_test(test_a_pause_is_missed),
        cmocka_unit_test(test_at_the_same_time),
        cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_three),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
