// SPDX-License-Identifier: Apache-2.0
// The part of the contract (gpu.h) about graphs: commands and their order, handed over once and launched as one.
#ifndef LIFTOFF_GPU_GRAPH_H
#define LIFTOFF_GPU_GRAPH_H

#include "backends/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_graph;            // the description
struct gpu_graph_executable; // ready to be launched

// From now on what the calling thread submits to STREAM is written down, not run, until gpu_capture_end makes a graph
// of it. One call of the vendor's each, as are the next two.
enum gpu_status gpu_capture_begin(struct gpu_stream *stream);
enum gpu_status gpu_capture_end(struct gpu_stream *stream, struct gpu_graph **graph);

// Whether what is captured of a dependent launch (gpu.h) is dependent in the graph, too; else GPU_UNSUPPORTED.
enum gpu_status gpu_capture_keeps_dependent(void);

enum gpu_status gpu_graph_instantiate(struct gpu_graph *graph, struct gpu_graph_executable **executable);
enum gpu_status gpu_graph_launch(struct gpu_graph_executable *executable, struct gpu_stream *stream);

// --- Graphs built node by node -----------------------------------------------------------------------------

struct gpu_graph_node; // belongs to its graph

enum gpu_status gpu_graph_create(struct gpu_graph **graph);

// Adds a kernel that runs after the COUNT nodes at AFTER have ended. Of LAUNCH, which is prepared, the argument is
// copied; its stream is not heeded. One call of the vendor's, as are the next three.
enum gpu_status gpu_graph_add(struct gpu_graph *graph, struct gpu_graph_node **node,
                              struct gpu_graph_node *const *after, unsigned count, const struct gpu_launch *launch);

// Brings to the device what a first launch would bring, in STREAM's order.
enum gpu_status gpu_graph_upload(struct gpu_graph_executable *executable, struct gpu_stream *stream);

// Gives the executable's NODE, named by the graph that it was made from, the argument of LAUNCH.
enum gpu_status gpu_graph_set(struct gpu_graph_executable *executable, struct gpu_graph_node *node,
                              const struct gpu_launch *launch);

// Gives all nodes the arguments of those of GRAPH, which is alike.
enum gpu_status gpu_graph_update(struct gpu_graph_executable *executable, struct gpu_graph *graph);

// A node whose BODY, a graph to be filled and owned by GRAPH, runs if the condition is not 0, or for as long as it is
// not. Each launch of the graph sets the condition to 1; a kernel may set it by *HANDLE (kernel.h).
enum gpu_graph_condition { GPU_GRAPH_IF, GPU_GRAPH_WHILE };
enum gpu_status gpu_graph_add_condition(struct gpu_graph *graph, struct gpu_graph_node **node,
                                        struct gpu_graph_node *const *after, unsigned count,
                                        enum gpu_graph_condition condition, uint64_t *handle, struct gpu_graph **body);

// --- The end -----------------------------------------------------------------------------------------------

// Both may be NULL. An executable does not need its graph any more.
void gpu_graph_destroy(struct gpu_graph *graph);
void gpu_graph_executable_destroy(struct gpu_graph_executable *executable);

#ifdef __cplusplus
}
#endif
#endif
