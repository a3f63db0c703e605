// SPDX-License-Identifier: Apache-2.0
// Graphs of the host device: a line of packets, which a launch copies into a stream's ring.
#include "backends/gpu_graph.h"

#include <stdlib.h>
#include <string.h>

#include "backends/host/device.h"

struct gpu_graph {
    struct recording recording;
};
struct gpu_graph_executable {
    struct recording recording;
};

enum { GRAPH_PACKETS_MAX = RING_PACKETS - 1 };

static enum gpu_status no_memory(void) { return gpu_reason(GPU_FAILED, "no memory for a graph"); }

static struct packet *packets_new(void)
{
    void *packets = NULL;
    return posix_memalign(&packets, LINE_BYTES, GRAPH_PACKETS_MAX * sizeof(struct packet)) ? NULL : packets;
}

enum gpu_status gpu_capture_begin(struct gpu_stream *stream)
{
    if (stream->recording) return gpu_reason(GPU_FAILED, "the stream is being captured already");
    struct gpu_graph *graph = calloc(1, sizeof *graph);
    if (!graph) return no_memory();
    graph->recording.packets = packets_new();
    graph->recording.room = GRAPH_PACKETS_MAX;
    if (!graph->recording.packets) {
        free(graph);
        return no_memory();
    }
    stream->recording = &graph->recording;
    return GPU_OK;
}

enum gpu_status gpu_capture_end(struct gpu_stream *stream, struct gpu_graph **graph)
{
    if (!stream->recording) return gpu_reason(GPU_FAILED, "the stream is not being captured");
    struct gpu_graph *captured = (struct gpu_graph *)stream->recording;
    stream->recording = NULL;
    *graph = captured;
    if (!captured->recording.refused) return GPU_OK;
    gpu_graph_destroy(captured);
    return gpu_reason(GPU_UNSUPPORTED, "the host device's graphs are lines of %d commands with little arguments",
                      GRAPH_PACKETS_MAX);
}

enum gpu_status gpu_graph_instantiate(struct gpu_graph *graph, struct gpu_graph_executable **executable)
{
    struct gpu_graph_executable *created = calloc(1, sizeof *created);
    if (!created) return no_memory();
    created->recording = graph->recording;
    created->recording.packets = packets_new();
    if (!created->recording.packets) {
        free(created);
        return no_memory();
    }
    memcpy(created->recording.packets, graph->recording.packets, graph->recording.count * sizeof(struct packet));
    *executable = created;
    return GPU_OK;
}

enum gpu_status gpu_graph_launch(struct gpu_graph_executable *executable, struct gpu_stream *stream)
{
    for (uint32_t i = 0; i < executable->recording.count; i++) stream_replay(stream, &executable->recording.packets[i]);
    return GPU_OK;
}

void gpu_graph_destroy(struct gpu_graph *graph)
{
    if (graph) free(graph->recording.packets);
    free(graph);
}

void gpu_graph_executable_destroy(struct gpu_graph_executable *executable)
{
    if (executable) free(executable->recording.packets);
    free(executable);
}
