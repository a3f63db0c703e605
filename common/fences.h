// SPDX-License-Identifier: Apache-2.0
// What fences within a kernel cost, over the stores that they order: the metric `fence` of stream_fence.
#ifndef LIFTOFF_FENCES_H
#define LIFTOFF_FENCES_H

#include "common/bench.h"

// The kernels run in STREAM. fences_add comes after it.
enum gpu_status fences_open(struct gpu_stream *stream);
void fences_add(struct bench_plan *plan, bool quick);
void fences_close(void);

#endif
