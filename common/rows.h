// SPDX-License-Identifier: Apache-2.0
// The rows of one benchmark while its processes measure them: what was announced, the samples so far, and the verdict.
#ifndef LIFTOFF_ROWS_H
#define LIFTOFF_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/result.h"
#include "common/stats.h"
#include "common/wire.h"

// How a row ends; the words of the column `status`.
enum row_status { ROW_OK, ROW_UNSTEADY, ROW_UNSUPPORTED, ROW_FAILED, ROW_TIMEOUT, ROW_STATUS_COUNT };
extern const char *const row_status_words[ROW_STATUS_COUNT];

struct row {
    char *texts; // owns what text points into
    const char *text[PLAN_TEXTS];
    bool wanted, final, written;
    bool ended; // in the process that runs now

    double *values; // in the order taken
    size_t value_count, value_room;
    size_t process_ends[PROCESSES_MAX]; // of values
    struct stats_round *rounds;
    size_t round_count, round_room;
    uint32_t first_rounds;          // of them, the first process's
    double elapsed_s, lost_s;       // of its rounds
    double error_bound, resolution; // the largest of its rounds
    bool throttled;

    enum row_status status;
    char reason[256], detail[256];
};

// All rows of one benchmark, in the order announced.
struct rows {
    const char *benchmark;
    struct row *row;
    unsigned count;
    double precision; // a fraction
};

// Takes the announcement of row INDEX. False if it is not the one that comes next, or, once the plan is whole, not the
// same as the first process announced.
bool rows_announce(struct rows *rows, unsigned index, const char *payload, size_t bytes);

// Takes a round of PROCESS. False if the message is malformed.
bool rows_round(struct rows *rows, unsigned index, unsigned process, const char *payload, size_t bytes);

// Takes a row's end in PROCESS of PROCESSES: unsupported, failed, or the last process's end makes it final.
bool rows_end(struct rows *rows, unsigned index, unsigned process, unsigned processes, const char *payload,
              size_t bytes);

// Makes every wanted row that is not final nor ended final with STATUS and REASON.
void rows_abandon(struct rows *rows, enum row_status status, const char *reason);

// Before each process: no row has ended in it yet. Returns how many rows it has to measure.
unsigned rows_next_process(struct rows *rows);

// Judges a final row and fills LINE's fields from VARIANT on; texts live in ROW and in SCRATCH until the next call.
struct rows_scratch {
    char text[RESULT_COLUMN_COUNT][32];
    char detail[256 + 16 * PROCESSES_MAX + 32];
};
void rows_describe(const struct rows *rows, struct row *row, struct rows_scratch *scratch, struct result_row *line);

// Writes the row's samples, a line a process, thinned to RESULT_SAMPLES_MAX in all: one at random of every so many.
void rows_write_samples(const struct rows *rows, const struct row *row, FILE *file);

void rows_free(struct rows *rows);

#endif
