// SPDX-License-Identifier: Apache-2.0
// Probes: fresh processes for what a process can have but once (its first launch) or may not survive (a lost context).
//
// A measure function calls probe_run; the same binary is started again and calls the benchmark's `probe` function
// there, with the device closed. What it answers comes back. probe_run_group does it in several processes at the same
// time.
#ifndef LIFTOFF_PROBE_H
#define LIFTOFF_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/gpu.h"
#include "common/child_order.h"

enum { PROBE_VALUES_MAX = 4608 }; // an answer travels as one message of wire.h

struct probe_answer {
    // Filled by the harness, on the clock of both processes: before the process was asked for, and when it had its
    // first word.
    uint64_t asked_ticks, entered_ticks;
    unsigned device; // to be opened
    bool crashed;    // probe_run answered GPU_FAILED because a signal ended the process

    // Filled by the probe as the benchmark likes.
    unsigned count;
    double values[PROBE_VALUES_MAX];
    char detail[128];
};

// Runs the calling benchmark's probe NAME with ENVIRONMENT ("VARIABLE=value" each, ended by NULL; or NULL) for at most
// TIMEOUT_S seconds. GPU_FAILED and GPU_UNSUPPORTED with the probe's reason, or with the way that its process ended.
enum gpu_status probe_run(const char *name, const char *const *environment, double timeout_s,
                          struct probe_answer *answer);

// In a probe: sends ANSWER as it is so far, in case the process does not survive what comes next. If so, it is what
// probe_run leaves in its ANSWER beside GPU_FAILED; from a process that had sent nothing that is all zeros.
bool probe_say(const struct probe_answer *answer);

// --- Groups: several probes at once ------------------------------------------------------------------------

enum { PROBE_GROUP_MAX = 4 };

struct probe_member {
    enum gpu_status status;
    char reason[256]; // where STATUS is not GPU_OK
    struct probe_answer answer;
};

// As probe_run in COUNT (1 … PROBE_GROUP_MAX) processes at once, the first on this thread's core and the others beside
// it. *SHARED are SHARED_BYTES of memory that all of them and this process see, zeroed, valid until the next call. One
// that ends takes no other with it; those that wait for it are told. Answers the first member's fault that is not the
// consequence of another's; MEMBERS have all of them.
enum gpu_status probe_run_group(const char *name, const char *const *environment, unsigned count, double timeout_s,
                                void **shared, size_t shared_bytes, struct probe_member *members);

// In a probe of a group: which of the members this is, from 0, and their common memory.
unsigned probe_member(void);
void *probe_shared(void);

// Returns when all members of the group have come here, within about 0.1 ms of each other. GPU_FAILED if one of them
// has ended instead, or does not come within TIMEOUT_S.
enum gpu_status probe_meet(double timeout_s);

// For child.c: remembers what probes of this process are to be started with, and is the process of a probe.
struct benchmark;
void probe_init(const struct child_order *order, char **argv);
int probe_main(const struct benchmark *benchmark, const struct child_order *order);

#endif
