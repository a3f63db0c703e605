// SPDX-License-Identifier: Apache-2.0
// What a kernel's first steps cost: the first iterations of a loop, with and without branches, how fast a scheduler
// issues, how long it takes until all multiprocessors are busy, and what idling leaves of the clock rate.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu_kernel.h"
#include "backends/kernels/instruction_cache.h"
#include "backends/kernels/warm_up.h"
#include "common/bench.h"
#include "common/block_start.h"
#include "common/launch.h"
#include "common/sync.h"

GPU_KERNEL(straight_evictor);
GPU_KERNEL(warm_straight);
GPU_KERNEL(warm_branches);
GPU_KERNEL(mix_fma);
GPU_KERNEL(mix_fma_twice);
GPU_KERNEL(mix_add_xor);
GPU_KERNEL(mix_add_xor_twice);
GPU_KERNEL(mix_fma_add_xor);
GPU_KERNEL(mix_fma_add_xor_twice);

enum {
    EVICTOR_THREADS = 128,
    ROUNDS = 2,
    SAMPLES = 5,
};

static struct chain chain;
static unsigned multiprocessors;

// --- iteration ---------------------------------------------------------------------------------------------

enum way { STRAIGHT, BRANCH_SAME, BRANCH_RANDOM, BRANCH_DIVERGENT, WAYS };
static const struct {
    const char *name, *kernel_name;
    uint32_t random, divergent;
} ways[] = {{"straight", "warm_straight", 0, 0},
            {"branch_same", "warm_branches", 0, 0},
            {"branch_random", "warm_branches", 0xff, 0},
            {"branch_divergent", "warm_branches", 0, 0xff}};

// What comes right before the kernel, but for one stamping launch: other code, or the kernel's own everywhere, so that
// the next is warm wherever it lands.
enum state { AFTER_EVICTOR, AFTER_ITSELF, STATES };
static const char *const state_params[] = {LAUNCH_PARAMS ";state=after_evictor", LAUNCH_PARAMS ";state=after_itself"};

static struct warm_argument warm_argument = {.pattern = 0x5a}, maker_argument;
static struct straight_argument evictor_argument = {.passes = 1};
static struct gpu_launch evictor, warm[2], maker[2]; // of straight code, and with branches
static struct warm_stamp warm_stamp;
static struct warm_stamp *maker_stamps;
static struct straight_stamp *evictor_stamps;

// What a launch is given: never twice the same choices, so that nothing can be known but the code.
static void aim_warm(struct warm_argument *argument, enum way way)
{
    static uint32_t seed;
    argument->sequence++;
    argument->seed = ++seed * 2654435761u;
    argument->pattern = warm_argument.pattern;
    argument->random = ways[way].random;
    argument->divergent = ways[way].divergent;
}

static enum gpu_status prove_state(enum state state)
{
    if (state == AFTER_ITSELF) {
        enum gpu_status status = gpu_read(maker_stamps, maker_argument.out, multiprocessors * sizeof *maker_stamps);
        return status ? status
                      : launch_check_stamps(&maker_stamps->sequence, sizeof *maker_stamps, multiprocessors,
                                            maker_argument.sequence);
    }
    enum gpu_status status = gpu_read(evictor_stamps, evictor_argument.out, multiprocessors * sizeof *evictor_stamps);
    return status ? status
                  : launch_check_stamps(&evictor_stamps->sequence, sizeof *evictor_stamps, multiprocessors,
                                        evictor_argument.sequence);
}

// Launches one in STATE, all three in the queue before a gate opens, and brings its stamp.
static enum gpu_status run_warm(enum way way, enum state state)
{
    aim_warm(&maker_argument, way);
    aim_warm(&warm_argument, way);
    evictor_argument.sequence++;
    stamp_launch_reset(&chain.stamps);
    enum gpu_status status = chain_hold(&chain);
    if (!status) status = gpu_launch_runtime(state == AFTER_ITSELF ? &maker[way != STRAIGHT] : &evictor);
    stamp_launch_aim(&chain.stamps);
    if (!status) status = gpu_launch_runtime(&chain.stamps.launch);
    if (!status) status = gpu_launch_runtime(&warm[way != STRAIGHT]);
    enum gpu_status released = chain_release(&chain);
    if (!status) status = released ? released : stamp_launch_read(&chain.stamps);
    if (!status) status = prove_state(state);
    if (!status) status = gpu_read(&warm_stamp, warm_argument.out, sizeof warm_stamp);
    if (!status) status = launch_check_stamps(&warm_stamp.sequence, sizeof warm_stamp, 1, warm_argument.sequence);
    if (!status && way == BRANCH_DIVERGENT && warm_stamp.warp_threads < 2)
        status = gpu_reason(GPU_UNSUPPORTED, "a warp of this device is one thread, which cannot go two ways");
    return status;
}

static void tell_bytes(struct bench_case *c, enum way way)
{
    size_t bytes;
    if (!gpu_kernel_code_bytes(ways[way].kernel_name, &bytes))
        snprintf(c->detail, sizeof c->detail, "code_bytes=%zu", bytes);
}

// iteration: of iteration `iteration` of a loop, from the cycle count before its eight pieces of code to that behind
// them, in the first thread; the reads themselves are in it.
static enum gpu_status measure_iteration(struct bench_case *c, unsigned samples, double *values)
{
    const enum way way = (enum way)((int)c->argument / STATES);
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        status = run_warm(way, (enum state)((int)c->argument % STATES));
        values[i] = (double)warm_stamp.cycles[(int)c->axis_value];
    }
    tell_bytes(c, way);
    return status;
}

enum { LATE_CHOICES = WARM_ITERATIONS / 2 * WARM_BRANCHES };

// if_else_cost: the cycles of iterations 32 to 63, as above, with branches less those of straight code, over the
// branches that were run.
static enum gpu_status measure_if_else_cost(struct bench_case *c, unsigned samples, double *values)
{
    const enum way way = (enum way)c->argument;
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        double cycles[2] = {0, 0};
        for (unsigned branchy = 0; branchy < 2 && !status; branchy++) {
            status = run_warm(branchy ? way : STRAIGHT, AFTER_EVICTOR);
            for (unsigned k = WARM_ITERATIONS / 2; k < WARM_ITERATIONS; k++)
                cycles[branchy] += (double)warm_stamp.cycles[k];
        }
        values[i] = (cycles[1] - cycles[0]) / LATE_CHOICES;
    }
    tell_bytes(c, way);
    return status;
}

// --- instructions_per_cycle --------------------------------------------------------------------------------

static const struct {
    const char *name;
    const void *kernels[2]; // the second with twice as many instructions a pass
} mixes[] = {{"fma", {gpu_kernel(mix_fma), gpu_kernel(mix_fma_twice)}},
             {"add_xor", {gpu_kernel(mix_add_xor), gpu_kernel(mix_add_xor_twice)}},
             {"fma_add_xor", {gpu_kernel(mix_fma_add_xor), gpu_kernel(mix_fma_add_xor_twice)}}};
static const unsigned mix_threads[] = {32, 128, 512};
enum { MIXES = sizeof mixes / sizeof *mixes, MIX_SIZES = sizeof mix_threads / sizeof *mix_threads, MIX_PASSES = 64 };

static struct mix_argument mix_argument;
static struct gpu_launch mix[MIXES][MIX_SIZES][2];
static struct mix_stamp *mix_stamps;

static enum gpu_status run_mix(const struct gpu_launch *launch, uint32_t passes)
{
    mix_argument.passes = passes;
    mix_argument.sequence++;
    enum gpu_status status = launch_drain(chain.stream, gpu_launch_runtime(launch));
    if (!status) status = gpu_read(mix_stamps, mix_argument.out, launch->grid[0] * sizeof *mix_stamps);
    if (!status)
        status = launch_check_stamps(&mix_stamps->sequence, sizeof *mix_stamps, launch->grid[0], mix_argument.sequence);
    if (!status && !mix_stamps[0].schedulers)
        status = gpu_reason(GPU_UNSUPPORTED, "the cycle count of this device is its clock: nothing tells the cycles of "
                                             "what runs the kernel");
    return status;
}

// From the cycle count of the first warp to begin to that of the last to end.
static uint64_t mix_cycles(const struct mix_stamp *stamp)
{
    uint64_t begin = stamp->begin_cycles[0], end = stamp->end_cycles[0];
    for (unsigned w = 1; w < stamp->warps; w++) {
        if (stamp->begin_cycles[w] < begin) begin = stamp->begin_cycles[w];
        if (stamp->end_cycles[w] > end) end = stamp->end_cycles[w];
    }
    return end - begin;
}

// The cycles that the longer of two launches takes more; of a few tries the first where it does.
static enum gpu_status mix_difference(const struct gpu_launch *pair, double *cycles)
{
    for (unsigned attempt = 0; attempt < 4; attempt++) {
        enum gpu_status status = run_mix(&pair[0], MIX_PASSES);
        *cycles = -(double)mix_cycles(mix_stamps);
        if (!status) status = run_mix(&pair[1], MIX_PASSES);
        *cycles += (double)mix_cycles(mix_stamps);
        if (status || *cycles > 0) return status;
    }
    return gpu_reason(GPU_FAILED, "twice as many instructions take no more cycles");
}

// instructions_per_cycle: those of all warps of one block over the schedulers that have any; a slope, the instructions
// that one kernel has more than another, in as many passes, over the cycles that it takes more: neither the turn of the
// loop nor the begin and the end count.
static enum gpu_status measure_mix(struct bench_case *c, unsigned samples, double *values)
{
    const unsigned which = (unsigned)c->argument;
    const struct gpu_launch *pair = mix[which / MIX_SIZES][which % MIX_SIZES];
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        double cycles;
        status = mix_difference(pair, &cycles);
        if (status) return status;
        const unsigned warps = mix_stamps[0].warps, schedulers = mix_stamps[0].schedulers;
        const unsigned used = warps < schedulers ? warps : schedulers;
        values[i] = (double)warps * MIX_PASSES * MIX_INSTRUCTIONS / used / cycles;
        c->error_bound[0] = fmax(c->error_bound[0], values[i] * 2 / cycles); // a cycle of each of two spans
        snprintf(c->detail, sizeof c->detail, "warps=%u;schedulers=%u", warps, used);
    }
    return status;
}

// --- duration, clock_rate ----------------------------------------------------------------------------------

enum { RAMP_THREADS = 128, RAMP_PASSES = 112, RAMP_BUSY = 64 }; // some 30 us, and 2 ms, on an H200
static struct gpu_launch ramp;

// After RAMP_BUSY launches of the same kernel, and so much idling:
// duration: a fixed number of instructions in each of four warps of every multiprocessor, from the first clock read of
// the first block to the last of the last.
// clock_rate: the cycles that one warp counts in them over the time between the same two moments.
static enum gpu_status measure_ramp(struct bench_case *c, unsigned samples, double *values)
{
    const double ns_per_tick = gpu_clock_ns_per_tick(), step_ns = 2 * sync_device_resolution_ns();
    for (unsigned i = 0; i < samples; i++) {
        enum gpu_status status = GPU_OK;
        mix_argument.passes = RAMP_PASSES;
        for (unsigned k = 0; k < RAMP_BUSY && !status; k++) status = gpu_launch_runtime(&ramp);
        status = launch_drain(chain.stream, status);
        if (!status) clock_sleep_ns(c->axis_value);
        if (!status) status = run_mix(&ramp, RAMP_PASSES);
        if (status) return status;
        uint64_t begin = mix_stamps[0].begin_ticks, end = mix_stamps[0].end_ticks;
        const double cycles = (double)(mix_stamps[0].end_cycles[0] - mix_stamps[0].begin_cycles[0]);
        const double rate = cycles / ((double)(end - begin) * ns_per_tick);
        for (unsigned b = 1; b < multiprocessors; b++) {
            if (mix_stamps[b].begin_ticks < begin) begin = mix_stamps[b].begin_ticks;
            if (mix_stamps[b].end_ticks > end) end = mix_stamps[b].end_ticks;
        }
        values[i] = (double)(end - begin) * ns_per_tick;
        const double outside = (double)mix_stamps[0].outer_cycles - cycles;
        values[samples + i] = rate;
        c->error_bound[0] = step_ns;
        c->error_bound[1] = fmax(c->error_bound[1], rate * (step_ns * rate + outside) / cycles);
    }
    return GPU_OK;
}

// --- The plan ----------------------------------------------------------------------------------------------

static void add(struct bench_plan *plan, struct bench_case c)
{
    if (!c.samples) c.samples = SAMPLES;
    if (!c.rounds) c.rounds = ROUNDS;
    bench_add(plan, &c);
}

static void add_iterations(struct bench_plan *plan, bool quick)
{
    static const unsigned iterations[] = {0, 1, 63, 2, 3, 4, 7, 8, 15, 16, 31, 32};
    for (enum way way = STRAIGHT; way < WAYS; way++) {
        if (quick && way != STRAIGHT && way != BRANCH_RANDOM) continue;
        for (enum state state = AFTER_EVICTOR; state < STATES; state++)
            for (unsigned i = 0; i < (quick || state == AFTER_ITSELF ? 3 : sizeof iterations / sizeof *iterations);
                 i++) {
                struct bench_case c = {.variant = ways[way].name,
                                       .axis = "iteration",
                                       .axis_value = iterations[i],
                                       .argument = way * STATES + state,
                                       .measure = measure_iteration,
                                       .outputs = {{"iteration", "cycles", "lower", .resolution = 1}}};
                strcpy(c.params, state_params[state]);
                add(plan, c);
            }
    }
    for (enum way way = BRANCH_SAME; way <= BRANCH_RANDOM; way++)
        add(plan,
            (struct bench_case){.variant = ways[way].name,
                                .params = LAUNCH_PARAMS ";iteration=32..63;state=after_evictor",
                                .argument = way,
                                .measure = measure_if_else_cost,
                                .outputs = {{"if_else_cost", "cycles", "lower", .resolution = 2.0 / LATE_CHOICES}}});
}

static void add_mixes(struct bench_plan *plan, bool quick)
{
    const double resolution = 1.0 / (MIX_PASSES * MIX_INSTRUCTIONS); // of one warp that issues one a cycle
    for (unsigned m = 0; m < MIXES; m++)
        for (unsigned s = 0; s < MIX_SIZES; s++) {
            if (quick && (m == 1 || s == 1)) continue;
            struct bench_case c = {
                .variant = mixes[m].name,
                .argument = m * MIX_SIZES + s,
                .measure = measure_mix,
                .outputs = {{"instructions_per_cycle", "count_per_cycle", "higher", .resolution = resolution}}};
            snprintf(c.params, sizeof c.params, "block_threads=%u;blocks=1", mix_threads[s]);
            add(plan, c);
        }
}

static void add_ramp(struct bench_plan *plan, bool quick)
{
    static const double idle_ns[] = {0, 1e6, 1e7, 1e8, 1e9};
    for (unsigned i = 0; i < (quick ? 2 : sizeof idle_ns / sizeof *idle_ns); i++)
        add(plan,
            (struct bench_case){.variant = "",
                                .params = "block_threads=128;blocks=multiprocessors",
                                .axis = "idle_ns",
                                .axis_value = idle_ns[i],
                                .samples = idle_ns[i] > 1e6 ? 1 : 3,
                                .rounds = idle_ns[i] > 1e8 ? 1 : ROUNDS,
                                .sleeps = true,
                                .no_warm_up = idle_ns[i] > 1e7,
                                .measure = measure_ramp,
                                .outputs = {{"duration", "ns", "lower", .resolution = sync_device_resolution_ns()},
                                            {"clock_rate", "cycles_per_ns", "none", .resolution = 1e-3}}});
}

static enum gpu_status allocate(void)
{
    void *warmed, *made, *evicted, *mixed;
    enum gpu_status status = gpu_alloc(&warmed, sizeof warm_stamp);
    if (!status) status = gpu_alloc(&made, multiprocessors * sizeof *maker_stamps);
    if (!status) status = gpu_alloc(&evicted, multiprocessors * sizeof *evictor_stamps);
    if (!status) status = gpu_alloc(&mixed, multiprocessors * sizeof *mix_stamps);
    if (status) return status;
    warm_argument.out = warmed;
    maker_argument.out = made;
    evictor_argument.out = evicted;
    mix_argument.out = mixed;
    maker_stamps = calloc(multiprocessors, sizeof *maker_stamps);
    evictor_stamps = calloc(multiprocessors, sizeof *evictor_stamps);
    mix_stamps = calloc(multiprocessors, sizeof *mix_stamps);
    if (!maker_stamps || !evictor_stamps || !mix_stamps)
        return gpu_reason(GPU_FAILED, "no memory for the stamps of %u multiprocessors", multiprocessors);
    return GPU_OK;
}

static enum gpu_status open_warm(void)
{
    static const void *const kernels[] = {gpu_kernel(warm_straight), gpu_kernel(warm_branches)};
    enum gpu_status status = allocate();
    if (!status)
        status = launch_prepare(&evictor, gpu_kernel(straight_evictor), multiprocessors, EVICTOR_THREADS,
                                &evictor_argument, sizeof evictor_argument, chain.stream);
    for (unsigned k = 0; k < 2 && !status; k++) {
        status = launch_prepare(&warm[k], kernels[k], 1, LAUNCH_BLOCK_THREADS, &warm_argument, sizeof warm_argument,
                                chain.stream);
        if (!status)
            status = launch_prepare(&maker[k], kernels[k], multiprocessors, LAUNCH_BLOCK_THREADS, &maker_argument,
                                    sizeof maker_argument, chain.stream);
        for (enum state state = AFTER_EVICTOR; state < STATES && !status; state++)
            status = run_warm(k ? BRANCH_SAME : STRAIGHT, state);
    }
    return status;
}

static enum gpu_status open_mixes(void)
{
    enum gpu_status status = launch_prepare(&ramp, gpu_kernel(mix_fma), multiprocessors, RAMP_THREADS, &mix_argument,
                                            sizeof mix_argument, chain.stream);
    for (unsigned m = 0; m < MIXES; m++)
        for (unsigned s = 0; s < MIX_SIZES; s++)
            for (unsigned k = 0; k < 2 && !status; k++)
                status = launch_prepare(&mix[m][s][k], mixes[m].kernels[k], 1, mix_threads[s], &mix_argument,
                                        sizeof mix_argument, chain.stream);
    return status;
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    enum gpu_status status = sync_open();
    if (!status) status = chain_open(&chain);
    if (status) return status;
    multiprocessors = gpu_multiprocessors();
    status = open_warm();
    if (!status) status = open_mixes();
    if (status) return status;
    add_iterations(plan, quick);
    add_mixes(plan, quick);
    add_ramp(plan, quick);
    return block_start_plan(plan, chain.stream);
}

static void teardown(void)
{
    block_start_close();
    gpu_free(mix_argument.out);
    gpu_free(evictor_argument.out);
    gpu_free(maker_argument.out);
    gpu_free(warm_argument.out);
    free(mix_stamps);
    free(evictor_stamps);
    free(maker_stamps);
    chain_close(&chain);
    sync_close();
}

const struct benchmark warm_up_benchmark = {
    .name = "warm_up",
    .summary = "a kernel's first steps: iterations of a loop with and without branches, instructions a cycle, blocks' "
               "start, clock ramp",
    .source = "claims C9 and C10",
    .seconds = 11,
    .quick_seconds = 0.4,
    .setup = setup,
    .teardown = teardown,
};
