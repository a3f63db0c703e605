// SPDX-License-Identifier: Apache-2.0
// A result file: metadata, rows and end mark of schema 1 (docs/schema.md), written row by row and read back.
#ifndef LIFTOFF_RESULT_H
#define LIFTOFF_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// The columns, in the file's order.
#define RESULT_COLUMNS(X)                                                                                              \
    X(SCHEMA, "schema")                                                                                                \
    X(RUN_ID, "run_id") X(BACKEND, "backend") X(DEVICE, "device") X(BENCHMARK, "benchmark") X(VARIANT, "variant")      \
        X(METRIC, "metric") X(UNIT, "unit") X(BETTER, "better") X(PARAMS, "params") X(AXIS, "axis")                    \
            X(AXIS_VALUE, "axis_value") X(DETAIL, "detail") X(STATUS, "status") X(REASON, "reason")                    \
                X(ESTIMATOR, "estimator") X(SAMPLES, "samples") X(BATCH, "batch") X(MIN, "min") X(P05, "p05")          \
                    X(MEDIAN, "median") X(P95, "p95") X(P99, "p99") X(MAX, "max") X(MEAN, "mean") X(STDDEV, "stddev")  \
                        X(MEDIAN_LOW, "median_low") X(MEDIAN_HIGH, "median_high") X(ERROR_BOUND, "error_bound")

enum result_column {
#define RESULT_ENUM(id, name) RESULT_##id,
    RESULT_COLUMNS(RESULT_ENUM)
#undef RESULT_ENUM
        RESULT_COLUMN_COUNT
};

enum { RESULT_SCHEMA_VERSION = 1, RESULT_SAMPLES_MAX = 1000 };

extern const char *const result_column_names[RESULT_COLUMN_COUNT];

// A row: one text a column, "" where a field is empty. The texts belong to whoever filled the row.
struct result_row {
    const char *field[RESULT_COLUMN_COUNT];
};

// The columns that tell rows of one file apart, for comparing keys.
extern const enum result_column result_key[6];
bool result_same_key(const struct result_row *a, const struct result_row *b);

// A field as a number; NAN where it is empty or no number. Independent of the locale.
double result_number(const struct result_row *row, enum result_column column);

// True for the metrics whose values may be negative (docs/schema.md lists them); this is the one place that knows them.
bool result_is_signed(const char *metric);

// Writes VALUE as the file does: shortest of up to 7 significant digits, a whole number in full from 1e7 to 1e15, `.`
// whatever the locale, "" for NAN and INFINITY. Keeps order: a <= b is still so as written. TEXT holds at least 32
// bytes. Returns TEXT.
char *result_format(char *text, double value);

// --- Writing: into any FILE, so that a caller can build a row in memory and write it with one call ---------

// `# key: value`; line breaks in either become spaces.
void result_write_metadata(FILE *file, const char *key, const char *value);
void result_write_header(FILE *file);
void result_write_row(FILE *file, const struct result_row *row);
void result_write_end(FILE *file); // `# end`

// One CSV field, quoted where RFC 4180 asks for it (comma, quote, CR, LF; also a leading `#` or space).
void result_write_field(FILE *file, const char *text);

// --- Reading -----------------------------------------------------------------------------------------------

// A file as it is read, a line at a time; memory does not grow with its length. Fields are limited to 1 MiB a row.
struct result_reader;

enum result_item { RESULT_METADATA, RESULT_ROW, RESULT_END_MARK, RESULT_EOF, RESULT_BAD };

struct result_line {
    unsigned long number;    // of the line in the file, from 1
    const char *key, *value; // RESULT_METADATA: `# key: value`; a `#` line without colon is skipped
    struct result_row row;   // RESULT_ROW
    const char *fault;       // RESULT_BAD: what is wrong, for a person, without file name and line
};

// NULL and errno if PATH cannot be opened. result_reader_close accepts NULL.
struct result_reader *result_reader_open(const char *path);
void result_reader_close(struct result_reader *reader);

// The next item. Pointers in LINE are valid until the next call. RESULT_BAD leaves the reader usable for the lines that
// follow, except where the header is foreign or missing, the file is binary (a NUL byte) or cannot be read: then EOF
// follows.
enum result_item result_reader_next(struct result_reader *reader, struct result_line *line);

#endif
