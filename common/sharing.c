// SPDX-License-Identifier: Apache-2.0
// Groups of processes on one device, seen from each of them. See sharing.h.
#include "common/sharing.h"

#include <stdio.h>
#include <string.h>

#include "backends/gpu_share.h"
#include "backends/gpu_stream.h"

static const double STAY_NS_EACH = 25e6; // by each process; so that each has some ten turns of 2 ms
static const double MEET_LIMIT_S = 15, BUSY_LIMIT_NS = 5e9;

const struct sharing_turns sharing_turns[TURNS] = {
    [ONE_WARP] = {"processes", "one_warp", 2, RESIDENT_ONE_WARP},
    [FULL_REGISTERS] = {"processes", "full_registers", 2, RESIDENT_FULL_REGISTERS},
    [FULL_SHARED] = {"processes", "full_shared", 2, RESIDENT_FULL_SHARED},
    [THREE] = {"processes", "one_warp", 3, RESIDENT_ONE_WARP},
    [FOUR] = {"processes", "one_warp", 4, RESIDENT_ONE_WARP},
    [CONTEXTS] = {"two_contexts", "one_warp", 2, RESIDENT_ONE_WARP},
    [SERVED] = {"mps", "one_warp", 2, RESIDENT_ONE_WARP},
};

// Each group takes seconds, so only what everybody asks for is started by all of the run's processes.
const struct sharing_group sharing_groups[GROUPS] = {
    {"quick", 2, 0, false, BIT(ONE_WARP), BIT(ALONE) | BIT(LONG)},
    {"pair", 2, 0, false, BIT(ONE_WARP), BIT(ALONE) | BIT(LONG)},
    {"states", 2, 3, false, BIT(FULL_REGISTERS) | BIT(FULL_SHARED), 0},
    {"short", 2, 1, false, 0, BIT(SHORT)},
    {"four", 4, 1, false, BIT(THREE) | BIT(FOUR), 0},
    {"contexts", 1, 1, false, BIT(CONTEXTS), 0},
    {"served", 2, 1, true, BIT(SERVED), BIT(SERVED_LONG) | BIT(SERVED_SHORT)},
    {"parts", 1, 1, false, 0, BIT(PART_ALONE) | BIT(PART_LONG)},
};

// --- Taking turns ---------------------------------------------------------------------------

static struct {
    struct sharing_page *page;
    struct chain chain;
    struct parts parts;
} probe;

// Whatever happens to this process, it comes to the meetings that the others of its group go to; only a meeting that
// fails ends it.
static enum gpu_status turns_of_processes(unsigned t)
{
    static struct resident resident;
    const unsigned member = probe_member();
    const bool idle = member >= sharing_turns[t].tracks;
    enum gpu_status status = gpu_processes_share();
    if (!status && !idle)
        status = resident_open(&resident, sharing_turns[t].held, STAY_NS_EACH * sharing_turns[t].tracks);
    enum gpu_status met = probe_meet(MEET_LIMIT_S);
    if (!met && !status && !idle) {
        status = resident_launch(&resident);
        if (!status) status = resident_read(&resident, &probe.page->turns[t][member].record);
    }
    gpu_outcome_keep(&probe.page->turns[t][member].told, status);
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
        if (!status) status = resident_open(&residents[i], sharing_turns[CONTEXTS].held, 2 * STAY_NS_EACH);
    }
    for (unsigned i = 0; i < 2 && !status; i++) {
        status = gpu_context_use(contexts[i]);
        if (!status) status = resident_launch(&residents[i]);
    }
    for (unsigned i = 0; i < 2 && !status; i++) {
        status = gpu_context_use(contexts[i]);
        if (!status) status = resident_read(&residents[i], &probe.page->turns[CONTEXTS][i].record);
    }
    for (unsigned i = 0; i < 2; i++) gpu_outcome_keep(&probe.page->turns[CONTEXTS][i].told, status);
    // The end of the process gives the rest back: after a fault no context is known to be the one in use.
}

// --- The light one and the busy one ---------------------------------------------------------

static enum gpu_status see_busy(const struct neighbour_feed *feed)
{
    const uint64_t begin = clock_ticks();
    while (!__atomic_load_n(&feed->busy, __ATOMIC_ACQUIRE))
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

// Its clocks are brought together before the other begins and after it has ended. Answers whether the group still
// meets.
static enum gpu_status visit_busy(unsigned v)
{
    struct neighbour_record *record = &probe.page->visits[v].record;
    struct neighbour_feed *feed = &probe.page->visits[v].feed;
    const struct gpu_outcome *busy = &probe.page->visits[v].busy;
    enum gpu_status met = probe_meet(MEET_LIMIT_S); // the other is ready, and the device idle
    if (met) return met;
    enum gpu_status status = parts_begin(&probe.parts);
    met = probe_meet(MEET_LIMIT_S);
    if (met) return met;
    if (!status) status = see_busy(feed);
    if (!status) status = neighbour_visit(&probe.parts, NEIGHBOUR_SAMPLES, record);
    if (!status && !__atomic_load_n(&feed->busy, __ATOMIC_ACQUIRE))
        status = gpu_reason(GPU_FAILED, "the busy process ended before the light one");
    __atomic_store_n(&feed->stop, 1, __ATOMIC_RELEASE);
    met = probe_meet(MEET_LIMIT_S);
    if (met) return met;
    if (busy->status) status = gpu_reason((enum gpu_status)busy->status, "%s", busy->reason);
    status = parts_end(&probe.parts, status);
    if (!status) neighbour_take(&probe.parts, 0, NEIGHBOUR_SAMPLES, record);
    gpu_outcome_keep(&probe.page->visits[v].told, status);
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
    if (!met && !status) status = neighbour_feed(&neighbour, kind, &probe.page->visits[v].feed);
    gpu_outcome_keep(&probe.page->visits[v].busy, status);
    neighbour_close(&neighbour);
    if (stream) gpu_stream_destroy(stream);
    return met ? met : probe_meet(MEET_LIMIT_S);
}

// In a group the first process is the light one.
static enum gpu_status visit(unsigned v)
{
    if (v != ALONE) return probe_member() > 0 ? be_busy(v) : visit_busy(v);
    if (probe_member() == 0) gpu_outcome_keep(&probe.page->visits[v].told, visit_alone(&probe.page->visits[v].record));
    return probe_meet(MEET_LIMIT_S);
}

// Both in one process, each in a stream that has a part of the device. Enough long kernels are in the queue before.
static enum gpu_status visit_beside_part(struct neighbour *neighbour)
{
    enum { KERNELS = 90 }; // some twice as long as the light one takes
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
    if (!gpu_outcome_keep(&probe.page->visits[PART_ALONE].told, status)) status = visit_beside_part(&neighbour);
    gpu_outcome_keep(&probe.page->visits[PART_LONG].told, status);
}

// The first process alone, so that no other's turn falls into what it measures of clocks and stamps.
static enum gpu_status open_light(const struct sharing_group *group)
{
    enum gpu_status status = GPU_OK;
    if (probe_member() == 0 && group->visits) {
        status = sync_open();
        if (!status) status = chain_open(&probe.chain);
        if (!status) status = parts_open(&probe.parts, &probe.chain);
    }
    return status ? status : probe_meet(MEET_LIMIT_S);
}

static void see_mode(void *exclusive, const char *key, const char *value)
{
    if (!strcmp(key, "compute_mode") && !strncmp(value, "exclusive", 9)) *(bool *)exclusive = true;
}

// A device that is for one process at a time is no fault of the second one.
static enum gpu_status open_shared(unsigned device)
{
    bool exclusive = false;
    enum gpu_status status = gpu_open(device);
    if (status && !gpu_facts(device, see_mode, &exclusive) && exclusive)
        status = gpu_reason(GPU_UNSUPPORTED, "the device's compute mode is exclusive: one process at a time");
    return status;
}

enum gpu_status sharing_probe(const char *name, struct probe_answer *answer)
{
    unsigned g = 0;
    while (g + 1 < GROUPS && strcmp(sharing_groups[g].probe, name)) g++;
    const struct sharing_group *group = &sharing_groups[g];
    probe.page = probe_shared();
    enum gpu_status status = open_shared(answer->device);
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
