// SPDX-License-Identifier: Apache-2.0
// Ways of waiting for a kernel: how soon the host knows of its end, and how much of a core it burns until then.
//
// How the vendor's calls wait is decided when the device is opened, so each way of opening is a probe. It measures all
// its points and answers with every sample, which the cases then hand out round by round.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backends/gpu_stream.h"
#include "backends/kernels/synchronize.h"
#include "common/bench.h"
#include "common/parts.h"
#include "common/probe.h"

GPU_KERNEL(stamp_flag);

enum method { STREAM, EVENT, DEVICE, STREAM_QUERY, EVENT_QUERY, MAPPED_FLAG, METHODS };
enum { POLLING = STREAM_QUERY, SLEEP_PAYS = DEVICE }; // those from here on poll; those before it also with long kernels

static const char *const method_names[METHODS] = {"stream",       "event",       "device",
                                                  "stream_query", "event_query", "mapped_flag"};
static const char *const wait_names[GPU_WAITS] = {"spin", "yield", "block"};
// A round is a window of the clocks, which is to be short: few samples of long kernels. WINDOWS: rounds in a probe.
static const struct {
    unsigned ns, samples;
} kernels[] = {{10000, 57}, {1000000, 10}};
enum { KERNELS = 2, POINTS_MAX = 8, WINDOWS = 6, SAMPLES_MAX = WINDOWS * (57 + BENCH_LEAD), PROCESSES = 3, WARM = 3 };
static const double PROBE_LIMIT_S = 20, FLAG_LIMIT_NS = 1e9;

enum output { COMPLETION, CPU, ROUND_TRIP, OUTPUTS };

// One row or more: a way of waiting for kernels of one length.
struct point {
    enum method method;
    unsigned kernel;
};

// Of one way of opening the device. The measuring process and the probe must agree on it.
static unsigned list_points(enum gpu_wait wait, bool quick, struct point points[POINTS_MAX])
{
    unsigned count = 0;
    for (unsigned kernel = 0; kernel < (quick ? 1 : KERNELS); kernel++)
        for (unsigned method = 0; method < METHODS; method++) {
            if (method >= POLLING && wait != GPU_WAIT_SPIN) continue;
            if (kernel > 0 && method >= SLEEP_PAYS) continue;
            if (quick && (method != STREAM || wait == GPU_WAIT_YIELD)) continue;
            assert(count < POINTS_MAX);
            points[count++] = (struct point){(enum method)method, kernel};
        }
    return count;
}

struct told_point {
    struct gpu_outcome outcome;
    float bounds[OUTPUTS];
    float process_cpu_ns, process_waits_ns, process_bound; // over all windows
    float values[OUTPUTS][SAMPLES_MAX];
};

// The answer of a probe: what it carries are bytes to the harness.
struct told {
    struct told_point points[POINTS_MAX];
};
_Static_assert(sizeof(struct told) <= sizeof((struct probe_answer *)0)->values, "an answer holds no more");

// --- In the probe: one wait --------------------------------------------------------------------------------

static struct {
    struct chain chain;
    struct parts parts;
    struct gpu_event *event;
    uint32_t *flag; // mapped
    struct gpu_launch flagged;
    struct stamp_flag_argument flagged_argument;
    double cpu_ratio[PARTS_ROOM];
    double process_cpu_ns, process_waits_ns; // of a window
    struct told told;
} probe;

static double cpu_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static enum gpu_status poll_query(bool of_event)
{
    bool ended = false;
    enum gpu_status status = GPU_OK;
    while (!ended && !status)
        status = of_event ? gpu_event_query(probe.event, &ended) : gpu_stream_query(probe.chain.stream, &ended);
    return status;
}

static enum gpu_status poll_flag(uint32_t value)
{
    uint64_t begin = clock_ticks();
    for (unsigned polls = 1; __atomic_load_n(probe.flag, __ATOMIC_ACQUIRE) != value; polls++)
        if (polls % 65536 == 0 && clock_ns(clock_ticks() - begin) > FLAG_LIMIT_NS)
            return gpu_reason(GPU_FAILED, "the kernel's flag did not reach the host");
    return GPU_OK;
}

static enum gpu_status wait_by(enum method method)
{
    switch (method) {
    case EVENT: return gpu_event_synchronize(probe.event);
    case DEVICE: return gpu_device_synchronize();
    case STREAM_QUERY: return poll_query(false);
    case EVENT_QUERY: return poll_query(true);
    case MAPPED_FLAG: return poll_flag(probe.flagged_argument.value);
    default: return gpu_stream_synchronize(probe.chain.stream);
    }
}

// One launch into an idle device, and one wait that begins while the kernel runs, so that what the host does before it
// waits is over by the kernel's end.
// completion_latency: from the last thread's last clock read until the wait has returned.
// round_trip: from before the launch until then.
// cpu_time: of the waiting thread, from after the launch until after the wait, over the time from just before the first
// look at it until just after the last.
// process_cpu_time: of all threads of this process, looked at just before and just after, over the time from before
// the first of those looks until after the last, both summed over all samples: the system books the time of a thread
// that runs elsewhere now and then only.
static enum gpu_status take_sample(enum method method)
{
    struct parts *parts = &probe.parts;
    const bool marked = method == EVENT || method == EVENT_QUERY, flagged = method == MAPPED_FLAG;
    const struct gpu_launch *launch = flagged ? &probe.flagged : &parts->stamps.launch;
    const unsigned i = parts->stamps.used;
    struct host_reads *host = &parts->reads[i];
    stamp_launch_aim(&parts->stamps);
    probe.flagged_argument.stamp = parts->stamps.argument;
    probe.flagged_argument.value++;

    host->called = clock_ticks();
    enum gpu_status status = gpu_launch_runtime(launch);
    if (marked && !status) status = gpu_event_record(probe.event, probe.chain.stream);
    const uint64_t process_begin = clock_ticks();
    const double process_before_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    const uint64_t begin = clock_ticks();
    const double before_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    if (!status) status = wait_by(method);
    host->known = clock_ticks();
    const double after_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t end = clock_ticks();
    const double process_after_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    const uint64_t process_end = clock_ticks();

    probe.cpu_ratio[i] = (after_ns - before_ns) / clock_ns(end - begin);
    probe.process_cpu_ns += process_after_ns - process_before_ns;
    probe.process_waits_ns += clock_ns(process_end - process_begin);
    return launch_drain(probe.chain.stream, status);
}

// --- In the probe: all points ------------------------------------------------------------------------------

static enum gpu_status take_window(const struct point *point, unsigned samples)
{
    struct parts *parts = &probe.parts;
    parts->stamps.argument.spin_ticks = (uint64_t)(kernels[point->kernel].ns / gpu_clock_ns_per_tick());
    enum gpu_status status = parts_begin(parts);
    for (unsigned i = 0; i < samples && !status; i++) status = take_sample(point->method);
    return parts_end(parts, status);
}

static void keep_window(struct told_point *told, unsigned window, unsigned samples)
{
    const struct parts *parts = &probe.parts;
    for (unsigned i = 0, at = window * samples; i < samples; i++, at++) {
        told->values[COMPLETION][at] = (float)parts_completion_latency(parts, i);
        told->values[CPU][at] = (float)probe.cpu_ratio[i];
        told->values[ROUND_TRIP][at] = (float)parts_round_trip(parts, i);
    }
    told->process_cpu_ns += (float)probe.process_cpu_ns;
    told->process_waits_ns += (float)probe.process_waits_ns;
    told->bounds[COMPLETION] = fmaxf(told->bounds[COMPLETION], (float)parts_bound_ns(parts));
}

static void measure_point(const struct point *point, struct told_point *told, int window)
{
    if (told->outcome.status) return;
    const unsigned samples = window < 0 ? WARM : kernels[point->kernel].samples + BENCH_LEAD;
    probe.process_cpu_ns = probe.process_waits_ns = 0;
    enum gpu_status status = take_window(point, samples);
    gpu_outcome_keep(&told->outcome, status);
    if (status || window < 0) return;
    keep_window(told, (unsigned)window, samples);
}

// What the two looks at a CPU time cost, over the wait: so much it may be off.
static double cpu_bound(clockid_t clock, const struct point *point)
{
    enum { LOOKS = 100 };
    uint64_t begin = clock_ticks();
    for (int i = 0; i < LOOKS; i++) (void)cpu_ns(clock);
    return 2 * clock_ns(clock_ticks() - begin) / LOOKS / kernels[point->kernel].ns;
}

static enum gpu_status open_probe(unsigned device, enum gpu_wait wait)
{
    void *host, *view;
    enum gpu_status status = gpu_open_waiting(device, wait);
    if (!status) status = sync_open();
    if (!status) status = chain_open(&probe.chain);
    if (!status) status = parts_open(&probe.parts, &probe.chain);
    if (!status)
        status =
            wait == GPU_WAIT_BLOCK ? gpu_event_create_blocking(&probe.event) : gpu_event_create(&probe.event, false);
    if (!status) status = gpu_alloc_mapped(&host, &view, sizeof *probe.flag);
    if (status) return status;
    probe.flag = host;
    probe.flagged_argument.flag = view;
    probe.flagged = probe.parts.stamps.launch;
    probe.flagged.kernel = gpu_kernel(stamp_flag);
    probe.flagged.argument = &probe.flagged_argument;
    probe.flagged.argument_bytes = sizeof probe.flagged_argument;
    return gpu_launch_prepare(&probe.flagged);
}

// NAME is that of the way of waiting, "quick_" before it for the most important points alone.
static enum gpu_status run_probe(const char *name, struct probe_answer *answer)
{
    struct point points[POINTS_MAX];
    const bool quick = strncmp(name, "quick_", 6) == 0;
    enum gpu_wait wait = GPU_WAIT_SPIN;
    while (wait < GPU_WAITS && strcmp(wait_names[wait], name + (quick ? 6 : 0))) wait++;
    assert(wait < GPU_WAITS);
    enum gpu_status status = open_probe(answer->device, wait);
    if (status) return status;
    const unsigned count = list_points(wait, quick, points);
    for (int window = -1; window < WINDOWS; window++)
        for (unsigned i = 0; i < count; i++) {
            unsigned at = window % 2 ? count - 1 - i : i; // to and fro, so that what drifts does not look like a method
            measure_point(&points[at], &probe.told.points[at], window);
        }
    for (unsigned i = 0; i < count; i++) {
        probe.told.points[i].bounds[CPU] = (float)cpu_bound(CLOCK_THREAD_CPUTIME_ID, &points[i]);
        probe.told.points[i].process_bound = (float)cpu_bound(CLOCK_PROCESS_CPUTIME_ID, &points[i]);
        probe.told.points[i].bounds[ROUND_TRIP] = (float)probe.parts.clock_error_ns;
    }
    memcpy(answer->values, &probe.told, sizeof probe.told);
    answer->count = PROBE_VALUES_MAX;
    parts_close(&probe.parts);
    chain_close(&probe.chain);
    sync_close();
    gpu_close();
    return GPU_OK;
}

// --- In the measuring process ------------------------------------------------------------------------------

static struct run {
    bool done;
    struct gpu_outcome outcome;
    unsigned taken[POINTS_MAX]; // windows
    struct told told;
} runs[GPU_WAITS];
static bool quick_run;

static enum gpu_status ask(enum gpu_wait wait)
{
    static struct probe_answer answer;
    struct run *run = &runs[wait];
    char name[32];
    if (run->done) return gpu_outcome_tell(&run->outcome);
    snprintf(name, sizeof name, "%s%s", quick_run ? "quick_" : "", wait_names[wait]);
    run->done = true;
    enum gpu_status status = gpu_outcome_keep(&run->outcome, probe_run(name, NULL, PROBE_LIMIT_S, &answer));
    if (!status) memcpy(&run->told, answer.values, sizeof run->told);
    return status;
}

// What the probe has told of the case's point.
static enum gpu_status ask_point(const struct bench_case *c, const struct told_point **told)
{
    const unsigned wait = (unsigned)c->argument / POINTS_MAX, point = (unsigned)c->argument % POINTS_MAX;
    enum gpu_status status = ask((enum gpu_wait)wait);
    *told = &runs[wait].told.points[point];
    return status ? status : gpu_outcome_tell(&(*told)->outcome);
}

static enum gpu_status measure_process(struct bench_case *c, unsigned samples, double *values)
{
    const struct told_point *told;
    enum gpu_status status = ask_point(c, &told);
    for (unsigned i = 0; i < samples && !status; i++) values[i] = told->process_cpu_ns / told->process_waits_ns;
    c->error_bound[0] = told->process_bound;
    return status;
}

// The warm-up's round, of one sample that does not count, is what runs the probe.
static enum gpu_status measure(struct bench_case *c, unsigned samples, double *values)
{
    const unsigned wait = (unsigned)c->argument / POINTS_MAX, point = (unsigned)c->argument % POINTS_MAX;
    const struct told_point *told;
    enum gpu_status status = ask_point(c, &told);
    if (status) return status;
    if (samples == 1) {
        memset(values, 0, OUTPUTS * sizeof *values);
        return GPU_OK;
    }
    assert(runs[wait].taken[point] < WINDOWS);
    const unsigned first = runs[wait].taken[point]++ * samples;
    for (unsigned o = 0; o < OUTPUTS && c->outputs[o].metric; o++) {
        for (unsigned i = 0; i < samples; i++) values[o * samples + i] = told->values[o][first + i];
        c->error_bound[o] = told->bounds[o];
    }
    return GPU_OK;
}

static void add(struct bench_plan *plan, enum gpu_wait wait, unsigned index, const struct point *point)
{
    struct bench_case c = {.variant = wait_names[wait],
                           .axis = "kernel_ns",
                           .axis_value = kernels[point->kernel].ns,
                           .samples = kernels[point->kernel].samples,
                           .rounds = WINDOWS,
                           .processes = PROCESSES,
                           .argument = wait * POINTS_MAX + index,
                           .measure = measure,
                           .outputs = {{"completion_latency", "ns", "lower"}, {"cpu_time", "ratio", "lower"}}};
    snprintf(c.params, sizeof c.params, LAUNCH_PARAMS ";kernel=%s;method=%s",
             point->method == MAPPED_FLAG ? "stamp_flag" : "stamp", method_names[point->method]);
    if (point->method == STREAM && point->kernel == 0)
        c.outputs[ROUND_TRIP] = (struct bench_output){"round_trip", "ns", "lower"};
    bench_add(plan, &c);
    c.once = true;
    c.samples = 1;
    c.rounds = 0;
    c.measure = measure_process;
    c.outputs[0] = (struct bench_output){"process_cpu_time", "ratio", "lower"};
    c.outputs[1] = c.outputs[ROUND_TRIP] = (struct bench_output){NULL};
    bench_add(plan, &c);
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    struct point points[POINTS_MAX];
    quick_run = quick;
    for (unsigned wait = 0; wait < GPU_WAITS; wait++) {
        unsigned count = list_points((enum gpu_wait)wait, quick, points);
        for (unsigned i = 0; i < count; i++) add(plan, (enum gpu_wait)wait, i, &points[i]);
    }
    return GPU_OK;
}

const struct benchmark synchronize_benchmark = {
    .name = "synchronize",
    .summary = "ways of waiting for a kernel: how soon the host knows of its end, and the CPU time until then",
    .source = "design.md, section 7: completion latency lasts until the host knows, which depends on how it waits",
    .seconds = 6,
    .quick_seconds = 0.8,
    .setup = setup,
    .probe = run_probe,
    .probes_only = true,
};
