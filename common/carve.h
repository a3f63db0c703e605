// SPDX-License-Identifier: Apache-2.0
// The benchmark `resources`' period of kernels that want their multiprocessors' common store divided differently.
#ifndef LIFTOFF_CARVE_H
#define LIFTOFF_CARVE_H

#include "common/bench.h"

// Adds `period` to PLAN. sync_open has been called.
enum gpu_status carve_plan(struct bench_plan *plan, bool quick);
void carve_close(void);

#endif
