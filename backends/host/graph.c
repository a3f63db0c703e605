// SPDX-License-Identifier: Apache-2.0
// Graphs of the host device: packets in an order that their dependencies allow, which a launch copies into a stream's
// ring.
#include "backends/gpu_graph.h"

#include <stdlib.h>
#include <string.h>

#include "backends/host/device.h"
#include "backends/host/inject.h"

struct gpu_graph {
    struct recording recording;
};
struct gpu_graph_executable {
    struct recording recording;
};

enum { GRAPH_PACKETS_MAX = RING_PACKETS - 1 }; // of a capture

static enum gpu_status no_memory(void) { return gpu_reason(GPU_FAILED, "no memory for a graph"); }

static struct packet *packets_new(uint32_t room)
{
    void *packets = NULL;
    return posix_memalign(&packets, LINE_BYTES, room * sizeof(struct packet)) ? NULL : packets;
}

enum gpu_status gpu_capture_begin(struct gpu_stream *stream)
{
    if (stream->recording) return gpu_reason(GPU_FAILED, "the stream is being captured already");
    struct gpu_graph *graph = calloc(1, sizeof *graph);
    if (!graph) return no_memory();
    graph->recording.packets = packets_new(GRAPH_PACKETS_MAX);
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
    *graph = captured->recording.refused ? NULL : captured;
    if (*graph) return GPU_OK;
    gpu_graph_destroy(captured);
    return gpu_reason(GPU_UNSUPPORTED, "the host device's graphs are lines of %d commands with little arguments",
                      GRAPH_PACKETS_MAX);
}

enum gpu_status gpu_capture_keeps_dependent(void)
{
    return gpu_reason(GPU_UNSUPPORTED, "the host device has no dependent launches");
}

enum gpu_status gpu_graph_instantiate(struct gpu_graph *graph, struct gpu_graph_executable **executable)
{
    struct gpu_graph_executable *created = calloc(1, sizeof *created);
    if (!created) return no_memory();
    created->recording = graph->recording;
    created->recording.packets = packets_new(graph->recording.count ? graph->recording.count : 1);
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
    const struct recording *recording = &executable->recording;
    uint32_t fault = FAULT_NONE;
    if (__builtin_expect(inject.active, 0) && recording->count) {
        enum gpu_status status = inject_launch(recording->packets[0].kernel.symbol, 0, &fault);
        if (status) return status;
    }
    stream_replay(stream, recording->packets, recording->count, fault);
    return GPU_OK;
}

enum gpu_status gpu_graph_create(struct gpu_graph **graph)
{
    *graph = calloc(1, sizeof **graph);
    return *graph ? GPU_OK : no_memory();
}

// Twice the room, or the first.
static enum gpu_status grow(struct recording *recording)
{
    uint32_t room = recording->room ? 2 * recording->room : 16;
    struct packet *packets = packets_new(room);
    if (!packets) return no_memory();
    if (recording->count) memcpy(packets, recording->packets, recording->count * sizeof *packets);
    free(recording->packets);
    recording->packets = packets;
    recording->room = room;
    return GPU_OK;
}

static enum gpu_status put_argument(struct packet *packet, const struct gpu_launch *launch)
{
    if (launch->argument_bytes > INLINE_BYTES)
        return gpu_reason(GPU_UNSUPPORTED, "a node of the host device's graphs takes %d bytes of argument",
                          INLINE_BYTES);
    if (launch->argument_bytes) memcpy(packet->inline_argument, launch->argument, launch->argument_bytes);
    return GPU_OK;
}

// A node is the number of its packet, and 1, made a pointer. Nodes are added after those that they run after,
// and so lie in a good order.
static struct gpu_graph_node *node_of(uint32_t index) { return (struct gpu_graph_node *)((uintptr_t)index + 1); }
static uint32_t index_of(const struct gpu_graph_node *node) { return (uint32_t)((uintptr_t)node - 1); }

enum gpu_status gpu_graph_add(struct gpu_graph *graph, struct gpu_graph_node **node,
                              struct gpu_graph_node *const *after, unsigned count, const struct gpu_launch *launch)
{
    struct recording *recording = &graph->recording;
    for (unsigned i = 0; i < count; i++)
        if (index_of(after[i]) >= recording->count) return gpu_reason(GPU_FAILED, "a node is to run after no node");
    if (recording->count == recording->room) {
        enum gpu_status status = grow(recording);
        if (status) return status;
    }
    struct packet *packet = &recording->packets[recording->count];
    packet_kernel(packet, launch->kernel, launch->grid);
    enum gpu_status status = put_argument(packet, launch);
    if (!status) *node = node_of(recording->count++);
    return status;
}

enum gpu_status gpu_graph_upload(struct gpu_graph_executable *executable, struct gpu_stream *stream)
{
    (void)executable, (void)stream;
    return GPU_OK; // the device reads the host's memory
}

enum gpu_status gpu_graph_set(struct gpu_graph_executable *executable, struct gpu_graph_node *node,
                              const struct gpu_launch *launch)
{
    if (index_of(node) >= executable->recording.count) return gpu_reason(GPU_FAILED, "the executable has no such node");
    return put_argument(&executable->recording.packets[index_of(node)], launch);
}

enum gpu_status gpu_graph_update(struct gpu_graph_executable *executable, struct gpu_graph *graph)
{
    if (graph->recording.count != executable->recording.count)
        return gpu_reason(GPU_FAILED, "the graph has %u nodes, the executable %u", graph->recording.count,
                          executable->recording.count);
    memcpy(executable->recording.packets, graph->recording.packets, graph->recording.count * sizeof(struct packet));
    return GPU_OK;
}

enum gpu_status gpu_graph_add_condition(struct gpu_graph *graph, struct gpu_graph_node **node,
                                        struct gpu_graph_node *const *after, unsigned count,
                                        enum gpu_graph_condition condition, uint64_t *handle, struct gpu_graph **body)
{
    (void)graph, (void)node, (void)after, (void)count, (void)condition, (void)handle, (void)body;
    return gpu_reason(GPU_UNSUPPORTED, "the host device's graphs have no conditional nodes");
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
