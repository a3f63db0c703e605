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

enum gpu_status gpu_graph_instantiate(struct gpu_graph *graph, struct gpu_graph_executable **executable);
enum gpu_status gpu_graph_launch(struct gpu_graph_executable *executable, struct gpu_stream *stream);

// Both may be NULL. An executable does not need its graph any more.
void gpu_graph_destroy(struct gpu_graph *graph);
void gpu_graph_executable_destroy(struct gpu_graph_executable *executable);

#ifdef __cplusplus
}
#endif
#endif
