// SPDX-License-Identifier: Apache-2.0
// Reads what the blocks of a holding kernel (backends/kernels/resources.h) tell: when they ran, and how many at once.
#ifndef LIFTOFF_HOLD_H
#define LIFTOFF_HOLD_H

#include "backends/gpu.h"
#include "backends/kernels/common.h"
#include "backends/kernels/resources.h"

// The first begin and the last end of COUNT (1 …) blocks. GPU_FAILED if one did not run under SEQUENCE, or lost what it
// held; GPU_UNSUPPORTED if it names a multiprocessor that cannot be.
enum gpu_status hold_span(const struct hold_stamp *stamps, unsigned count, uint64_t sequence, uint64_t *begin_ticks,
                          uint64_t *end_ticks);

// Of each multiprocessor that ran any of COUNT (1 …) blocks, those that began before any block had ended on it; the
// median over the multiprocessors. The stamps passed hold_span.
double hold_resident(const struct hold_stamp *stamps, unsigned count);

#endif
