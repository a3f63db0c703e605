// SPDX-License-Identifier: Apache-2.0
// Tests of common/stats.h against values worked out by hand, or by other means where a comment says so.
#include "common/stats.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { MANY = 1000000, ROUNDS_MAX = 100 };

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected) + 1e-12))
        fail_msg("%.17g, expected %.17g", value, expected);
}

static void assert_interval(struct stats_interval interval, double low, double high)
{
    assert_near(interval.low, low);
    assert_near(interval.high, high);
}

// Fills ROUNDS with VALUES in processes of LENGTH rounds each.
static void fill_rounds(struct stats_round *rounds, const double *values, size_t count, size_t length)
{
    for (size_t i = 0; i < count; i++)
        rounds[i] = (struct stats_round){values[i], (unsigned)(i / length)};
}

static struct stats_interval interval_of(const double *values, size_t count, size_t length, double resolution)
{
    struct stats_round rounds[ROUNDS_MAX];
    fill_rounds(rounds, values, count, length);
    return stats_median_interval(rounds, count, resolution);
}

static bool drifts(const double *values, size_t count, size_t length, double limit)
{
    struct stats_round rounds[ROUNDS_MAX];
    fill_rounds(rounds, values, count, length);
    return stats_drifts(rounds, count, limit);
}

// 1 … COUNT as 1, COUNT, 2, COUNT − 1 …: neighbours are as unlike as can be.
static double zigzag(size_t i, size_t count) { return (double)(i % 2 ? count - i / 2 : i / 2 + 1); }

static void test_sort(void **state)
{
    (void)state;
    stats_sort(NULL, 0);
    double one[] = {7};
    stats_sort(one, 1);
    assert_near(one[0], 7);
    double values[] = {3, -1, INFINITY, 3, -INFINITY, 0, 3};
    stats_sort(values, 7);
    const double expected[] = {-INFINITY, -1, 0, 3, 3, 3, INFINITY};
    assert_memory_equal(values, expected, sizeof expected);
}

static void test_sort_refuses_nan(void **state)
{
    (void)state;
#ifndef NDEBUG
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        double values[] = {1, NAN};
        stats_sort(values, 2);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#endif
}

static void test_quantile(void **state)
{
    (void)state;
    const double four[] = {1, 2, 3, 4}, one[] = {5}, two[] = {1, 2}, ends[] = {1, INFINITY, INFINITY};
    assert_near(stats_quantile(four, 4, 0), 1);
    assert_near(stats_quantile(four, 4, 0.25), 1.75); // position 0.25 · 3
    assert_near(stats_quantile(four, 4, 0.5), 2.5);
    assert_near(stats_quantile(four, 4, 1), 4);
    assert_near(stats_quantile(one, 1, 0.99), 5);
    assert_near(stats_quantile(two, 2, 0.5), 1.5);
    assert_true(stats_quantile(ends, 3, 0.75) == INFINITY);
}

static void test_summary_of_few(void **state)
{
    (void)state;
    struct stats_summary summary;
    stats_summarize(NULL, 0, &summary);
    assert_int_equal(summary.count, 0);
    assert_true(isnan(summary.min) && isnan(summary.p05) && isnan(summary.median) && isnan(summary.p95));
    assert_true(isnan(summary.p99) && isnan(summary.max) && isnan(summary.mean) && isnan(summary.stddev));

    double one[] = {3};
    stats_summarize(one, 1, &summary);
    assert_near(summary.min, 3);
    assert_near(summary.p95, 3);
    assert_near(summary.mean, 3);
    assert_true(isnan(summary.stddev) && isnan(summary.p99));

    double two[] = {4, 2};
    stats_summarize(two, 2, &summary);
    assert_near(summary.median, 3);
    assert_near(summary.p05, 2.1);
    assert_near(summary.stddev, sqrt(2));
}

static void test_summary(void **state)
{
    (void)state;
    double values[] = {9, 4, 5, 4, 2, 4, 7, 5};
    struct stats_summary summary;
    stats_summarize(values, 8, &summary);
    assert_int_equal(summary.count, 8);
    assert_near(summary.min, 2);
    assert_near(summary.p05, 2.7); // position 0.35 between 2 and 4
    assert_near(summary.median, 4.5);
    assert_near(summary.p95, 8.3); // position 6.65 between 7 and 9
    assert_near(summary.max, 9);
    assert_near(summary.mean, 5);
    assert_near(summary.stddev, sqrt(32.0 / 7)); // 32: the squares of the distances from the mean

    // A large offset costs no digits.
    double offset = 0x1p40;
    for (int i = 0; i < 8; i++)
        values[i] += offset;
    stats_summarize(values, 8, &summary);
    assert_near(summary.median - offset, 4.5);
    assert_near(summary.mean - offset, 5);
    assert_near(summary.stddev, sqrt(32.0 / 7));
}

static void test_summary_of_many(void **state)
{
    (void)state;
    double *values = malloc(MANY * sizeof *values);
    assert_non_null(values);
    struct stats_summary summary;
    for (size_t n = 999; n <= 1000; n++) {
        for (size_t i = 0; i < n; i++)
            values[i] = zigzag(i, n);
        stats_summarize(values, n, &summary);
        assert_int_equal(isnan(summary.p99), n < 1000);
    }
    assert_near(summary.p99, 990.01); // position 989.01 among 1 … 1000

    for (size_t i = 0; i < MANY; i++)
        values[i] = zigzag(i, MANY);
    stats_summarize(values, MANY, &summary);
    assert_near(summary.mean, 500000.5);
    assert_near(summary.p05, 50000.95);
    assert_true(fabs(summary.stddev / sqrt(MANY * (MANY + 1.0) / 12) - 1) < 1e-10);
    free(values);
}

// The ranks come from binomial sums in whole numbers (for a million, in floating point), computed apart.
static void test_interval_ranks(void **state)
{
    (void)state;
    static const size_t counts[] = {6, 7, 8, 9, 10, 12, 18, 20, 36, 40, 100, 101, 1000, 1001, MANY};
    static const size_t ranks[] = {1, 1, 1, 2, 2, 3, 5, 6, 12, 14, 40, 41, 469, 470, 499020};
    struct stats_round *rounds = calloc(MANY, sizeof *rounds);
    assert_non_null(rounds);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (size_t i = 0; i < counts[c]; i++)
            rounds[i].median = zigzag(i, counts[c]);
        assert_interval(stats_median_interval(rounds, counts[c], 0), (double)ranks[c],
                        (double)(counts[c] + 1 - ranks[c]));
    }
    free(rounds);
}

static void test_interval_of_few(void **state)
{
    (void)state;
    const double values[] = {1, 5, 2, 4, 3};
    for (size_t count = 0; count <= 5; count++) {
        struct stats_interval interval = interval_of(values, count, 5, 1);
        assert_true(isnan(interval.low) && isnan(interval.high));
    }
}

static void test_interval_widens_where_rounds_are_alike(void **state)
{
    (void)state;
    // Ascending: the rule asks for more than all ranks and gets all.
    double values[20];
    for (int i = 0; i < 20; i++)
        values[i] = i + 1;
    assert_interval(interval_of(values, 20, 20, 0), 1, 20);

    // Rank correlation 0.1947 by another program: 1.218 times from rank 6 to the middle 10.5 is rank 5.02.
    const double alike[] = {3, 4, 12, 11, 9, 16, 5, 8, 17, 20, 10, 15, 2, 1, 19, 14, 18, 13, 7, 6};
    assert_interval(interval_of(alike, 20, 20, 0), 5, 16);

    // Only the order of the values counts for the ranks.
    double cubes[20];
    for (int i = 0; i < 20; i++)
        cubes[i] = alike[i] * alike[i] * alike[i];
    assert_interval(interval_of(cubes, 20, 20, 0), 125, 4096);
}

static void test_interval_holds_the_processes(void **state)
{
    (void)state;
    // Medians 0.5, 10.5, 20.5 of rounds that lie within ±0.5: the hull and half its length more at each end.
    const double three[] = {0, 1, 10, 11, 20, 21};
    assert_interval(interval_of(three, 6, 2, 0), -9.5, 30.5);
    // Medians 1 and 11: the hull and 2.7 times its length.
    const double two[] = {0, 1, 2, 10, 11, 12};
    assert_interval(interval_of(two, 6, 3, 0), -26, 38);
    // Medians 0.5 … 30.5: the hull and a tenth of its length.
    const double four[] = {0, 1, 10, 11, 20, 21, 30, 31};
    assert_interval(interval_of(four, 8, 2, 0), -2.5, 33.5);
    // From five on the hull stays as it is; the rounds' interval, ranks 2 to 9 of ten, is 1 … 40.
    const double five[] = {0, 1, 10, 11, 20, 21, 30, 31, 40, 41};
    assert_interval(interval_of(five, 10, 2, 0), 0.5, 40.5);
    // Medians 4, 5, 6 are no further apart than the rounds explain: rounds only, of nine ranks 2 to 8.
    const double like[] = {4, 8, 1, 5, 9, 2, 6, 10, 3};
    assert_interval(interval_of(like, 9, 3, 0), 2, 9);
}

static void test_interval_of_many_processes(void **state)
{
    (void)state;
    // What happens once a process: a process is a round.
    const double once[] = {4, 1, 6, 2, 5, 3};
    assert_interval(interval_of(once, 6, 1, 0), 1, 6);
    // Nine processes of two equal rounds, 1 … 9: ranks 2 to 8 of nine medians; of eighteen rounds 5 to 14, 3 … 7.
    double values[18];
    for (int i = 0; i < 18; i++)
        values[i] = i / 2 + 1;
    assert_interval(interval_of(values, 18, 2, 0), 2, 8);
}

static void test_interval_is_no_finer_than_the_clock(void **state)
{
    (void)state;
    const double equal[] = {100, 100, 100, 100, 100, 100, 100, 100, 100};
    assert_interval(interval_of(equal, 9, 3, 4), 98, 102);
    assert_interval(interval_of(equal, 9, 9, 0), 100, 100);
    // One step of the clock between processes is no difference of theirs.
    const double step[] = {0, 0, 32, 32, 0, 0};
    assert_interval(interval_of(step, 6, 2, 32), -16, 32);
}

static void test_relative_error(void **state)
{
    (void)state;
    assert_near(stats_relative_error((struct stats_interval){98, 102}, 100, 0), 0.02);
    assert_near(stats_relative_error((struct stats_interval){-102, -98}, -100, 3), 0.02);
    assert_near(stats_relative_error((struct stats_interval){98, 102}, 100, 4), 0);
    assert_near(stats_relative_error((struct stats_interval){0, 0}, 0, 0), 0);
    // One resolution around the median, rounded.
    assert_near(stats_relative_error((struct stats_interval){1e6 + 0.1 - 0.15, 1e6 + 0.1 + 0.15}, 1e6 + 0.1, 0.3), 0);
    assert_true(stats_relative_error((struct stats_interval){-1, 1}, 0, 0) == INFINITY);
    assert_true(stats_relative_error((struct stats_interval){NAN, NAN}, 100, 1) == INFINITY);
}

static void test_drift_of_one_process(void **state)
{
    (void)state;
    // 1 … 6 and 13 … 18: 7 apart in one pair, 8 in two, 9 in three …; of 36 pairs 33 by more than 8, 30 by more than 9.
    double rising[18], falling[18];
    for (int i = 0; i < 18; i++) {
        rising[i] = i + 1;
        falling[i] = -rising[i];
    }
    assert_true(drifts(rising, 18, 18, 8));
    assert_false(drifts(rising, 18, 18, 9));
    assert_true(drifts(falling, 18, 18, 8));
    assert_false(drifts(falling, 18, 18, 9));
    assert_false(drifts(rising, 17, 17, 0));
    assert_false(drifts(NULL, 0, 1, 0));
    const double equal[18] = {0};
    assert_false(drifts(equal, 18, 18, 0));
}

static void test_drift_of_processes(void **state)
{
    (void)state;
    double values[18];
    for (int i = 0; i < 18; i++)
        values[i] = i % 6;
    assert_true(drifts(values, 18, 6, 2)); // 0, 1 and 4, 5: at least 3 apart
    assert_false(drifts(values, 18, 6, 3));
    for (int i = 12; i < 18; i++)
        values[i] = -values[i]; // the third process goes the other way
    assert_false(drifts(values, 18, 6, 2));

    // Four of the rounds are a process that is too short to be judged.
    double rising[22];
    for (int i = 0; i < 22; i++)
        rising[i] = i;
    assert_true(drifts(rising, 22, 11, 0));
    assert_false(drifts(rising, 22, 18, 0));
}

static void test_drift_of_many(void **state)
{
    (void)state;
    struct stats_round *rounds = calloc(MANY, sizeof *rounds);
    assert_non_null(rounds);
    for (size_t i = 0; i < MANY; i++)
        rounds[i].median = (double)i;
    assert_true(stats_drifts(rounds, MANY, 300000));
    assert_false(stats_drifts(rounds, MANY, 900000));
    free(rounds);
}

// COUNT values, the last UPPER of them 10, the others 0.
static bool two_heaps(size_t count, size_t upper, double gap)
{
    double values[200] = {0};
    for (size_t i = count - upper; i < count; i++)
        values[i] = 10;
    return stats_two_modes(values, count, gap);
}

static void test_two_modes(void **state)
{
    (void)state;
    assert_false(stats_two_modes(NULL, 0, 0));
    assert_false(two_heaps(49, 25, 0)); // too few values
    assert_true(two_heaps(50, 25, 9));
    assert_false(two_heaps(50, 25, 10));
    assert_false(two_heaps(50, 0, 0));
    assert_true(two_heaps(50, 5, 0));
    assert_false(two_heaps(50, 4, 0)); // under a tenth
    assert_true(two_heaps(200, 180, 0));
    assert_false(two_heaps(200, 181, 0));
}

static void test_two_modes_of_many(void **state)
{
    (void)state;
    double *values = malloc(MANY * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < MANY; i++)
        values[i] = (double)i;
    assert_false(stats_two_modes(values, MANY, 0)); // halves of a uniform heap explain 0.75
    // Two uniform heaps of length a half each, 1.5 from start to start: 0.5625 of 0.5625 + 1/48 = 0.964 is explained.
    for (size_t i = MANY / 2; i < MANY; i++)
        values[i] += MANY;
    assert_true(stats_two_modes(values, MANY, 1.4 * MANY));
    assert_false(stats_two_modes(values, MANY, 1.6 * MANY));
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_sort_refuses_nan),
        cmocka_unit_test(test_quantile),
        cmocka_unit_test(test_summary_of_few),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_summary_of_many),
        cmocka_unit_test(test_interval_ranks),
        cmocka_unit_test(test_interval_of_few),
        cmocka_unit_test(test_interval_widens_where_rounds_are_alike),
        cmocka_unit_test(test_interval_holds_the_processes),
        cmocka_unit_test(test_interval_of_many_processes),
        cmocka_unit_test(test_interval_is_no_finer_than_the_clock),
        cmocka_unit_test(test_relative_error),
        cmocka_unit_test(test_drift_of_one_process),
        cmocka_unit_test(test_drift_of_processes),
        cmocka_unit_test(test_drift_of_many),
        cmocka_unit_test(test_two_modes),
        cmocka_unit_test(test_two_modes_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
