// SPDX-License-Identifier: Apache-2.0
// What the legacy default stream costs: its barrier between other streams, the overlap that it prevents, its launch.
#include <stdio.h>

#include "backends/gpu_stream.h"
#include "common/bench.h"
#include "common/launch.h"
#include "common/span.h"
#include "common/sync.h"

#define SUBMIT_PARAMS LAUNCH_PARAMS ";streams_are="

enum { STREAMS_MAX = 32, SUBMIT_BATCH = 50 };
static const double BARRIER_SPIN_NS = 20e3, OVERLAP_SPIN_NS = 100e3;
static const double BUDGET_SHARE = 0.1; // of a point

static struct chain chain; // its gate, its stamps; its stream is blocking[0]
static double clock_error_ns;

// What is submitted between kernels of blocking streams. LEGACY comes first: it alone is ordered with them.
enum between { LEGACY, PER_THREAD, NON_BLOCKING, NOTHING, BETWEENS };
static const char *const variants[] = {"legacy", "per_thread", "non_blocking", "none"};
static struct gpu_stream *between_streams[NOTHING];

static struct gpu_stream *unordered[2]; // non-blocking
static struct gpu_stream *blocking[STREAMS_MAX];
static unsigned blocking_count; // how many there are now

// The driver may look at every stream there is, so there are never more than the case says.
static enum gpu_status keep_streams(unsigned count)
{
    while (blocking_count > count) gpu_stream_destroy(blocking[--blocking_count]);
    while (blocking_count < count) {
        enum gpu_status status = gpu_stream_create_blocking(&blocking[blocking_count]);
        if (status) return status;
        blocking_count++;
    }
    return GPU_OK;
}

// --- Kernels behind gates ----------------------------------------------------------------------------------

static enum gpu_status launch_into(struct gpu_stream *stream, const struct gpu_launch *what)
{
    static struct gpu_launch launch;
    launch = *what;
    launch.stream = stream;
    enum gpu_status status = gpu_launch_prepare(&launch);
    return status ? status : gpu_launch_runtime(&launch);
}

static enum gpu_status stamp_into(struct gpu_stream *stream)
{
    stamp_launch_aim(&chain.stamps);
    return launch_into(stream, &chain.stamps.launch);
}

// Closes a gate in each of COUNT blocking streams, and in that of BETWEEN. The legacy stream waits for them anyway.
static enum gpu_status hold(unsigned count, enum between between, double spin_ns)
{
    stamp_launch_reset(&chain.stamps);
    chain.stamps.argument.spin_ticks = (uint64_t)(spin_ns / gpu_clock_ns_per_tick());
    enum gpu_status status = chain_hold(&chain);
    for (unsigned s = 1; s < count && !status; s++) status = chain_hold_too(&chain, blocking[s]);
    if (!status && (between == PER_THREAD || between == NON_BLOCKING))
        status = chain_hold_too(&chain, between_streams[between]);
    return status;
}

// Opens the gates and drains all streams, whatever happened.
static enum gpu_status release(enum gpu_status status)
{
    enum gpu_status released = chain_release(&chain), ended = gpu_device_synchronize();
    chain.stamps.argument.spin_ticks = 0;
    if (!status) status = released ? released : ended;
    return status;
}

static double ns_between(uint64_t from_ticks, uint64_t to_ticks)
{
    return (double)(int64_t)(to_ticks - from_ticks) * gpu_clock_ns_per_tick();
}

// A kernel in the first of two OUTER streams, one in BETWEEN's, one in the second, all queued before the first starts.
// STAMPS: three of them, or two without one between.
static enum gpu_status run_three(struct gpu_stream *const *outer, enum between between, double spin_ns,
                                 const struct stamp **stamps)
{
    enum gpu_status status = keep_streams(2);
    // A second gate behind the legacy stream's back would be one more stream for it to wait for.
    if (!status) status = hold(between == LEGACY ? 1 : 2, between, spin_ns);
    for (unsigned s = 0; s < 2 && outer == unordered && !status; s++) status = chain_hold_too(&chain, outer[s]);
    if (!status) status = stamp_into(outer[0]);
    if (!status && between != NOTHING) status = stamp_into(between_streams[between]);
    if (!status) status = stamp_into(outer[1]);
    status = release(status);
    if (!status) status = stamp_launch_read(&chain.stamps);
    *stamps = chain.stamps.stamp;
    return status;
}

// --- barrier -----------------------------------------------------------------------------------------------

enum side { INTO, OUT_OF, SIDES };
static const char *const sides[SIDES] = {"into", "out_of"};

// barrier, into: from the last clock read of a kernel in a blocking stream to the first of the kernel in the stream
// between. out_of: from the last of that to the first of the kernel in another blocking stream. Each runs for 20 µs;
// where there is no barrier the next one starts meanwhile, which is less than 0.
static enum gpu_status measure_barrier(struct bench_case *c, unsigned samples, double *values)
{
    const enum between between = (enum between)((unsigned)c->argument / SIDES);
    const unsigned side = (unsigned)c->argument % SIDES;
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        const struct stamp *stamps;
        status = run_three(blocking, between, BARRIER_SPIN_NS, &stamps);
        if (!status) values[i] = ns_between(stamps[side].end_ticks, stamps[side + 1].begin_ticks);
    }
    c->error_bound[0] = sync_device_resolution_ns();
    return status;
}

static struct span span_of(const struct stamp *stamp) { return (struct span){stamp->begin_ticks, stamp->end_ticks}; }

// --- overlap -----------------------------------------------------------------------------------------------

// overlap: of the time that a kernel of 100 µs runs, the part in which that of another stream runs too, where a kernel
// of the stream between was submitted after the one and before the other. Both streams are blocking, or neither.
static enum gpu_status measure_overlap(struct bench_case *c, unsigned samples, double *values)
{
    if (gpu_multiprocessors() < 2)
        return gpu_reason(GPU_UNSUPPORTED, "kernels that spin overlap on two multiprocessors; this device has one");
    struct gpu_stream *const *outer = c->argument < BETWEENS ? blocking : unordered;
    const enum between between = (enum between)((unsigned)c->argument % BETWEENS);
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        const struct stamp *stamps;
        status = run_three(outer, between, OVERLAP_SPIN_NS, &stamps);
        if (status) break;
        const struct span first = span_of(&stamps[0]), second = span_of(&stamps[chain.stamps.used - 1]);
        values[i] = span_overlap_ratio(&first, &second);
    }
    c->error_bound[0] = 2 * sync_device_resolution_ns() / OVERLAP_SPIN_NS;
    return status;
}

// --- makespan ----------------------------------------------------------------------------------------------

// makespan: from the first clock read of the first of COUNT kernels, a blocking stream each, to the last of the last to
// end. legacy: an empty kernel goes to the legacy stream between each two.
static enum gpu_status measure_makespan(struct bench_case *c, unsigned samples, double *values)
{
    const unsigned count = (unsigned)c->axis_value;
    const enum between between = (enum between)c->argument;
    enum gpu_status status = keep_streams(count);
    for (unsigned i = 0; i < samples && !status; i++) {
        status = hold(between == LEGACY ? 1 : count, between, BARRIER_SPIN_NS);
        for (unsigned s = 0; s < count && !status; s++) {
            if (s && between == LEGACY) status = launch_into(between_streams[LEGACY], &chain.empty);
            if (!status) status = stamp_into(blocking[s]);
        }
        status = release(status);
        if (!status) status = stamp_launch_read(&chain.stamps);
        if (status) break;
        const struct stamp *stamps = chain.stamps.stamp;
        uint64_t begin = stamps[0].begin_ticks, end = stamps[0].end_ticks;
        for (unsigned s = 1; s < count; s++) {
            if (stamps[s].begin_ticks < begin) begin = stamps[s].begin_ticks;
            if (stamps[s].end_ticks > end) end = stamps[s].end_ticks;
        }
        values[i] = ns_between(begin, end);
    }
    c->error_bound[0] = sync_device_resolution_ns();
    return status;
}

// --- submit ------------------------------------------------------------------------------------------------

// One call into the legacy stream, while a kernel that is new since the last one waits in each blocking stream.
static enum gpu_status time_busy(const struct gpu_launch *launch, unsigned count, double *elapsed_ns)
{
    enum gpu_status status = hold(count, LEGACY, 0);
    if (!status) status = launch_time_batch(launch, 1, gpu_launch_runtime, elapsed_ns);
    return release(status);
}

// submit: starts before a launch into the legacy stream and stops when the call has returned, over the batch, with so
// many blocking streams beside it: all idle, or each with a kernel that has not ended.
static enum gpu_status measure_submit(struct bench_case *c, unsigned samples, double *values)
{
    static struct gpu_launch launch;
    const unsigned count = (unsigned)c->axis_value;
    const bool busy = c->argument != 0;
    enum gpu_status status = keep_streams(count);
    for (unsigned s = 0; s < count && !status; s++) status = launch_into(blocking[s], &chain.empty);
    if (!status) status = gpu_device_synchronize();
    launch = chain.empty;
    launch.stream = between_streams[LEGACY];
    if (!status) status = gpu_launch_prepare(&launch);
    for (unsigned i = 0; i < samples && !status; i++) {
        double elapsed = 0;
        if (busy) status = time_busy(&launch, count, &elapsed);
        else status = launch_drain(launch.stream, launch_time_batch(&launch, c->batch, gpu_launch_runtime, &elapsed));
        values[i] = elapsed / c->batch;
    }
    c->error_bound[0] = clock_error_ns / c->batch;
    return status ? status : stamp_launch_prove(&chain.stamps);
}

// --- The plan ----------------------------------------------------------------------------------------------

static void add_orders(struct bench_plan *plan)
{
    const double resolution = sync_device_resolution_ns();
    struct bench_case c = {.samples = 5, .budget_share = BUDGET_SHARE};
    for (enum between between = LEGACY; between <= NOTHING; between++) {
        c.variant = variants[between];
        snprintf(c.params, sizeof c.params, LAUNCH_PARAMS ";spin_ns=100000");
        c.measure = measure_overlap;
        c.argument = between;
        c.outputs[0] = (struct bench_output){"overlap", "ratio", "none", .resolution = resolution / OVERLAP_SPIN_NS};
        bench_add(plan, &c);
        if (between == LEGACY || between == NOTHING) {
            snprintf(c.params, sizeof c.params, LAUNCH_PARAMS ";spin_ns=100000;streams=non_blocking");
            c.argument = BETWEENS + between;
            bench_add(plan, &c);
        }
        for (unsigned side = 0; side < SIDES && between != NOTHING; side++) {
            snprintf(c.params, sizeof c.params, LAUNCH_PARAMS ";side=%s;spin_ns=20000", sides[side]);
            c.measure = measure_barrier;
            c.argument = between * SIDES + side;
            c.outputs[0] = (struct bench_output){"barrier", "ns", "lower", .resolution = resolution};
            bench_add(plan, &c);
        }
    }
}

static void add_sweeps(struct bench_plan *plan, bool quick)
{
    static const unsigned counts[] = {1, 2, 4, 8, STREAMS_MAX};
    struct bench_case c = {.axis = "streams", .samples = 5, .budget_share = BUDGET_SHARE};
    for (unsigned k = 0; k < sizeof counts / sizeof *counts; k++) {
        if (quick && counts[k] != 2) continue;
        c.axis_value = counts[k];
        snprintf(c.params, sizeof c.params, LAUNCH_PARAMS ";spin_ns=20000");
        c.batch = 1;
        c.measure = measure_makespan;
        c.outputs[0] = (struct bench_output){"makespan", "ns", "lower", .resolution = sync_device_resolution_ns()};
        for (int with = 0; with < 2; with++) {
            c.argument = with ? LEGACY : NOTHING;
            c.variant = variants[with ? LEGACY : NOTHING];
            bench_add(plan, &c);
        }
    }
    for (unsigned count = 1; count <= STREAMS_MAX; count = count == 1 ? 8 : count * 4) {
        if (quick && count != 8) continue;
        c.variant = variants[LEGACY];
        c.axis_value = count;
        c.measure = measure_submit;
        c.outputs[0] = (struct bench_output){"submit", "ns", "lower"};
        for (int busy = 0; busy < 2; busy++) {
            snprintf(c.params, sizeof c.params, SUBMIT_PARAMS "%s", busy ? "busy" : "idle");
            c.batch = busy ? 1 : SUBMIT_BATCH;
            c.argument = busy;
            bench_add(plan, &c);
        }
    }
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    enum gpu_status status = sync_open();
    if (!status) status = keep_streams(1);
    if (!status) status = chain_open_on(&chain, blocking[0]);
    if (!status) status = gpu_stream_default(&between_streams[LEGACY], GPU_STREAM_LEGACY);
    if (!status) status = gpu_stream_default(&between_streams[PER_THREAD], GPU_STREAM_PER_THREAD);
    for (unsigned s = 0; s < 2 && !status; s++) status = gpu_stream_create(&unordered[s]);
    if (status) return status;
    between_streams[NON_BLOCKING] = unordered[0];
    clock_error_ns = clock_cost_ns();

    // Code that comes to the device for the first time could wait for a gate.
    status = chain_hold(&chain);
    if (!status) status = chain_release(&chain);
    for (enum between between = LEGACY; between < NOTHING && !status; between++)
        status = launch_drain(between_streams[between], launch_into(between_streams[between], &chain.empty));
    if (!status) status = stamp_launch_prove(&chain.stamps);
    if (status) return status;
    add_orders(plan);
    add_sweeps(plan, quick);
    return GPU_OK;
}

static void teardown(void)
{
    if (chain.stream) keep_streams(1);
    for (unsigned s = 0; s < 2 && unordered[s]; s++) gpu_stream_destroy(unordered[s]);
    chain_close(&chain);
    sync_close();
}

const struct benchmark default_stream_benchmark = {
    .name = "default_stream",
    .summary = "what the legacy default stream costs: its barrier, the overlap that it prevents, its launch",
    .source = "claim C7",
    .seconds = 3,
    .quick_seconds = 0.8,
    .setup = setup,
    .teardown = teardown,
};
