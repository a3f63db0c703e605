// SPDX-License-Identifier: Apache-2.0
// What it costs a kernel that its code is not in the multiprocessor: cycles of each pass through straight code, cold
// and warm, and the whole that a cold start adds.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu_kernel.h"
#include "backends/kernels/instruction_cache.h"
#include "common/bench.h"
#include "common/launch.h"
#include "common/stats.h"
#include "common/sweep.h"
#include "common/sync.h"

GPU_KERNEL(straight_evictor);
GPU_KERNEL(load_lines);
#define DECLARE(kibibytes) GPU_KERNEL(straight_##kibibytes);
STRAIGHT_KIBIBYTES(DECLARE)

static struct code {
    unsigned kibibytes;
    const void *kernel;
    const char *name;
    size_t bytes;                      // as built; 0: not known
    struct gpu_outcome bytes_outcome;  // why not
    struct gpu_launch one, everywhere; // one block, and one on each multiprocessor
    struct gpu_launch maker;           // as everywhere, for the state after itself
    unsigned long_passes; // with which one block takes LONG_NS or more when warm, in the median; 0: not known
    double loaded_cycles_per_instruction; // of its first launch in this process
} codes[] = {
#define CODE(kibibytes) {kibibytes, gpu_kernel(straight_##kibibytes), "straight_" #kibibytes},
    STRAIGHT_KIBIBYTES(CODE)};
enum { CODES = sizeof codes / sizeof *codes, EVICTOR_THREADS = 128 };

// What comes right before the kernel, but for one stamping launch that tells when it ended.
enum state { AFTER_ITSELF, AFTER_EVICTOR, AFTER_SWEEP, STATES };
static const char *const state_names[] = {"after_itself", "after_evictor", "after_sweep"};

static const double LONG_NS = 10e3;

static struct chain chain;
static struct straight_argument argument, maker_argument = {.passes = 1};
static struct sweep sweep;
static struct load_lines_argument lines_argument;
static struct gpu_launch evictor, load_lines;
static struct straight_stamp *stamps; // one a multiprocessor, here
static unsigned multiprocessors;

// --- One launch in a known state ---------------------------------------------------------------------------

// Brings the COUNT stamps at OUT, all of which are to be of launch SEQUENCE.
static enum gpu_status read_stamps(const struct straight_stamp *out, unsigned count, uint64_t sequence)
{
    enum gpu_status status = gpu_read(stamps, out, count * sizeof *stamps);
    return status ? status : launch_check_stamps(&stamps->sequence, sizeof *stamps, count, sequence);
}

// Makes the state. The sweep comes before the evictor, whose code is what the shared cache may then hold of code.
static enum gpu_status submit_state(const struct code *code, enum state state)
{
    enum gpu_status status = GPU_OK;
    maker_argument.sequence++;
    if (state == AFTER_ITSELF) return gpu_launch_runtime(&code->maker);
    if (state == AFTER_SWEEP) status = sweep_submit(&sweep);
    return status ? status : gpu_launch_runtime(&evictor);
}

static enum gpu_status prove_state(enum state state)
{
    enum gpu_status status = read_stamps(maker_argument.out, multiprocessors, maker_argument.sequence);
    return status || state != AFTER_SWEEP ? status : sweep_prove(&sweep);
}

// Runs CODE with so many passes in STATE; the kernel that makes the state, the stamp and it are in the queue before a
// gate opens. *WHOLE_NS: from the stamp's last clock read to the code's.
static enum gpu_status run(const struct code *code, const struct gpu_launch *launch, enum state state, unsigned passes,
                           double *whole_ns)
{
    argument.passes = passes;
    argument.sequence++;
    stamp_launch_reset(&chain.stamps);
    enum gpu_status status = chain_hold(&chain);
    if (!status) status = submit_state(code, state);
    stamp_launch_aim(&chain.stamps);
    if (!status) status = gpu_launch_runtime(&chain.stamps.launch);
    if (!status) status = gpu_launch_runtime(launch);
    enum gpu_status released = chain_release(&chain);
    if (!status) status = released ? released : stamp_launch_read(&chain.stamps);
    if (!status) status = prove_state(state);
    if (!status) status = read_stamps(argument.out, launch->grid[0], argument.sequence);
    if (status) return status;
    uint64_t end = 0;
    for (unsigned b = 0; b < launch->grid[0]; b++)
        if (stamps[b].end_ticks > end) end = stamps[b].end_ticks;
    *whole_ns = (double)(end - chain.stamps.stamp[0].end_ticks) * gpu_clock_ns_per_tick();
    return GPU_OK;
}

// Of the blocks of the last run, the median.
static double cycles_per_instruction(unsigned blocks, unsigned pass)
{
    static double cycles[MULTIPROCESSORS_MAX];
    for (unsigned b = 0; b < blocks; b++) cycles[b] = (double)stamps[b].cycles[pass] / stamps[b].instructions;
    stats_sort(cycles, blocks);
    return stats_quantile(cycles, blocks, 0.5);
}

// --- cycles_per_instruction --------------------------------------------------------------------------------

static struct point {
    struct code *code;
    enum state state;
    unsigned pass;
    bool everywhere;
} points[CODES * 9];
static unsigned point_count;

static enum gpu_status tell_bytes(struct bench_case *c, const struct code *code)
{
    if (!code->bytes) return gpu_outcome_tell(&code->bytes_outcome);
    snprintf(c->detail, sizeof c->detail, "code_bytes=%zu", code->bytes);
    return GPU_OK;
}

// cycles_per_instruction: of one pass through the straight code, from the cycle count before its first instruction to
// that behind its last, over the instructions between them; the reads themselves are in it. With blocks everywhere the
// median of the multiprocessors.
static enum gpu_status measure_cycles(struct bench_case *c, unsigned samples, double *values)
{
    const struct point *point = &points[(int)c->argument];
    const struct gpu_launch *launch = point->everywhere ? &point->code->everywhere : &point->code->one;
    double whole_ns;
    enum gpu_status status = tell_bytes(c, point->code);
    for (unsigned i = 0; i < samples && !status; i++) {
        status = run(point->code, launch, point->state, point->pass + 1, &whole_ns);
        if (!status) values[i] = cycles_per_instruction(launch->grid[0], point->pass);
    }
    return status;
}

// The same of the first launch since the code was loaded.
static enum gpu_status measure_loaded(struct bench_case *c, unsigned samples, double *values)
{
    const struct code *code = points[(int)c->argument].code;
    (void)samples;
    values[0] = code->loaded_cycles_per_instruction;
    return tell_bytes(c, code);
}

// cold_cost: from the end of the stamping launch before to the last clock read of one pass, less the same after itself:
// what a cold start adds in all, with the fetch before the kernel's first instruction.
static enum gpu_status measure_cold(struct bench_case *c, unsigned samples, double *values)
{
    const struct point *point = &points[(int)c->argument];
    enum gpu_status status = tell_bytes(c, point->code);
    for (unsigned i = 0; i < samples && !status; i++) {
        double warm_ns = 0, cold_ns = 0;
        status = run(point->code, &point->code->one, AFTER_ITSELF, 1, &warm_ns);
        if (!status) status = run(point->code, &point->code->one, point->state, 1, &cold_ns);
        values[i] = cold_ns - warm_ns;
    }
    c->error_bound[0] = 2 * sync_device_resolution_ns();
    return status;
}

// Runs so many passes when warm a few times; the median of what they take.
static enum gpu_status median_warm(const struct code *code, unsigned passes, double *ns)
{
    enum { RUNS = 5 };
    double all[RUNS];
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < RUNS && !status; i++) status = run(code, &code->one, AFTER_ITSELF, passes, &all[i]);
    if (status) return status;
    stats_sort(all, RUNS);
    *ns = stats_quantile(all, RUNS, 0.5);
    return GPU_OK;
}

// Finds LONG_PASSES from what a pass takes when warm, and the first one with all that is around it; a pass more as long
// as the whole is too short.
static enum gpu_status find_long_passes(struct code *code)
{
    enum { MORE = 8 };
    double first_ns = 0, all_ns = 0;
    enum gpu_status status = median_warm(code, 1, &first_ns);
    if (!status) status = median_warm(code, 1 + MORE, &all_ns);
    if (status) return status;
    const double pass_ns = fmax((all_ns - first_ns) / MORE, 1);
    unsigned passes = 1 + (unsigned)ceil(fmax(LONG_NS - first_ns, 0) / pass_ns);
    while (!(status = median_warm(code, passes, &all_ns)) && all_ns < LONG_NS)
        passes += 1 + (unsigned)((LONG_NS - all_ns) / pass_ns);
    if (!status) code->long_passes = passes;
    return status;
}

// slowdown: a kernel that takes 10 us when warm, from the end of the stamping launch before to its last clock read,
// over the same after itself; which of the two is first alternates.
static enum gpu_status measure_slowdown(struct bench_case *c, unsigned samples, double *values)
{
    const struct point *point = &points[(int)c->argument];
    struct code *code = point->code;
    double ns[2] = {0, 0}; // warm and cold
    const double step_ns = 2 * sync_device_resolution_ns();
    enum gpu_status status = code->long_passes ? GPU_OK : find_long_passes(code);
    for (unsigned i = 0; i < samples && !status; i++) {
        for (unsigned k = 0; k < 2 && !status; k++) {
            const unsigned cold = (i + k) % 2;
            status = run(code, &code->one, cold ? point->state : AFTER_ITSELF, code->long_passes, &ns[cold]);
        }
        values[i] = ns[1] / ns[0];
        c->error_bound[0] = fmax(c->error_bound[0], (1 + values[i]) * step_ns / ns[0]);
    }
    if (status) return status;
    snprintf(c->detail, sizeof c->detail, "passes=%u;warm_ns=%.0f", code->long_passes, ns[0]);
    return GPU_OK;
}

// --- What follows from all sizes ---------------------------------------------------------------------------

static const struct fit {
    enum state state;
    unsigned from_kibibytes, to_kibibytes;
    const char *params;
} fits[] = {{AFTER_EVICTOR, 4, 64, "block_threads=32;blocks=1;code_bytes=4096..65536"},
            {AFTER_EVICTOR, 128, 512, "block_threads=32;blocks=1;code_bytes=131072..524288"},
            {AFTER_SWEEP, 4, 64, "block_threads=32;blocks=1;code_bytes=4096..65536"},
            {AFTER_SWEEP, 128, 512, "block_threads=32;blocks=1;code_bytes=131072..524288"}};

// fetch_per_byte: the slope over the code's size of the time from the end of the stamping launch before to the last
// clock read of one pass, by least squares through all sizes of a range.
static enum gpu_status measure_fit(struct bench_case *c, unsigned samples, double *values)
{
    const struct fit *fit = &fits[(int)c->argument];
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        double bytes[CODES], whole_ns[CODES];
        unsigned count = 0;
        for (unsigned k = 0; k < CODES && !status; k++) {
            if (codes[k].kibibytes < fit->from_kibibytes || codes[k].kibibytes > fit->to_kibibytes) continue;
            bytes[count] = codes[k].kibibytes * 1024.0;
            status = run(&codes[k], &codes[k].one, fit->state, 1, &whole_ns[count++]);
        }
        if (!status) values[i] = stats_slope(bytes, whole_ns, count);
    }
    c->error_bound[0] = 2 * sync_device_resolution_ns() / ((fit->to_kibibytes - fit->from_kibibytes) * 1024.0);
    return status;
}

// capacity: the largest code whose second pass takes no more than a quarter longer than the smallest of its level
// takes; the next larger one is the smallest of the next level. A level without a larger one above it has no capacity
// here.
static enum gpu_status measure_capacity(struct bench_case *c, unsigned samples, double *values)
{
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        double cycles[CODES], whole_ns;
        for (unsigned k = 0; k < CODES && !status; k++) {
            status = run(&codes[k], &codes[k].one, AFTER_ITSELF, 2, &whole_ns);
            if (!status) cycles[k] = cycles_per_instruction(1, 1);
        }
        unsigned level = 1, smallest = 0, k = 1;
        for (; k < CODES && !status; k++) {
            if (cycles[k] <= 1.25 * cycles[smallest]) continue;
            if (level == (unsigned)c->argument) break;
            level++;
            smallest = k;
        }
        if (!status && k == CODES)
            return gpu_reason(GPU_UNSUPPORTED, "no code up to %u KiB is too large for level %.0f",
                              codes[CODES - 1].kibibytes, c->argument);
        values[i] = codes[k - 1].kibibytes * 1024.0;
    }
    return status;
}

// load: the cycles of one load of those that depend on each other, just read by the kernel before (after_itself), and
// after the sweep: that this takes longer proves that the sweep leaves nothing in the cache that all share.
static enum gpu_status measure_load(struct bench_case *c, unsigned samples, double *values)
{
    const bool swept = (int)c->argument == AFTER_SWEEP;
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        lines_argument.out = maker_argument.out;
        lines_argument.sequence = ++maker_argument.sequence;
        status = chain_hold(&chain);
        if (!status) status = gpu_launch_runtime(&load_lines);
        if (!status && swept) status = sweep_submit(&sweep);
        lines_argument.out = argument.out;
        lines_argument.sequence = ++argument.sequence;
        if (!status) status = gpu_launch_runtime(&load_lines);
        enum gpu_status released = chain_release(&chain);
        if (!status) status = released ? released : read_stamps(argument.out, 1, argument.sequence);
        values[i] = (double)stamps[0].cycles[0] / LINE_LOADS;
        if (!status) status = read_stamps(maker_argument.out, 1, maker_argument.sequence);
        if (!status && swept) status = sweep_prove(&sweep);
    }
    return status;
}

// --- The plan ----------------------------------------------------------------------------------------------

static void add(struct bench_plan *plan, struct bench_case c, struct point point)
{
    if (point_count == sizeof points / sizeof *points) abort();
    points[point_count] = point;
    c.argument = point_count++;
    if (!c.variant) c.variant = state_names[point.state];
    c.axis = "code_bytes";
    c.axis_value = point.code->kibibytes * 1024;
    if (!c.once) c.samples = 8;
    c.budget_share = 0.06;
    bench_add(plan, &c);
}

static void add_cycles(struct bench_plan *plan, struct point point)
{
    struct bench_case c = {.measure = measure_cycles, .outputs = {{"cycles_per_instruction", "cycles", "lower"}}};
    snprintf(c.params, sizeof c.params, "block_threads=32;blocks=%s;pass=%u",
             point.everywhere ? "multiprocessors" : "1", point.pass);
    add(plan, c, point);
}

static void add_code(struct bench_plan *plan, struct code *code, bool quick)
{
    const bool power = (code->kibibytes & (code->kibibytes - 1)) == 0;
    const double resolution = 2 * sync_device_resolution_ns();
    add_cycles(plan, (struct point){code, AFTER_ITSELF, 0, false});
    for (unsigned pass = 0; pass < (quick ? 2 : power ? 3 : 2); pass++)
        add_cycles(plan, (struct point){code, AFTER_EVICTOR, pass, false});
    if (quick) return;
    add_cycles(plan, (struct point){code, AFTER_SWEEP, 0, false});
    if (!power) return;
    struct bench_case loaded = {.variant = "after_load",
                                .params = "block_threads=32;blocks=1;pass=0",
                                .once = true,
                                .no_warm_up = true,
                                .measure = measure_loaded,
                                .outputs = {{"cycles_per_instruction", "cycles", "lower", "once"}}};
    add(plan, loaded, (struct point){code, AFTER_ITSELF, 0, false});
    for (enum state state = AFTER_EVICTOR; state < STATES; state++) {
        struct bench_case cold = {.params = "block_threads=32;blocks=1",
                                  .measure = measure_cold,
                                  .outputs = {{"cold_cost", "ns", "lower", .resolution = resolution}}};
        add(plan, cold, (struct point){code, state, 0, false});
        struct bench_case slow = {.params = "block_threads=32;blocks=1;warm_ns=10000",
                                  .measure = measure_slowdown,
                                  .outputs = {{"slowdown", "ratio", "lower", .resolution = resolution / LONG_NS}}};
        if (code->kibibytes >= 4 && code->kibibytes <= 128) add(plan, slow, (struct point){code, state, 0, false});
    }
    if ((code->kibibytes == 8 || code->kibibytes == 64 || code->kibibytes == 512) && multiprocessors > 1)
        add_cycles(plan, (struct point){code, AFTER_EVICTOR, 0, true});
}

static enum gpu_status open_codes(void)
{
    enum gpu_status status = GPU_OK;
    double whole_ns;
    for (unsigned i = 0; i < CODES && !status; i++) {
        struct code *code = &codes[i];
        status =
            launch_prepare(&code->one, code->kernel, 1, LAUNCH_BLOCK_THREADS, &argument, sizeof argument, chain.stream);
        if (!status)
            status = launch_prepare(&code->everywhere, code->kernel, multiprocessors, LAUNCH_BLOCK_THREADS, &argument,
                                    sizeof argument, chain.stream);
        if (!status)
            status = launch_prepare(&code->maker, code->kernel, multiprocessors, LAUNCH_BLOCK_THREADS, &maker_argument,
                                    sizeof maker_argument, chain.stream);
        argument.passes = 1;
        argument.sequence++;
        if (!status) status = launch_drain(chain.stream, gpu_launch_runtime(&code->one));
        if (!status) status = read_stamps(argument.out, 1, argument.sequence);
        if (status) return status;
        code->loaded_cycles_per_instruction = cycles_per_instruction(1, 0);
        if (gpu_outcome_keep(&code->bytes_outcome, gpu_kernel_code_bytes(code->name, &code->bytes))) code->bytes = 0;
        else if (code->bytes < STRAIGHT_BYTES(code->kibibytes))
            return gpu_reason(GPU_FAILED, "%s has %zu bytes of code: the compiler left some out", code->name,
                              code->bytes);
    }
    // Loads the code of what makes the states, before a gate is closed.
    if (!status) status = launch_drain(chain.stream, gpu_launch_runtime(&load_lines));
    const enum state all_there_are = sweep.unsupported.status ? AFTER_EVICTOR : AFTER_SWEEP;
    return status ? status : run(&codes[0], &codes[0].one, all_there_are, 1, &whole_ns);
}

static enum gpu_status allocate(void)
{
    void *out, *made, *lines;
    multiprocessors = gpu_multiprocessors();
    if (multiprocessors > MULTIPROCESSORS_MAX) multiprocessors = MULTIPROCESSORS_MAX;
    enum gpu_status status = gpu_alloc(&out, multiprocessors * sizeof *stamps);
    if (!status) status = gpu_alloc(&made, multiprocessors * sizeof *stamps);
    if (!status) status = gpu_alloc(&lines, LINE_LOADS * LINE_WORDS * sizeof(uint64_t));
    if (status) return status;
    stamps = calloc(multiprocessors, sizeof *stamps);
    if (!stamps) return gpu_reason(GPU_FAILED, "no memory for the stamps of %u multiprocessors", multiprocessors);
    argument.out = out;
    lines_argument = (struct load_lines_argument){.out = out, .words = lines};
    maker_argument.out = made;
    return GPU_OK;
}

static void add_summary(struct bench_plan *plan)
{
    for (unsigned f = 0; f < sizeof fits / sizeof *fits; f++) {
        struct bench_case c = {.variant = state_names[fits[f].state],
                               .samples = 6,
                               .budget_share = 0.2,
                               .argument = f,
                               .measure = measure_fit,
                               .outputs = {{"fetch_per_byte", "ns_per_byte", "lower", "fit"}}};
        strcpy(c.params, fits[f].params);
        bench_add(plan, &c);
    }
    for (unsigned level = 1; level <= 2; level++) {
        struct bench_case c = {.variant = state_names[AFTER_ITSELF],
                               .samples = 2,
                               .rounds = 6,
                               .argument = level,
                               .measure = measure_capacity,
                               .outputs = {{"capacity", "bytes", "none", "fit"}}};
        snprintf(c.params, sizeof c.params, "block_threads=32;blocks=1;level=%u;pass=1", level);
        bench_add(plan, &c);
    }
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    enum gpu_status status = sync_open();
    if (!status) status = chain_open(&chain);
    if (!status) status = allocate();
    if (!status)
        status = launch_prepare(&evictor, gpu_kernel(straight_evictor), multiprocessors, EVICTOR_THREADS,
                                &maker_argument, sizeof maker_argument, chain.stream);
    if (!status) status = sweep_open(&sweep, chain.stream);
    if (!status)
        status = launch_prepare(&load_lines, gpu_kernel(load_lines), 1, LAUNCH_BLOCK_THREADS, &lines_argument,
                                sizeof lines_argument, chain.stream);
    if (!status) status = open_codes();
    if (status) return status;
    for (unsigned i = 0; i < CODES; i++)
        if (!quick || codes[i].kibibytes == 4 || codes[i].kibibytes == 64 || codes[i].kibibytes == 512)
            add_code(plan, &codes[i], quick);
    if (!quick) add_summary(plan);
    for (enum state state = AFTER_ITSELF; state < STATES; state++)
        if (state != AFTER_EVICTOR)
            bench_add(plan, &(struct bench_case){.variant = state_names[state],
                                                 .params = LAUNCH_PARAMS,
                                                 .samples = 8,
                                                 .budget_share = 0.06,
                                                 .argument = state,
                                                 .measure = measure_load,
                                                 .outputs = {{"load", "cycles", "lower"}}});
    return GPU_OK;
}

static void teardown(void)
{
    sweep_close(&sweep);
    gpu_free(maker_argument.out);
    gpu_free((void *)(uintptr_t)lines_argument.words);
    gpu_free(argument.out);
    free(stamps);
    chain_close(&chain);
    sync_close();
}

const struct benchmark instruction_cache_benchmark = {
    .name = "instruction_cache",
    .summary = "what code that is not in the multiprocessor costs: cycles an instruction, cold and warm, over its size",
    .source = "claim C8",
    .seconds = 5,
    .quick_seconds = 0.7,
    .setup = setup,
    .teardown = teardown,
};
