// SPDX-License-Identifier: Apache-2.0
// Runs a process's first launches under the counters, and makes rows of what they counted. See call_counts.h.
#include "common/call_counts.h"

#include <stdio.h>
#include <string.h>

#include "common/launch.h"
#include "common/probe.h"
#include "common/syscalls.h"

enum { STEADY_LAUNCHES = 1000, STEADY_DRAIN = 200, SYNCHRONIZES = 100 };
static const double PROBE_TIMEOUT_S = 20;

enum phase { PHASE_NONE, PHASE_CONTEXT, PHASE_FIRST_LAUNCH, PHASE_STEADY, PHASE_SYNCHRONIZE, PHASES };

static const struct {
    const char *ioctls, *syscalls;
    double calls; // of ours in it
} phases[PHASES] = {[PHASE_CONTEXT] = {"ioctls_context", "syscalls_context", 1},
                    [PHASE_FIRST_LAUNCH] = {"ioctls_first_launch", "syscalls_first_launch", 1},
                    [PHASE_STEADY] = {"ioctls_per_launch", "syscalls_per_launch", STEADY_LAUNCHES},
                    [PHASE_SYNCHRONIZE] = {"ioctls_synchronize", "syscalls_synchronize", SYNCHRONIZES}};

static const struct {
    const char *variant;
    bool syscalls; // all of them, not ioctl alone
} countings[] = {{"interposed", false}, {"traced", false}, {"traced", true}};
enum { INTERPOSED, TRACED_IOCTLS, TRACED_SYSCALLS, COUNTINGS };

static unsigned probed_device;

// What is counted. It runs in the traced process, which has opened nothing.
static enum gpu_status work(void)
{
    struct stamp_launch stamps;
    struct gpu_launch launch;
    struct gpu_stream *stream;
    unsigned devices;

    syscalls_phase(PHASE_CONTEXT);
    enum gpu_status status = gpu_count(&devices);
    if (!status) status = gpu_open(probed_device);
    syscalls_phase(PHASE_NONE);
    if (!status) status = gpu_stream_create(&stream);
    if (status) return status;

    syscalls_phase(PHASE_FIRST_LAUNCH);
    status = launch_prepare_empty(&launch, stream);
    if (!status) status = gpu_launch_runtime(&launch);
    syscalls_phase(PHASE_NONE);
    if (!status) status = gpu_stream_synchronize(stream);

    for (unsigned k = 0; k < STEADY_LAUNCHES && !status; k += STEADY_DRAIN) {
        syscalls_phase(PHASE_STEADY);
        for (unsigned i = 0; i < STEADY_DRAIN && !status; i++) status = gpu_launch_runtime(&launch);
        syscalls_phase(PHASE_NONE);
        if (!status) status = gpu_stream_synchronize(stream);
    }

    syscalls_phase(PHASE_SYNCHRONIZE);
    for (unsigned k = 0; k < SYNCHRONIZES && !status; k++) status = gpu_stream_synchronize(stream);
    syscalls_phase(PHASE_NONE);
    if (!status) status = stamp_launch_open(&stamps, stream, 1);
    return status ? status : stamp_launch_prove(&stamps);
}

// The answer: why nothing was traced (errno) or 0, and for each phase what each counting counted.
enum gpu_status call_counts_probe(struct probe_answer *answer)
{
    static struct syscalls_counts counts;
    probed_device = answer->device;
    enum gpu_status status = syscalls_count(work, &counts);
    if (status) return status;
    if (counts.refused && !counts.phase[PHASE_CONTEXT].interposed)
        return gpu_reason(GPU_UNSUPPORTED,
                          "no ioctl call was seen while the context was made, and without ptrace (%s) nobody can tell "
                          "whether there were any",
                          strerror(counts.refused));
    answer->values[answer->count++] = counts.refused;
    for (unsigned p = 1; p < PHASES; p++) {
        answer->values[answer->count++] = (double)counts.phase[p].interposed;
        answer->values[answer->count++] = (double)counts.phase[p].ioctls;
        answer->values[answer->count++] = (double)counts.phase[p].syscalls;
    }
    return GPU_OK;
}

// ioctls_context, syscalls_context: gpu_count and gpu_open, in a fresh process. …_first_launch: the first kernel's
// preparation and launch, until the call returns. …_per_launch: 1000 later launches, drained outside the phase after
// each 200. …_synchronize: a wait for an idle stream. All are a call's, of all threads of the process.
static enum gpu_status measure_counts(struct bench_case *c, unsigned samples, double *values)
{
    static struct probe_answer answer; // one probe answers for all cases of the process
    static struct gpu_outcome outcome;
    static bool asked;
    if (!asked) gpu_outcome_keep(&outcome, probe_run(CALL_COUNTS_PROBE, NULL, PROBE_TIMEOUT_S, &answer));
    asked = true;
    if (outcome.status) return gpu_outcome_tell(&outcome);
    int counting = (int)c->argument;
    if (counting != INTERPOSED && answer.values[0] != 0)
        return gpu_reason(GPU_UNSUPPORTED, "ptrace: %s", strerror((int)answer.values[0]));
    for (unsigned p = 1; p < PHASES; p++)
        for (unsigned i = 0; i < samples; i++)
            values[(p - 1) * samples + i] = answer.values[1 + (p - 1) * COUNTINGS + counting] / phases[p].calls;
    return GPU_OK;
}

void call_counts_plan(struct bench_plan *plan)
{
    for (int counting = 0; counting < COUNTINGS; counting++) {
        struct bench_case c = {.variant = countings[counting].variant,
                               .params = LAUNCH_PARAMS,
                               .argument = counting,
                               .once = true,
                               .processes = 2,
                               .measure = measure_counts};
        for (unsigned p = 1; p < PHASES; p++)
            c.outputs[p - 1] = (struct bench_output){
                countings[counting].syscalls ? phases[p].syscalls : phases[p].ioctls, "count", "lower", "count"};
        bench_add(plan, &c);
    }
}
