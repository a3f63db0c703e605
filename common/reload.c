// SPDX-License-Identifier: Apache-2.0
// Chases through working sets: how the sets lie in memory, the launches that touch and chase, and what is read off.
#include "common/reload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu_graph.h"
#include "backends/gpu_kernel.h"
#include "common/launch.h"
#include "common/stats.h"
#include "common/sweep.h"

GPU_KERNEL(reload_global);
GPU_KERNEL(reload_global_other);
GPU_KERNEL(reload_read_only);
GPU_KERNEL(reload_constant);
GPU_KERNEL(reload_constant_other);
GPU_KERNEL(reload_parameters);
GPU_KERNEL(reload_link);

enum { LINES_TIMED_MAX = 1024, OWN_SETS_LOG2 = 18, ATTEMPTS = 64, LINK_THREADS = 256, LINK_BLOCKS = 4 };
static const double IDLE_NS = 1e6;

enum half { FIRST, SECOND, HALVES };

// By enum reload_memory.
static struct memory {
    const char *name;
    const void *kernel, *other; // OTHER: the same code at another place
    size_t line_bytes;
    struct gpu_launch launches[2];
} memories[RELOAD_MEMORIES] = {
    {"global", gpu_kernel(reload_global), gpu_kernel(reload_global_other), RELOAD_LINE_BYTES},
    {"read_only", gpu_kernel(reload_read_only), gpu_kernel(reload_read_only), RELOAD_LINE_BYTES},
    {"constant", gpu_kernel(reload_constant), gpu_kernel(reload_constant_other), RELOAD_INDEXED_LINE_BYTES},
    {"constant", gpu_kernel(reload_constant), gpu_kernel(reload_constant_other), RELOAD_LONG_LINE_BYTES},
    {"parameters", gpu_kernel(reload_parameters), gpu_kernel(reload_parameters), RELOAD_INDEXED_LINE_BYTES},
    {"pages", gpu_kernel(reload_global), gpu_kernel(reload_global_other), 0}};

static struct chain chain;
static struct sweep sweep;
static struct reload_parameters parameters;
static struct reload_link_argument link_argument;
static struct gpu_launch link_launch, dependent_launch;
static struct reload_stamp *stamps[HALVES], *stamps_device; // one a multiprocessor and half
static uint16_t *sets, *sets_device;
static void *sets_view;                     // of SETS
static unsigned multiprocessors, set_count; // SET_COUNT: that have a set
static uint32_t start_line;
static uint16_t order[MULTIPROCESSORS_MAX]; // of multiprocessors by their index; RELOAD_NO_SET: there is none
static uint64_t sequences[HALVES];          // of the last launch of each half; none of two launches have the same
static void *words, *pages;
static size_t pages_bytes; // of PAGES; 0: not tried yet

// --- Working sets ------------------------------------------------------------------------------------------

static enum gpu_status read_stamps(enum half half)
{
    enum gpu_status status =
        gpu_read(stamps[half], stamps_device + half * multiprocessors, multiprocessors * sizeof **stamps);
    return status ? status
                  : launch_check_stamps(&stamps[half]->sequence, sizeof **stamps, multiprocessors, sequences[half]);
}

static enum gpu_status submit(const struct gpu_launch *launch, launch_function *function, enum half half,
                              unsigned actions)
{
    parameters.chase.out = stamps_device + half * multiprocessors;
    parameters.chase.sequence = sequences[half] = sequences[FIRST] + sequences[SECOND] + 1;
    parameters.chase.actions = actions;
    return function(launch);
}

// Lets COUNT multiprocessors have a set each, from FROM on, and no other one.
static enum gpu_status share_out(unsigned count, unsigned from)
{
    for (unsigned i = 0; i < MULTIPROCESSORS_MAX; i++) {
        const unsigned set = (order[i] + multiprocessors - from) % multiprocessors;
        sets[i] = order[i] != RELOAD_NO_SET && set < count ? (uint16_t)set : RELOAD_NO_SET;
    }
    enum gpu_status status = gpu_stream_copy(chain.stream, sets_device, sets_view, MULTIPROCESSORS_MAX * sizeof *sets);
    return launch_drain(chain.stream, status);
}

// Once for all: which indices multiprocessors have.
static enum gpu_status find_multiprocessors(void)
{
    unsigned found = 0;
    for (unsigned i = 0; i < MULTIPROCESSORS_MAX; i++) order[i] = RELOAD_NO_SET;
    enum gpu_status status = share_out(0, 0);
    for (unsigned attempt = 0; attempt < ATTEMPTS && found < multiprocessors && !status; attempt++) {
        status = launch_drain(chain.stream, submit(&memories[RELOAD_GLOBAL].launches[0], gpu_launch_runtime, FIRST, 0));
        if (!status) status = read_stamps(FIRST);
        for (unsigned b = 0; b < multiprocessors && !status; b++) {
            const unsigned index = stamps[FIRST][b].multiprocessor;
            if (index >= MULTIPROCESSORS_MAX)
                return gpu_reason(GPU_UNSUPPORTED, "kernels cannot tell here which multiprocessor they run on");
            if (order[index] == RELOAD_NO_SET) order[index] = (uint16_t)found++;
        }
    }
    return status;
}

const char *reload_memory_name(enum reload_memory memory) { return memories[memory].name; }

size_t reload_line_bytes(enum reload_memory memory)
{
    return memory == RELOAD_PAGES ? gpu_page_bytes() : memories[memory].line_bytes;
}

static bool is_indexed(enum reload_memory memory)
{
    return memory == RELOAD_CONSTANT || memory == RELOAD_CONSTANT_LONG || memory == RELOAD_PARAMETERS;
}

// Makes COUNT working sets of those that parameters.chase tells of.
static enum gpu_status link(unsigned count)
{
    static uint64_t made[LINK_BLOCKS * MULTIPROCESSORS_MAX];
    const struct reload_argument *chase = &parameters.chase;
    const unsigned blocks = link_launch.grid[0];
    link_argument.first = chase->first;
    link_argument.set_bytes = chase->set_bytes;
    link_argument.lines = chase->lines;
    link_argument.stride = chase->stride;
    link_argument.sets = count;
    link_argument.sequence++;
    enum gpu_status status = launch_drain(chain.stream, gpu_launch_runtime(&link_launch));
    if (!status) status = gpu_read(made, link_argument.out, blocks * sizeof *made);
    return status ? status : launch_check_stamps(made, sizeof *made, blocks, link_argument.sequence);
}

// Links the working sets of RELOAD and aims the next launches at them. Each multiprocessor has its own while all of
// them leave half of the cache that they share free; larger ones are one multiprocessor's alone.
static enum gpu_status make_sets(const struct reload *reload)
{
    struct reload_argument *chase = &parameters.chase;
    const bool in_pages = reload->memory == RELOAD_PAGES;
    const size_t stride = reload_line_bytes(reload->memory);
    chase->stride = (uint32_t)stride;
    chase->lines = (uint32_t)(reload->bytes / stride);
    chase->hops = reload_loads(reload);
    if (is_indexed(reload->memory)) {
        chase->set_bytes = chase->first = 0;
        chase->self = RELOAD_INDEXED_LINE_BYTES - 4;
        if (reload->memory == RELOAD_CONSTANT_LONG) chase->first = 4 * RELOAD_CONSTANT_CYCLES;
        for (uint64_t bytes = RELOAD_CONSTANT_BYTES_MIN; bytes < reload->bytes && reload->memory != RELOAD_PARAMETERS;
             bytes *= 2)
            chase->first += 4;
        chase->self -= chase->first;
        set_count = multiprocessors;
        return GPU_OK;
    }
    const uint64_t room = gpu_cache_bytes() / 2 / reload->bytes;
    set_count = room < multiprocessors ? (unsigned)room : multiprocessors;
    if (in_pages || reload->bytes > 1ul << OWN_SETS_LOG2 || !set_count) set_count = 1;
    chase->set_bytes = reload->bytes;
    chase->first = (uintptr_t)(in_pages ? pages : words);
    chase->self = RELOAD_SELF_BYTES;
    return link(set_count);
}

static uint64_t place(enum reload_memory memory, uint32_t line)
{
    return is_indexed(memory) ? (uint64_t)line * parameters.chase.stride : RELOAD_PLACE(line, parameters.chase.stride);
}

// For each sample others: the multiprocessors that have sets, where there are fewer sets, and the line where chases
// start; or what one place in the caches has to do with it would be taken for what all have.
static enum gpu_status vary(const struct reload *reload)
{
    static uint32_t random;
    random = random * 1664525u + 1013904223u;
    start_line = (random >> 8) & (parameters.chase.lines - 1);
    random = random * 1664525u + 1013904223u;
    parameters.chase.start = place(reload->memory, start_line);
    return share_out(set_count, (random >> 8) % multiprocessors);
}

// Where the chase ends, from its set's beginning.
static uint64_t expected_end(const struct reload *reload)
{
    uint32_t line = start_line;
    for (uint32_t i = 0; i <= parameters.chase.hops; i++) line = RELOAD_NEXT(line, parameters.chase.lines);
    return place(reload->memory, line);
}

// --- reload ------------------------------------------------------------------------------------------------

static enum gpu_status submit_graph(const struct gpu_launch *launch)
{
    struct gpu_graph_executable *executable = NULL;
    enum gpu_status status = gpu_capture_begin(chain.stream);
    if (status) return status;
    status = submit(launch, gpu_launch_runtime, FIRST, RELOAD_TOUCH);
    if (!status) status = submit(launch, gpu_launch_runtime, SECOND, RELOAD_CHASE);
    status = launch_capture_end(chain.stream, status, &executable);
    if (!status) status = launch_drain(chain.stream, gpu_graph_launch(executable, chain.stream));
    gpu_graph_executable_destroy(executable);
    return status;
}

// Two launches behind a gate, or, with the way IDLE, one after the other has been waited for.
static enum gpu_status submit_pair(const struct reload *reload)
{
    const struct memory *memory = &memories[reload->memory];
    const bool dependent = reload->way == RELOAD_DEPENDENT, idle = reload->way == RELOAD_IDLE;
    enum gpu_status status = idle ? GPU_OK : chain_hold(&chain);
    if (!status) status = submit(&memory->launches[0], gpu_launch_runtime, FIRST, RELOAD_TOUCH);
    if (!status && reload->way == RELOAD_AFTER_SWEEP) status = sweep_submit(&sweep);
    if (!status && idle) status = launch_drain(chain.stream, GPU_OK);
    if (!status && idle) clock_sleep_ns(IDLE_NS);
    if (!status)
        status = submit(dependent ? &dependent_launch : &memory->launches[reload->way == RELOAD_OTHER_KERNEL],
                        dependent ? gpu_launch_ex : gpu_launch_runtime, SECOND, RELOAD_CHASE);
    enum gpu_status released = idle ? launch_drain(chain.stream, GPU_OK) : chain_release(&chain);
    if (!status) status = released;
    return status || reload->way != RELOAD_AFTER_SWEEP ? status : sweep_prove(&sweep);
}

// All begins with a sweep, where there is one: what is found in a cache was brought there by the touch.
static enum gpu_status run(const struct reload *reload)
{
    const bool first = reload->way == RELOAD_FIRST_PASS;
    const struct gpu_launch *launch = &memories[reload->memory].launches[0];
    if (!sweep.unsupported.status) {
        enum gpu_status status = launch_drain(chain.stream, sweep_submit(&sweep));
        if (!status) status = sweep_prove(&sweep);
        if (status) return status;
    }
    if (reload->way == RELOAD_GRAPH) return submit_graph(launch);
    if (!first && reload->way != RELOAD_SECOND_PASS) return submit_pair(reload);
    return launch_drain(chain.stream,
                        submit(launch, gpu_launch_runtime, SECOND, first ? RELOAD_CHASE : RELOAD_TOUCH | RELOAD_CHASE));
}

// How many blocks each multiprocessor had of a launch.
static void count_blocks(enum half half, uint16_t *blocks)
{
    memset(blocks, 0, MULTIPROCESSORS_MAX * sizeof *blocks);
    for (unsigned b = 0; b < multiprocessors; b++)
        if (stamps[half][b].multiprocessor < MULTIPROCESSORS_MAX) blocks[stamps[half][b].multiprocessor]++;
}

// How many blocks of the second launch began before the first one had ended.
static unsigned count_early(void)
{
    uint64_t ended = 0;
    unsigned early = 0;
    for (unsigned b = 0; b < multiprocessors; b++)
        if (stamps[FIRST][b].end_ticks > ended) ended = stamps[FIRST][b].end_ticks;
    for (unsigned b = 0; b < multiprocessors; b++) early += stamps[SECOND][b].begin_ticks < ended;
    return early;
}

// Of one chase, without what its timing takes beside its loads; that is off by what clock reads take, or less.
static double cycles_per_load(const struct reload_stamp *stamp, double *bound)
{
    const double beside = fmin(fmax(2.0 * stamp->self[0] - stamp->self[1], 0), stamp->self[0]);
    *bound = fmax(*bound, (double)stamp->read_cycles / parameters.chase.hops);
    return (stamp->cycles - beside) / parameters.chase.hops;
}

// The chases of one run: the FOUND ones on multiprocessors that had one block of each of its launches. *CYCLES: their
// median.
static enum gpu_status read_chases(const struct reload *reload, double *cycles, unsigned *found, double *bound,
                                   char *detail)
{
    static uint16_t blocks[HALVES][MULTIPROCESSORS_MAX];
    static double chases[MULTIPROCESSORS_MAX];
    const bool pair = reload->way != RELOAD_FIRST_PASS && reload->way != RELOAD_SECOND_PASS;
    const uint64_t end = expected_end(reload);
    unsigned dropped = 0;
    *found = 0;
    enum gpu_status status = read_stamps(SECOND);
    if (!status && pair) status = read_stamps(FIRST);
    if (status) return status;
    for (enum half half = pair ? FIRST : SECOND; half < HALVES; half++) count_blocks(half, blocks[half]);
    for (unsigned b = 0; b < multiprocessors; b++) {
        const struct reload_stamp *stamp = &stamps[SECOND][b];
        if (!stamp->has_set) continue;
        if (stamp->end != end) return gpu_reason(GPU_FAILED, "a chase of %u loads lost its way", parameters.chase.hops);
        const bool alone = blocks[SECOND][stamp->multiprocessor] == 1;
        if (!alone || (pair && blocks[FIRST][stamp->multiprocessor] != 1)) dropped++;
        else chases[(*found)++] = cycles_per_load(stamp, bound);
    }
    if (!*found) return GPU_OK;
    stats_sort(chases, *found);
    *cycles = stats_quantile(chases, *found, 0.5);
    int length = snprintf(detail, BENCH_DETAIL_BYTES, "loads=%u;multiprocessors=%u;dropped=%u", parameters.chase.hops,
                          *found, dropped);
    if (reload->way == RELOAD_DEPENDENT)
        snprintf(detail + length, BENCH_DETAIL_BYTES - (size_t)length, ";early_blocks=%u", count_early());
    return GPU_OK;
}

// Takes as much memory as there is, up to what the largest set needs: once, on behalf of all sizes.
static enum gpu_status find_pages(size_t bytes)
{
    enum gpu_status status = GPU_OK;
    if (!pages_bytes) pages_bytes = RELOAD_PAGES_MAX * gpu_page_bytes();
    while (!pages && (status = gpu_alloc_raw(&pages, pages_bytes)) == GPU_UNSUPPORTED && pages_bytes > gpu_page_bytes())
        pages_bytes /= 2;
    if (status || bytes <= pages_bytes) return status;
    return gpu_reason(GPU_UNSUPPORTED, "no room for %zu bytes of device memory", bytes);
}

// Once more a round, because the reason why the device cannot is told only then.
static enum gpu_status prepare_dependent(const struct memory *memory)
{
    dependent_launch = memory->launches[0];
    dependent_launch.dependent = true;
    return gpu_launch_prepare(&dependent_launch);
}

unsigned reload_loads(const struct reload *reload)
{
    const uint64_t lines = reload->bytes / reload_line_bytes(reload->memory);
    return (unsigned)(lines < LINES_TIMED_MAX ? lines : LINES_TIMED_MAX) - 1;
}

enum gpu_status reload_prepare(const struct reload *reload)
{
    enum gpu_status status = reload->memory == RELOAD_PAGES ? find_pages(reload->bytes) : GPU_OK;
    if (!status && reload->way == RELOAD_DEPENDENT) status = prepare_dependent(&memories[reload->memory]);
    return status ? status : make_sets(reload);
}

enum gpu_status reload_measure(const struct reload *reload, double *cycles, double *bound, char *detail)
{
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        unsigned found = 0;
        enum gpu_status status = vary(reload);
        if (!status) status = run(reload);
        if (!status) status = read_chases(reload, cycles, &found, bound, detail);
        if (status || found) return status;
    }
    return gpu_reason(GPU_UNSUPPORTED, "no multiprocessor had one block of each launch in %d attempts", ATTEMPTS);
}

// --- Opening -----------------------------------------------------------------------------------------------

static enum gpu_status allocate(size_t bytes)
{
    void *out, *here, *view;
    enum gpu_status status = gpu_alloc(&words, bytes);
    if (!status) status = gpu_alloc(&out, HALVES * multiprocessors * sizeof **stamps);
    if (status) return status;
    stamps_device = out;
    status = gpu_alloc(&out, LINK_BLOCKS * multiprocessors * sizeof *link_argument.out);
    if (status) return status;
    link_argument.out = out;
    status = gpu_alloc(&out, MULTIPROCESSORS_MAX * sizeof *sets);
    if (status) return status;
    parameters.chase.sets = sets_device = out;
    status = gpu_alloc_mapped(&here, &view, MULTIPROCESSORS_MAX * sizeof *sets);
    if (status) return status;
    sets = here;
    sets_view = view;
    stamps[FIRST] = calloc(HALVES * multiprocessors, sizeof **stamps);
    if (!stamps[FIRST]) return gpu_reason(GPU_FAILED, "no memory for the stamps of %u blocks", multiprocessors);
    stamps[SECOND] = stamps[FIRST] + multiprocessors;
    return GPU_OK;
}

// Prepares all launches and runs each once, so that nothing is loaded behind a gate.
static enum gpu_status prepare(enum reload_memory which)
{
    struct memory *memory = &memories[which];
    const void *const kernels[] = {memory->kernel, memory->other};
    enum gpu_status status = GPU_OK;
    for (unsigned k = 0; k < 2 && !status; k++) {
        status = gpu_kernel_prefer_shared(kernels[k], 0);
        if (status == GPU_FAILED) return status;
        status = launch_prepare(&memory->launches[k], kernels[k], multiprocessors, RELOAD_THREADS, &parameters,
                                which == RELOAD_PARAMETERS ? sizeof parameters : sizeof parameters.chase, chain.stream);
        if (!status) status = launch_drain(chain.stream, submit(&memory->launches[k], gpu_launch_runtime, FIRST, 0));
    }
    return status;
}

enum gpu_status reload_open(size_t bytes)
{
    multiprocessors = gpu_multiprocessors();
    if (multiprocessors > MULTIPROCESSORS_MAX) multiprocessors = MULTIPROCESSORS_MAX;
    const size_t own_bytes = (size_t)multiprocessors << OWN_SETS_LOG2;
    for (uint32_t line = 0; line < RELOAD_PARAMETER_LINES; line++) {
        const uint32_t last = (line + 1) * RELOAD_INDEXED_LINE_BYTES - 4;
        parameters.words[line * RELOAD_INDEXED_LINE_BYTES / 4] =
            RELOAD_NEXT(line, (uint32_t)RELOAD_PARAMETER_LINES) * RELOAD_INDEXED_LINE_BYTES;
        parameters.words[last / 4] = last;
    }
    enum gpu_status status = chain_open(&chain);
    if (!status) status = allocate(bytes > own_bytes ? bytes : own_bytes);
    if (!status)
        status = launch_prepare(&link_launch, gpu_kernel(reload_link), LINK_BLOCKS * multiprocessors, LINK_THREADS,
                                &link_argument, sizeof link_argument, chain.stream);
    for (enum reload_memory m = 0; m < RELOAD_MEMORIES && !status; m++) status = prepare(m);
    if (!status) status = find_multiprocessors();
    if (!status) status = sweep_open(&sweep, chain.stream);
    return status || sweep.unsupported.status ? status : launch_drain(chain.stream, sweep_submit(&sweep));
}

void reload_close(void)
{
    sweep_close(&sweep);
    gpu_free(pages);
    gpu_free(words);
    gpu_free(stamps_device);
    gpu_free(link_argument.out);
    gpu_free(sets_device);
    gpu_free_mapped(sets);
    free(stamps[FIRST]);
    chain_close(&chain);
}
