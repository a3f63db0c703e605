// SPDX-License-Identifier: Apache-2.0
// Graphs whose nodes append their stamps, so that one may run more than once: relaunched while it runs, or its nodes
// repeated by a condition.
#ifndef LIFTOFF_GRAPH_AGAIN_H
#define LIFTOFF_GRAPH_AGAIN_H

#include "common/launch.h"

enum { GRAPH_AGAIN_NODES = 100 };

enum gpu_status graph_again_open(struct gpu_stream *stream);
void graph_again_close(void);

// Launches a line of GRAPH_AGAIN_NODES nodes, and again at once. *SUBMIT_NS: the second call; *GAP_NS: on the device,
// from the end of the first launch's last node to the begin of the second one's first.
enum gpu_status graph_again_running(double *submit_ns, double *gap_ns);

// PLAIN: a line of so many nodes; IF: a line of so many conditional nodes, of one kernel each; WHILE: one conditional
// node, whose kernel runs so many times.
enum graph_again_way { GRAPH_AGAIN_PLAIN, GRAPH_AGAIN_IF, GRAPH_AGAIN_WHILE, GRAPH_AGAIN_WAYS };

// On the device, from a kernel's begin to the next one's, on average.
enum gpu_status graph_again_iteration(enum graph_again_way way, double *ns);

#endif
