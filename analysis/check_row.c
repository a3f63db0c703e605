// SPDX-License-Identifier: Apache-2.0
// What a single row must be: words that docs/schema.md knows, and statistics that can be. See check.h.
#include "analysis/check.h"

#include <math.h>
#include <string.h>

#include "common/stats.h"

const char *const check_statuses[CHECK_STATUSES] = {"ok", "unsteady", "unsupported", "failed", "timeout"};
enum { VALUED_STATUSES = 2 }; // the first of them

// The index of WORD among COUNT WORDS, or −1.
static int word_index(const char *word, const char *const *words, int count)
{
    while (count-- > 0)
        if (strcmp(word, words[count]) == 0) return count;
    return -1;
}
#define INDEX(word, words) word_index(word, words, sizeof(words) / sizeof *(words))

// A unit is a base, or a base per some thing: ns_per_byte.
static bool unit_is_known(const char *unit)
{
    static const char *const bases[] = {"ns", "cycles", "bytes", "count"};
    const char *per = strstr(unit, "_per_");
    if (!per) return strcmp(unit, "ratio") == 0 || INDEX(unit, bases) >= 0;
    const char *thing = per + strlen("_per_");
    if (!*thing || thing[strspn(thing, "abcdefghijklmnopqrstuvwxyz_")]) return false;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (strlen(bases[i]) == (size_t)(per - unit) && strncmp(unit, bases[i], strlen(bases[i])) == 0) return true;
    return false;
}

// "key=value;key=value", keys ascending.
static bool params_are_sorted(const char *params)
{
    const char *before = NULL;
    size_t before_bytes = 0;
    while (*params) {
        size_t bytes = strcspn(params, "=;");
        size_t value_bytes = params[bytes] == '=' ? strcspn(params + bytes + 1, "=;") : 0;
        if (bytes == 0 || value_bytes == 0) return false;
        if (before) {
            int order = strncmp(before, params, bytes < before_bytes ? bytes : before_bytes);
            if (order > 0 || (order == 0 && before_bytes >= bytes)) return false;
        }
        before = params;
        before_bytes = bytes;
        params += bytes + 1 + value_bytes;
        if (*params == '=' || (*params == ';' && params[1] == '\0')) return false;
        if (*params == ';') params++;
    }
    return true;
}

static void check_words(struct check *check, unsigned long line, const struct result_row *row)
{
    static const char *const betters[] = {"lower", "higher", "none"};
    static const char *const estimators[] = {"distribution", "fit", "count", "once"};
    const char *const *field = row->field;
    if (!*field[RESULT_BENCHMARK]) check_fault(check, line, "benchmark is empty");
    if (!*field[RESULT_METRIC]) check_fault(check, line, "metric is empty");
    if (!unit_is_known(field[RESULT_UNIT])) check_fault(check, line, "unit '%s' is not known", field[RESULT_UNIT]);
    if (INDEX(field[RESULT_BETTER], betters) < 0)
        check_fault(check, line, "better '%s' is none of lower, higher, none", field[RESULT_BETTER]);
    if (INDEX(field[RESULT_ESTIMATOR], estimators) < 0)
        check_fault(check, line, "estimator '%s' is none of distribution, fit, count, once", field[RESULT_ESTIMATOR]);
    if (!params_are_sorted(field[RESULT_PARAMS]))
        check_fault(check, line, "params '%s' are not key=value;key=value with ascending keys", field[RESULT_PARAMS]);
}

static void check_axis(struct check *check, unsigned long line, const struct result_row *row)
{
    const char *axis = row->field[RESULT_AXIS], *value = row->field[RESULT_AXIS_VALUE];
    if (!*axis) check_fault(check, line, "axis is empty");
    else if (strcmp(axis, "none") == 0 && *value)
        check_fault(check, line, "axis_value is '%s', but axis is none", value);
    else if (strcmp(axis, "none") != 0 && isnan(result_number(row, RESULT_AXIS_VALUE)))
        check_fault(check, line, "axis_value is '%s', not a number", value);
}

static void check_no_values(struct check *check, unsigned long line, const struct result_row *row)
{
    const char *status = row->field[RESULT_STATUS];
    if (!*row->field[RESULT_REASON]) check_fault(check, line, "%s without a reason", status);
    for (int c = RESULT_MIN; c <= RESULT_ERROR_BOUND; c++) {
        if (!*row->field[c]) continue;
        check_fault(check, line, "%s, but %s has the value '%s'", status, result_column_names[c], row->field[c]);
        return;
    }
}

// The statistics of a row as numbers, NAN where empty.
struct values {
    double of[RESULT_COLUMN_COUNT];
    bool distribution, fit;
};

// False if a field is no number: then the rules that compare say nothing of use.
static bool check_numbers(struct check *check, unsigned long line, const struct result_row *row, struct values *values)
{
    bool good = true;
    for (int c = RESULT_SAMPLES; c <= RESULT_ERROR_BOUND; c++) {
        values->of[c] = result_number(row, (enum result_column)c);
        bool count = c == RESULT_SAMPLES || c == RESULT_BATCH;
        bool needed = count || c == RESULT_MEDIAN ||
                      (values->distribution &&
                       (c == RESULT_MIN || c == RESULT_P05 || c == RESULT_P95 || c == RESULT_MAX || c == RESULT_MEAN));
        if (!*row->field[c]) {
            if (needed) check_fault(check, line, "%s is empty", result_column_names[c]);
            good = good && !needed;
        } else if (isnan(values->of[c]) || (count && (values->of[c] < 1 || values->of[c] != trunc(values->of[c])))) {
            check_fault(check, line, "%s is '%s', not a%s", result_column_names[c], row->field[c],
                        count ? " whole number above 0" : " number");
            good = false;
        }
    }
    return good;
}

static void check_order(struct check *check, unsigned long line, const struct values *values)
{
    static const enum result_column ascending[] = {RESULT_MIN, RESULT_P05, RESULT_MEDIAN,
                                                   RESULT_P95, RESULT_P99, RESULT_MAX};
    int before = -1;
    for (size_t i = 0; i < sizeof ascending / sizeof *ascending; i++) {
        int c = ascending[i];
        if (isnan(values->of[c])) continue;
        if (before >= 0 && values->of[before] > values->of[c])
            check_fault(check, line, "%s %.7g is above %s %.7g", result_column_names[before], values->of[before],
                        result_column_names[c], values->of[c]);
        before = c;
    }
    // A mean is summed up: it may leave equal samples by a rounding.
    double mean = values->of[RESULT_MEAN], slack = 1e-6 * fabs(mean);
    if (mean < values->of[RESULT_MIN] - slack || mean > values->of[RESULT_MAX] + slack)
        check_fault(check, line, "mean %.7g is not between min %.7g and max %.7g", mean, values->of[RESULT_MIN],
                    values->of[RESULT_MAX]);
}

static void check_interval(struct check *check, unsigned long line, const struct values *values)
{
    double low = values->of[RESULT_MEDIAN_LOW], high = values->of[RESULT_MEDIAN_HIGH];
    double median = values->of[RESULT_MEDIAN];
    if (isnan(low) && isnan(high)) return;
    if (isnan(low) || isnan(high)) check_fault(check, line, "the interval has only one of its ends");
    else if (median < low || median > high)
        check_fault(check, line, "median %.7g is not between median_low %.7g and median_high %.7g", median, low, high);
    if (!values->fit && values->of[RESULT_SAMPLES] < STATS_ROUNDS_MIN)
        check_fault(check, line, "an interval from %.0f samples; it takes %d rounds", values->of[RESULT_SAMPLES],
                    STATS_ROUNDS_MIN);
}

// A value may be below zero by its systematic error. Noise may carry a fit's single fits and its interval there, too.
static void check_signs(struct check *check, unsigned long line, const struct result_row *row,
                        const struct values *values)
{
    bool may_be_negative = result_is_signed(row->field[RESULT_METRIC]);
    double bound = fmax(values->of[RESULT_ERROR_BOUND], 0); // fmax passes over NAN
    for (int c = RESULT_MIN; c <= RESULT_ERROR_BOUND; c++) {
        bool spread = c == RESULT_STDDEV || c == RESULT_ERROR_BOUND;
        if (!spread && (may_be_negative || (values->fit && c != RESULT_MEDIAN))) continue;
        if (!(values->of[c] < (spread ? 0 : -bound))) continue;
        check_fault(check, line, "%s %.7g is negative, and %s is not a signed metric", result_column_names[c],
                    values->of[c], spread ? result_column_names[c] : row->field[RESULT_METRIC]);
        return;
    }
}

static void check_values(struct check *check, unsigned long line, const struct result_row *row)
{
    struct values values = {.distribution = strcmp(row->field[RESULT_ESTIMATOR], "distribution") == 0,
                            .fit = strcmp(row->field[RESULT_ESTIMATOR], "fit") == 0};
    if (!check_numbers(check, line, row, &values)) return;
    check_order(check, line, &values);
    check_interval(check, line, &values);
    check_signs(check, line, row, &values);
    bool enough = values.of[RESULT_SAMPLES] >= STATS_P99_MIN, has_p99 = !isnan(values.of[RESULT_P99]);
    if (values.distribution && enough != has_p99)
        check_fault(check, line, "p99 is %s with %.0f samples; it takes %d", has_p99 ? "given" : "empty",
                    values.of[RESULT_SAMPLES], STATS_P99_MIN);
    if (strcmp(row->field[RESULT_STATUS], "unsteady") == 0 && !*row->field[RESULT_REASON])
        check_fault(check, line, "unsteady without a reason");
    if (strcmp(row->field[RESULT_STATUS], "ok") == 0 && *row->field[RESULT_REASON])
        check_fault(check, line, "ok, but with the reason '%s'", row->field[RESULT_REASON]);
}

void check_row(struct check *check, unsigned long line, const struct result_row *row)
{
    int status = INDEX(row->field[RESULT_STATUS], check_statuses);
    check->rows++;
    check_words(check, line, row);
    check_axis(check, line, row);
    if (status < 0) {
        check_fault(check, line, "status '%s' is none of ok, unsteady, unsupported, failed, timeout",
                    row->field[RESULT_STATUS]);
        return;
    }
    check->with_status[status]++;
    if (status < VALUED_STATUSES) check_values(check, line, row);
    else check_no_values(check, line, row);
}
