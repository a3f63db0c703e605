// SPDX-License-Identifier: Apache-2.0
// Rows: from announcement and rounds to verdict and samples, with messages made here as a child would make them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/rows.h"

static const char plan[] = "way\0metric\0ns\0lower\0a=1\0none\0\0distribution\0" "1";

static struct rows announced(void)
{
    struct rows rows = {.benchmark = "bench", .precision = 0.01};
    assert_true(rows_announce(&rows, 0, plan, sizeof plan));
    return rows;
}

static void add_round(struct rows *rows, unsigned process, const double *values, unsigned count)
{
    size_t bytes = sizeof(struct wire_round) + count * sizeof *values;
    struct wire_round *round = calloc(1, bytes);
    double *sorted = malloc(count * sizeof *values);
    memcpy(sorted, values, count * sizeof *values);
    stats_sort(sorted, count);
    round->median = stats_quantile(sorted, count, 0.5);
    round->resolution = 0.1;
    round->elapsed_s = 1;
    round->samples = count;
    memcpy(round->values, values, count * sizeof *values);
    assert_true(rows_round(rows, 0, process, (const char *)round, bytes));
    free(sorted);
    free(round);
}

// ROUNDS rounds of COUNT samples around CENTRE: the sample at place I of a round is CENTRE + STEP * (I % 3 - 1).
static void add_rounds(struct rows *rows, unsigned process, unsigned rounds, double centre, double step)
{
    double values[9];
    for (unsigned r = 0; r < rounds; r++) {
        for (int i = 0; i < 9; i++) values[i] = centre + step * (i % 3 - 1);
        add_round(rows, process, values, 9);
    }
}

static void end(struct rows *rows, unsigned process, unsigned processes, unsigned status, bool throttled,
                const char *reason)
{
    char payload[512];
    struct wire_end ended = {status, throttled};
    memcpy(payload, &ended, sizeof ended);
    size_t length = strlen(reason) + 1;
    memcpy(payload + sizeof ended, reason, length);
    payload[sizeof ended + length] = '\0';
    assert_true(rows_end(rows, 0, process, processes, payload, sizeof ended + length + 1));
}

static struct result_row described(struct rows *rows)
{
    static struct rows_scratch scratch;
    struct result_row line = {{NULL}};
    assert_true(rows->row[0].final);
    rows_describe(rows, &rows->row[0], &scratch, &line);
    return line;
}

static void test_like_processes_are_ok(void **state)
{
    (void)state;
    struct rows rows = announced();
    for (unsigned p = 0; p < 6; p++) {
        assert_int_equal(rows_next_process(&rows), 1);
        add_rounds(&rows, p, 4, 100 + p * 0.01, 0.02);
        end(&rows, p, 6, 0, false, "");
        assert_int_equal(rows.row[0].final, p == 5);
    }
    struct result_row line = described(&rows);
    assert_string_equal(line.field[RESULT_STATUS], "ok");
    assert_string_equal(line.field[RESULT_SAMPLES], "216");
    assert_string_equal(line.field[RESULT_P99], ""); // fewer than 1000
    assert_string_equal(line.field[RESULT_DETAIL],
                        "process_medians=100/100.01/100.02/100.03/100.04/100.05;stop=precision");
    rows_free(&rows);
}

static void test_processes_that_differ_are_named(void **state)
{
    (void)state;
    struct rows rows = announced();
    for (unsigned p = 0; p < 3; p++) {
        add_rounds(&rows, p, 4, 100 + p * 4, 0.5);
        end(&rows, p, 3, 0, false, "");
    }
    struct result_row line = described(&rows);
    assert_string_equal(line.field[RESULT_STATUS], "unsteady");
    assert_non_null(strstr(line.field[RESULT_REASON], "processes differ"));
    assert_true(result_number(&line, RESULT_MEDIAN_LOW) <= 100 && result_number(&line, RESULT_MEDIAN_HIGH) >= 108);
    rows_free(&rows);
}

// A fit has no modes, but its processes can differ as those of a distribution.
static void test_a_fit_is_judged_by_its_interval(void **state)
{
    (void)state;
    static const char fit[] = "way\0metric\0ns_per_byte\0lower\0a=1\0none\0\0fit\0" "1";
    static const struct {
        double step, spread;
        const char *status;
    } cases[] = {{0.05, 0, "ok"}, {0.05, 20, "unsteady"}, {40, 0, "ok"}}; // ± 40 of 100: three heaps, one median
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct rows rows = {.benchmark = "bench", .precision = 0.01};
        assert_true(rows_announce(&rows, 0, fit, sizeof fit));
        for (unsigned process = 0; process < 6; process++) {
            add_rounds(&rows, process, 4, 100 + (process % 2 ? cases[k].spread : 0), cases[k].step);
            end(&rows, process, 6, 0, false, "");
        }
        struct rows_scratch scratch;
        struct result_row line;
        rows_describe(&rows, &rows.row[0], &scratch, &line);
        assert_string_equal(line.field[RESULT_STATUS], cases[k].status);
        rows_free(&rows);
    }
}

// What a benchmark leaves to the first processes is whole when the last one has passed it over.
static void test_processes_may_leave_a_row_out(void **state)
{
    (void)state;
    struct rows rows = announced();
    add_rounds(&rows, 0, 1, 100, 0.05);
    for (unsigned process = 0; process < 3; process++) end(&rows, process, 3, 0, false, "");
    assert_true(rows.row[0].final);
    assert_int_equal(rows.row[0].status, ROW_OK);
    rows_free(&rows);
}

static void test_throttling_is_named_first(void **state)
{
    (void)state;
    struct rows rows = announced();
    add_rounds(&rows, 0, 8, 100, 50);
    end(&rows, 0, 1, 0, true, "");
    struct result_row line = described(&rows);
    assert_non_null(strstr(line.field[RESULT_REASON], "throttled"));
    rows_free(&rows);
}

static void test_too_few_rounds_have_no_interval(void **state)
{
    (void)state;
    struct rows rows = announced();
    add_rounds(&rows, 0, 5, 100, 1);
    end(&rows, 0, 1, 0, false, "");
    struct result_row line = described(&rows);
    assert_string_equal(line.field[RESULT_STATUS], "ok");
    assert_string_equal(line.field[RESULT_MEDIAN], "100");
    assert_string_equal(line.field[RESULT_MEDIAN_LOW], "");
    assert_string_equal(line.field[RESULT_MEDIAN_HIGH], "");
    rows_free(&rows);
}

static void test_unsupported_and_abandoned_have_no_values(void **state)
{
    (void)state;
    struct rows rows = announced();
    add_rounds(&rows, 0, 8, 100, 1);
    end(&rows, 0, 2, 1, false, "it cannot");
    struct result_row line = described(&rows);
    assert_string_equal(line.field[RESULT_STATUS], "unsupported");
    assert_string_equal(line.field[RESULT_REASON], "it cannot");
    assert_string_equal(line.field[RESULT_MEDIAN], "");
    rows_free(&rows);

    rows = announced();
    add_rounds(&rows, 0, 8, 100, 1);
    rows_abandon(&rows, ROW_TIMEOUT, "too long");
    line = described(&rows);
    assert_string_equal(line.field[RESULT_STATUS], "timeout");
    assert_string_equal(line.field[RESULT_REASON], "too long");
    assert_string_equal(line.field[RESULT_SAMPLES], "0");
    rows_free(&rows);
}

// A round's first sample differs; the file must show it as often as it was, and each process with its share.
static void test_thinned_samples_are_fair(void **state)
{
    (void)state;
    struct rows rows = announced();
    double values[20];
    for (unsigned p = 0; p < 4; p++)
        for (unsigned r = 0; r < 100; r++) {
            for (int i = 0; i < 20; i++) values[i] = i == 0 ? 9 : 1;
            add_round(&rows, p, values, 20);
        }
    end(&rows, 3, 4, 0, false, "");
    (void)described(&rows);
    char *text;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    rows_write_samples(&rows, &rows.row[0], file);
    fclose(file);
    unsigned lines = 0, firsts = 0, others = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char head[64];
        snprintf(head, sizeof head, "bench,way,metric,a=1,none,,%u,", lines++);
        assert_memory_equal(line, head, strlen(head));
        unsigned here = 0;
        for (const char *c = line + strlen(head); *c; c++) {
            if (*c == '9') firsts++;
            if (*c == '1') others++;
            if (*c != ' ') here++;
        }
        assert_in_range(here, 248, 252);
    }
    assert_int_equal(lines, 4);
    assert_in_range(firsts + others, 990, RESULT_SAMPLES_MAX);
    assert_in_range(firsts, 30, 75); // a twentieth of a thousand, give or take three deviations of chance
    free(text);
    rows_free(&rows);
}

static void test_malformed_messages_are_refused(void **state)
{
    (void)state;
    struct rows rows = announced();
    struct wire_round round = {.samples = 3};
    assert_false(rows_announce(&rows, 2, plan, sizeof plan));      // out of order
    assert_false(rows_announce(&rows, 0, "other\0", 6));           // too few texts
    assert_true(rows_announce(&rows, 0, plan, sizeof plan));       // the next process says the same
    assert_false(rows_round(&rows, 1, 0, (char *)&round, sizeof round)); // no such row
    assert_false(rows_round(&rows, 0, 0, (char *)&round, sizeof round)); // fewer bytes than samples
    assert_false(rows_round(&rows, 0, 64, (char *)&round, sizeof round));
    assert_false(rows_end(&rows, 0, 0, 1, (char *)&round, 2));
    rows_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_processes_are_ok),
        cmocka_unit_test(test_processes_that_differ_are_named),
        cmocka_unit_test(test_a_fit_is_judged_by_its_interval),
        cmocka_unit_test(test_processes_may_leave_a_row_out),
        cmocka_unit_test(test_throttling_is_named_first),
        cmocka_unit_test(test_too_few_rounds_have_no_interval),
        cmocka_unit_test(test_unsupported_and_abandoned_have_no_values),
        cmocka_unit_test(test_thinned_samples_are_fair),
        cmocka_unit_test(test_malformed_messages_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
