// SPDX-License-Identifier: Apache-2.0
// `liftoff check`: what is wrong with a result file as a whole: its metadata, end mark, keys and missing rows.
#include "analysis/check.h"

#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command.h"
#include "analysis/text.h"

static const struct option_row no_rows[] = {{.name = NULL}};
static const struct option_program program = {
    .name = "liftoff check",
    .summary = "say what is wrong with result files",
    .operands = "FILE...",
    .description =
        "Prints one line a fault, FILE:LINE: what, and how many rows there are of each status. Rows that failed or "
        "timed out are no faults of the file: they say what happened.\n\n"
        "Exit status: 0 if there is no fault; 2 if there is one, for wrong usage, or if a file cannot be read; 5 "
        "if the output could not be written.",
    .rows = no_rows,
};

// What every machine can tell; all but command_line also with --anonymous.
static const char *const mandatory[] = {"liftoff_version",     "run_id",    "backend",      "device",
                                        "device_index",        "start_utc", "kernel",       "cpu_model",
                                        "command_line",        "options",   "clock_source", "clock_cost_ns",
                                        "clock_resolution_ns", "compiler",  "processes"};
enum { MANDATORY = sizeof mandatory / sizeof *mandatory };

// What must be the same throughout a file, in metadata and rows.
static const enum result_column labels[] = {RESULT_RUN_ID, RESULT_BACKEND, RESULT_DEVICE};
enum { LABELS = sizeof labels / sizeof *labels };

struct benchmark_rows {
    char *name;
    unsigned long planned, rows;
    bool has_plan;
    bool only_setup; // it failed before it could say what it would measure: one row, metric `setup`
};

struct key {
    unsigned long line;
    size_t bytes;
    char text[];
};

struct file {
    struct check *check;
    unsigned long line; // the last one
    bool seen[MANDATORY], anonymous, interrupted, ended, goes_on;
    char *label[LABELS];
    struct benchmark_rows *benchmarks;
    size_t benchmark_count;
    void *keys; // a tree of struct key
};

void check_fault(struct check *check, unsigned long line, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printf("%s:%lu: %s\n", check->path, line, text_clean(text));
    check->faults++;
}

static void *must(void *memory)
{
    if (!memory) abort();
    return memory;
}

static struct benchmark_rows *find_benchmark(struct file *file, const char *name)
{
    for (size_t i = file->benchmark_count; i-- > 0;) // rows of a benchmark follow each other
        if (strcmp(file->benchmarks[i].name, name) == 0) return &file->benchmarks[i];
    file->benchmarks = must(realloc(file->benchmarks, (file->benchmark_count + 1) * sizeof *file->benchmarks));
    struct benchmark_rows *benchmark = &file->benchmarks[file->benchmark_count++];
    *benchmark = (struct benchmark_rows){.name = must(strdup(name)), .only_setup = true};
    return benchmark;
}

static void check_plan(struct file *file, char *plan)
{
    char *end, *space = strrchr(plan, ' ');
    unsigned long planned = space && space[1] >= '0' && space[1] <= '9' ? strtoul(space + 1, &end, 10) : ULONG_MAX;
    if (planned == ULONG_MAX || *end || space == plan) {
        check_fault(file->check, file->line, "plan '%s' is not BENCHMARK N", plan);
        return;
    }
    *space = '\0';
    struct benchmark_rows *benchmark = find_benchmark(file, plan);
    benchmark->planned = planned;
    benchmark->has_plan = true;
}

static void check_label(struct file *file, size_t label, const char *value)
{
    char **known = &file->label[label];
    if (*known && strcmp(*known, value) == 0) return;
    if (*known)
        check_fault(file->check, file->line, "%s is '%s' here and '%s' above", result_column_names[labels[label]],
                    value, *known);
    free(*known);
    *known = must(strdup(value));
}

static void check_metadata(struct file *file, const char *key, const char *value)
{
    for (size_t i = 0; i < MANDATORY; i++)
        if (*value && strcmp(key, mandatory[i]) == 0) file->seen[i] = true;
    for (size_t i = 0; i < LABELS; i++)
        if (strcmp(key, result_column_names[labels[i]]) == 0) check_label(file, i, value);
    if (strcmp(key, "anonymous") == 0) file->anonymous = strcmp(value, "true") == 0;
    if (strcmp(key, "injection") == 0)
        check_fault(file->check, file->line, "falsified by injection (%s), not a result", value);
    if (strcmp(key, "interrupted") == 0) {
        file->interrupted = true;
        check_fault(file->check, file->line, "interrupted by %s", value);
    }
    char *copy = must(strdup(value)), *rest = copy, *name;
    if (strcmp(key, "plan") == 0) check_plan(file, copy);
    if (strcmp(key, "benchmarks") == 0)
        while ((name = strsep(&rest, " ")))
            if (*name) find_benchmark(file, name);
    free(copy);
}

static int compare_keys(const void *a, const void *b)
{
    const struct key *left = a, *right = b;
    if (left->bytes != right->bytes) return left->bytes < right->bytes ? -1 : 1;
    return memcmp(left->text, right->text, left->bytes);
}

static void check_duplicate(struct file *file, const struct result_row *row)
{
    enum { PARTS = sizeof result_key / sizeof *result_key };
    size_t bytes[PARTS], total = 0;
    for (size_t i = 0; i < PARTS; i++) total += bytes[i] = strlen(row->field[result_key[i]]) + 1;
    struct key *key = must(malloc(sizeof *key + total)), **found;
    char *to = key->text;
    key->line = file->line;
    key->bytes = total;
    for (size_t i = 0; i < PARTS; to += bytes[i++]) memcpy(to, row->field[result_key[i]], bytes[i]);
    found = must(tsearch(key, &file->keys, compare_keys));
    if (*found == key) return;
    check_fault(file->check, file->line, "the same key as line %lu: %s, %s, %s, %s, %s, %s", (*found)->line,
                row->field[RESULT_BENCHMARK], row->field[RESULT_VARIANT], row->field[RESULT_METRIC],
                row->field[RESULT_PARAMS], row->field[RESULT_AXIS], row->field[RESULT_AXIS_VALUE]);
    free(key);
}

static void check_line(struct file *file, enum result_item item, const struct result_line *line)
{
    file->line = line->number;
    if (file->ended && !file->goes_on && item != RESULT_BAD) {
        check_fault(file->check, line->number, "the file goes on behind its end mark");
        file->goes_on = true;
    }
    if (item == RESULT_END_MARK) file->ended = true;
    if (item == RESULT_BAD) check_fault(file->check, line->number, "%s", line->fault);
    if (item == RESULT_METADATA) check_metadata(file, line->key, line->value);
    if (item != RESULT_ROW) return;
    for (size_t i = 0; i < LABELS; i++) check_label(file, i, line->row.field[labels[i]]);
    struct benchmark_rows *benchmark = find_benchmark(file, line->row.field[RESULT_BENCHMARK]);
    benchmark->rows++;
    benchmark->only_setup = benchmark->only_setup && strcmp(line->row.field[RESULT_METRIC], "setup") == 0;
    check_duplicate(file, &line->row);
    check_row(file->check, line->number, &line->row);
}

static void check_counts(struct file *file, const struct benchmark_rows *of)
{
    if (of->rows == 0 && !of->has_plan) check_fault(file->check, file->line, "%s: not one row", of->name);
    else if (!of->has_plan && !of->only_setup)
        check_fault(file->check, file->line, "%s: %lu rows, but no plan says how many there should be", of->name,
                    of->rows);
    else if (of->has_plan && of->rows < of->planned)
        check_fault(file->check, file->line, "%s: %lu of %lu rows missing", of->name, of->planned - of->rows,
                    of->planned);
    else if (of->has_plan && of->rows > of->planned)
        check_fault(file->check, file->line, "%s: %lu rows, %lu planned", of->name, of->rows, of->planned);
}

static void check_whole(struct file *file)
{
    for (size_t i = 0; i < MANDATORY; i++) {
        bool excused = file->anonymous && strcmp(mandatory[i], "command_line") == 0;
        if (!file->seen[i] && !excused) check_fault(file->check, file->line, "metadata %s is missing", mandatory[i]);
    }
    for (size_t i = 0; i < file->benchmark_count; i++) check_counts(file, &file->benchmarks[i]);
    if (!file->ended && !file->interrupted)
        check_fault(file->check, file->line, "no end mark: the run did not end, or the file is cut off");
}

static void check_file(struct check *check, const char *path)
{
    check->path = path;
    struct result_reader *reader = result_reader_open(path);
    if (!reader) {
        fprintf(stderr, "%s: %s: %s\n", program.name, path, strerror(errno));
        check->faults++;
        return;
    }
    struct file file = {.check = check};
    struct result_line line;
    enum result_item item;
    bool hopeless = false; // the reader gave up before the first row: this is no result file, and that is all to say
    for (unsigned long rows = check->rows; (item = result_reader_next(reader, &line)) != RESULT_EOF;) {
        check_line(&file, item, &line);
        hopeless = item == RESULT_BAD && check->rows == rows;
    }
    result_reader_close(reader);
    if (!hopeless) check_whole(&file);

    tdestroy(file.keys, free);
    for (size_t i = 0; i < LABELS; i++) free(file.label[i]);
    for (size_t i = 0; i < file.benchmark_count; i++) free(file.benchmarks[i].name);
    free(file.benchmarks);
}

static int check_command_run(int argc, char **argv)
{
    int status;
    struct check check = {0};
    char **paths = command_operands(&program, NULL, argc, argv, &status);
    if (!paths) return status;
    for (; *paths; paths++) check_file(&check, *paths);
    printf("%lu rows: ", check.rows);
    for (int i = 0; i < CHECK_STATUSES; i++) printf("%s%lu %s", i ? ", " : "", check.with_status[i], check_statuses[i]);
    putchar('\n');
    return check.faults ? LIFTOFF_USAGE : LIFTOFF_DONE;
}

const struct command check_command = {"check", &program, check_command_run};
