// SPDX-License-Identifier: Apache-2.0
// The suite's own honesty: what its clocks and stamps cost, and whether what is put in comes back as it was put in.
#include <math.h>

#include "common/bench.h"
#include "common/launch.h"
#include "common/sync.h"

static const double ADDED_NS = 50e3;

static struct chain chain;
static struct gpu_launch empty_launch;
static struct stamp_launch stamped;

// clock_cost, host: from one read of the host's clock to the next; nothing stands between them.
static enum gpu_status measure_clock_cost(struct bench_case *c, unsigned samples, double *values)
{
    (void)c;
    for (unsigned i = 0; i < samples; i++) {
        uint64_t begin = clock_ticks();
        values[i] = clock_ns(clock_ticks() - begin);
    }
    return GPU_OK;
}

// clock_resolution: the smallest step that the host's clock was seen to make.
static enum gpu_status measure_clock_resolution(struct bench_case *c, unsigned samples, double *values)
{
    (void)c;
    for (unsigned i = 0; i < samples; i++) values[i] = clock_resolution_ns();
    return GPU_OK;
}

// core_cycle: the length of one cycle of the measuring core. core_operation: one of many independent additions; it
// doubles while a sibling thread, or a neighbour behind the hypervisor, shares the core. What the host does in a launch
// changes with both.
static enum gpu_status measure_core(struct bench_case *c, unsigned samples, double *values)
{
    (void)c;
    for (unsigned i = 0; i < samples; i++) {
        values[i] = clock_core_cycle_ns();
        values[samples + i] = clock_core_operation_ns();
    }
    return isnan(values[0])
               ? gpu_reason(GPU_UNSUPPORTED, "nothing is written to tell the core's speed on this processor")
               : GPU_OK;
}

// device_clock_resolution: the smallest of 64 steps that a kernel saw the device's clock make.
static enum gpu_status measure_device_clock_resolution(struct bench_case *c, unsigned samples, double *values)
{
    (void)c;
    for (unsigned i = 0; i < samples; i++) values[i] = sync_device_resolution_ns();
    return GPU_OK;
}

// sync_error: the offset between the clocks measured in the middle of a window, minus the one that the window's ends
// predict for that moment. Signed; 0 if both clocks run evenly. The error bound is the band's half width.
static enum gpu_status measure_sync_error(struct bench_case *c, unsigned samples, double *values)
{
    for (unsigned i = 0; i < samples; i++) {
        struct sync_point point[3];
        for (int k = 0; k < 3; k++) {
            if (k > 0) clock_spin_ns(SYNC_WINDOW_MS / 2 * 1e6);
            enum gpu_status status = sync_burst(&point[k]);
            if (status) return status;
        }
        struct sync_window window = {point[0], point[2]};
        double share = (point[1].host_ns - point[0].host_ns) / (point[2].host_ns - point[0].host_ns);
        double begin = (point[0].low + point[0].high) / 2, end = (point[2].low + point[2].high) / 2;
        values[i] = (point[1].low + point[1].high) / 2 - (begin + (end - begin) * share);
        c->error_bound[0] = fmax(c->error_bound[0], sync_bound_ns(&window));
    }
    return GPU_OK;
}

// stamp_cost: what a stamping kernel adds to the device's period over an empty one: a chain of stamping kernels against
// one of empty ones behind a gate, both from the begin of a stamp before it to the begin of a stamp after it, over the
// chain's length.
static enum gpu_status measure_stamp_cost(struct bench_case *c, unsigned samples, double *values)
{
    for (unsigned i = 0; i < samples; i++) {
        double stamps, empties;
        enum gpu_status status = chain_elapsed(&chain, CHAIN_STAMPS, c->batch, &stamps);
        if (!status) status = chain_elapsed(&chain, CHAIN_EMPTIES, c->batch, &empties);
        if (status) return status;
        values[i] = (stamps - empties) / c->batch;
    }
    c->error_bound[0] = 2 * sync_device_resolution_ns() / c->batch;
    return GPU_OK;
}

// submit_ratio: a batch of launches timed as empty_kernel / submit times it, over the same number in the plainest loop
// for this vendor, each after a drained queue, in alternating order.
static enum gpu_status measure_submit_ratio(struct bench_case *c, unsigned samples, double *values)
{
    for (unsigned i = 0; i < samples; i++) {
        double ours = 0, plain = 0;
        for (unsigned turn = 0; turn < 2; turn++) {
            enum gpu_status status = turn == i % 2
                                         ? launch_time_batch(&empty_launch, c->batch, gpu_launch_runtime, &ours)
                                         : gpu_plain_submit(&empty_launch, c->batch, &plain);
            status = launch_drain(empty_launch.stream, status);
            if (status) return status;
        }
        if (plain <= 0) return gpu_reason(GPU_UNSUPPORTED, "a batch is shorter than a step of the host's clock");
        values[i] = ours / plain;
    }
    return stamp_launch_prove(&stamped);
}

// *ADDED_NS: what was put in, a host's spin as long as it really was.
static enum gpu_status round_trip(double device_ns, double host_ns, double *elapsed_ns, double *added_ns)
{
    stamp_launch_reset(&stamped);
    stamp_launch_aim(&stamped);
    stamped.argument.spin_ticks = (uint64_t)(device_ns / gpu_clock_ns_per_tick());
    uint64_t begin = clock_ticks(), spun = begin;
    if (host_ns > 0) {
        clock_spin_ns(host_ns);
        spun = clock_ticks();
    }
    *added_ns = fmax(clock_ns(spun - begin), device_ns);
    enum gpu_status status = gpu_launch_runtime(&stamped.launch);
    enum gpu_status ended = gpu_stream_synchronize(stamped.launch.stream);
    *elapsed_ns = clock_ns(clock_ticks() - begin);
    return status ? status : ended;
}

// delay_ratio: what a round trip grows by when 50 µs are added to it, over those 50 µs: a kernel that spins so long by
// the device's clock (variant kernel), or the host before its call (variant host).
static enum gpu_status measure_delay_ratio(struct bench_case *c, unsigned samples, double *values)
{
    bool on_device = c->argument > 0;
    for (unsigned i = 0; i < samples; i++) {
        double with, without, nothing, added;
        enum gpu_status status = round_trip(0, 0, &without, &nothing);
        if (!status) status = round_trip(on_device ? ADDED_NS : 0, on_device ? 0 : ADDED_NS, &with, &added);
        if (status) return status;
        values[i] = (with - without) / added;
    }
    c->error_bound[0] = on_device ? sync_device_resolution_ns() / ADDED_NS : 0;
    return stamp_launch_read(&stamped);
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    (void)quick;
    enum gpu_status status = sync_open();
    if (!status) status = chain_open(&chain);
    if (!status) status = launch_prepare_empty(&empty_launch, chain.stream);
    if (!status) status = stamp_launch_open(&stamped, chain.stream, 1);
    if (status) return status;
    bench_add(plan, &(struct bench_case){.variant = "host",
                                         .outputs = {{"clock_cost", "ns", "lower"}},
                                         .samples = 200,
                                         .measure = measure_clock_cost});
    bench_add(plan, &(struct bench_case){.variant = "host",
                                         .outputs = {{"clock_resolution", "ns", "lower"}},
                                         .once = true,
                                         .measure = measure_clock_resolution});
    bench_add(plan, &(struct bench_case){.variant = "host",
                                         .outputs = {{"core_cycle", "ns", "lower", .resolution = 0.001},
                                                     {"core_operation", "ns", "lower", .resolution = 0.001}},
                                         .samples = 20,
                                         .measure = measure_core});
    bench_add(plan, &(struct bench_case){.outputs = {{"device_clock_resolution", "ns", "lower"}},
                                         .once = true,
                                         .measure = measure_device_clock_resolution});
    bench_add(plan,
              &(struct bench_case){.outputs = {{"sync_error", "ns", "none", .resolution = sync_device_resolution_ns()}},
                                   .samples = 1,
                                   .measure = measure_sync_error});
    bench_add(plan, &(struct bench_case){
                        .outputs = {{"stamp_cost", "ns", "lower", .resolution = sync_device_resolution_ns() / 200}},
                        .batch = 200,
                        .samples = 2,
                        .measure = measure_stamp_cost});
    bench_add(plan, &(struct bench_case){.variant = "runtime",
                                         .params = LAUNCH_PARAMS,
                                         .outputs = {{"submit_ratio", "ratio", "none"}},
                                         .batch = 100,
                                         .samples = 10,
                                         .measure = measure_submit_ratio});
    bench_add(plan, &(struct bench_case){.variant = "kernel",
                                         .params = "delay_ns=50000",
                                         .outputs = {{"delay_ratio", "ratio", "none"}},
                                         .samples = 10,
                                         .measure = measure_delay_ratio,
                                         .argument = 1});
    bench_add(plan, &(struct bench_case){.variant = "host",
                                         .params = "delay_ns=50000",
                                         .outputs = {{"delay_ratio", "ratio", "none"}},
                                         .samples = 10,
                                         .measure = measure_delay_ratio,
                                         .argument = 0});
    return GPU_OK;
}

static void teardown(void)
{
    stamp_launch_close(&stamped);
    chain_close(&chain);
    sync_close();
}

const struct benchmark harness_benchmark = {
    .name = "harness",
    .summary = "what the suite's own clocks and stamps cost, and whether what is put in comes back",
    .source = "its own: a submit_ratio above 1.01 would say that the harness is part of what it measures",
    .seconds = 5,
    .quick_seconds = 1.5,
    .setup = setup,
    .teardown = teardown,
};
