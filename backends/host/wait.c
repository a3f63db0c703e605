// SPDX-License-Identifier: Apache-2.0
// How the host waits for the device: it polls, polls and yields, or sleeps until a worker tells of an end.
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "backends/host/device.h"
#include "common/clock.h"

// A spinning host lets other threads have the core after so long.
static const double SPIN_NS = 1e6;

static pthread_mutex_t ends = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

static bool has_completed(const struct gpu_stream *stream, uint64_t completed)
{
    return __atomic_load_n(&stream->completed, __ATOMIC_ACQUIRE) >= completed;
}

static void wait_asleep(const struct gpu_stream *stream, uint64_t completed)
{
    pthread_mutex_lock(&ends);
    while (!has_completed(stream, completed)) pthread_cond_wait(&ended, &ends);
    pthread_mutex_unlock(&ends);
}

void wait_wake(void)
{
    pthread_mutex_lock(&ends);
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&ends);
}

void wait_completed(const struct gpu_stream *stream, uint64_t completed)
{
    uint64_t begin = 0;
    if (device.wait == GPU_WAIT_BLOCK) wait_asleep(stream, completed);
    while (!has_completed(stream, completed)) {
        uint64_t now = clock_ticks();
        if (!begin) begin = now;
        if (device.wait == GPU_WAIT_YIELD || clock_ns(now - begin) > SPIN_NS) sched_yield();
        else clock_relax();
    }
}

enum gpu_status gpu_stream_synchronize(struct gpu_stream *stream)
{
    wait_completed(stream, __atomic_load_n(&stream->tail, __ATOMIC_ACQUIRE));
    return GPU_OK;
}

enum gpu_status gpu_device_synchronize(void)
{
    for (uint32_t i = 0; i < device.stream_count; i++) gpu_stream_synchronize(device.streams[i]);
    return GPU_OK;
}

enum gpu_status gpu_stream_query(struct gpu_stream *stream, bool *has_ended)
{
    *has_ended = stream_pending(stream) == 0;
    return GPU_OK;
}

// --- Events ------------------------------------------------------------------------------------------------

enum gpu_status gpu_event_create(struct gpu_event **event, bool timed)
{
    (void)timed;
    *event = calloc(1, sizeof **event);
    return *event ? GPU_OK : gpu_reason(GPU_FAILED, "no memory for an event");
}

enum gpu_status gpu_event_create_blocking(struct gpu_event **event)
{
    enum gpu_status status = gpu_event_create(event, false);
    if (status) return status;
    (*event)->blocking = true;
    __atomic_store_n(&device.sleepers, 1, __ATOMIC_RELEASE);
    return GPU_OK;
}

void gpu_event_destroy(struct gpu_event *event) { free(event); }

enum gpu_status gpu_event_synchronize(struct gpu_event *event)
{
    if (!event->stream) return GPU_OK;
    if (event->blocking) wait_asleep(event->stream, event->completed);
    else wait_completed(event->stream, event->completed);
    return GPU_OK;
}

enum gpu_status gpu_event_query(struct gpu_event *event, bool *has_ended)
{
    *has_ended = !event->stream || has_completed(event->stream, event->completed);
    return GPU_OK;
}
