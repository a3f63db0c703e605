// SPDX-License-Identifier: Apache-2.0
// The half of gpu_graph.h that both runtimes spell alike. C11 that is also valid C++17: HIP over CUDA needs it.
#include "backends/gpu_graph.h"

#include "backends/runtime.h"

enum gpu_status gpu_capture_begin(struct gpu_stream *stream)
{
    CHECK(StreamBeginCapture, runtime_native(stream), VENDOR(StreamCaptureModeThreadLocal));
    return GPU_OK;
}

enum gpu_status gpu_capture_end(struct gpu_stream *stream, struct gpu_graph **graph)
{
    VENDOR(Graph_t) captured;
    CHECK(StreamEndCapture, runtime_native(stream), &captured);
    *graph = (struct gpu_graph *)(void *)captured;
    return GPU_OK;
}

enum gpu_status gpu_graph_instantiate(struct gpu_graph *graph, struct gpu_graph_executable **executable)
{
    VENDOR(GraphExec_t) created;
    CHECK(GraphInstantiateWithFlags, &created, (VENDOR(Graph_t))(void *)graph, 0);
    *executable = (struct gpu_graph_executable *)(void *)created;
    return GPU_OK;
}

enum gpu_status gpu_graph_launch(struct gpu_graph_executable *executable, struct gpu_stream *stream)
{
    VENDOR(Error_t) error = VENDOR(GraphLaunch)((VENDOR(GraphExec_t))(void *)executable, runtime_native(stream));
    return error == VENDOR(Success) ? GPU_OK : runtime_status(error, TEXT(VENDOR(GraphLaunch)));
}

void gpu_graph_destroy(struct gpu_graph *graph)
{
    if (graph) (void)VENDOR(GraphDestroy)((VENDOR(Graph_t))(void *)graph);
}

void gpu_graph_executable_destroy(struct gpu_graph_executable *executable)
{
    if (executable) (void)VENDOR(GraphExecDestroy)((VENDOR(GraphExec_t))(void *)executable);
}
