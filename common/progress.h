// SPDX-License-Identifier: Apache-2.0
// The one line on the terminal that says what is being measured.
#ifndef LIFTOFF_PROGRESS_H
#define LIFTOFF_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress_line {
    bool shown;
    uint64_t begin_ns;
    double seconds, seconds_done; // forecast for the whole run, and of the benchmarks that have ended
    const char *benchmark;
    double benchmark_seconds;
    unsigned process, processes, rows, rows_done;
};

// WHEN is "auto" (if stderr is a terminal), "always" or "never".
void progress_begin(struct progress_line *line, const char *when, double seconds);
void progress_benchmark(struct progress_line *line, const char *benchmark, double seconds);
void progress_process(struct progress_line *line, unsigned process, unsigned processes);
void progress_plan(struct progress_line *line, unsigned rows);
void progress_row(struct progress_line *line);
void progress_draw(struct progress_line *line);
void progress_end(struct progress_line *line); // clears it

#endif
