// SPDX-License-Identifier: Apache-2.0
// The way from the host's call into the device's queue: how much the queue takes, what a call costs while it fills and
// when it is full, how often the operating system is asked, and what environment variables change of it.
#include <stdio.h>
#include <string.h>

#include "backends/kernels/arguments.h"
#include "common/bench.h"
#include "common/call_counts.h"
#include "common/probe.h"
#include "common/queue.h"
#include "common/stats.h"

#define DECLARE(bytes) GPU_KERNEL(arguments_bytes_##bytes);
GPU_KERNEL(arguments_none);
ARGUMENTS_BYTES(DECLARE)
ARGUMENTS_BYTES_LARGE(DECLARE)

// FILL_BATCH: calls in a sample of submit; FULL_LEAD, FULL_BATCH: the same against a full queue. FULL_SPIN_NS: how long
// a kernel takes there, so much longer than a call that the queue stays full.
enum {
    FILL_BATCH = 20,
    FULL_LEAD = 100,
    FULL_BATCH = 200,
    FULL_SPIN_NS = 10000,
    FULL_ATTEMPTS = 20,
    DEPTH_SAMPLES = 3
};
enum { VARIANT_BATCH = 100, VARIANT_BATCHES = 11 };
static const double PROBE_TIMEOUT_S = 20, BUDGET_SHARE = 0.12;
#define FULL_PARAMS LAUNCH_PARAMS ";kernel=stamp;spin_ns=10000"

static struct chain chain;
static double clock_error_ns;

// --- queue_depth, blocked_return ---------------------------------------------------------------------------

// Recorded in turn: a driver may drop the record of an event that is recorded again.
struct marks {
    struct gpu_event *events[64];
    unsigned next;
};
enum { MARKS = sizeof((struct marks *)0)->events / sizeof(struct gpu_event *) };
static struct marks marks, marks_timed;
static uint32_t *copied; // two words of the device's
static struct gpu_launch command_launch;
static unsigned char arguments[32768];

static enum gpu_status submit_kernel(void *launch) { return gpu_launch_runtime(launch); }
static enum gpu_status submit_event(void *context)
{
    struct marks *recorded = context;
    return gpu_event_record(recorded->events[recorded->next++ % MARKS], chain.stream);
}
static enum gpu_status submit_copy(void *words)
{
    uint32_t *from = *(uint32_t **)words;
    return gpu_stream_copy(chain.stream, from + 1, from, sizeof *from);
}

static const struct command {
    const char *name;
    queue_submit *submit;
    void *context;
    const void *kernel; // NULL: none is launched
    unsigned argument_bytes;
} commands[] = {{"kernel", submit_kernel, &command_launch, gpu_kernel(arguments_none), 0},
                {"kernel", submit_kernel, &command_launch, gpu_kernel(arguments_bytes_1024), 1024},
                {"kernel", submit_kernel, &command_launch, gpu_kernel(arguments_bytes_4096), 4096},
                {"kernel", submit_kernel, &command_launch, gpu_kernel(arguments_bytes_32764), 32764},
                {"event", submit_event, &marks, NULL, 0},
                {"event_timed", submit_event, &marks_timed, NULL, 0},
                {"copy", submit_copy, &copied, NULL, 0}};
enum { COMMANDS = sizeof commands / sizeof *commands };

static enum gpu_status prepare_command(const struct command *command)
{
    if (!command->kernel) return GPU_OK;
    command_launch = chain.empty;
    command_launch.kernel = command->kernel;
    command_launch.argument = command->argument_bytes ? arguments : NULL;
    command_launch.argument_bytes = command->argument_bytes;
    return gpu_launch_prepare(&command_launch);
}

// queue_depth: how many calls had returned, behind a closed gate, when no more did. blocked_return: a second thread
// opens the gate; from its clock read before that until the call that was blocked has returned. The first attempt with
// a command does not count: it is the first to fill what the driver keeps for it.
static enum gpu_status measure_depth(struct bench_case *c, unsigned samples, double *values)
{
    const struct command *command = &commands[(int)c->argument];
    enum gpu_status status = prepare_command(command);
    for (unsigned attempt = 0; attempt <= samples && !status; attempt++) {
        struct queue_answer answer;
        status = queue_depth(&chain, command->submit, command->context, &answer);
        if (status || attempt == 0) continue;
        values[attempt - 1] = answer.depth;
        values[samples + attempt - 1] = answer.blocked_return_ns;
        double error_ns = clock_error_ns + answer.clocks_apart_ns;
        if (error_ns > c->error_bound[1]) c->error_bound[1] = error_ns;
    }
    return status ? status : stamp_launch_prove(&chain.stamps);
}

// Of kernels without arguments, measured once a process. Something that disturbed an attempt can only make it smaller.
static enum gpu_status known_depth(unsigned *depth)
{
    static unsigned known;
    for (int i = 0; i < DEPTH_SAMPLES && (!known || i); i++) {
        struct queue_answer answer;
        enum gpu_status status = queue_depth(&chain, submit_kernel, &chain.empty, &answer);
        if (status) return status;
        if (answer.depth > known) known = answer.depth;
    }
    *depth = known;
    return GPU_OK;
}

// --- submit over queue_fill --------------------------------------------------------------------------------

static enum gpu_status submit_many(const struct gpu_launch *launch, unsigned count)
{
    unsigned status = GPU_OK;
    for (unsigned i = 0; i < count; i++) status |= (unsigned)gpu_launch_runtime(launch);
    return launch_worst(status);
}

// Opens the gate and waits, whatever happened. The answer is STATUS's if it is not GPU_OK.
static enum gpu_status release(enum gpu_status status)
{
    enum gpu_status released = chain_release(&chain);
    return status ? status : released;
}

// submit: starts before the first of 20 calls and stops when the last has returned, over 20, behind a closed gate with
// so much of the queue filled that the middle one of them comes at the nominal fill.
static enum gpu_status measure_fill(struct bench_case *c, unsigned samples, double *values)
{
    unsigned depth, before;
    double elapsed_ns = 0;
    enum gpu_status status = known_depth(&depth);
    if (status) return status;
    before = (unsigned)(c->axis_value * depth);
    before = before > FILL_BATCH / 2 ? before - FILL_BATCH / 2 : 0;
    if (before + FILL_BATCH > depth)
        return gpu_reason(GPU_UNSUPPORTED, "a queue of %u is too short to be filled in part", depth);
    snprintf(c->detail, sizeof c->detail, "launches_before=%u;queue_depth=%u", before, depth);
    for (unsigned i = 0; i < samples && !status; i++) {
        status = chain_hold(&chain);
        if (!status) status = submit_many(&chain.empty, before);
        if (!status) status = launch_time_batch(&chain.empty, FILL_BATCH, gpu_launch_runtime, &elapsed_ns);
        status = release(status);
        values[i] = elapsed_ns / FILL_BATCH;
    }
    c->error_bound[0] = clock_error_ns / FILL_BATCH;
    return status ? status : stamp_launch_prove(&chain.stamps);
}

static struct gpu_launch busy;
static struct stamp_argument busy_argument;

// One batch against a queue of DEPTH busy kernels. *DRAIN_NS is how long the queue's rest took behind it: what it held.
static enum gpu_status time_full(unsigned depth, double *elapsed_ns, double *drain_ns)
{
    struct stamp stamp;
    busy_argument.sequence++;
    enum gpu_status status = chain_hold(&chain);
    if (!status) status = submit_many(&busy, depth > 8 ? depth - 8 : 1); // the rest comes with the lead
    chain_let_go(&chain);
    if (!status) status = submit_many(&busy, FULL_LEAD);
    if (!status) status = launch_time_batch(&busy, FULL_BATCH, gpu_launch_runtime, elapsed_ns);
    uint64_t begin = clock_ticks();
    status = release(status);
    *drain_ns = clock_ns(clock_ticks() - begin);
    if (!status) status = gpu_read(&stamp, busy_argument.out, sizeof stamp);
    if (status) return status;
    bool ran =
        stamp.sequence == busy_argument.sequence && stamp.end_ticks - stamp.begin_ticks >= busy_argument.spin_ticks;
    return ran ? GPU_OK : gpu_reason(GPU_FAILED, "the kernels that were to fill the queue did not run");
}

// submit at fill 1: the queue is full of kernels that run for 10 µs each, so that each call waits for the end of one:
// back-pressure. The clock starts before the first of 200 calls and stops when the last has returned, over 200. A
// batch behind which the queue was not full is none: its calls did not wait.
static enum gpu_status measure_full(struct bench_case *c, unsigned samples, double *values)
{
    unsigned depth;
    enum gpu_status status = known_depth(&depth);
    if (status) return status;
    busy = chain.stamps.launch;
    busy.argument = &busy_argument;
    busy_argument.out = chain.stamps.device;
    busy_argument.spin_ticks = (uint64_t)(FULL_SPIN_NS / gpu_clock_ns_per_tick());
    status = gpu_launch_prepare(&busy);
    snprintf(c->detail, sizeof c->detail, "queue_depth=%u", depth);
    for (unsigned i = 0; i < samples && !status; i++) {
        double elapsed_ns = 0, drain_ns = 0;
        int attempts = FULL_ATTEMPTS;
        do status = time_full(depth, &elapsed_ns, &drain_ns);
        while (!status && drain_ns < FULL_SPIN_NS * 0.9 * depth && --attempts);
        if (!status && !attempts)
            status =
                gpu_reason(GPU_UNSUPPORTED, "calls are no faster than kernels of %d ns: the queue does not stay full",
                           FULL_SPIN_NS);
        values[i] = elapsed_ns / FULL_BATCH;
    }
    c->error_bound[0] = clock_error_ns / FULL_BATCH;
    return status ? status : stamp_launch_prove(&chain.stamps);
}

// --- period ------------------------------------------------------------------------------------------------

// period: starts before the first of a burst of calls into an idle device and stops when the host knows that all have
// ended, over their count.
static enum gpu_status measure_burst(struct bench_case *c, unsigned samples, double *values)
{
    unsigned launches = (unsigned)c->axis_value;
    unsigned status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        uint64_t begin = clock_ticks();
        for (unsigned k = 0; k < launches; k++) status |= (unsigned)gpu_launch_runtime(&chain.empty);
        status |= (unsigned)gpu_stream_synchronize(chain.stream);
        uint64_t end = clock_ticks();
        values[i] = clock_ns(end - begin) / launches;
    }
    c->error_bound[0] = clock_error_ns / launches;
    return status ? launch_worst(status) : stamp_launch_prove(&chain.stamps);
}

// --- Variants of the environment ---------------------------------------------------------------------------

// context_creation: from before gpu_open, the driver having answered gpu_count, until it has returned. queue_depth: as
// above, of empty kernels, the largest of three. submit: as elsewhere, batches of 100 into an empty queue; the median.
static enum gpu_status probe_queue(struct probe_answer *answer)
{
    unsigned devices;
    double batches[VARIANT_BATCHES];
    enum gpu_status status = gpu_count(&devices);
    uint64_t begin = clock_ticks();
    if (!status) status = gpu_open(answer->device);
    uint64_t end = clock_ticks();
    if (!status) status = chain_open(&chain);
    unsigned depth = 0;
    if (!status) status = known_depth(&depth);
    for (unsigned i = 0; i < VARIANT_BATCHES && !status; i++) {
        status = launch_time_batch(&chain.empty, VARIANT_BATCH, gpu_launch_runtime, &batches[i]);
        status = launch_drain(chain.stream, status);
    }
    if (!status) status = stamp_launch_prove(&chain.stamps);
    if (status) return status;
    stats_sort(batches, VARIANT_BATCHES);
    answer->values[0] = depth;
    answer->values[1] = stats_quantile(batches, VARIANT_BATCHES, 0.5) / VARIANT_BATCH;
    answer->values[2] = clock_ns(end - begin);
    answer->count = 3;
    return GPU_OK;
}

// Variant −1 is the environment as it is.
static enum gpu_status measure_variant(struct bench_case *c, unsigned samples, double *values)
{
    struct probe_answer answer = {0};
    const struct gpu_variant *variant = c->argument < 0 ? NULL : &gpu_queue_variants[(int)c->argument];
    for (unsigned i = 0; i < samples; i++) {
        enum gpu_status status = probe_run("queue", variant ? variant->environment : NULL, PROBE_TIMEOUT_S, &answer);
        if (status) return status;
        for (unsigned o = 0; o < 3 && c->outputs[o].metric; o++) values[o * samples + i] = answer.values[o];
    }
    c->error_bound[1] = clock_error_ns / VARIANT_BATCH;
    c->error_bound[2] = clock_error_ns;
    return GPU_OK;
}

static enum gpu_status probe(const char *name, struct probe_answer *answer)
{
    return strcmp(name, "queue") ? call_counts_probe(answer) : probe_queue(answer);
}

// --- The plan ----------------------------------------------------------------------------------------------

static void add_depth(struct bench_plan *plan, unsigned index)
{
    const struct command *command = &commands[index];
    struct bench_case c = {
        .variant = "runtime",
        .argument = index,
        .once = true,
        .samples = DEPTH_SAMPLES,
        .measure = measure_depth,
        .outputs = {{"queue_depth", "count", "none", "count"}, {"blocked_return", "ns", "lower", "distribution"}}};
    snprintf(c.params, sizeof c.params, command->kernel ? LAUNCH_PARAMS ";command=%s" : "command=%s", command->name);
    if (command->kernel) c.axis = "argument_bytes", c.axis_value = command->argument_bytes;
    bench_add(plan, &c);
}

static void add_fill(struct bench_plan *plan, double fill)
{
    bool full = fill == 1;
    struct bench_case c = {.variant = "runtime",
                           .axis = "queue_fill",
                           .axis_value = fill,
                           .batch = full ? FULL_BATCH : FILL_BATCH,
                           .samples = full ? 2 : 4,
                           .budget_share = BUDGET_SHARE,
                           .measure = full ? measure_full : measure_fill,
                           .outputs = {{"submit", "ns", "lower"}}};
    snprintf(c.params, sizeof c.params, "%s", full ? FULL_PARAMS : LAUNCH_PARAMS);
    bench_add(plan, &c);
}

static void add_burst(struct bench_plan *plan, unsigned launches)
{
    bool long_one = launches >= 10000;
    struct bench_case c = {.variant = "runtime",
                           .params = LAUNCH_PARAMS,
                           .axis = "launches",
                           .axis_value = launches,
                           .batch = launches,
                           .samples = long_one           ? 1
                                      : launches >= 1000 ? 2
                                                         : 10,
                           .no_warm_up = long_one,
                           .once = launches > 10000, // it takes 0.4 s
                           .processes = launches > 10000 ? 1 : 0,
                           .budget_share = BUDGET_SHARE,
                           .measure = measure_burst,
                           .outputs = {{"period", "ns", "lower", "distribution"}}};
    bench_add(plan, &c);
}

// What changes the queue's depth alone has that measured, once: it is a count that does not vary.
static void add_variant(struct bench_plan *plan, int index)
{
    const struct gpu_variant *variant = index < 0 ? NULL : &gpu_queue_variants[index];
    struct bench_case c = {.variant = variant ? variant->name : "default",
                           .params = LAUNCH_PARAMS,
                           .argument = index,
                           .once = true,
                           .measure = measure_variant,
                           .outputs = {{"queue_depth", "count", "none", "count"},
                                       {"submit", "ns", "lower"},
                                       {"context_creation", "ns", "lower"}}};
    if (variant && !variant->connections) c.processes = 1, c.outputs[1].metric = NULL;
    for (int k = 0; variant && variant->environment[k]; k++)
        snprintf(c.detail + strlen(c.detail), sizeof c.detail - strlen(c.detail), "%s%s", k ? ";" : "",
                 variant->environment[k]);
    bench_add(plan, &c);
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    static const double fills[] = {0, 0.125, 0.25, 0.5, 0.75, 0.9, 1};
    void *memory;
    enum gpu_status status = chain_open(&chain);
    for (unsigned i = 0; i < MARKS && !status; i++) {
        status = gpu_event_create(&marks.events[i], false);
        if (!status) status = gpu_event_create(&marks_timed.events[i], true);
    }
    if (!status) status = gpu_alloc(&memory, 2 * sizeof *copied);
    if (status) return status;
    copied = memory;
    clock_error_ns = clock_cost_ns();

    for (unsigned i = 0; i < (quick ? 1 : COMMANDS); i++) add_depth(plan, i);
    for (unsigned i = 0; i < sizeof fills / sizeof *fills; i++)
        if (!quick || fills[i] == 0 || fills[i] == 0.5 || fills[i] == 1) add_fill(plan, fills[i]);
    for (unsigned launches = 1; launches <= (quick ? 100 : 100000); launches *= quick ? 100 : 10)
        add_burst(plan, launches);
    call_counts_plan(plan);
    for (int v = -1; !quick && (v < 0 || gpu_queue_variants[v].name); v++) add_variant(plan, v);
    return GPU_OK;
}

static void teardown(void)
{
    gpu_free(copied);
    for (unsigned i = 0; i < MARKS; i++) {
        gpu_event_destroy(marks_timed.events[i]);
        gpu_event_destroy(marks.events[i]);
    }
    chain_close(&chain);
}

const struct benchmark submission_benchmark = {
    .name = "submission",
    .summary = "the queue's depth, submit over its fill, bursts, system calls, and what the environment changes",
    .source = "claim C3",
    .seconds = 9,
    .quick_seconds = 1.2,
    .setup = setup,
    .teardown = teardown,
    .probe = probe,
};
