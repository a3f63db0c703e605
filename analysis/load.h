// SPDX-License-Identifier: Apache-2.0
// A whole result file in memory, for commands that need all of its rows at once.
#ifndef LIFTOFF_ANALYSIS_LOAD_H
#define LIFTOFF_ANALYSIS_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "common/result.h"

struct loaded {
    struct loaded_metadata {
        char *key, *value;
    } *metadata;
    struct result_row *rows;
    size_t metadata_count, row_count;
    bool ended; // there is an end mark
};

// Reads PATH into *FILE, to be freed with load_free in any case. What cannot be read is told on stderr in PROGRAM's
// name, and the rest is loaded. False if there was such a fault.
bool load(struct loaded *file, const char *path, const char *program);
void load_free(struct loaded *file);

// The last value of KEY, or OTHERWISE.
const char *load_metadata(const struct loaded *file, const char *key, const char *otherwise);

#endif
