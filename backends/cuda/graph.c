// SPDX-License-Identifier: Apache-2.0
// What of graphs only CUDA has, or spells in its own way: upload, update of the whole, conditional nodes.
#include "backends/gpu_graph.h"

#include "backends/runtime.h"

enum gpu_status gpu_graph_upload(struct gpu_graph_executable *executable, struct gpu_stream *stream)
{
    CHECK(GraphUpload, (cudaGraphExec_t)(void *)executable, runtime_native(stream));
    return GPU_OK;
}

enum gpu_status gpu_graph_update(struct gpu_graph_executable *executable, struct gpu_graph *graph)
{
#if CUDART_VERSION >= 12000
    cudaGraphExecUpdateResultInfo result;
    CHECK(GraphExecUpdate, (cudaGraphExec_t)(void *)executable, (cudaGraph_t)(void *)graph, &result);
#else
    cudaGraphNode_t node;
    enum cudaGraphExecUpdateResult result;
    CHECK(GraphExecUpdate, (cudaGraphExec_t)(void *)executable, (cudaGraph_t)(void *)graph, &node, &result);
#endif
    return GPU_OK;
}

enum gpu_status gpu_graph_add_condition(struct gpu_graph *graph, struct gpu_graph_node **node,
                                        struct gpu_graph_node *const *after, unsigned count,
                                        enum gpu_graph_condition condition, uint64_t *handle, struct gpu_graph **body)
{
#if CUDART_VERSION >= 12040
    cudaGraphConditionalHandle created;
    cudaGraphNode_t added;
    CHECK(GraphConditionalHandleCreate, &created, (cudaGraph_t)(void *)graph, 1, cudaGraphCondAssignDefault);
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeConditional};
    params.conditional.handle = created;
    params.conditional.type = condition == GPU_GRAPH_IF ? cudaGraphCondTypeIf : cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    const cudaGraphNode_t *nodes = (const cudaGraphNode_t *)(const void *)after;
#if CUDART_VERSION >= 13000
    CHECK(GraphAddNode, &added, (cudaGraph_t)(void *)graph, nodes, NULL, count, &params);
#else
    CHECK(GraphAddNode, &added, (cudaGraph_t)(void *)graph, nodes, count, &params);
#endif
    *node = (struct gpu_graph_node *)(void *)added;
    *handle = created;
    *body = (struct gpu_graph *)(void *)params.conditional.phGraph_out[0];
    return GPU_OK;
#else
    (void)graph, (void)node, (void)after, (void)count, (void)condition, (void)handle, (void)body;
    return gpu_reason(GPU_UNSUPPORTED, "conditional nodes came with CUDA 12.4");
#endif
}
