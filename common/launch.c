// SPDX-License-Identifier: Apache-2.0
// The launches that benchmarks are made of. See launch.h.
#include "common/launch.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

GPU_KERNEL(empty);
GPU_KERNEL(stamp);
GPU_KERNEL(gate);
GPU_KERNEL(flag);

static const double GATE_LIMIT_NS = 1e9, FLAG_LIMIT_NS = 2e9;
enum { GATE_OPEN, GATE_EXPIRED, GATE_RAN }; // words
enum { COST_CHAIN = 10, COST_PASSES = 3 };  // grids in each measure of what stamps cost

enum gpu_status launch_prepare(struct gpu_launch *launch, const void *kernel, unsigned blocks, unsigned threads,
                               void *argument, size_t argument_bytes, struct gpu_stream *stream)
{
    *launch = (struct gpu_launch){.kernel = kernel,
                                  .grid = {blocks, 1, 1},
                                  .block = {threads, 1, 1},
                                  .argument = argument,
                                  .argument_bytes = argument_bytes,
                                  .stream = stream};
    return gpu_launch_prepare(launch);
}

enum gpu_status launch_capture_end(struct gpu_stream *stream, enum gpu_status status,
                                   struct gpu_graph_executable **executable)
{
    struct gpu_graph *graph = NULL;
    enum gpu_status ended = gpu_capture_end(stream, &graph);
    if (!status) status = ended ? ended : gpu_graph_instantiate(graph, executable);
    gpu_graph_destroy(graph);
    return status;
}

double launch_stamps_gap_ns(const struct stamp *stamps, unsigned count)
{
    uint64_t ticks = 0;
    for (unsigned i = 1; i < count; i++) ticks += stamps[i].begin_ticks - stamps[i - 1].end_ticks;
    return (double)ticks * gpu_clock_ns_per_tick() / (count - 1);
}

enum gpu_status launch_check_stamps(const uint64_t *first, size_t stride, unsigned count, uint64_t sequence)
{
    for (unsigned i = 0; i < count; i++)
        if (*(const uint64_t *)((const char *)first + i * stride) != sequence)
            return gpu_reason(GPU_FAILED, "stamp %u of %u is of another launch: this one did not run", i, count);
    return GPU_OK;
}

enum gpu_status launch_prepare_empty(struct gpu_launch *launch, struct gpu_stream *stream)
{
    return launch_prepare(launch, gpu_kernel(empty), 1, LAUNCH_BLOCK_THREADS, NULL, 0, stream);
}

enum gpu_status stamp_launch_open(struct stamp_launch *stamps, struct gpu_stream *stream, unsigned room)
{
    void *memory;
    enum gpu_status status = gpu_alloc(&memory, room * sizeof *stamps->device);
    if (status) return status;
    stamps->device = memory;
    stamps->stamp = calloc(room, sizeof *stamps->stamp);
    if (!stamps->stamp) return gpu_reason(GPU_FAILED, "no memory for %u stamps", room);
    stamps->room = room;
    stamps->used = 0;
    stamps->first_sequence = 1; // memory that nobody wrote holds 0
    stamps->argument = (struct stamp_argument){0};
    return stamp_launch_into(stamps, stream, &stamps->launch);
}

void stamp_launch_close(struct stamp_launch *stamps)
{
    if (stamps->device) gpu_free(stamps->device);
    free(stamps->stamp);
    stamps->device = stamps->stamp = NULL;
}

enum gpu_status stamp_launch_into(struct stamp_launch *stamps, struct gpu_stream *stream, struct gpu_launch *launch)
{
    return launch_prepare(launch, gpu_kernel(stamp), 1, LAUNCH_BLOCK_THREADS, &stamps->argument,
                          sizeof stamps->argument, stream);
}

enum gpu_status stamp_launch_read(struct stamp_launch *stamps)
{
    enum gpu_status status = gpu_read(stamps->stamp, stamps->device, stamps->used * sizeof *stamps->stamp);
    if (status) return status;
    for (unsigned i = 0; i < stamps->used; i++)
        if (stamps->stamp[i].sequence != stamps->first_sequence + i)
            return gpu_reason(GPU_FAILED, "launch %u of %u left no stamp: the kernel did not run", i + 1, stamps->used);
    return GPU_OK;
}

enum gpu_status stamp_launch_prove(struct stamp_launch *stamps)
{
    enum gpu_status status = gpu_launch_error();
    if (status) return status;
    stamp_launch_reset(stamps);
    stamp_launch_aim(stamps);
    status = gpu_launch_runtime(&stamps->launch);
    enum gpu_status ended = gpu_stream_synchronize(stamps->launch.stream);
    if (status || ended) return status ? status : ended;
    return stamp_launch_read(stamps);
}

enum gpu_status flag_launch_open(struct flag_launch *flag, struct gpu_stream *stream)
{
    void *host, *device;
    enum gpu_status status = gpu_alloc_mapped(&host, &device, sizeof *flag->word);
    if (status) return status;
    flag->word = host;
    flag->argument = (struct flag_argument){device, 0};
    return launch_prepare(&flag->launch, gpu_kernel(flag), 1, LAUNCH_BLOCK_THREADS, &flag->argument,
                          sizeof flag->argument, stream);
}

void flag_launch_close(struct flag_launch *flag)
{
    if (flag->word) gpu_free_mapped(flag->word);
    flag->word = NULL;
}

static enum gpu_status see_flag(const struct flag_launch *flag)
{
    uint64_t limit = clock_ticks() + (uint64_t)(FLAG_LIMIT_NS / clock_state.ns_per_tick);
    for (unsigned polls = 1; __atomic_load_n(flag->word, __ATOMIC_ACQUIRE) != flag->argument.value; polls++)
        if (polls % 65536 == 0 && clock_ticks() > limit)
            return gpu_reason(GPU_FAILED, "the kernel's flag did not reach the host");
    return GPU_OK;
}

enum gpu_status flag_launch_time(struct flag_launch *flag, double *elapsed_ns)
{
    flag->argument.value++;
    uint64_t begin = clock_ticks();
    enum gpu_status status = gpu_launch_runtime(&flag->launch);
    enum gpu_status seen = status ? status : see_flag(flag);
    uint64_t end = clock_ticks();
    *elapsed_ns = clock_ns(end - begin);
    return launch_drain(flag->launch.stream, seen);
}

enum gpu_status chain_open(struct chain *chain)
{
    struct gpu_stream *stream;
    enum gpu_status status = gpu_stream_create(&stream);
    return status ? status : chain_open_on(chain, stream);
}

static enum gpu_status prepare_gate(struct chain_gate *gate, struct gpu_stream *stream)
{
    return launch_prepare(&gate->launch, gpu_kernel(gate), 1, LAUNCH_BLOCK_THREADS, &gate->argument,
                          sizeof gate->argument, stream);
}

enum gpu_status chain_open_on(struct chain *chain, struct gpu_stream *stream)
{
    chain->stream = stream;
    void *host, *device;
    enum gpu_status status = gpu_alloc_mapped(&host, &device, (GATE_RAN + CHAIN_GATES_MAX) * sizeof *chain->gate_words);
    if (status) return status;
    chain->gate_words = host;
    uint32_t *words = device;
    const uint64_t limit_ticks = (uint64_t)(GATE_LIMIT_NS / gpu_clock_ns_per_tick());
    for (unsigned i = 0; i < CHAIN_GATES_MAX; i++)
        chain->gates[i].argument =
            (struct gate_argument){words + GATE_OPEN, words + GATE_EXPIRED, words + GATE_RAN + i, limit_ticks, 0};
    status = prepare_gate(&chain->gates[0], stream);
    if (!status) status = launch_prepare_empty(&chain->empty, chain->stream);
    if (!status) status = stamp_launch_open(&chain->stamps, chain->stream, CHAIN_LENGTH_MAX + 2);
    return status;
}

void chain_close(struct chain *chain)
{
    stamp_launch_close(&chain->stamps);
    if (chain->gate_words) gpu_free_mapped(chain->gate_words);
    if (chain->stream) gpu_stream_destroy(chain->stream);
    chain->gate_words = NULL;
    chain->stream = NULL;
}

static enum gpu_status close_gate(struct chain *chain)
{
    struct chain_gate *gate = &chain->gates[chain->gates_closed];
    gate->argument.value = chain->gate_value;
    enum gpu_status status = gpu_launch_runtime(&gate->launch);
    if (!status) chain->gates_closed++;
    return status;
}

enum gpu_status chain_hold(struct chain *chain)
{
    chain->gate_value++;
    chain->gates_closed = 0;
    return close_gate(chain);
}

enum gpu_status chain_hold_too(struct chain *chain, struct gpu_stream *stream)
{
    assert(chain->gates_closed >= 1 && chain->gates_closed < CHAIN_GATES_MAX);
    enum gpu_status status = prepare_gate(&chain->gates[chain->gates_closed], stream);
    return status ? status : close_gate(chain);
}

void chain_let_go(struct chain *chain)
{
    __atomic_store_n(&chain->gate_words[GATE_OPEN], chain->gate_value, __ATOMIC_RELEASE);
}

// All gates have ended before it looks for one that gave up.
enum gpu_status chain_release(struct chain *chain)
{
    const unsigned closed = chain->gates_closed;
    chain_let_go(chain);
    enum gpu_status status = gpu_stream_synchronize(chain->stream);
    for (unsigned i = 1; i < closed; i++) status = launch_drain(chain->gates[i].launch.stream, status);
    chain->gates_closed = 0;
    if (status) return status;
    for (unsigned i = 0; i < closed; i++)
        if (__atomic_load_n(&chain->gate_words[GATE_RAN + i], __ATOMIC_ACQUIRE) != chain->gate_value)
            return gpu_reason(GPU_FAILED, "gate %u of %u left no mark: the kernel did not run", i + 1, closed);
    if (__atomic_load_n(&chain->gate_words[GATE_EXPIRED], __ATOMIC_ACQUIRE)) {
        chain->gate_words[GATE_EXPIRED] = 0;
        return gpu_reason(GPU_FAILED, "the host did not open the gate within %.0f ms: the queue was never full",
                          GATE_LIMIT_NS / 1e6);
    }
    return GPU_OK;
}

static enum gpu_status submit_chain(struct chain *chain, const struct gpu_launch *between, launch_function *submit,
                                    unsigned length)
{
    struct stamp_launch *stamps = &chain->stamps;
    stamp_launch_reset(stamps);
    stamp_launch_aim(stamps);
    enum gpu_status status = gpu_launch_runtime(&stamps->launch);
    for (unsigned i = 0; i < length && !status; i++) {
        if (between == &stamps->launch) stamp_launch_aim(stamps);
        status = submit(between);
    }
    if (status) return status;
    stamp_launch_aim(stamps);
    return gpu_launch_runtime(&stamps->launch);
}

enum gpu_status chain_elapsed(struct chain *chain, enum chain_kind kind, unsigned length, double *elapsed_ns)
{
    const struct gpu_launch *between = kind == CHAIN_STAMPS ? &chain->stamps.launch : &chain->empty;
    return chain_elapsed_launch(chain, between, gpu_launch_runtime, length, elapsed_ns);
}

enum gpu_status chain_elapsed_launch(struct chain *chain, const struct gpu_launch *between, launch_function *submit,
                                     unsigned length, double *elapsed_ns)
{
    enum gpu_status status = chain_hold(chain);
    if (!status) status = submit_chain(chain, between, submit, length);
    enum gpu_status released = chain_release(chain);
    if (status || released) return status ? status : released;
    status = stamp_launch_read(&chain->stamps);
    if (status) return status;
    const struct stamp *stamp = chain->stamps.stamp;
    *elapsed_ns = (double)(stamp[chain->stamps.used - 1].begin_ticks - stamp[0].begin_ticks) * gpu_clock_ns_per_tick();
    return GPU_OK;
}

// The shortest of some tries, as what disturbs prolongs.
static enum gpu_status shortest_chain(struct chain *chain, const struct gpu_launch *launch, double *ns)
{
    enum gpu_status status = GPU_OK;
    *ns = INFINITY;
    for (unsigned i = 0; i < COST_PASSES && !status; i++) {
        double elapsed_ns = 0;
        status = chain_elapsed_launch(chain, launch, gpu_launch_runtime, COST_CHAIN, &elapsed_ns);
        *ns = fmin(*ns, elapsed_ns);
    }
    return status;
}

enum gpu_status chain_stamps_cost(struct chain *chain, const struct gpu_launch *stamping, double *ns)
{
    struct gpu_launch empty = chain->empty;
    double stamped_ns = 0, empty_ns = 0;
    empty.grid[0] = stamping->grid[0];
    empty.block[0] = stamping->block[0];
    enum gpu_status status = gpu_launch_prepare(&empty);
    if (!status) status = shortest_chain(chain, stamping, &stamped_ns);
    if (!status) status = shortest_chain(chain, &empty, &empty_ns);
    *ns = fmax((stamped_ns - empty_ns) / COST_CHAIN, 0);
    return status;
}
