// SPDX-License-Identifier: Apache-2.0
// Graphs whose nodes append their stamps. See graph_again.h.
#include "common/graph_again.h"

#include "backends/gpu_graph.h"
#include "backends/gpu_stream.h"
#include "backends/kernels/graph.h"

GPU_KERNEL(append);
GPU_KERNEL(append_while);

enum { ROOM = 2 * GRAPH_AGAIN_NODES };

static struct {
    struct gpu_stream *stream;
    struct append_argument argument;
    struct stamp stamp[ROOM];
    struct gpu_graph *graph[GRAPH_AGAIN_WAYS];
    struct gpu_graph_executable *executable[GRAPH_AGAIN_WAYS];
} again;

enum gpu_status graph_again_open(struct gpu_stream *stream)
{
    void *out, *count;
    again.stream = stream;
    enum gpu_status status = gpu_alloc(&out, sizeof again.stamp);
    if (!status) status = gpu_alloc(&count, sizeof *again.argument.count);
    if (status) return status;
    again.argument = (struct append_argument){.out = out, .count = count, .sequence = 1};
    return GPU_OK;
}

void graph_again_close(void)
{
    for (unsigned way = 0; way < GRAPH_AGAIN_WAYS; way++) {
        gpu_graph_executable_destroy(again.executable[way]);
        gpu_graph_destroy(again.graph[way]);
    }
    if (again.argument.out) gpu_free(again.argument.out);
    if (again.argument.count) gpu_free(again.argument.count);
}

static enum gpu_status add_node(struct gpu_graph *graph, enum graph_again_way way, struct gpu_graph_node **node,
                                unsigned count)
{
    struct gpu_launch launch;
    struct gpu_graph_node *after = *node, *inner;
    struct gpu_graph *body = NULL;
    const bool loops = way == GRAPH_AGAIN_WHILE;
    enum gpu_status status = GPU_OK;
    if (way != GRAPH_AGAIN_PLAIN)
        status = gpu_graph_add_condition(graph, node, &after, count, loops ? GPU_GRAPH_WHILE : GPU_GRAPH_IF,
                                         &again.argument.handle, &body);
    if (!status)
        status = launch_prepare(&launch, loops ? gpu_kernel(append_while) : gpu_kernel(append), 1, LAUNCH_BLOCK_THREADS,
                                &again.argument, sizeof again.argument, again.stream);
    if (status) return status;
    return body ? gpu_graph_add(body, &inner, NULL, 0, &launch) : gpu_graph_add(graph, node, &after, count, &launch);
}

// What was not made before. A second try is not made of what failed: it would leave half a graph.
static enum gpu_status make(enum graph_again_way way)
{
    if (again.executable[way]) return GPU_OK;
    gpu_graph_destroy(again.graph[way]);
    again.graph[way] = NULL;
    struct gpu_graph_node *node = NULL;
    const unsigned nodes = way == GRAPH_AGAIN_WHILE ? 1 : GRAPH_AGAIN_NODES;
    again.argument.room = way == GRAPH_AGAIN_PLAIN ? ROOM : GRAPH_AGAIN_NODES;
    enum gpu_status status = gpu_graph_create(&again.graph[way]);
    for (unsigned i = 0; i < nodes && !status; i++) status = add_node(again.graph[way], way, &node, i > 0);
    return status ? status : gpu_graph_instantiate(again.graph[way], &again.executable[way]);
}

// Forgets all stamps.
static enum gpu_status begin(void)
{
    enum gpu_status status = gpu_stream_set(again.stream, again.argument.out, 0, sizeof again.stamp);
    if (!status) status = gpu_stream_set(again.stream, again.argument.count, 0, sizeof *again.argument.count);
    return launch_drain(again.stream, status);
}

static enum gpu_status read_stamps(unsigned expected)
{
    uint64_t count;
    enum gpu_status status = gpu_read(&count, again.argument.count, sizeof count);
    if (!status) status = gpu_read(again.stamp, again.argument.out, sizeof again.stamp);
    if (status) return status;
    if (count != expected)
        return gpu_reason(GPU_FAILED, "%llu kernels of a graph did run, not %u", (unsigned long long)count, expected);
    for (unsigned i = 0; i < expected; i++)
        if (again.stamp[i].sequence != again.argument.sequence + i ||
            (i && again.stamp[i].begin_ticks < again.stamp[i - 1].end_ticks))
            return gpu_reason(GPU_FAILED, "stamp %u of a graph's %u is missing or out of order", i, expected);
    return GPU_OK;
}

enum gpu_status graph_again_running(double *submit_ns, double *gap_ns)
{
    enum gpu_status status = make(GRAPH_AGAIN_PLAIN);
    if (!status) status = begin();
    if (status) return status;
    struct gpu_graph_executable *executable = again.executable[GRAPH_AGAIN_PLAIN];
    status = gpu_graph_launch(executable, again.stream);
    uint64_t called = clock_ticks();
    enum gpu_status second = gpu_graph_launch(executable, again.stream);
    uint64_t returned = clock_ticks();
    status = launch_drain(again.stream, status ? status : second);
    if (!status) status = read_stamps(ROOM);
    *submit_ns = clock_ns(returned - called);
    *gap_ns = (double)(again.stamp[GRAPH_AGAIN_NODES].begin_ticks - again.stamp[GRAPH_AGAIN_NODES - 1].end_ticks) *
              gpu_clock_ns_per_tick();
    return status;
}

enum gpu_status graph_again_iteration(enum graph_again_way way, double *ns)
{
    enum gpu_status status = make(way);
    if (!status) status = begin();
    if (status) return status;
    status = launch_drain(again.stream, gpu_graph_launch(again.executable[way], again.stream));
    if (!status) status = read_stamps(GRAPH_AGAIN_NODES);
    *ns = (double)(again.stamp[GRAPH_AGAIN_NODES - 1].begin_ticks - again.stamp[0].begin_ticks) *
          gpu_clock_ns_per_tick() / (GRAPH_AGAIN_NODES - 1);
    return status;
}
