// SPDX-License-Identifier: Apache-2.0
// What an earlier, incomplete result file already holds, for --resume.
#ifndef LIFTOFF_RESUME_H
#define LIFTOFF_RESUME_H

#include <stdbool.h>
#include <stdio.h>

#include "common/metadata.h"

struct resume;

// Reads PATH. NULL after a message on stderr if it cannot be read, is of another device, driver, version or
// injection than FACTS and this binary, or only one of them could be pinned.
struct resume *resume_open(const char *path, const struct facts *facts);

// Reads PATH's options and benchmarks into SETTINGS. False after a message on stderr. Parent and children do so alike.
bool resume_settings(const char *path, struct settings *settings);

// Whether there is nothing to measure: the file has its end mark and all rows, and no row failed.
bool resume_is_whole(const struct resume *resume, const struct settings *settings);

// How many rows of BENCHMARK are to be measured: they are not there, or failed.
unsigned resume_lacks(const struct resume *resume, const char *benchmark);
void resume_free(struct resume *resume); // accepts NULL

// A metadata value, or NULL.
const char *resume_metadata(const struct resume *resume, const char *key);

// Whether the row with this KEY (benchmark, variant, metric, params, axis, axis_value) is there and is neither failed
// nor timeout.
bool resume_has(const struct resume *resume, const char *const key[6]);
bool resume_has_plan(const struct resume *resume, const char *benchmark);

// Writes what is kept: metadata, header, plans and rows to FILE; their samples to SAMPLES, unless that is NULL.
void resume_copy(const struct resume *resume, FILE *file, FILE *samples);

// Writes BENCHMARK's rows that failed or timed out: for want of new ones they are kept, too.
void resume_copy_failed(const struct resume *resume, const char *benchmark, FILE *file);

#endif
