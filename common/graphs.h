// SPDX-License-Identifier: Apache-2.0
// Graphs of stamping nodes, in a few shapes, and the proof that each node ran once it was launched, and after those
// that it runs after.
#ifndef LIFTOFF_GRAPHS_H
#define LIFTOFF_GRAPHS_H

#include "backends/gpu_graph.h"
#include "common/launch.h"

// LINE: each node after the one before. FAN: the first, then all others, then the last. PARALLEL: no order. MIXED:
// layers of 4, each node after all of the layer before.
enum graph_shape { GRAPH_LINE, GRAPH_FAN, GRAPH_PARALLEL, GRAPH_MIXED, GRAPH_SHAPES };
extern const char *const graph_shape_names[GRAPH_SHAPES];

struct stamp_graph {
    enum graph_shape shape;
    unsigned nodes;
    uint64_t sequence; // of node 0's stamp; the others' follow
    struct gpu_graph *graph;
    struct gpu_graph_executable *executable;
    unsigned changed; // a node whose stamp is CHANGED_SEQUENCE's, where that is not 0
    uint64_t changed_sequence;
};

// The stamps that all graphs write, NODES_MAX of them, and what fills in their launches. Once a process.
enum gpu_status graphs_open(struct gpu_stream *stream, unsigned nodes_max);
void graphs_close(void);

// The launch of node I with the argument that GRAPH gives it; valid until the next call.
const struct gpu_launch *stamp_graph_aim(const struct stamp_graph *graph, unsigned i);

// Makes the graph node by node, or by capturing a line; with sequences of its own.
enum gpu_status stamp_graph_build(struct stamp_graph *graph);
enum gpu_status stamp_graph_capture(struct stamp_graph *graph);

// Builds and instantiates what is not yet there.
enum gpu_status stamp_graph_make(struct stamp_graph *graph);

// Destroys both, which may not be there.
void stamp_graph_destroy(struct stamp_graph *graph);

// The handle of node I, as the last build gave it.
struct gpu_graph_node *stamp_graph_node(unsigned i);

// Renumbers node CHANGED; the launch with its new argument, valid until the next call.
const struct gpu_launch *stamp_graph_change(struct stamp_graph *graph, unsigned changed);

// Launches the nodes of a line one by one into the stream.
enum gpu_status stamp_graph_submit_each(const struct stamp_graph *graph);

// Gives a graph that nobody has built sequences that no other has.
void stamp_graph_number(struct stamp_graph *graph);

// Launches the graph, or with EACH its nodes one by one, into its stream, which is empty, waits for it and checks.
struct stamp_graph_times {
    uint64_t called;                 // before the call, or the first of them
    double submit_ns, round_trip_ns; // from there until it, or the last of them, has returned; and the synchronise
};
enum gpu_status stamp_graph_launch(const struct stamp_graph *graph, bool each, struct stamp_graph_times *times);

// Brings the stamps here, once the stream is drained. GPU_FAILED if a node did not run since the last call, left no
// stamp of its own, or began before one that it runs after had ended.
enum gpu_status stamp_graph_check(const struct stamp_graph *graph);

// Of the stamps that the last check brought, in ns: from the first begin to the last end; from a node's end to the next
// one's begin, on average over a line; the tick at which node 0 began.
double stamp_graph_span_ns(const struct stamp_graph *graph);
double stamp_graph_gap_ns(const struct stamp_graph *graph);
uint64_t stamp_graph_begin_ticks(void);

#endif
