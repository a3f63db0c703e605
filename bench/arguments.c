// SPDX-License-Identifier: Apache-2.0
// What a launch's arguments cost: how the host's call and the way to the first thread grow with their bytes and count.
#include <assert.h>
#include <string.h>

#include "backends/kernels/arguments.h"
#include "common/bench.h"
#include "common/parts.h"
#include "common/stats.h"

#define BYTES_PARAMS LAUNCH_PARAMS ";kernel=arguments"
#define COUNT_PARAMS LAUNCH_PARAMS ";bytes_each=8;kernel=arguments"

#define DECLARE_BYTES(bytes) GPU_KERNEL(arguments_bytes_##bytes);
#define DECLARE_COUNT(count) GPU_KERNEL(arguments_count_##count);
GPU_KERNEL(arguments_none);
GPU_KERNEL(arguments_report);
ARGUMENTS_BYTES(DECLARE_BYTES)
ARGUMENTS_BYTES_LARGE(DECLARE_BYTES)
ARGUMENTS_COUNTS(DECLARE_COUNT)

enum { BATCH = 100, FIT_BATCH = 20, SINGLES = 20, BYTES_MAX = 32764 };

// One list of arguments: SIZE bytes in one struct (EACH 1), or SIZE values (EACH 8).
static const struct list {
    unsigned each, size;
    const void *kernel;
} lists[] = {
#define BYTES_LIST(bytes) {1, bytes, gpu_kernel(arguments_bytes_##bytes)},
#define COUNT_LIST(count) {8, count, gpu_kernel(arguments_count_##count)},
    {1, 0, gpu_kernel(arguments_none)},
    ARGUMENTS_BYTES(BYTES_LIST) ARGUMENTS_BYTES_LARGE(BYTES_LIST) //
    {8, 0, gpu_kernel(arguments_none)},
    ARGUMENTS_COUNTS(COUNT_LIST)};
enum { LISTS = sizeof lists / sizeof *lists };

static struct chain chain;
static struct parts parts;
static struct gpu_launch launches[LISTS];
static _Alignas(8) unsigned char arguments[(BYTES_MAX + 7) / 8 * 8]; // of whatever is launched next

// --- The proof ---------------------------------------------------------------------------------------------

enum { PROOFS = 256 };

// Reports of what the kernels have seen, one behind each batch. The first of a round is where the others begin.
static struct {
    struct gpu_launch launch;
    struct arguments_report_argument argument;
    struct arguments_seen *device, host[PROOFS];
    uint64_t expected[PROOFS]; // what the sum is to grow by
    unsigned used;
} proof;

static enum gpu_status prepare(struct gpu_launch *launch, const void *kernel, void *argument, size_t bytes,
                               unsigned count)
{
    *launch = (struct gpu_launch){.kernel = kernel,
                                  .grid = {1, 1, 1},
                                  .block = {LAUNCH_BLOCK_THREADS, 1, 1},
                                  .argument = bytes ? argument : NULL,
                                  .argument_bytes = bytes,
                                  .argument_count = count,
                                  .stream = chain.stream};
    return gpu_launch_prepare(launch);
}

// Prepares list INDEX. Each round asks again, because the reason why the device cannot is told only then.
static enum gpu_status prepare_list(unsigned index)
{
    const struct list *list = &lists[index];
    return prepare(&launches[index], list->kernel, arguments, (size_t)list->each * list->size,
                   list->each > 1 ? list->size : 0);
}

// Passes STATUS on if it is not GPU_OK, else reports. The stream is empty after it, and was before the report.
static enum gpu_status report(enum gpu_status status)
{
    status = launch_drain(chain.stream, status);
    if (status) return status;
    assert(proof.used < PROOFS);
    proof.argument.out = proof.device + proof.used++;
    proof.argument.sequence++;
    return launch_drain(chain.stream, gpu_launch_runtime(&proof.launch));
}

static enum gpu_status proof_begin(void)
{
    proof.used = 0;
    return report(GPU_OK);
}

// Gives the list a new last byte or value for the next COUNT launches.
static void proof_aim(const struct list *list, unsigned count)
{
    uint64_t value = list->size ? 1 + proof.argument.sequence % 255 : 1; // without arguments a launch counts as 1
    if (list->each == 8 && list->size) memcpy(arguments + 8 * (list->size - 1), &value, sizeof value);
    else if (list->size) arguments[list->size - 1] = (unsigned char)value;
    proof.expected[proof.used] = value * count;
}

static enum gpu_status proof_read(enum gpu_status status)
{
    if (!status) status = gpu_read(proof.host, proof.device, proof.used * sizeof *proof.host);
    for (unsigned i = 0; i < proof.used && !status; i++) {
        uint64_t sequence = proof.argument.sequence - (proof.used - 1 - i);
        uint64_t grown = i ? proof.host[i].sum - proof.host[i - 1].sum : 0;
        if (proof.host[i].sequence != sequence || (i && grown != proof.expected[i]))
            status = gpu_reason(GPU_FAILED, "the arguments did not arrive: batch %u of %u", i, proof.used - 1);
    }
    return status;
}

// --- submit, launch_latency --------------------------------------------------------------------------------

// Launches a list COUNT times and leaves the proof behind; a call's time.
static inline __attribute__((always_inline)) enum gpu_status batch_ns(unsigned index, unsigned count,
                                                                      launch_function *submit, double *call_ns)
{
    double elapsed;
    proof_aim(&lists[index], count);
    enum gpu_status status = launch_time_batch(&launches[index], count, submit, &elapsed);
    *call_ns = elapsed / count;
    return report(status);
}

// submit: starts before the first of a batch of calls and stops when the last has returned, over the batch. The queue
// is empty before and holds the whole batch.
static inline __attribute__((always_inline)) enum gpu_status measure_submit(struct bench_case *c, unsigned samples,
                                                                            double *values, launch_function *submit)
{
    unsigned index = (unsigned)c->argument;
    enum gpu_status status = prepare_list(index);
    if (!status) status = proof_begin();
    for (unsigned i = 0; i < samples && !status; i++) status = batch_ns(index, c->batch, submit, &values[i]);
    c->error_bound[0] = parts.clock_error_ns / c->batch;
    return proof_read(status);
}

// launch_latency: from before the call, on an idle device, to the first thread's first clock read.
static enum gpu_status measure_latency(struct bench_case *c, unsigned samples, double *values)
{
    unsigned index = (unsigned)c->argument;
    enum gpu_status status = prepare_list(index);
    if (!status) status = proof_begin();
    if (status) return status;
    status = parts_begin(&parts);
    for (unsigned i = 0; i < samples && !status; i++) {
        proof_aim(&lists[index], 1);
        parts.reads[i].called = clock_ticks();
        status = report(gpu_launch_runtime(&launches[index]));
    }
    status = proof_read(parts_end(&parts, status));
    for (unsigned i = 0; i < samples && !status; i++)
        values[i] = sync_ns_after(&parts.window, parts.reads[i].called, proof.host[i + 1].begin_ticks);
    c->error_bound[0] = parts_bound_ns(&parts);
    return status;
}

// --- submit_per_byte, submit_per_argument ------------------------------------------------------------------

enum { FIT_LISTS_MAX = 8 };

// The lists that a fit goes through: 4 … 4096 bytes, which kernels take everywhere, or 1 … 64 values.
static const struct fit {
    const char *metric, *unit, *params;
    unsigned each, largest;
} fits[] = {{"submit_per_byte", "ns_per_byte", "argument_bytes=4..4096;" BYTES_PARAMS, 1, 4096},
            {"submit_per_argument", "ns_per_argument", "argument_count=1..64;" COUNT_PARAMS, 8, 64}};

static bool fit_takes(const struct fit *fit, const struct list *list)
{
    return list->each == fit->each && list->size && list->size <= fit->largest;
}

// A sample measures submit at every size of the fit, one batch each, up and down in turn so that what drifts cancels,
// and is the slope of the line through them. Least squares, because noise is alike at all sizes and the weight lies at
// the far ones, where a slope is to be had; a batch that something disturbed spoils its own sample only, and the row is
// the median of the samples.
static inline __attribute__((always_inline)) enum gpu_status measure_fit(struct bench_case *c, unsigned samples,
                                                                         double *values, launch_function *submit)
{
    const struct fit *fit = &fits[(int)c->argument];
    unsigned index[FIT_LISTS_MAX], count = 0;
    double size[FIT_LISTS_MAX], call_ns[FIT_LISTS_MAX];
    enum gpu_status status = GPU_OK;
    for (unsigned l = 0; l < LISTS && count < FIT_LISTS_MAX && !status; l++) {
        if (!fit_takes(fit, &lists[l])) continue;
        status = prepare_list(l);
        index[count] = l;
        size[count++] = lists[l].size;
    }
    if (!status) status = proof_begin();
    for (unsigned i = 0; i < samples && !status; i++) {
        for (unsigned k = 0; k < count && !status; k++) {
            unsigned at = i % 2 ? count - 1 - k : k;
            status = batch_ns(index[at], c->batch, submit, &call_ns[at]);
        }
        values[i] = stats_slope(size, call_ns, count);
    }
    c->error_bound[0] = parts.clock_error_ns / c->batch / fit->largest;
    return proof_read(status);
}

// --- The plan ----------------------------------------------------------------------------------------------

// Each way to submit gets functions of its own, so that the compiler sees a direct call in each timed region.
#define MEASURE(way)                                                                                                   \
    static enum gpu_status submit_##way(struct bench_case *c, unsigned samples, double *values)                        \
    {                                                                                                                  \
        return measure_submit(c, samples, values, gpu_launch_##way);                                                   \
    }                                                                                                                  \
    static enum gpu_status fit_##way(struct bench_case *c, unsigned samples, double *values)                           \
    {                                                                                                                  \
        return measure_fit(c, samples, values, gpu_launch_##way);                                                      \
    }
MEASURE(runtime)
MEASURE(driver)
MEASURE(packed)

static const struct {
    const char *name;
    enum gpu_status (*submit)(struct bench_case *, unsigned, double *), (*fit)(struct bench_case *, unsigned, double *);
} ways[] = {{"runtime", submit_runtime, fit_runtime},
            {"driver", submit_driver, fit_driver},
            {"packed", submit_packed, fit_packed}};
enum { RUNTIME, DRIVER, PACKED, WAYS };

// What a default run takes of all combinations. A buffer makes one struct of any list, so `packed` has bytes only; of
// counts the driver takes the large ones, as points of a line that the runtime has in full.
static bool is_wanted(const struct list *list, int way)
{
    if (way == PACKED) return list->each == 1 && list->size;
    return way == RUNTIME || list->each == 1 || list->size % 8 == 0;
}

static struct bench_case list_case(unsigned index, const char *variant)
{
    bool bytes = lists[index].each == 1;
    struct bench_case c = {.variant = variant,
                           .axis = bytes ? "argument_bytes" : "argument_count",
                           .axis_value = lists[index].size,
                           .argument = index,
                           .budget_share = 0.08};
    strcpy(c.params, bytes ? BYTES_PARAMS : COUNT_PARAMS);
    return c;
}

static void add_submit(struct bench_plan *plan, unsigned index, int way)
{
    struct bench_case c = list_case(index, ways[way].name);
    c.batch = BATCH;
    c.samples = 5;
    c.outputs[0] = (struct bench_output){"submit", "ns", "lower"};
    c.measure = ways[way].submit;
    bench_add(plan, &c);
}

static void add_latency(struct bench_plan *plan, unsigned index)
{
    struct bench_case c = list_case(index, "runtime");
    c.samples = SINGLES;
    c.outputs[0] = (struct bench_output){"launch_latency", "ns", "lower", .resolution = sync_device_resolution_ns()};
    c.measure = measure_latency;
    bench_add(plan, &c);
}

static void add_fit(struct bench_plan *plan, unsigned index, int way)
{
    const struct fit *fit = &fits[index];
    struct bench_case c = {.variant = ways[way].name,
                           .argument = index,
                           .batch = FIT_BATCH,
                           .samples = 6,
                           .budget_share = 0.6,
                           .outputs = {{fit->metric, fit->unit, "lower", "fit",
                                        .resolution = clock_resolution_ns() / FIT_BATCH / fit->largest}},
                           .measure = ways[way].fit};
    strcpy(c.params, fit->params);
    bench_add(plan, &c);
}

static void plan_quick(struct bench_plan *plan)
{
    for (unsigned l = 0; l < LISTS; l++) {
        bool bytes = lists[l].each == 1, largest = lists[l].size == fits[bytes ? 0 : 1].largest;
        if (largest || (bytes && lists[l].size == 0)) add_submit(plan, l, RUNTIME);
        if (largest && bytes) add_latency(plan, l);
    }
    add_fit(plan, 0, RUNTIME);
    add_fit(plan, 0, DRIVER);
    add_fit(plan, 1, RUNTIME);
}

static void plan_all(struct bench_plan *plan)
{
    for (int way = 0; way < WAYS; way++) {
        for (unsigned l = 0; l < LISTS; l++)
            if (is_wanted(&lists[l], way)) add_submit(plan, l, way);
        add_fit(plan, 0, way);
        if (way != PACKED) add_fit(plan, 1, way);
    }
    for (unsigned l = 0; l < LISTS; l++)
        if (is_wanted(&lists[l], DRIVER)) add_latency(plan, l);
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    void *memory;
    enum gpu_status status = sync_open();
    if (!status) status = chain_open(&chain);
    if (!status) status = parts_open(&parts, &chain);
    if (!status) status = gpu_alloc(&memory, sizeof proof.host);
    if (status) return status;
    proof.device = memory;
    if (quick) plan_quick(plan);
    else plan_all(plan);
    return prepare(&proof.launch, gpu_kernel(arguments_report), &proof.argument, sizeof proof.argument, 0);
}

static void teardown(void)
{
    gpu_free(proof.device);
    parts_close(&parts);
    chain_close(&chain);
    sync_close();
}

const struct benchmark arguments_benchmark = {
    .name = "arguments",
    .summary = "what a launch's arguments cost, by bytes and by count",
    .source = "claim C1",
    .seconds = 5,
    .quick_seconds = 0.7,
    .setup = setup,
    .teardown = teardown,
};
