// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels in graph.cu, shared by kernels and the host code that launches them.
#ifndef LIFTOFF_KERNELS_GRAPH_H
#define LIFTOFF_KERNELS_GRAPH_H

#include "backends/kernels/common.h"

// `append`, `append_while`: stamps OUT[*COUNT] if that is below ROOM, and adds 1 to *COUNT; no two may run at once.
// `append_while` then sets the condition of HANDLE: 1 while *COUNT is below ROOM, else 0.
struct append_argument {
    struct stamp *out;
    uint64_t *count;
    uint64_t sequence;
    uint64_t room;
    uint64_t handle;
};

#endif
