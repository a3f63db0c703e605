// SPDX-License-Identifier: Apache-2.0
// The one line on the terminal that says what is being measured.
#include "common/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"

enum { BAR_COLUMNS = 24 };

void progress_begin(struct progress_line *line, const char *when, double seconds)
{
    *line = (struct progress_line){.begin_ns = clock_gettime_ns(), .seconds = seconds};
    line->shown = strcmp(when, "always") == 0 || (strcmp(when, "auto") == 0 && isatty(STDERR_FILENO));
}

void progress_benchmark(struct progress_line *line, const char *benchmark, double seconds)
{
    line->seconds_done += line->benchmark_seconds;
    line->benchmark = benchmark;
    line->benchmark_seconds = seconds;
    line->rows = line->rows_done = 0;
}

void progress_process(struct progress_line *line, unsigned process, unsigned processes)
{
    line->process = process;
    line->processes = processes;
    progress_draw(line);
}

void progress_plan(struct progress_line *line, unsigned rows)
{
    line->rows = rows;
    progress_draw(line);
}

void progress_row(struct progress_line *line)
{
    line->rows_done++;
    progress_draw(line);
}

void progress_draw(struct progress_line *line)
{
    if (!line->shown) return;
    double share = line->benchmark_seconds * line->process / line->processes;
    double part = line->seconds > 0 ? (line->seconds_done + share) / line->seconds : 0;
    int filled = part < 1 ? (int)(BAR_COLUMNS * part) : BAR_COLUMNS;
    fprintf(stderr, "\r\033[K[%.*s%*s] %4.1f s  %s, process %u of %u, %u of %u rows", filled,
            "########################", BAR_COLUMNS - filled, "", (double)(clock_gettime_ns() - line->begin_ns) / 1e9,
            line->benchmark, line->process + 1, line->processes, line->rows_done, line->rows);
    fflush(stderr);
}

void progress_end(struct progress_line *line)
{
    if (line->shown) fprintf(stderr, "\r\033[K");
}
