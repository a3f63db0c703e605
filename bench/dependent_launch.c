// SPDX-License-Identifier: Apache-2.0
// What a launch saves that may start before the kernel ahead of it has ended: gap, overlap and period, by the moment at
// which that kernel lets it start, with a wait for its end and without, in a stream and in a graph.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/gpu_graph.h"
#include "backends/gpu_stream.h"
#include "common/bench.h"
#include "common/dependency.h"
#include "common/parts.h"

GPU_KERNEL(dependent_link);

enum { LINKS = 100, LINKS_LONG = 20, LONG_NS = 50000, ROOM = 104, DURATION_NS = 10000 };
_Static_assert((int)ROOM > LINKS + BENCH_LEAD, "a chain has room");
_Static_assert((int)ROOM < CHAIN_LENGTH_MAX, "a chain fits the queue");

enum way { WAY_STREAM, WAY_ATTRIBUTE, WAY_START, WAY_MIDDLE, WAY_END };
static const char *const way_names[] = {"stream", "attribute", "trigger_start", "trigger_middle", "trigger_end"};

// One kind of chain.
static struct plan_entry {
    enum way way;
    bool graph, waits, full; // FULL: a block for each multiprocessor, not one in all
    unsigned duration_ns;
} entries[64];
static unsigned entry_count;

static struct chain chain;
static struct parts parts;
static double stamps_cost_ns[2];             // of one block, and of a full device
static struct dependent_stamp *out, *stamps; // the device's, and as the host read them: ROOM grids
static struct dependent_argument argument;
static struct gpu_launch first, link; // the link that waits for the gate, and those behind it
static double budget_share;

static unsigned blocks_of(const struct plan_entry *entry) { return entry->full ? gpu_multiprocessors() : 1; }

// --- gap, overlap, period, order_broken: a chain behind a gate ---------------------------------------------

static enum gpu_status prepare_links(const struct plan_entry *entry)
{
    static const enum dependent_trigger triggers[] = {[WAY_STREAM] = DEPENDENT_TRIGGER_NEVER,
                                                      [WAY_ATTRIBUTE] = DEPENDENT_TRIGGER_NEVER,
                                                      [WAY_START] = DEPENDENT_TRIGGER_START,
                                                      [WAY_MIDDLE] = DEPENDENT_TRIGGER_MIDDLE,
                                                      [WAY_END] = DEPENDENT_TRIGGER_END};
    argument = (struct dependent_argument){.spin_ticks = (uint64_t)(entry->duration_ns / gpu_clock_ns_per_tick()),
                                           .trigger = triggers[entry->way],
                                           .waits = entry->waits};
    enum gpu_status status = launch_prepare(&first, gpu_kernel(dependent_link), blocks_of(entry), LAUNCH_BLOCK_THREADS,
                                            &argument, sizeof argument, chain.stream);
    if (status) return status;
    link = first;
    link.dependent = entry->way != WAY_STREAM;
    status = gpu_launch_prepare(&link);
    return status || !entry->graph || !link.dependent ? status : gpu_capture_keeps_dependent();
}

// Submits a chain of COUNT grids, the first of which is number FROM.
static enum gpu_status submit_chain(unsigned count, unsigned blocks, uint64_t from)
{
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < count && !status; i++) {
        argument.out = out + i * blocks;
        argument.before = i ? argument.out - blocks : NULL;
        argument.sequence = from + i;
        status = i && link.dependent ? gpu_launch_ex(&link) : gpu_launch_runtime(&first);
    }
    return status;
}

// The same as a graph, which has run once when this returns: its first launch brings it to the device.
static enum gpu_status make_graph(unsigned count, unsigned blocks, uint64_t from,
                                  struct gpu_graph_executable **executable)
{
    enum gpu_status status = gpu_capture_begin(chain.stream);
    if (status) return status;
    status = launch_capture_end(chain.stream, submit_chain(count, blocks, from), executable);
    return status ? status : launch_drain(chain.stream, gpu_graph_launch(*executable, chain.stream));
}

// What an earlier chain, or the graph's first launch, left is wiped out before the gate closes, so that neither a stamp
// nor a value of it passes for this one's.
static enum gpu_status run_chain(const struct plan_entry *entry, unsigned count)
{
    static uint64_t sequence = 1;
    const unsigned blocks = blocks_of(entry);
    const uint64_t from = sequence;
    struct gpu_graph_executable *executable = NULL;
    enum gpu_status status = entry->graph ? make_graph(count, blocks, from, &executable) : GPU_OK;
    sequence += count;
    if (!status) status = gpu_stream_set(chain.stream, out, 0, (size_t)count * blocks * sizeof *out);
    if (!status) {
        status = chain_hold(&chain);
        if (!status)
            status = entry->graph ? gpu_graph_launch(executable, chain.stream) : submit_chain(count, blocks, from);
        enum gpu_status released = chain_release(&chain);
        if (!status) status = released;
    }
    gpu_graph_executable_destroy(executable);
    if (!status) status = gpu_read(stamps, out, (size_t)count * blocks * sizeof *stamps);
    for (unsigned i = 0; i < count && !status; i++)
        status = launch_check_stamps(&stamps[i * blocks].sequence, sizeof *stamps, blocks, from + i);
    return status;
}

static enum gpu_status check_order(const struct plan_entry *entry, const struct dependency *found)
{
    if (entry->way != WAY_STREAM && !entry->waits) return GPU_OK;
    if (found->broken)
        return gpu_reason(GPU_FAILED, "%u of %u blocks did not read what the kernel ahead of them had written%s",
                          found->broken, blocks_of(entry),
                          entry->waits ? ", though they waited (is this built for compute capability 9.0?)" : "");
    if (found->gap >= 0) return GPU_OK;
    return gpu_reason(GPU_FAILED, "a block went on %.0f ns before the kernel ahead had ended",
                      (double)-found->gap * gpu_clock_ns_per_tick());
}

// Chains of kernels, each of which needs a value of the one before, all of them in the queue before a gate opens.
// gap: from the producer's last end of any block to the consumer's first clock read of any block past its wait, or, of
// `stream`, which needs none, the first of all. overlap: from the consumer's first clock read of any block to the
// producer's last end. period: from the producer's first clock read of any block to the consumer's. order_broken: of
// all blocks of a chain, those that did not read what was there for them when the producer had ended; its samples are
// alike.
static enum gpu_status measure_chain(struct bench_case *c, unsigned samples, double *values)
{
    const struct plan_entry *entry = &entries[(unsigned)c->argument];
    const bool has_gap = entry->waits || entry->way == WAY_STREAM;
    const unsigned blocks = blocks_of(entry);
    const double ns = gpu_clock_ns_per_tick();
    enum gpu_status status = prepare_links(entry);
    if (!status) status = run_chain(entry, samples + 1);
    uint64_t broken = 0;
    for (unsigned i = 0; i < samples && !status; i++) {
        const struct dependent_stamp *producer = stamps + i * blocks;
        const struct dependency found = dependency_between(producer, producer + blocks, blocks);
        status = check_order(entry, &found);
        broken += found.broken;
        values[i] = (double)found.period * ns;
        values[samples + i] = (double)found.overlap * ns;
        values[2 * samples + i] = (double)found.gap * ns; // where there is none, order_broken takes its place
    }
    for (unsigned i = 0; i < samples && !has_gap; i++)
        values[2 * samples + i] = (double)broken / ((double)samples * blocks);
    c->error_bound[0] = sync_device_resolution_ns();
    c->error_bound[1] = sync_device_resolution_ns() + stamps_cost_ns[entry->full];
    c->error_bound[2] = has_gap ? c->error_bound[1] : 0;
    return status;
}

// --- submit, launch_latency, round_trip: one launch --------------------------------------------------------

// Of a launch into an idle device, of `stream` by the plain call, of `attribute` by the one that takes attributes.
// launch_latency: from before the call to the first thread's first clock read. submit: from before the call to its
// return. round_trip: from before the call until the host, which spins, knows that the stream is empty.
static enum gpu_status measure_single(struct bench_case *c, unsigned samples, double *values)
{
    parts.stamps.launch.dependent = (enum way)c->argument != WAY_STREAM;
    enum gpu_status status = gpu_launch_prepare(&parts.stamps.launch);
    if (!status) status = parts_begin(&parts);
    if (status) return status;
    if (parts.stamps.launch.dependent)
        for (unsigned i = 0; i < samples && !status; i++) status = parts_launch(&parts, gpu_launch_ex);
    else
        for (unsigned i = 0; i < samples && !status; i++) status = parts_launch(&parts, gpu_launch_runtime);
    status = parts_end(&parts, status);
    for (unsigned i = 0; i < samples && !status; i++) {
        values[i] = parts_launch_latency(&parts, i);
        values[samples + i] = parts_submit(&parts, i);
        values[2 * samples + i] = parts_round_trip(&parts, i);
    }
    c->error_bound[0] = parts_bound_ns(&parts);
    c->error_bound[1] = c->error_bound[2] = parts.clock_error_ns;
    return status;
}

// --- The plan ----------------------------------------------------------------------------------------------

static void add_chain(struct bench_plan *plan, enum way way, bool waits, bool graph, bool full, unsigned duration_ns)
{
    const struct plan_entry entry = {way, graph, waits, full, duration_ns};
    const double resolution = sync_device_resolution_ns();
    struct bench_case c = {.variant = way_names[way],
                           .axis = "duration_ns",
                           .axis_value = duration_ns,
                           .samples = duration_ns >= LONG_NS ? LINKS_LONG : LINKS,
                           .budget_share = budget_share,
                           .measure = measure_chain,
                           .argument = entry_count,
                           .outputs = {{"period", "ns", "lower", .resolution = resolution},
                                       {"overlap", "ns", "higher", .resolution = resolution},
                                       {"gap", "ns", "lower", .resolution = resolution}}};
    if (way != WAY_STREAM && !waits)
        c.outputs[2] = (struct bench_output){"order_broken", "ratio", "lower",
                                             .resolution = 1.0 / (c.samples * blocks_of(&entry))};
    assert(entry_count < sizeof entries / sizeof *entries);
    entries[entry_count++] = entry;
    snprintf(c.params, sizeof c.params, "block_threads=32;blocks=%s;mechanism=%s;wait=%s",
             full ? "multiprocessors" : "1", graph ? "graph" : "stream", waits ? "yes" : "no");
    if (full) snprintf(c.detail, sizeof c.detail, "blocks=%u", gpu_multiprocessors());
    bench_add(plan, &c);
}

static void add_single(struct bench_plan *plan, enum way way)
{
    const struct bench_case c = {
        .variant = way_names[way],
        .params = LAUNCH_PARAMS ";kernel=stamp",
        .samples = 20,
        .budget_share = budget_share,
        .measure = measure_single,
        .argument = way,
        .outputs = {{"launch_latency", "ns", "lower", .resolution = sync_device_resolution_ns()},
                    {"submit", "ns", "lower"},
                    {"round_trip", "ns", "lower"}}};
    bench_add(plan, &c);
}

// The plain launch, and all that can be made of a dependent one, or with SOME the waiting ones and a trigger that
// nobody heeds.
static void add_ways(struct bench_plan *plan, bool graph, bool full, bool some)
{
    add_chain(plan, WAY_STREAM, false, graph, full, DURATION_NS);
    for (int way = WAY_ATTRIBUTE; way <= WAY_END; way++) {
        add_chain(plan, (enum way)way, true, graph, full, DURATION_NS);
        if (!some || way == WAY_START) add_chain(plan, (enum way)way, false, graph, full, DURATION_NS);
    }
}

static void plan_cases(struct bench_plan *plan, bool quick)
{
    static const unsigned durations_ns[] = {0, 2000, LONG_NS};
    budget_share = quick ? 0.25 : 0.1;
    add_single(plan, WAY_STREAM);
    add_single(plan, WAY_ATTRIBUTE);
    if (quick) {
        add_chain(plan, WAY_STREAM, false, false, false, DURATION_NS);
        add_chain(plan, WAY_ATTRIBUTE, true, false, false, DURATION_NS);
        add_chain(plan, WAY_START, true, false, false, DURATION_NS);
        add_chain(plan, WAY_START, false, false, false, DURATION_NS);
        return;
    }
    add_ways(plan, false, false, false);
    add_ways(plan, false, true, true);
    add_ways(plan, true, false, true);
    for (unsigned d = 0; d < sizeof durations_ns / sizeof *durations_ns; d++) {
        add_chain(plan, WAY_STREAM, false, false, false, durations_ns[d]);
        add_chain(plan, WAY_ATTRIBUTE, true, false, false, durations_ns[d]);
        add_chain(plan, WAY_START, true, false, false, durations_ns[d]);
    }
}

// Each shape runs once before a gate closes: loading a kernel may wait for the stream.
static enum gpu_status measure_costs(void)
{
    enum gpu_status status = GPU_OK;
    for (unsigned full = 0; full < 2 && !status; full++) {
        status = prepare_links(&(struct plan_entry){.way = WAY_STREAM, .full = full});
        if (!status) status = launch_drain(chain.stream, submit_chain(1, 1, 1));
        if (!status) status = chain_stamps_cost(&chain, &first, &stamps_cost_ns[full]);
    }
    return status;
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    const size_t bytes = (size_t)ROOM * gpu_multiprocessors() * sizeof *stamps;
    void *device_stamps;
    enum gpu_status status = sync_open();
    if (!status) status = chain_open(&chain);
    if (!status) status = parts_open(&parts, &chain);
    if (!status) status = gpu_alloc(&device_stamps, bytes);
    if (status) return status;
    out = device_stamps;
    stamps = malloc(bytes);
    if (!stamps) return gpu_reason(GPU_FAILED, "no memory for %zu bytes of stamps", bytes);
    status = measure_costs();
    if (!status) plan_cases(plan, quick);
    return status;
}

static void teardown(void)
{
    gpu_free(out);
    free(stamps);
    parts_close(&parts);
    chain_close(&chain);
    sync_close();
}

const struct benchmark dependent_launch_benchmark = {
    .name = "dependent_launch",
    .summary = "launches that may start before the kernel ahead has ended: gap, overlap and order",
    .source = "claim C18",
    .seconds = 3.5,
    .quick_seconds = 0.6,
    .setup = setup,
    .teardown = teardown,
};
