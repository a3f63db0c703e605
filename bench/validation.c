// SPDX-License-Identifier: Apache-2.0
// What the checks around a launch cost: valid launches against refused ones, the calls that callers make before a
// launch, and launches while many allocations are live.
#include <math.h>
#include <stdio.h>

#include "backends/gpu_kernel.h"
#include "common/bench.h"
#include "common/launch.h"
#include "common/refusal.h"

GPU_KERNEL(empty);

enum { BATCH = 20, CALL_BATCH = 50, OCCUPANCY_THREADS = 256 };

static struct gpu_stream *stream;
static struct gpu_launch empty;
static struct stamp_launch stamps;
static double clock_error_ns;

// --- submit: valid launches --------------------------------------------------------------------------------

// submit: starts before the first of a batch of calls and stops when the last has returned, over the batch. The queue
// is empty before and holds the whole batch; it is drained outside the clock.
static inline __attribute__((always_inline)) enum gpu_status time_valid(struct bench_case *c, unsigned samples,
                                                                        double *values, launch_function *submit)
{
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        double elapsed;
        status = launch_drain(stream, launch_time_batch(&empty, c->batch, submit, &elapsed));
        values[i] = elapsed / c->batch;
    }
    c->error_bound[0] = clock_error_ns / c->batch;
    return status ? status : stamp_launch_prove(&stamps);
}

#define MEASURE_VALID(way)                                                                                             \
    static enum gpu_status valid_##way(struct bench_case *c, unsigned samples, double *values)                         \
    {                                                                                                                  \
        return time_valid(c, samples, values, gpu_launch_##way);                                                       \
    }
MEASURE_VALID(runtime)
MEASURE_VALID(driver)
MEASURE_VALID(ex)

// --- submit: refused launches ------------------------------------------------------------------------------

// The same of launches that are refused; the error is cleared outside the clock. The first launch that is taken ends
// the row.
static enum gpu_status measure_refused(struct bench_case *c, unsigned samples, double *values)
{
    static struct refusal refusal;
    enum gpu_status status = refusal_prepare((unsigned)c->argument, stream, &refusal);
    for (unsigned i = 0; i < samples && !status; i++) {
        int code = 1;
        uint64_t begin = clock_ticks();
        for (unsigned k = 0; k < c->batch && code; k++) code = gpu_launch_code(&refusal.launch);
        uint64_t end = clock_ticks();
        values[i] = clock_ns(end - begin) / c->batch;
        gpu_code_last();
        status = launch_drain(stream, GPU_OK);
        if (!code && !status) return refusal_taken(c);
        snprintf(c->detail, sizeof c->detail, "error=%s", gpu_code_name(code));
    }
    c->error_bound[0] = clock_error_ns / c->batch;
    return status ? status : stamp_launch_prove(&stamps);
}

// --- call --------------------------------------------------------------------------------------------------

// What the calls are asked about, and where their answers go.
static void *known_memory;
static int current_device, device;
static unsigned occupancy;
static struct gpu_kernel_attributes attributes;

// call: starts before the first of a batch of calls and stops when the last has returned, over the batch. The device is
// idle, and no call changes anything.
#define MEASURE_CALL(name, call)                                                                                       \
    static enum gpu_status call_##name(struct bench_case *c, unsigned samples, double *values)                         \
    {                                                                                                                  \
        unsigned status = GPU_OK;                                                                                      \
        for (unsigned i = 0; i < samples && !status; i++) {                                                            \
            uint64_t begin = clock_ticks();                                                                            \
            for (unsigned k = 0; k < c->batch; k++) status |= (unsigned)(call);                                        \
            uint64_t end = clock_ticks();                                                                              \
            values[i] = clock_ns(end - begin) / c->batch;                                                              \
        }                                                                                                              \
        c->error_bound[0] = clock_error_ns / c->batch;                                                                 \
        return launch_worst(status);                                                                                   \
    }
MEASURE_CALL(function_attributes, gpu_kernel_attributes(gpu_kernel(empty), &attributes))
MEASURE_CALL(occupancy, gpu_kernel_occupancy(gpu_kernel(empty), OCCUPANCY_THREADS, 0, &occupancy))
MEASURE_CALL(pointer_attributes, gpu_pointer_known(known_memory))
MEASURE_CALL(get_device, gpu_device_current(&device))
MEASURE_CALL(set_device, gpu_device_select(current_device))
MEASURE_CALL(last_error, gpu_launch_error())
MEASURE_CALL(stream_synchronize, gpu_stream_synchronize(stream))

static const struct {
    const char *name, *params;
    enum gpu_status (*measure)(struct bench_case *, unsigned, double *);
    bool quick;
} calls[] = {{"function_attributes", "kernel=empty", call_function_attributes, true},
             {"occupancy", "block_threads=256;kernel=empty", call_occupancy, false},
             {"pointer_attributes", "pointer=device", call_pointer_attributes, false},
             {"get_device", "", call_get_device, true},
             {"set_device", "device=same", call_set_device, false},
             {"last_error", "error=none", call_last_error, true},
             {"stream_synchronize", "stream=idle", call_stream_synchronize, false}};
enum { CALLS = sizeof calls / sizeof *calls };

// --- submit over allocations -------------------------------------------------------------------------------

// LIVE_MAX bounds managed memory, too: more than a hundred of it has hung a device.
enum pool_kind { PLAIN, PLAIN_LARGE, MAPPED, MANAGED, POOLS };
enum { LIVE_MAX = 10000, SMALL_BYTES = 4096, LARGE_BYTES = 2 << 20 };

static const struct {
    const char *params;
    unsigned live_max;
} pool_kinds[POOLS] = {[PLAIN] = {LAUNCH_PARAMS ";bytes_each=4096;kind=plain", LIVE_MAX},
                       [PLAIN_LARGE] = {LAUNCH_PARAMS ";bytes_each=2097152;kind=plain_large", 100},
                       [MAPPED] = {LAUNCH_PARAMS ";bytes_each=4096;kind=mapped", 1000},
                       [MANAGED] = {LAUNCH_PARAMS ";bytes_each=4096;kind=managed", 100}};

static struct {
    void *memory[LIVE_MAX];
    unsigned live;
} pools[POOLS];

static enum gpu_status allocate(enum pool_kind kind, void **memory)
{
    void *device_view;
    switch (kind) {
    case MAPPED: return gpu_alloc_mapped(memory, &device_view, SMALL_BYTES);
    case MANAGED: return gpu_alloc_managed(memory, SMALL_BYTES);
    default: return gpu_alloc_raw(memory, kind == PLAIN ? SMALL_BYTES : LARGE_BYTES);
    }
}

static void trim(enum pool_kind kind, unsigned live)
{
    while (pools[kind].live > live) {
        void *memory = pools[kind].memory[--pools[kind].live];
        if (kind == MAPPED) gpu_free_mapped(memory);
        else gpu_free(memory);
    }
}

// Makes LIVE allocations of KIND all that there are in the pools.
static enum gpu_status fill(enum pool_kind kind, unsigned live)
{
    for (enum pool_kind other = 0; other < POOLS; other++)
        if (other != kind) trim(other, 0);
    trim(kind, live);
    while (pools[kind].live < live) {
        enum gpu_status status = allocate(kind, &pools[kind].memory[pools[kind].live]);
        if (status) {
            unsigned had = pools[kind].live;
            trim(kind, 0);
            return gpu_reason(status, "no more than %u of %u allocations are to be had: %s", had, live, gpu_error());
        }
        pools[kind].live++;
    }
    return GPU_OK;
}

static enum gpu_status time_with(struct bench_case *c, unsigned live, unsigned samples, double *values)
{
    enum gpu_status status = fill((enum pool_kind)c->argument, live);
    if (!status) status = launch_drain(stream, GPU_OK);
    return status ? status : time_valid(c, samples, values, gpu_launch_runtime);
}

// submit, as of a valid launch, after the pool was filled outside the clock. The kernel touches none of it.
// submit_ratio: that, over the mean of the same with an empty pool before it and after it.
static enum gpu_status measure_live(struct bench_case *c, unsigned samples, double *values)
{
    static double before[BENCH_ROUND_SAMPLES_MAX + BENCH_LEAD], after[BENCH_ROUND_SAMPLES_MAX + BENCH_LEAD];
    double *ratio = values + samples, least = INFINITY;
    enum gpu_status status = time_with(c, 0, samples, before);
    if (!status) status = time_with(c, (unsigned)c->axis_value, samples, values);
    if (!status) status = time_with(c, 0, samples, after);
    for (unsigned i = 0; i < samples && !status; i++) {
        double without = (before[i] + after[i]) / 2;
        ratio[i] = values[i] / without;
        least = fmin(least, without);
    }
    c->error_bound[1] = 2 * c->error_bound[0] / least;
    return status;
}

// --- The plan ----------------------------------------------------------------------------------------------

static const struct bench_output submit_output = {"submit", "ns", "lower"};

static void add_submits(struct bench_plan *plan, bool quick)
{
    static const struct {
        const char *name;
        enum gpu_status (*measure)(struct bench_case *, unsigned, double *);
    } ways[] = {{"valid", valid_runtime}, {"valid_driver", valid_driver}, {"valid_ex", valid_ex}};
    struct bench_case c = {.params = LAUNCH_PARAMS, .batch = BATCH, .samples = 10, .outputs = {submit_output}};
    c.budget_share = 0.12;
    for (unsigned w = 0; w < sizeof ways / sizeof *ways; w++) {
        c.variant = ways[w].name;
        c.measure = ways[w].measure;
        bench_add(plan, &c);
    }
    c.measure = measure_refused;
    c.budget_share = 0.07;
    for (unsigned kind = 0; kind < REFUSAL_LAUNCHES; kind++) {
        if (quick && !refusal_is_quick(kind)) continue;
        c.variant = refusal_name(kind);
        snprintf(c.params, sizeof c.params, "%s", refusal_params(kind));
        c.argument = kind;
        bench_add(plan, &c);
    }
}

static void add_calls(struct bench_plan *plan, bool quick)
{
    for (unsigned i = 0; i < CALLS; i++) {
        struct bench_case c = {.variant = calls[i].name,
                               .batch = CALL_BATCH,
                               .samples = 10,
                               .budget_share = 0.07,
                               .outputs = {{"call", "ns", "lower"}},
                               .measure = calls[i].measure};
        if (quick && !calls[i].quick) continue;
        snprintf(c.params, sizeof c.params, "%s", calls[i].params);
        bench_add(plan, &c);
    }
}

// Filling a pool takes far longer than the launches: no warm-up, and as good as no budget, so that each process takes
// one round. Launches of this kernel are warm, and a round has samples that lead it.
static void add_live(struct bench_plan *plan, bool quick)
{
    static const unsigned levels[] = {0, 10, 100, 1000, 10000};
    for (unsigned kind = 0; kind < POOLS; kind++)
        for (unsigned l = 0; l < sizeof levels / sizeof *levels; l++) {
            struct bench_case c = {.variant = "valid",
                                   .axis = "allocations",
                                   .axis_value = levels[l],
                                   .batch = BATCH,
                                   .samples = 20,
                                   .no_warm_up = true,
                                   .budget_share = 0.001,
                                   .argument = kind,
                                   .outputs = {submit_output, {"submit_ratio", "ratio", "lower"}},
                                   .measure = measure_live};
            if (levels[l] > pool_kinds[kind].live_max || (levels[l] == 0 && kind != PLAIN)) continue;
            if (quick && (kind != PLAIN || (levels[l] != 0 && levels[l] != 1000))) continue;
            snprintf(c.params, sizeof c.params, "%s", pool_kinds[kind].params);
            bench_add(plan, &c);
        }
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    enum gpu_status status = gpu_stream_create(&stream);
    if (!status) status = launch_prepare_empty(&empty, stream);
    if (!status) status = stamp_launch_open(&stamps, stream, 1);
    if (!status) status = gpu_alloc(&known_memory, SMALL_BYTES);
    if (!status) status = gpu_device_current(&current_device);
    if (!status) status = launch_drain(stream, gpu_launch_runtime(&empty));
    clock_error_ns = clock_cost_ns();
    add_submits(plan, quick);
    add_calls(plan, quick);
    add_live(plan, quick);
    return status;
}

static void teardown(void)
{
    for (enum pool_kind kind = 0; kind < POOLS; kind++) trim(kind, 0);
    gpu_free(known_memory);
    stamp_launch_close(&stamps);
    gpu_stream_destroy(stream);
}

const struct benchmark validation_benchmark = {
    .name = "validation",
    .summary = "what checks cost: refused launches against valid ones, calls before a launch, live allocations",
    .source = "claim C2",
    .seconds = 4,
    .quick_seconds = 0.6,
    .setup = setup,
    .teardown = teardown,
};
