// SPDX-License-Identifier: Apache-2.0
// A folder for files that somebody else writes and nobody keeps.
#ifndef LIFTOFF_SCRATCH_H
#define LIFTOFF_SCRATCH_H

#include "backends/gpu.h"

enum { SCRATCH_SETTINGS_MAX = 4 };

struct scratch {
    char path[256]; // "" while there is none
};

// Makes an empty folder in TMPDIR, or where the system keeps such. GPU_FAILED with the reason.
enum gpu_status scratch_make(struct scratch *scratch);

// The size of all the files in it; 0 while there is none.
long long scratch_bytes(const struct scratch *scratch);

// Appends ENTRIES ("VARIABLE=value" each, ended by NULL) to ENVIRONMENT from COUNT on, the folder's path behind those
// that end with =, and a NULL; at most SCRATCH_SETTINGS_MAX do, and those last until the next call. How many there are
// then, without the NULL.
unsigned scratch_complete(const struct scratch *scratch, const char *const *entries, const char **environment,
                          unsigned count);

// Removes it with all that is in it, if there is one.
void scratch_remove(struct scratch *scratch);

#endif
