// SPDX-License-Identifier: Apache-2.0
// What a benchmark is: a descriptor, the cases it announces, and one function a case that measures a round of samples.
//
// bench/NAME.c defines `const struct benchmark NAME_benchmark`; the build finds it, no list is to be edited. Its setup
// runs in a fresh process with the device open, adds cases (each becomes one row an output), and the harness then calls
// the cases' measure functions in rounds, in shuffled order, until each is precise enough or its budget is spent.
#ifndef LIFTOFF_BENCH_H
#define LIFTOFF_BENCH_H

#include "backends/gpu.h"

// BENCH_LEAD: samples that begin a round and do not count: they would pay for what was done between the rounds. Rounds
// of fewer than BENCH_LEAD_MIN samples, which are long ones, have none.
enum { BENCH_OUTPUTS_MAX = 5, BENCH_ROUND_SAMPLES_MAX = 256, BENCH_LEAD = 2, BENCH_LEAD_MIN = 5 };
enum { BENCH_DETAIL_BYTES = 128 };

// Metric and unit are columns of the result (docs/schema.md).
struct bench_output {
    const char *metric, *unit;
    const char *better;    // "lower", "higher" or "none"
    const char *estimator; // NULL: "distribution"
    double resolution;     // the smallest step that one sample can show, in UNIT; 0: the host clock's over the batch
};

struct bench_case {
    const char *variant; // "" where there is one way
    char params[160];    // "key=value;key=value", sorted
    const char *axis;    // NULL: "none"
    double axis_value;
    struct bench_output outputs[BENCH_OUTPUTS_MAX]; // ended by a NULL metric

    unsigned batch;      // operations a sample; 0: 1
    unsigned samples;    // samples a round, 1 … BENCH_ROUND_SAMPLES_MAX
    bool once;           // measured once a process: an event that a process can have but once
    unsigned rounds;     // exactly so many a process; 0: as many as it needs
    unsigned processes;  // how many of the run's processes measure it: what is dear and hardly varies; 0: all
    bool sleeps;         // the calls may sleep: time off the core is no sign of other work there
    bool no_warm_up;     // not even one uncounted round before the first
    double budget_share; // of --budget, for one of many points of a sweep; 0: 1

    // Takes SAMPLES samples (the lead included); sample I of output O goes to VALUES[O * SAMPLES + I], in the output's
    // unit. May set error_bound and detail. GPU_UNSUPPORTED and GPU_FAILED end the case, with gpu_error() as the
    // reason.
    enum gpu_status (*measure)(struct bench_case *, unsigned samples, double *values);
    double argument; // for measure, as the benchmark likes

    double error_bound[BENCH_OUTPUTS_MAX]; // systematic error of this round, in the output's unit; zero before it
    char detail[BENCH_DETAIL_BYTES];
};

struct bench_plan;
struct probe_answer;

// Copies TEMPLATE; announces its outputs. For setup only.
void bench_add(struct bench_plan *plan, const struct bench_case *template_case);

// Whether --mps was given: gpu_server_start may be called.
bool bench_server_asked(void);

struct benchmark {
    const char *name, *summary;
    const char *source;            // the claim or document that defines the quantity
    double seconds, quick_seconds; // how long a default and a --quick run take on an H200, for the forecast
    enum gpu_status (*setup)(struct bench_plan *plan, bool quick);
    void (*teardown)(void);
    enum gpu_status (*probe)(const char *name, struct probe_answer *answer); // what probe_run asks for (probe.h)
    bool probes_only; // all is measured in probes: the measuring process does not open the device
};

// All benchmarks of this build, ended by NULL; generated from bench/*.c.
extern const struct benchmark *const benchmarks[];

#endif
