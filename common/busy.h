// SPDX-License-Identifier: Apache-2.0
// A kernel in a stream of its own that keeps the device from being idle, for as long as the host likes.
#ifndef LIFTOFF_BUSY_H
#define LIFTOFF_BUSY_H

#include <stdbool.h>

#include "backends/gpu.h"
#include "backends/kernels/first_launch.h"

struct busy {
    struct gpu_stream *stream;
    uint32_t *words; // mapped: started, release, ended
    struct gpu_launch launch;
    struct busy_argument argument;
};

enum gpu_status busy_open(struct busy *busy);

// Starts the kernel, which ends by itself after LIMIT_NS, and returns when it runs. None of BUSY's runs before.
enum gpu_status busy_begin(struct busy *busy, double limit_ns);

bool busy_ended(const struct busy *busy);

// Lets the kernel go and waits for its end, whatever happened before. Answers STATUS if it is not GPU_OK.
enum gpu_status busy_end(struct busy *busy, enum gpu_status status);

#endif
