// SPDX-License-Identifier: Apache-2.0
// Threads that launch at the same time. See team.h.
#include "common/team.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "backends/gpu_kernel.h"
#include "backends/gpu_share.h"
#include "common/pin.h"

enum go { GO_WAIT, GO_WORK, GO_HOME };

struct team_worker team_workers[TEAM_THREADS_MAX];

static struct {
    int device, pu; // of the thread that starts teams
    struct gpu_stream *shared;
    enum team_lanes lanes;
    unsigned threads; // of which so many are there, the first included
    void (*work)(struct team_worker *);
    uint32_t ready, go, stop, done;
    uint32_t arrived, phase; // of the barrier
} team;

static struct team_lane lanes[TEAM_LANES][TEAM_THREADS_MAX];
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

// It keeps its core, but lets others have it who need it: there may be fewer cores than threads that wait.
void team_pause(unsigned polls)
{
    if (polls % 1024 == 1023) sched_yield();
    else clock_relax();
}

bool team_stopping(void) { return __atomic_load_n(&team.stop, __ATOMIC_ACQUIRE); }

void team_barrier(void)
{
    uint32_t phase = __atomic_load_n(&team.phase, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&team.arrived, 1, __ATOMIC_ACQ_REL) == team.threads) {
        __atomic_store_n(&team.arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&team.phase, phase + 1, __ATOMIC_RELEASE);
        return;
    }
    for (unsigned polls = 0; __atomic_load_n(&team.phase, __ATOMIC_ACQUIRE) == phase; polls++) team_pause(polls);
}

// --- Lanes -------------------------------------------------------------------------------------------------

static enum gpu_status create_lane(struct team_lane *lane, unsigned index)
{
    enum gpu_status status = GPU_OK;
    lane->stream = team.shared;
    if (team.lanes == TEAM_CONTEXT_EACH && index > 0) {
        status = gpu_context_use(NULL); // to be the device that the new one is made on
        if (!status) status = gpu_context_create(&lane->context);
    }
    if (!status && team.lanes != TEAM_ONE_STREAM) status = gpu_stream_create(&lane->stream);
    if (!status) status = launch_prepare_empty(&lane->launch, lane->stream);
    if (!status) status = stamp_launch_open(&lane->stamps, lane->stream, 1);
    if (!status) status = launch_drain(lane->stream, gpu_launch_runtime(&lane->launch));
    lane->open = status == GPU_OK;
    return status;
}

// Makes the worker's lane the calling thread's, with its device and context current. What a device makes is made by one
// thread at a time.
static enum gpu_status enter_lane(struct team_worker *worker)
{
    struct team_lane *lane = &lanes[team.lanes][worker->index];
    worker->lane = lane;
    pthread_mutex_lock(&opening);
    enum gpu_status status = worker->index ? gpu_device_select(team.device) : GPU_OK;
    if (!status && !lane->open) status = create_lane(lane, worker->index);
    else if (!status && lane->context) status = gpu_context_use(lane->context);
    pthread_mutex_unlock(&opening);
    return status;
}

// --- Threads -----------------------------------------------------------------------------------------------

static void *worker_main(void *context)
{
    struct team_worker *worker = context;
    bool bound = pin_worker(worker->index - 1, team.pu) >= 0;
    worker->status =
        bound ? enter_lane(worker) : gpu_reason(GPU_FAILED, "the system refused to bind thread %u", worker->index);
    gpu_outcome_keep(&worker->outcome, worker->status);
    __atomic_add_fetch(&team.ready, 1, __ATOMIC_RELEASE);
    uint32_t go;
    for (unsigned polls = 0; !(go = __atomic_load_n(&team.go, __ATOMIC_ACQUIRE)); polls++) team_pause(polls);
    if (go == GO_WORK) {
        team.work(worker);
        gpu_outcome_keep(&worker->outcome, worker->status);
    }
    __atomic_add_fetch(&team.done, 1, __ATOMIC_RELEASE);
    return NULL;
}

static enum gpu_status first_failure(enum gpu_status status)
{
    for (unsigned i = 1; i < team.threads && !status; i++)
        status = gpu_outcome_tell(&team_workers[i].outcome);
    return status;
}

static void wait_count(const uint32_t *count, uint32_t wanted)
{
    for (unsigned polls = 0; __atomic_load_n(count, __ATOMIC_ACQUIRE) < wanted; polls++) team_pause(polls);
}

// Awake until there is nothing to wait for: a measuring thread that sleeps in a round would look disturbed.
enum gpu_status team_end(enum gpu_status status)
{
    __atomic_store_n(&team.stop, 1, __ATOMIC_RELEASE);
    wait_count(&team.done, team.threads - 1);
    for (unsigned i = 1; i < team.threads; i++) pthread_join(team_workers[i].thread, NULL);
    return first_failure(status);
}

static enum gpu_status create_threads(unsigned threads)
{
    for (; team.threads < threads; team.threads++) {
        struct team_worker *worker = &team_workers[team.threads];
        worker->index = team.threads;
        int error = pthread_create(&worker->thread, NULL, worker_main, worker);
        if (error) return gpu_reason(GPU_FAILED, "pthread_create: %s", strerror(error));
    }
    wait_count(&team.ready, threads - 1);
    return first_failure(GPU_OK);
}

enum gpu_status team_start(enum team_lanes kind, unsigned threads, void (*work)(struct team_worker *))
{
    if (threads > pin_count())
        return gpu_reason(GPU_UNSUPPORTED, "this process may use %u processing units, not %u", pin_count(), threads);
    team.lanes = kind;
    team.threads = 1;
    team.work = work;
    team.ready = team.go = team.stop = team.done = team.arrived = 0;
    memset(team_workers, 0, sizeof team_workers);
    enum gpu_status status = enter_lane(&team_workers[0]);
    if (!status) status = create_threads(threads);
    if (!status) return GPU_OK;
    __atomic_store_n(&team.go, GO_HOME, __ATOMIC_RELEASE);
    return team_end(status);
}

void team_go(void) { __atomic_store_n(&team.go, GO_WORK, __ATOMIC_RELEASE); }

enum gpu_status team_open(struct gpu_stream *shared)
{
    team.shared = shared;
    team.pu = pin_current();
    return gpu_device_current(&team.device);
}

// What lies in contexts goes with the process.
void team_close(void)
{
    for (unsigned kind = 0; kind < TEAM_LANES; kind++)
        for (unsigned i = 0; i < TEAM_THREADS_MAX; i++) {
            struct team_lane *lane = &lanes[kind][i];
            if (!lane->open || lane->context) continue;
            stamp_launch_close(&lane->stamps);
            if (kind != TEAM_ONE_STREAM) gpu_stream_destroy(lane->stream);
        }
}
