// SPDX-License-Identifier: Apache-2.0
// What host threads that launch at the same time cost each other, and what the place of a launching thread costs.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "backends/gpu_kernel.h"
#include "common/bench.h"
#include "common/parts.h"
#include "common/pin.h"
#include "common/team.h"

// BATCH: launches of a thread that are timed, less where more of them do not go into a stream that all share. A thread
// that is done with them launches on until all are, up to MORE times as many or to what its stream takes: a queue that
// is full would time the device.
// SINGLES: samples of one launch.
enum { BATCH = 50, SHARED = CHAIN_LENGTH_MAX / 2, BURSTS = 5, SINGLES = 30 };
enum { MORE = 7 };
enum { NODES = 2, CONTEXT_PROCESSES = 2 };
static const double BUDGET_SHARE = 0.2, LIMIT_NS = 2e9;

static const char *const variant_names[TEAM_LANES] = {"one_stream", "stream_each", "context_each"};

static struct chain chain; // its stream is the one that all share
static struct parts parts;
static int device, measuring_pu;

// --- submit, period, fairness ------------------------------------------------------------------------------

struct burst {
    uint64_t begin_ticks, end_ticks, returned_ticks, drained_ticks; // end: of what is timed; returned: of all calls
    unsigned launches;
    bool capped; // it stopped before the last thread had made its own
};

// One round of all threads.
static struct {
    unsigned threads, samples, batch, more_max;
    uint32_t busy[BURSTS + BENCH_LEAD]; // threads that are not yet done with the batch that is timed
    struct burst bursts[TEAM_THREADS_MAX][BURSTS + BENCH_LEAD];
} round_of;

// One batch of each thread, begun together with all queues empty. A thread that is done with its own launches on,
// outside its clock, so that the last one is not timed alone.
static enum gpu_status run_burst(const struct gpu_launch *launch, struct burst *burst, uint32_t *busy)
{
    unsigned status = GPU_OK, more = 0;
    burst->begin_ticks = clock_ticks();
    for (unsigned i = 0; i < round_of.batch; i++) status |= (unsigned)gpu_launch_runtime(launch);
    burst->end_ticks = clock_ticks();
    __atomic_sub_fetch(busy, 1, __ATOMIC_RELAXED);
    for (; more < round_of.more_max && __atomic_load_n(busy, __ATOMIC_RELAXED); more++)
        status |= (unsigned)gpu_launch_runtime(launch);
    burst->capped = __atomic_load_n(busy, __ATOMIC_RELAXED) != 0;
    burst->returned_ticks = clock_ticks();
    status = launch_drain(launch->stream, launch_worst(status));
    burst->drained_ticks = clock_ticks();
    burst->launches = round_of.batch + more;
    return (enum gpu_status)status;
}

// A thread that fails still comes to every barrier: the others wait for it there.
static void work_bursts(struct team_worker *worker)
{
    for (unsigned s = 0; s < round_of.samples; s++) {
        team_barrier();
        if (worker->status) __atomic_sub_fetch(&round_of.busy[s], 1, __ATOMIC_RELAXED);
        else worker->status = run_burst(&worker->lane->launch, &round_of.bursts[worker->index][s], &round_of.busy[s]);
    }
    if (!worker->status) worker->status = stamp_launch_prove(&worker->lane->stamps);
}

struct summary {
    double submit_ns, period_ns, call_period_ns, fairness, skew_ns;
    unsigned launches;
    bool capped;
};

static struct summary summarize(unsigned sample)
{
    uint64_t first = UINT64_MAX, last_begin = 0, returned = 0, drained = 0;
    double sum = 0, least = INFINITY, most = 0;
    unsigned launches = 0;
    bool capped = false;
    for (unsigned t = 0; t < round_of.threads; t++) {
        const struct burst *burst = &round_of.bursts[t][sample];
        double elapsed_ns = clock_ns(burst->end_ticks - burst->begin_ticks);
        if (burst->begin_ticks < first) first = burst->begin_ticks;
        if (burst->begin_ticks > last_begin) last_begin = burst->begin_ticks;
        if (burst->returned_ticks > returned) returned = burst->returned_ticks;
        if (burst->drained_ticks > drained) drained = burst->drained_ticks;
        sum += elapsed_ns;
        least = fmin(least, elapsed_ns);
        most = fmax(most, elapsed_ns);
        launches += burst->launches;
        capped |= burst->capped;
    }
    return (struct summary){.submit_ns = sum / round_of.threads / round_of.batch,
                            .period_ns = clock_ns(drained - first) / launches,
                            .call_period_ns = clock_ns(returned - first) / launches,
                            .fairness = least / most,
                            .skew_ns = clock_ns(last_begin - first),
                            .launches = launches,
                            .capped = capped};
}

static unsigned more_max(enum team_lanes lanes, unsigned threads, unsigned batch)
{
    const unsigned room = CHAIN_LENGTH_MAX / (lanes == TEAM_ONE_STREAM ? threads : 1) - batch;
    return room < MORE * batch ? room : MORE * batch;
}

// submit: a thread's clock starts before the first of its batch of calls and stops when the last has returned, over the
// batch; the mean over the threads. period: from the first thread's clock read before its first call until the last
// thread knows that its stream has ended, over the launches of all. call_period: the same until the last of all calls
// has returned. fairness: the shortest time that a thread took for
// its batch, over the longest.
static enum gpu_status measure_bursts(struct bench_case *c, unsigned samples, double *values)
{
    const unsigned threads = (unsigned)c->axis_value;
    enum gpu_status status = team_start((enum team_lanes)c->argument, threads, work_bursts);
    if (status) return status;
    round_of.threads = threads;
    round_of.batch = c->batch;
    round_of.more_max = more_max((enum team_lanes)c->argument, threads, c->batch);
    round_of.samples = samples;
    for (unsigned s = 0; s < samples; s++) round_of.busy[s] = threads;
    team_go();
    work_bursts(&team_workers[0]);
    status = team_end(team_workers[0].status);
    if (status) return status;

    double skew_ns = 0;
    unsigned capped = 0;
    for (unsigned s = 0; s < samples; s++) {
        struct summary summary = summarize(s);
        values[s] = summary.submit_ns;
        values[samples + s] = summary.period_ns;
        values[2 * samples + s] = summary.call_period_ns;
        if (c->outputs[3].metric) values[3 * samples + s] = summary.fairness;
        capped += summary.capped;
        skew_ns = fmax(skew_ns, summary.skew_ns);
        c->error_bound[0] = parts.clock_error_ns / c->batch;
        c->error_bound[1] = fmax(c->error_bound[1], 2 * parts.clock_error_ns / summary.launches);
        c->error_bound[2] = c->error_bound[1];
        c->error_bound[3] = fmax(c->error_bound[3], 2 * parts.clock_error_ns / (summary.submit_ns * c->batch));
    }
    snprintf(c->detail, sizeof c->detail, "capped_samples=%u_of_%u;start_skew_ns=%.0f", capped, samples, skew_ns);
    return GPU_OK;
}

// --- launch_latency while others submit --------------------------------------------------------------------

static uint32_t loaded; // threads that have put the device under load

static void work_load(struct team_worker *worker)
{
    const struct gpu_launch *launch = &worker->lane->launch;
    for (bool first = true; !team_stopping(); first = false) {
        unsigned status = GPU_OK;
        for (unsigned i = 0; i < BATCH; i++) status |= (unsigned)gpu_launch_runtime(launch);
        worker->status = launch_drain(launch->stream, launch_worst(status));
        if (first) __atomic_add_fetch(&loaded, 1, __ATOMIC_RELEASE);
        if (worker->status) return;
    }
    worker->status = stamp_launch_prove(&worker->lane->stamps);
}

static enum gpu_status wait_loaded(unsigned threads)
{
    uint64_t begin = clock_ticks();
    for (unsigned polls = 0; __atomic_load_n(&loaded, __ATOMIC_ACQUIRE) < threads; polls++) {
        team_pause(polls);
        if (polls % 1024 == 0 && clock_ns(clock_ticks() - begin) > LIMIT_NS)
            return gpu_reason(GPU_FAILED, "the threads that are to load the device did not start");
    }
    return GPU_OK;
}

// launch_latency: from before the call until the first thread's first clock read, of stamping launches one after the
// other, while other threads submit batches to streams of their own and drain them. The clocks are brought together
// before those start and after they have ended.
static enum gpu_status measure_loaded(struct bench_case *c, unsigned samples, double *values)
{
    const unsigned threads = (unsigned)c->axis_value + 1;
    enum gpu_status status = team_start(TEAM_STREAM_EACH, threads, work_load);
    if (status) return status;
    loaded = 0;
    status = parts_begin(&parts);
    team_go();
    if (!status) status = wait_loaded(threads - 1);
    for (unsigned i = 0; i < samples && !status; i++) status = parts_launch(&parts, gpu_launch_runtime);
    status = parts_end(&parts, team_end(status));
    for (unsigned i = 0; i < samples && !status; i++) values[i] = parts_launch_latency(&parts, i);
    c->error_bound[0] = parts_bound_ns(&parts);
    return status;
}

// --- Where the launching thread is -------------------------------------------------------------------------

static struct flag_launch flag;

// launch_latency: as above, by a thread alone. flag_latency: from before the call until the host sees the word that the
// kernel stored to mapped memory.
static enum gpu_status time_singles(struct bench_case *c, unsigned samples, double *values)
{
    enum gpu_status status = parts_begin(&parts);
    for (unsigned i = 0; i < samples && !status; i++) status = parts_launch(&parts, gpu_launch_runtime);
    status = parts_end(&parts, status);
    for (unsigned i = 0; i < samples && !status; i++) values[i] = parts_launch_latency(&parts, i);
    c->error_bound[0] = parts_bound_ns(&parts);
    for (unsigned i = 0; i < samples && !status && c->outputs[1].metric; i++)
        status = flag_launch_time(&flag, &values[samples + i]);
    c->error_bound[1] = parts.clock_error_ns;
    return status;
}

// submit: from before the first of a batch of calls into an empty queue until the last has returned, over the batch.
static enum gpu_status time_batches(struct bench_case *c, unsigned samples, double *values)
{
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        status = launch_time_batch(&chain.empty, c->batch, gpu_launch_runtime, &values[i]);
        status = launch_drain(chain.stream, status);
        values[i] /= c->batch;
    }
    c->error_bound[0] = parts.clock_error_ns / c->batch;
    return status ? status : stamp_launch_prove(&chain.stamps);
}

static enum gpu_status time_here(struct bench_case *c, unsigned samples, double *values)
{
    return c->batch > 1 ? time_batches(c, samples, values) : time_singles(c, samples, values);
}

// By the measuring thread, moved to the NUMA node. What it launches from, the stream and the memory behind it, stays
// where it is.
static enum gpu_status measure_node(struct bench_case *c, unsigned samples, double *values)
{
    if (pin_nodes() < 2) return gpu_reason(GPU_UNSUPPORTED, "this process may use no more than one NUMA node");
    const int pu = pin_node((unsigned)c->axis_value);
    enum gpu_status status = pu < 0 ? gpu_reason(GPU_FAILED, "the system refused to bind the thread to the node")
                                    : time_here(c, samples, values);
    snprintf(c->detail, sizeof c->detail, "pu=%d", pu);
    if (measuring_pu < 0) pin_release();
    else if (!pin_pu(measuring_pu) && !status)
        status = gpu_reason(GPU_FAILED, "the thread cannot be bound to PU %d", measuring_pu);
    return status;
}

enum { SIBLING_NONE = 1, SIBLING_BUSY };
static uint32_t sibling_ready, sibling_stop;

static void *keep_busy(void *unused)
{
    (void)unused;
    bool bound = pin_sibling(measuring_pu) >= 0;
    __atomic_store_n(&sibling_ready, bound ? SIBLING_BUSY : SIBLING_NONE, __ATOMIC_RELEASE);
    while (bound && !__atomic_load_n(&sibling_stop, __ATOMIC_ACQUIRE)) (void)clock_core_operation_ns();
    return NULL;
}

// By the measuring thread, while a thread on its core's other processing unit adds numbers.
static enum gpu_status measure_sibling(struct bench_case *c, unsigned samples, double *values)
{
    pthread_t thread;
    uint32_t ready;
    if (measuring_pu < 0)
        return gpu_reason(GPU_UNSUPPORTED, "the measuring thread is not pinned: no PU is its sibling");
    sibling_ready = sibling_stop = 0;
    int error = pthread_create(&thread, NULL, keep_busy, NULL);
    if (error) return gpu_reason(GPU_FAILED, "pthread_create: %s", strerror(error));
    for (unsigned polls = 0; !(ready = __atomic_load_n(&sibling_ready, __ATOMIC_ACQUIRE)); polls++) team_pause(polls);
    enum gpu_status status =
        ready == SIBLING_NONE
            ? gpu_reason(GPU_UNSUPPORTED, "PU %d has no SMT sibling that this process may use", measuring_pu)
            : time_here(c, samples, values);
    __atomic_store_n(&sibling_stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    return status;
}

// --- One thread, several devices ---------------------------------------------------------------------------

static enum gpu_status open_other(struct team_lane *lane, int other)
{
    enum gpu_status status = gpu_device_select(other);
    if (!status && !lane->open) status = gpu_stream_create(&lane->stream);
    if (!status && !lane->open) status = launch_prepare_empty(&lane->launch, lane->stream);
    if (!status && !lane->open) status = stamp_launch_open(&lane->stamps, lane->stream, 1);
    if (!status) lane->open = true;
    return status;
}

static enum gpu_status feed_two(const struct team_lane *lane, int other, unsigned batch, double *elapsed_ns)
{
    unsigned status = GPU_OK;
    uint64_t begin = clock_ticks();
    for (unsigned i = 0; i < batch / 2; i++) {
        status |= (unsigned)gpu_device_select(device);
        status |= (unsigned)gpu_launch_runtime(&chain.empty);
        status |= (unsigned)gpu_device_select(other);
        status |= (unsigned)gpu_launch_runtime(&lane->launch);
    }
    uint64_t end = clock_ticks();
    *elapsed_ns = clock_ns(end - begin);
    return launch_drain(chain.stream, launch_drain(lane->stream, launch_worst(status)));
}

// submit: from before the first of a batch of launches, to two devices in turn, until the last has returned, over the
// batch. The call that makes the other device the thread's current one is in it, once a launch.
static enum gpu_status measure_devices(struct bench_case *c, unsigned samples, double *values)
{
    static struct team_lane lane;
    unsigned devices = 0;
    enum gpu_status status = gpu_count(&devices);
    if (status) return status;
    if (devices < 2) return gpu_reason(GPU_UNSUPPORTED, "this process sees one device");
    const int other = (device + 1) % (int)devices;
    status = open_other(&lane, other);
    for (unsigned i = 0; i < samples && !status; i++) {
        status = feed_two(&lane, other, c->batch, &values[i]);
        values[i] /= c->batch;
    }
    c->error_bound[0] = parts.clock_error_ns / c->batch;
    if (!status) status = gpu_device_select(other);
    if (!status) status = stamp_launch_prove(&lane.stamps);
    enum gpu_status back = gpu_device_select(device);
    if (status || back) return status ? status : back;
    return stamp_launch_prove(&chain.stamps);
}

// --- The plan ----------------------------------------------------------------------------------------------

static void add_bursts(struct bench_plan *plan, enum team_lanes lanes, unsigned threads)
{
    struct bench_case c = {
        .variant = variant_names[lanes],
        .params = LAUNCH_PARAMS,
        .axis = "threads",
        .axis_value = threads,
        .batch = BATCH,
        .samples = BURSTS,
        .processes = lanes == TEAM_CONTEXT_EACH ? CONTEXT_PROCESSES : 0,
        .budget_share = BUDGET_SHARE,
        .argument = lanes,
        .sleeps = threads > 1, // until another lets go of the driver's lock
        .measure = measure_bursts,
        .outputs = {{"submit", "ns", "lower"}, {"period", "ns", "lower"}, {"call_period", "ns", "lower"}}};
    if (lanes == TEAM_ONE_STREAM && threads * BATCH > SHARED) c.batch = SHARED / threads;
    if (threads > 1) c.outputs[3] = (struct bench_output){"fairness", "ratio", "higher"};
    bench_add(plan, &c);
}

static void add_loaded(struct bench_plan *plan, unsigned others)
{
    bench_add(plan, &(struct bench_case){.variant = variant_names[TEAM_STREAM_EACH],
                                         .params = LAUNCH_PARAMS ";kernel=stamp",
                                         .axis = "other_threads",
                                         .axis_value = others,
                                         .samples = SINGLES,
                                         .budget_share = BUDGET_SHARE,
                                         .sleeps = others > 0, // as in add_bursts
                                         .measure = measure_loaded,
                                         .outputs = {{"launch_latency", "ns", "lower"}}});
}

static void add_places(struct bench_plan *plan)
{
    struct bench_case c = {.params = LAUNCH_PARAMS, .budget_share = BUDGET_SHARE, .measure = measure_node};
    for (unsigned node = 0; node <= NODES; node++) { // the last is none: the sibling
        c.variant = node < NODES ? "node" : "sibling_busy";
        c.measure = node < NODES ? measure_node : measure_sibling;
        c.axis = node < NODES ? "numa_node" : NULL;
        c.axis_value = node;
        c.batch = BATCH;
        c.samples = BURSTS;
        c.outputs[0] = (struct bench_output){"submit", "ns", "lower"};
        c.outputs[1] = (struct bench_output){NULL};
        bench_add(plan, &c);
        c.batch = 1;
        c.samples = SINGLES;
        c.outputs[0] = (struct bench_output){"launch_latency", "ns", "lower"};
        if (node < NODES) c.outputs[1] = (struct bench_output){"flag_latency", "ns", "lower"};
        bench_add(plan, &c);
    }
    c.variant = "devices";
    c.measure = measure_devices;
    c.axis = "devices";
    c.axis_value = 2;
    c.batch = BATCH;
    c.samples = BURSTS;
    c.processes = CONTEXT_PROCESSES;
    c.outputs[0] = (struct bench_output){"submit", "ns", "lower"};
    bench_add(plan, &c);
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    enum gpu_status status = gpu_device_current(&device);
    if (!status) status = sync_open();
    if (!status) status = chain_open(&chain);
    if (!status) status = parts_open(&parts, &chain);
    if (!status) status = flag_launch_open(&flag, chain.stream);
    if (!status) status = team_open(chain.stream);
    if (status) return status;
    measuring_pu = pin_current();
    for (unsigned threads = 1; threads <= (quick ? 2 : TEAM_THREADS_MAX); threads *= 2) {
        if (!quick || threads > 1) add_bursts(plan, TEAM_ONE_STREAM, threads);
        add_bursts(plan, TEAM_STREAM_EACH, threads);
        if (!quick && (threads == 2 || threads == 4))
            add_bursts(plan, TEAM_CONTEXT_EACH, threads); // each is dear to make
    }
    for (unsigned others = 0; others < (quick ? 2 : TEAM_THREADS_MAX); others = others < 1 ? 1 : 15 * others)
        add_loaded(plan, others);
    if (!quick) add_places(plan);
    return GPU_OK;
}

static void teardown(void)
{
    team_close();
    flag_launch_close(&flag);
    parts_close(&parts);
    chain_close(&chain);
    sync_close();
}

const struct benchmark contention_benchmark = {
    .name = "contention",
    .summary = "what host threads that launch at once cost each other, and what a launching thread's place costs",
    .source = "its own: claims C1 and C3 say what a call does, not what threads that call at once share of it",
    .seconds = 5,
    .quick_seconds = 0.8,
    .setup = setup,
    .teardown = teardown,
};
