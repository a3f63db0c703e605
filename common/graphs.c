// SPDX-License-Identifier: Apache-2.0
// Graphs of stamping nodes. See graphs.h.
#include "common/graphs.h"

#include <assert.h>
#include <stdlib.h>

GPU_KERNEL(stamp);

const char *const graph_shape_names[GRAPH_SHAPES] = {"line", "fan", "parallel", "mixed"};

enum { LAYER_NODES = 4 };

static struct {
    struct gpu_launch launch;
    struct stamp_argument argument;
    struct stamp *device, *stamp;
    struct gpu_graph_node **node;
    unsigned nodes_max;
    uint64_t next_sequence, newest_ticks;
} graphs;

enum gpu_status graphs_open(struct gpu_stream *stream, unsigned nodes_max)
{
    void *memory;
    enum gpu_status status = gpu_alloc(&memory, nodes_max * sizeof *graphs.device);
    if (status) return status;
    graphs.device = memory;
    graphs.nodes_max = nodes_max;
    graphs.next_sequence = 1; // memory that nobody wrote holds 0
    graphs.stamp = calloc(nodes_max, sizeof *graphs.stamp);
    graphs.node = calloc(nodes_max, sizeof *graphs.node);
    if (!graphs.stamp || !graphs.node) return gpu_reason(GPU_FAILED, "no memory for %u nodes", nodes_max);
    return launch_prepare(&graphs.launch, gpu_kernel(stamp), 1, LAUNCH_BLOCK_THREADS, &graphs.argument,
                          sizeof graphs.argument, stream);
}

void graphs_close(void)
{
    if (graphs.device) gpu_free(graphs.device);
    free(graphs.stamp);
    free(graphs.node);
    graphs.device = graphs.stamp = NULL;
    graphs.node = NULL;
}

const struct gpu_launch *stamp_graph_aim(const struct stamp_graph *graph, unsigned i)
{
    graphs.argument.out = graphs.device + i;
    graphs.argument.sequence = graph->sequence + i;
    return &graphs.launch;
}

void stamp_graph_number(struct stamp_graph *graph)
{
    assert(graph->nodes <= graphs.nodes_max);
    graph->sequence = graphs.next_sequence;
    graph->changed_sequence = 0;
    graphs.next_sequence += graph->nodes;
}

// Those that node I runs after: *COUNT of them, from the one returned on.
static unsigned predecessors(const struct stamp_graph *graph, unsigned i, unsigned *count)
{
    const bool last = i == graph->nodes - 1;
    *count = 0;
    switch (graph->shape) {
    case GRAPH_LINE: *count = i > 0; return i ? i - 1 : 0;
    case GRAPH_FAN: *count = i == 0 ? 0 : last && i > 1 ? i - 1 : 1; return last && i > 1;
    case GRAPH_MIXED:
        *count = i < LAYER_NODES ? 0 : LAYER_NODES;
        return *count ? (i / LAYER_NODES - 1) * LAYER_NODES : 0;
    default: return 0;
    }
}

enum gpu_status stamp_graph_build(struct stamp_graph *graph)
{
    stamp_graph_number(graph);
    enum gpu_status status = gpu_graph_create(&graph->graph);
    for (unsigned i = 0; i < graph->nodes && !status; i++) {
        unsigned count, first = predecessors(graph, i, &count);
        status = gpu_graph_add(graph->graph, &graphs.node[i], graphs.node + first, count, stamp_graph_aim(graph, i));
    }
    return status;
}

struct gpu_graph_node *stamp_graph_node(unsigned i) { return graphs.node[i]; }

const struct gpu_launch *stamp_graph_change(struct stamp_graph *graph, unsigned changed)
{
    const struct gpu_launch *launch = stamp_graph_aim(graph, changed);
    graph->changed = changed;
    graphs.argument.sequence = graph->changed_sequence = graphs.next_sequence++;
    return launch;
}

enum gpu_status stamp_graph_submit_each(const struct stamp_graph *graph)
{
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < graph->nodes && !status; i++) status = gpu_launch_runtime(stamp_graph_aim(graph, i));
    return status;
}

enum gpu_status stamp_graph_capture(struct stamp_graph *graph)
{
    assert(graph->shape == GRAPH_LINE);
    stamp_graph_number(graph);
    enum gpu_status status = gpu_capture_begin(graphs.launch.stream);
    if (status) return status;
    status = stamp_graph_submit_each(graph);
    enum gpu_status ended = gpu_capture_end(graphs.launch.stream, &graph->graph);
    return status ? status : ended;
}

enum gpu_status stamp_graph_make(struct stamp_graph *graph)
{
    enum gpu_status status = graph->graph ? GPU_OK : stamp_graph_build(graph);
    if (!status && !graph->executable) status = gpu_graph_instantiate(graph->graph, &graph->executable);
    return status;
}

void stamp_graph_destroy(struct stamp_graph *graph)
{
    gpu_graph_executable_destroy(graph->executable);
    gpu_graph_destroy(graph->graph);
    graph->executable = NULL;
    graph->graph = NULL;
}

static uint64_t expected_sequence(const struct stamp_graph *graph, unsigned i)
{
    return graph->changed_sequence && i == graph->changed ? graph->changed_sequence : graph->sequence + i;
}

static enum gpu_status check_order(const struct stamp_graph *graph)
{
    for (unsigned i = 0; i < graph->nodes; i++) {
        unsigned count, first = predecessors(graph, i, &count);
        for (unsigned k = first; k < first + count; k++)
            if (graphs.stamp[k].end_ticks > graphs.stamp[i].begin_ticks)
                return gpu_reason(GPU_FAILED, "node %u of %u began before node %u, which it runs after, had ended", i,
                                  graph->nodes, k);
    }
    return GPU_OK;
}

enum gpu_status stamp_graph_check(const struct stamp_graph *graph)
{
    enum gpu_status status = gpu_read(graphs.stamp, graphs.device, graph->nodes * sizeof *graphs.stamp);
    if (status) return status;
    uint64_t newest = graphs.newest_ticks;
    for (unsigned i = 0; i < graph->nodes; i++) {
        const struct stamp *stamp = &graphs.stamp[i];
        if (stamp->sequence != expected_sequence(graph, i) || stamp->begin_ticks < graphs.newest_ticks)
            return gpu_reason(GPU_FAILED, "node %u of %u left no stamp of this launch: it did not run", i,
                              graph->nodes);
        if (stamp->end_ticks > newest) newest = stamp->end_ticks;
    }
    graphs.newest_ticks = newest;
    return check_order(graph);
}

enum gpu_status stamp_graph_launch(const struct stamp_graph *graph, bool each, struct stamp_graph_times *times)
{
    struct gpu_stream *stream = graphs.launch.stream;
    enum gpu_status status;
    uint64_t called = clock_ticks(), returned;
    if (each) {
        status = stamp_graph_submit_each(graph);
        returned = clock_ticks();
    } else {
        status = gpu_graph_launch(graph->executable, stream);
        returned = clock_ticks();
    }
    status = launch_drain(stream, status);
    uint64_t known = clock_ticks();
    *times = (struct stamp_graph_times){called, clock_ns(returned - called), clock_ns(known - called)};
    return status ? status : stamp_graph_check(graph);
}

double stamp_graph_span_ns(const struct stamp_graph *graph)
{
    uint64_t begin = UINT64_MAX, end = 0;
    for (unsigned i = 0; i < graph->nodes; i++) {
        if (graphs.stamp[i].begin_ticks < begin) begin = graphs.stamp[i].begin_ticks;
        if (graphs.stamp[i].end_ticks > end) end = graphs.stamp[i].end_ticks;
    }
    return (double)(end - begin) * gpu_clock_ns_per_tick();
}

double stamp_graph_gap_ns(const struct stamp_graph *graph) { return launch_stamps_gap_ns(graphs.stamp, graph->nodes); }

uint64_t stamp_graph_begin_ticks(void) { return graphs.stamp[0].begin_ticks; }
