// SPDX-License-Identifier: Apache-2.0
// The busy process and the light one. See neighbour.h.
#include "common/neighbour.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backends/gpu_stream.h"
#include "common/shuffle.h"

GPU_KERNEL(wave);

enum { BLOCK_THREADS = 1024, BLOCKS_EACH = 2, BATCHES = 2, DRY_SHARE = 10 };
static const double SPIN_NS[] = {[NEIGHBOUR_LONG] = 10e6, [NEIGHBOUR_SHORT] = 10e3};
static const unsigned BATCH[] = {[NEIGHBOUR_LONG] = 2, [NEIGHBOUR_SHORT] = 64};
static const double FEED_LIMIT_NS = 5e9;
static const double PAUSE_NS = 5e6; // more than two turns on the devices that are known

// --- The busy one ------------------------------------------------------------------------------------------

enum gpu_status neighbour_open(struct neighbour *neighbour, struct gpu_stream *stream, unsigned multiprocessors)
{
    void *out;
    *neighbour = (struct neighbour){.blocks = BLOCKS_EACH * multiprocessors};
    enum gpu_status status = gpu_alloc(&out, neighbour->blocks * sizeof *neighbour->argument.out);
    if (status) return status;
    neighbour->argument.out = out;
    status = launch_prepare(&neighbour->launch, gpu_kernel(wave), neighbour->blocks, BLOCK_THREADS,
                            &neighbour->argument, sizeof neighbour->argument, stream);
    return status ? status : launch_drain(stream, gpu_launch_runtime(&neighbour->launch));
}

void neighbour_close(struct neighbour *neighbour)
{
    if (neighbour->argument.out) gpu_free(neighbour->argument.out);
    neighbour->argument.out = NULL;
}

enum gpu_status neighbour_submit(struct neighbour *neighbour, enum neighbour_kind kind, unsigned count)
{
    enum gpu_status status = GPU_OK;
    neighbour->argument.spin_ticks = (uint64_t)(SPIN_NS[kind] / gpu_clock_ns_per_tick());
    for (unsigned i = 0; i < count && !status; i++) {
        neighbour->argument.sequence++;
        status = gpu_launch_runtime(&neighbour->launch);
    }
    return status;
}

// NEWEST is behind all that was submitted: at a refill it is not to have ended.
static enum gpu_status count_refill(struct gpu_event *newest, struct neighbour_feed *feed)
{
    bool ended = false;
    enum gpu_status status = gpu_event_query(newest, &ended);
    feed->refills++;
    feed->dry += ended;
    return status;
}

// One batch is always in the queue behind the one that is waited for.
static enum gpu_status keep_filled(struct neighbour *neighbour, enum neighbour_kind kind, struct gpu_event **events,
                                   struct neighbour_feed *feed)
{
    enum gpu_status status = GPU_OK;
    const uint64_t begin = clock_ticks();
    for (unsigned n = 0; !status; n++) {
        if (n > 0) status = count_refill(events[(n - 1) % BATCHES], feed);
        if (!status) status = neighbour_submit(neighbour, kind, BATCH[kind]);
        if (!status) status = gpu_event_record(events[n % BATCHES], neighbour->launch.stream);
        if (!status && n > 0) status = gpu_event_synchronize(events[(n - 1) % BATCHES]);
        if (n > 0) __atomic_store_n(&feed->busy, 1, __ATOMIC_RELEASE);
        if (__atomic_load_n(&feed->stop, __ATOMIC_ACQUIRE)) break;
        if (clock_ns(clock_ticks() - begin) > FEED_LIMIT_NS)
            status = gpu_reason(GPU_FAILED, "nobody told the busy process to stop");
    }
    if (!status && feed->dry * DRY_SHARE > feed->refills)
        status = gpu_reason(GPU_FAILED, "the busy process ran out of kernels %u of %u times: it was not busy",
                            feed->dry, feed->refills);
    return status;
}

enum gpu_status neighbour_feed(struct neighbour *neighbour, enum neighbour_kind kind, struct neighbour_feed *feed)
{
    struct gpu_event *events[BATCHES] = {NULL};
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < BATCHES && !status; i++) status = gpu_event_create(&events[i], false);
    if (!status) status = keep_filled(neighbour, kind, events, feed);
    if (status) __atomic_store_n(&feed->busy, 0, __ATOMIC_RELEASE);
    enum gpu_status drained = neighbour_drain(neighbour);
    for (unsigned i = 0; i < BATCHES; i++)
        if (events[i]) gpu_event_destroy(events[i]);
    return status ? status : drained;
}

enum gpu_status neighbour_drain(struct neighbour *neighbour)
{
    enum gpu_status status = gpu_stream_synchronize(neighbour->launch.stream);
    size_t bytes = neighbour->blocks * sizeof(struct stamp);
    struct stamp *stamps = malloc(bytes);
    if (!status && !stamps) status = gpu_reason(GPU_FAILED, "no memory for %zu bytes of stamps", bytes);
    if (!status) status = gpu_read(stamps, neighbour->argument.out, bytes);
    for (unsigned b = 0; b < neighbour->blocks && !status; b++)
        if (stamps[b].sequence != neighbour->argument.sequence)
            status = gpu_reason(GPU_FAILED, "block %u of the busy kernel left no stamp: it did not run", b);
    free(stamps);
    return status;
}

// --- The light one -----------------------------------------------------------------------------------------

void neighbour_pauses(double *pauses_ns, unsigned count, uint64_t *random)
{
    unsigned order[NEIGHBOUR_SAMPLES];
    assert(count <= NEIGHBOUR_SAMPLES);
    for (unsigned i = 0; i < count; i++) order[i] = i;
    shuffle(order, count, random);
    for (unsigned i = 0; i < count; i++) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        pauses_ns[i] = PAUSE_NS / count * (order[i] + (double)(*random >> 33) / (double)(UINT64_C(1) << 31));
    }
}

enum gpu_status neighbour_visit(struct parts *parts, unsigned count, struct neighbour_record *record)
{
    struct rusage before, after;
    double pauses_ns[NEIGHBOUR_SAMPLES];
    uint64_t random = clock_ticks() ^ (uint64_t)getpid() << 40; // no two processes wait the same
    neighbour_pauses(pauses_ns, count, &random);
    getrusage(RUSAGE_THREAD, &before);
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < count && !status; i++) {
        clock_spin_ns(pauses_ns[i]);
        status = parts_launch(parts, gpu_launch_runtime);
    }
    getrusage(RUSAGE_THREAD, &after);
    record->switched_off += after.ru_nivcsw - before.ru_nivcsw;
    return status;
}

// How far the clocks went apart within the window. Between two bursts a straight line is assumed; over more than a
// usual window nothing is, but that they did not go further than that.
static double drift_ns(const struct sync_window *window)
{
    if (window->end.host_ns - window->begin.host_ns <= SYNC_WINDOW_MS * 1e6) return 0;
    return fabs((window->end.low + window->end.high - window->begin.low - window->begin.high) / 2);
}

void neighbour_take(const struct parts *parts, unsigned first, unsigned count, struct neighbour_record *record)
{
    for (unsigned i = 0; i < count; i++) {
        record->launch_latency_ns[first + i] = parts_launch_latency(parts, i);
        record->round_trip_ns[first + i] = parts_round_trip(parts, i);
    }
    record->bound_ns = fmax(record->bound_ns, parts_bound_ns(parts) + drift_ns(&parts->window));
    record->clock_error_ns = parts->clock_error_ns;
}
