// SPDX-License-Identifier: Apache-2.0
// The argument of the kernel in geometry.cu, and what it leaves behind.
#ifndef LIFTOFF_KERNELS_GEOMETRY_H
#define LIFTOFF_KERNELS_GEOMETRY_H

#include <stdint.h>

#include "backends/kernels/common.h"

// `wave`: each block stays on its multiprocessor for SPIN_TICKS, all its threads with it, and writes OUT[its index].
struct wave_argument {
    struct stamp *out; // a block each: its first thread's first and last clock read
    uint64_t sequence;
    uint64_t spin_ticks;
};

#endif
