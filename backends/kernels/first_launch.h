// SPDX-License-Identifier: Apache-2.0
// Which kernels first_launch.cu has, and their arguments: shared with the host code that launches them.
#ifndef LIFTOFF_KERNELS_FIRST_LAUNCH_H
#define LIFTOFF_KERNELS_FIRST_LAUNCH_H

#include <stdint.h>

// `code_N` has so many KiB of straight code and jumps over it unless RUN; `code_none` has none. They store VALUE to the
// mapped word FLAG, plus what the code made of V, which is 0 unless it ran.
#define FIRST_LAUNCH_KIBIBYTES(X) X(1) X(4) X(16) X(64)
struct code_argument {
    uint32_t *flag;
    uint32_t value, run;
    float v, by, plus;
};

// `busy`: sets *STARTED, stays until *RELEASE is set or LIMIT_TICKS have passed, and sets *ENDED. The words are mapped.
struct busy_argument {
    uint32_t *started, *release, *ended;
    uint64_t limit_ticks;
};

#endif
