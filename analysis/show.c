// SPDX-License-Identifier: Apache-2.0
// `liftoff show`: result files as tables that a person reads.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command.h"
#include "analysis/load.h"
#include "analysis/table.h"
#include "analysis/text.h"

static const struct option_row no_rows[] = {{.name = NULL}};
static const struct option_program program = {
    .name = "liftoff show",
    .summary = "print results as tables",
    .operands = "FILE...",
    .description =
        "For each file: what was measured where, and for each benchmark a table of its rows. A value stands with "
        "its unit, the 95 % interval of the median as a share of it or as its two ends, and the bound of the "
        "systematic error where there is one. Numbers in brackets lead to the reasons below the table; rows without "
        "values stand there too, a line a reason.\n\n"
        "Exit status: 0 if done; 2 for wrong usage or if a file could not be read as a whole; 5 if the output "
        "could not be written.",
    .rows = no_rows,
};

static void print_clean(const char *before, const char *text, const char *after)
{
    char *copy = strdup(text);
    if (!copy) abort();
    printf("%s%s%s", before, text_clean(copy), after);
    free(copy);
}

static void print_head(const struct loaded *file, const char *path)
{
    static const struct {
        const char *label, *key, *other_key;
    } facts[] = {{"device", "device", NULL},
                 {"backend", "backend", NULL},
                 {"driver", "driver_version", "driver_api_version"},
                 {"host CPU", "cpu_model", NULL},
                 {"date", "start_utc", NULL},
                 {"liftoff", "liftoff_version", NULL}};
    printf("%s\n", path);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const char *value = load_metadata(file, facts[i].key, NULL);
        if (!value && facts[i].other_key) value = load_metadata(file, facts[i].other_key, NULL);
        if (!value) continue;
        printf("  %-9s", facts[i].label);
        print_clean("", value, "\n");
    }
    const char *interrupted = load_metadata(file, "interrupted", NULL);
    const char *injection = load_metadata(file, "injection", NULL);
    if (injection) print_clean("  INJECTED: falsified on purpose (", injection, "), not a result\n");
    if (interrupted) print_clean("  INTERRUPTED by ", interrupted, ": rows are missing\n");
    else if (!file->ended) printf("  INCOMPLETE: the file has no end mark, rows may be missing\n");
}

// ± as a share of the median while that says enough, else the two ends.
static const char *interval_text(char *text, const struct result_row *row)
{
    double median = result_number(row, RESULT_MEDIAN), low = result_number(row, RESULT_MEDIAN_LOW);
    double high = result_number(row, RESULT_MEDIAN_HIGH), half = fmax(median - low, high - median);
    char ends[2][TEXT_VALUE_BYTES];
    text[0] = '\0';
    if (isnan(low) || isnan(high)) return text;
    double percent = half == 0 ? 0 : 100 * half / fabs(median);
    if (percent > 0) percent = fmax(percent, 0.01);
    if (percent < 10) snprintf(text, 2 * TEXT_VALUE_BYTES, "±%.2g %%", percent);
    else
        snprintf(text, 2 * TEXT_VALUE_BYTES, "%s…%s", text_value(ends[0], low, row->field[RESULT_UNIT]),
                 text_value(ends[1], high, row->field[RESULT_UNIT]));
    return text;
}

static const char *error_text(char *text, const struct result_row *row)
{
    double error = result_number(row, RESULT_ERROR_BOUND);
    char value[TEXT_VALUE_BYTES];
    text[0] = '\0';
    if (error > 0) snprintf(text, 2 * TEXT_VALUE_BYTES, "±%s", text_value(value, error, row->field[RESULT_UNIT]));
    return text;
}

// The reasons below a table; rows that share status and reason share a number, and a line where there is nothing else
// to show of them.
struct notes {
    const struct result_row **rows;
    size_t count;
};

static size_t note_of(struct notes *notes, const struct result_row *row)
{
    for (size_t i = 0; i < notes->count; i++)
        if (strcmp(notes->rows[i]->field[RESULT_REASON], row->field[RESULT_REASON]) == 0 &&
            strcmp(notes->rows[i]->field[RESULT_STATUS], row->field[RESULT_STATUS]) == 0)
            return i + 1;
    notes->rows[notes->count++] = row;
    return notes->count;
}

static char *join(const char *first, const char *between, const char *second)
{
    char *text;
    if (asprintf(&text, "%s%s%s", first, between, second) < 0) abort();
    return text;
}

static void add_row(struct table *table, struct notes *notes, const struct result_row *row)
{
    const char *unit = row->field[RESULT_UNIT];
    char text[2 * TEXT_VALUE_BYTES], note[32] = "";
    if (strcmp(row->field[RESULT_STATUS], "ok") != 0) snprintf(note, sizeof note, " [%zu]", note_of(notes, row));
    bool swept = strcmp(row->field[RESULT_AXIS], "none") != 0;
    char *axis = join(row->field[RESULT_AXIS], "=", row->field[RESULT_AXIS_VALUE]);
    char *status = join(row->field[RESULT_STATUS], "", note);
    table_add(table, row->field[RESULT_VARIANT]);
    table_add(table, row->field[RESULT_METRIC]);
    table_add(table, row->field[RESULT_PARAMS]);
    table_add(table, swept ? axis : "");
    table_add(table, row->field[RESULT_SAMPLES]);
    table_add(table, text_value(text, result_number(row, RESULT_MEDIAN), unit));
    table_add(table, interval_text(text, row));
    table_add(table, text_value(text, result_number(row, RESULT_P99), unit));
    table_add(table, error_text(text, row));
    table_add(table, status);
    free(axis);
    free(status);
}

// True if ROW is one of BENCHMARK's without values, for the same reason as NOTE.
static bool is_valueless(const struct result_row *row, const char *benchmark, const struct result_row *note)
{
    return strcmp(row->field[RESULT_BENCHMARK], benchmark) == 0 && isnan(result_number(row, RESULT_MEDIAN)) &&
           strcmp(row->field[RESULT_STATUS], note->field[RESULT_STATUS]) == 0 &&
           strcmp(row->field[RESULT_REASON], note->field[RESULT_REASON]) == 0;
}

static bool is_same_quantity(const struct result_row *one, const struct result_row *other)
{
    return strcmp(one->field[RESULT_VARIANT], other->field[RESULT_VARIANT]) == 0 &&
           strcmp(one->field[RESULT_METRIC], other->field[RESULT_METRIC]) == 0;
}

// A line a reason: what it is that has no values, and in how many rows.
static void print_valueless(const struct loaded *file, const char *benchmark, struct notes *notes)
{
    for (size_t i = 0; i < file->row_count; i++) {
        const struct result_row *row = &file->rows[i];
        size_t known = notes->count;
        if (!is_valueless(row, benchmark, row) || note_of(notes, row) <= known) continue;
        print_clean("  ", row->field[RESULT_STATUS], ": ");
        print_clean("", row->field[RESULT_REASON], " (");
        const struct result_row *last = NULL;
        size_t same = 0;
        for (size_t k = i; k <= file->row_count; k++) {
            const struct result_row *other = k < file->row_count ? &file->rows[k] : NULL;
            if (other && !is_valueless(other, benchmark, row)) continue;
            if (last && other && is_same_quantity(last, other)) {
                same++;
                continue;
            }
            if (same > 1) printf(" in %zu rows", same);
            if (!other) break;
            print_clean(last ? ", " : "", other->field[RESULT_VARIANT], other->field[RESULT_VARIANT][0] ? " " : "");
            print_clean("", other->field[RESULT_METRIC], "");
            last = other;
            same = 1;
        }
        printf(")\n");
    }
}

static void print_benchmark(const struct loaded *file, const char *benchmark)
{
    static const struct table_column columns[] = {
        {"variant", false}, {"metric", false}, {"params", false}, {"axis", false}, {"n", true},
        {"median", true},   {"95 %", true},    {"p99", true},     {"error", true}, {"status", false}};
    struct table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    struct notes notes = {.rows = malloc(file->row_count * sizeof *notes.rows)};
    if (!notes.rows) abort();
    size_t shown = 0;
    for (size_t i = 0; i < file->row_count; i++) {
        const struct result_row *row = &file->rows[i];
        if (strcmp(row->field[RESULT_BENCHMARK], benchmark) != 0 || isnan(result_number(row, RESULT_MEDIAN))) continue;
        add_row(&table, &notes, row);
        shown++;
    }
    print_clean("\n", benchmark, "\n");
    if (shown > 0) table_print(&table, stdout, 2);
    for (size_t i = 0; i < notes.count; i++) {
        printf("  [%zu] ", i + 1);
        print_clean("", notes.rows[i]->field[RESULT_STATUS], ": ");
        print_clean("", notes.rows[i]->field[RESULT_REASON], "\n");
    }
    print_valueless(file, benchmark, &notes);
    free(notes.rows);
    table_free(&table);
}

// The row of empty_kernel that gives METRIC for one launch through the runtime: with PARAMS, else the first.
static const struct result_row *find_runtime(const struct loaded *file, const char *metric, const char *params)
{
    const struct result_row *found = NULL;
    for (size_t i = 0; i < file->row_count; i++) {
        const struct result_row *row = &file->rows[i];
        if (strcmp(row->field[RESULT_BENCHMARK], "empty_kernel") != 0 ||
            strcmp(row->field[RESULT_VARIANT], "runtime") != 0 || strcmp(row->field[RESULT_METRIC], metric) != 0 ||
            strcmp(row->field[RESULT_AXIS], "none") != 0 || isnan(result_number(row, RESULT_MEDIAN)))
            continue;
        if (params && strcmp(row->field[RESULT_PARAMS], params) == 0) return row;
        if (!found) found = row;
    }
    return found;
}

// The parts share a stamp, so that they add up by construction; the whole without stamps is what they are held against.
static void print_sum(const struct loaded *file)
{
    const struct result_row *launch = find_runtime(file, "launch_latency", NULL);
    if (!launch) return;
    const struct result_row *completion = find_runtime(file, "completion_latency", launch->field[RESULT_PARAMS]);
    // The whole is that of an empty kernel: the same launch, less what says that it carries a stamp.
    char empty[256];
    const char *params = launch->field[RESULT_PARAMS], *stamp = strstr(params, ";kernel=stamp");
    snprintf(empty, sizeof empty, "%.*s", (int)(stamp ? stamp - params : (ptrdiff_t)strlen(params)), params);
    const struct result_row *whole = find_runtime(file, "round_trip", empty);
    if (!completion || !whole) return;
    double sum = result_number(launch, RESULT_MEDIAN) + result_number(completion, RESULT_MEDIAN);
    double whole_ns = result_number(whole, RESULT_MEDIAN);
    char text[2][TEXT_VALUE_BYTES];
    printf("\n  launch_latency + completion_latency = %s, uninstrumented round_trip = %s, ratio %.3f\n",
           text_value(text[0], sum, "ns"), text_value(text[1], whole_ns, "ns"), sum / whole_ns);
}

// A file has its rows in the order in which they ended; a person looks for a metric, its variants side by side, sweeps
// last.
static int by_place(const void *a, const void *b)
{
    const struct result_row *one = a, *other = b;
    static const enum result_column before[] = {RESULT_BENCHMARK, RESULT_AXIS, RESULT_METRIC, RESULT_PARAMS};
    bool swept = strcmp(one->field[RESULT_AXIS], "none") != 0,
         other_swept = strcmp(other->field[RESULT_AXIS], "none") != 0;
    int benchmark = strcmp(one->field[RESULT_BENCHMARK], other->field[RESULT_BENCHMARK]);
    if (benchmark == 0 && swept != other_swept) return swept - other_swept;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        int order = strcmp(one->field[before[i]], other->field[before[i]]);
        if (order != 0) return order;
    }
    double value = result_number(one, RESULT_AXIS_VALUE), other_value = result_number(other, RESULT_AXIS_VALUE);
    if (value != other_value && swept) return value < other_value ? -1 : 1;
    return strcmp(one->field[RESULT_VARIANT], other->field[RESULT_VARIANT]);
}

static void print_file(const struct loaded *file, const char *path)
{
    print_head(file, path);
    qsort(file->rows, file->row_count, sizeof *file->rows, by_place);
    for (size_t i = 0; i < file->row_count; i++) {
        const char *benchmark = file->rows[i].field[RESULT_BENCHMARK];
        size_t first = 0;
        while (strcmp(file->rows[first].field[RESULT_BENCHMARK], benchmark) != 0) first++;
        if (first == i) print_benchmark(file, benchmark);
    }
    print_sum(file);
}

static int show(int argc, char **argv)
{
    int status;
    char **paths = command_operands(&program, NULL, argc, argv, &status);
    for (size_t i = 0; paths && paths[i]; i++) {
        struct loaded file;
        bool whole = load(&file, paths[i], program.name);
        if (!whole) status = LIFTOFF_USAGE;
        if (i > 0) putchar('\n');
        if (file.metadata_count > 0 || file.row_count > 0 || whole) print_file(&file, paths[i]);
        load_free(&file);
    }
    return status;
}

const struct command show_command = {"show", &program, show};
