// SPDX-License-Identifier: Apache-2.0
// What passing an intermediate from a producer to a consumer costs: in registers, in shared memory, through memory
// between two phases of a kernel and between two kernels, beside the bandwidth of the level that it lies in.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu_kernel.h"
#include "backends/kernels/carry.h"
#include "common/bench.h"
#include "common/launch.h"
#include "common/stats.h"
#include "common/sync.h"

GPU_KERNEL(carry_registers);
GPU_KERNEL(carry_shared);
GPU_KERNEL(carry_phases);
GPU_KERNEL(carry_produce);
GPU_KERNEL(carry_consume);
GPU_KERNEL(bandwidth_shared);
GPU_KERNEL(bandwidth_load);
GPU_KERNEL(bandwidth_store);

enum kernel { REGISTERS, SHARED, PHASES, PRODUCE, CONSUME, KERNELS, READ_SHARED = KERNELS, LOAD, STORE, ALL };
static const void *const kernels[ALL] = {
    gpu_kernel(carry_registers), gpu_kernel(carry_shared),     gpu_kernel(carry_phases),   gpu_kernel(carry_produce),
    gpu_kernel(carry_consume),   gpu_kernel(bandwidth_shared), gpu_kernel(bandwidth_load), gpu_kernel(bandwidth_store)};

#define CARRY_PARAMS "block_threads=1024;blocks=resident"
enum { STEP_LOG2 = 2, FROM_LOG2 = 12, TO_LOG2 = 28, TO_LOG2_CPU = 22, SAMPLES = 8, PASSES = 2, GRIDS = 3 };

static struct chain chain;
static struct carry_argument arguments[KERNELS];
static struct bandwidth_argument bandwidth_argument;
static struct gpu_launch launches[ALL];
static struct carry_stamp *stamps_device, *stamps; // GRIDS grids for each of the PASSES
static void *items;
static unsigned resident; // blocks that the device holds at once of each of the kernels
static size_t cache_bytes, items_bytes;
static uint64_t last_sequence; // of the last launch, whatever it was: all leave their stamps at the same place
static bool cpu;

// --- One launch of each ------------------------------------------------------------------------------------

static uint64_t first_begin(const struct carry_stamp *of, unsigned blocks)
{
    uint64_t begin = of->begin_ticks;
    for (unsigned b = 1; b < blocks; b++)
        if (of[b].begin_ticks < begin) begin = of[b].begin_ticks;
    return begin;
}

static uint64_t last_end(const struct carry_stamp *of, unsigned blocks)
{
    uint64_t end = of->end_ticks;
    for (unsigned b = 1; b < blocks; b++)
        if (of[b].end_ticks > end) end = of[b].end_ticks;
    return end;
}

// From the first begin of the BLOCKS at FIRST to the last end of those at LAST.
static double duration_ns(const struct carry_stamp *first, const struct carry_stamp *last, unsigned blocks)
{
    return (double)(last_end(last, blocks) - first_begin(first, blocks)) * gpu_clock_ns_per_tick();
}

// The BLOCKS stamps from AT on are to be of launch SEQUENCE.
static enum gpu_status check_grid(size_t at, unsigned blocks, uint64_t sequence)
{
    return launch_check_stamps(&stamps[at].sequence, sizeof *stamps, blocks, sequence);
}

static uint32_t checksum(const struct carry_stamp *of, unsigned blocks)
{
    uint32_t sum = 0;
    for (unsigned b = 0; b < blocks; b++) sum += (uint32_t)of[b].checksum;
    return sum;
}

static unsigned blocks_of(size_t bytes)
{
    const size_t tiles = (bytes / sizeof(struct carry_item) + CARRY_TILE - 1) / CARRY_TILE;
    return tiles < resident ? (unsigned)tiles : resident;
}

// The variant's kernels in their order; the last of them consumes.
static const struct way {
    const char *name;
    unsigned count;
    enum kernel kernel[2];
    bool own; // of two kernels: a block consumes what its index produced
} ways[] = {{"registers", 1, {REGISTERS}, false},
            {"shared", 1, {SHARED}, false},
            {"phases", 1, {PHASES}, false},
            {"kernels", 2, {CONSUME, PRODUCE}, false},
            {"kernels_own", 2, {CONSUME, PRODUCE}, true}};
enum { WAY_REGISTERS, WAY_SHARED, WAY_PHASES, WAYS = sizeof ways / sizeof *ways };

struct passing {
    double registers_ns, way_ns;
    double boundary_ns; // of two kernels
};

// Where KERNEL's stamps are, of PASS 0, which warms up, or 1: of registers, of the kernel that ends, of the one before.
static size_t stamps_at(unsigned pass, enum kernel kernel)
{
    return (size_t)resident * (pass * GRIDS + (kernel == REGISTERS ? 0 : kernel == PRODUCE ? 2 : 1));
}

// One launch of the registers' kernel and then WAY's, with a seed of this launch.
static enum gpu_status launch_pass(const struct way *way, unsigned pass, uint64_t sequence)
{
    enum gpu_status status = GPU_OK;
    for (enum kernel k = 0; k < KERNELS; k++) {
        arguments[k].sequence = sequence;
        arguments[k].seed = (uint32_t)sequence * 0x2545f491u;
        arguments[k].out = stamps_device + stamps_at(pass, k);
    }
    if (way->kernel[0] != REGISTERS) status = gpu_launch_runtime(&launches[REGISTERS]);
    for (unsigned k = way->count; k-- && !status;) status = gpu_launch_runtime(&launches[way->kernel[k]]);
    return status;
}

// Both passes in the queue before a gate opens: in the second, no kernel is the first to find its code cold. That WAY
// consumed what was produced is proven by the sum, which has to be that of the registers.
static enum gpu_status run(const struct way *way, size_t bytes, struct passing *passing)
{
    const unsigned blocks = blocks_of(bytes);
    for (enum kernel k = 0; k < KERNELS; k++) {
        arguments[k].own = way->own;
        arguments[k].count = (uint32_t)(bytes / sizeof(struct carry_item));
        launches[k].grid[0] = blocks;
        enum gpu_status prepared = gpu_launch_prepare(&launches[k]);
        if (prepared) return prepared;
    }
    last_sequence += PASSES;
    enum gpu_status status = chain_hold(&chain);
    for (unsigned pass = 0; pass < PASSES && !status; pass++) status = launch_pass(way, pass, last_sequence + pass);
    enum gpu_status released = chain_release(&chain);
    if (!status) status = released;
    if (!status) status = gpu_read(stamps, stamps_device, PASSES * GRIDS * (size_t)resident * sizeof *stamps);
    for (unsigned pass = 0; pass < PASSES && !status; pass++) {
        status = check_grid(stamps_at(pass, REGISTERS), blocks, last_sequence + pass);
        for (unsigned k = 0; k < way->count && !status; k++)
            status = check_grid(stamps_at(pass, way->kernel[k]), blocks, last_sequence + pass);
    }
    if (status) return status;
    const struct carry_stamp *registers = stamps + stamps_at(1, REGISTERS);
    const struct carry_stamp *begin = stamps + stamps_at(1, way->kernel[way->count - 1]);
    const struct carry_stamp *end = stamps + stamps_at(1, way->kernel[0]);
    passing->registers_ns = duration_ns(registers, registers, blocks);
    passing->way_ns = duration_ns(begin, end, blocks);
    passing->boundary_ns =
        (double)(int64_t)(first_begin(end, blocks) - last_end(begin, blocks)) * gpu_clock_ns_per_tick();
    if (checksum(end, blocks) != checksum(registers, blocks))
        return gpu_reason(GPU_FAILED, "%s: what was consumed is not what was produced", way->name);
    return GPU_OK;
}

static void tell(struct bench_case *c)
{
    const size_t bytes = (size_t)c->axis_value;
    const unsigned way = (unsigned)c->argument;
    const char *level = way < WAY_PHASES || !cache_bytes ? ways[way].name
                        : bytes <= cache_bytes / 2       ? "l2"
                        : bytes >= 2 * cache_bytes       ? "device"
                                                         : "between";
    snprintf(c->detail, sizeof c->detail, "blocks=%u;level=%s", blocks_of(bytes), level);
}

// duration: from the first clock read of the first block of the (first) kernel to the moment when the last block of the
// (last) kernel has consumed its items.
// carry_rate: the bytes over it.
// boundary: from the last end of a producer's block to the first begin of a consumer's.
static enum gpu_status measure_passing(struct bench_case *c, unsigned samples, double *values)
{
    const double step_ns = sync_device_resolution_ns(), bytes = c->axis_value;
    double shortest_ns = HUGE_VAL;
    enum gpu_status status = GPU_OK;
    tell(c);
    for (unsigned i = 0; i < samples && !status; i++) {
        struct passing passing = {0};
        status = run(&ways[(int)c->argument], (size_t)bytes, &passing);
        const double ns = fmax(passing.way_ns, step_ns);
        shortest_ns = fmin(shortest_ns, ns);
        values[i] = passing.way_ns;
        if (c->outputs[1].metric) values[samples + i] = bytes / ns;
        if (c->outputs[2].metric) values[2 * samples + i] = passing.boundary_ns;
    }
    c->error_bound[0] = step_ns;
    c->error_bound[1] = c->outputs[1].resolution = bytes / shortest_ns * step_ns / shortest_ns;
    c->error_bound[2] = 2 * step_ns;
    return status;
}

// carry_cost: the duration less that of the kernel that consumes in registers, in the same sample.
static enum gpu_status measure_cost(struct bench_case *c, unsigned samples, double *values)
{
    const double step_ns = sync_device_resolution_ns();
    double cost_ns[BENCH_ROUND_SAMPLES_MAX + BENCH_LEAD];
    enum gpu_status status = GPU_OK;
    tell(c);
    for (unsigned i = 0; i < samples && !status; i++) {
        struct passing passing = {0};
        status = run(&ways[(int)c->argument], (size_t)c->axis_value, &passing);
        values[i] = cost_ns[i] = passing.way_ns - passing.registers_ns;
    }
    if (status) return status;
    stats_sort(cost_ns, samples);
    const double median_ns = stats_quantile(cost_ns, samples, 0.5);
    if (fabs(median_ns) < 10 * step_ns) // what is far below zero was disturbed, which the row tells
        return gpu_reason(GPU_UNSUPPORTED,
                          "passing %.0f bytes costs less than ten steps of the device's clock: %.0f ns", c->axis_value,
                          median_ns);
    c->error_bound[0] = 2 * step_ns;
    return GPU_OK;
}

// --- bandwidth ---------------------------------------------------------------------------------------------

static const struct level {
    const char *name;
    enum kernel kernel;
    double caches; // the memory it covers, in sizes of the shared cache; 0: shared memory, 16 KiB for each thread
    double passes; // over it; 1: no byte twice
} levels[] = {{"shared", READ_SHARED, 0, 0},
              {"l2", LOAD, 0.25, 8},
              {"l2_store", STORE, 0.25, 8},
              {"device", LOAD, 16, 1},
              {"device_store", STORE, 16, 1}};
enum { LEVELS = sizeof levels / sizeof *levels, SHARED_BYTES = 16384, ITEMS_MAX_LOG2 = 30, DEVICE_CACHES_MIN = 4 };

// How many items LEVEL covers, and how many of them each of so many THREADS reads or writes.
static enum gpu_status cover(const struct level *level, uint64_t threads, uint32_t *covered, uint32_t *each)
{
    const uint64_t cache = cache_bytes / sizeof(struct carry_item), all = items_bytes / sizeof(struct carry_item);
    uint64_t count = (uint64_t)(level->caches * (double)cache);
    *covered = (uint32_t)threads;
    *each = SHARED_BYTES / sizeof(struct carry_item);
    if (level->caches == 0) return GPU_OK;
    if (!cache) return gpu_reason(GPU_UNSUPPORTED, "nobody tells how large the shared cache is");
    const uint64_t unit = threads * CARRY_LOADS_AT_ONCE; // all threads, each with its loads at once
    if (level->passes > 1) {
        if (count < threads) count = threads;
        if (count > cache / 2)
            return gpu_reason(GPU_UNSUPPORTED, "one item for each thread is more than half of the shared cache");
    } else {
        if (all < DEVICE_CACHES_MIN * cache || all < unit)
            return gpu_reason(GPU_UNSUPPORTED, "%zu bytes do not keep the shared cache from helping", items_bytes);
        count = count < all ? count : all;
        count = count < unit ? unit : count / unit * unit;
    }
    *covered = (uint32_t)count;
    *each = (uint32_t)((double)count * level->passes / (double)unit) * CARRY_LOADS_AT_ONCE;
    return GPU_OK;
}

// bandwidth: all bytes that a full device reads, or writes, over the time from the first clock read of the first block
// to the last one's end, when all has come (a store: when a fence says so). One launch that does not count goes before.
static enum gpu_status measure_bandwidth(struct bench_case *c, unsigned samples, double *values)
{
    const struct level *level = &levels[(int)c->argument];
    const struct gpu_launch *launch = &launches[level->kernel];
    const unsigned threads = resident * (cpu ? 1 : CARRY_THREADS);
    enum gpu_status status = cover(level, threads, &bandwidth_argument.count, &bandwidth_argument.each);
    if (status) return status;
    const double bytes = (double)threads * bandwidth_argument.each * sizeof(struct carry_item);
    double shortest_ns = 0;
    for (unsigned i = 0; i < samples && !status; i++) {
        bandwidth_argument.sequence = ++last_sequence;
        status = chain_hold(&chain);
        for (unsigned k = 2; k-- && !status;) {
            bandwidth_argument.out = stamps_device + k * resident;
            status = gpu_launch_runtime(launch);
        }
        enum gpu_status released = chain_release(&chain);
        if (!status) status = released;
        if (!status) status = gpu_read(stamps, stamps_device, 2 * (size_t)resident * sizeof *stamps);
        for (unsigned k = 0; k < 2 && !status; k++)
            status = check_grid(k * (size_t)resident, resident, bandwidth_argument.sequence);
        if (status) return status;
        const double ns = duration_ns(stamps, stamps, resident);
        values[i] = bytes / ns;
        if (!i || ns < shortest_ns) shortest_ns = ns;
    }
    c->error_bound[0] = c->outputs[0].resolution = bytes / shortest_ns * sync_device_resolution_ns() / shortest_ns;
    snprintf(c->detail, sizeof c->detail, "blocks=%u;bytes=%.0f", resident, bytes);
    return status;
}

// --- The plan ----------------------------------------------------------------------------------------------

static void add(struct bench_plan *plan, unsigned way, unsigned log2)
{
    const double step_ns = sync_device_resolution_ns();
    struct bench_case c = {.variant = ways[way].name,
                           .params = CARRY_PARAMS,
                           .axis = "bytes",
                           .axis_value = (double)(1ul << log2),
                           .samples = SAMPLES,
                           .budget_share = 0.06,
                           .argument = way,
                           .measure = measure_passing,
                           .outputs = {{"duration", "ns", "lower", .resolution = step_ns}}};
    if (way != WAY_REGISTERS) c.outputs[1] = (struct bench_output){"carry_rate", "bytes_per_ns", "higher"};
    if (ways[way].count > 1) c.outputs[2] = (struct bench_output){"boundary", "ns", "lower", .resolution = 2 * step_ns};
    bench_add(plan, &c);
    if (way == WAY_REGISTERS) return;
    c.measure = measure_cost;
    memset(c.outputs, 0, sizeof c.outputs);
    c.outputs[0] = (struct bench_output){"carry_cost", "ns", "lower", .resolution = 2 * step_ns};
    bench_add(plan, &c);
}

static enum gpu_status prepare(enum kernel kernel)
{
    const bool carries = kernel < KERNELS;
    return launch_prepare(&launches[kernel], kernels[kernel], carries ? 1 : resident, CARRY_THREADS,
                          carries ? (void *)&arguments[kernel] : (void *)&bandwidth_argument,
                          carries ? sizeof arguments[kernel] : sizeof bandwidth_argument, chain.stream);
}

// How many blocks of whichever kernel fits least. A CPU's worker does one at a time.
static enum gpu_status count_resident(void)
{
    unsigned fewest = 0;
    for (enum kernel k = 0; k < ALL && !cpu; k++) {
        unsigned blocks = 0;
        enum gpu_status status = gpu_kernel_occupancy(kernels[k], CARRY_THREADS, 0, &blocks);
        if (status == GPU_FAILED) return status;
        cpu = status == GPU_UNSUPPORTED;
        if (!k || blocks < fewest) fewest = blocks;
    }
    if (!cpu && !fewest) return gpu_reason(GPU_UNSUPPORTED, "no block of %d threads fits", CARRY_THREADS);
    resident = gpu_multiprocessors() * (cpu ? 1 : fewest);
    return GPU_OK;
}

static enum gpu_status allocate(void)
{
    void *out;
    cache_bytes = gpu_cache_bytes();
    items_bytes = (size_t)1 << (cpu ? TO_LOG2_CPU : TO_LOG2);
    const size_t most = (size_t)1 << ITEMS_MAX_LOG2, device = cache_bytes < most / 16 ? 16 * cache_bytes : most;
    if (device > items_bytes) items_bytes = device;
    enum gpu_status status = gpu_alloc(&items, items_bytes);
    if (!status) status = gpu_alloc(&out, PASSES * GRIDS * (size_t)resident * sizeof *stamps);
    if (status) return status;
    stamps = calloc(PASSES * GRIDS * (size_t)resident, sizeof *stamps);
    if (!stamps) return gpu_reason(GPU_FAILED, "no memory for the stamps of %u blocks", resident);
    stamps_device = out;
    for (enum kernel k = 0; k < KERNELS; k++) arguments[k].items = items;
    bandwidth_argument = (struct bandwidth_argument){.out = out, .items = items};
    return GPU_OK;
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    enum gpu_status status = sync_open();
    if (!status) status = chain_open(&chain);
    if (!status) status = count_resident();
    if (!status) status = allocate();
    for (enum kernel k = 0; k < ALL && !status; k++) {
        arguments[k % KERNELS].count = 1 << (FROM_LOG2 - 4);
        arguments[k % KERNELS].out = stamps_device;
        bandwidth_argument.count = resident * CARRY_THREADS;
        status = prepare(k);
        // Loads the code of all before a gate is closed.
        if (!status) status = launch_drain(chain.stream, gpu_launch_runtime(&launches[k]));
    }
    if (status) return status;
    for (unsigned log2 = FROM_LOG2; log2 <= (unsigned)(cpu ? TO_LOG2_CPU : TO_LOG2); log2 += STEP_LOG2)
        for (unsigned way = 0; way < WAYS; way++)
            if (!quick || (way >= WAY_PHASES && (log2 == 16 || log2 == (cpu ? TO_LOG2_CPU : 24u))))
                add(plan, way, log2);
    for (unsigned l = 0; l < LEVELS; l++)
        bench_add(plan, &(struct bench_case){.variant = levels[l].name,
                                             .params = CARRY_PARAMS,
                                             .samples = SAMPLES,
                                             .budget_share = 0.06,
                                             .argument = l,
                                             .measure = measure_bandwidth,
                                             .outputs = {{"bandwidth", "bytes_per_ns", "higher"}}});
    return GPU_OK;
}

static void teardown(void)
{
    gpu_free(items);
    gpu_free(stamps_device);
    free(stamps);
    chain_close(&chain);
    sync_close();
}

const struct benchmark carry_benchmark = {
    .name = "carry",
    .summary = "what passing an intermediate costs: in registers, in shared memory, between phases and between kernels",
    .source = "claim C14",
    .seconds = 4,
    .quick_seconds = 0.7,
    .setup = setup,
    .teardown = teardown,
};
