// SPDX-License-Identifier: Apache-2.0
// What the shape of a launch costs: blocks, threads a block, dimensions, clusters, and waves of blocks.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/kernels/geometry.h"
#include "common/bench.h"
#include "common/launch.h"
#include "common/stats.h"
#include "common/sync.h"

GPU_KERNEL(wave);

// CHAIN_MAX, CHAIN_BLOCKS: grids in a sample of duration, and blocks in all of them, at most, but one grid at least.
// SUBMIT_BATCH: calls in a sample of submit over blocks, whose grids may be large.
enum { CHAIN_MAX = 64, CHAIN_BLOCKS = 1 << 18, SUBMIT_BATCH = 5, SHAPES_MAX = 64 };
enum { POWER_MAX = 20, FIT_POWER = 8, FIT_SIZES = POWER_MAX - FIT_POWER + 1, FIT_SIZES_MIN = 3, FIT_PASSES = 4 };
enum { WAVE_THREADS = 1024, WAVE_QUARTERS = 16 };
static const double FIT_FLOORS = 8, FIT_LIMIT_NS = 2e6;
static const double WAVE_NS = 20e3;
static const double BUDGET_SHARE = 0.08; // of a point of a sweep

struct shape {
    unsigned grid[3], threads;
    unsigned cluster;
    bool cooperative, extensible; // extensible: through gpu_launch_ex
};

static struct shape shapes[SHAPES_MAX];
static unsigned shape_count;
static struct chain chain;
static double clock_error_ns;
static struct wave_argument wave_argument;
static struct stamp *wave_stamps; // as the host read them

static enum gpu_status prepare(const struct shape *shape, struct gpu_launch *launch)
{
    *launch = chain.empty;
    for (int d = 0; d < 3; d++) launch->grid[d] = shape->grid[d];
    launch->block[0] = shape->threads;
    launch->cluster[0] = shape->cluster;
    launch->cooperative = shape->cooperative;
    return gpu_launch_prepare(launch);
}

static launch_function *way(const struct shape *shape)
{
    return shape->extensible ? gpu_launch_ex : gpu_launch_runtime;
}

static unsigned chain_length(uint64_t blocks)
{
    uint64_t length = CHAIN_BLOCKS / blocks;
    return length > CHAIN_MAX ? CHAIN_MAX : length < 1 ? 1 : (unsigned)length;
}

// --- submit, duration --------------------------------------------------------------------------------------

// duration: 2 LENGTH empty grids between two stamps, less LENGTH of them between two stamps, over LENGTH; all queued
// behind a gate before the first starts.
static enum gpu_status time_grids(const struct gpu_launch *launch, launch_function *submit, unsigned length, double *ns)
{
    double longer, shorter;
    enum gpu_status status = chain_elapsed_launch(&chain, launch, submit, 2 * length, &longer);
    if (!status) status = chain_elapsed_launch(&chain, launch, submit, length, &shorter);
    if (!status) *ns = (longer - shorter) / length;
    return status;
}

static enum gpu_status measure_duration(struct bench_case *c, unsigned samples, double *values)
{
    static struct gpu_launch launch;
    const struct shape *shape = &shapes[(unsigned)c->argument];
    enum gpu_status status = prepare(shape, &launch);
    for (unsigned i = 0; i < samples && !status; i++) status = time_grids(&launch, way(shape), c->batch, &values[i]);
    if (status) return status;
    c->error_bound[0] = 2 * sync_device_resolution_ns() / c->batch;
    return stamp_launch_prove(&chain.stamps);
}

// submit: starts before the first of a batch of calls and stops when the last has returned, over the batch. The queue
// is empty before and holds the whole batch; it is drained outside the clock.
static enum gpu_status time_submits(struct bench_case *c, unsigned samples, double *values, double *error_bound)
{
    static struct gpu_launch launch;
    const struct shape *shape = &shapes[(unsigned)c->argument];
    enum gpu_status status = prepare(shape, &launch);
    for (unsigned i = 0; i < samples && !status; i++) {
        double elapsed;
        // Each way's call is written out, so that the compiler sees a direct one in each timed region.
        if (shape->extensible) status = launch_time_batch(&launch, c->batch, gpu_launch_ex, &elapsed);
        else status = launch_time_batch(&launch, c->batch, gpu_launch_runtime, &elapsed);
        status = launch_drain(chain.stream, status);
        if (!status) values[i] = elapsed / c->batch;
    }
    *error_bound = clock_error_ns / c->batch;
    return status ? status : stamp_launch_prove(&chain.stamps);
}

static enum gpu_status measure_submit(struct bench_case *c, unsigned samples, double *values)
{
    return time_submits(c, samples, values, &c->error_bound[0]);
}

static enum gpu_status measure_both(struct bench_case *c, unsigned samples, double *values)
{
    enum gpu_status status = measure_duration(c, samples, values);
    return status ? status : time_submits(c, samples, values + samples, &c->error_bound[1]);
}

// --- duration_per_block, knee_blocks -----------------------------------------------------------------------

// The median of the slopes between any two of COUNT points (Theil and Sen's), and of the distances that they span.
static double fit_slope(const double *x, const double *y, unsigned count, double *span)
{
    double slopes[FIT_SIZES * (FIT_SIZES - 1) / 2], spans[FIT_SIZES * (FIT_SIZES - 1) / 2];
    unsigned pairs = 0;
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = i + 1; k < count; k++) {
            spans[pairs] = x[k] - x[i];
            slopes[pairs] = (y[k] - y[i]) / spans[pairs];
            pairs++;
        }
    stats_sort(slopes, pairs);
    stats_sort(spans, pairs);
    *span = stats_quantile(spans, pairs, 0.5);
    return stats_quantile(slopes, pairs, 0.5);
}

// Times grids of 2^8 to 2^20 blocks, each alone between two stamps, and keeps those sizes of which dispatch is nearly
// all: that take FIT_FLOORS times as long as FLOOR_NS, a grid of one block. Ends after the size that takes all so far
// past FIT_LIMIT_NS. Then in turn, to FIT_PASSES times: the shortest counts, as what disturbs a grid makes it longer.
// What stands beside a grid between the stamps is the same for all and no part of a slope.
static enum gpu_status time_sizes(double floor_ns, double *blocks, double *ns, unsigned *count)
{
    static struct gpu_launch launches[FIT_SIZES];
    enum gpu_status status = GPU_OK;
    double elapsed, spent_ns = 0;
    unsigned sizes = 0;
    for (unsigned power = FIT_POWER; power <= POWER_MAX; power++) {
        struct shape shape = {{1u << power, 1, 1}, LAUNCH_BLOCK_THREADS, 0, false, false};
        if (sizes >= FIT_SIZES_MIN && spent_ns > FIT_LIMIT_NS) break;
        status = prepare(&shape, &launches[sizes]);
        if (!status) status = chain_elapsed_launch(&chain, &launches[sizes], gpu_launch_runtime, 1, &elapsed);
        if (status) return status;
        spent_ns += elapsed;
        if (elapsed < FIT_FLOORS * floor_ns) continue;
        blocks[sizes] = shape.grid[0];
        ns[sizes++] = elapsed;
    }
    if (sizes < FIT_SIZES_MIN)
        return gpu_reason(GPU_UNSUPPORTED, "%u blocks take hardly longer than one", 1u << POWER_MAX);
    for (unsigned k = sizes; k < sizes * FIT_PASSES; k++) {
        status = chain_elapsed_launch(&chain, &launches[k % sizes], gpu_launch_runtime, 1, &elapsed);
        if (status) return status;
        ns[k % sizes] = fmin(ns[k % sizes], elapsed);
    }
    *count = sizes;
    return GPU_OK;
}

// duration_per_block: the slope of a grid's time over its blocks. knee_blocks: as many blocks as take, at that slope,
// as long as a grid of one block takes whole: where slope times blocks meets the floor. The fitted line's own intercept
// is not asked: it is a small difference of long times, of either sign.
static enum gpu_status measure_fit(struct bench_case *c, unsigned samples, double *values)
{
    const double resolution = sync_device_resolution_ns();
    for (unsigned i = 0; i < samples; i++) {
        double blocks[FIT_SIZES], ns[FIT_SIZES], floor_ns, span;
        unsigned sizes = 0;
        enum gpu_status status = time_grids(&chain.empty, gpu_launch_runtime, CHAIN_MAX, &floor_ns);
        if (!status) status = time_sizes(floor_ns, blocks, ns, &sizes);
        if (status) return status;
        double slope = fit_slope(blocks, ns, sizes, &span);
        if (slope <= 0) return gpu_reason(GPU_UNSUPPORTED, "grids take no longer the more blocks they have");
        values[i] = slope;
        values[samples + i] = floor_ns / slope;
        double slope_bound = 2 * resolution / span; // half the pairs span at least so much
        double knee_bound = (2 * resolution / CHAIN_MAX + slope_bound * values[samples + i]) / slope;
        c->error_bound[0] = fmax(c->error_bound[0], slope_bound);
        c->error_bound[1] = fmax(c->error_bound[1], knee_bound);
        snprintf(c->detail, sizeof c->detail, "largest_blocks=%.0f;smallest_blocks=%.0f", blocks[sizes - 1], blocks[0]);
    }
    return stamp_launch_prove(&chain.stamps);
}

// --- wave_duration, block_start_skew -----------------------------------------------------------------------

static unsigned wave_blocks(double per_multiprocessor)
{
    return (unsigned)fmax(round(per_multiprocessor * gpu_multiprocessors()), 1);
}

// Reads the stamps of one grid. GPU_FAILED if a block left none. *SKEW_NS is of the blocks that began before any ended.
static enum gpu_status read_wave(unsigned blocks, double *duration_ns, double *skew_ns)
{
    enum gpu_status status = gpu_read(wave_stamps, wave_argument.out, blocks * sizeof *wave_stamps);
    if (status) return status;
    uint64_t first_begin = UINT64_MAX, first_end = UINT64_MAX, last_begin = 0, last_end = 0;
    for (unsigned b = 0; b < blocks; b++) {
        const struct stamp *stamp = &wave_stamps[b];
        if (stamp->sequence != wave_argument.sequence)
            return gpu_reason(GPU_FAILED, "block %u of %u left no stamp: it did not run", b, blocks);
        if (stamp->begin_ticks < first_begin) first_begin = stamp->begin_ticks;
        if (stamp->end_ticks < first_end) first_end = stamp->end_ticks;
        if (stamp->end_ticks > last_end) last_end = stamp->end_ticks;
    }
    for (unsigned b = 0; b < blocks; b++) {
        uint64_t begin = wave_stamps[b].begin_ticks;
        if (begin < first_end && begin > last_begin) last_begin = begin;
    }
    *duration_ns = (double)(last_end - first_begin) * gpu_clock_ns_per_tick();
    *skew_ns = (double)(last_begin - first_begin) * gpu_clock_ns_per_tick();
    return GPU_OK;
}

// wave_duration: from the first begin of any block to the last end of any, where each block spins for 20 µs by the
// device's clock and has so many threads that few fit a multiprocessor. block_start_skew: from the first begin to the
// last of those blocks that began before any ended.
static enum gpu_status measure_wave(struct bench_case *c, unsigned samples, double *values)
{
    static struct gpu_launch launch;
    const unsigned blocks = wave_blocks(c->axis_value);
    launch = chain.empty;
    launch.kernel = gpu_kernel(wave);
    launch.grid[0] = blocks;
    launch.block[0] = WAVE_THREADS;
    launch.argument = &wave_argument;
    launch.argument_bytes = sizeof wave_argument;
    enum gpu_status status = gpu_launch_prepare(&launch);
    for (unsigned i = 0; i < samples && !status; i++) {
        double skew_ns = 0;
        wave_argument.sequence++;
        status = launch_drain(chain.stream, gpu_launch_runtime(&launch));
        if (!status) status = read_wave(blocks, &values[i], &skew_ns);
        if (!status && c->outputs[1].metric) values[samples + i] = skew_ns;
    }
    c->error_bound[0] = c->error_bound[1] = sync_device_resolution_ns();
    return status;
}

// --- The plan ----------------------------------------------------------------------------------------------

enum { SUBMIT = 1, DURATION = 2 };

// Adds C with SHAPE and the outputs of WHAT.
static void add(struct bench_plan *plan, struct bench_case c, struct shape shape, unsigned what)
{
    const struct bench_output submit = {"submit", "ns", "lower"};
    if (shape_count == SHAPES_MAX) abort();
    c.argument = shape_count;
    shapes[shape_count++] = shape;
    c.budget_share = BUDGET_SHARE;
    if (what & DURATION) {
        c.batch = chain_length((uint64_t)shape.grid[0] * shape.grid[1] * shape.grid[2]);
        c.samples = 2;
        c.measure = what & SUBMIT ? measure_both : measure_duration;
        c.outputs[0] =
            (struct bench_output){"duration", "ns", "lower", .resolution = sync_device_resolution_ns() / c.batch};
        if (what & SUBMIT) c.outputs[1] = submit;
    } else {
        c.batch = SUBMIT_BATCH;
        c.samples = 5;
        c.measure = measure_submit;
        c.outputs[0] = submit;
    }
    bench_add(plan, &c);
}

static void add_sweeps(struct bench_plan *plan, bool quick)
{
    for (unsigned power = 0; power <= (quick ? 0 : POWER_MAX); power++) {
        struct bench_case c = {
            .variant = "runtime", .params = "block_threads=32", .axis = "blocks", .axis_value = 1u << power};
        struct shape shape = {{1u << power, 1, 1}, LAUNCH_BLOCK_THREADS, 0, false, false};
        add(plan, c, shape, DURATION);
        if (power % 4 == 0) add(plan, c, shape, SUBMIT);
    }
    for (unsigned threads = quick ? 1024 : 32; threads <= 1024; threads *= 2) {
        struct bench_case c = {
            .variant = "runtime", .params = "blocks=1", .axis = "block_threads", .axis_value = threads};
        add(plan, c, (struct shape){{1, 1, 1}, threads, 0, false, false}, DURATION | SUBMIT);
        if (quick) continue;
        snprintf(c.params, sizeof c.params, "blocks=16384");
        add(plan, c, (struct shape){{16384, 1, 1}, threads, 0, false, false}, DURATION);
    }
}

// The same 4096 blocks in one, two and three dimensions, and in clusters; and one block a multiprocessor, which can be
// resident together, with and without the promise that it will be.
static void add_kinds(struct bench_plan *plan)
{
    static const struct {
        const char *name;
        unsigned grid[3];
    } forms[] = {{"line", {4096, 1, 1}}, {"plane", {64, 64, 1}}, {"cube", {16, 16, 16}}};
    for (unsigned f = 0; f < sizeof forms / sizeof *forms; f++) {
        const unsigned *grid = forms[f].grid;
        add(plan, (struct bench_case){.variant = forms[f].name, .params = "block_threads=32;blocks=4096"},
            (struct shape){{grid[0], grid[1], grid[2]}, LAUNCH_BLOCK_THREADS, 0, false, false}, DURATION | SUBMIT);
    }
    for (unsigned cluster = 1; cluster <= 16; cluster *= 2)
        add(plan,
            (struct bench_case){.variant = "cluster",
                                .params = "block_threads=32;blocks=4096",
                                .axis = "cluster_blocks",
                                .axis_value = cluster},
            (struct shape){{4096, 1, 1}, LAUNCH_BLOCK_THREADS, cluster, false, true}, DURATION | SUBMIT);
    for (int cooperative = 0; cooperative < 2; cooperative++) {
        struct bench_case c = {.variant = cooperative ? "cooperative" : "launch_ex",
                               .params = "block_threads=32;blocks_per_multiprocessor=1"};
        struct shape shape = {{wave_blocks(1), 1, 1}, LAUNCH_BLOCK_THREADS, 0, cooperative, true};
        snprintf(c.detail, sizeof c.detail, "blocks=%u", shape.grid[0]);
        add(plan, c, shape, DURATION | SUBMIT);
    }
}

static void add_waves(struct bench_plan *plan, bool quick)
{
    const double resolution = sync_device_resolution_ns();
    for (unsigned quarters = 1; quarters <= WAVE_QUARTERS; quarters++) {
        if (quick && quarters != 8 && quarters != 9) continue;
        struct bench_case c = {.variant = "runtime",
                               .params = "block_threads=1024;kernel=wave;spin_ns=20000",
                               .axis = "blocks_per_multiprocessor",
                               .axis_value = quarters / 4.0,
                               .samples = 10,
                               .budget_share = BUDGET_SHARE,
                               .measure = measure_wave,
                               .outputs = {{"wave_duration", "ns", "lower", .resolution = resolution}}};
        if (quarters == 4 || quarters == 8)
            c.outputs[1] = (struct bench_output){"block_start_skew", "ns", "lower", .resolution = resolution};
        snprintf(c.detail, sizeof c.detail, "blocks=%u", wave_blocks(c.axis_value));
        bench_add(plan, &c);
    }
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    const size_t bytes = wave_blocks(WAVE_QUARTERS / 4.0) * sizeof *wave_stamps;
    void *device;
    enum gpu_status status = sync_open();
    if (!status) status = chain_open(&chain);
    if (!status) status = gpu_alloc(&device, bytes);
    if (status) return status;
    wave_argument = (struct wave_argument){device, 0, (uint64_t)(WAVE_NS / gpu_clock_ns_per_tick())};
    wave_stamps = malloc(bytes);
    if (!wave_stamps) return gpu_reason(GPU_FAILED, "no memory for %zu bytes of stamps", bytes);
    clock_error_ns = clock_cost_ns();

    bench_add(plan, &(struct bench_case){.variant = "runtime",
                                         .params = "block_threads=32;blocks_max=1048576",
                                         .measure = measure_fit,
                                         .outputs = {{"duration_per_block", "ns_per_block", "lower", "fit"},
                                                     {"knee_blocks", "count", "none", "fit"}}});
    add_sweeps(plan, quick);
    if (!quick) add_kinds(plan);
    add_waves(plan, quick);
    return GPU_OK;
}

static void teardown(void)
{
    gpu_free(wave_argument.out);
    free(wave_stamps);
    chain_close(&chain);
    sync_close();
}

const struct benchmark geometry_benchmark = {
    .name = "geometry",
    .summary = "what a launch's shape costs: blocks, threads a block, dimensions, clusters, waves",
    .source = "claim C15",
    .seconds = 6,
    .quick_seconds = 0.8,
    .setup = setup,
    .teardown = teardown,
};
