// SPDX-License-Identifier: Apache-2.0
// What launching a kernel that does nothing costs, whole and in its parts, from the host's call to the host's knowing.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/bench.h"
#include "common/launch.h"
#include "common/sync.h"

GPU_KERNEL(flag);

enum { PERIOD_LAUNCHES = 10000, PERIOD_CHAIN = 200, SINGLES = 20 };
static const double HOST_LIMIT_NS = 2e9; // a flag that the host does not see within it has failed
static const double SETTLE_NS = 20e3;    // long enough for a parked stream to reach its wait
static const double PHASES_NS = 50e3;    // longer than a parked stream takes between two looks at its value

static struct chain chain;
static struct gpu_stream *stream;
static struct gpu_launch empty_launch, flag_launch;
static struct flag_argument flag_argument;
static struct stamp_launch stamps;
static uint32_t *words_host, *words_device; // mapped: the flag, the value that a parked stream waits for

static enum gpu_status drain(enum gpu_status status)
{
    enum gpu_status ended = gpu_stream_synchronize(stream);
    return status ? status : ended;
}

// --- submit, submit_single ---------------------------------------------------------------------------------------------

// submit: starts before the first of a batch of calls and stops when the last has returned, over the batch. The queue is empty before
// and holds the whole batch, so that no call waits for the device.
static inline __attribute__((always_inline)) enum gpu_status measure_submit(struct bench_case *c, unsigned samples,
                                                                            double *values, launch_function *submit)
{
    for (unsigned i = 0; i < samples; i++) {
        double elapsed;
        enum gpu_status status = drain(launch_time_batch(&empty_launch, c->batch, submit, &elapsed));
        if (status) return status;
        values[i] = elapsed / c->batch;
    }
    return GPU_OK;
}

// --- round_trip, host_period -------------------------------------------------------------------------------------------

// round_trip: starts before the call, stops when the stream's synchronise, spinning, has returned. Nothing is stamped.
static inline __attribute__((always_inline)) enum gpu_status measure_round_trip(unsigned samples, double *values,
                                                                                launch_function *submit)
{
    for (unsigned i = 0; i < samples; i++) {
        uint64_t begin = clock_ticks();
        enum gpu_status status = submit(&empty_launch);
        enum gpu_status ended = gpu_stream_synchronize(stream);
        uint64_t end = clock_ticks();
        if (status || ended) return status ? status : ended;
        values[i] = clock_ns(end - begin);
    }
    return GPU_OK;
}

// host_period: starts before the first of 10 000 calls, stops when all kernels have ended, over their number: what a launch
// costs when host and device work at once and the queue, once full, holds the host back.
static inline __attribute__((always_inline)) enum gpu_status measure_host_period(unsigned samples, double *values,
                                                                                 launch_function *submit)
{
    for (unsigned i = 0; i < samples; i++) {
        unsigned status = GPU_OK;
        uint64_t begin = clock_ticks();
        for (unsigned k = 0; k < PERIOD_LAUNCHES; k++) status |= (unsigned)submit(&empty_launch);
        enum gpu_status ended = gpu_stream_synchronize(stream);
        uint64_t end = clock_ticks();
        if (status || ended) return status ? launch_worst(status) : ended;
        values[i] = clock_ns(end - begin) / PERIOD_LAUNCHES;
    }
    return GPU_OK;
}

// --- launch_latency, submit_to_start, completion_latency ---------------------------------------------------------------

struct host_reads {
    uint64_t called, returned, known;
};

static struct host_reads reads[BENCH_ROUND_SAMPLES_MAX];

// One stamping launch into an idle device, and the host's clock before the call, after it, and when the stream is known to be empty.
static inline __attribute__((always_inline)) enum gpu_status stamped_launch(struct host_reads *host, launch_function *submit)
{
    stamp_launch_aim(&stamps);
    host->called = clock_ticks();
    enum gpu_status status = submit(&stamps.launch);
    host->returned = clock_ticks();
    enum gpu_status ended = gpu_stream_synchronize(stream);
    host->known = clock_ticks();
    return status ? status : ended;
}

// launch_latency: from before the call to the first thread's first clock read. submit_to_start: from the call's return to the
// same; negative where the kernel starts before the call has returned.
static inline __attribute__((always_inline)) enum gpu_status measure_launch_latency(struct bench_case *c, unsigned samples,
                                                                                    double *values, launch_function *submit)
{
    struct sync_window window;
    stamp_launch_reset(&stamps);
    enum gpu_status status = sync_burst(&window.begin);
    for (unsigned i = 0; i < samples && !status; i++) status = stamped_launch(&reads[i], submit);
    if (!status) status = sync_burst(&window.end);
    if (!status) status = stamp_launch_read(&stamps);
    if (status) return status;
    for (unsigned i = 0; i < samples; i++) {
        values[i] = sync_ns_after(&window, reads[i].called, stamps.stamp[i].begin_ticks);
        values[samples + i] = sync_ns_after(&window, reads[i].returned, stamps.stamp[i].begin_ticks);
    }
    c->error_bound[0] = c->error_bound[1] = sync_bound_ns(&window);
    return GPU_OK;
}

// completion_latency: from the last thread's last clock read to the return of the stream's synchronise, spinning.
static enum gpu_status measure_completion_latency(struct bench_case *c, unsigned samples, double *values)
{
    struct sync_window window;
    stamp_launch_reset(&stamps);
    enum gpu_status status = sync_burst(&window.begin);
    for (unsigned i = 0; i < samples && !status; i++) status = stamped_launch(&reads[i], gpu_launch_runtime);
    if (!status) status = sync_burst(&window.end);
    if (!status) status = stamp_launch_read(&stamps);
    if (status) return status;
    for (unsigned i = 0; i < samples; i++) values[i] = sync_ns_until(&window, stamps.stamp[i].end_ticks, reads[i].known);
    c->error_bound[0] = sync_bound_ns(&window);
    return GPU_OK;
}

// parts_ratio: the parts of three launches against the whole of a fourth that carries no stamp: (launch_latency of the first + duration
// of the second + completion_latency of the third) / round_trip. Not 1 by construction: it shows what the stamps disturb.
static enum gpu_status measure_parts_ratio(struct bench_case *c, unsigned samples, double *values)
{
    struct sync_window window;
    stamp_launch_reset(&stamps);
    enum gpu_status status = sync_burst(&window.begin);
    for (unsigned i = 0; i < samples && !status; i++) {
        for (unsigned k = 0; k < 3 && !status; k++) status = stamped_launch(&reads[3 * i + k], gpu_launch_runtime);
        if (!status) status = measure_round_trip(1, &values[i], gpu_launch_runtime);
        if (!status && values[i] <= 0)
            status = gpu_reason(GPU_UNSUPPORTED, "a round trip is shorter than a step of the host's clock");
    }
    if (!status) status = sync_burst(&window.end);
    if (!status) status = stamp_launch_read(&stamps);
    if (status) return status;
    for (unsigned i = 0; i < samples; i++) {
        const struct stamp *stamp = &stamps.stamp[3 * i];
        double launch = sync_ns_after(&window, reads[3 * i].called, stamp[0].begin_ticks);
        double duration = (double)(stamp[1].end_ticks - stamp[1].begin_ticks) * gpu_clock_ns_per_tick();
        double completion = sync_ns_until(&window, stamp[2].end_ticks, reads[3 * i + 2].known);
        values[i] = (launch + duration + completion) / values[i];
    }
    c->error_bound[0] = 0; // the clocks' offset enters once with either sign
    return GPU_OK;
}

enum { RELOAD_PAGES = 64, RELOAD_LINES = 8, PAGE_BYTES = 4096, LINE_BYTES = 64 };
static volatile char *reload_pages;

// Reads 512 lines in 64 pages of host memory.
static void reload(void)
{
    for (unsigned page = 0; page < RELOAD_PAGES; page++)
        for (unsigned line = 0; line < RELOAD_LINES; line++)
            (void)reload_pages[page * PAGE_BYTES + (page * 7 + line) * LINE_BYTES % PAGE_BYTES];
}

// After idle_ns of silence, from one stamping launch: submit_single, launch_latency and round_trip as above (this round trip carries a
// stamp). The host stays awake meanwhile, but touches nothing: host_reload is how long it then takes to read memory again that was read
// just before the silence. Where that grows with the silence, it is the host's caches that forget, not the device that sleeps.
static enum gpu_status measure_after_idle(struct bench_case *c, unsigned samples, double *values)
{
    for (unsigned i = 0; i < samples; i++) {
        struct sync_window window;
        stamp_launch_reset(&stamps);
        enum gpu_status status = sync_burst(&window.begin);
        if (status) return status;
        reload();
        clock_spin_ns(c->axis_value);
        status = stamped_launch(&reads[0], gpu_launch_runtime);
        uint64_t begin = clock_ticks();
        reload();
        values[3 * samples + i] = clock_ns(clock_ticks() - begin);
        if (!status) status = sync_burst(&window.end);
        if (!status) status = stamp_launch_read(&stamps);
        if (status) return status;
        values[i] = clock_ns(reads[0].returned - reads[0].called);
        values[samples + i] = sync_ns_after(&window, reads[0].called, stamps.stamp[0].begin_ticks);
        values[2 * samples + i] = clock_ns(reads[0].known - reads[0].called);
        c->error_bound[1] = sync_bound_ns(&window);
    }
    return GPU_OK;
}

// --- flag_latency, dispatch_latency ------------------------------------------------------------------------------------

static enum gpu_status see_flag(uint32_t value)
{
    uint64_t limit = clock_ticks() + (uint64_t)(HOST_LIMIT_NS / clock_state.ns_per_tick);
    while (__atomic_load_n(&words_host[0], __ATOMIC_ACQUIRE) != value)
        if (clock_ticks() > limit) return gpu_reason(GPU_FAILED, "the kernel's flag did not reach the host");
    return GPU_OK;
}

// flag_latency: starts before the call, stops when the host sees the word that the kernel stored to mapped memory.
static enum gpu_status measure_flag_latency(struct bench_case *c, unsigned samples, double *values)
{
    (void)c;
    for (unsigned i = 0; i < samples; i++) {
        flag_argument.value++;
        uint64_t begin = clock_ticks();
        enum gpu_status status = gpu_launch_runtime(&flag_launch);
        enum gpu_status seen = status ? status : see_flag(flag_argument.value);
        uint64_t end = clock_ticks();
        status = drain(seen);
        if (status) return status;
        values[i] = clock_ns(end - begin);
    }
    return GPU_OK;
}

// dispatch_latency: a stamping kernel waits in a stream that is parked on a value in mapped memory; from before the host's store
// of that value to the first thread's first clock read. The part of a launch that comes after the host's call. A device that polls
// the value shows its polling in the spread, so the stores come at evenly spread phases of it.
static enum gpu_status measure_dispatch_latency(struct bench_case *c, unsigned samples, double *values)
{
    struct sync_window window;
    static uint32_t value;
    static double phase;
    stamp_launch_reset(&stamps);
    enum gpu_status status = sync_burst(&window.begin);
    for (unsigned i = 0; i < samples && !status; i++) {
        status = gpu_stream_wait_value(stream, &words_device[1], ++value);
        if (status) return status;
        stamp_launch_aim(&stamps);
        status = gpu_launch_runtime(&stamps.launch);
        phase = fmod(phase + 0.6180339887, 1); // the golden ratio's multiples fill an interval evenly
        clock_spin_ns(SETTLE_NS + phase * PHASES_NS);
        reads[i].called = clock_ticks();
        __atomic_store_n(&words_host[1], value, __ATOMIC_RELEASE);
        status = drain(status);
    }
    if (!status) status = sync_burst(&window.end);
    if (!status) status = stamp_launch_read(&stamps);
    if (status) return status;
    for (unsigned i = 0; i < samples; i++) values[i] = sync_ns_after(&window, reads[i].called, stamps.stamp[i].begin_ticks);
    c->error_bound[0] = sync_bound_ns(&window);
    return GPU_OK;
}

// --- device_period -----------------------------------------------------------------------------------------------------

// device_period: 200 empty kernels between two stamps, less none between two stamps, over 200; all queued behind a gate
// before the first starts, so that the host cannot be what is measured.
static enum gpu_status measure_device_period(struct bench_case *c, unsigned samples, double *values)
{
    for (unsigned i = 0; i < samples; i++) {
        double with, without;
        enum gpu_status status = chain_elapsed(&chain, CHAIN_EMPTIES, c->batch, &with);
        if (!status) status = chain_elapsed(&chain, CHAIN_EMPTIES, 0, &without);
        if (status) return status;
        values[i] = (with - without) / c->batch;
    }
    c->error_bound[0] = 2 * sync_device_resolution_ns() / c->batch;
    return GPU_OK;
}

// --- The plan ----------------------------------------------------------------------------------------------------------

// Each way to submit gets functions of its own, so that the compiler sees a direct call in each timed region.
#define WAYS(X) X(runtime) X(driver) X(ex) X(chevron)
#define MEASURE(way)                                                                                                   \
    static enum gpu_status submit_##way(struct bench_case *c, unsigned samples, double *values)                        \
    {                                                                                                                  \
        return measure_submit(c, samples, values, gpu_launch_##way);                                                   \
    }                                                                                                                  \
    static enum gpu_status round_trip_##way(struct bench_case *c, unsigned samples, double *values)                    \
    {                                                                                                                  \
        (void)c;                                                                                                       \
        return measure_round_trip(samples, values, gpu_launch_##way);                                                  \
    }                                                                                                                  \
    static enum gpu_status host_period_##way(struct bench_case *c, unsigned samples, double *values)                   \
    {                                                                                                                  \
        (void)c;                                                                                                       \
        return measure_host_period(samples, values, gpu_launch_##way);                                                 \
    }
#define MEASURE_STAMPED(way)                                                                                           \
    static enum gpu_status launch_latency_##way(struct bench_case *c, unsigned samples, double *values)                \
    {                                                                                                                  \
        return measure_launch_latency(c, samples, values, gpu_launch_##way);                                           \
    }
WAYS(MEASURE)
MEASURE_STAMPED(runtime)
MEASURE_STAMPED(driver)
MEASURE_STAMPED(ex)

typedef enum gpu_status measure_function(struct bench_case *, unsigned, double *);

// In order of importance: --quick takes the first two. The compiler's <<<>>> launches only kernels it sees, so not the stamped one.
static const struct {
    const char *name;
    measure_function *submit, *round_trip, *host_period, *launch_latency;
} ways[] = {
    {"runtime", submit_runtime, round_trip_runtime, host_period_runtime, launch_latency_runtime},
    {"driver", submit_driver, round_trip_driver, host_period_driver, launch_latency_driver},
    {"launch_ex", submit_ex, round_trip_ex, host_period_ex, launch_latency_ex},
    {"chevron", submit_chevron, round_trip_chevron, host_period_chevron, NULL},
};

static void add(struct bench_plan *plan, const char *variant, const char *metric, unsigned batch, unsigned samples,
                double resolution, measure_function *measure)
{
    bench_add(plan, &(struct bench_case){.variant = variant, .params = LAUNCH_PARAMS, .batch = batch, .samples = samples,
                                         .outputs = {{metric, "ns", "lower", .resolution = resolution}}, .measure = measure});
}

static void add_ways(struct bench_plan *plan, bool quick)
{
    double resolution = sync_device_resolution_ns();
    for (unsigned w = 0; w < (quick ? 2 : sizeof ways / sizeof *ways); w++) {
        const char *name = ways[w].name;
        add(plan, name, "submit", 100, 5, 0, ways[w].submit);
        add(plan, name, "submit_single", 1, SINGLES, 0, ways[w].submit);
        add(plan, name, "round_trip", 1, SINGLES, 0, ways[w].round_trip);
        if (ways[w].launch_latency)
            bench_add(plan, &(struct bench_case){.variant = name, .params = LAUNCH_PARAMS, .samples = SINGLES,
                                                 .outputs = {{"launch_latency", "ns", "lower", .resolution = resolution},
                                                             {"submit_to_start", "ns", "none", .resolution = resolution}},
                                                 .measure = ways[w].launch_latency});
        if (!quick || w == 0) add(plan, name, "host_period", PERIOD_LAUNCHES, 1, 0, ways[w].host_period);
    }
}

static void add_idle(struct bench_plan *plan, bool quick)
{
    static const double idle_ns[] = {0, 1e6, 1e3, 1e4, 1e5, 1e7, 1e8, 1e9};
    for (unsigned i = 0; i < (quick ? 2 : sizeof idle_ns / sizeof *idle_ns); i++)
        bench_add(plan, &(struct bench_case){
                            .variant = "runtime", .params = LAUNCH_PARAMS, .axis = "idle_ns", .axis_value = idle_ns[i],
                            .outputs = {{"submit_single", "ns", "lower"},
                                        {"launch_latency", "ns", "lower", .resolution = sync_device_resolution_ns()},
                                        {"round_trip", "ns", "lower"}, {"host_reload", "ns", "lower"}},
                            .samples = idle_ns[i] > 1e6 ? 1 : 5, .no_warm_up = idle_ns[i] > 1e7,
                            .measure = measure_after_idle});
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    void *host, *device;
    enum gpu_status status = sync_open();
    if (!status) status = chain_open(&chain);
    if (status) return status;
    stream = chain.stream;
    status = launch_prepare_empty(&empty_launch, stream);
    if (!status) status = stamp_launch_open(&stamps, stream, 3 * SINGLES);
    if (!status) status = gpu_alloc_mapped(&host, &device, 2 * sizeof *words_host);
    if (status) return status;
    words_host = host;
    words_device = device;
    reload_pages = aligned_alloc(PAGE_BYTES, RELOAD_PAGES * PAGE_BYTES);
    if (!reload_pages) return gpu_reason(GPU_FAILED, "no memory for %d pages", RELOAD_PAGES);
    memset((void *)reload_pages, 1, RELOAD_PAGES * PAGE_BYTES);
    flag_argument = (struct flag_argument){&words_device[0], 0};
    flag_launch = empty_launch;
    flag_launch.kernel = gpu_kernel(flag);
    flag_launch.argument = &flag_argument;
    flag_launch.argument_bytes = sizeof flag_argument;
    status = gpu_launch_prepare(&flag_launch);
    if (status) return status;

    double resolution = sync_device_resolution_ns();
    add_ways(plan, quick);
    add(plan, "runtime", "completion_latency", 1, SINGLES, resolution, measure_completion_latency);
    add(plan, "runtime", "flag_latency", 1, SINGLES, 0, measure_flag_latency);
    add(plan, "runtime", "dispatch_latency", 1, SINGLES, resolution, measure_dispatch_latency);
    add(plan, "runtime", "device_period", PERIOD_CHAIN, 2, resolution / PERIOD_CHAIN, measure_device_period);
    bench_add(plan, &(struct bench_case){.variant = "runtime", .params = LAUNCH_PARAMS, .samples = SINGLES,
                                         .outputs = {{"parts_ratio", "ratio", "none"}}, .measure = measure_parts_ratio});
    add_idle(plan, quick);
    return GPU_OK;
}

static void teardown(void)
{
    stamp_launch_close(&stamps);
    gpu_free_mapped(words_host);
    free((void *)reload_pages);
    chain_close(&chain);
    sync_close();
}

const struct benchmark empty_kernel_benchmark = {
    .name = "empty_kernel",
    .summary = "launch latency of a kernel that does nothing, and its parts",
    .source = "claims C4, C19, C20",
    .seconds = 14,
    .quick_seconds = 3,
    .setup = setup,
    .teardown = teardown,
};
