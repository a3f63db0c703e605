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
#include "common/bench.h"
#include "common/scratch.h"
#include "common/sharing.h"

enum { SLICE_SAMPLES = 14, TIMELINE_SAMPLES = 8 };
static const double GROUP_LIMIT_S = 30;

static const char *const visit_variants[VISITS] = {[ALONE] = "alone",
                                                   [LONG] = "beside_long",
                                                   [SHORT] = "beside_short",
                                                   [SERVED_LONG] = "mps_beside_long",
                                                   [SERVED_SHORT] = "mps_beside_short",
                                                   [PART_ALONE] = "parts_alone",
                                                   [PART_LONG] = "parts_beside_long"};

// --- Groups ----------------------------------------------------------------------

static struct run {
    bool done;
    struct gpu_outcome outcome;
    struct sharing_page page;
} runs[GROUPS];
static struct scratch folder; // of the server

static enum gpu_status run_members(const struct sharing_group *group, const char *const *environment,
                                   struct sharing_page *page)
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

static enum gpu_status run_served(const struct sharing_group *group, struct sharing_page *page)
{
    const char *environment[SCRATCH_SETTINGS_MAX + 1];
    if (!bench_server_asked())
        return gpu_reason(GPU_UNSUPPORTED, "a server between processes is started only when asked for with --mps");
    enum gpu_status status = scratch_make(&folder);
    if (!status) status = gpu_server_start(folder.path);
    scratch_complete(&folder, gpu_server_environment, environment, 0);
    if (!status) status = run_members(group, environment, page);
    struct gpu_outcome outcome;
    gpu_outcome_keep(&outcome, status);
    enum gpu_status stopped = gpu_server_stop();
    scratch_remove(&folder);
    return status ? gpu_outcome_tell(&outcome) : stopped;
}

// The first case that asks runs the group.
static enum gpu_status ask(unsigned g, struct sharing_page **page)
{
    struct run *run = &runs[g];
    if (!run->done) {
        run->done = true;
        enum gpu_status status = sharing_groups[g].served ? GPU_OK : gpu_server_absent();
        if (sharing_groups[g].served) status = run_served(&sharing_groups[g], &run->page);
        else if (!status) status = run_members(&sharing_groups[g], NULL, &run->page);
        gpu_outcome_keep(&run->outcome, status);
    }
    *page = &run->page;
    return gpu_outcome_tell(&run->outcome);
}

// A case's argument is GROUP * 32 + which of its turns or visits.
static unsigned group_of(const struct bench_case *c) { return (unsigned)c->argument / 32; }
static unsigned which_of(const struct bench_case *c) { return (unsigned)c->argument % 32; }

// --- Turns -----------------------------------------------------------------------

// Fetches what the tracks of a case have seen, and sums it up.
static enum gpu_status count_turns(struct bench_case *c, const struct resident_record **records,
                                   struct slices_account *account)
{
    const unsigned t = which_of(c);
    // Needs no process to be said; of a server of the benchmark's own its start says it.
    enum gpu_status status = t == CONTEXTS || t == SERVED ? GPU_OK : gpu_processes_share();
    struct slices_track tracks[SLICES_TRACKS_MAX];
    struct sharing_page *page = NULL;
    double pass_ns = 0;
    if (!status) status = ask(group_of(c), &page);
    for (unsigned i = 0; i < sharing_turns[t].tracks && !status; i++) {
        status = gpu_outcome_tell(&page->turns[t][i].told);
        records[i] = &page->turns[t][i].record;
        tracks[i] = (struct slices_track){records[i]->slices, records[i]->count};
        pass_ns = fmax(pass_ns, records[i]->longest_pass_ns);
    }
    if (status) return status;
    slices_count(tracks, sharing_turns[t].tracks, account);
    // Each end of a slice is up to a pass from its last read.
    c->error_bound[0] = 2 * pass_ns;
    snprintf(c->detail, sizeof c->detail, "%s;longest_pass_ns=%.0f;overlaps=%u", records[0]->detail, pass_ns,
             account->overlaps);
    return account->span > 0 ? GPU_OK
                             : gpu_reason(GPU_UNSUPPORTED, "one ran only when the other had ended: they take no turns");
}

// slice: from the first clock read of one's turn to its last. turn_period: from the first clock read of one's turn to
// the first of the next one's: all that a turn costs the device. switch_time: from the last clock read of one's turn to
// the first of the next one's, on the clock that all have in common: block 0's warp is not there. The rest of the
// device may have been saved or restored within its slice. The harness passes over the lead, the first and cold ones.
static enum gpu_status measure_turns(struct bench_case *c, unsigned samples, double *values)
{
    static struct slices_account account;
    const struct resident_record *records[SLICES_TRACKS_MAX];
    enum gpu_status status = count_turns(c, records, &account);
    if (status) return status;
    const char *metric = c->outputs[0].metric;
    const bool slices = strcmp(metric, "slice") == 0;
    const unsigned count = slices ? account.slices : account.switches;
    const double *ticks = slices                           ? account.slice
                          : !strcmp(metric, "turn_period") ? account.turn_period
                                                           : account.switch_time;
    const double ns_per_tick = records[0]->ns_per_tick;
    if (account.overlaps && count < samples)
        return gpu_reason(GPU_UNSUPPORTED, "they ran at the same time: the device is not switched between them");
    if (count < samples)
        return gpu_reason(GPU_UNSUPPORTED, "%u of %u that were wanted within %.0f ms", count, samples,
                          account.span * ns_per_tick / 1e6);
    for (unsigned i = 0; i < samples; i++) values[i] = ticks[i] * ns_per_tick;
    return GPU_OK;
}

// accounted: all slices, and for each change of turn a typical switch, over the span in which all had work. 1: nobody
// else had the device; as many as there are processes: all ran all the time.
static enum gpu_status measure_accounted(struct bench_case *c, unsigned samples, double *values)
{
    static struct slices_account account;
    const struct resident_record *records[SLICES_TRACKS_MAX];
    enum gpu_status status = count_turns(c, records, &account);
    if (status) return status;
    const double ns_per_tick = records[0]->ns_per_tick;
    if (account.switches && account.most_apart > 2 * account.typical_switch)
        return gpu_reason(GPU_FAILED, "somebody else had the device: nobody ran for %.0f us, a switch takes %.0f us",
                          account.most_apart * ns_per_tick / 1e3, account.typical_switch * ns_per_tick / 1e3);
    for (unsigned i = 0; i < samples; i++) values[i] = slices_accounted(&account);
    c->error_bound[0] *= (account.changes + 1) / (account.span * ns_per_tick); // each change may be wrong by so much
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

// --- Visits ----------------------------------------------------------------------

// launch_latency_shared, round_trip_shared: of one small stamping launch at a time, before the call to the first
// thread's first clock read, and to the return of the synchronise.
static enum gpu_status measure_visit(struct bench_case *c, unsigned samples, double *values)
{
    const unsigned v = which_of(c);
    struct sharing_page *page;
    enum gpu_status status = ask(group_of(c), &page);
    if (!status) status = gpu_outcome_tell(&page->visits[v].told);
    if (status) return status;
    const struct neighbour_record *record = &page->visits[v].record;
    assert(samples == NEIGHBOUR_SAMPLES);
    for (unsigned i = 0; i < samples; i++) {
        values[i] = record->launch_latency_ns[i];
        values[samples + i] = record->round_trip_ns[i];
    }
    c->error_bound[0] = record->bound_ns;
    c->error_bound[1] = record->clock_error_ns;
    const struct neighbour_feed *feed = &page->visits[v].feed;
    int length = snprintf(c->detail, sizeof c->detail, "switched_off=%ld", record->switched_off);
    if (feed->refills)
        snprintf(c->detail + length, sizeof c->detail - (size_t)length, ";ran_out=%u_of_%u", feed->dry, feed->refills);
    return GPU_OK;
}

// --- The plan ----------------------------------------------------------------------------------------------

// All of it happens once in each of the run's processes that measure it.
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

static void add_turns(struct bench_plan *plan, unsigned g, unsigned t)
{
    struct bench_case c = {
        .variant = sharing_turns[t].variant, .processes = sharing_groups[g].repeats, .argument = g * 32 + t};
    snprintf(c.params, sizeof c.params, "state=%s", sharing_turns[t].state);
    if (t != CONTEXTS) c.axis = "processes", c.axis_value = sharing_turns[t].tracks;
    add_one(plan, c, "accounted", "ratio", "none", 1, measure_accounted);
    if (t == SERVED) return; // there, nobody has turns
    add_one(plan, c, "slice", "ns", "none", SLICE_SAMPLES, measure_turns);
    add_one(plan, c, "turn_period", "ns", "lower", SLICE_SAMPLES, measure_turns);
    add_one(plan, c, "switch_time", "ns", "lower", SLICE_SAMPLES, measure_turns);
}

static void add_timeline(struct bench_plan *plan)
{
    for (unsigned process = 0; process < 2; process++) {
        struct bench_case c = {
            .variant = sharing_turns[ONE_WARP].variant,
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

static void add_visit(struct bench_plan *plan, unsigned g, unsigned v)
{
    bench_add(plan, &(struct bench_case){
                        .variant = visit_variants[v],
                        .params = LAUNCH_PARAMS ";kernel=stamp",
                        .once = true,
                        .processes = sharing_groups[g].repeats,
                        .samples = NEIGHBOUR_SAMPLES - BENCH_LEAD,
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
        for (unsigned t = 0; t < TURNS; t++)
            if (sharing_groups[g].turns & BIT(t)) add_turns(plan, g, t);
        for (unsigned v = 0; v < VISITS; v++)
            if (sharing_groups[g].visits & BIT(v)) add_visit(plan, g, v);
    }
    if (!quick) add_timeline(plan);
    return GPU_OK;
}

static void teardown(void) { stop_server(); }

const struct benchmark context_switch_benchmark = {
    .name = "context_switch",
    .summary = "several processes on one device: turns, what a change of turn takes, and a light one beside a busy one",
    .source = "claim C6",
    .seconds = 10,
    .quick_seconds = 1.7,
    .setup = setup,
    .teardown = teardown,
    .probe = sharing_probe,
    .probes_only = true,
};
