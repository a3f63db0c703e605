// SPDX-License-Identifier: Apache-2.0
// What a measuring program was asked to do: the command line, filled from the table in settings.c.
#ifndef LIFTOFF_SETTINGS_H
#define LIFTOFF_SETTINGS_H

#include <stdbool.h>

#include "common/options.h"

struct settings {
    bool list, quick, mps, no_samples, anonymous;
    const char *device; // an index, or "all"
    const char *output, *resume, *pin, *progress;
    bool pin_given; // then a run that cannot be pinned is none
    double precision_percent, budget_s, timeout_s;
    unsigned processes; // 0: 6, or 1 with --quick
    char **names;       // the benchmarks that were named, ended by NULL; none: all
};

// The exit statuses of liftoff-*.
enum {
    EXIT_OK = 0,
    EXIT_ROWS = 1,
    EXIT_USAGE = 2,
    EXIT_DEVICE = 3,
    EXIT_OUTPUT = 5,
    EXIT_INTERRUPT = 130,
    EXIT_TERMINATE = 143
};

// Parses the command line. OPTIONS_RUN: *SETTINGS is filled and every name in it exists.
enum options_outcome settings_parse(struct settings *settings, int argc, char **argv);

// For --resume: takes the options and benchmarks of an earlier run, as its metadata `options` and `benchmarks` have
// them. False after a message on stderr if they cannot be understood. BENCHMARKS must outlive SETTINGS.
bool settings_adopt(struct settings *settings, const char *options, char *benchmarks);

// Whether BENCHMARK is to run.
bool settings_select(const struct settings *settings, const char *benchmark);

#endif
