// SPDX-License-Identifier: Apache-2.0
// The kernel in dependent_launch.cu, its argument and what it leaves behind.
#ifndef LIFTOFF_KERNELS_DEPENDENT_LAUNCH_H
#define LIFTOFF_KERNELS_DEPENDENT_LAUNCH_H

#include <stdint.h>

// What a link of a chain makes of the value that the one before it left.
#define DEPENDENT_NEXT(value) ((value)*6364136223846793005u + 1442695040888963407u)

// BEGIN: a block's first clock read. READY: past its wait; where there is none, BEGIN. END: its value is stored.
struct dependent_stamp {
    uint64_t begin_ticks, ready_ticks, end_ticks;
    uint64_t value;
    uint64_t sequence;
};

// When a block lets the next link start: past its own wait, halfway through its work, or when it has done that. Without
// a trigger its end does.
enum dependent_trigger {
    DEPENDENT_TRIGGER_NEVER,
    DEPENDENT_TRIGGER_START,
    DEPENDENT_TRIGGER_MIDDLE,
    DEPENDENT_TRIGGER_END
};

// `dependent_link`: each block waits for the link before if WAITS, reads the value that this one's next block (of its
// first, the last) left at BEFORE (NULL: SEQUENCE stands for it), works for SPIN_TICKS, and leaves OUT[its index].
struct dependent_argument {
    struct dependent_stamp *out;
    const struct dependent_stamp *before;
    uint64_t sequence; // 1 …
    uint64_t spin_ticks;
    uint32_t trigger; // enum dependent_trigger
    uint32_t waits;
};

#endif
