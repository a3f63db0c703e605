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

// Two in turn: 2000 each, 100 between, but 300 before and 400 after the first slice of the last to come; the first is
// alone for 500 at the beginning.
static void test_two_in_turn(void **state)
{
    (void)state;
    static const struct slice a[] = {{1000, 1500}, {4200, 6200}, {8400, 10400}, {12600, 13100}};
    static const struct slice b[] = {{1800, 3800}, {6300, 8300}, {10500, 12500}, {13200, 13300}};
    COUNT(TRACK(a), TRACK(b));
    // From b's first begin to a's last end: three whole slices of b, two of a, 500 of a.
    assert_near(account.span, 13100 - 1800);
    assert_near(account.running, 5 * 2000 + 500);
    assert_int_equal(account.changes, 5);  // not the one that ends where the span begins
    assert_int_equal(account.switches, 4); // and not the one that ends the first slice of b
    for (unsigned i = 0; i < account.switches; i++) {
        assert_near(account.switch_time[i], 100);
        assert_near(account.turn_period[i], 2100);
    }
    assert_near(account.most_apart, 100);
    assert_near(slices_accounted(&account), (10500. + 5 * 100) / 11300);
    assert_int_equal(account.overlaps, 0);
    assert_int_equal(account.slices, 4); // b's first begins with the span, a's last ends with the work
    for (unsigned i = 0; i < account.slices; i++) assert_near(account.slice[i], 2000);
}

// The third has its turn behind each one of b's.
static void test_a_foreign_turn_is_missed(void **state)
{
    (void)state;
    static const struct slice a[] = {{0, 100}, {340, 440}, {680, 780}, {1020, 1120}};
    static const struct slice b[] = {{110, 210}, {450, 550}, {790, 890}, {1130, 1140}};
    COUNT(TRACK(a), TRACK(b));
    assert_near(account.span, 1120 - 110);
    assert_int_equal(account.switches, 4); // 10, 130, 10, 130
    assert_near(account.most_apart, 130);
    assert_near(account.typical_switch, 10);
    assert_near(slices_accounted(&account), (600. + 5 * 10) / 1010);
    static const struct slice once_a[] = {{0, 100}, {220, 320}, {440, 540}, {780, 880}, {1000, 1100}};
    static const struct slice once_b[] = {{110, 210}, {330, 430}, {550, 650}, {890, 990}, {1110, 1120}};
    COUNT(TRACK(once_a), TRACK(once_b)); // once
    assert_near(account.typical_switch, 10);
    assert_near(account.most_apart, 130);
    assert_near(slices_accounted(&account), (8 * 100. + 7 * 10) / (1100 - 110));
}

// The first pauses, and comes back without another's turn.
static void test_a_pause_is_missed(void **state)
{
    (void)state;
    static const struct slice a[] = {{0, 100}, {210, 300}, {400, 500}, {610, 700}};
    static const struct slice b[] = {{110, 200}, {510, 600}, {710, 720}};
    COUNT(TRACK(a), TRACK(b));
    assert_near(account.span, 700 - 110);
    assert_near(account.running, 90 + 90 + 100 + 90 + 90);
    assert_near(slices_accounted(&account), (460. + 10 * 3) / 590);
    assert_near(account.most_apart, 100);
    assert_near(account.turn_period[0], 510 - 210); // the turn has the pause in it
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
    assert_int_equal(account.switches, 3); // without c's first
    assert_int_equal(account.changes, 4);
    assert_near(slices_accounted(&account), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_in_turn),         cmocka_unit_test(test_a_foreign_turn_is_missed),
        cmocka_unit_test(test_a_pause_is_missed),   cmocka_unit_test(test_at_the_same_time),
        cmocka_unit_test(test_one_after_the_other), cmocka_unit_test(test_three),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
