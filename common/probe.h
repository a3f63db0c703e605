// SPDX-License-Identifier: Apache-2.0
// Probes: fresh processes for what a process can have but once (its first launch) or may not survive (a lost context).
//
// A measure function calls probe_run; the same binary is started again and calls the benchmark's `probe` function there,
// with the device closed. What it answers comes back.
#ifndef LIFTOFF_PROBE_H
#define LIFTOFF_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/gpu.h"
#include "common/child_order.h"

enum { PROBE_VALUES_MAX = 4608 }; // an answer travels as one message of wire.h

struct probe_answer {
    // Filled by the harness, on the clock of both processes: before the process was asked for, and when it had its first
    // word.
    uint64_t asked_ticks, entered_ticks;
    unsigned device; // to be opened
    bool died;       // probe_run answered GPU_FAILED because the process ended without a word

    // Filled by the probe as the benchmark likes.
    unsigned count;
    double values[PROBE_VALUES_MAX];
    char detail[128];
};

// Runs the calling benchmark's probe NAME with ENVIRONMENT ("VARIABLE=value" each, ended by NULL; or NULL) for at most
// TIMEOUT_S seconds. GPU_FAILED and GPU_UNSUPPORTED with the probe's reason, or with the way that its process ended.
enum gpu_status probe_run(const char *name, const char *const *environment, double timeout_s,
                          struct probe_answer *answer);

// For child.c: remembers what probes of this process are to be started with, and is the process of a probe.
struct benchmark;
void probe_init(const struct child_order *order, char **argv);
int probe_main(const struct benchmark *benchmark, const struct child_order *order);

#endif
