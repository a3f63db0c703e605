// SPDX-License-Identifier: Apache-2.0
// A folder for files that somebody else writes and nobody keeps.
#ifndef LIFTOFF_SCRATCH_H
#define LIFTOFF_SCRATCH_H

#include "backends/gpu.h"

struct scratch {
    char path[256]; // "" while there is none
};

// Makes an empty folder in TMPDIR (/tmp). GPU_FAILED with the reason.
enum gpu_status scratch_make(struct scratch *scratch);

// The size of all the files in it; 0 while there is none.
long long scratch_bytes(const struct scratch *scratch);

// Removes it with all that is in it, if there is one.
void scratch_remove(struct scratch *scratch);

#endif
