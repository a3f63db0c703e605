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

enum gpu_status gpu_graph_create(struct gpu_graph **graph)
{
    VENDOR(Graph_t) created;
    CHECK(GraphCreate, &created, 0);
    *graph = (struct gpu_graph *)(void *)created;
    return GPU_OK;
}

static VENDOR_KERNEL_NODE_PARAMS node_params(const struct gpu_launch *launch)
{
    VENDOR_KERNEL_NODE_PARAMS params;
    params.func = (void *)(uintptr_t)launch->kernel;
    params.gridDim = runtime_dimensions(launch->grid);
    params.blockDim = runtime_dimensions(launch->block);
    params.sharedMemBytes = (unsigned)launch->shared_bytes;
    params.kernelParams = (void **)(uintptr_t)launch->arguments;
    params.extra = NULL;
    return params;
}

enum gpu_status gpu_graph_add(struct gpu_graph *graph, struct gpu_graph_node **node,
                              struct gpu_graph_node *const *after, unsigned count, const struct gpu_launch *launch)
{
    VENDOR_KERNEL_NODE_PARAMS params = node_params(launch);
    VENDOR(GraphNode_t) added;
    CHECK(GraphAddKernelNode, &added, (VENDOR(Graph_t))(void *)graph, (const VENDOR(GraphNode_t) *)(const void *)after,
          count, &params);
    *node = (struct gpu_graph_node *)(void *)added;
    return GPU_OK;
}

void gpu_graph_destroy(struct gpu_graph *graph)
{
    if (graph) (void)VENDOR(GraphDestroy)((VENDOR(Graph_t))(void *)graph);
}

enum gpu_status gpu_graph_set(struct gpu_graph_executable *executable, struct gpu_graph_node *node,
                              const struct gpu_launch *launch)
{
    VENDOR_KERNEL_NODE_PARAMS params = node_params(launch);
    CHECK(GraphExecKernelNodeSetParams, (VENDOR(GraphExec_t))(void *)executable, (VENDOR(GraphNode_t))(void *)node,
          &params);
    return GPU_OK;
}

void gpu_graph_executable_destroy(struct gpu_graph_executable *executable)
{
    if (executable) (void)VENDOR(GraphExecDestroy)((VENDOR(GraphExec_t))(void *)executable);
}
