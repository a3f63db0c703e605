// SPDX-License-Identifier: Apache-2.0
// What order costs on the device: gaps between kernels in one stream, overlap between streams, and priorities.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/kernels/stream_order.h"
#include "common/bench.h"
#include "common/filler.h"
#include "common/hold.h"
#include "common/lanes.h"
#include "common/parts.h"

GPU_KERNEL(hold_dynamic); // without shared memory these two are alike, but for code of their own
GPU_KERNEL(carve_first);
GPU_KERNEL(write);
GPU_KERNEL(look);

// ROOM: stamps for each multiprocessor, which is enough for what one round leaves. FULL_BLOCKS of HOLD_THREADS fill a
// multiprocessor of 2048 threads.
enum { ROOM = 256, FULL_BLOCKS = 16, BYTES_MAX = 64 << 20, BYTES_QUICK = 4 << 20, DURATION_BYTES_MIN = 64 << 10 };
enum { GRID_SPIN_NS = 2000, OVERLAP_SPIN_NS = 20000, CONCURRENT_SPIN_NS = 500000 };
static const double BUDGET_SHARE = 0.045;

static struct chain chain;
static struct lanes lanes;
static struct parts parts;
static struct filler filler;
static struct hold_stamp *out;    // the device's, ROOM a multiprocessor
static struct hold_stamp *stamps; // as the host read them
static uint64_t sequence;
static uint64_t *words; // the device's, for `write`

static uint64_t ticks_of(double ns) { return (uint64_t)(ns / gpu_clock_ns_per_tick()); }
static double ns_between(uint64_t earlier, uint64_t later)
{
    return (double)(int64_t)(later - earlier) * gpu_clock_ns_per_tick();
}

static enum gpu_status take_gap(uint64_t end, uint64_t begin, double *ns)
{
    *ns = ns_between(end, begin);
    if (*ns >= 0) return GPU_OK;
    return gpu_reason(GPU_FAILED, "a grid began %.0f ns before the one ahead of it in the stream had ended", -*ns);
}

static enum gpu_status read_stamps(unsigned count) { return gpu_read(stamps, out, count * sizeof *stamps); }

// --- gap, between equal grids ------------------------------------------------------------------------------

// gap: from the last end of any block of a grid to the first begin of any of the next one in the stream. All of a
// round's grids are in the queue before a gate opens.
static enum gpu_status measure_gap(struct bench_case *c, unsigned samples, double *values)
{
    static struct gpu_launch launches[2];
    static struct hold_argument argument;
    const bool alternating = (int)c->argument % 2;
    const unsigned each = (unsigned)c->argument / 2, blocks = each ? each * gpu_multiprocessors() : 1;
    const unsigned threads = each ? HOLD_THREADS : LAUNCH_BLOCK_THREADS;
    const void *const kernels[] = {gpu_kernel(hold_dynamic), gpu_kernel(carve_first)};
    double cost_ns = 0;
    enum gpu_status status = GPU_OK;
    argument = (struct hold_argument){.out = out, .sequence = ++sequence};
    for (unsigned k = 0; k < 2 && !status; k++)
        status = launch_prepare(&launches[k], kernels[k], blocks, threads, &argument, sizeof argument, chain.stream);
    if (!status) status = chain_stamps_cost(&chain, &launches[0], &cost_ns);
    if (status) return status;

    argument.sequence = ++sequence;
    argument.spin_ticks = each ? ticks_of(GRID_SPIN_NS) : 0;
    status = chain_hold(&chain);
    for (unsigned i = 0; i <= samples && !status; i++) {
        argument.out = out + i * blocks;
        status = gpu_launch_runtime(&launches[alternating ? i % 2 : 0]);
    }
    enum gpu_status released = chain_release(&chain);
    if (!status) status = released ? released : read_stamps((samples + 1) * blocks);
    uint64_t last_end = 0;
    for (unsigned i = 0; i <= samples && !status; i++) {
        uint64_t begin, end;
        status = hold_span(stamps + i * blocks, blocks, sequence, &begin, &end);
        if (!status && i) status = take_gap(last_end, begin, &values[i - 1]);
        last_end = end;
    }
    c->error_bound[0] = sync_device_resolution_ns() + cost_ns;
    return status;
}

// --- gap, after much was written ---------------------------------------------------------------------------

// duration: of a grid that fills the device and stores so many bytes, from the first begin of any block to the last end
// of any, which is read when its stores have been issued, or with `fenced` when the device can see them. gap: from that
// end to the begin of the kernel behind it, which then finds what was written. All pairs of a round are in the queue
// before a gate opens.
static enum gpu_status measure_written(struct bench_case *c, unsigned samples, double *values)
{
    static struct gpu_launch writer, looker;
    static struct write_argument argument;
    const unsigned blocks = gpu_multiprocessors(), stride = blocks + 1;
    const uint64_t count = (uint64_t)c->axis_value / sizeof *words, first = sequence + 2;
    double cost_ns = 0;
    argument = (struct write_argument){out, ++sequence, words, 0, (uint32_t)c->argument};
    enum gpu_status status =
        launch_prepare(&writer, gpu_kernel(write), blocks, WRITE_THREADS, &argument, sizeof argument, chain.stream);
    if (!status)
        status = launch_prepare(&looker, gpu_kernel(look), 1, LAUNCH_BLOCK_THREADS, &argument, sizeof argument,
                                chain.stream);
    if (!status) status = chain_stamps_cost(&chain, &writer, &cost_ns);
    if (status) return status;

    argument.count = count;
    status = chain_hold(&chain);
    for (unsigned i = 0; i < samples && !status; i++) {
        argument.sequence = ++sequence;
        argument.out = out + i * stride;
        status = gpu_launch_runtime(&writer);
        argument.out += blocks;
        if (!status) status = gpu_launch_runtime(&looker);
    }
    enum gpu_status released = chain_release(&chain);
    if (!status) status = released ? released : read_stamps(samples * stride);
    for (unsigned i = 0; i < samples && !status; i++) {
        uint64_t begin, end, look_begin, look_end;
        status = hold_span(stamps + i * stride, blocks, first + i, &begin, &end);
        if (!status) status = hold_span(stamps + i * stride + blocks, 1, first + i, &look_begin, &look_end);
        if (status) break;
        status = take_gap(end, look_begin, &values[i]);
        if (c->outputs[1].metric) values[samples + i] = ns_between(begin, end);
    }
    c->error_bound[0] = sync_device_resolution_ns() + cost_ns;
    c->error_bound[1] = sync_device_resolution_ns();
    return status;
}

// --- overlap, second_start, concurrent ---------------------------------------------------------------------

// A grid in each of some streams, independent of each other. C's argument: twice the blocks a multiprocessor (0: one
// block of one warp), and 1 if each waits behind its stream's gate.
static bool is_gated(const struct bench_case *c) { return (unsigned)c->argument % 2; }

static enum gpu_status prepare_race(const struct bench_case *c, unsigned streams, unsigned spin_ns)
{
    const unsigned each = (unsigned)c->argument / 2;
    const struct gpu_launch grid = {.kernel = gpu_kernel(hold_dynamic),
                                    .grid = {each ? each * gpu_multiprocessors() : 1, 1, 1},
                                    .block = {each ? HOLD_THREADS : LAUNCH_BLOCK_THREADS, 1, 1}};
    const struct hold_argument argument = {.out = out, .spin_ticks = ticks_of(spin_ns)};
    if (gpu_multiprocessors() < 2)
        return gpu_reason(GPU_UNSUPPORTED, "the device has one multiprocessor: its streams take turns");
    return lanes_prepare(&lanes, streams, &grid, &argument);
}

// overlap: how long both grids run at once, over the shorter one's duration; a grid runs from its first begin of any
// block to its last end of any. second_start: from the first begin of the grid that begins first to that of the other.
static enum gpu_status measure_overlap(struct bench_case *c, unsigned samples, double *values)
{
    struct span spans[2];
    enum gpu_status status = prepare_race(c, 2, OVERLAP_SPIN_NS);
    for (unsigned i = 0; i < samples && !status; i++) {
        status = lanes_race(&lanes, is_gated(c), ++sequence, stamps, spans);
        if (status) break;
        values[i] = span_overlap_ratio(&spans[0], &spans[1]);
        values[samples + i] = (double)span_begins_apart(&spans[0], &spans[1]) * gpu_clock_ns_per_tick();
    }
    c->error_bound[0] = 2 * sync_device_resolution_ns() / OVERLAP_SPIN_NS;
    c->error_bound[1] = sync_device_resolution_ns();
    return status;
}

// concurrent: how many of the kernels run at once, at most, by their stamps.
static enum gpu_status measure_concurrent(struct bench_case *c, unsigned samples, double *values)
{
    const unsigned streams = (unsigned)c->axis_value;
    struct span spans[LANES_MAX];
    enum gpu_status status = prepare_race(c, streams, CONCURRENT_SPIN_NS);
    for (unsigned i = 0; i < samples && !status; i++) {
        status = lanes_race(&lanes, is_gated(c), ++sequence, stamps, spans);
        if (!status) values[i] = span_concurrent(spans, streams);
    }
    return status;
}

// --- launch_latency beside a full device -------------------------------------------------------------------

enum beside { BESIDE_HIGH, BESIDE_LOW, BESIDE_IDLE, BESIDES };
static const unsigned fillers_ns[] = {20000, 100000}; // that each of its blocks spins

// launch_latency: from before the call to the first thread's first clock read. high, low: into a stream of the highest
// or lowest priority, while blocks of a grid of the lowest priority fill the device and more of them wait. idle: into
// the highest (or only) priority's, on an idle device. A launch that came after the filler's end does not count.
static enum gpu_status measure_latency(struct bench_case *c, unsigned samples, double *values)
{
    const enum beside how = (enum beside)((unsigned)c->argument % BESIDES);
    const double spin_ns = fillers_ns[(unsigned)c->argument / BESIDES];
    unsigned kept[PARTS_ROOM], count = 0;
    if (how == BESIDE_HIGH && filler.high_outcome.status) return gpu_outcome_tell(&filler.high_outcome);
    parts.stamps.launch.stream = how != BESIDE_LOW && filler.high ? filler.high : filler.low;
    enum gpu_status status = gpu_launch_prepare(&parts.stamps.launch);
    if (!status) status = parts_begin(&parts);
    while (count < samples && !status) {
        if (parts.stamps.used == 2 * samples) {
            status = gpu_reason(GPU_FAILED, "the grid that fills the device ends before the host has launched");
            break;
        }
        bool beside = false;
        status = filler_launch(&filler, &parts, spin_ns, how == BESIDE_IDLE ? 0 : ++sequence, &beside);
        if (beside) kept[count++] = parts.stamps.used - 1;
    }
    status = parts_end(&parts, status);
    for (unsigned i = 0; i < samples && !status; i++) values[i] = parts_launch_latency(&parts, kept[i]);
    c->error_bound[0] = parts_bound_ns(&parts);
    if (status || how == BESIDE_IDLE) return status;

    const unsigned blocks = filler.launch.grid[0];
    uint64_t begin, end;
    status = read_stamps(blocks);
    if (!status) status = hold_span(stamps, blocks, sequence, &begin, &end);
    if (!status)
        snprintf(c->detail, sizeof c->detail, "filler_blocks=%u;filler_ns=%.0f", blocks, ns_between(begin, end));
    return status;
}

// --- The plan ----------------------------------------------------------------------------------------------

static void add_gap(struct bench_plan *plan, unsigned blocks_each, bool alternating)
{
    struct bench_case c = {.variant = alternating ? "alternating" : "same_kernel",
                           .samples = blocks_each ? 10 : 50,
                           .budget_share = BUDGET_SHARE,
                           .measure = measure_gap,
                           .argument = 2 * blocks_each + alternating,
                           .outputs = {{"gap", "ns", "lower", .resolution = sync_device_resolution_ns()}}};
    if (blocks_each) c.axis = "blocks_per_multiprocessor", c.axis_value = blocks_each;
    snprintf(c.params, sizeof c.params, "%s",
             blocks_each ? "block_threads=128;kernel=hold;spin_ns=2000"
                         : "block_threads=32;blocks=1;kernel=hold;spin_ns=0");
    if (blocks_each) snprintf(c.detail, sizeof c.detail, "blocks=%u", blocks_each * gpu_multiprocessors());
    bench_add(plan, &c);
}

static void add_written(struct bench_plan *plan, double bytes, bool fenced)
{
    const double resolution = sync_device_resolution_ns();
    struct bench_case c = {.variant = fenced ? "fenced" : "plain",
                           .params = "block_threads=1024;blocks_per_multiprocessor=1;kernel=write",
                           .axis = "bytes",
                           .axis_value = bytes,
                           .samples = 5,
                           .budget_share = BUDGET_SHARE,
                           .measure = measure_written,
                           .argument = fenced,
                           .outputs = {{"gap", "ns", "lower", .resolution = resolution}}};
    // What is shorter than ten steps of the clock is no number.
    if (!fenced && bytes >= DURATION_BYTES_MIN)
        c.outputs[1] = (struct bench_output){"duration", "ns", "lower", .resolution = resolution};
    bench_add(plan, &c);
}

static void add_overlap(struct bench_plan *plan, bool gated, unsigned blocks_each)
{
    const double resolution = sync_device_resolution_ns();
    struct bench_case c = {.variant = gated ? "gated" : "ungated",
                           .samples = 10,
                           .budget_share = BUDGET_SHARE,
                           .measure = measure_overlap,
                           .argument = 2 * blocks_each + gated,
                           .outputs = {{"overlap", "ratio", "higher", .resolution = resolution / OVERLAP_SPIN_NS},
                                       {"second_start", "ns", "lower", .resolution = resolution}}};
    snprintf(c.params, sizeof c.params, "%s;kernel=hold;spin_ns=%d;streams=2",
             blocks_each ? "block_threads=128;blocks_per_multiprocessor=16" : LAUNCH_PARAMS, OVERLAP_SPIN_NS);
    bench_add(plan, &c);
}

static void add_concurrent(struct bench_plan *plan, bool gated, unsigned streams)
{
    struct bench_case c = {.variant = gated ? "gated" : "ungated",
                           .axis = "streams",
                           .axis_value = streams,
                           .samples = 2,
                           .budget_share = BUDGET_SHARE,
                           .measure = measure_concurrent,
                           .argument = gated,
                           .outputs = {{"concurrent", "count", "higher", .resolution = 1}}};
    snprintf(c.params, sizeof c.params, LAUNCH_PARAMS ";kernel=hold;spin_ns=%d", CONCURRENT_SPIN_NS);
    bench_add(plan, &c);
}

// FILLER_INDEX: of fillers_ns.
static void add_latency(struct bench_plan *plan, enum beside how, unsigned filler_index)
{
    static const char *const names[] = {[BESIDE_HIGH] = "high", [BESIDE_LOW] = "low", [BESIDE_IDLE] = "idle"};
    struct bench_case c = {.variant = names[how],
                           .samples = 10,
                           .budget_share = 3 * BUDGET_SHARE,
                           .measure = measure_latency,
                           .argument = filler_index * BESIDES + how,
                           .outputs = {{"launch_latency", "ns", "lower", .resolution = sync_device_resolution_ns()}}};
    if (how == BESIDE_IDLE) strcpy(c.params, LAUNCH_PARAMS ";kernel=stamp");
    else snprintf(c.params, sizeof c.params, LAUNCH_PARAMS ";filler_spin_ns=%u;kernel=stamp", fillers_ns[filler_index]);
    bench_add(plan, &c);
}

static void plan_cases(struct bench_plan *plan, bool quick)
{
    static const unsigned blocks_each[] = {0, 1, 8, FULL_BLOCKS};
    for (unsigned b = 0; b < sizeof blocks_each / sizeof *blocks_each; b++) {
        if (quick && blocks_each[b] && blocks_each[b] != 8) continue;
        add_gap(plan, blocks_each[b], false);
        if (!quick || !blocks_each[b]) add_gap(plan, blocks_each[b], true);
    }
    for (unsigned bytes = 0; bytes <= BYTES_MAX; bytes = bytes ? (bytes < BYTES_QUICK ? 4 : 2) * bytes : 4096) {
        if (quick && bytes != BYTES_QUICK) continue;
        add_written(plan, bytes, false);
        if (!quick) add_written(plan, bytes, true);
    }
    add_overlap(plan, true, 0);
    if (!quick) {
        add_overlap(plan, true, FULL_BLOCKS);
        add_overlap(plan, false, 0);
    }
    for (unsigned streams = 2; streams <= LANES_MAX && !quick; streams *= 2) {
        add_concurrent(plan, true, streams);
        add_concurrent(plan, false, streams);
    }
    for (int how = BESIDE_HIGH; how <= BESIDE_IDLE; how++) add_latency(plan, (enum beside)how, 0);
    for (int how = BESIDE_HIGH; how <= BESIDE_LOW && !quick; how++) add_latency(plan, (enum beside)how, 1);
}

// Behind a gate nothing may happen for the first time: loading a kernel may wait for the stream.
static enum gpu_status launch_all(void)
{
    static struct hold_argument held;
    static struct write_argument written;
    static const void *const kernels[] = {gpu_kernel(hold_dynamic), gpu_kernel(carve_first), gpu_kernel(write),
                                          gpu_kernel(look)};
    static struct gpu_launch launch;
    enum gpu_status status = GPU_OK;
    held = (struct hold_argument){.out = out, .sequence = ++sequence};
    written = (struct write_argument){.out = out, .sequence = sequence, .words = words};
    for (unsigned k = 0; k < sizeof kernels / sizeof *kernels && !status; k++) {
        bool holds = k < 2;
        status = launch_prepare(&launch, kernels[k], 1, LAUNCH_BLOCK_THREADS, holds ? (void *)&held : (void *)&written,
                                holds ? sizeof held : sizeof written, chain.stream);
        if (!status) status = launch_drain(chain.stream, gpu_launch_runtime(&launch));
    }
    return status;
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    const size_t bytes = (size_t)ROOM * gpu_multiprocessors() * sizeof *stamps;
    void *device_stamps, *device_words;
    enum gpu_status status = sync_open();
    if (!status) status = chain_open(&chain);
    if (!status) status = lanes_open(&lanes, &chain, quick ? 2 : LANES_MAX);
    if (!status) status = parts_open(&parts, &chain);
    if (!status) status = gpu_alloc(&device_stamps, bytes);
    if (status) return status;
    out = device_stamps;
    status = gpu_alloc(&device_words, quick ? BYTES_QUICK : BYTES_MAX);
    if (status) return status;
    words = device_words;
    stamps = malloc(bytes);
    if (!stamps) return gpu_reason(GPU_FAILED, "no memory for %zu bytes of stamps", bytes);
    status = filler_open(&filler, out);
    if (!status) status = launch_all();
    if (!status) plan_cases(plan, quick);
    return status;
}

static void teardown(void)
{
    filler_close(&filler);
    gpu_free(words);
    gpu_free(out);
    free(stamps);
    parts_close(&parts);
    lanes_close(&lanes);
    chain_close(&chain);
    sync_close();
}

const struct benchmark stream_order_benchmark = {
    .name = "stream_order",
    .summary = "what order costs on the device: gaps within a stream, overlap between streams, priorities",
    .source = "claim C5",
    .seconds = 5,
    .quick_seconds = 0.8,
    .setup = setup,
    .teardown = teardown,
};
