// SPDX-License-Identifier: Apache-2.0
// A measuring process. See child.h.
#include "common/child.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/bench.h"
#include "common/clock.h"
#include "common/pin.h"
#include "common/probe.h"
#include "common/result.h"
#include "common/shuffle.h"
#include "common/stats.h"
#include "common/wire.h"

enum { CASES_MAX = 1024, CASE_ROUNDS_MAX = 64 };

// How a case stands in this process. Round medians are kept to know when to stop; samples go to the parent.
struct progress {
    unsigned first_row;
    unsigned target; // rounds to take: 0 none, WIRE_DECIDE as many as it needs
    bool ended;
    unsigned rounds, samples;
    double spent_s;
    struct stats_round *medians[BENCH_OUTPUTS_MAX]; // CASE_ROUNDS_MAX each
};

struct bench_plan {
    struct bench_case cases[CASES_MAX];
    struct progress progress[CASES_MAX];
    unsigned count, rows;
};

static struct {
    const struct child_order *order;
    const struct settings *settings;
    struct bench_plan plan;
    double *values; // one round of one case
    struct wire_round *round;
    uint64_t random;
    bool elsewhere; // only probes measure: this thread waits for them, and may lose its core as it likes
} child;

// --- Telling the parent ------------------------------------------------------------------------------------

// A parent that is gone ends this process at the next write: there is nobody to measure for.
static void tell(bool sent)
{
    if (!sent) _exit(1);
}

static void tell_fact(void *context, const char *key, const char *value)
{
    (void)context;
    tell(wire_send_texts(child.order->to_parent, WIRE_FACT, 0, (const char *[]){key, value}, 2));
}

static int fatal(enum gpu_status status, const char *reason)
{
    tell(wire_send_texts(child.order->to_parent, WIRE_FATAL, status, &reason, 1));
    return 1;
}

// --- The plan ----------------------------------------------------------------------------------------------

void bench_add(struct bench_plan *plan, const struct bench_case *template_case)
{
    if (plan->count == CASES_MAX) abort();
    struct bench_case *added = &plan->cases[plan->count];
    *added = *template_case;
    if (!added->variant) added->variant = "";
    if (!added->axis) added->axis = "none";
    if (added->batch == 0) added->batch = 1;
    if (added->budget_share == 0) added->budget_share = 1;
    if (added->samples == 0) added->samples = 1;
    if (added->samples > BENCH_ROUND_SAMPLES_MAX) added->samples = BENCH_ROUND_SAMPLES_MAX;
    struct progress *progress = &plan->progress[plan->count++];
    progress->first_row = plan->rows;
    for (unsigned o = 0; o < BENCH_OUTPUTS_MAX && added->outputs[o].metric; o++) {
        struct bench_output *output = &added->outputs[o];
        if (!output->estimator) output->estimator = added->once ? "once" : "distribution";
        if (output->resolution == 0 && strcmp(output->unit, "ns") == 0)
            output->resolution = clock_resolution_ns() / added->batch;
        progress->medians[o] = calloc(CASE_ROUNDS_MAX, sizeof **progress->medians);
        if (!progress->medians[o]) abort();
        plan->rows++;
    }
}

bool bench_server_asked(void) { return child.settings->mps; }

static void tell_plan(const struct bench_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++) {
        const struct bench_case *c = &plan->cases[i];
        char value[32], batch[16];
        snprintf(batch, sizeof batch, "%u", c->batch);
        result_format(value, strcmp(c->axis, "none") == 0 ? NAN : c->axis_value);
        for (unsigned o = 0; o < BENCH_OUTPUTS_MAX && c->outputs[o].metric; o++) {
            const struct bench_output *output = &c->outputs[o];
            const char *texts[PLAN_TEXTS] = {[PLAN_VARIANT] = c->variant, [PLAN_METRIC] = output->metric,
                                             [PLAN_UNIT] = output->unit,  [PLAN_BETTER] = output->better,
                                             [PLAN_PARAMS] = c->params,   [PLAN_AXIS] = c->axis,
                                             [PLAN_AXIS_VALUE] = value,   [PLAN_ESTIMATOR] = output->estimator,
                                             [PLAN_BATCH] = batch};
            tell(
                wire_send_texts(child.order->to_parent, WIRE_PLAN, plan->progress[i].first_row + o, texts, PLAN_TEXTS));
        }
    }
    tell(wire_send(child.order->to_parent, WIRE_PLANNED, plan->rows, NULL, 0));
}

// The parent answers a plan with one number a row; a case takes the most that any of its rows is to have.
static bool hear_selection(struct bench_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++)
        for (unsigned o = 0; o < BENCH_OUTPUTS_MAX && plan->cases[i].outputs[o].metric; o++) {
            uint32_t target;
            if (read(child.order->from_parent, &target, sizeof target) != sizeof target) return false;
            if (target > plan->progress[i].target) plan->progress[i].target = target;
        }
    return true;
}

// --- Rounds ------------------------------------------------------------------------------------------------

static void drop_fact(void *context, const char *key, const char *value)
{
    (void)context;
    (void)key;
    (void)value;
}

// Whether the device has been throttled in this process; asked at most four times a second, because asking takes time.
static bool was_throttled(void)
{
    static bool throttled;
    static uint64_t asked;
    if (asked && clock_ns(clock_ticks() - asked) < 250e6) return throttled;
    bool now = false;
    gpu_state(child.order->device, "", drop_fact, NULL, &now);
    asked = clock_ticks();
    return throttled = throttled || now;
}

static void end_case(struct bench_plan *plan, unsigned i, enum gpu_status status)
{
    const struct bench_case *c = &plan->cases[i];
    struct progress *progress = &plan->progress[i];
    progress->ended = true;
    char payload[sizeof(struct wire_end) + 512];
    const char *reason = status == GPU_OK ? "" : gpu_error();
    int bytes = snprintf(payload + sizeof(struct wire_end), 256, "%s", reason) + 1;
    struct wire_end end = {status, was_throttled()}; // after the reason: asking may set another
    memcpy(payload, &end, sizeof end);
    bytes += snprintf(payload + sizeof end + bytes, 256, "%s", c->detail) + 1;
    for (unsigned o = 0; o < BENCH_OUTPUTS_MAX && c->outputs[o].metric; o++)
        tell(wire_send(child.order->to_parent, WIRE_ROW_END, progress->first_row + o, payload,
                       sizeof end + (size_t)bytes));
}

// The moment for a round's account: involuntary switches of this thread, its time on a core, and time.
struct account {
    long switches;
    double core_s, wall_s;
};

static struct account account_now(void)
{
    struct rusage usage;
    struct timespec core;
    getrusage(RUSAGE_THREAD, &usage);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &core);
    return (struct account){usage.ru_nivcsw, (double)core.tv_sec + (double)core.tv_nsec / 1e9,
                            (double)clock_gettime_ns() / 1e9};
}

static enum gpu_status measure(struct bench_case *c)
{
    unsigned lead = c->samples < BENCH_LEAD_MIN ? 0 : BENCH_LEAD;
    memset(c->error_bound, 0, sizeof c->error_bound); // the round's own, also where its samples' are gathered
    struct account before = account_now();
    enum gpu_status status = c->measure(c, c->samples + lead, child.values);
    struct account after = account_now();
    child.round->elapsed_s = after.wall_s - before.wall_s;
    child.round->lost_s = child.elsewhere || c->sleeps || after.switches == before.switches
                              ? 0
                              : child.round->elapsed_s - (after.core_s - before.core_s);
    for (unsigned o = 0; status == GPU_OK && o < BENCH_OUTPUTS_MAX && c->outputs[o].metric; o++) {
        memmove(child.values + o * c->samples, child.values + o * (c->samples + lead) + lead,
                c->samples * sizeof(double));
        for (unsigned v = 0; v < c->samples; v++)
            if (!isfinite(child.values[o * c->samples + v]))
                return gpu_reason(GPU_FAILED, "a sample of %s is not a number", c->outputs[o].metric);
    }
    return status;
}

static void tell_round(struct bench_plan *plan, unsigned i)
{
    const struct bench_case *c = &plan->cases[i];
    struct progress *progress = &plan->progress[i];
    size_t bytes = c->samples * sizeof(double);
    for (unsigned o = 0; o < BENCH_OUTPUTS_MAX && c->outputs[o].metric; o++) {
        double *values = child.values + o * c->samples;
        memcpy(child.round->values, values, bytes);
        stats_sort(values, c->samples);
        child.round->median = stats_quantile(values, c->samples, 0.5);
        child.round->error_bound = c->error_bound[o];
        child.round->resolution = c->outputs[o].resolution;
        child.round->samples = c->samples;
        progress->medians[o][progress->rounds] = (struct stats_round){child.round->median, 0};
        tell(wire_send(child.order->to_parent, WIRE_ROUND, progress->first_row + o, child.round,
                       sizeof *child.round + bytes));
    }
    progress->rounds++;
    progress->samples += c->samples;
}

// Whether this process has done its share. The first one finds out how many rounds that is: enough rounds and samples
// for the interval and the p99 over all processes, and either the precision or the end of the budget. The others take
// as many, so that each has the same weight in the row.
static bool is_enough(const struct bench_case *c, const struct progress *progress)
{
    unsigned processes = child.order->processes;
    unsigned rounds_min = (STATS_ROUNDS_MIN + processes - 1) / processes;
    if (c->once || c->rounds) return progress->rounds == (c->once ? 1 : c->rounds);
    if (progress->target != WIRE_DECIDE) return progress->rounds >= progress->target;
    if (progress->rounds < rounds_min) return false;
    if (progress->rounds == CASE_ROUNDS_MAX || progress->samples + c->samples > WIRE_SAMPLES_MAX / processes)
        return true;
    if (progress->spent_s >= child.settings->budget_s * c->budget_share / processes) return true;
    if (progress->samples * processes < STATS_P99_MIN) return false;
    for (unsigned o = 0; o < BENCH_OUTPUTS_MAX && c->outputs[o].metric; o++) {
        double resolution = c->outputs[o].resolution;
        struct stats_interval interval = stats_median_interval(progress->medians[o], progress->rounds, resolution);
        double middle = (interval.low + interval.high) / 2;
        if (!(stats_relative_error(interval, middle, resolution) <= child.settings->precision_percent / 100))
            return false;
    }
    return true;
}

static void run_round(struct bench_plan *plan, unsigned i)
{
    struct bench_case *c = &plan->cases[i];
    struct progress *progress = &plan->progress[i];
    enum gpu_status status = measure(c);
    progress->spent_s += child.round->elapsed_s;
    if (status == GPU_OK) tell_round(plan, i);
    else end_case(plan, i, status);
}

// One round that nobody counts warms code, caches and clocks; what cannot be measured says so here already.
static void warm_up(struct bench_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++) {
        struct bench_case *c = &plan->cases[i];
        if (!plan->progress[i].target || plan->progress[i].ended || c->once || c->no_warm_up) continue;
        unsigned samples = c->samples;
        c->samples = 1;
        enum gpu_status status = measure(c);
        c->samples = samples;
        if (status) end_case(plan, i, status);
    }
}

// What only the first processes measure.
static void leave_out(struct bench_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++) {
        unsigned processes = plan->cases[i].processes;
        if (plan->progress[i].target && processes && child.order->process >= processes) end_case(plan, i, GPU_OK);
    }
}

static void run_rounds(struct bench_plan *plan)
{
    static unsigned order[CASES_MAX];
    for (;;) {
        unsigned count = 0;
        for (unsigned i = 0; i < plan->count; i++)
            if (plan->progress[i].target && !plan->progress[i].ended) order[count++] = i;
        if (count == 0) return;
        shuffle(order, count, &child.random);
        for (unsigned k = 0; k < count; k++) {
            run_round(plan, order[k]);
            if (!plan->progress[order[k]].ended && is_enough(&plan->cases[order[k]], &plan->progress[order[k]]))
                end_case(plan, order[k], GPU_OK);
        }
    }
}

// --- The two kinds of child --------------------------------------------------------------------------------

static void tell_state(const char *moment)
{
    bool throttled = false;
    gpu_state(child.order->device, moment, tell_fact, NULL, &throttled);
    if (throttled) tell_fact(NULL, "throttled", moment);
}

static int run_facts(void)
{
    unsigned count;
    if (gpu_count(&count)) return fatal(GPU_FAILED, gpu_error());
    char text[32];
    snprintf(text, sizeof text, "%u", count);
    tell_fact(NULL, "device_count", text);
    if (child.order->device < count) {
        if (strcmp(child.order->moment, "start") == 0 && gpu_facts(child.order->device, tell_fact, NULL))
            return fatal(GPU_FAILED, gpu_error());
        tell_state(child.order->moment);
    }
    tell(wire_send(child.order->to_parent, WIRE_END, 0, NULL, 0));
    return 0;
}

static int run_benchmark(const struct benchmark *benchmark)
{
    struct pin_place place;
    const char *pci = child.order->pci_bus_id[0] ? child.order->pci_bus_id : NULL;
    const char *unpinned = pin_thread(child.settings->pin, pci, &place);
    if (unpinned && child.order->pu >= 0) return fatal(GPU_FAILED, unpinned);
    clock_init();
    child.elsewhere = benchmark->probes_only;
    if (!benchmark->probes_only && gpu_open(child.order->device)) return fatal(GPU_FAILED, gpu_error());

    size_t room = (size_t)BENCH_OUTPUTS_MAX * (BENCH_ROUND_SAMPLES_MAX + BENCH_LEAD) * sizeof *child.values;
    child.values = malloc(room);
    child.round = calloc(1, sizeof *child.round + BENCH_ROUND_SAMPLES_MAX * sizeof(double));
    if (!child.values || !child.round) return fatal(GPU_FAILED, "no memory for samples");
    memset(child.values, 1, room); // touched before it is timed
    child.random = clock_gettime_ns() | 1;

    enum gpu_status status = benchmark->setup(&child.plan, child.settings->quick);
    if (status) return fatal(status, gpu_error());
    tell_plan(&child.plan);
    if (!hear_selection(&child.plan)) return 1;
    leave_out(&child.plan);
    warm_up(&child.plan);
    clock_init(); // the calibration's base is longer now
    run_rounds(&child.plan);
    if (benchmark->teardown) benchmark->teardown();
    if (!benchmark->probes_only) gpu_close();
    tell(wire_send(child.order->to_parent, WIRE_END, 0, NULL, 0));
    return 0;
}

int child_run(const struct child_order *order, const struct settings *settings, char **argv)
{
    child.order = order;
    child.settings = settings;
    prctl(PR_SET_PDEATHSIG, SIGKILL); // again, for the sake of a runner that stands between this process and its parent
    if (order->benchmark[0] == '\0') return run_facts();
    probe_init(order, argv);
    for (size_t i = 0; benchmarks[i]; i++)
        if (strcmp(benchmarks[i]->name, order->benchmark) == 0)
            return order->probe[0] ? probe_main(benchmarks[i], order) : run_benchmark(benchmarks[i]);
    return fatal(GPU_FAILED, "the parent asked for a benchmark that this binary lacks");
}
