// SPDX-License-Identifier: Apache-2.0
// What a graph costs, made and launched, over its nodes and shape, and from how many kernels on it is cheaper than as
// many launches into a stream.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/bench.h"
#include "common/break_even.h"
#include "common/graph_again.h"
#include "common/graphs.h"
#include "common/parts.h"
#include "common/stats.h"

#define STAMP_PARAMS LAUNCH_PARAMS ";kernel=stamp"
#define FIT_PARAMS LAUNCH_PARAMS ";kernel=stamp;nodes=1..1000"
#define APPEND_PARAMS LAUNCH_PARAMS ";kernel=append"

enum { NODES_MAX = 10000, SINGLES = 20, CAPTURED_GAP = 100 };

static struct stamp_graph graphs[] = {
    {GRAPH_LINE, 1},        {GRAPH_LINE, 10},  {GRAPH_LINE, 100},  {GRAPH_LINE, 1000},   {GRAPH_LINE, NODES_MAX},
    {GRAPH_FAN, 10},        {GRAPH_FAN, 100},  {GRAPH_FAN, 1000},  {GRAPH_PARALLEL, 10}, {GRAPH_PARALLEL, 100},
    {GRAPH_PARALLEL, 1000}, {GRAPH_MIXED, 10}, {GRAPH_MIXED, 100}, {GRAPH_MIXED, 1000},
};
enum { LINE_1, LINE_10, LINE_100, LINE_1000, LINE_10000, GRAPHS = sizeof graphs / sizeof *graphs };

// What goes into the stream kernel by kernel, beside the lines of as many nodes.
static struct stamp_graph launches[] = {{GRAPH_LINE, 1}, {GRAPH_LINE, 10}, {GRAPH_LINE, 100}};
enum { LAUNCHES = sizeof launches / sizeof *launches };

static struct chain chain;
static struct parts parts;

static void put(const struct bench_case *c, unsigned samples, double *values, unsigned i, const char *metric, double ns)
{
    for (unsigned o = 0; o < BENCH_OUTPUTS_MAX && c->outputs[o].metric; o++)
        if (!strcmp(c->outputs[o].metric, metric)) values[o * samples + i] = ns;
}

static void bound(struct bench_case *c, const char *metric, double ns) { put(c, 1, c->error_bound, 0, metric, ns); }

// --- One launch of the whole -------------------------------------------------------------------------------

// A graph that has been launched before, made once a process; or the numbers of what goes in one by one.
static enum gpu_status prepare(struct stamp_graph *graph, bool each)
{
    struct stamp_graph_times first;
    if (each) {
        if (!graph->sequence) stamp_graph_number(graph);
        return GPU_OK;
    }
    if (graph->executable) return GPU_OK;
    enum gpu_status status = stamp_graph_make(graph);
    return status ? status : stamp_graph_launch(graph, false, &first);
}

// submit: from before the call (of a stream: the first one) until it (the last one) returns, the stream being empty.
// round_trip: from the same moment until the synchronise has returned. period: on the device, from the first node's
// first clock read to the last one's last, over the nodes. gap: from a node's last clock read to the next one's first,
// on average over the line.
static enum gpu_status measure_launch(struct bench_case *c, unsigned samples, double *values)
{
    const bool each = !strcmp(c->variant, "stream");
    struct stamp_graph *graph = each ? &launches[(int)c->argument] : &graphs[(int)c->argument];
    struct stamp_graph_times timed = {0};
    enum gpu_status status = prepare(graph, each);
    for (unsigned i = 0; i < samples && !status; i++) {
        status = stamp_graph_launch(graph, each, &timed);
        if (status) break;
        put(c, samples, values, i, "submit", timed.submit_ns);
        put(c, samples, values, i, "round_trip", timed.round_trip_ns);
        put(c, samples, values, i, "period", stamp_graph_span_ns(graph) / graph->nodes);
        if (graph->nodes > 1) put(c, samples, values, i, "gap", stamp_graph_gap_ns(graph));
    }
    bound(c, "submit", parts.clock_error_ns);
    bound(c, "round_trip", parts.clock_error_ns);
    bound(c, "period", parts.stamp_error_ns + sync_device_resolution_ns() / graph->nodes);
    bound(c, "gap", parts.stamp_error_ns + sync_device_resolution_ns());
    return status;
}

// gap of `stream`: the same of stamping kernels that are all in the queue before the first of them starts.
static enum gpu_status measure_stream_gap(struct bench_case *c, unsigned samples, double *values)
{
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        double elapsed_ns;
        status = chain_elapsed(&chain, CHAIN_STAMPS, CAPTURED_GAP - 2, &elapsed_ns);
        if (!status) values[i] = launch_stamps_gap_ns(chain.stamps.stamp, CAPTURED_GAP);
    }
    c->error_bound[0] = parts.stamp_error_ns + sync_device_resolution_ns();
    return status;
}

// launch_latency: from before the call to the first node's first clock read.
static enum gpu_status measure_latency(struct bench_case *c, unsigned samples, double *values)
{
    const bool each = !strcmp(c->variant, "stream");
    struct stamp_graph *graph = each ? &launches[(int)c->argument] : &graphs[(int)c->argument];
    uint64_t called[BENCH_ROUND_SAMPLES_MAX + BENCH_LEAD], begun[BENCH_ROUND_SAMPLES_MAX + BENCH_LEAD];
    struct stamp_graph_times timed;
    enum gpu_status status = prepare(graph, each);
    if (!status) status = parts_begin(&parts);
    if (status) return status;
    for (unsigned i = 0; i < samples && !status; i++) {
        status = stamp_graph_launch(graph, each, &timed);
        called[i] = timed.called;
        begun[i] = stamp_graph_begin_ticks();
    }
    status = parts_end(&parts, status);
    for (unsigned i = 0; i < samples && !status; i++) values[i] = sync_ns_after(&parts.window, called[i], begun[i]);
    c->error_bound[0] = parts_bound_ns(&parts);
    return status;
}

// --- Making a graph ----------------------------------------------------------------------------------------

// build: from before the graph is created until its last node is in it. instantiate: that call. setup: the two
// together. first_launch: the executable's first launch, until the call returns. destroy: of executable and graph,
// until the second call returns, the stream being empty.
static enum gpu_status measure_making(struct bench_case *c, unsigned samples, double *values)
{
    struct stamp_graph graph = {graphs[(int)c->argument].shape, graphs[(int)c->argument].nodes};
    struct stamp_graph_times timed;
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        uint64_t begin = clock_ticks();
        status = stamp_graph_build(&graph);
        uint64_t built = clock_ticks();
        if (!status) status = gpu_graph_instantiate(graph.graph, &graph.executable);
        uint64_t ready = clock_ticks();
        if (!status) status = stamp_graph_launch(&graph, false, &timed);
        uint64_t destroy = clock_ticks();
        stamp_graph_destroy(&graph);
        uint64_t gone = clock_ticks();
        if (status) break;
        put(c, samples, values, i, "build", clock_ns(built - begin));
        put(c, samples, values, i, "instantiate", clock_ns(ready - built));
        put(c, samples, values, i, "setup", clock_ns(ready - begin));
        put(c, samples, values, i, "first_launch", timed.submit_ns);
        put(c, samples, values, i, "destroy", clock_ns(gone - destroy));
    }
    for (unsigned o = 0; o < BENCH_OUTPUTS_MAX; o++) c->error_bound[o] = parts.clock_error_ns;
    return status;
}

// A sample is what OPERATION does to a graph that is not made yet; then it is launched, and destroyed.
static enum gpu_status measure_fresh(struct bench_case *c, unsigned samples, double *values,
                                     enum gpu_status (*operation)(struct stamp_graph *, double *))
{
    struct stamp_graph graph = {graphs[(int)c->argument].shape, graphs[(int)c->argument].nodes};
    struct stamp_graph_times timed;
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        status = operation(&graph, &values[i]);
        if (!status) status = stamp_graph_make(&graph);
        if (!status) status = stamp_graph_launch(&graph, false, &timed);
        stamp_graph_destroy(&graph);
    }
    c->error_bound[0] = parts.clock_error_ns;
    return status;
}

// capture: from before the capture begins, over the launches, until it has ended.
static enum gpu_status capture(struct stamp_graph *graph, double *ns)
{
    uint64_t begin = clock_ticks();
    enum gpu_status status = stamp_graph_capture(graph);
    *ns = clock_ns(clock_ticks() - begin);
    return status;
}

static enum gpu_status measure_capture(struct bench_case *c, unsigned samples, double *values)
{
    return measure_fresh(c, samples, values, capture);
}

// upload: of an executable that was never launched, from before the call until the stream is known to be empty.
static enum gpu_status upload(struct stamp_graph *graph, double *ns)
{
    enum gpu_status status = stamp_graph_make(graph);
    uint64_t begin = clock_ticks();
    if (!status) status = gpu_graph_upload(graph->executable, chain.stream);
    status = launch_drain(chain.stream, status);
    *ns = clock_ns(clock_ticks() - begin);
    return status;
}

static enum gpu_status measure_upload(struct bench_case *c, unsigned samples, double *values)
{
    return measure_fresh(c, samples, values, upload);
}

// update_node: the call that gives one node, in the middle, another argument, while the executable does not run.
static enum gpu_status measure_update_node(struct bench_case *c, unsigned samples, double *values)
{
    struct stamp_graph graph = {GRAPH_LINE, graphs[(int)c->argument].nodes};
    struct stamp_graph_times timed;
    enum gpu_status status = stamp_graph_make(&graph);
    for (unsigned i = 0; i < samples && !status; i++) {
        const struct gpu_launch *changed = stamp_graph_change(&graph, graph.nodes / 2);
        uint64_t begin = clock_ticks();
        status = gpu_graph_set(graph.executable, stamp_graph_node(graph.nodes / 2), changed);
        values[i] = clock_ns(clock_ticks() - begin);
        if (!status) status = stamp_graph_launch(&graph, false, &timed);
    }
    stamp_graph_destroy(&graph);
    c->error_bound[0] = parts.clock_error_ns;
    return status;
}

// update_graph: the call that gives all nodes the arguments of another graph's, while the executable does not run.
static enum gpu_status measure_update_graph(struct bench_case *c, unsigned samples, double *values)
{
    const unsigned nodes = graphs[(int)c->argument].nodes;
    struct stamp_graph pair[2] = {{GRAPH_LINE, nodes}, {GRAPH_LINE, nodes}};
    struct stamp_graph_times timed;
    enum gpu_status status = stamp_graph_make(&pair[0]);
    if (!status) status = stamp_graph_build(&pair[1]);
    for (unsigned i = 0; i < samples && !status; i++) {
        struct stamp_graph from = pair[(i + 1) % 2];
        from.executable = pair[0].executable;
        uint64_t begin = clock_ticks();
        status = gpu_graph_update(from.executable, from.graph);
        values[i] = clock_ns(clock_ticks() - begin);
        if (!status) status = stamp_graph_launch(&from, false, &timed);
    }
    stamp_graph_destroy(&pair[0]);
    stamp_graph_destroy(&pair[1]);
    c->error_bound[0] = parts.clock_error_ns;
    return status;
}

// --- Graphs that run again ---------------------------------------------------------------------------------

// submit, while=running: the call that launches an executable that has just been launched. gap: from the last node of
// the launch before to the first of this one.
static enum gpu_status measure_running(struct bench_case *c, unsigned samples, double *values)
{
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) status = graph_again_running(&values[i], &values[samples + i]);
    c->error_bound[0] = parts.clock_error_ns;
    c->error_bound[1] = parts.stamp_error_ns + sync_device_resolution_ns();
    return status;
}

// iteration: from the first clock read of a kernel to that of the next, over 100 kernels on the device.
static enum gpu_status measure_iteration(struct bench_case *c, unsigned samples, double *values)
{
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++)
        status = graph_again_iteration((enum graph_again_way)c->argument, &values[i]);
    c->error_bound[0] = sync_device_resolution_ns() / (GRAPH_AGAIN_NODES - 1);
    return status;
}

// --- Lines through them ------------------------------------------------------------------------------------

enum { FIXED_SUBMIT, PER_NODE_SUBMIT, FIXED_DEVICE, PER_NODE_DEVICE };

// A sample launches the lines of 1 … 1000 nodes once each, up and down in turn, and is the line of least squares
// through submit, and through the device's time from the first begin to the last end.
static enum gpu_status measure_fit(struct bench_case *c, unsigned samples, double *values)
{
    enum { POINTS = LINE_1000 + 1 };
    double nodes[POINTS], host[POINTS], device[POINTS];
    enum gpu_status status = GPU_OK;
    for (unsigned k = 0; k < POINTS && !status; k++) status = prepare(&graphs[k], false);
    for (unsigned i = 0; i < samples && !status; i++) {
        double nodes_sum = 0, host_sum = 0, device_sum = 0;
        for (unsigned k = 0; k < POINTS && !status; k++) {
            const unsigned at = i % 2 ? POINTS - 1 - k : k;
            struct stamp_graph_times timed = {0};
            status = stamp_graph_launch(&graphs[at], false, &timed);
            nodes_sum += nodes[at] = graphs[at].nodes;
            host_sum += host[at] = timed.submit_ns;
            device_sum += device[at] = status ? 0 : stamp_graph_span_ns(&graphs[at]);
        }
        const double host_slope = stats_slope(nodes, host, POINTS), device_slope = stats_slope(nodes, device, POINTS);
        values[FIXED_SUBMIT * samples + i] = (host_sum - host_slope * nodes_sum) / POINTS;
        values[PER_NODE_SUBMIT * samples + i] = host_slope;
        values[FIXED_DEVICE * samples + i] = (device_sum - device_slope * nodes_sum) / POINTS;
        values[PER_NODE_DEVICE * samples + i] = device_slope;
    }
    c->error_bound[FIXED_SUBMIT] = parts.clock_error_ns;
    c->error_bound[PER_NODE_SUBMIT] = parts.clock_error_ns / graphs[LINE_1000].nodes;
    c->error_bound[FIXED_DEVICE] = parts.stamp_error_ns + sync_device_resolution_ns();
    c->error_bound[PER_NODE_DEVICE] = parts.stamp_error_ns + sync_device_resolution_ns() / graphs[LINE_1000].nodes;
    return status;
}

// --- Break-even --------------------------------------------------------------------------------------------

// What a graph costs once: build, instantiate, and what its first launch takes beyond the REPEATED_NS of a later one.
static enum gpu_status measure_setup(unsigned nodes, bool by_submit, double repeated_ns, double *ns)
{
    struct stamp_graph graph = {GRAPH_LINE, nodes};
    struct stamp_graph_times first = {0};
    uint64_t begin = clock_ticks();
    enum gpu_status status = stamp_graph_make(&graph);
    uint64_t ready = clock_ticks();
    if (!status) status = stamp_graph_launch(&graph, false, &first);
    *ns = clock_ns(ready - begin) + (by_submit ? first.submit_ns : first.round_trip_ns) - repeated_ns;
    stamp_graph_destroy(&graph);
    return status;
}

// break_even: the smallest number of kernels whose graph costs less than as many launches into a stream, by the lines
// through 1 and 100 of both that a sample measures; with what it costs once shared by so many launches, or without.
static enum gpu_status measure_break_even(struct bench_case *c, unsigned samples, double *values)
{
    const bool by_submit = strstr(c->params, "by=submit"), counted = !strstr(c->params, "setup=excluded");
    const unsigned at[2][2] = {{LINE_1, 0}, {LINE_100, 2}};
    const unsigned kernels[2] = {graphs[LINE_1].nodes, graphs[LINE_100].nodes};
    double sorted[BENCH_ROUND_SAMPLES_MAX + BENCH_LEAD], per_kernel = 1;
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        double cost[3][2] = {{0}};
        for (unsigned k = 0; k < 2 && !status; k++) {
            struct stamp_graph_times graph = {0}, stream = {0};
            status = prepare(&graphs[at[k][0]], false);
            if (!status) status = prepare(&launches[at[k][1]], true);
            if (!status) status = stamp_graph_launch(&graphs[at[k][0]], false, &graph);
            if (!status) status = stamp_graph_launch(&launches[at[k][1]], true, &stream);
            cost[0][k] = by_submit ? graph.submit_ns : graph.round_trip_ns;
            cost[2][k] = by_submit ? stream.submit_ns : stream.round_trip_ns;
            if (!status && counted) status = measure_setup(graphs[at[k][0]].nodes, by_submit, cost[0][k], &cost[1][k]);
        }
        const struct break_even_line graph = break_even_line(cost[0], kernels),
                                     once = break_even_line(cost[1], kernels),
                                     stream = break_even_line(cost[2], kernels);
        values[i] = sorted[i] = break_even_kernels(graph, once, stream, counted ? c->axis_value : 1);
        per_kernel = fmax(stream.per_kernel, 1);
    }
    if (status) return status;
    stats_sort(sorted, samples);
    if (stats_quantile(sorted, samples, 0.5) > BREAK_EVEN_MOST)
        return gpu_reason(GPU_UNSUPPORTED, "no graph of up to %d kernels costs less than launches into a stream",
                          BREAK_EVEN_MOST);
    c->error_bound[0] = 1 + 4 * parts.clock_error_ns / per_kernel;
    return GPU_OK;
}

// --- The plan ----------------------------------------------------------------------------------------------

static struct bench_case graph_case(unsigned index, const char *params)
{
    struct bench_case c = {.variant = graph_shape_names[graphs[index].shape],
                           .axis = "nodes",
                           .axis_value = graphs[index].nodes,
                           .argument = index,
                           .samples = graphs[index].nodes <= 100    ? 10
                                      : graphs[index].nodes <= 1000 ? 3
                                                                    : 1,
                           .budget_share = 0.1};
    strcpy(c.params, params);
    if (graphs[index].nodes == NODES_MAX) c.rounds = 2;
    return c;
}

// `stream`: of so many kernels as the line of INDEX has, which are numbered alike.
static void add_launch(struct bench_plan *plan, const char *variant, unsigned index)
{
    struct bench_case c = graph_case(index, STAMP_PARAMS);
    const bool line = graphs[index].shape == GRAPH_LINE, inside = graphs[index].nodes > 1 && strcmp(variant, "stream");
    struct bench_output *output = c.outputs;
    c.variant = variant;
    *output++ = (struct bench_output){"submit", "ns", "lower"};
    if (line) *output++ = (struct bench_output){"round_trip", "ns", "lower"};
    if (inside) *output++ = (struct bench_output){"period", "ns", "lower"};
    if (line && inside) *output = (struct bench_output){"gap", "ns", "lower"};
    c.measure = measure_launch;
    bench_add(plan, &c);
}

static void add_making(struct bench_plan *plan, unsigned index)
{
    struct bench_case c = graph_case(index, STAMP_PARAMS);
    static const char *const metrics[] = {"build", "instantiate", "setup", "first_launch", "destroy"};
    for (unsigned o = 0; o < 5; o++) c.outputs[o] = (struct bench_output){metrics[o], "ns", "lower"};
    c.samples = graphs[index].nodes <= 100 ? 5 : 1;
    c.measure = measure_making;
    bench_add(plan, &c);
}

typedef enum gpu_status measure_function(struct bench_case *, unsigned, double *);

static void add_one(struct bench_plan *plan, const char *variant, unsigned index, const char *metric,
                    measure_function *measure)
{
    struct bench_case c = graph_case(index, STAMP_PARAMS);
    c.variant = variant;
    c.outputs[0] = (struct bench_output){metric, "ns", "lower"};
    if (measure == measure_latency) c.samples = SINGLES;
    c.measure = measure;
    bench_add(plan, &c);
}

static void add_fit(struct bench_plan *plan)
{
    bench_add(plan, &(struct bench_case){.variant = "line",
                                         .params = FIT_PARAMS,
                                         .samples = 4,
                                         .budget_share = 0.4,
                                         .measure = measure_fit,
                                         .outputs = {{"submit_fixed", "ns", "lower", "fit"},
                                                     {"submit_per_node", "ns_per_node", "lower", "fit"},
                                                     {"device_fixed", "ns", "lower", "fit"},
                                                     {"device_per_node", "ns_per_node", "lower", "fit"}}});
}

static void add_break_even(struct bench_plan *plan, const char *by, unsigned times)
{
    struct bench_case c = {.variant = "line",
                           .samples = 6,
                           .budget_share = 0.2,
                           .axis = times ? "launches" : NULL,
                           .axis_value = times,
                           .measure = measure_break_even,
                           .outputs = {{"break_even", "count", "lower", "fit", .resolution = 1}}};
    snprintf(c.params, sizeof c.params, LAUNCH_PARAMS ";by=%s;kernel=stamp%s", by, times ? "" : ";setup=excluded");
    bench_add(plan, &c);
}

static void add_rest(struct bench_plan *plan)
{
    static const char *const ways[] = {"plain", "if", "while"};
    for (unsigned index = LINE_1; index <= LINE_10000; index++) {
        add_one(plan, "line", index, "capture", measure_capture);
        if (index != LINE_10) add_making(plan, index);
        if (index == LINE_1 || index == LINE_100) add_one(plan, "line", index, "launch_latency", measure_latency);
        if (index == LINE_1 || index == LINE_1000) add_one(plan, "line", index, "update_node", measure_update_node);
        if (index == LINE_1 || index == LINE_1000) add_one(plan, "line", index, "update_graph", measure_update_graph);
        if (index == LINE_100 || index == LINE_1000) add_one(plan, "line", index, "upload", measure_upload);
    }
    add_one(plan, "stream", LINE_1, "launch_latency", measure_latency);
    struct bench_case c = graph_case(LINE_100, APPEND_PARAMS ";while=running");
    c.outputs[0] = (struct bench_output){"submit", "ns", "lower"};
    c.outputs[1] = (struct bench_output){"gap", "ns", "lower"};
    c.measure = measure_running;
    bench_add(plan, &c);
    for (unsigned way = GRAPH_AGAIN_PLAIN; way < GRAPH_AGAIN_WAYS; way++) {
        c = graph_case(LINE_100, APPEND_PARAMS);
        c.variant = ways[way];
        c.axis = "iterations";
        c.argument = way;
        c.outputs[0] = (struct bench_output){"iteration", "ns", "lower"};
        c.measure = measure_iteration;
        bench_add(plan, &c);
    }
    for (unsigned times = 1; times <= 1000; times *= 10) {
        add_break_even(plan, "submit", times);
        add_break_even(plan, "round_trip", times);
    }
    add_break_even(plan, "round_trip", 0);
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    enum gpu_status status = sync_open();
    if (!status) status = chain_open(&chain);
    if (!status) status = parts_open(&parts, &chain);
    if (!status) status = graphs_open(chain.stream, NODES_MAX);
    if (!status) status = graph_again_open(chain.stream);
    if (status) return status;
    for (unsigned index = LINE_1; index < GRAPHS; index++)
        if (!quick || index == LINE_100 || index == LINE_1000)
            add_launch(plan, graph_shape_names[graphs[index].shape], index);
    for (unsigned index = 0; index < LAUNCHES; index++)
        if (!quick || index == LINE_100) add_launch(plan, "stream", index);
    if (!quick) add_one(plan, "stream", LINE_100, "gap", measure_stream_gap);
    add_fit(plan);
    add_break_even(plan, "submit", 0);
    if (quick) add_making(plan, LINE_100);
    else add_rest(plan);
    return GPU_OK;
}

static void teardown(void)
{
    for (unsigned index = 0; index < GRAPHS; index++) stamp_graph_destroy(&graphs[index]);
    graph_again_close();
    graphs_close();
    parts_close(&parts);
    chain_close(&chain);
    sync_close();
}

const struct benchmark graph_benchmark = {
    .name = "graph",
    .summary = "what a graph costs, made and launched, over its nodes and shape, and when it pays",
    .source = "claim C18",
    .seconds = 9,
    .quick_seconds = 1,
    .setup = setup,
    .teardown = teardown,
};
