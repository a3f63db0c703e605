// SPDX-License-Identifier: Apache-2.0
// What a process pays before its first kernel runs, and for the first launch of any code: driver, context, loading.
//
// All of it happens but once a process, so each process of the run starts probes; one probe answers many cases.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu_module.h"
#include "backends/kernels/first_launch.h"
#include "common/bench.h"
#include "common/busy.h"
#include "common/launch.h"
#include "common/probe.h"
#include "common/scratch.h"
#include "common/shuffle.h"

#define PARAMS LAUNCH_PARAMS

GPU_KERNEL(code_none);
#define DECLARE_CODE(kibibytes) GPU_KERNEL(code_##kibibytes);
FIRST_LAUNCH_KIBIBYTES(DECLARE_CODE)

static const struct {
    unsigned kibibytes;
    const void *kernel;
} codes[] = {
#define CODE(kibibytes) {kibibytes, gpu_kernel(code_##kibibytes)},
    FIRST_LAUNCH_KIBIBYTES(CODE)};
static const unsigned modules[] = {1, 10, 100, 1000};
enum {
    CODES = sizeof codes / sizeof *codes,
    MODULES = sizeof modules / sizeof *modules,
    AGAIN = 1, // of modules: what is loaded again, and what is compiled
    VALUES = 4,
};
static const double BUSY_NS = 30e6, PROBE_LIMIT_S = 10;

// What a probe measures, each with an answer of its own.
enum { START, FIRST, CODE_FIRST, MODULE = CODE_FIRST + CODES, IDLE = MODULE + MODULES, BUSY, PORTABLE, PARTS };

struct part {
    struct gpu_outcome outcome;
    double ns[VALUES];
};

// The answer of a probe: what it carries are bytes to the harness.
struct told {
    struct part parts[PARTS];
    char loading[8]; // gpu_loading
    bool waited[2];  // BUSY: that the load, and the launch, returned when the kernel that ran before it had ended
};
_Static_assert(sizeof(struct told) <= sizeof((struct probe_answer *)0)->values, "an answer holds no more");

// --- In the probe: launches --------------------------------------------------------------------------------

static struct {
    struct gpu_stream *stream;
    uint32_t *flag; // mapped: what a launch leaves behind
    struct gpu_launch launch;
    struct code_argument argument;
    struct busy busy;
    struct told told;
} probe;

static void aim(const void *kernel)
{
    probe.launch = (struct gpu_launch){.kernel = kernel,
                                       .grid = {1, 1, 1},
                                       .block = {LAUNCH_BLOCK_THREADS, 1, 1},
                                       .argument = &probe.argument,
                                       .argument_bytes = sizeof probe.argument,
                                       .stream = probe.stream};
    gpu_launch_fill(&probe.launch);
}

static enum gpu_status prove(enum gpu_status status)
{
    uint32_t flag = __atomic_load_n(probe.flag, __ATOMIC_ACQUIRE);
    if (status || flag == probe.argument.value) return status;
    return gpu_reason(GPU_FAILED, "launch %u left no stamp: the kernel did not run", probe.argument.value);
}

// One launch. first_submit, second_submit: the call. first_launch, second_launch: from before the call until the stream
// is synchronised; there is one clock read more in it.
static inline __attribute__((always_inline)) enum gpu_status time_launch(launch_function *submit, double *submit_ns,
                                                                         double *launch_ns)
{
    probe.argument.value++;
    uint64_t begin = clock_ticks();
    enum gpu_status status = submit(&probe.launch);
    uint64_t returned = clock_ticks();
    if (!status) status = gpu_stream_synchronize(probe.stream);
    uint64_t ended = clock_ticks();
    *submit_ns = clock_ns(returned - begin);
    *launch_ns = clock_ns(ended - begin);
    return prove(status);
}

// The first and second launch of a kernel that is part of the program, without any call about it before.
static enum gpu_status time_code(const void *kernel, double ns[VALUES])
{
    aim(kernel);
    enum gpu_status status = time_launch(gpu_launch_runtime, &ns[2], &ns[0]);
    return status ? status : time_launch(gpu_launch_runtime, &ns[3], &ns[1]);
}

// --- In the probe: modules ---------------------------------------------------------------------------------

// module_load: the call that loads. first_launch: from before the function is looked up by name, which may be what
// loads it, until the stream is synchronised. second_launch: without the look-up. BUSY: another kernel runs when the
// load begins and when the first launch does.
static enum gpu_status time_module(unsigned functions, enum gpu_image image, bool busy, double ns[VALUES])
{
    struct gpu_module module;
    double unused;
    aim(NULL);
    enum gpu_status status = busy ? busy_begin(&probe.busy, BUSY_NS) : GPU_OK;
    if (status) return status;
    uint64_t begin = clock_ticks();
    status = gpu_module_load(&module, functions, image);
    uint64_t loaded = clock_ticks();
    if (status) return status;
    ns[0] = clock_ns(loaded - begin);
    if (busy) {
        probe.told.waited[0] = busy_ended(&probe.busy);
        if (probe.told.waited[0]) status = busy_begin(&probe.busy, BUSY_NS);
    }

    probe.argument.value++;
    begin = clock_ticks();
    if (!status) status = gpu_module_prepare(&module, &probe.launch);
    if (!status) status = gpu_launch_driver(&probe.launch);
    if (!status) status = gpu_stream_synchronize(probe.stream);
    uint64_t ended = clock_ticks();
    ns[1] = clock_ns(ended - begin);
    if (busy) probe.told.waited[1] = busy_ended(&probe.busy);
    status = prove(status);
    if (!status) status = time_launch(gpu_launch_driver, &unused, &ns[2]);
    gpu_module_unload(&module);
    return status;
}

// --- The probe ---------------------------------------------------------------------------------------------

static void tell(unsigned index, enum gpu_status status) { gpu_outcome_keep(&probe.told.parts[index].outcome, status); }

// A random order of 0 … COUNT − 1.
static void fill_shuffled(unsigned *order, unsigned count)
{
    uint64_t random = clock_gettime_ns();
    for (unsigned i = 0; i < count; i++) order[i] = i;
    shuffle(order, count, &random);
}

// process_start: from before the process is asked for until it has the first word, in main: fork, exec, linking.
// driver_start: the first call that asks the vendor anything, how many devices there are. context_creation: gpu_open.
// start_to_first: process_start, and from before the driver_start until the first kernel has ended; a stream and mapped
// memory come in between. What the harness does in main, before the driver_start, is in none of them.
static enum gpu_status start(const struct probe_answer *answer)
{
    double *ns = probe.told.parts[START].ns;
    unsigned devices;
    uint64_t begin = clock_ticks();
    enum gpu_status status = gpu_count(&devices);
    uint64_t counted = clock_ticks();
    if (status) return status;
    uint64_t opening = clock_ticks();
    status = gpu_open(answer->device);
    uint64_t opened = clock_ticks();
    if (status) return status;
    ns[0] = clock_ns(answer->entered_ticks - answer->asked_ticks);
    ns[1] = clock_ns(counted - begin);
    ns[2] = clock_ns(opened - opening);

    void *host, *device;
    status = gpu_stream_create(&probe.stream);
    if (!status) status = gpu_alloc_mapped(&host, &device, sizeof *probe.flag);
    if (status) return status;
    probe.flag = host;
    probe.argument.flag = device;
    double *first = probe.told.parts[FIRST].ns;
    aim(gpu_kernel(code_none));
    status = time_launch(gpu_launch_runtime, &first[2], &first[0]);
    ns[3] = ns[0] + clock_ns(clock_ticks() - begin);
    if (!status) status = time_launch(gpu_launch_runtime, &first[3], &first[1]);
    snprintf(probe.told.loading, sizeof probe.told.loading, "%s", gpu_loading());
    return status;
}

static void load_modules(void)
{
    struct part *parts = probe.told.parts;
    unsigned order[MODULES];
    fill_shuffled(order, MODULES);
    for (unsigned i = 0; i < MODULES; i++) {
        unsigned index = MODULE + order[i];
        tell(index, time_module(modules[order[i]], GPU_IMAGE_NATIVE, false, parts[index].ns));
    }
    enum gpu_status status = busy_open(&probe.busy);
    if (!status) status = busy_begin(&probe.busy, BUSY_NS); // its code is to be there before it counts
    status = busy_end(&probe.busy, status);
    tell(IDLE, status ? status : time_module(modules[AGAIN], GPU_IMAGE_NATIVE, false, parts[IDLE].ns));
    if (!status) status = busy_end(&probe.busy, time_module(modules[AGAIN], GPU_IMAGE_NATIVE, true, parts[BUSY].ns));
    tell(BUSY, status);
}

static enum gpu_status run_probe(const char *name, struct probe_answer *answer)
{
    struct part *parts = probe.told.parts;
    const bool all = strcmp(name, "all") == 0, warm = strcmp(name, "warm") == 0;
    unsigned order[CODES];
    enum gpu_status status = start(answer);
    if (status) return status;
    fill_shuffled(order, CODES);
    for (unsigned i = 0; i < CODES && !warm; i++) {
        unsigned index = CODE_FIRST + order[i];
        tell(index, time_code(codes[order[i]].kernel, parts[index].ns));
    }
    if (all || strcmp(name, "modules") == 0) load_modules();
    // So that cold and warm differ in the cache alone: neither is the first module of its process.
    if (warm) tell(IDLE, time_module(modules[AGAIN], GPU_IMAGE_NATIVE, false, parts[IDLE].ns));
    if (all || warm) tell(PORTABLE, time_module(modules[AGAIN], GPU_IMAGE_PORTABLE, false, parts[PORTABLE].ns));
    memcpy(answer->values, &probe.told, sizeof probe.told);
    answer->count = PROBE_VALUES_MAX;
    gpu_close();
    return GPU_OK;
}

// --- In the measuring process: runs of probes --------------------------------------------------------------

// The first run compiles into an empty cache, the last finds it there.
enum { RUNS_MAX = 8 };

static struct run {
    const char *probe;
    const struct gpu_variant *way;
    bool done;
    struct gpu_outcome outcome;
    struct told told;
    long long cached_before, cached_after; // bytes in the cache
} runs[RUNS_MAX];
static unsigned run_count;
static struct scratch cache; // of compiled code
static double clock_error_ns;

static enum gpu_status run_probes(struct run *run)
{
    const char *environment[8];
    unsigned count = 0;
    enum gpu_status status = gpu_cache_environment[0] && !cache.path[0] ? scratch_make(&cache) : GPU_OK;
    if (status) return status;
    for (unsigned i = 0; run->way->environment[i]; i++) environment[count++] = run->way->environment[i];
    count = scratch_complete(&cache, gpu_cache_environment, environment, count);
    assert(count < sizeof environment / sizeof *environment);

    struct probe_answer answer;
    run->cached_before = scratch_bytes(&cache);
    status = probe_run(run->probe, environment, PROBE_LIMIT_S, &answer);
    run->cached_after = scratch_bytes(&cache);
    if (status) return status;
    memcpy(&run->told, answer.values, sizeof run->told);
    const char *loading = run->told.loading;
    if (loading[0] && strcmp(loading, run->way->name))
        return gpu_reason(GPU_UNSUPPORTED, "the driver loads code the %s way, though asked for %s", loading,
                          run->way->name);
    return GPU_OK;
}

// The answer of a part, from the probe that the first case that asks for it runs.
static enum gpu_status ask(unsigned index, unsigned part)
{
    struct run *run = &runs[index];
    if (!run->done) {
        run->done = true;
        gpu_outcome_keep(&run->outcome, run_probes(run));
    }
    return gpu_outcome_tell(run->outcome.status ? &run->outcome : &run->told.parts[part].outcome);
}

// Whether what was compiled came to lie in the cache, and was found there.
static enum gpu_status prove_cache(const struct bench_case *c, const struct run *run)
{
    long long grown = run->cached_after - run->cached_before;
    bool cold = strcmp(c->variant, "cold_cache") == 0;
    if (cold && grown <= 0) return gpu_reason(GPU_FAILED, "nothing came into the compile cache: not known to be cold");
    if (!cold && run->cached_before == 0) return gpu_reason(GPU_FAILED, "the compile cache is empty: it is not warm");
    if (!cold && grown)
        return gpu_reason(GPU_FAILED, "the warm compile cache grew by %lld bytes: compiled anew", grown);
    return GPU_OK;
}

static const char *waited(const struct run *run, unsigned step)
{
    bool long_alone = run->told.parts[IDLE].ns[step] > BUSY_NS / 2;
    return !run->told.waited[step] ? "no" : long_alone ? "unclear" : "yes";
}

static enum gpu_status measure(struct bench_case *c, unsigned samples, double *values)
{
    unsigned index = (unsigned)c->argument / PARTS, part = (unsigned)c->argument % PARTS;
    struct run *run = &runs[index];
    enum gpu_status status = GPU_OK;
    assert(samples == 1);
    if (part == PORTABLE && index > 0) status = ask(0, PORTABLE); // which makes the cache warm
    if (!status) status = ask(index, part);
    if (!status && part == PORTABLE) status = prove_cache(c, run);
    if (part == PORTABLE && index > 0) scratch_remove(&cache);
    if (status) return status;
    for (unsigned o = 0; o < VALUES && c->outputs[o].metric; o++) {
        values[o] = run->told.parts[part].ns[o];
        c->error_bound[o] = 2 * clock_error_ns;
    }
    if (part == BUSY)
        snprintf(c->detail, sizeof c->detail, "launch_waited=%s;load_waited=%s", waited(run, 1), waited(run, 0));
    if (part == PORTABLE) snprintf(c->detail, sizeof c->detail, "cache_bytes=%lld", run->cached_after);
    if (part == START && run->told.loading[0]) snprintf(c->detail, sizeof c->detail, "loading=%s", run->told.loading);
    return GPU_OK;
}

// --- The plan ----------------------------------------------------------------------------------------------

static void add(struct bench_plan *plan, unsigned run, unsigned part, struct bench_case c,
                const char *const metrics[VALUES])
{
    for (unsigned o = 0; o < VALUES && metrics[o]; o++) c.outputs[o] = (struct bench_output){metrics[o], "ns", "lower"};
    if (!c.variant) c.variant = runs[run].way->name;
    c.argument = run * PARTS + part;
    c.once = true;
    c.measure = measure;
    bench_add(plan, &c);
}

static void add_start(struct bench_plan *plan, unsigned run)
{
    static const char *const start_metrics[] = {"process_start", "driver_start", "context_creation", "start_to_first"};
    static const char *const first_metrics[] = {"first_launch", "second_launch", "first_submit", "second_submit"};
    add(plan, run, START, (struct bench_case){.axis = NULL}, start_metrics);
    add(plan, run, FIRST, (struct bench_case){.params = PARAMS}, first_metrics);
}

static void add_code(struct bench_plan *plan, unsigned run, unsigned code)
{
    static const char *const metrics[VALUES] = {"first_launch", "second_launch"};
    add(plan, run, CODE_FIRST + code,
        (struct bench_case){.params = PARAMS, .axis = "code_bytes", .axis_value = codes[code].kibibytes * 1024},
        metrics);
}

static void add_modules(struct bench_plan *plan, unsigned run)
{
    static const char *const metrics[VALUES] = {"module_load", "first_launch", "second_launch"};
    for (unsigned m = 0; m < MODULES; m++)
        add(plan, run, MODULE + m,
            (struct bench_case){.params = PARAMS ";image=native", .axis = "functions", .axis_value = modules[m]},
            metrics);
    add(plan, run, IDLE, (struct bench_case){.params = PARAMS ";busy=false;functions=10;image=native;loaded=again"},
        metrics);
    add(plan, run, BUSY, (struct bench_case){.params = PARAMS ";busy=true;functions=10;image=native;loaded=again"},
        metrics);
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    static const struct bench_case cold = {.variant = "cold_cache", .params = PARAMS ";functions=10;image=portable"},
                                   warm = {.variant = "warm_cache", .params = PARAMS ";functions=10;image=portable"};
    static const char *const metrics[VALUES] = {"module_load", "first_launch", "second_launch"};
    unsigned devices; // asking for them holds the driver, which would unload itself between the probes or not
    enum gpu_status status = gpu_count(&devices);
    if (status) return status;
    clock_error_ns = clock_cost_ns();
    for (const struct gpu_variant *way = gpu_loading_variants; way->name; way++, run_count++) {
        assert(run_count < RUNS_MAX - 1);
        runs[run_count].way = way;
        runs[run_count].probe = quick ? "start" : run_count ? "modules" : "all";
        add_start(plan, run_count);
        for (unsigned code = 0; code < CODES; code++)
            if (!quick || code == CODES - 1) add_code(plan, run_count, code);
        if (!quick) add_modules(plan, run_count);
    }
    if (quick) return GPU_OK;
    runs[run_count] = (struct run){.probe = "warm", .way = gpu_loading_variants};
    add(plan, 0, PORTABLE, cold, metrics);
    add(plan, run_count, PORTABLE, warm, metrics);
    return GPU_OK;
}

static void teardown(void) { scratch_remove(&cache); }

const struct benchmark first_launch_benchmark = {
    .name = "first_launch",
    .summary = "what comes before a process's first kernel, and the first launch of any code: driver, context, loading",
    .source = "design.md, trap 4: the first launch holds module loading",
    .seconds = 7.5,
    .quick_seconds = 1,
    .setup = setup,
    .teardown = teardown,
    .probe = run_probe,
    .probes_only = true,
};
