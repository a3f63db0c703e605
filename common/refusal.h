// SPDX-License-Identifier: Apache-2.0
// Launches that are invalid or ask for too much and are to be refused, and kernels that use more than they were given:
// the benchmark `resources` measures what each costs, `validation` what the refusing call costs alone.
#ifndef LIFTOFF_REFUSAL_H
#define LIFTOFF_REFUSAL_H

#include "common/bench.h"

// The kinds of request. Those from REFUSAL_LAUNCHES on are no launches but calls that come before one.
enum { REFUSAL_LAUNCHES = 12, REFUSAL_KINDS = 14 };

struct refusal {
    struct gpu_launch launch;
    size_t bytes; // for the calls: of stack a thread, or of shared memory a block
};

// A short word; a row's variant.
const char *refusal_name(unsigned kind);

// What the row's value depends on: the cause, the entry point and the kernel, as `params`.
const char *refusal_params(unsigned kind);

// True of the few that stand for all with --quick.
bool refusal_is_quick(unsigned kind);

// Fills REFUSAL with a request of KIND, to be submitted by gpu_launch_code. GPU_UNSUPPORTED where this device has no
// such request, or no limit that is known.
enum gpu_status refusal_prepare(unsigned kind, struct gpu_stream *stream, struct refusal *refusal);

// To be answered for a request that was not refused: GPU_UNSUPPORTED, and C's detail says so.
enum gpu_status refusal_taken(struct bench_case *c);

// For the benchmark `resources`: adds failure_cost and context_survived to PLAN, and is its probe for the kernels.
// refusal_probe answers GPU_FAILED to a name that it does not know.
enum gpu_status refusal_plan(struct bench_plan *plan, bool quick);
enum gpu_status refusal_probe(const char *name, struct probe_answer *answer);
void refusal_close(void);

#endif
