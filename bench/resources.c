// SPDX-License-Identifier: Apache-2.0
// What a kernel that takes much of a multiprocessor costs: registers, shared memory, local memory. The carve-out is in
// common/carve.c, what is refused in common/refusal.c.
#include <stdio.h>
#include <stdlib.h>

#include "backends/gpu_kernel.h"
#include "common/bench.h"
#include "common/carve.h"
#include "common/hold.h"
#include "common/launch.h"
#include "common/refusal.h"
#include "common/sync.h"

#define DECLARE_REGISTERS(registers) GPU_KERNEL(hold_registers_##registers);
#define DECLARE_STATIC(bytes) GPU_KERNEL(hold_static_##bytes);
#define DECLARE_LOCAL(bytes) GPU_KERNEL(hold_local_##bytes);
RESOURCES_REGISTERS(DECLARE_REGISTERS)
RESOURCES_STATIC(DECLARE_STATIC)
RESOURCES_LOCAL(DECLARE_LOCAL)
GPU_KERNEL(hold_dynamic);

enum { BLOCKS = 32, REGISTERS_SLACK = 8, QUICK_SHARED = 102400 }; // BLOCKS: of the fixed work, a multiprocessor
#define SPIN_NS 10000
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
static const double BUDGET_SHARE = 0.08; // of a point of a sweep

static struct chain chain;
static struct gpu_launch launch; // of whatever is measured next
static struct hold_argument argument;
static struct hold_stamp *stamps; // as the host read them
static struct gpu_limits limits;
static enum gpu_status limits_status;

// --- What is held ------------------------------------------------------------------------------------------

enum { SHARED_MOST = -1 };

static const struct hold {
    const char *variant;
    const void *kernel;
    unsigned registers, shared_static; // nominal, 0: not the matter
    int shared_dynamic;                // or SHARED_MOST
} holds[] = {
#define REGISTERS_HOLD(registers) {"registers", gpu_kernel(hold_registers_##registers), registers, 0, 0},
#define STATIC_HOLD(bytes) {"static", gpu_kernel(hold_static_##bytes), 0, bytes, 0},
#define DYNAMIC_HOLD(bytes) {"dynamic", gpu_kernel(hold_dynamic), 0, 0, bytes},
    RESOURCES_REGISTERS(REGISTERS_HOLD) RESOURCES_STATIC(STATIC_HOLD) //
    DYNAMIC_HOLD(0) DYNAMIC_HOLD(1024) DYNAMIC_HOLD(4096) DYNAMIC_HOLD(8192) DYNAMIC_HOLD(16384) DYNAMIC_HOLD(32768)
        DYNAMIC_HOLD(49152) DYNAMIC_HOLD(65536) DYNAMIC_HOLD(QUICK_SHARED) DYNAMIC_HOLD(163840) //
    {"dynamic_most", gpu_kernel(hold_dynamic), 0, 0, SHARED_MOST}};
enum { HOLDS = sizeof holds / sizeof *holds };

// Lets HOLD's kernel have its dynamic shared memory. Asks every time, because the reason why it cannot is told only
// then.
static enum gpu_status grant_shared(const struct hold *hold, size_t *bytes)
{
    *bytes = 0;
    if (hold->shared_dynamic == 0) return GPU_OK;
    if (limits_status) return gpu_limits(&limits);
    *bytes = hold->shared_dynamic == SHARED_MOST ? limits.shared_per_block_most : (size_t)hold->shared_dynamic;
    if (*bytes > limits.shared_per_block_most)
        return gpu_reason(GPU_UNSUPPORTED,
                          "this device, as far as the runtime tells, grants a block %zu bytes of shared memory",
                          limits.shared_per_block_most);
    return *bytes > limits.shared_per_block ? gpu_kernel_allow_shared(hold->kernel, *bytes) : GPU_OK;
}

// Tells in C's detail what the nominal values came to.
static enum gpu_status describe(const struct hold *hold, size_t shared_bytes, struct bench_case *c)
{
    if (hold->shared_dynamic == SHARED_MOST) snprintf(c->detail, sizeof c->detail, "shared_bytes=%zu", shared_bytes);
    if (!hold->registers && !hold->shared_static) return GPU_OK;
    struct gpu_kernel_attributes told;
    enum gpu_status status = gpu_kernel_attributes(hold->kernel, &told);
    if (status) return status;
    bool untrue = hold->registers && (told.registers_per_thread > hold->registers + REGISTERS_SLACK ||
                                      told.registers_per_thread + REGISTERS_SLACK < hold->registers);
    snprintf(c->detail, sizeof c->detail, "local_bytes=%zu;registers=%u;shared_bytes=%zu%s", told.local_bytes,
             told.registers_per_thread, told.shared_static_bytes, untrue ? ";nominal=untrue" : "");
    return GPU_OK;
}

// Prepares LAUNCH with HOLD's kernel in a grid of BLOCKS_EACH blocks a multiprocessor.
static enum gpu_status prepare(const struct hold *hold, unsigned blocks_each, struct bench_case *c)
{
    size_t shared_bytes;
    enum gpu_status status = grant_shared(hold, &shared_bytes);
    if (!status) status = describe(hold, shared_bytes, c);
    if (status) return status;
    launch = chain.empty;
    launch.kernel = hold->kernel;
    launch.grid[0] = blocks_each * gpu_multiprocessors();
    launch.block[0] = HOLD_THREADS;
    launch.shared_bytes = shared_bytes;
    launch.argument = &argument;
    launch.argument_bytes = sizeof argument;
    argument.shared_bytes = shared_bytes;
    argument.spin_ticks = (uint64_t)(SPIN_NS / gpu_clock_ns_per_tick());
    return gpu_launch_prepare(&launch);
}

// --- occupancy, occupancy_ratio, duration ------------------------------------------------------------------

// Brings COUNT stamps from stamp FIRST on; *BEGIN_TICKS is the first begin of all, *END_TICKS the last end.
static enum gpu_status read_stamps(unsigned first, unsigned count, uint64_t *begin_ticks, uint64_t *end_ticks)
{
    enum gpu_status status = gpu_read(stamps, argument.out + first, count * sizeof *stamps);
    return status ? status : hold_span(stamps, count, argument.sequence, begin_ticks, end_ticks);
}

static enum gpu_status run_work(double *occupancy, double *duration_ns)
{
    uint64_t begin, end;
    argument.sequence++;
    enum gpu_status status = launch_drain(chain.stream, gpu_launch_runtime(&launch));
    if (!status) status = read_stamps(0, launch.grid[0], &begin, &end);
    if (status) return status;
    *occupancy = hold_resident(stamps, launch.grid[0]);
    *duration_ns = (double)(end - begin) * gpu_clock_ns_per_tick();
    return GPU_OK;
}

// occupancy: how many blocks of 128 threads a multiprocessor holds at once, of a grid of 32 a multiprocessor that spin
// for 10 µs each. duration: from the first begin of any of them to the last end of any.
static enum gpu_status measure_work(struct bench_case *c, unsigned samples, double *values)
{
    enum gpu_status status = prepare(&holds[(int)c->argument], BLOCKS, c);
    for (unsigned i = 0; i < samples && !status; i++) status = run_work(&values[i], &values[samples + i]);
    c->error_bound[1] = sync_device_resolution_ns();
    return status;
}

// occupancy_ratio: that occupancy over what the vendor says.
static enum gpu_status measure_ratio(struct bench_case *c, unsigned samples, double *values)
{
    const struct hold *hold = &holds[(int)c->argument];
    unsigned told = 0;
    double occupancy = 0, duration_ns;
    enum gpu_status status = prepare(hold, BLOCKS, c);
    if (!status) status = gpu_kernel_occupancy(hold->kernel, HOLD_THREADS, launch.shared_bytes, &told);
    if (!status && told == 0) status = gpu_reason(GPU_FAILED, "the vendor says that no block fits");
    for (unsigned i = 0; i < samples && !status; i++) {
        status = run_work(&occupancy, &duration_ns);
        values[i] = occupancy / told;
    }
    if (!status) snprintf(c->detail, sizeof c->detail, "measured_blocks=%g;vendor_blocks=%u", occupancy, told);
    return status;
}

// --- gap ---------------------------------------------------------------------------------------------------

// gap: two grids of one block a multiprocessor, both in the stream before a gate opens: from the last end of any block
// of the first to the first begin of any of the second.
static enum gpu_status measure_gap(struct bench_case *c, unsigned samples, double *values)
{
    struct hold_stamp *const out = argument.out;
    enum gpu_status status = prepare(&holds[(int)c->argument], 1, c);
    const unsigned blocks = launch.grid[0];
    for (unsigned i = 0; i < samples && !status; i++) {
        uint64_t begin, end, next_begin, next_end;
        argument.sequence++;
        status = chain_hold(&chain);
        if (!status) status = gpu_launch_runtime(&launch);
        argument.out = out + blocks;
        if (!status) status = gpu_launch_runtime(&launch);
        argument.out = out;
        enum gpu_status released = chain_release(&chain);
        if (!status) status = released ? released : read_stamps(0, blocks, &begin, &end);
        if (!status) status = read_stamps(blocks, blocks, &next_begin, &next_end);
        if (!status) values[i] = (double)(int64_t)(next_begin - end) * gpu_clock_ns_per_tick();
    }
    c->error_bound[0] = sync_device_resolution_ns();
    return status;
}

// --- Local memory: first_launch, next_launch ---------------------------------------------------------------

#define LOCAL_KERNEL(bytes) {bytes, gpu_kernel(hold_local_##bytes)},
static const struct {
    unsigned bytes;
    const void *kernel;
} locals[] = {RESOURCES_LOCAL(LOCAL_KERNEL)};
enum { LOCALS = sizeof locals / sizeof *locals };

static struct {
    struct gpu_outcome outcome;
    double ns[LOCALS][2]; // of the first launch and of the next
    size_t bytes[LOCALS]; // of a thread, as the runtime tells
} series;

static enum gpu_status time_round_trip(double *ns)
{
    uint64_t first_begin, last_end;
    argument.sequence++;
    uint64_t begin = clock_ticks();
    enum gpu_status status = gpu_launch_runtime(&launch);
    enum gpu_status ended = gpu_stream_synchronize(chain.stream);
    uint64_t end = clock_ticks();
    *ns = clock_ns(end - begin);
    return status ? status : ended ? ended : read_stamps(0, 1, &first_begin, &last_end);
}

// For setup, because the sizes must ascend, cases come in any order, and all rounds are to find the same memory held.
// Each kernel needs more local memory than any that this process has run before. Asking for its attributes loads its
// code, which is no part of the launch then.
static enum gpu_status measure_series(void)
{
    enum gpu_status status = GPU_OK;
    for (unsigned l = 0; l < LOCALS && !status; l++) {
        struct gpu_kernel_attributes told = {0};
        struct hold hold = {.kernel = locals[l].kernel};
        struct bench_case unused;
        status = gpu_kernel_attributes(hold.kernel, &told);
        if (!status) status = prepare(&hold, 1, &unused);
        launch.grid[0] = 1;
        argument.spin_ticks = 0;
        if (!status) status = gpu_launch_prepare(&launch);
        for (unsigned n = 0; n < 2 && !status; n++) status = time_round_trip(&series.ns[l][n]);
        series.bytes[l] = told.local_bytes;
    }
    return status;
}

// first_launch: from before the first launch of a kernel with so large a stack to the return of the synchronise;
// next_launch: the same of the next launch of that kernel.
static enum gpu_status measure_local(struct bench_case *c, unsigned samples, double *values)
{
    const unsigned l = (unsigned)c->argument;
    if (series.outcome.status) return gpu_outcome_tell(&series.outcome);
    for (unsigned i = 0; i < samples; i++) values[i] = series.ns[l][0], values[samples + i] = series.ns[l][1];
    c->error_bound[0] = c->error_bound[1] = clock_cost_ns();
    snprintf(c->detail, sizeof c->detail, "local_bytes=%zu", series.bytes[l]);
    return GPU_OK;
}

// --- The plan ----------------------------------------------------------------------------------------------

static void set_params(struct bench_case *c, unsigned blocks_each)
{
    snprintf(c->params, sizeof c->params,
             "block_threads=128;blocks_per_multiprocessor=%u;kernel=hold;spin_ns=" TEXT(SPIN_NS), blocks_each);
}

static void add_hold(struct bench_plan *plan, unsigned index)
{
    const struct hold *hold = &holds[index];
    const double resolution = sync_device_resolution_ns();
    struct bench_case c = {.variant = hold->variant, .argument = index};
    if (hold->registers) c.axis = "registers_per_thread", c.axis_value = hold->registers;
    else if (hold->shared_dynamic != SHARED_MOST)
        c.axis = "shared_bytes", c.axis_value = hold->shared_static + (unsigned)hold->shared_dynamic;

    set_params(&c, BLOCKS);
    c.samples = 2;
    c.budget_share = BUDGET_SHARE;
    c.outputs[0] = (struct bench_output){"occupancy", "count", "higher"};
    c.outputs[1] = (struct bench_output){"duration", "ns", "lower", .resolution = resolution};
    c.measure = measure_work;
    bench_add(plan, &c);

    c.samples = 1;
    c.budget_share = BUDGET_SHARE / 5;
    c.outputs[0] = (struct bench_output){"occupancy_ratio", "ratio", "none"};
    c.outputs[1] = (struct bench_output){0};
    c.measure = measure_ratio;
    bench_add(plan, &c);

    set_params(&c, 1);
    c.samples = 10;
    c.budget_share = BUDGET_SHARE;
    c.outputs[0] = (struct bench_output){"gap", "ns", "lower", .resolution = resolution};
    c.measure = measure_gap;
    bench_add(plan, &c);
}

static void add_local(struct bench_plan *plan, unsigned index)
{
    bench_add(plan, &(struct bench_case){.params = "block_threads=128;blocks=1;kernel=hold",
                                         .axis = "local_bytes",
                                         .axis_value = locals[index].bytes,
                                         .once = true,
                                         .measure = measure_local,
                                         .argument = index,
                                         .outputs = {{"first_launch", "ns", "lower"}, {"next_launch", "ns", "lower"}}});
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    const size_t bytes = BLOCKS * gpu_multiprocessors() * sizeof *stamps;
    void *out, *zeros;
    enum gpu_status status = sync_open();
    if (!status) status = chain_open(&chain);
    if (!status) status = gpu_alloc(&out, bytes);
    if (!status) status = gpu_alloc(&zeros, BLOCKS * gpu_multiprocessors() * HOLD_ZEROS * sizeof *argument.zeros);
    if (status) return status;
    argument = (struct hold_argument){.out = out, .zeros = zeros};
    stamps = malloc(bytes);
    if (!stamps) return gpu_reason(GPU_FAILED, "no memory for %zu bytes of stamps", bytes);
    limits_status = gpu_limits(&limits);
    gpu_outcome_keep(&series.outcome, measure_series());

    for (unsigned h = 0; h < HOLDS; h++)
        if (!quick || holds[h].registers == 255 || holds[h].shared_dynamic == QUICK_SHARED ||
            (holds[h].kernel == gpu_kernel(hold_dynamic) && !holds[h].shared_dynamic))
            add_hold(plan, h);
    for (unsigned l = 0; l < LOCALS; l++)
        if (!quick || l == LOCALS - 1) add_local(plan, l);
    status = carve_plan(plan, quick);
    return status ? status : refusal_plan(plan, quick);
}

static void teardown(void)
{
    refusal_close();
    carve_close();
    gpu_free((void *)(uintptr_t)argument.zeros);
    gpu_free(argument.out);
    free(stamps);
    chain_close(&chain);
    sync_close();
}

const struct benchmark resources_benchmark = {
    .name = "resources",
    .summary = "what registers, shared and local memory cost, what fits a multiprocessor, and asking for too much",
    .source = "claims C16, C17",
    .seconds = 8,
    .quick_seconds = 0.8,
    .setup = setup,
    .teardown = teardown,
    .probe = refusal_probe,
};
