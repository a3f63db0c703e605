// SPDX-License-Identifier: Apache-2.0
// The kernels in resources.cu, their argument, and what they leave behind.
#ifndef LIFTOFF_KERNELS_RESOURCES_H
#define LIFTOFF_KERNELS_RESOURCES_H

#include <stdint.h>

// Nominal registers a thread, bytes of static shared memory a block, bytes of local memory a thread: X(of each).
#define RESOURCES_REGISTERS(X) X(16) X(32) X(64) X(128) X(168) X(255)
#define RESOURCES_STATIC(X) X(1024) X(8192) X(16384) X(49152)
#define RESOURCES_LOCAL(X) X(0) X(1024) X(8192) X(32768)

enum { HOLD_THREADS = 128, HOLD_ZEROS = 256 };

struct hold_stamp {
    uint64_t begin_ticks, end_ticks; // the first thread's first and last clock read
    uint64_t sequence;               // the argument's, if all that was kept came back
    uint64_t multiprocessor;
};

// All of them: each block stays on its multiprocessor for SPIN_TICKS with all that it holds, and writes OUT[its index].
// `hold_dynamic`, `carve_first` and `carve_second` are alike.
struct hold_argument {
    struct hold_stamp *out;
    uint64_t sequence; // 1 …
    uint64_t spin_ticks;
    const uint32_t *zeros; // HOLD_ZEROS a block
    uint64_t shared_bytes; // of the launch's dynamic shared memory
};

#endif
