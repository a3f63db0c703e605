// SPDX-License-Identifier: Apache-2.0
// The half of gpu_stream.h that both runtimes spell alike. C11 that is also valid C++17: HIP over CUDA needs it.
#include "backends/gpu_stream.h"

#include "backends/runtime.h"

static VENDOR(Event_t) native_event(struct gpu_event *event) { return (VENDOR(Event_t))(void *)event; }

enum gpu_status gpu_stream_default(struct gpu_stream **stream, enum gpu_stream_default which)
{
    VENDOR(Stream_t) chosen = which == GPU_STREAM_LEGACY ? NULL : VENDOR(StreamPerThread);
    *stream = (struct gpu_stream *)(void *)chosen;
    return GPU_OK;
}

enum gpu_status gpu_stream_create_blocking(struct gpu_stream **stream)
{
    VENDOR(Stream_t) created;
    CHECK(StreamCreateWithFlags, &created, VENDOR(StreamDefault));
    *stream = (struct gpu_stream *)(void *)created;
    return GPU_OK;
}

enum gpu_status gpu_stream_create_priority(struct gpu_stream **stream, bool highest)
{
    int least = 0, greatest = 0;
    VENDOR(Stream_t) created;
    CHECK(DeviceGetStreamPriorityRange, &least, &greatest);
    if (least == greatest) return gpu_reason(GPU_UNSUPPORTED, "this device's streams have one priority");
    CHECK(StreamCreateWithPriority, &created, VENDOR(StreamNonBlocking), highest ? greatest : least);
    *stream = (struct gpu_stream *)(void *)created;
    return GPU_OK;
}

enum gpu_status gpu_stream_wait_event(struct gpu_stream *stream, struct gpu_event *event)
{
    VENDOR(Error_t) error = VENDOR(StreamWaitEvent)(runtime_native(stream), native_event(event), 0);
    return error == VENDOR(Success) ? GPU_OK : runtime_status(error, TEXT(VENDOR(StreamWaitEvent)));
}

enum gpu_status gpu_stream_set(struct gpu_stream *stream, void *device_memory, int byte, size_t bytes)
{
    VENDOR(Error_t) error = VENDOR(MemsetAsync)(device_memory, byte, bytes, runtime_native(stream));
    return error == VENDOR(Success) ? GPU_OK : runtime_status(error, TEXT(VENDOR(MemsetAsync)));
}

enum gpu_status gpu_event_synchronize(struct gpu_event *event)
{
    VENDOR(Error_t) error = VENDOR(EventSynchronize)(native_event(event));
    return error == VENDOR(Success) ? GPU_OK : runtime_status(error, TEXT(VENDOR(EventSynchronize)));
}

enum gpu_status gpu_device_synchronize(void)
{
    VENDOR(Error_t) error = VENDOR(DeviceSynchronize)();
    return error == VENDOR(Success) ? GPU_OK : runtime_status(error, TEXT(VENDOR(DeviceSynchronize)));
}

enum gpu_status gpu_event_query(struct gpu_event *event, bool *ended)
{
    VENDOR(Error_t) error = VENDOR(EventQuery)(native_event(event));
    *ended = error == VENDOR(Success);
    if (*ended || error == VENDOR(ErrorNotReady)) return GPU_OK;
    return runtime_status(error, TEXT(VENDOR(EventQuery)));
}

enum gpu_status gpu_stream_query(struct gpu_stream *stream, bool *ended)
{
    VENDOR(Error_t) error = VENDOR(StreamQuery)(runtime_native(stream));
    *ended = error == VENDOR(Success);
    if (*ended || error == VENDOR(ErrorNotReady)) return GPU_OK;
    return runtime_status(error, TEXT(VENDOR(StreamQuery)));
}

enum gpu_status gpu_event_create_blocking(struct gpu_event **event)
{
    VENDOR(Event_t) created;
    CHECK(EventCreateWithFlags, &created, VENDOR(EventDisableTiming) | VENDOR(EventBlockingSync));
    *event = (struct gpu_event *)(void *)created;
    return GPU_OK;
}
