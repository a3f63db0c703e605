// SPDX-License-Identifier: Apache-2.0
// The kernels in stream_order.cu and their argument; what they leave behind is a hold_stamp of resources.h.
#ifndef LIFTOFF_KERNELS_STREAM_ORDER_H
#define LIFTOFF_KERNELS_STREAM_ORDER_H

#include "backends/kernels/resources.h"

enum { WRITE_THREADS = 1024 };

// `write`: all threads together store SEQUENCE to each of COUNT words. Each block then leaves OUT[its index], whose end
// is read when its stores have been issued; if FENCED, when all of the device can see them.
// `look`, one block: leaves *OUT, under SEQUENCE only if four of the words, from the first to the last, hold it. It
// begins before it looks.
struct write_argument {
    struct hold_stamp *out;
    uint64_t sequence; // 1 …
    uint64_t *words;
    uint64_t count;
    uint32_t fenced;
};

#endif
