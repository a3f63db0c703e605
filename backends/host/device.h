// SPDX-License-Identifier: Apache-2.0
// The device itself: streams are rings of packets in memory, a doorbell is a store, and worker threads poll for both.
#ifndef LIFTOFF_HOST_DEVICE_H
#define LIFTOFF_HOST_DEVICE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/gpu.h"

enum {
    RING_PACKETS = 1024,       // launches that a stream holds, the running one included
    ARGUMENT_BYTES_MAX = 4096, // of a launch
    INLINE_BYTES = 88,         // of an argument that fits into the packet
    WORKERS_MAX = 16,
    STREAMS_MAX = 256,
    LINE_BYTES = 128, // two cache lines, because processors prefetch their neighbours
};

enum packet_kind { PACKET_KERNEL, PACKET_WAIT, PACKET_COPY, PACKET_EVENT };

struct packet {
    alignas(LINE_BYTES) union {
        const void *symbol;
        void (*call)(const void *argument);
        void *to; // PACKET_COPY
    } kernel;
    const void *argument;     // of the kernel; PACKET_WAIT: the word; PACKET_COPY: where from
    uint32_t kind, value;     // PACKET_WAIT: what the word must reach
    uint32_t blocks, columns; // of the whole grid, and along x; PACKET_COPY: bytes
    uint32_t fault;           // enum inject_fault
    char inline_argument[INLINE_BYTES];
};

// Packet N lies in slot N % RING_PACKETS. What host and device write lies on different lines.
struct gpu_stream {
    // Written by the host.
    alignas(LINE_BYTES) uint64_t tail; // packets published so far: the doorbell
    uint64_t completed_seen;           // a past value of `completed`, so that a launch need not read the device's line
    char *arguments;                   // ARGUMENT_BYTES_MAX a slot for what is not inline; NULL until needed
    bool used;

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

// How many packets have not ended.
uint64_t stream_pending(const struct gpu_stream *stream);

#endif
