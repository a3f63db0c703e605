// SPDX-License-Identifier: Apache-2.0
// Chases: loads that depend on each other, through a working set that was touched in the same launch or the one before.
#ifndef LIFTOFF_RELOAD_H
#define LIFTOFF_RELOAD_H

#include <stddef.h>

#include "backends/gpu.h"
#include "backends/kernels/cache_loss.h"
#include "common/bench.h"

// What is chased through: global memory, by either kind of load; a constant table, by lines of 64 and of 256 bytes; the
// kernel's parameters; one line of each page.
enum reload_memory {
    RELOAD_GLOBAL,
    RELOAD_READ_ONLY,
    RELOAD_CONSTANT,
    RELOAD_CONSTANT_LONG,
    RELOAD_PARAMETERS,
    RELOAD_PAGES,
    RELOAD_MEMORIES
};

// What is between the touch of the set and the chase; with FIRST_PASS there is no touch, with SECOND_PASS both are in
// one launch, else in two.
enum reload_way {
    RELOAD_FIRST_PASS,
    RELOAD_SECOND_PASS,
    RELOAD_NEXT_LAUNCH,
    RELOAD_AFTER_SWEEP,
    RELOAD_OTHER_KERNEL,
    RELOAD_GRAPH,
    RELOAD_DEPENDENT,
    RELOAD_IDLE,
    RELOAD_WAYS
};

// BYTES: a power of two of lines; of RELOAD_CONSTANT at least RELOAD_CONSTANT_BYTES_MIN, of RELOAD_PAGES at most
// RELOAD_PAGES_MAX pages.
enum { RELOAD_PAGES_MAX = 32768 };
struct reload {
    enum reload_memory memory;
    enum reload_way way;
    uint64_t bytes;
};

// Takes memory for working sets of up to BYTES, but for pages. The device is open. reload_close takes what is half
// open.
enum gpu_status reload_open(size_t bytes);
void reload_close(void);

// The column `memory` of the parameters; from one line of a set to the next; how many loads are timed.
const char *reload_memory_name(enum reload_memory memory);
size_t reload_line_bytes(enum reload_memory memory);
unsigned reload_loads(const struct reload *reload);

// Makes the working sets. GPU_UNSUPPORTED where this way, or so much memory, cannot be had.
enum gpu_status reload_prepare(const struct reload *reload);

// Of what was prepared last, one touch and chase on each multiprocessor that has a set. *CYCLES: a load's, the median
// over them; *BOUND is raised to its systematic error. DETAIL takes BENCH_DETAIL_BYTES.
enum gpu_status reload_measure(const struct reload *reload, double *cycles, double *bound, char *detail);

#endif
