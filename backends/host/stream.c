// SPDX-License-Identifier: Apache-2.0
// The host's side of a stream: making it and filling its ring. A launch writes a packet, and one store publishes it.
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "backends/host/device.h"
#include "backends/host/inject.h"
#include "common/clock.h"

// A waiting host spins for so long, then lets other threads have the core between polls.
static const double SPIN_NS = 1e6;

// Returns when COMPLETED packets have ended.
static void wait_completed(const struct gpu_stream *stream, uint64_t completed)
{
    uint64_t begin = 0;
    while (__atomic_load_n(&stream->completed, __ATOMIC_ACQUIRE) < completed) {
        uint64_t now = clock_ticks();
        if (!begin) begin = now;
        if (clock_ns(now - begin) > SPIN_NS) sched_yield();
        else clock_relax();
    }
}

uint64_t stream_pending(const struct gpu_stream *stream)
{
    return stream->tail - __atomic_load_n(&stream->completed, __ATOMIC_ACQUIRE);
}

// Memory that is there: zeroing touches each page.
static void *touched(size_t bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, bytes)) return NULL;
    return memset(memory, 0, bytes);
}

enum gpu_status gpu_stream_create(struct gpu_stream **stream)
{
    uint32_t count = device.stream_count;
    for (uint32_t i = 0; i < count; i++) {
        struct gpu_stream *free_one = device.streams[i];
        if (free_one->used || stream_pending(free_one)) continue;
        free_one->used = true;
        *stream = free_one;
        return GPU_OK;
    }
    if (count == STREAMS_MAX)
        return gpu_reason(GPU_UNSUPPORTED, "the host device has no more than %d streams", STREAMS_MAX);
    struct gpu_stream *created = touched(sizeof *created);
    if (!created) return gpu_reason(GPU_FAILED, "no memory for a stream's ring");
    created->used = true;
    device.streams[count] = created;
    __atomic_store_n(&device.stream_count, count + 1, __ATOMIC_RELEASE);
    *stream = created;
    return GPU_OK;
}

void gpu_stream_destroy(struct gpu_stream *stream)
{
    if (stream) stream->used = false;
}

enum gpu_status gpu_stream_synchronize(struct gpu_stream *stream)
{
    wait_completed(stream, stream->tail);
    return GPU_OK;
}

enum gpu_status stream_grow(struct gpu_stream *stream)
{
    if (!stream->arguments) stream->arguments = touched((size_t)RING_PACKETS * ARGUMENT_BYTES_MAX);
    return stream->arguments ? GPU_OK : gpu_reason(GPU_FAILED, "no memory for a stream's arguments");
}

// The slot of the next packet, as soon as it is free.
static struct packet *next_packet(struct gpu_stream *stream)
{
    if (stream->tail - stream->completed_seen == RING_PACKETS) {
        wait_completed(stream, stream->tail - RING_PACKETS + 1);
        stream->completed_seen = __atomic_load_n(&stream->completed, __ATOMIC_ACQUIRE);
    }
    return &stream->ring[stream->tail % RING_PACKETS];
}

static void ring_doorbell(struct gpu_stream *stream)
{
    __atomic_store_n(&stream->tail, stream->tail + 1, __ATOMIC_RELEASE);
}

enum gpu_status stream_launch(struct gpu_stream *stream, const void *kernel, const unsigned grid[3],
                              const void *argument, size_t argument_bytes)
{
    uint32_t fault = FAULT_NONE;
    if (__builtin_expect(inject.active, 0)) {
        enum gpu_status status = inject_launch(kernel, argument_bytes, &fault);
        if (status) return status;
    }
    struct packet *packet = next_packet(stream);
    char *copy = packet->inline_argument;
    if (argument_bytes > INLINE_BYTES) copy = stream->arguments + stream->tail % RING_PACKETS * ARGUMENT_BYTES_MAX;
    if (argument_bytes) memcpy(copy, argument, argument_bytes);
    packet->kernel.symbol = kernel;
    packet->argument = copy;
    packet->kind = PACKET_KERNEL;
    packet->blocks = grid[0] * grid[1] * grid[2];
    packet->columns = grid[0];
    packet->fault = fault;
    ring_doorbell(stream);
    return GPU_OK;
}

enum gpu_status gpu_stream_wait_value(struct gpu_stream *stream, void *device_view, uint32_t value)
{
    if (!device_view || (uintptr_t)device_view % sizeof(uint32_t))
        return gpu_reason(GPU_FAILED, "gpu_stream_wait_value: the word is NULL or not aligned to 4 bytes");
    struct packet *packet = next_packet(stream);
    packet->argument = device_view;
    packet->kind = PACKET_WAIT;
    packet->value = value;
    ring_doorbell(stream);
    return GPU_OK;
}

enum gpu_status gpu_stream_copy(struct gpu_stream *stream, void *to, const void *from, size_t bytes)
{
    if (bytes > UINT32_MAX) return gpu_reason(GPU_UNSUPPORTED, "the host device copies less than 4 GiB at once");
    struct packet *packet = next_packet(stream);
    packet->kernel.to = to;
    packet->argument = from;
    packet->kind = PACKET_COPY;
    packet->blocks = (uint32_t)bytes;
    ring_doorbell(stream);
    return GPU_OK;
}

struct gpu_event {
    const struct gpu_stream *stream;
    uint64_t number; // of its last packet
};

enum gpu_status gpu_event_create(struct gpu_event **event, bool timed)
{
    (void)timed;
    *event = calloc(1, sizeof **event);
    return *event ? GPU_OK : gpu_reason(GPU_FAILED, "no memory for an event");
}

void gpu_event_destroy(struct gpu_event *event) { free(event); }

enum gpu_status gpu_event_record(struct gpu_event *event, struct gpu_stream *stream)
{
    next_packet(stream)->kind = PACKET_EVENT;
    event->stream = stream;
    event->number = stream->tail;
    ring_doorbell(stream);
    return GPU_OK;
}
