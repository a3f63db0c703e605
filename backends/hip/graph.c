// SPDX-License-Identifier: Apache-2.0
// What of graphs HIP spells in its own way or lacks, on AMD and on NVIDIA. C11 that is also valid C++17.
#include "backends/gpu_graph.h"

#include "backends/runtime.h"

enum gpu_status gpu_graph_upload(struct gpu_graph_executable *executable, struct gpu_stream *stream)
{
#if HIP_VERSION >= 50300000 && !defined(__HIP_PLATFORM_NVIDIA__)
    CHECK(GraphUpload, (hipGraphExec_t)(void *)executable, runtime_native(stream));
    return GPU_OK;
#else
    (void)executable, (void)stream;
    return gpu_reason(GPU_UNSUPPORTED, "hipGraphUpload came with HIP 5.3, and not for NVIDIA");
#endif
}

enum gpu_status gpu_graph_update(struct gpu_graph_executable *executable, struct gpu_graph *graph)
{
    hipGraphNode_t node;
    hipGraphExecUpdateResult result;
    CHECK(GraphExecUpdate, (hipGraphExec_t)(void *)executable, (hipGraph_t)(void *)graph, &node, &result);
    return GPU_OK;
}

enum gpu_status gpu_graph_add_condition(struct gpu_graph *graph, struct gpu_graph_node **node,
                                        struct gpu_graph_node *const *after, unsigned count,
                                        enum gpu_graph_condition condition, uint64_t *handle, struct gpu_graph **body)
{
    (void)graph, (void)node, (void)after, (void)count, (void)condition, (void)handle, (void)body;
    return gpu_reason(GPU_UNSUPPORTED, "HIP has no conditional nodes");
}
