// SPDX-License-Identifier: Apache-2.0
// Which part of a pattern that one kernel left another one finds. See survival.h.
#include "common/survival.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "backends/gpu_kernel.h"
#include "common/launch.h"

GPU_KERNEL(survival_leave);
GPU_KERNEL(survival_look);
GPU_KERNEL(survival_either);
GPU_KERNEL(survival_whole);
GPU_KERNEL(survival_leave_memory);
GPU_KERNEL(survival_look_memory);

enum { MEMORY_BYTES = 64 << 20, MEMORY_WORDS = MEMORY_BYTES / 4, SHARED_PERCENT = 100 };
enum { BLOCKS_WHERE_NONE_ALLOTTED = 16 }; // a multiprocessor: whoever is free takes one, and each is to have some
static const double PROBE_LIMIT_S = 10, MEET_LIMIT_S = 8;
static const double CHANCE = 0x1p-32; // that a word which nobody left matches

enum half { FIRST, SECOND, HALVES };

static struct survival {
    struct gpu_stream *stream;
    struct survival_argument argument;
    struct gpu_launch launches[SURVIVAL_KERNELS];
    struct gpu_outcome allotted; // whether blocks are allotted shared memory
    struct gpu_outcome whole;    // whether one can have all of it
    size_t whole_bytes;
    unsigned blocks;
    struct survival_stamp *out, *stamps; // of both halves: the device's, and here
    uint64_t sequence[HALVES];           // of the last launch of each half; none of two launches have the same
    unsigned launched[HALVES];           // its blocks
    double words_each[HALVES];           // a block's shared memory
} survival;

enum gpu_status survival_seed(uint32_t *seed)
{
    do
        if (getrandom(seed, sizeof *seed, 0) != sizeof *seed) return gpu_reason(GPU_FAILED, "no random numbers here");
    while (!*seed);
    return GPU_OK;
}

// --- Launches ----------------------------------------------------------------------------------------------

static enum gpu_status submit(enum survival_kernel kernel, enum survival_action action, uint32_t seed, enum half half)
{
    survival.argument.out = survival.out + half * survival.blocks;
    survival.argument.sequence = survival.sequence[half] = survival.sequence[FIRST] + survival.sequence[SECOND] + 1;
    survival.argument.seed = seed;
    survival.argument.action = action;
    if (kernel == WHOLE) survival.argument.count = survival.whole_bytes / sizeof(uint32_t);
    survival.launched[half] = survival.launches[kernel].grid[0];
    survival.words_each[half] = kernel == WHOLE ? (double)survival.argument.count : SURVIVAL_WORDS;
    return gpu_launch_runtime(&survival.launches[kernel]);
}

// Waits for the stream and brings the stamps of HALF, all of which are to be of its last launch.
static enum gpu_status stamps_of(enum half half, enum gpu_status status, const struct survival_stamp **stamps)
{
    const size_t first = half * survival.blocks;
    *stamps = survival.stamps + first;
    status = launch_drain(survival.stream, status);
    if (!status)
        status = gpu_read(survival.stamps + first, survival.out + first, survival.launched[half] * sizeof **stamps);
    return status ? status
                  : launch_check_stamps(&(*stamps)->sequence, sizeof **stamps, survival.launched[half],
                                        survival.sequence[half]);
}

static unsigned matching(const struct survival_stamp *stamp)
{
    unsigned words = 0;
    for (unsigned t = 0; t < SURVIVAL_THREADS; t++) words += stamp->matching[t];
    return words;
}

static enum gpu_status note_left(enum gpu_status status, struct survival_left *left)
{
    const struct survival_stamp *stamps;
    status = stamps_of(FIRST, status, &stamps);
    memset(left->on, 0, sizeof left->on);
    for (unsigned b = 0; b < survival.launched[FIRST] && !status; b++) {
        if (stamps[b].multiprocessor >= MULTIPROCESSORS_MAX)
            return gpu_reason(GPU_UNSUPPORTED, "kernels cannot tell here which multiprocessor they run on");
        left->on[stamps[b].multiprocessor] = 1;
    }
    return status;
}

static enum gpu_status count_found(enum gpu_status status, const struct survival_left *left, double *survived,
                                   char *detail)
{
    const struct survival_stamp *stamps;
    double found = 0;
    unsigned looked = 0;
    status = stamps_of(SECOND, status, &stamps);
    for (unsigned b = 0; b < survival.launched[SECOND] && !status; b++) {
        const unsigned multiprocessor = stamps[b].multiprocessor;
        if (multiprocessor >= MULTIPROCESSORS_MAX || !left->on[multiprocessor]) continue;
        found += matching(&stamps[b]);
        looked++;
    }
    if (status) return status;
    if (!looked)
        return gpu_reason(GPU_UNSUPPORTED, "no block looked on a multiprocessor where one had left the pattern");
    *survived = found / looked / survival.words_each[SECOND];
    if (detail)
        snprintf(detail, BENCH_DETAIL_BYTES, "blocks=%u;dropped_blocks=%u", looked, survival.launched[SECOND] - looked);
    return GPU_OK;
}

enum gpu_status survival_leave(enum survival_kernel leaver, struct survival_left *left)
{
    return note_left(submit(leaver, SURVIVAL_LEAVE, left->seed, FIRST), left);
}

enum gpu_status survival_look(enum survival_kernel looker, const struct survival_left *left, uint32_t seed,
                              double *survived, char *detail)
{
    return count_found(submit(looker, SURVIVAL_LOOK, seed, SECOND), left, survived, detail);
}

enum gpu_status survival_pair(enum survival_kernel leaver, enum survival_kernel looker, struct survival_left *left,
                              uint32_t seed, double *survived, char *detail)
{
    enum gpu_status status = submit(leaver, SURVIVAL_LEAVE, left->seed, FIRST);
    if (!status) status = submit(looker, SURVIVAL_LOOK, seed, SECOND);
    status = note_left(status, left);
    return status ? status : count_found(status, left, survived, detail);
}

enum gpu_status survival_leave_memory(void *words, size_t count, uint32_t seed)
{
    const struct survival_stamp *stamps;
    survival.argument.words = words;
    survival.argument.count = count;
    return stamps_of(FIRST, submit(LEAVE_MEMORY, SURVIVAL_LEAVE, seed, FIRST), &stamps);
}

enum gpu_status survival_look_memory(void *words, size_t count, uint32_t seed, double *survived)
{
    const struct survival_stamp *stamps;
    double found = 0;
    survival.argument.words = words;
    survival.argument.count = count;
    enum gpu_status status = stamps_of(SECOND, submit(LOOK_MEMORY, SURVIVAL_LOOK, seed, SECOND), &stamps);
    for (unsigned b = 0; b < survival.launched[SECOND] && !status; b++) found += matching(&stamps[b]);
    *survived = found / (double)count;
    return status;
}

// --- Opening -----------------------------------------------------------------------------------------------

static enum gpu_status prepare(enum survival_kernel kernel)
{
    static const void *const symbols[SURVIVAL_KERNELS] = {
        [LEAVE] = gpu_kernel(survival_leave),
        [LOOK] = gpu_kernel(survival_look),
        [EITHER] = gpu_kernel(survival_either),
        [LEAVE_MEMORY] = gpu_kernel(survival_leave_memory),
        [LOOK_MEMORY] = gpu_kernel(survival_look_memory),
        [WHOLE] = gpu_kernel(survival_whole),
    };
    // So that blocks fill the store, and one kernel behind another does not have it divided anew.
    enum gpu_status status = gpu_kernel_prefer_shared(symbols[kernel], SHARED_PERCENT);
    if (status == GPU_FAILED) return status;
    status = launch_prepare(&survival.launches[kernel], symbols[kernel],
                            kernel == WHOLE ? gpu_multiprocessors() : survival.blocks, SURVIVAL_THREADS,
                            &survival.argument, sizeof survival.argument, survival.stream);
    if (status || kernel != WHOLE) return status;
    survival.launches[kernel].shared_bytes = survival.whole_bytes;
    return gpu_launch_prepare(&survival.launches[kernel]);
}

// The most that one block may have, which leaves no room for another one.
static enum gpu_status find_whole(void)
{
    struct gpu_limits limits;
    unsigned blocks;
    enum gpu_status status = gpu_limits(&limits);
    if (status) return status;
    survival.whole_bytes = limits.shared_per_block_most;
    status = gpu_kernel_allow_shared(gpu_kernel(survival_whole), survival.whole_bytes);
    if (!status)
        status = gpu_kernel_occupancy(gpu_kernel(survival_whole), SURVIVAL_THREADS, survival.whole_bytes, &blocks);
    if (!status && blocks > 1)
        status = gpu_reason(GPU_UNSUPPORTED, "%zu bytes, the most that a block may have, leave room for a second one",
                            survival.whole_bytes);
    return status;
}

static enum gpu_status count_blocks(void)
{
    unsigned of_each = 1;
    enum gpu_status status = gpu_kernel_prefer_shared(gpu_kernel(survival_look), SHARED_PERCENT);
    if (!status || status == GPU_UNSUPPORTED)
        status = gpu_kernel_occupancy(gpu_kernel(survival_look), SURVIVAL_THREADS, 0, &of_each);
    gpu_outcome_keep(&survival.allotted, status);
    if (status == GPU_FAILED) return status;
    survival.blocks = gpu_multiprocessors() * (status || !of_each ? BLOCKS_WHERE_NONE_ALLOTTED : of_each);
    return GPU_OK;
}

enum gpu_status survival_open(void)
{
    void *out;
    const struct survival_stamp *stamps;
    enum gpu_status status = gpu_stream_create(&survival.stream);
    if (!status) status = count_blocks();
    if (!status) status = gpu_alloc(&out, HALVES * survival.blocks * sizeof *survival.out);
    if (status) return status;
    survival.out = out;
    survival.stamps = calloc(HALVES * survival.blocks, sizeof *survival.stamps);
    if (!survival.stamps) return gpu_reason(GPU_FAILED, "no memory for the stamps of %u blocks", survival.blocks);
    if (gpu_outcome_keep(&survival.whole, find_whole()) == GPU_FAILED) return survival.whole.status;
    for (enum survival_kernel k = 0; k < SURVIVAL_KERNELS && !status; k++) {
        if (k == WHOLE && survival.whole.status) continue;
        status = prepare(k);
        // Nothing is to be loaded between one that leaves and one that looks.
        if (!status) status = stamps_of(FIRST, submit(k, SURVIVAL_LOOK, 1, FIRST), &stamps);
    }
    return status;
}

void survival_close(void)
{
    if (survival.out) gpu_free(survival.out);
    free(survival.stamps);
    if (survival.stream) gpu_stream_destroy(survival.stream);
    survival = (struct survival){0};
}

// --- In other processes ------------------------------------------------------------------------------------

// "survival_leave": leaves both patterns and ends, with the memory still its own. "survival_pair": the first member
// leaves, the second looks while the first is alive. What was left where is in their common memory.
enum gpu_status survival_probe(const char *name, struct probe_answer *answer)
{
    struct survival_left *left = probe_shared();
    const bool pair = strcmp(name, "survival_pair") == 0, looks = probe_member() == 1;
    void *memory;
    enum gpu_status status = gpu_open(answer->device);
    if (!status) status = survival_open(); // whose launches write, too
    if (!status && pair) status = probe_meet(MEET_LIMIT_S);
    if (!status && !looks) status = survival_seed(&left->seed);
    if (!status && !pair) status = survival_seed(&left->memory_seed);
    if (!status && !pair) status = gpu_alloc_raw(&memory, MEMORY_BYTES);
    if (!status && !pair) status = survival_leave_memory(memory, MEMORY_WORDS, left->memory_seed);
    if (!status && !looks) status = survival_leave(LEAVE, left);
    if (!status && pair) status = probe_meet(MEET_LIMIT_S);
    answer->count = 1;
    if (!status && looks) status = survival_look(LOOK, left, left->seed, answer->values, answer->detail);
    if (!status && pair) status = probe_meet(MEET_LIMIT_S);
    if (status) return status;
    survival_close();
    gpu_close();
    return GPU_OK;
}

static struct after_end {
    bool done;
    struct gpu_outcome outcome;
    double shared, memory;
    char detail[BENCH_DETAIL_BYTES];
} after_end;

// Once in this process, because another process is dear: shared memory first, for new memory may be cleared by a
// kernel.
static enum gpu_status look_after_end(void)
{
    static struct probe_member member;
    void *common, *memory;
    if (after_end.done) return gpu_outcome_tell(&after_end.outcome);
    after_end.done = true;
    enum gpu_status status =
        probe_run_group("survival_leave", NULL, 1, PROBE_LIMIT_S, &common, sizeof(struct survival_left), &member);
    const struct survival_left *left = common;
    if (!status) status = survival_look(LOOK, left, left->seed, &after_end.shared, after_end.detail);
    if (!status) status = gpu_alloc_raw(&memory, MEMORY_BYTES);
    if (!status) {
        status = survival_look_memory(memory, MEMORY_WORDS, left->memory_seed, &after_end.memory);
        gpu_free(memory);
    }
    return gpu_outcome_keep(&after_end.outcome, status);
}

// --- The metric --------------------------------------------------------------------------------------------

// survived: of the words that a kernel looks at and has not written, those that are as another left them. No clock is
// read. The pairs of launches are next to each other in their stream.
enum way { SAME_KERNEL, OTHER_KERNEL, NOTHING_LEFT, WHOLE_STORE };

static enum gpu_status measure_pair(struct bench_case *c, unsigned samples, double *values)
{
    static struct survival_left left;
    const enum way way = (enum way)c->argument;
    // Two kernels whose shared memory is not of one store cannot find each other's, whether or not it is cleared.
    if (way == OTHER_KERNEL && survival.allotted.status)
        return gpu_reason(GPU_UNSUPPORTED, "shared memory is each kernel's own variable here, and not a common store");
    enum gpu_status status = way == WHOLE_STORE ? gpu_outcome_tell(&survival.whole) : GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        uint32_t seed = 0;
        status = survival_seed(&left.seed);
        if (!status) status = way == NOTHING_LEFT ? survival_seed(&seed) : GPU_OK;
        if (way != NOTHING_LEFT) seed = left.seed;
        const enum survival_kernel either = way == WHOLE_STORE ? WHOLE : EITHER;
        const enum survival_kernel leaver = way == OTHER_KERNEL ? LEAVE : either;
        const enum survival_kernel looker = way == OTHER_KERNEL ? LOOK : either;
        if (!status) status = survival_pair(leaver, looker, &left, seed, &values[i], c->detail);
    }
    c->error_bound[0] = CHANCE;
    return status;
}

// The control: by the launch that left it.
static enum gpu_status measure_same_launch(struct bench_case *c, unsigned samples, double *values)
{
    static struct survival_left everywhere;
    enum gpu_status status = GPU_OK;
    memset(everywhere.on, 1, sizeof everywhere.on);
    for (unsigned i = 0; i < samples && !status; i++) {
        status = survival_seed(&everywhere.seed);
        if (!status) status = submit(EITHER, SURVIVAL_LEAVE | SURVIVAL_LOOK, everywhere.seed, SECOND);
        status = count_found(status, &everywhere, &values[i], c->detail);
    }
    c->error_bound[0] = CHANCE;
    return status;
}

// ARGUMENT: whether the process that left it is alive.
static enum gpu_status measure_other_process(struct bench_case *c, unsigned samples, double *values)
{
    static struct probe_member members[2];
    void *common;
    (void)samples;
    c->error_bound[0] = CHANCE;
    enum gpu_status status = c->argument ? probe_run_group("survival_pair", NULL, 2, PROBE_LIMIT_S, &common,
                                                           sizeof(struct survival_left), members)
                                         : look_after_end();
    values[0] = c->argument ? members[1].answer.values[0] : after_end.shared;
    memcpy(c->detail, c->argument ? members[1].answer.detail : after_end.detail, sizeof c->detail);
    return status;
}

static enum gpu_status measure_memory_other_process(struct bench_case *c, unsigned samples, double *values)
{
    (void)samples;
    c->error_bound[0] = CHANCE;
    enum gpu_status status = look_after_end();
    values[0] = after_end.memory;
    return status;
}

// Of so many bytes of memory that were freed, in what is allocated next. They are looked at before, too, or nothing
// found afterwards would mean nothing.
static enum gpu_status measure_memory_same_process(struct bench_case *c, unsigned samples, double *values)
{
    const size_t bytes = (size_t)c->argument, words = bytes / sizeof(uint32_t);
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        void *memory;
        uint32_t seed;
        double before = 0;
        status = survival_seed(&seed);
        if (!status) status = gpu_alloc_raw(&memory, bytes);
        if (status) return status;
        const uintptr_t address = (uintptr_t)memory;
        status = survival_leave_memory(memory, words, seed);
        if (!status) status = survival_look_memory(memory, words, seed, &before);
        if (!status && before != 1) status = gpu_reason(GPU_FAILED, "what was just left is not found");
        gpu_free(memory);
        if (!status) status = gpu_alloc_raw(&memory, bytes);
        if (status) return status;
        status = survival_look_memory(memory, words, seed, &values[i]);
        snprintf(c->detail, sizeof c->detail, "same_address=%d", (uintptr_t)memory == address);
        gpu_free(memory);
    }
    c->error_bound[0] = CHANCE;
    return status;
}

static enum gpu_status measure_registers(struct bench_case *c, unsigned samples, double *values)
{
    (void)c, (void)samples, (void)values;
    return gpu_reason(GPU_UNSUPPORTED,
                      "the compilers here have no form of code proven to read a register that nothing wrote: they may "
                      "write it first, or give any value");
}

// --- The plan ----------------------------------------------------------------------------------------------

#define SHARED_PARAMS "block_threads=128;shared_bytes=49152;store=shared"
#define WHOLE_PARAMS "block_threads=128;shared_bytes=most;store=shared"
#define MEMORY_PARAMS "bytes=67108864;store=device"

typedef enum gpu_status measure_function(struct bench_case *, unsigned, double *);

// ROUNDS 0: once a process, in two processes.
static void add(struct bench_plan *plan, const char *variant, const char *params, measure_function *measure,
                double argument, unsigned rounds)
{
    const double words = strstr(params, "store=shared") ? SURVIVAL_WORDS * gpu_multiprocessors() : argument / 4;
    struct bench_case c = {
        .variant = variant,
        .samples = rounds ? 2 : 1,
        .rounds = rounds,
        .once = !rounds,
        .no_warm_up = true,
        .processes = rounds ? 0 : 2,
        .measure = measure,
        .argument = argument,
        .outputs = {{"survived", "ratio", "none", rounds ? "distribution" : "once", .resolution = 1 / words}}};
    snprintf(c.params, sizeof c.params, "%s", params);
    bench_add(plan, &c);
}

enum gpu_status survival_add(struct bench_plan *plan, bool quick)
{
    static const char *const variants[] = {"same_kernel", "other_kernel", "other_process"};
    enum gpu_status status = survival_open();
    if (status) return status;
    add(plan, "same_launch", SHARED_PARAMS, measure_same_launch, 0, 6);
    add(plan, "nothing_left", SHARED_PARAMS, measure_pair, NOTHING_LEFT, 6);
    add(plan, "same_kernel", SHARED_PARAMS, measure_pair, SAME_KERNEL, 6);
    add(plan, "other_kernel", SHARED_PARAMS, measure_pair, OTHER_KERNEL, 6);
    add(plan, "same_kernel", WHOLE_PARAMS, measure_pair, WHOLE_STORE, 6);
    if (quick) return GPU_OK;
    add(plan, "other_process", "alive=0;" SHARED_PARAMS, measure_other_process, 0, 0);
    add(plan, "other_process", "alive=1;" SHARED_PARAMS, measure_other_process, 1, 0);
    for (unsigned i = 0; i < sizeof variants / sizeof *variants; i++)
        add(plan, variants[i], "store=registers", measure_registers, 4, 1);
    add(plan, "same_process", "bytes=4096;store=device", measure_memory_same_process, 4096, 1);
    add(plan, "same_process", "bytes=1048576;store=device", measure_memory_same_process, 1 << 20, 1);
    add(plan, "same_process", MEMORY_PARAMS, measure_memory_same_process, MEMORY_BYTES, 1);
    add(plan, "other_process", "alive=0;" MEMORY_PARAMS, measure_memory_other_process, MEMORY_BYTES, 0);
    return GPU_OK;
}
