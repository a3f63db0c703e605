// SPDX-License-Identifier: Apache-2.0
// The files of one run: NAME.csv, whole after every row, and NAME.samples.csv beside it.
#ifndef LIFTOFF_OUTPUT_H
#define LIFTOFF_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "common/result.h"

struct output;

// Creates PATH and, unless SAMPLES is false, its samples file; neither may exist. NULL after a message on stderr.
// With REPLACE the files are built under temporary names and take PATH's place in output_close.
struct output *output_create(const char *path, bool samples, bool replace);

// What is printed to this goes to the file with the next output_flush, in one write.
FILE *output_text(struct output *output);
FILE *output_samples_text(struct output *output);

// False after a message on stderr if the disk did not take it: the file then ends with the last flush that succeeded.
bool output_flush(struct output *output);

// Brings what was written to the disk if the last time is a second ago. False as output_flush.
bool output_tick(struct output *output);

// Flushes, syncs, puts replaced files into place and frees OUTPUT. False as output_flush.
bool output_close(struct output *output);

// PATH without `.csv`, and SUFFIX; for the samples file's name. The caller frees it.
char *output_beside(const char *path, const char *suffix);

#endif
