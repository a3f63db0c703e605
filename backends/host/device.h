// SPDX-License-Identifier: Apache-2.0
// The device itself: streams are rings of packets in memory, a doorbell is a store, and worker threads poll for both.
#ifndef LIFTOFF_HOST_DEVICE_H
#define LIFTOFF_HOST_DEVICE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/gpu_stream.h"

enum {
    RING_PACKETS = 1024,       // launches that a stream holds, the running one included
    ARGUMENT_BYTES_MAX = 4096, // of a launch
    INLINE_BYTES = 88,         // of an argument that fits into the packet
    WORKERS_MAX = 16,
    STREAMS_MAX = 256,
    LINE_BYTES = 128, // two cache lines, because processors prefetch their neighbours
};

// PACKET_WAIT: until the word at ARGUMENT is >= VALUE. PACKET_AFTER: until the stream at ARGUMENT has completed so many
// packets. PACKET_WRITE: stores VALUE to the word TO. PACKET_COPY, PACKET_SET: from ARGUMENT, or of VALUE. PACKET_CALL:
// FUNCTION(ARGUMENT). PACKET_EVENT: nothing.
enum packet_kind {
    PACKET_KERNEL,
    PACKET_WAIT,
    PACKET_AFTER,
    PACKET_WRITE,
    PACKET_COPY,
    PACKET_SET,
    PACKET_CALL,
    PACKET_EVENT
};

struct packet {
    alignas(LINE_BYTES) union {
        const void *symbol;
        void (*call)(const void *argument);
        void (*function)(void *context);
        void *to;
        uint64_t completed;
    } kernel;
    const void *argument; // of the kernel
    uint32_t kind, value;
    uint32_t blocks, columns; // of the whole grid, and along x; PACKET_COPY, PACKET_SET: bytes
    uint32_t fault;           // enum inject_fault
    char inline_argument[INLINE_BYTES];
};

// Makes PACKET that of a kernel, but for its argument and its fault.
static inline void packet_kernel(struct packet *packet, const void *kernel, const unsigned grid[3])
{
    packet->kernel.symbol = kernel;
    packet->kind = PACKET_KERNEL;
    packet->blocks = grid[0] * grid[1] * grid[2];
    packet->columns = grid[0];
}

// Packets that a graph keeps. REFUSED: there was one that it cannot.
struct recording {
    struct packet *packets;
    uint32_t count, room;
    bool refused;
};

// Packet N lies in slot N % RING_PACKETS. What host and device write lies on different lines.
struct gpu_stream {
    // Written by the host.
    alignas(LINE_BYTES) uint64_t tail; // packets published so far: the doorbell
    uint64_t completed_seen;           // a past value of `completed`, so that a launch need not read the device's line
    char *arguments;                   // ARGUMENT_BYTES_MAX a slot for what is not inline; NULL until needed
    uint64_t legacy_seen;              // how much of the legacy default stream this one waits for already
    uint32_t locked;                   // while a thread fills a packet
    bool used, blocking;
    struct recording *recording; // where packets go while the stream is captured

    // Written by the worker that owns the stream.
    alignas(LINE_BYTES) uint64_t completed; // packets that have ended

    // Written by all workers.
    alignas(LINE_BYTES) uint32_t owned;
    uint32_t blocks_done;
    uint64_t offer; // blocks of the running grid that nobody has taken; above them 32 bits of the packet's number

    struct packet ring[RING_PACKETS];
};

_Static_assert(sizeof(struct packet) == LINE_BYTES, "a packet is to fill its lines");

// What workers look at. The host alone writes it; a stream stays until device_stop and is used again when it is free.
struct device {
    struct gpu_stream *streams[STREAMS_MAX];
    uint32_t stream_count; // published after the stream
    uint32_t stop;
    enum gpu_wait wait; // how the host waits
    uint32_t sleepers;  // some wait may sleep, so that ends are to be told
};
extern struct device device;

// How many worker threads device_start starts: one fewer than the process has processing units, 1 … WORKERS_MAX.
unsigned device_workers(void);

enum gpu_status device_start(void);

// Waits a bounded time for the streams and for the workers, and frees the streams. What had to be given up is said on
// stderr and by gpu_error().
void device_stop(void);

// Whether the device takes LAUNCH, host.c.
enum gpu_status host_launch_check(const struct gpu_launch *launch);

// --- The host's side of a stream, stream.c -----------------------------------------------------------------

// Makes room for arguments that are not inline.
enum gpu_status stream_grow(struct gpu_stream *stream);

// The vendor's launch, so to speak: copies the argument and rings the doorbell, nothing else. Waits while the ring is
// full. GPU_FAILED by injection only.
enum gpu_status stream_launch(struct gpu_stream *stream, const void *kernel, const unsigned grid[3],
                              const void *argument, size_t argument_bytes);

// Publishes copies of COUNT packets that need nothing but themselves, all at once where the ring has room; FAULT
// happens to the kernels.
void stream_replay(struct gpu_stream *stream, const struct packet *packets, uint32_t count, uint32_t fault);

// How many packets have not ended.
uint64_t stream_pending(const struct gpu_stream *stream);

// After device_stop has freed the streams.
void stream_forget_defaults(void);

// Marks the end of what was in a stream when it was recorded; before that, of nothing.
struct gpu_event {
    const struct gpu_stream *stream;
    uint64_t completed; // packets of the stream, by then
    bool blocking;      // who waits for it sleeps
};

// --- Between the host that waits and the workers, wait.c ---------------------------------------------------

// Returns when so many of STREAM's packets have ended.
void wait_completed(const struct gpu_stream *stream, uint64_t completed);

// Wakes those who sleep, after an end has been published.
void wait_wake(void);

#endif
