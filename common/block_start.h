// SPDX-License-Identifier: Apache-2.0
// The benchmark `warm_up`'s start of blocks: how far apart they begin, and when all multiprocessors are busy.
#ifndef LIFTOFF_BLOCK_START_H
#define LIFTOFF_BLOCK_START_H

#include "common/bench.h"

// Adds `block_start_skew` and `all_busy_latency` to PLAN, launched into STREAM. sync_open has been called.
enum gpu_status block_start_plan(struct bench_plan *plan, struct gpu_stream *stream);
void block_start_close(void);

#endif
