// SPDX-License-Identifier: Apache-2.0
// The argument of the kernel in synchronize.cu.
#ifndef LIFTOFF_KERNELS_SYNCHRONIZE_H
#define LIFTOFF_KERNELS_SYNCHRONIZE_H

#include "backends/kernels/common.h"

// `stamp_flag`: does what `stamp` does, and stores VALUE to the mapped word FLAG right after the last clock read.
struct stamp_flag_argument {
    struct stamp_argument stamp;
    uint32_t *flag;
    uint32_t value;
};

#endif
