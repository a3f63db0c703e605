// SPDX-License-Identifier: Apache-2.0
// Which part of a pattern that one kernel left in shared or device memory another one finds: rows of cache_loss.
#ifndef LIFTOFF_SURVIVAL_H
#define LIFTOFF_SURVIVAL_H

#include <stddef.h>

#include "backends/kernels/common.h"
#include "backends/kernels/survival.h"
#include "common/bench.h"
#include "common/probe.h"

// For a benchmark's setup, probe and teardown. The probes' names begin with "survival_".
enum gpu_status survival_add(struct bench_plan *plan, bool quick);
enum gpu_status survival_probe(const char *name, struct probe_answer *answer);
void survival_close(void);

// --- What it is made of, for tests -------------------------------------------------------------------------

enum survival_kernel { LEAVE, LOOK, EITHER, LEAVE_MEMORY, LOOK_MEMORY, WHOLE, SURVIVAL_KERNELS };

// A random seed, never 0.
enum gpu_status survival_seed(uint32_t *seed);

// Fills every multiprocessor with blocks of what follows. The device is open.
enum gpu_status survival_open(void);

// What a launch left a pattern in. Small enough to be shared between processes.
struct survival_left {
    uint32_t seed, memory_seed;
    unsigned char on[MULTIPROCESSORS_MAX]; // by multiprocessor: a block was there
};

// Leaves the pattern of LEFT->seed with LEAVER and looks for that of SEED with LOOKER, right behind it in the stream.
// *SURVIVED: of the words in blocks on multiprocessors where a block had left it. DETAIL takes
// BENCH_DETAIL_BYTES, or is NULL.
enum gpu_status survival_pair(enum survival_kernel leaver, enum survival_kernel looker, struct survival_left *left,
                              uint32_t seed, double *survived, char *detail);

// The two halves.
enum gpu_status survival_leave(enum survival_kernel leaver, struct survival_left *left);
enum gpu_status survival_look(enum survival_kernel looker, const struct survival_left *left, uint32_t seed,
                              double *survived, char *detail);

// The pattern of SEED in COUNT words of device memory, and the share of them that has it.
enum gpu_status survival_leave_memory(void *words, size_t count, uint32_t seed);
enum gpu_status survival_look_memory(void *words, size_t count, uint32_t seed, double *survived);

#endif
