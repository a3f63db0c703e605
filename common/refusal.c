// SPDX-License-Identifier: Apache-2.0
// Requests that are to be refused, and kernels that have to be stopped. See refusal.h.
#include "common/refusal.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "backends/gpu_kernel.h"
#include "backends/kernels/refusal.h"
#include "common/launch.h"
#include "common/probe.h"

GPU_KERNEL(refusal_registers);
GPU_KERNEL(fault_shared);
GPU_KERNEL(fault_store);
GPU_KERNEL(fault_trap);

enum { STACK_BYTES = 1 << 20, CLUSTER_BLOCKS = 32 };

enum kind {
    BLOCK_THREADS,
    BLOCK_DIMENSION,
    GRID_DIMENSION,
    ZERO_GRID,
    ZERO_BLOCK,
    SHARED_BYTES,
    SHARED_MOST,
    REGISTERS,
    COOPERATIVE,
    CLUSTER,
    UNKNOWN_KERNEL,
    NO_KERNEL,
    STACK,
    ALLOW_SHARED,
};
_Static_assert((int)REFUSAL_LAUNCHES == STACK && (int)REFUSAL_KINDS == ALLOW_SHARED + 1,
               "refusal.h counts other kinds");

#define TOO_MUCH "cause=over_provision;"
#define INVALID "cause=invalid;"

static const struct {
    const char *name, *params;
    bool any_device; // asked of devices that tell no limits, too
    bool quick;
} kinds[REFUSAL_KINDS] = {
    [BLOCK_THREADS] = {"block_threads", TOO_MUCH "entry=runtime;kernel=empty", true, true},
    [BLOCK_DIMENSION] = {"block_dimension", TOO_MUCH "entry=runtime;kernel=empty", false, false},
    [GRID_DIMENSION] = {"grid_dimension", TOO_MUCH "entry=runtime;kernel=empty", false, false},
    [ZERO_GRID] = {"zero_grid", INVALID "entry=runtime;kernel=empty", true, false},
    [ZERO_BLOCK] = {"zero_block", INVALID "entry=runtime;kernel=empty", true, false},
    [SHARED_BYTES] = {"shared_bytes", TOO_MUCH "entry=runtime;kernel=empty", true, true},
    [SHARED_MOST] = {"shared_most", TOO_MUCH "entry=runtime;kernel=registers", false, false},
    [REGISTERS] = {"registers", TOO_MUCH "entry=runtime;kernel=registers", false, false},
    [COOPERATIVE] = {"cooperative", TOO_MUCH "entry=cooperative;kernel=empty", false, false},
    [CLUSTER] = {"cluster", TOO_MUCH "entry=launch_ex;kernel=registers", false, false},
    [UNKNOWN_KERNEL] = {"unknown_kernel", INVALID "entry=runtime;kernel=unknown", false, false},
    [NO_KERNEL] = {"no_kernel", INVALID "entry=runtime;kernel=none", true, true},
    [STACK] = {"stack", TOO_MUCH "entry=stack_limit", false, false},
    [ALLOW_SHARED] = {"allow_shared", TOO_MUCH "entry=kernel_attribute;kernel=registers", false, false},
};

const char *refusal_name(unsigned kind) { return kinds[kind].name; }

const char *refusal_params(unsigned kind) { return kinds[kind].params; }

bool refusal_is_quick(unsigned kind) { return kinds[kind].quick; }

// --- What is asked for -------------------------------------------------------------------------------------

// The compiler must have given the kernel more registers than a block of the most threads can have, or the launch is a
// valid one.
static enum gpu_status ask_registers(struct gpu_launch *launch, const struct gpu_limits *limits)
{
    struct gpu_kernel_attributes attributes;
    enum gpu_status status = gpu_kernel_attributes(launch->kernel, &attributes);
    if (status) return status;
    if (attributes.block_threads_max >= limits->threads_per_block)
        return gpu_reason(GPU_UNSUPPORTED, "the compiler kept the kernel to %u registers, with which %u threads start",
                          attributes.registers_per_thread, attributes.block_threads_max);
    launch->block[0] = limits->threads_per_block;
    return GPU_OK;
}

static enum gpu_status ask_cooperative(struct gpu_launch *launch)
{
    unsigned blocks;
    enum gpu_status status = gpu_kernel_occupancy(launch->kernel, launch->block[0], 0, &blocks);
    if (status) return status;
    launch->grid[0] = blocks * gpu_multiprocessors() + 1;
    launch->cooperative = true;
    return GPU_OK;
}

// A stack that is granted is given back.
static enum gpu_status ask_stack(void)
{
    enum { USUAL_BYTES = 1024 };
    enum gpu_status status = gpu_stack_allow(STACK_BYTES);
    if (!status) {
        gpu_stack_allow(USUAL_BYTES);
        return gpu_reason(GPU_UNSUPPORTED, "this device takes it: a stack of %d bytes is granted", STACK_BYTES);
    }
    return status == GPU_UNSUPPORTED ? status : GPU_OK;
}

static enum gpu_status ask(enum kind kind, struct refusal *refusal, const struct gpu_limits *limits)
{
    static struct refusal_registers_argument nothing;
    static const char no_kernel_here;
    struct gpu_launch *launch = &refusal->launch;
    if (kind == SHARED_MOST || kind == REGISTERS || kind == ALLOW_SHARED || kind == CLUSTER) {
        launch->kernel = gpu_kernel(refusal_registers); // `empty` stays as it is for everybody else
        launch->argument = &nothing;
        launch->argument_bytes = sizeof nothing;
    }
    switch (kind) {
    case BLOCK_THREADS: launch->block[0] = limits->threads_per_block + 1; break;
    case BLOCK_DIMENSION:
        launch->block[0] = 1;
        launch->block[2] = limits->block_max[2] + 1;
        break;
    case GRID_DIMENSION: launch->grid[1] = limits->grid_max[1] + 1; break;
    case ZERO_GRID: launch->grid[0] = 0; break;
    case ZERO_BLOCK: launch->block[0] = 0; break;
    case SHARED_BYTES: launch->shared_bytes = limits->shared_per_block + 1; break;
    case SHARED_MOST:
        launch->shared_bytes = limits->shared_per_block_most + 1;
        gpu_kernel_allow_shared(launch->kernel, limits->shared_per_block_most); // where this fails, less is refused
        break;
    case REGISTERS: return ask_registers(launch, limits);
    case COOPERATIVE: return ask_cooperative(launch);
    case CLUSTER: launch->grid[0] = launch->cluster[0] = CLUSTER_BLOCKS; break;
    case UNKNOWN_KERNEL: launch->kernel = &no_kernel_here; break;
    case NO_KERNEL: launch->kernel = NULL; break;
    case STACK: refusal->bytes = STACK_BYTES; return ask_stack();
    case ALLOW_SHARED: refusal->bytes = limits->shared_per_block_most + 1; break;
    }
    return GPU_OK;
}

enum gpu_status refusal_prepare(unsigned kind, struct gpu_stream *stream, struct refusal *refusal)
{
    // Of a device that tells no limits: none known takes more threads, and it has no shared memory to give.
    static struct gpu_limits limits = {.threads_per_block = 1024};
    static bool known; // asking takes long
    enum gpu_status told = known ? GPU_OK : gpu_limits(&limits);
    known = told == GPU_OK;
    if (told && kind == UNKNOWN_KERNEL)
        return gpu_reason(told, "any address is that of a kernel here: %s", gpu_error());
    if (told && !kinds[kind].any_device) return gpu_reason(told, "nothing to ask too much of: %s", gpu_error());
    enum gpu_status status = launch_prepare_empty(&refusal->launch, stream);
    if (!status) status = ask((enum kind)kind, refusal, &limits);
    if (status || kind >= REFUSAL_LAUNCHES) return status;
    status = gpu_launch_prepare(&refusal->launch); // which may refuse what the launch is to be refused for
    gpu_code_last();
    return refusal->launch.cluster[0] ? status : GPU_OK;
}

enum gpu_status refusal_taken(struct bench_case *c)
{
    snprintf(c->detail, sizeof c->detail, "error=none");
    return gpu_reason(GPU_UNSUPPORTED, "this device takes it: no error came");
}

// --- failure_cost: requests that the host refuses -----------------------------------------------------------

static struct gpu_stream *stream;
static struct stamp_launch stamps;

static inline __attribute__((always_inline)) int call_launch(const struct refusal *refusal)
{
    return gpu_launch_code(&refusal->launch);
}

static inline __attribute__((always_inline)) int call_stack(const struct refusal *refusal)
{
    return gpu_stack_code(refusal->bytes);
}

static inline __attribute__((always_inline)) int call_allow_shared(const struct refusal *refusal)
{
    return gpu_allow_shared_code(refusal->launch.kernel, refusal->bytes);
}

// failure_cost of a refused call: starts before it and stops when its error has been fetched and cleared. Behind each,
// outside the clock, a valid launch must leave its stamp.
static inline __attribute__((always_inline)) enum gpu_status measure_refused(struct bench_case *c, unsigned samples,
                                                                             double *values,
                                                                             int (*call)(const struct refusal *))
{
    static struct refusal refusal;
    enum gpu_status status = refusal_prepare((unsigned)c->argument, stream, &refusal);
    for (unsigned i = 0; i < samples && !status; i++) {
        uint64_t begin = clock_ticks();
        int code = call(&refusal);
        int cleared = gpu_code_last();
        uint64_t end = clock_ticks();
        values[i] = clock_ns(end - begin);
        status = stamp_launch_prove(&stamps);
        if (status) return gpu_reason(GPU_FAILED, "the launch after a refused one: %s", gpu_error());
        if (!code) return refusal_taken(c);
        snprintf(c->detail, sizeof c->detail, "error=%s%s%s;next_launch=works", gpu_code_name(code),
                 cleared == code ? "" : ";last_error=", cleared == code ? "" : gpu_code_name(cleared));
    }
    c->error_bound[0] = clock_cost_ns();
    return status;
}

// Each call gets a function of its own, so that the compiler sees a direct one in each timed region.
#define MEASURE(call)                                                                                                  \
    static enum gpu_status measure_##call(struct bench_case *c, unsigned samples, double *values)                      \
    {                                                                                                                  \
        return measure_refused(c, samples, values, call_##call);                                                       \
    }
MEASURE(launch)
MEASURE(stack)
MEASURE(allow_shared)

// --- failure_cost, context_survived: kernels that have to be stopped, each in a process of its own ---------

enum { GIVEN_BYTES = 1024, USED_BYTES = 1 << 20 }; // no multiprocessor has so much
static const double FAULT_TIMEOUT_S = 20;

static const struct fault {
    const char *name, *params;
    const void *kernel;
    size_t shared_bytes;
} faults[] = {
    {"shared_overrun", "cause=under_provision", gpu_kernel(fault_shared), GIVEN_BYTES},
    {"null_write", "cause=fault", gpu_kernel(fault_store), 0},
    {"misaligned", "cause=fault", gpu_kernel(fault_store), 0},
    {"trap", "cause=fault", gpu_kernel(fault_trap), 0},
};
enum { FAULTS = sizeof faults / sizeof *faults };

static const struct fault *find_fault(const char *name)
{
    for (unsigned f = 0; f < FAULTS; f++)
        if (strcmp(faults[f].name, name) == 0) return &faults[f];
    return NULL;
}

static enum gpu_status prepare_fault(const struct fault *fault, struct gpu_launch *launch)
{
    static struct fault_argument argument;
    argument = (struct fault_argument){.out = (uint32_t *)(void *)stamps.device, .bytes = USED_BYTES};
    if (strcmp(fault->name, "misaligned") == 0) argument.address = (uintptr_t)stamps.device + 1;
    *launch = stamps.launch;
    launch->kernel = fault->kernel;
    launch->shared_bytes = fault->shared_bytes;
    launch->argument = fault->kernel == gpu_kernel(fault_trap) ? NULL : &argument;
    launch->argument_bytes = launch->argument ? sizeof argument : 0;
    return gpu_launch_prepare(launch);
}

static enum gpu_status open_stream(void)
{
    enum gpu_status status = gpu_stream_create(&stream);
    return status ? status : stamp_launch_open(&stamps, stream, 1);
}

// failure_cost of a fault: starts before the launch and stops when waiting for the stream has answered the error.
// context_survived: whether a valid launch after it leaves its stamp.
enum gpu_status refusal_probe(const char *name, struct probe_answer *answer)
{
    static struct gpu_launch launch;
    const struct fault *fault = find_fault(name);
    if (!fault) return gpu_reason(GPU_FAILED, "there is no fault called %s", name);
    enum gpu_status status = gpu_open(answer->device);
    if (!status) status = open_stream();
    if (!status) status = prepare_fault(fault, &launch);
    if (!status) status = stamp_launch_prove(&stamps);
    if (status) return status;
    if (!probe_say(answer)) return gpu_reason(GPU_FAILED, "nobody is there to be told of the fault");

    uint64_t begin = clock_ticks();
    int code = gpu_launch_code(&launch);
    if (!code) code = gpu_stream_code(stream);
    uint64_t end = clock_ticks();

    gpu_code_last(); // what outlives this is the context's and not the runtime's
    answer->count = 3;
    answer->values[0] = clock_ns(end - begin);
    answer->values[1] = stamp_launch_prove(&stamps) == GPU_OK;
    answer->values[2] = code != 0;
    snprintf(answer->detail, sizeof answer->detail, "error=%s", code ? gpu_code_name(code) : "none");
    return GPU_OK;
}

// Only a signal that came after the probe's word, its last before the faulting launch, is the fault's doing.
static enum gpu_status measure_fault(struct bench_case *c, unsigned samples, double *values)
{
    static struct probe_answer answer;
    enum gpu_status status = gpu_fault_confined();
    if (!status) status = probe_run(c->variant, NULL, FAULT_TIMEOUT_S, &answer);
    if (status == GPU_FAILED && answer.crashed && answer.entered_ticks)
        return gpu_reason(GPU_UNSUPPORTED, "no process lives to be told of this fault: %s", gpu_error());
    if (status) return status;
    if (!answer.values[2]) return refusal_taken(c);
    values[0] = answer.values[0];
    values[samples] = answer.values[1];
    c->error_bound[0] = clock_cost_ns();
    snprintf(c->detail, sizeof c->detail, "%s", answer.detail);
    return GPU_OK;
}

// --- The plan ----------------------------------------------------------------------------------------------

static const struct bench_output failure_cost = {"failure_cost", "ns", "lower"};

static void add_refused(struct bench_plan *plan, unsigned kind)
{
    struct bench_case c = {.variant = kinds[kind].name,
                           .samples = 20,
                           .budget_share = 0.05,
                           .argument = kind,
                           .outputs = {failure_cost},
                           .measure = kind == STACK          ? measure_stack
                                      : kind == ALLOW_SHARED ? measure_allow_shared
                                                             : measure_launch};
    snprintf(c.params, sizeof c.params, "%s", kinds[kind].params);
    bench_add(plan, &c);
}

static void add_fault(struct bench_plan *plan, const struct fault *fault)
{
    struct bench_case c = {.variant = fault->name,
                           .once = true,
                           .processes = 1,
                           .outputs = {failure_cost, {"context_survived", "ratio", "none"}},
                           .measure = measure_fault};
    snprintf(c.params, sizeof c.params, "%s", fault->params);
    bench_add(plan, &c);
}

enum gpu_status refusal_plan(struct bench_plan *plan, bool quick)
{
    enum gpu_status status = open_stream();
    if (status) return status;
    for (unsigned kind = 0; kind < REFUSAL_KINDS; kind++)
        if (!quick || kinds[kind].quick) add_refused(plan, kind);
    for (unsigned f = 0; f < FAULTS && !quick; f++) add_fault(plan, &faults[f]);
    return GPU_OK;
}

void refusal_close(void)
{
    stamp_launch_close(&stamps);
    gpu_stream_destroy(stream);
}
