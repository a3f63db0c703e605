// SPDX-License-Identifier: Apache-2.0
// The host's side of a stream: making it and filling its ring. A launch writes a packet, and one store publishes it.
#include <stdlib.h>
#include <string.h>

#include "backends/host/device.h"
#include "backends/host/inject.h"
#include "common/clock.h"

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
        free_one->blocking = false;
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

static struct gpu_stream *legacy;
static _Thread_local struct gpu_stream *own;

enum gpu_status gpu_stream_create_blocking(struct gpu_stream **stream)
{
    enum gpu_status status = gpu_stream_create(stream);
    if (!status) (*stream)->blocking = true;
    return status;
}

enum gpu_status gpu_stream_default(struct gpu_stream **stream, enum gpu_stream_default which)
{
    struct gpu_stream **kept = which == GPU_STREAM_LEGACY ? &legacy : &own;
    enum gpu_status status = GPU_OK;
    if (!*kept) status = which == GPU_STREAM_LEGACY ? gpu_stream_create(kept) : gpu_stream_create_blocking(kept);
    *stream = *kept;
    return status;
}

void stream_forget_defaults(void) { legacy = own = NULL; }

enum gpu_status gpu_stream_create_priority(struct gpu_stream **stream, bool highest)
{
    (void)stream, (void)highest;
    return gpu_reason(GPU_UNSUPPORTED, "the host device's streams have one priority");
}

enum gpu_status stream_grow(struct gpu_stream *stream)
{
    if (!stream->arguments) stream->arguments = touched((size_t)RING_PACKETS * ARGUMENT_BYTES_MAX);
    return stream->arguments ? GPU_OK : gpu_reason(GPU_FAILED, "no memory for a stream's arguments");
}

// The slot of the next packet, as soon as it is free. The stream is locked.
static struct packet *next_slot(struct gpu_stream *stream)
{
    if (stream->tail - stream->completed_seen == RING_PACKETS) {
        wait_completed(stream, stream->tail - RING_PACKETS + 1);
        stream->completed_seen = __atomic_load_n(&stream->completed, __ATOMIC_ACQUIRE);
    }
    return &stream->ring[stream->tail % RING_PACKETS];
}

static void publish(struct gpu_stream *stream) { __atomic_store_n(&stream->tail, stream->tail + 1, __ATOMIC_RELEASE); }

static void put_after(struct gpu_stream *stream, const struct gpu_stream *other, uint64_t completed)
{
    struct packet *packet = next_slot(stream);
    packet->kernel.completed = completed;
    packet->argument = other;
    packet->kind = PACKET_AFTER;
    publish(stream);
}

// What the legacy default stream is: it follows all blocking streams, and they follow it.
static void order_default(struct gpu_stream *stream)
{
    if (stream->blocking) {
        uint64_t tail = __atomic_load_n(&legacy->tail, __ATOMIC_ACQUIRE);
        if (tail != stream->legacy_seen) put_after(stream, legacy, tail);
        stream->legacy_seen = tail;
    }
    for (uint32_t i = 0; stream == legacy && i < device.stream_count; i++) {
        const struct gpu_stream *other = device.streams[i];
        if (other->blocking && stream_pending(other))
            put_after(stream, other, __atomic_load_n(&other->tail, __ATOMIC_ACQUIRE));
    }
}

// A packet that is kept for a graph; the last one is written over where there is no more room.
static struct packet *next_recorded(struct recording *recording)
{
    if (recording->count == recording->room) recording->refused = true;
    else recording->count++;
    return &recording->packets[recording->count - 1];
}

// Takes the stream for the calling thread, until it rings the doorbell.
static struct packet *next_packet(struct gpu_stream *stream)
{
    if (__builtin_expect(stream->recording != NULL, 0)) return next_recorded(stream->recording);
    while (__atomic_exchange_n(&stream->locked, 1, __ATOMIC_ACQUIRE)) clock_relax();
    if (__builtin_expect(legacy != NULL, 0)) order_default(stream);
    return next_slot(stream);
}

static void ring_doorbell(struct gpu_stream *stream)
{
    if (__builtin_expect(stream->recording != NULL, 0)) return;
    publish(stream);
    __atomic_store_n(&stream->locked, 0, __ATOMIC_RELEASE);
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
    if (argument_bytes > INLINE_BYTES) {
        if (stream->recording) stream->recording->refused = true, argument_bytes = 0;
        else copy = stream->arguments + stream->tail % RING_PACKETS * ARGUMENT_BYTES_MAX;
    }
    if (argument_bytes) memcpy(copy, argument, argument_bytes);
    packet_kernel(packet, kernel, grid);
    packet->argument = copy;
    packet->fault = fault;
    ring_doorbell(stream);
    return GPU_OK;
}

// Of anything but a launch.
static struct packet *command_packet(struct gpu_stream *stream)
{
    if (__builtin_expect(inject.active, 0)) inject_spin(inject.command_ticks);
    return next_packet(stream);
}

enum gpu_status gpu_stream_wait_value(struct gpu_stream *stream, void *device_view, uint32_t value)
{
    if (!device_view || (uintptr_t)device_view % sizeof(uint32_t))
        return gpu_reason(GPU_FAILED, "gpu_stream_wait_value: the word is NULL or not aligned to 4 bytes");
    struct packet *packet = command_packet(stream);
    packet->argument = device_view;
    packet->kind = PACKET_WAIT;
    packet->value = value;
    ring_doorbell(stream);
    return GPU_OK;
}

enum gpu_status gpu_stream_copy(struct gpu_stream *stream, void *to, const void *from, size_t bytes)
{
    if (bytes > UINT32_MAX) return gpu_reason(GPU_UNSUPPORTED, "the host device copies less than 4 GiB at once");
    struct packet *packet = command_packet(stream);
    packet->kernel.to = to;
    packet->argument = from;
    packet->kind = PACKET_COPY;
    packet->blocks = (uint32_t)bytes;
    ring_doorbell(stream);
    return GPU_OK;
}

enum gpu_status gpu_stream_set(struct gpu_stream *stream, void *device_memory, int byte, size_t bytes)
{
    if (bytes > UINT32_MAX) return gpu_reason(GPU_UNSUPPORTED, "the host device fills less than 4 GiB at once");
    struct packet *packet = command_packet(stream);
    packet->kernel.to = device_memory;
    packet->kind = PACKET_SET;
    packet->value = (unsigned char)byte;
    packet->blocks = (uint32_t)bytes;
    ring_doorbell(stream);
    return GPU_OK;
}

enum gpu_status gpu_stream_write_value(struct gpu_stream *stream, void *device_view, uint32_t value)
{
    struct packet *packet = command_packet(stream);
    packet->kernel.to = device_view;
    packet->kind = PACKET_WRITE;
    packet->value = value;
    ring_doorbell(stream);
    return GPU_OK;
}

enum gpu_status gpu_stream_call(struct gpu_stream *stream, void (*function)(void *), void *context)
{
    struct packet *packet = command_packet(stream);
    packet->kernel.function = function;
    packet->argument = context;
    packet->kind = PACKET_CALL;
    ring_doorbell(stream);
    return GPU_OK;
}

void stream_replay(struct gpu_stream *stream, const struct packet *packets, uint32_t count, uint32_t fault)
{
    if (!count) return;
    if (stream->recording) {
        stream->recording->refused = true;
        return;
    }
    next_packet(stream);
    while (count) {
        uint32_t room = RING_PACKETS - (uint32_t)(stream->tail - stream->completed_seen);
        if (room < count && room < RING_PACKETS / 2) { // half of them, so that the device does not run dry
            wait_completed(stream, stream->tail - RING_PACKETS / 2);
            stream->completed_seen = __atomic_load_n(&stream->completed, __ATOMIC_ACQUIRE);
            continue;
        }
        uint32_t now = count < room ? count : room;
        for (uint32_t i = 0; i < now; i++) {
            struct packet *slot = &stream->ring[(stream->tail + i) % RING_PACKETS];
            *slot = packets[i];
            if (slot->kind != PACKET_KERNEL) continue;
            slot->argument = slot->inline_argument;
            slot->fault = fault;
        }
        __atomic_store_n(&stream->tail, stream->tail + now, __ATOMIC_RELEASE);
        packets += now;
        count -= now;
    }
    __atomic_store_n(&stream->locked, 0, __ATOMIC_RELEASE);
}

enum gpu_status gpu_event_record(struct gpu_event *event, struct gpu_stream *stream)
{
    if (stream->recording) stream->recording->refused = true;
    command_packet(stream)->kind = PACKET_EVENT;
    event->stream = stream;
    event->completed = stream->tail + 1;
    ring_doorbell(stream);
    return GPU_OK;
}

enum gpu_status gpu_stream_wait_event(struct gpu_stream *stream, struct gpu_event *event)
{
    if (!event->stream) return GPU_OK; // never recorded
    if (stream->recording) stream->recording->refused = true;
    struct packet *packet = command_packet(stream);
    packet->kernel.completed = event->completed;
    packet->argument = event->stream;
    packet->kind = PACKET_AFTER;
    ring_doorbell(stream);
    return GPU_OK;
}
