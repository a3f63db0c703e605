// SPDX-License-Identifier: Apache-2.0
// Samples become rows here, and rows get their verdict. See rows.h; the rules stand in docs/method.md.
#include "common/rows.h"

#include "backends/gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const row_status_words[ROW_STATUS_COUNT] = {"ok", "unsteady", "unsupported", "failed", "timeout"};

enum { ROUNDS_MAX = 4096 };
static const double LOST_SHARE_MAX = 0.02;

static void *grow(void *memory, size_t *room, size_t needed, size_t each)
{
    if (needed <= *room) return memory;
    size_t more = needed * 2;
    memory = realloc(memory, more * each);
    if (!memory) abort();
    *room = more;
    return memory;
}

bool rows_announce(struct rows *rows, unsigned index, const char *payload, size_t bytes)
{
    const char *text[PLAN_TEXTS];
    if (!wire_texts(payload, bytes, text, PLAN_TEXTS)) return false;
    if (index < rows->count) { // another process announces the same
        for (int t = 0; t < PLAN_TEXTS; t++)
            if (strcmp(text[t], rows->row[index].text[t]) != 0) return false;
        return true;
    }
    if (index != rows->count) return false;
    rows->row = realloc(rows->row, (rows->count + 1) * sizeof *rows->row);
    if (!rows->row) abort();
    struct row *row = &rows->row[rows->count++];
    memset(row, 0, sizeof *row);
    row->texts = malloc(bytes);
    if (!row->texts) abort();
    memcpy(row->texts, payload, bytes);
    wire_texts(row->texts, bytes, row->text, PLAN_TEXTS);
    row->wanted = true;
    return true;
}

bool rows_round(struct rows *rows, unsigned index, unsigned process, const char *payload, size_t bytes)
{
    struct wire_round round;
    if (index >= rows->count || bytes < sizeof round || process >= PROCESSES_MAX) return false;
    memcpy(&round, payload, sizeof round);
    if (bytes != sizeof round + round.samples * sizeof(double) || !isfinite(round.median)) return false;
    for (uint32_t i = 0; i < round.samples; i++) {
        double value;
        memcpy(&value, payload + sizeof round + i * sizeof value, sizeof value);
        if (!isfinite(value)) return false; // statistics take numbers only
    }
    struct row *row = &rows->row[index];
    if (row->round_count == ROUNDS_MAX) return false;
    row->rounds = grow(row->rounds, &row->round_room, row->round_count + 1, sizeof *row->rounds);
    row->rounds[row->round_count++] = (struct stats_round){round.median, process};
    if (process == row->rounds[0].process) row->first_rounds++;
    row->elapsed_s += round.elapsed_s;
    row->lost_s += round.lost_s;
    row->error_bound = fmax(row->error_bound, round.error_bound);
    row->resolution = fmax(row->resolution, round.resolution);
    row->values = grow(row->values, &row->value_room, row->value_count + round.samples, sizeof *row->values);
    memcpy(row->values + row->value_count, payload + sizeof round, round.samples * sizeof(double));
    row->value_count += round.samples;
    row->process_ends[process] = row->value_count;
    return true;
}

static void finish(struct row *row, enum row_status status, const char *reason)
{
    row->final = true;
    row->status = status;
    snprintf(row->reason, sizeof row->reason, "%s", reason);
}

bool rows_end(struct rows *rows, unsigned index, unsigned process, unsigned processes, const char *payload,
              size_t bytes)
{
    struct wire_end end;
    const char *texts[2];
    if (index >= rows->count || bytes < sizeof end) return false;
    memcpy(&end, payload, sizeof end);
    if (!wire_texts(payload + sizeof end, bytes - sizeof end, texts, 2)) return false;
    struct row *row = &rows->row[index];
    if (end.status == GPU_OK && row->wanted && row->round_count == 0) return false; // done, with nothing to show
    row->ended = true;
    row->throttled = row->throttled || end.throttled;
    if (texts[1][0]) snprintf(row->detail, sizeof row->detail, "%s", texts[1]); // a process that left it out has none
    if (!row->wanted || row->final) return true;
    if (end.status == GPU_UNSUPPORTED) finish(row, ROW_UNSUPPORTED, texts[0]);
    else if (end.status != GPU_OK) finish(row, ROW_FAILED, texts[0]);
    else if (process + 1 == processes) finish(row, ROW_OK, "");
    return true;
}

void rows_abandon(struct rows *rows, enum row_status status, const char *reason)
{
    for (unsigned i = 0; i < rows->count; i++)
        if (rows->row[i].wanted && !rows->row[i].final && !rows->row[i].ended) finish(&rows->row[i], status, reason);
}

unsigned rows_next_process(struct rows *rows)
{
    unsigned count = 0;
    for (unsigned i = 0; i < rows->count; i++) {
        rows->row[i].ended = false;
        if (rows->row[i].wanted && !rows->row[i].final) count++;
    }
    return count;
}

// The median of each process's rounds, in the order of processes; returns how many there are.
static size_t process_medians(const struct row *row, double medians[PROCESSES_MAX])
{
    double sorted[ROUNDS_MAX];
    size_t count = 0;
    for (size_t begin = 0, end; begin < row->round_count; begin = end) {
        for (end = begin; end < row->round_count && row->rounds[end].process == row->rounds[begin].process; end++)
            sorted[end - begin] = row->rounds[end].median;
        stats_sort(sorted, end - begin);
        medians[count++] = stats_quantile(sorted, end - begin, 0.5);
    }
    return count;
}

// How the row came to be: what the benchmark says, why sampling stopped, and what each process found.
static void describe_sampling(const struct rows *rows, const struct row *row, double error, char *text, size_t room)
{
    double medians[PROCESSES_MAX];
    char number[32];
    size_t processes = process_medians(row, medians);
    const char *stop = error <= rows->precision                       ? "precision"
                       : row->value_count > WIRE_SAMPLES_MAX * 9 / 10 ? "samples"
                                                                      : "budget";
    size_t used = (size_t)snprintf(text, room, "%s%sprocess_medians=", row->detail, row->detail[0] ? ";" : "");
    for (size_t i = 0; i < processes && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", i ? "/" : "", result_format(number, medians[i]));
    if (used < room && strcmp(row->text[PLAN_ESTIMATOR], "distribution") == 0)
        snprintf(text + used, room - used, ";stop=%s", stop);
}

// The first rule that applies makes an ok row unsteady, with its numbers as the reason.
static void judge(const struct rows *rows, struct row *row, const double *sorted, double median,
                  struct stats_interval interval)
{
    double size = fabs(median);
    double tolerance = rows->precision * fmax(size, result_is_signed(row->text[PLAN_METRIC]) ? row->error_bound : 0);
    double medians[PROCESSES_MAX], half = (interval.high - interval.low) / 2;
    size_t processes = process_medians(row, medians);
    stats_sort(medians, processes);
    char *reason = row->reason;
    size_t room = sizeof row->reason;
    bool fit = strcmp(row->text[PLAN_ESTIMATOR], "fit") == 0; // each of its samples stands for many: no modes, no drift
    if (!fit && strcmp(row->text[PLAN_ESTIMATOR], "distribution") != 0) return;
    if (row->throttled)
        snprintf(reason, room, "throttled: heat or power held the device's clock down while this was measured");
    else if (row->lost_s > LOST_SHARE_MAX * row->elapsed_s)
        snprintf(reason, room, "disturbed: other work had the measuring thread's core for %.2g %% of the time",
                 100 * row->lost_s / row->elapsed_s);
    else if (!fit && stats_two_modes(sorted, row->value_count, fmax(0.05 * size, 4 * row->resolution)))
        snprintf(reason, room, "two modes: the samples fall into two heaps more than 5 %% apart; look at the ECDF");
    else if (!fit && stats_drifts(row->rounds, row->round_count, fmax(2 * tolerance, row->resolution)))
        snprintf(reason, room, "drift: every process ends more than %.2g %% away from where it began, to the same side",
                 200 * rows->precision);
    else if (2 * half <= row->resolution || !(half > 3 * tolerance)) return;
    else if ((medians[processes - 1] - medians[0]) / 2 > 3 * tolerance)
        snprintf(reason, room,
                 "processes differ: their medians lie more than %.2g %% of the %s apart (detail has them)",
                 600 * rows->precision, tolerance > rows->precision * size ? "error bound" : "median");
    else
        snprintf(reason, room, "too wide: half the interval is more than %.2g %% of the median", 300 * rows->precision);
    row->status = ROW_UNSTEADY;
}

void rows_describe(const struct rows *rows, struct row *row, struct rows_scratch *scratch, struct result_row *line)
{
    static const enum result_column planned[PLAN_TEXTS] = {
        [PLAN_VARIANT] = RESULT_VARIANT,       [PLAN_METRIC] = RESULT_METRIC,       [PLAN_UNIT] = RESULT_UNIT,
        [PLAN_BETTER] = RESULT_BETTER,         [PLAN_PARAMS] = RESULT_PARAMS,       [PLAN_AXIS] = RESULT_AXIS,
        [PLAN_AXIS_VALUE] = RESULT_AXIS_VALUE, [PLAN_ESTIMATOR] = RESULT_ESTIMATOR, [PLAN_BATCH] = RESULT_BATCH};
    for (int t = 0; t < PLAN_TEXTS; t++) line->field[planned[t]] = row->text[t];
    line->field[RESULT_BENCHMARK] = rows->benchmark;
    for (int c = RESULT_MIN; c <= RESULT_ERROR_BOUND; c++) line->field[c] = "";
    line->field[RESULT_SAMPLES] = "0";

    if (row->status == ROW_OK) {
        struct stats_interval interval = stats_median_interval(row->rounds, row->round_count, row->resolution);
        struct stats_summary summary;
        double *sorted = malloc((row->value_count + 1) * sizeof *sorted);
        if (!sorted) abort();
        memcpy(sorted, row->values, row->value_count * sizeof *sorted);
        stats_summarize(sorted, row->value_count, &summary);
        // The median is that of all samples; where modes change by the round it can lie outside that of the rounds'
        // medians.
        if (summary.median < interval.low) interval.low = summary.median;
        if (summary.median > interval.high) interval.high = summary.median;
        if (interval.low < 0 && !result_is_signed(row->text[PLAN_METRIC])) interval.low = fmin(summary.median, 0);
        judge(rows, row, sorted, summary.median, interval);
        free(sorted);
        double error = stats_relative_error(interval, summary.median, row->resolution);
        describe_sampling(rows, row, error, scratch->detail, sizeof scratch->detail);
        const struct {
            enum result_column column;
            double value;
        } numbers[] = {{RESULT_SAMPLES, (double)summary.count},
                       {RESULT_MIN, summary.min},
                       {RESULT_P05, summary.p05},
                       {RESULT_MEDIAN, summary.median},
                       {RESULT_P95, summary.p95},
                       {RESULT_P99, summary.p99},
                       {RESULT_MAX, summary.max},
                       {RESULT_MEAN, summary.mean},
                       {RESULT_STDDEV, summary.stddev},
                       {RESULT_MEDIAN_LOW, interval.low},
                       {RESULT_MEDIAN_HIGH, interval.high},
                       {RESULT_ERROR_BOUND, row->error_bound}};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            line->field[numbers[i].column] = result_format(scratch->text[numbers[i].column], numbers[i].value);
    } else {
        snprintf(scratch->detail, sizeof scratch->detail, "%s", row->detail);
    }
    line->field[RESULT_DETAIL] = scratch->detail;
    line->field[RESULT_STATUS] = row_status_words[row->status];
    line->field[RESULT_REASON] = row->reason;
}

// The one of STEP samples that stands for them in the samples file: fixed, but as good as random, for each STRIDE.
static size_t pick(size_t stride, size_t step) { return (stride * 0x9E3779B97F4A7C15u >> 33) % step; }

void rows_write_samples(const struct rows *rows, const struct row *row, FILE *file)
{
    if (row->status > ROW_UNSTEADY || row->value_count == 0) return;
    size_t begin = 0, step = (row->value_count + RESULT_SAMPLES_MAX - 1) / RESULT_SAMPLES_MAX;
    for (unsigned process = 0; process < PROCESSES_MAX; process++) {
        size_t end = row->process_ends[process];
        if (end <= begin) continue;
        const char *key[] = {rows->benchmark,        row->text[PLAN_VARIANT], row->text[PLAN_METRIC],
                             row->text[PLAN_PARAMS], row->text[PLAN_AXIS],    row->text[PLAN_AXIS_VALUE]};
        for (size_t k = 0; k < sizeof key / sizeof *key; k++) {
            result_write_field(file, key[k]);
            fputc(',', file);
        }
        fprintf(file, "%u,", process);
        char text[32];
        bool first = true;
        // Thinned over the whole row, so that processes keep their shares; at random, so that no place in a round is
        // preferred.
        for (size_t i = begin; i < end; i++) {
            if (i % step != pick(i / step, step)) continue;
            fprintf(file, "%s%s", first ? "" : " ", result_format(text, row->values[i]));
            first = false;
        }
        fputc('\n', file);
        begin = end;
    }
}

void rows_free(struct rows *rows)
{
    for (unsigned i = 0; i < rows->count; i++) {
        free(rows->row[i].texts);
        free(rows->row[i].values);
        free(rows->row[i].rounds);
    }
    free(rows->row);
    rows->row = NULL;
    rows->count = 0;
}
