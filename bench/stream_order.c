// SPDX-License-Identifier: Apache-2.0
// What order costs on the device: gaps between kernels in one stream, overlap between streams, and priorities.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/gpu_stream.h"
#include "backends/kernels/stream_order.h"
#include "common/bench.h"
#include "common/hold.h"
#include "common/lanes.h"
#include "common/parts.h"
#include "common/span.h"

GPU_KERNEL(hold_dynamic); // without shared memory these two are alike, but for code of their own
GPU_KERNEL(carve_first);
GPU_KERNEL(write);
GPU_KERNEL(look);

// ROOM: stamps for each multiprocessor, which is enough for what one round leaves. COST_CHAIN: grids in each measure of
// what stamps cost. FULL_BLOCKS of HOLD_THREADS fill a multiprocessor of 2048 threads.
enum { ROOM = 256, COST_CHAIN = 10, COST_PASSES = 3, FULL_BLOCKS = 16, BYTES_MAX = 64 << 20, BYTES_QUICK = 4 << 20 };
enum { GRID_SPIN_NS = 2000, OVERLAP_SPIN_NS = 20000, CONCURRENT_SPIN_NS = 500000 };
enum { FILLER_SPIN_NS = 20000, FILLER_BLOCKS = 160, FILLER_LEAD_NS = 30000 }; // FILLER_BLOCKS each multiprocessor
static const double BUDGET_SHARE = 0.08;

static struct chain chain;
static struct lanes lanes;
static struct parts parts;
static struct hold_stamp *out;    // the device's, ROOM a multiprocessor
static struct hold_stamp *stamps; // as the host read them
static uint64_t sequence;
static uint64_t *words; // the device's, for `write`

static uint64_t ticks_of(double ns) { return (uint64_t)(ns / gpu_clock_ns_per_tick()); }
static double ns_between(uint64_t earlier, uint64_t later)
{
    return (double)(int64_t)(later - earlier) * gpu_clock_ns_per_tick();
}

static enum gpu_status prepare(struct gpu_launch *launch, const void *kernel, struct gpu_stream *stream,
                               unsigned blocks, unsigned threads, void *argument, size_t bytes)
{
    *launch = (struct gpu_launch){.kernel = kernel,
                                  .grid = {blocks, 1, 1},
                                  .block = {threads, 1, 1},
                                  .argument = bytes ? argument : NULL,
                                  .argument_bytes = bytes,
                                  .stream = stream};
    return gpu_launch_prepare(launch);
}

// One grid after another in a chain behind the gate; the shortest of some tries, as what disturbs prolongs.
static enum gpu_status shortest_chain(const struct gpu_launch *launch, double *ns)
{
    enum gpu_status status = GPU_OK;
    *ns = INFINITY;
    for (unsigned i = 0; i < COST_PASSES && !status; i++) {
        double elapsed = 0;
        status = chain_elapsed_launch(&chain, launch, gpu_launch_runtime, COST_CHAIN, &elapsed);
        *ns = fmin(*ns, elapsed);
    }
    return status;
}

// What a grid that does nothing but leave its stamps takes longer than an empty one of its shape: no more than that do
// the stamps' stores, and the kernel's beginning and end beyond its clock reads, add to the gap after it.
static enum gpu_status stamps_cost(const struct gpu_launch *idle, double *ns)
{
    static struct gpu_launch empty;
    double stamped_ns = 0, empty_ns = 0;
    enum gpu_status status = prepare(&empty, chain.empty.kernel, chain.stream, idle->grid[0], idle->block[0], NULL, 0);
    if (!status) status = shortest_chain(idle, &stamped_ns);
    if (!status) status = shortest_chain(&empty, &empty_ns);
    *ns = fmax((stamped_ns - empty_ns) / COST_CHAIN, 0);
    return status;
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
    double cost_ns = 0;
    argument = (struct hold_argument){.out = out, .sequence = ++sequence};
    enum gpu_status status =
        prepare(&launches[0], gpu_kernel(hold_dynamic), chain.stream, blocks, threads, &argument, sizeof argument);
    if (!status)
        status =
            prepare(&launches[1], gpu_kernel(carve_first), chain.stream, blocks, threads, &argument, sizeof argument);
    if (!status) status = stamps_cost(&launches[0], &cost_ns);
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
        if (i) values[i - 1] = ns_between(last_end, begin);
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
        prepare(&writer, gpu_kernel(write), chain.stream, blocks, WRITE_THREADS, &argument, sizeof argument);
    if (!status)
        status = prepare(&looker, gpu_kernel(look), chain.stream, 1, LAUNCH_BLOCK_THREADS, &argument, sizeof argument);
    if (!status) status = stamps_cost(&writer, &cost_ns);
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
        values[i] = ns_between(end, look_begin);
        if (c->outputs[1].metric) values[samples + i] = ns_between(begin, end);
    }
    c->error_bound[0] = sync_device_resolution_ns() + cost_ns;
    c->error_bound[1] = sync_device_resolution_ns();
    return status;
}

// --- overlap, second_start, concurrent ---------------------------------------------------------------------

// A grid in each of some streams, independent of each other. GATED: each waits behind its stream's gate.
struct race {
    bool gated;
    unsigned blocks_each, streams; // blocks a multiprocessor; 0: one block of one warp
    unsigned spin_ns;
};
enum { RACES_MAX = 16 };
static struct race races[RACES_MAX];
static unsigned race_count;

static struct {
    struct gpu_launch launch;
    struct hold_argument argument;
} runners[LANES_MAX];

static enum gpu_status prepare_race(const struct race *race, unsigned blocks)
{
    if (gpu_multiprocessors() < 2)
        return gpu_reason(GPU_UNSUPPORTED, "the device has one multiprocessor: its streams take turns");
    enum gpu_status status = GPU_OK;
    for (unsigned k = 0; k < race->streams && !status; k++) {
        runners[k].argument = (struct hold_argument){.out = out + k * blocks, .spin_ticks = ticks_of(race->spin_ns)};
        status = prepare(&runners[k].launch, gpu_kernel(hold_dynamic), lanes.streams[k], blocks,
                         race->blocks_each ? HOLD_THREADS : LAUNCH_BLOCK_THREADS, &runners[k].argument,
                         sizeof runners[k].argument);
    }
    return status;
}

// Stream after stream gets all that is for it, as programs do.
static enum gpu_status run_race(const struct race *race, unsigned blocks, struct span *spans)
{
    enum gpu_status status = GPU_OK;
    sequence++;
    for (unsigned k = 0; k < race->streams && !status; k++) {
        runners[k].argument.sequence = sequence;
        if (race->gated) status = lanes_hold(&lanes, k);
        if (!status) status = gpu_launch_runtime(&runners[k].launch);
    }
    if (race->gated) status = lanes_release(&lanes, race->streams, status);
    else status = lanes_drain(&lanes, race->streams, status);
    if (!status) status = read_stamps(race->streams * blocks);
    for (unsigned k = 0; k < race->streams && !status; k++)
        status = hold_span(stamps + k * blocks, blocks, sequence, &spans[k].begin_ticks, &spans[k].end_ticks);
    return status;
}

static unsigned race_blocks(const struct race *race)
{
    return race->blocks_each ? race->blocks_each * gpu_multiprocessors() : 1;
}

// overlap: how long both grids run at once, over the shorter one's duration; a grid runs from its first begin of any
// block to its last end of any. second_start: from the first begin of the grid that begins first to that of the other.
static enum gpu_status measure_overlap(struct bench_case *c, unsigned samples, double *values)
{
    const struct race *race = &races[(int)c->argument];
    const unsigned blocks = race_blocks(race);
    struct span spans[LANES_MAX];
    enum gpu_status status = prepare_race(race, blocks);
    for (unsigned i = 0; i < samples && !status; i++) {
        status = run_race(race, blocks, spans);
        if (status) break;
        values[i] = span_overlap_ratio(&spans[0], &spans[1]);
        values[samples + i] = (double)span_begins_apart(&spans[0], &spans[1]) * gpu_clock_ns_per_tick();
    }
    c->error_bound[0] = 2 * sync_device_resolution_ns() / race->spin_ns;
    c->error_bound[1] = sync_device_resolution_ns();
    return status;
}

// concurrent: how many of the kernels run at once, at most, by their stamps.
static enum gpu_status measure_concurrent(struct bench_case *c, unsigned samples, double *values)
{
    const struct race *race = &races[(int)c->argument];
    struct span spans[LANES_MAX];
    enum gpu_status status = prepare_race(race, 1);
    for (unsigned i = 0; i < samples && !status; i++) {
        status = run_race(race, 1, spans);
        if (!status) values[i] = span_concurrent(spans, race->streams);
    }
    return status;
}

// --- launch_latency beside a full device -------------------------------------------------------------------

enum beside { BESIDE_HIGH, BESIDE_LOW, BESIDE_IDLE };

static struct {
    struct gpu_stream *filler, *low, *high; // the first two are of the lowest priority
    struct gpu_launch launch;
    struct hold_argument argument;
    enum gpu_status high_status;
    char high_reason[256];
} priority;

// Where there is one priority, it is the lowest one.
static enum gpu_status create_lowest(struct gpu_stream **stream)
{
    enum gpu_status status = gpu_stream_create_priority(stream, false);
    return status == GPU_UNSUPPORTED ? gpu_stream_create(stream) : status;
}

static enum gpu_status open_priority(void)
{
    enum gpu_status status = create_lowest(&priority.filler);
    if (!status) status = create_lowest(&priority.low);
    if (status) return status;
    priority.high_status = gpu_stream_create_priority(&priority.high, true);
    if (priority.high_status) snprintf(priority.high_reason, sizeof priority.high_reason, "%s", gpu_error());
    priority.argument = (struct hold_argument){.out = out, .spin_ticks = ticks_of(FILLER_SPIN_NS)};
    return prepare(&priority.launch, gpu_kernel(hold_dynamic), priority.filler, FILLER_BLOCKS * gpu_multiprocessors(),
                   HOLD_THREADS, &priority.argument, sizeof priority.argument);
}

// Starts the filler and returns when it runs: after a while that is another one for each launch, spread over the time
// that a block takes, so that launches do not all meet the same moment of a block.
static enum gpu_status start_filler(void)
{
    static unsigned turn;
    priority.argument.sequence = ++sequence;
    enum gpu_status status = gpu_launch_runtime(&priority.launch);
    clock_spin_ns(FILLER_LEAD_NS + FILLER_SPIN_NS * fmod(0.618034 * ++turn, 1));
    return status;
}

// One launch, number PARTS.STAMPS.USED − 1 then. *BESIDE: whether the filler had still not ended after the call.
static enum gpu_status launch_beside(bool filled, bool *beside)
{
    struct host_reads *host = &parts.reads[parts.stamps.used];
    bool ended = false;
    enum gpu_status status = filled ? start_filler() : GPU_OK, asked = GPU_OK;
    stamp_launch_aim(&parts.stamps);
    host->called = clock_ticks();
    if (!status) status = gpu_launch_runtime(&parts.stamps.launch);
    if (filled) asked = gpu_stream_query(priority.filler, &ended);
    *beside = !ended;
    status = launch_drain(parts.stamps.launch.stream, status ? status : asked);
    return filled ? launch_drain(priority.filler, status) : status;
}

// launch_latency: from before the call to the first thread's first clock read. high, low: into a stream of the highest
// or lowest priority, while blocks of a grid of the lowest priority fill the device and more of them wait. idle: into the
// highest (or only) priority's, on an idle device. A launch that came after the filler's end does not count.
static enum gpu_status measure_latency(struct bench_case *c, unsigned samples, double *values)
{
    const enum beside how = (enum beside)c->argument;
    unsigned kept[PARTS_ROOM], count = 0;
    if (how == BESIDE_HIGH && priority.high_status) return gpu_reason(priority.high_status, "%s", priority.high_reason);
    parts.stamps.launch.stream = how != BESIDE_LOW && priority.high ? priority.high : priority.low;
    enum gpu_status status = gpu_launch_prepare(&parts.stamps.launch);
    if (!status) status = parts_begin(&parts);
    while (count < samples && !status) {
        if (parts.stamps.used == 2 * samples) {
            status = gpu_reason(GPU_FAILED, "the grid that fills the device ends before the host has launched");
            break;
        }
        bool beside = false;
        status = launch_beside(how != BESIDE_IDLE, &beside);
        if (beside) kept[count++] = parts.stamps.used - 1;
    }
    status = parts_end(&parts, status);
    for (unsigned i = 0; i < samples && !status; i++) values[i] = parts_launch_latency(&parts, kept[i]);
    c->error_bound[0] = parts_bound_ns(&parts);
    if (status || how == BESIDE_IDLE) return status;

    const unsigned blocks = priority.launch.grid[0];
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
    if (!fenced) c.outputs[1] = (struct bench_output){"duration", "ns", "lower", .resolution = resolution};
    bench_add(plan, &c);
}

static struct bench_case race_case(struct race race)
{
    struct bench_case c = {.variant = race.gated ? "gated" : "ungated", .budget_share = BUDGET_SHARE};
    if (race_count == RACES_MAX) abort();
    c.argument = race_count;
    races[race_count++] = race;
    return c;
}

static void add_overlap(struct bench_plan *plan, bool gated, unsigned blocks_each)
{
    struct bench_case c = race_case((struct race){gated, blocks_each, 2, OVERLAP_SPIN_NS});
    c.samples = 10;
    c.measure = measure_overlap;
    c.outputs[0] = (struct bench_output){"overlap", "ratio", "higher",
                                         .resolution = sync_device_resolution_ns() / OVERLAP_SPIN_NS};
    c.outputs[1] = (struct bench_output){"second_start", "ns", "lower", .resolution = sync_device_resolution_ns()};
    if (blocks_each)
        snprintf(c.params, sizeof c.params,
                 "block_threads=128;blocks_per_multiprocessor=%u;kernel=hold;spin_ns=%d;streams=2", blocks_each,
                 OVERLAP_SPIN_NS);
    else
        snprintf(c.params, sizeof c.params, "block_threads=32;blocks=1;kernel=hold;spin_ns=%d;streams=2",
                 OVERLAP_SPIN_NS);
    bench_add(plan, &c);
}

static void add_concurrent(struct bench_plan *plan, bool gated, unsigned streams)
{
    struct bench_case c = race_case((struct race){gated, 0, streams, CONCURRENT_SPIN_NS});
    c.axis = "streams";
    c.axis_value = streams;
    c.samples = 2;
    c.measure = measure_concurrent;
    c.outputs[0] = (struct bench_output){"concurrent", "count", "higher", .resolution = 1};
    snprintf(c.params, sizeof c.params, "block_threads=32;blocks=1;kernel=hold;spin_ns=%d", CONCURRENT_SPIN_NS);
    bench_add(plan, &c);
}

static void add_latency(struct bench_plan *plan, enum beside how)
{
    static const char *const names[] = {[BESIDE_HIGH] = "high", [BESIDE_LOW] = "low", [BESIDE_IDLE] = "idle"};
    struct bench_case c = {.variant = names[how],
                           .params = LAUNCH_PARAMS ";kernel=stamp",
                           .samples = 10,
                           .budget_share = 3 * BUDGET_SHARE,
                           .measure = measure_latency,
                           .argument = how,
                           .outputs = {{"launch_latency", "ns", "lower", .resolution = sync_device_resolution_ns()}}};
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
    for (unsigned bytes = 0; bytes <= BYTES_MAX; bytes = bytes ? 4 * bytes : 4096) {
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
    for (int how = BESIDE_HIGH; how <= BESIDE_IDLE; how++) add_latency(plan, (enum beside)how);
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
        status = prepare(&launch, kernels[k], chain.stream, 1, LAUNCH_BLOCK_THREADS,
                         holds ? (void *)&held : (void *)&written, holds ? sizeof held : sizeof written);
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
    status = open_priority();
    if (!status) status = launch_all();
    if (!status) plan_cases(plan, quick);
    return status;
}

static void teardown(void)
{
    if (priority.filler) gpu_stream_destroy(priority.filler);
    if (priority.low) gpu_stream_destroy(priority.low);
    if (priority.high) gpu_stream_destroy(priority.high);
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
    .source = "claims C5, C6",
    .seconds = 5,
    .quick_seconds = 0.8,
    .setup = setup,
    .teardown = teardown,
};
