// SPDX-License-Identifier: Apache-2.0
// What it costs that several processes have one device: how long each has its turn, what a change takes, and what a
// light process pays beside a busy one.
//
// All of it happens in groups of fresh processes; one group answers many cases, and the measuring process opens no
// device, so that its context is none of those that take turns.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu_share.h"
#include "backends/gpu_stream.h"
#include "common/bench.h"
#include "common/neighbour.h"
#include "common/probe.h"
#include "common/resident.h"
#include "common/scratch.h"

enum { SLICE_SAMPLES = 14, TIMELINE_SAMPLES = 8 };
static const double STAY_NS_EACH = 25e6; // by each process; so that each has some ten turns of 2 ms
static const double GROUP_LIMIT_S = 30, MEET_LIMIT_S = 15, BUSY_LIMIT_NS = 5e9;

// Who takes turns, with what to be saved.
enum { ONE_WARP, FULL_REGISTERS, FULL_SHARED, THREE, FOUR, CONTEXTS, SERVED, TURNS };
static const struct {
    const char *variant, *state;
    unsigned tracks; // contexts that take turns
    enum resident_state held;
} turns[TURNS] = {
    [ONE_WARP] = {"processes", "one_warp", 2, RESIDENT_ONE_WARP},
    [FULL_REGISTERS] = {"processes", "full_registers", 2, RESIDENT_FULL_REGISTERS},
    [FULL_SHARED] = {"processes", "full_shared", 2, RESIDENT_FULL_SHARED},
    [THREE] = {"processes", "one_warp", 3, RESIDENT_ONE_WARP},
    [FOUR] = {"processes", "one_warp", 4, RESIDENT_ONE_WARP},
    [CONTEXTS] = {"two_contexts", "one_warp", 2, RESIDENT_ONE_WARP},
    [SERVED] = {"mps", "one_warp", 2, RESIDENT_ONE_WARP},
};

// Whom the light one has beside it.
enum { ALONE, LONG, SHORT, SERVED_LONG, SERVED_SHORT, PART_ALONE, PART_LONG, VISITS };
static const char *const visit_variants[VISITS] = {[ALONE] = "alone",
                                                   [LONG] = "beside_long",
                                                   [SHORT] = "beside_short",
                                                   [SERVED_LONG] = "mps_beside_long",
                                                   [SERVED_SHORT] = "mps_beside_short",
                                                   [PART_ALONE] = "parts_alone",
                                                   [PART_LONG] = "parts_beside_long"};

#define BIT(n) (1u << (n))
static const struct group {
    const char *probe;
    unsigned processes;
    bool served;
    unsigned turns, visits; // bits
} groups[] = {
    {"quick", 2, false, BIT(ONE_WARP), BIT(ALONE) | BIT(LONG)},
    {"pair", 2, false, BIT(ONE_WARP) | BIT(FULL_REGISTERS) | BIT(FULL_SHARED), BIT(ALONE) | BIT(LONG) | BIT(SHORT)},
    {"four", 4, false, BIT(THREE) | BIT(FOUR), 0},
    {"contexts", 1, false, BIT(CONTEXTS), 0},
    {"served", 2, true, BIT(SERVED), BIT(SERVED_LONG) | BIT(SERVED_SHORT)},
    {"parts", 1, false, 0, BIT(PART_ALONE) | BIT(PART_LONG)},
};
enum { QUICK, PAIR, FOUR_PROCESSES, TWO_CONTEXTS, MPS, PARTS, GROUPS };

struct told {
    int status; // enum gpu_status
    char reason[108];
};

// What a group's processes have in common.
struct page {
    uint32_t busy, stop; // neighbour_feed's
    struct {
        struct told told;
        struct resident_record record;
    } turns[TURNS][SLICES_TRACKS_MAX];
    struct {
        struct told told, busy; // of the light one, of the other
        struct neighbour_record record;
    } visits[VISITS];
};

// --- In the probes: taking turns ---------------------------------------------------------------------------

static struct {
    struct page *page;
    struct chain chain;
    struct parts parts;
} probe;

static enum gpu_status tell(struct told *told, enum gpu_status status)
{
    told->status = status;
    if (status) snprintf(told->reason, sizeof told->reason, "%s", gpu_error());
    return status;
}

// Whatever happens to this process, it comes to the meetings that the others of its group go to; only a meeting that
// fails ends it.
static enum gpu_status turns_of_processes(unsigned t)
{
    static struct resident resident;
    const unsigned member = probe_member();
    const bool idle = member >= turns[t].tracks;
    enum gpu_status status = gpu_processes_share();
    if (!status && !idle) status = resident_open(&resident, turns[t].held, STAY_NS_EACH * turns[t].tracks);
    enum gpu_status met = probe_meet(MEET_LIMIT_S);
    if (!met && !status && !idle) {
        status = resident_launch(&resident);
        if (!status) status = resident_read(&resident, &probe.page->turns[t][member].record);
    }
    tell(&probe.page->turns[t][member].told, status);
    resident_close(&resident);
    return met ? met : probe_meet(MEET_LIMIT_S);
}

// Two contexts of one process, from one thread: neither launch waits for anything.
static void turns_of_contexts(void)
{
    static struct resident residents[2];
    struct gpu_context *contexts[2] = {NULL, NULL}; // the first is the one that was opened
    enum gpu_status status = gpu_context_create(&contexts[1]);
    for (unsigned i = 0; i < 2 && !status; i++) {
        status = gpu_context_use(contexts[i]);
        if (!status) status = resident_open(&residents[i], turns[CONTEXTS].held, 2 * STAY_NS_EACH);
    }
    for (unsigned i = 0; i < 2 && !status; i++) {
        status = gpu_context_use(contexts[i]);
        if (!status) status = resident_launch(&residents[i]);
    }
    for (unsigned i = 0; i < 2 && !status; i++) {
        status = gpu_context_use(contexts[i]);
        if (!status) status = resident_read(&residents[i], &probe.page->turns[CONTEXTS][i].record);
    }
    for (unsigned i = 0; i < 2; i++) tell(&probe.page->turns[CONTEXTS][i].told, status);
    // The end of the process gives the rest back: after a fault no context is known to be the one in use.
}

// --- In the probes: the light one and the busy one ---------------------------------------------------------

static enum gpu_status see_busy(void)
{
    const uint64_t begin = clock_ticks();
    while (!__atomic_load_n(&probe.page->busy, __ATOMIC_ACQUIRE))
        if (clock_ns(clock_ticks() - begin) > BUSY_LIMIT_NS)
            return gpu_reason(GPU_FAILED, "the process that is to be busy is not");
    return GPU_OK;
}

static enum gpu_status visit_alone(struct neighbour_record *record)
{
    enum gpu_status status = GPU_OK;
    for (unsigned first = 0; first < NEIGHBOUR_SAMPLES && !status; first += NEIGHBOUR_CHUNK) {
        status = parts_begin(&probe.parts);
        if (!status) status = neighbour_visit(&probe.parts, NEIGHBOUR_CHUNK, record);
        status = parts_end(&probe.parts, status);
        if (!status) neighbour_take(&probe.parts, first, NEIGHBOUR_CHUNK, record);
    }
    return status;
}

// Its clocks are brought together before the other begins and after it has ended. Answers whether the group still meets.
static enum gpu_status visit_busy(unsigned v)
{
    struct neighbour_record *record = &probe.page->visits[v].record;
    const struct told *busy = &probe.page->visits[v].busy;
    __atomic_store_n(&probe.page->busy, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&probe.page->stop, 0, __ATOMIC_RELEASE);
    enum gpu_status met = probe_meet(MEET_LIMIT_S); // the other is ready, and the device idle
    if (met) return met;
    enum gpu_status status = parts_begin(&probe.parts);
    met = probe_meet(MEET_LIMIT_S);
    if (met) return met;
    if (!status) status = see_busy();
    if (!status) status = neighbour_visit(&probe.parts, NEIGHBOUR_SAMPLES, record);
    if (!status && !__atomic_load_n(&probe.page->busy, __ATOMIC_ACQUIRE))
        status = gpu_reason(GPU_FAILED, "the busy process ended before the light one");
    __atomic_store_n(&probe.page->stop, 1, __ATOMIC_RELEASE);
    met = probe_meet(MEET_LIMIT_S);
    if (met) return met;
    if (busy->status) status = gpu_reason((enum gpu_status)busy->status, "%s", busy->reason);
    status = parts_end(&probe.parts, status);
    if (!status) neighbour_take(&probe.parts, 0, NEIGHBOUR_SAMPLES, record);
    tell(&probe.page->visits[v].told, status);
    return GPU_OK;
}

static enum gpu_status be_busy(unsigned v)
{
    static struct neighbour neighbour;
    const enum neighbour_kind kind = v == LONG || v == SERVED_LONG ? NEIGHBOUR_LONG : NEIGHBOUR_SHORT;
    struct gpu_stream *stream = NULL;
    enum gpu_status status = gpu_stream_create(&stream);
    if (!status) status = neighbour_open(&neighbour, stream, gpu_multiprocessors());
    enum gpu_status met = probe_meet(MEET_LIMIT_S);
    if (!met) met = probe_meet(MEET_LIMIT_S);
    if (!met && !status) status = neighbour_feed(&neighbour, kind, &probe.page->busy, &probe.page->stop);
    tell(&probe.page->visits[v].busy, status);
    neighbour_close(&neighbour);
    if (stream) gpu_stream_destroy(stream);
    return met ? met : probe_meet(MEET_LIMIT_S);
}

// In a group the first process is the light one.
static enum gpu_status visit(unsigned v)
{
    if (v != ALONE) return probe_member() > 0 ? be_busy(v) : visit_busy(v);
    if (probe_member() == 0) tell(&probe.page->visits[v].told, visit_alone(&probe.page->visits[v].record));
    return probe_meet(MEET_LIMIT_S);
}

// Both in one process, each in a stream that has a part of the device. Enough long kernels are in the queue before.
static enum gpu_status visit_beside_part(struct neighbour *neighbour)
{
    enum { KERNELS = 20 }; // some twice as long as the light one takes
    struct neighbour_record *record = &probe.page->visits[PART_LONG].record;
    bool ended = false;
    enum gpu_status status = parts_begin(&probe.parts);
    if (!status) status = neighbour_submit(neighbour, NEIGHBOUR_LONG, KERNELS);
    if (!status) status = neighbour_visit(&probe.parts, NEIGHBOUR_SAMPLES, record);
    if (!status) status = gpu_stream_query(neighbour->launch.stream, &ended);
    if (!status && ended) status = gpu_reason(GPU_FAILED, "the busy part ended before the light one");
    enum gpu_status drained = neighbour_drain(neighbour);
    status = parts_end(&probe.parts, status ? status : drained);
    if (!status) neighbour_take(&probe.parts, 0, NEIGHBOUR_SAMPLES, record);
    return status;
}

static void visit_parts(void)
{
    static struct neighbour neighbour;
    struct gpu_stream *streams[2];
    unsigned multiprocessors;
    enum gpu_status status = gpu_stream_create_parts(streams, 2, &multiprocessors);
    if (!status) status = neighbour_open(&neighbour, streams[0], multiprocessors);
    if (!status) {
        probe.parts.stamps.launch.stream = streams[1];
        status = gpu_launch_prepare(&probe.parts.stamps.launch);
    }
    if (!status) status = visit_alone(&probe.page->visits[PART_ALONE].record);
    if (!tell(&probe.page->visits[PART_ALONE].told, status)) status = visit_beside_part(&neighbour);
    tell(&probe.page->visits[PART_LONG].told, status);
}

// The first process alone, so that no other's turn falls into what it measures of clocks and stamps.
static enum gpu_status open_light(const struct group *group)
{
    enum gpu_status status = GPU_OK;
    if (probe_member() == 0 && group->visits) {
        status = sync_open();
        if (!status) status = chain_open(&probe.chain);
        if (!status) status = parts_open(&probe.parts, &probe.chain);
    }
    return status ? status : probe_meet(MEET_LIMIT_S);
}

static enum gpu_status run_probe(const char *name, struct probe_answer *answer)
{
    unsigned g = 0;
    while (g + 1 < GROUPS && strcmp(groups[g].probe, name)) g++;
    const struct group *group = &groups[g];
    probe.page = probe_shared();
    enum gpu_status status = gpu_open(answer->device);
    if (!status) status = probe_meet(MEET_LIMIT_S);
    if (!status) status = open_light(group);
    for (unsigned t = 0; t < TURNS && !status; t++)
        if (group->turns & BIT(t) && t != CONTEXTS) status = turns_of_processes(t);
    if (!status && group->turns & BIT(CONTEXTS)) turns_of_contexts();
    for (unsigned v = 0; v < PART_ALONE && !status; v++)
        if (group->visits & BIT(v)) status = visit(v);
    if (!status && group->visits & BIT(PART_ALONE)) visit_parts();
    if (status) return status;
    parts_close(&probe.parts);
    chain_close(&probe.chain);
    sync_close();
    gpu_close();
    return GPU_OK;
}

// --- In the measuring process: groups ----------------------------------------------------------------------

static struct run {
    bool done;
    enum gpu_status status;
    char reason[256];
    struct page page;
} runs[GROUPS];
static struct scratch folder; // of the server

static enum gpu_status run_members(const struct group *group, const char *const *environment, struct page *page)
{
    struct probe_member members[PROBE_GROUP_MAX];
    void *shared;
    enum gpu_status status =
        probe_run_group(group->probe, environment, group->processes, GROUP_LIMIT_S, &shared, sizeof *page, members);
    if (!status) memcpy(page, shared, sizeof *page);
    return status;
}

static void stop_server(void)
{
    gpu_server_stop();
    scratch_remove(&folder);
}

static enum gpu_status run_served(const struct group *group, struct page *page)
{
    char entries[4][300];
    const char *environment[5] = {NULL};
    if (!bench_server_asked())
        return gpu_reason(GPU_UNSUPPORTED, "a server between processes is started only when asked for with --mps");
    enum gpu_status status = scratch_make(&folder);
    if (!status) status = gpu_server_start(folder.path);
    for (unsigned i = 0; i < 4 && gpu_server_environment[i]; i++) {
        snprintf(entries[i], sizeof entries[i], "%s%s", gpu_server_environment[i], folder.path);
        environment[i] = entries[i];
    }
    if (!status) status = run_members(group, environment, page);
    char reason[256];
    snprintf(reason, sizeof reason, "%s", gpu_error());
    enum gpu_status stopped = gpu_server_stop();
    scratch_remove(&folder);
    return status ? gpu_reason(status, "%s", reason) : stopped;
}

// The first case that asks runs the group.
static enum gpu_status ask(unsigned g, struct page **page)
{
    struct run *run = &runs[g];
    if (!run->done) {
        run->done = true;
        run->status = groups[g].served ? run_served(&groups[g], &run->page) : run_members(&groups[g], NULL, &run->page);
        if (run->status) snprintf(run->reason, sizeof run->reason, "%s", gpu_error());
    }
    *page = &run->page;
    return run->status ? gpu_reason(run->status, "%s", run->reason) : GPU_OK;
}

static enum gpu_status heed(const struct told *told)
{
    return told->status ? gpu_reason((enum gpu_status)told->status, "%s", told->reason) : GPU_OK;
}

// A case's argument is GROUP * 32 + which of its turns or visits.
static unsigned group_of(const struct bench_case *c) { return (unsigned)c->argument / 32; }
static unsigned which_of(const struct bench_case *c) { return (unsigned)c->argument % 32; }

// --- In the measuring process: turns -----------------------------------------------------------------------

// Fetches what the tracks of a case have seen, and sums it up.
static enum gpu_status count_turns(struct bench_case *c, const struct resident_record **records,
                                   struct slices_account *account)
{
    const unsigned t = which_of(c);
    enum gpu_status status = t == CONTEXTS ? GPU_OK : gpu_processes_share(); // which needs no process to be said
    struct slices_track tracks[SLICES_TRACKS_MAX];
    struct page *page = NULL;
    double pass_ns = 0;
    if (!status) status = ask(group_of(c), &page);
    for (unsigned i = 0; i < turns[t].tracks && !status; i++) {
        status = heed(&page->turns[t][i].told);
        records[i] = &page->turns[t][i].record;
        tracks[i] = (struct slices_track){records[i]->slices, records[i]->count};
        pass_ns = fmax(pass_ns, records[i]->longest_pass_ns);
    }
    if (status) return status;
    slices_count(tracks, turns[t].tracks, account);
    // Each end of a slice is up to a pass from its last read.
    c->error_bound[0] = 2 * pass_ns;
    snprintf(c->detail, sizeof c->detail, "%s;longest_pass_ns=%.0f;overlaps=%u", records[0]->detail, pass_ns,
             account->overlaps);
    return account->span > 0 ? GPU_OK
                             : gpu_reason(GPU_UNSUPPORTED, "one ran only when the other had ended: they take no turns");
}

// Hands on the first of COUNT values; the harness passes over the lead.
static enum gpu_status hand_on(const struct slices_account *account, const double *ticks, unsigned count,
                               double ns_per_tick, unsigned samples, double *values)
{
    const unsigned wanted = samples - BENCH_LEAD;
    if (account->overlaps && count < wanted)
        return gpu_reason(GPU_UNSUPPORTED, "they ran at the same time: the device is not switched between them");
    if (count < wanted)
        return gpu_reason(GPU_UNSUPPORTED, "%u of %u that were wanted within %.0f ms", count, wanted,
                          account->span * ns_per_tick / 1e6);
    for (unsigned i = 0; i < samples; i++) values[i] = ticks[i < BENCH_LEAD ? 0 : i - BENCH_LEAD] * ns_per_tick;
    return GPU_OK;
}

// slice: from the first clock read of one's turn to its last.
static enum gpu_status measure_slice(struct bench_case *c, unsigned samples, double *values)
{
    static struct slices_account account;
    const struct resident_record *records[SLICES_TRACKS_MAX];
    enum gpu_status status = count_turns(c, records, &account);
    return status ? status : hand_on(&account, account.slice, account.slices, records[0]->ns_per_tick, samples, values);
}

// switch_time: from the last clock read of one's turn to the first of the next one's, on the clock that all have in
// common: saving the one's state, deciding, restoring the other's.
static enum gpu_status measure_switch(struct bench_case *c, unsigned samples, double *values)
{
    static struct slices_account account;
    const struct resident_record *records[SLICES_TRACKS_MAX];
    enum gpu_status status = count_turns(c, records, &account);
    return status ? status
                  : hand_on(&account, account.switch_time, account.switches, records[0]->ns_per_tick, samples, values);
}

// accounted: all slices and switches over the span in which all had work. 1: nobody else had the device; less: somebody
// had; as many as there are processes: all ran all the time.
static enum gpu_status measure_accounted(struct bench_case *c, unsigned samples, double *values)
{
    static struct slices_account account;
    const struct resident_record *records[SLICES_TRACKS_MAX];
    enum gpu_status status = count_turns(c, records, &account);
    if (status) return status;
    for (unsigned i = 0; i < samples; i++) values[i] = (account.running + account.between) / account.span;
    c->error_bound[0] = c->error_bound[0] / (account.span * records[0]->ns_per_tick); // the ends between cancel out
    return GPU_OK;
}

// slice_begin, slice_end: the first slices of one process, since the first clock read of any.
static enum gpu_status measure_timeline(struct bench_case *c, unsigned samples, double *values)
{
    static struct slices_account account;
    const struct resident_record *records[SLICES_TRACKS_MAX];
    enum gpu_status status = count_turns(c, records, &account);
    if (status) return status;
    const struct resident_record *record = records[strstr(c->params, "process=1") ? 1 : 0];
    const uint64_t a = records[0]->slices[0].begin_ticks, b = records[1]->slices[0].begin_ticks, zero = a < b ? a : b;
    if (record->count < samples - BENCH_LEAD)
        return gpu_reason(GPU_UNSUPPORTED, "only %u slices of %d", record->count, TIMELINE_SAMPLES);
    for (unsigned i = 0; i < samples; i++) {
        const struct slice *slice = &record->slices[i < BENCH_LEAD ? 0 : i - BENCH_LEAD];
        values[i] = (double)(slice->begin_ticks - zero) * record->ns_per_tick;
        values[samples + i] = (double)(slice->end_ticks - zero) * record->ns_per_tick;
    }
    c->error_bound[1] = c->error_bound[0];
    return GPU_OK;
}

// --- In the measuring process: visits ----------------------------------------------------------------------

// launch_latency_shared, round_trip_shared: of one small stamping launch at a time, before the call to the first
// thread's first clock read, and to the return of the synchronise.
static enum gpu_status measure_visit(struct bench_case *c, unsigned samples, double *values)
{
    const unsigned v = which_of(c);
    struct page *page;
    enum gpu_status status = ask(group_of(c), &page);
    if (!status) status = heed(&page->visits[v].told);
    if (status) return status;
    const struct neighbour_record *record = &page->visits[v].record;
    assert(samples == NEIGHBOUR_SAMPLES + BENCH_LEAD);
    for (unsigned i = 0; i < samples; i++) {
        values[i] = record->launch_latency_ns[i < BENCH_LEAD ? 0 : i - BENCH_LEAD];
        values[samples + i] = record->round_trip_ns[i < BENCH_LEAD ? 0 : i - BENCH_LEAD];
    }
    c->error_bound[0] = record->bound_ns;
    c->error_bound[1] = record->clock_error_ns;
    snprintf(c->detail, sizeof c->detail, "switched_off=%ld", record->switched_off);
    return GPU_OK;
}

// --- The plan ----------------------------------------------------------------------------------------------

// PROCESSES: of the run's, that measure it; 0: all. All of it happens once in each.
static void add_one(struct bench_plan *plan, struct bench_case c, const char *metric, const char *unit,
                    const char *better, unsigned samples,
                    enum gpu_status (*measure)(struct bench_case *, unsigned, double *))
{
    c.once = true;
    c.samples = samples;
    c.measure = measure;
    c.outputs[0] = (struct bench_output){metric, unit, better, .estimator = "distribution"};
    bench_add(plan, &c);
}

static void add_turns(struct bench_plan *plan, unsigned g, unsigned t, unsigned processes)
{
    struct bench_case c = {.variant = turns[t].variant, .processes = processes, .argument = g * 32 + t};
    snprintf(c.params, sizeof c.params, "state=%s", turns[t].state);
    if (t != CONTEXTS) c.axis = "processes", c.axis_value = turns[t].tracks;
    add_one(plan, c, "accounted", "ratio", "none", 1, measure_accounted);
    if (t == SERVED) return; // there, nobody has turns
    add_one(plan, c, "slice", "ns", "none", SLICE_SAMPLES, measure_slice);
    add_one(plan, c, "switch_time", "ns", "lower", SLICE_SAMPLES, measure_switch);
}

static void add_timeline(struct bench_plan *plan)
{
    for (unsigned process = 0; process < 2; process++) {
        struct bench_case c = {
            .variant = turns[ONE_WARP].variant,
            .once = true,
            .processes = 1,
            .samples = TIMELINE_SAMPLES,
            .measure = measure_timeline,
            .argument = PAIR * 32 + ONE_WARP,
            .outputs = {{"slice_begin", "ns", "none", "distribution"}, {"slice_end", "ns", "none", "distribution"}}};
        snprintf(c.params, sizeof c.params, "process=%u;processes=2;state=one_warp", process);
        bench_add(plan, &c);
    }
}

static void add_visit(struct bench_plan *plan, unsigned g, unsigned v, unsigned processes)
{
    bench_add(plan, &(struct bench_case){
                        .variant = visit_variants[v],
                        .params = LAUNCH_PARAMS ";kernel=stamp",
                        .once = true,
                        .processes = processes,
                        .samples = NEIGHBOUR_SAMPLES,
                        .measure = measure_visit,
                        .argument = g * 32 + v,
                        .outputs = {{"launch_latency_shared", "ns", "lower", "distribution"},
                                    {"round_trip_shared", "ns", "lower", "distribution"}},
                    });
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    unsigned devices; // asking for them holds the driver, which would unload itself between the groups or not
    enum gpu_status status = gpu_count(&devices);
    if (status) return status;
    for (unsigned g = quick ? QUICK : PAIR; g <= (quick ? QUICK : PARTS); g++) {
        const unsigned processes = g <= PAIR ? 0 : 1;
        for (unsigned t = 0; t < TURNS; t++)
            if (groups[g].turns & BIT(t)) add_turns(plan, g, t, processes);
        for (unsigned v = 0; v < VISITS; v++)
            if (groups[g].visits & BIT(v)) add_visit(plan, g, v, processes);
    }
    if (!quick) add_timeline(plan);
    return GPU_OK;
}

static void teardown(void) { stop_server(); }

const struct benchmark context_switch_benchmark = {
    .name = "context_switch",
    .summary = "several processes on one device: turns, what a change of turn takes, and a light one beside a busy one",
    .source = "claim C7",
    .seconds = 8,
    .quick_seconds = 1.2,
    .setup = setup,
    .teardown = teardown,
    .probe = run_probe,
    .probes_only = true,
};
