// SPDX-License-Identifier: Apache-2.0
// How often launches ask the operating system: system calls of a process from its first call of the vendor's on, phase
// by phase. For a benchmark that has such rows among its own.
#ifndef LIFTOFF_CALL_COUNTS_H
#define LIFTOFF_CALL_COUNTS_H

#include "common/bench.h"

// Adds the rows ioctls_… and syscalls_… to PLAN.
void call_counts_plan(struct bench_plan *plan);

// What the benchmark's probe does for the name CALL_COUNTS_PROBE.
#define CALL_COUNTS_PROBE "call_counts"
enum gpu_status call_counts_probe(struct probe_answer *answer);

#endif
