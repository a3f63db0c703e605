// SPDX-License-Identifier: Apache-2.0
// What launching a kernel that does nothing costs, whole and in its parts, from the host's call to the host's knowing.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/bench.h"
#include "common/parts.h"

#define STAMP_PARAMS LAUNCH_PARAMS ";kernel=stamp"

enum { PERIOD_LAUNCHES = 10000, PERIOD_CHAIN = 200, PERIOD_STREAMS = 4, SINGLES = 20 };
static const double SETTLE_NS = 20e3; // long enough for a parked stream to reach its wait
static const double PHASES_NS = 50e3; // longer than a parked stream takes between two looks at its value

static struct chain chains[PERIOD_STREAMS];
static struct gpu_stream *stream; // the first chain's
static struct gpu_launch empty_launch;
static struct flag_launch flag;
static struct parts parts;
static uint32_t *parked_host, *parked_device; // mapped: the value that a parked stream waits for

// --- submit, submit_single ---------------------------------------------------------------------------------

// submit: starts before the first of a batch of calls and stops when the last has returned, over the batch. The queue
// is empty before and holds the whole batch, so that no call waits for the device.
static inline __attribute__((always_inline)) enum gpu_status measure_submit(struct bench_case *c, unsigned samples,
                                                                            double *values, launch_function *submit)
{
    for (unsigned i = 0; i < samples; i++) {
        double elapsed;
        enum gpu_status status = launch_drain(stream, launch_time_batch(&empty_launch, c->batch, submit, &elapsed));
        if (status) return status;
        values[i] = elapsed / c->batch;
    }
    c->error_bound[0] = parts.clock_error_ns / c->batch;
    return stamp_launch_prove(&parts.stamps);
}

// --- round_trip, host_period -------------------------------------------------------------------------------

// round_trip: starts before the call, stops when the stream's synchronise, spinning, has returned. Nothing is stamped.
static inline __attribute__((always_inline)) enum gpu_status measure_round_trip(struct bench_case *c, unsigned samples,
                                                                                double *values, launch_function *submit)
{
    for (unsigned i = 0; i < samples; i++) {
        uint64_t begin = clock_ticks();
        enum gpu_status status = submit(&empty_launch);
        enum gpu_status ended = gpu_stream_synchronize(stream);
        uint64_t end = clock_ticks();
        if (status || ended) return status ? status : ended;
        values[i] = clock_ns(end - begin);
    }
    c->error_bound[0] = parts.clock_error_ns;
    return GPU_OK;
}

// host_period: starts before the first of 10 000 calls, stops when all kernels have ended, over their number: what a
// launch costs when host and device work at once, which is what the slower of them takes.
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
    return stamp_launch_prove(&parts.stamps);
}

// --- The parts of one stamping launch ----------------------------------------------------------------------

// launch_latency, submit_to_start, completion_latency, and submit_single and round_trip of the same launch; see
// common/parts.h.
static inline __attribute__((always_inline)) enum gpu_status measure_parts(struct bench_case *c, unsigned samples,
                                                                           double *values, launch_function *submit)
{
    enum gpu_status status = parts_begin(&parts);
    for (unsigned i = 0; i < samples && !status; i++) status = parts_launch(&parts, submit);
    status = parts_end(&parts, status);
    if (status) return status;
    for (unsigned i = 0; i < samples; i++) {
        values[i] = parts_launch_latency(&parts, i);
        values[samples + i] = parts_submit_to_start(&parts, i);
        values[2 * samples + i] = parts_completion_latency(&parts, i);
        values[3 * samples + i] = parts_submit(&parts, i);
        values[4 * samples + i] = parts_round_trip(&parts, i);
    }
    for (int o = 0; o < 3; o++) c->error_bound[o] = parts_bound_ns(&parts);
    for (int o = 3; o < 5; o++) c->error_bound[o] = parts.clock_error_ns;
    return GPU_OK;
}

// parts_ratio: the parts of three launches against the whole of a fourth that carries no stamp: (launch_latency of the
// first + duration of the second + completion_latency of the third) / round_trip. Not 1 by construction: it shows what
// the stamps disturb.
static enum gpu_status measure_parts_ratio(struct bench_case *c, unsigned samples, double *values)
{
    double whole_ns = 0;
    enum gpu_status status = parts_begin(&parts);
    for (unsigned i = 0; i < samples && !status; i++) {
        for (unsigned k = 0; k < 3 && !status; k++) status = parts_launch(&parts, gpu_launch_runtime);
        if (!status) status = measure_round_trip(c, 1, &values[i], gpu_launch_runtime);
        if (!status && values[i] <= 0)
            status = gpu_reason(GPU_UNSUPPORTED, "a round trip is shorter than a step of the host's clock");
        whole_ns += values[i] / samples;
    }
    status = parts_end(&parts, status);
    if (status) return status;
    for (unsigned i = 0; i < samples; i++)
        values[i] = (parts_launch_latency(&parts, 3 * i) + parts_duration(&parts, 3 * i + 1) +
                     parts_completion_latency(&parts, 3 * i + 2)) /
                    values[i];
    // The clocks' offset enters once with either sign; what is left is the device's step, and the stamps that this row
    // is to show.
    c->error_bound[0] = 2 * sync_device_resolution_ns() / whole_ns;
    return GPU_OK;
}

// --- After a silence ---------------------------------------------------------------------------------------

enum { RELOAD_PAGES = 32, RELOAD_LINES = 4, PAGE_BYTES = 4096, LINE_BYTES = 64 };
static volatile char *reload_pages;

// Reads 128 lines in 32 pages of host memory.
static void reload(void)
{
    for (unsigned page = 0; page < RELOAD_PAGES; page++)
        for (unsigned line = 0; line < RELOAD_LINES; line++)
            (void)reload_pages[page * PAGE_BYTES + (page * 7 + line) * LINE_BYTES % PAGE_BYTES];
}

// After idle_ns without a command for the device, the parts of one stamping launch. The host stays awake and touches
// nothing. host_reload is how long it then takes to read memory again that was read just before the silence.
static enum gpu_status measure_after_idle(struct bench_case *c, unsigned samples, double *values)
{
    for (unsigned i = 0; i < samples; i++) {
        enum gpu_status status = parts_begin(&parts);
        if (status) return status;
        reload();
        clock_spin_ns(c->axis_value);
        status = parts_launch(&parts, gpu_launch_runtime);
        uint64_t begin = clock_ticks();
        reload();
        values[3 * samples + i] = clock_ns(clock_ticks() - begin);
        status = parts_end(&parts, status);
        if (status) return status;
        values[i] = parts_launch_latency(&parts, 0);
        values[samples + i] = parts_submit(&parts, 0);
        values[2 * samples + i] = parts_round_trip(&parts, 0);
        values[4 * samples + i] = parts_completion_latency(&parts, 0);
        c->error_bound[0] = c->error_bound[4] = fmax(c->error_bound[0], parts_bound_ns(&parts));
    }
    for (int o = 1; o < 4; o++) c->error_bound[o] = parts.clock_error_ns;
    return GPU_OK;
}

// The control: the same silence of the host, but a kernel in another stream keeps the device awake all the while. If
// submit_single grows here as it does without, it is the host that forgets and not the device that sleeps.
static enum gpu_status measure_after_busy_silence(struct bench_case *c, unsigned samples, double *values)
{
    const double margin_ns = 100e3;
    struct stamp_launch *keeper = &chains[1].stamps;
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        stamp_launch_reset(keeper);
        stamp_launch_aim(keeper);
        keeper->argument.spin_ticks = (uint64_t)((c->axis_value + margin_ns) / gpu_clock_ns_per_tick());
        status = gpu_launch_runtime(&keeper->launch);
        keeper->argument.spin_ticks = 0;
        clock_spin_ns(c->axis_value);
        uint64_t begin = clock_ticks();
        enum gpu_status submitted = gpu_launch_runtime(&empty_launch);
        values[i] = clock_ns(clock_ticks() - begin);
        status = launch_drain(stream, status ? status : submitted);
        if (!status) status = gpu_stream_synchronize(chains[1].stream);
        if (!status) status = stamp_launch_read(keeper);
    }
    c->error_bound[0] = parts.clock_error_ns;
    return status;
}

// --- flag_latency, dispatch_latency ------------------------------------------------------------------------

// flag_latency: starts before the call, stops when the host sees the word that the kernel stored to mapped memory.
static enum gpu_status measure_flag_latency(struct bench_case *c, unsigned samples, double *values)
{
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) status = flag_launch_time(&flag, &values[i]);
    c->error_bound[0] = parts.clock_error_ns;
    return status;
}

// What holds the stream is asked to let go: from before the host's store, a stamp waits behind it.
static enum gpu_status park(bool at_gate, uint32_t value)
{
    return at_gate ? chain_hold(&chains[0]) : gpu_stream_wait_value(stream, parked_device, value);
}

static enum gpu_status unpark(bool at_gate, uint32_t value)
{
    if (at_gate) return chain_release(&chains[0]);
    __atomic_store_n(parked_host, value, __ATOMIC_RELEASE);
    return gpu_stream_synchronize(stream);
}

// dispatch_latency: a stamping kernel waits in a stream that is parked; from before the host's store that frees it to
// the first thread's first clock read. Variant wait_value: the stream waits for a value in mapped memory; a device that
// looks at it only now and then shows that in the spread, so the stores come at evenly spread phases. Variant gate: it
// waits for a kernel that polls the same kind of word without pause, so a gap between kernels is in it.
static enum gpu_status measure_dispatch_latency(struct bench_case *c, unsigned samples, double *values)
{
    static uint32_t value;
    static double phase;
    bool at_gate = c->argument > 0;
    enum gpu_status status = parts_begin(&parts);
    for (unsigned i = 0; i < samples && !status; i++) {
        status = park(at_gate, ++value);
        if (status) return status;
        struct host_reads *host = &parts.reads[parts.stamps.used];
        stamp_launch_aim(&parts.stamps);
        status = gpu_launch_runtime(&parts.stamps.launch);
        phase = fmod(phase + 0.6180339887, 1); // the golden ratio's multiples fill an interval evenly
        clock_spin_ns(SETTLE_NS + phase * PHASES_NS);
        host->called = clock_ticks();
        enum gpu_status freed = unpark(at_gate, value);
        status = status ? status : freed;
    }
    status = parts_end(&parts, status);
    if (status) return status;
    for (unsigned i = 0; i < samples; i++)
        values[i] = parts_launch_latency(&parts, i); // called: before the store, here
    c->error_bound[0] = parts_bound_ns(&parts);
    return GPU_OK;
}

// --- device_period -----------------------------------------------------------------------------------------

// device_period: 400 empty kernels between two stamps, less 200 between two stamps, over 200; all queued behind a gate
// before the first starts, so that the host cannot be what is measured. Each sample takes the next of 4 streams: a
// stream keeps its period to the nanosecond, but streams differ by some per cent, and so do processes, by where their
// queues came to lie.
static enum gpu_status measure_device_period(struct bench_case *c, unsigned samples, double *values)
{
    for (unsigned i = 0; i < samples; i++) {
        double longer, shorter;
        struct chain *chain = &chains[i % PERIOD_STREAMS];
        enum gpu_status status = chain_elapsed(chain, CHAIN_EMPTIES, 2 * c->batch, &longer);
        if (!status) status = chain_elapsed(chain, CHAIN_EMPTIES, c->batch, &shorter);
        if (status) return status;
        values[i] = (longer - shorter) / c->batch;
    }
    c->error_bound[0] = 2 * sync_device_resolution_ns() / c->batch;
    return GPU_OK;
}

// --- The plan ----------------------------------------------------------------------------------------------

// Each way to submit gets functions of its own, so that the compiler sees a direct call in each timed region.
#define MEASURE(way)                                                                                                   \
    static enum gpu_status submit_##way(struct bench_case *c, unsigned samples, double *values)                        \
    {                                                                                                                  \
        return measure_submit(c, samples, values, gpu_launch_##way);                                                   \
    }                                                                                                                  \
    static enum gpu_status round_trip_##way(struct bench_case *c, unsigned samples, double *values)                    \
    {                                                                                                                  \
        enum gpu_status status = measure_round_trip(c, samples, values, gpu_launch_##way);                             \
        return status ? status : stamp_launch_prove(&parts.stamps);                                                    \
    }
#define MEASURE_PERIOD(way)                                                                                            \
    static enum gpu_status host_period_##way(struct bench_case *c, unsigned samples, double *values)                   \
    {                                                                                                                  \
        (void)c;                                                                                                       \
        return measure_host_period(samples, values, gpu_launch_##way);                                                 \
    }
#define MEASURE_STAMPED(way)                                                                                           \
    static enum gpu_status parts_##way(struct bench_case *c, unsigned samples, double *values)                         \
    {                                                                                                                  \
        return measure_parts(c, samples, values, gpu_launch_##way);                                                    \
    }
MEASURE(runtime)
MEASURE(driver)
MEASURE(ex)
MEASURE(chevron)
MEASURE_PERIOD(runtime)
MEASURE_PERIOD(driver)
MEASURE_STAMPED(runtime)
MEASURE_STAMPED(driver)
MEASURE_STAMPED(ex)

typedef enum gpu_status measure_function(struct bench_case *, unsigned, double *);

// In order of importance: --quick takes the first two. The compiler's <<<>>> launches only kernels it sees, so not the
// stamped one.
static const struct {
    const char *name;
    measure_function *submit, *round_trip, *host_period, *parts;
} ways[] = {
    {"runtime", submit_runtime, round_trip_runtime, host_period_runtime, parts_runtime},
    {"driver", submit_driver, round_trip_driver, host_period_driver, parts_driver},
    {"launch_ex", submit_ex, round_trip_ex, NULL, parts_ex},
    {"chevron", submit_chevron, round_trip_chevron, NULL, NULL},
};

static void add(struct bench_plan *plan, const char *variant, const char *metric, unsigned batch, unsigned samples,
                double resolution, measure_function *measure)
{
    bench_add(plan, &(struct bench_case){.variant = variant,
                                         .params = LAUNCH_PARAMS,
                                         .batch = batch,
                                         .samples = samples,
                                         .outputs = {{metric, "ns", "lower", .resolution = resolution}},
                                         .measure = measure});
}

static void add_ways(struct bench_plan *plan, bool quick)
{
    double resolution = sync_device_resolution_ns();
    for (unsigned w = 0; w < (quick ? 2 : sizeof ways / sizeof *ways); w++) {
        const char *name = ways[w].name;
        add(plan, name, "submit", 100, 5, 0, ways[w].submit);
        add(plan, name, "submit_single", 1, SINGLES, 0, ways[w].submit);
        add(plan, name, "round_trip", 1, SINGLES, 0, ways[w].round_trip);
        if (ways[w].parts && !(quick && w > 0))
            bench_add(plan,
                      &(struct bench_case){.variant = name,
                                           .params = STAMP_PARAMS,
                                           .samples = SINGLES,
                                           .measure = ways[w].parts,
                                           .outputs = {{"launch_latency", "ns", "lower", .resolution = resolution},
                                                       {"submit_to_start", "ns", "none", .resolution = resolution},
                                                       {"completion_latency", "ns", "lower", .resolution = resolution},
                                                       {"submit_single", "ns", "lower"},
                                                       {"round_trip", "ns", "lower"}}});
        if (ways[w].host_period && !(quick && w > 0))
            bench_add(plan, &(struct bench_case){.variant = name,
                                                 .params = LAUNCH_PARAMS,
                                                 .batch = PERIOD_LAUNCHES,
                                                 .no_warm_up = true, // it is long enough to warm itself
                                                 .outputs = {{"host_period", "ns", "lower"}},
                                                 .measure = ways[w].host_period});
    }
}

static void add_idle(struct bench_plan *plan, bool quick)
{
    static const double idle_ns[] = {1e6, 0, 1e3, 1e4, 1e5, 1e7, 1e8, 1e9}, busy_ns[] = {0, 1e6, 1e7, 1e8};
    for (unsigned i = 0; i < (quick ? 1 : sizeof idle_ns / sizeof *idle_ns); i++)
        bench_add(plan,
                  &(struct bench_case){
                      .variant = "runtime",
                      .params = STAMP_PARAMS,
                      .axis = "idle_ns",
                      .axis_value = idle_ns[i],
                      .samples = idle_ns[i] > 1e6 ? 1 : 4,
                      .no_warm_up = idle_ns[i] > 1e7,
                      .outputs = {{"launch_latency", "ns", "lower", .resolution = sync_device_resolution_ns()},
                                  {"submit_single", "ns", "lower"},
                                  {"round_trip", "ns", "lower"},
                                  {"host_reload", "ns", "lower"},
                                  {"completion_latency", "ns", "lower", .resolution = sync_device_resolution_ns()}},
                      .measure = measure_after_idle});
    for (unsigned i = 0; i < (quick ? 0 : sizeof busy_ns / sizeof *busy_ns); i++)
        bench_add(plan, &(struct bench_case){.variant = "busy_device",
                                             .params = LAUNCH_PARAMS,
                                             .axis = "idle_ns",
                                             .axis_value = busy_ns[i],
                                             .samples = busy_ns[i] > 1e6 ? 1 : 4,
                                             .no_warm_up = busy_ns[i] > 1e7,
                                             .outputs = {{"submit_single", "ns", "lower"}},
                                             .measure = measure_after_busy_silence});
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    void *host, *device;
    enum gpu_status status = sync_open();
    for (unsigned i = 0; i < PERIOD_STREAMS && !status; i++) status = chain_open(&chains[i]);
    if (status) return status;
    stream = chains[0].stream;
    status = parts_open(&parts, &chains[0]);
    if (!status) status = launch_prepare_empty(&empty_launch, stream);
    if (!status) status = gpu_alloc_mapped(&host, &device, sizeof *parked_host);
    if (status) return status;
    parked_host = host;
    parked_device = device;
    reload_pages = aligned_alloc(PAGE_BYTES, RELOAD_PAGES * PAGE_BYTES);
    if (!reload_pages) return gpu_reason(GPU_FAILED, "no memory for %d pages", RELOAD_PAGES);
    memset((void *)reload_pages, 1, RELOAD_PAGES * PAGE_BYTES);
    status = flag_launch_open(&flag, stream);
    if (status) return status;

    double resolution = sync_device_resolution_ns();
    add_ways(plan, quick);
    add(plan, "runtime", "flag_latency", 1, SINGLES, 0, measure_flag_latency);
    for (int at_gate = 0; at_gate < 2; at_gate++)
        bench_add(plan,
                  &(struct bench_case){.variant = at_gate ? "gate" : "wait_value",
                                       .params = STAMP_PARAMS,
                                       .samples = SINGLES,
                                       .argument = at_gate,
                                       .measure = measure_dispatch_latency,
                                       .outputs = {{"dispatch_latency", "ns", "lower", .resolution = resolution}}});
    bench_add(plan, &(struct bench_case){
                        .variant = "runtime",
                        .params = LAUNCH_PARAMS ";streams=4",
                        .batch = PERIOD_CHAIN,
                        .samples = PERIOD_STREAMS,
                        .outputs = {{"device_period", "ns", "lower", .resolution = resolution / PERIOD_CHAIN}},
                        .measure = measure_device_period});
    bench_add(plan, &(struct bench_case){.variant = "runtime",
                                         .params = LAUNCH_PARAMS,
                                         .samples = SINGLES,
                                         .outputs = {{"parts_ratio", "ratio", "none"}},
                                         .measure = measure_parts_ratio});
    add_idle(plan, quick);
    return GPU_OK;
}

static void teardown(void)
{
    parts_close(&parts);
    flag_launch_close(&flag);
    gpu_free_mapped(parked_host);
    free((void *)reload_pages);
    for (unsigned i = 0; i < PERIOD_STREAMS; i++) chain_close(&chains[i]);
    sync_close();
}

const struct benchmark empty_kernel_benchmark = {
    .name = "empty_kernel",
    .summary = "launch latency of a kernel that does nothing, and its parts",
    .source =
        "the sayings that a launch costs 5 to 50 us of pure overhead, and is driver work, submission and dispatch",
    .seconds = 15,
    .quick_seconds = 3,
    .setup = setup,
    .teardown = teardown,
};
