// SPDX-License-Identifier: Apache-2.0
// The part of the contract (gpu.h) about order between streams, and about the ways in which the host waits.
#ifndef LIFTOFF_GPU_STREAM_H
#define LIFTOFF_GPU_STREAM_H

#include "backends/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- Kinds of streams --------------------------------------------------------------------------------------

// The streams that nobody creates. They are not destroyed.
enum gpu_stream_default {
    GPU_STREAM_LEGACY,     // waits for all blocking streams, which wait for it
    GPU_STREAM_PER_THREAD, // a blocking stream of the calling thread's own
};
enum gpu_status gpu_stream_default(struct gpu_stream **stream, enum gpu_stream_default which);

// A stream that waits for the legacy default stream: what a program gets that asks for nothing special.
enum gpu_status gpu_stream_create_blocking(struct gpu_stream **stream);

// A stream of the highest or of the lowest priority there is. GPU_UNSUPPORTED where there is but one.
enum gpu_status gpu_stream_create_priority(struct gpu_stream **stream, bool highest);

// --- Commands in a stream's order; one call of the vendor's each -------------------------------------------

// Lets nothing submitted to STREAM later start before what was submitted ahead of EVENT's last record has ended.
enum gpu_status gpu_stream_wait_event(struct gpu_stream *stream, struct gpu_event *event);

// Stores VALUE to the 32-bit word at DEVICE_VIEW (mapped memory).
enum gpu_status gpu_stream_write_value(struct gpu_stream *stream, void *device_view, uint32_t value);

// Fills device memory with BYTE.
enum gpu_status gpu_stream_set(struct gpu_stream *stream, void *device_memory, int byte, size_t bytes);

// Calls FUNCTION on a thread of the vendor's. It may call nothing of gpu.h.
enum gpu_status gpu_stream_call(struct gpu_stream *stream, void (*function)(void *), void *context);

// --- The host's waits; one call of the vendor's each, beside gpu_stream_synchronize ------------------------

enum gpu_status gpu_event_synchronize(struct gpu_event *event);
enum gpu_status gpu_device_synchronize(void); // for all streams

// Whether all before EVENT's last record, or all in STREAM, has ended.
enum gpu_status gpu_event_query(struct gpu_event *event, bool *ended);
enum gpu_status gpu_stream_query(struct gpu_stream *stream, bool *ended);

// What the host does while it waits: polls, polls and lets other threads run between, or sleeps until it is woken.
enum gpu_wait { GPU_WAIT_SPIN, GPU_WAIT_YIELD, GPU_WAIT_BLOCK, GPU_WAITS };

// As gpu_open, with host waits of this kind.
enum gpu_status gpu_open_waiting(unsigned device, enum gpu_wait how);

// An event without time whose gpu_event_synchronize sleeps. Freed as others.
enum gpu_status gpu_event_create_blocking(struct gpu_event **event);

#ifdef __cplusplus
}
#endif
#endif
