// SPDX-License-Identifier: Apache-2.0
// Host and device clock: ping-pong bursts and the causality band between them. See sync.h.
#include "common/sync.h"

#include <math.h>

#include "backends/kernels/common.h"
#include "common/clock.h"
#include "common/stats.h"

GPU_KERNEL(pingpong);
GPU_KERNEL(clock_steps);

enum { EXCHANGES = 64, STEPS = 64 };
static const double ANSWER_LIMIT_NS = 1e9; // a ping that the device does not answer within it has failed

// What host and device write to each other lies on lines of its own.
struct mailbox {
    uint64_t ping;
    char pad[120];
    struct pong pong;
};

static struct {
    bool open;
    struct mailbox *host, *device;
    struct gpu_stream *stream;
    struct gpu_launch launch;
    struct pingpong_argument argument;
    double tick_ns;
    double resolution_ns,
        staleness_ns;                  // the least step of the device's clock, and the usual one: how old a read may be
    double host_resolution_ns;         // how old a read of the host's clock may be
    uint64_t host_epoch, device_epoch; // small numbers keep their nanoseconds in a double
    uint32_t random;
} sync_state;

static enum gpu_status measure_resolution(void)
{
    uint64_t steps[STEPS];
    void *memory;
    enum gpu_status status = gpu_alloc(&memory, sizeof steps);
    if (status) return status;
    struct clock_steps_argument argument = {memory, STEPS};
    struct gpu_launch launch = {.kernel = gpu_kernel(clock_steps),
                                .grid = {1, 1, 1},
                                .block = {1, 1, 1},
                                .argument = &argument,
                                .argument_bytes = sizeof argument,
                                .stream = sync_state.stream};
    status = gpu_launch_prepare(&launch);
    if (!status) status = gpu_launch_runtime(&launch);
    if (!status) status = gpu_stream_synchronize(sync_state.stream);
    if (!status) status = gpu_read(steps, memory, sizeof steps);
    gpu_free(memory);
    if (status) return status;
    double sorted[STEPS];
    for (int i = 0; i < STEPS; i++) sorted[i] = (double)steps[i] * sync_state.tick_ns;
    stats_sort(sorted, STEPS);
    sync_state.resolution_ns = sorted[0];
    sync_state.staleness_ns = stats_quantile(sorted, STEPS, 0.5);
    return sorted[0] > 0 ? GPU_OK : gpu_reason(GPU_FAILED, "the device's clock does not advance");
}

enum gpu_status sync_open(void)
{
    if (sync_state.open) return GPU_OK;
    sync_state.tick_ns = gpu_clock_ns_per_tick();
    sync_state.random = 2463534242u;
    sync_state.host_resolution_ns = clock_resolution_ns();
    enum gpu_status status = gpu_stream_create(&sync_state.stream);
    if (status) return status;
    void *host, *device;
    status = gpu_alloc_mapped(&host, &device, sizeof(struct mailbox));
    if (status) return status;
    sync_state.host = host;
    sync_state.device = device;
    sync_state.argument = (struct pingpong_argument){&sync_state.device->ping, &sync_state.device->pong,
                                                     (uint64_t)(ANSWER_LIMIT_NS / sync_state.tick_ns), EXCHANGES};
    sync_state.launch = (struct gpu_launch){.kernel = gpu_kernel(pingpong),
                                            .grid = {1, 1, 1},
                                            .block = {1, 1, 1},
                                            .argument = &sync_state.argument,
                                            .argument_bytes = sizeof sync_state.argument,
                                            .stream = sync_state.stream};
    status = gpu_launch_prepare(&sync_state.launch);
    if (!status) status = measure_resolution();
    struct sync_point warm;
    if (!status) status = sync_burst(&warm);
    sync_state.open = status == GPU_OK;
    return status;
}

void sync_close(void)
{
    if (sync_state.host) gpu_free_mapped(sync_state.host);
    if (sync_state.stream) gpu_stream_destroy(sync_state.stream);
    sync_state.host = NULL;
    sync_state.stream = NULL;
    sync_state.open = false;
}

static double host_ns(uint64_t ticks)
{
    return (double)(int64_t)(ticks - sync_state.host_epoch) * clock_state.ns_per_tick;
}

static double device_ns(uint64_t ticks)
{
    return (double)(int64_t)(ticks - sync_state.device_epoch) * sync_state.tick_ns;
}

// Pings come at changing phases of the device's polling, so that some of them meet the poll at its best moment.
static void wait_a_little(void)
{
    sync_state.random ^= sync_state.random << 13;
    sync_state.random ^= sync_state.random >> 17;
    sync_state.random ^= sync_state.random << 5;
    clock_spin_ns((double)(sync_state.random % 1000u));
}

// One ping and its pong, narrowing the band: the ping's store lies between two reads of the host's clock, and between
// the last poll that missed it and the poll that saw it; the pong's store lies before the host saw it.
static enum gpu_status exchange(uint64_t sequence, struct sync_point *band)
{
    struct mailbox *mail = sync_state.host;
    uint64_t before = clock_ticks();
    __atomic_store_n(&mail->ping, sequence, __ATOMIC_RELEASE);
    clock_wait_stores();
    uint64_t stored = clock_ticks();
    uint64_t answer = 0;
    for (uint64_t polls = 1; PONG_SEQUENCE(answer) != sequence; polls++) {
        answer = __atomic_load_n(&mail->pong.answer, __ATOMIC_ACQUIRE);
        if (polls % 65536 == 0 && clock_ns(clock_ticks() - stored) > ANSWER_LIMIT_NS)
            return gpu_reason(GPU_FAILED, "the device did not answer ping %u", (unsigned)sequence);
    }
    uint64_t seen = clock_ticks();
    uint64_t after_ticks = __atomic_load_n(&mail->pong.begin_ticks, __ATOMIC_ACQUIRE) + PONG_AFTER(answer);
    if (sync_state.device_epoch == 0) {
        sync_state.host_epoch = before;
        sync_state.device_epoch = after_ticks;
    }
    double after = device_ns(after_ticks), late = sync_state.host_resolution_ns;
    band->high = fmin(band->high, after + sync_state.staleness_ns - host_ns(before));
    band->low = fmax(band->low, after - host_ns(seen) - late);
    if (PONG_AGE(answer))
        band->low = fmax(band->low, device_ns(after_ticks - PONG_AGE(answer)) - host_ns(stored) - late);
    return GPU_OK;
}

enum gpu_status sync_burst(struct sync_point *point)
{
    __atomic_store_n(&sync_state.host->ping, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&sync_state.host->pong.answer, 0, __ATOMIC_RELEASE);
    enum gpu_status status = gpu_launch_runtime(&sync_state.launch);
    if (status) return status;
    *point = (struct sync_point){0, -INFINITY, INFINITY};
    uint64_t begin = clock_ticks();
    for (uint64_t i = 1; i <= EXCHANGES && !status; i++) {
        // The first exchange waits for the launch itself; it still may not violate causality.
        status = exchange(i, point);
        wait_a_little();
    }
    point->host_ns = (host_ns(begin) + host_ns(clock_ticks())) / 2;
    enum gpu_status ended = gpu_stream_synchronize(sync_state.stream);
    if (ended || status) return ended ? ended : status;
    if (point->low > point->high)
        return gpu_reason(GPU_FAILED, "the clocks contradict causality by %.0f ns: one of them jumped",
                          point->low - point->high);
    return GPU_OK;
}

// The band's value at HOST_NS: a line between the bursts, because both clocks run evenly over so short a time.
static double between(const struct sync_window *window, double at, double begin, double end)
{
    double span = window->end.host_ns - window->begin.host_ns;
    return span > 0 ? begin + (end - begin) * (at - window->begin.host_ns) / span : begin;
}

static double stamp_host_ns(const struct sync_window *window, uint64_t device_ticks)
{
    // A stamp is up to one step older than the moment it was read at; take the middle of the step.
    double device = device_ns(device_ticks) + sync_state.staleness_ns / 2;
    double begin = (window->begin.low + window->begin.high) / 2, end = (window->end.low + window->end.high) / 2;
    return device - between(window, device - begin, begin, end);
}

double sync_ns_after(const struct sync_window *window, uint64_t host_ticks, uint64_t device_ticks)
{
    return stamp_host_ns(window, device_ticks) - host_ns(host_ticks);
}

double sync_ns_until(const struct sync_window *window, uint64_t device_ticks, uint64_t host_ticks)
{
    return -sync_ns_after(window, host_ticks, device_ticks);
}

double sync_bound_ns(const struct sync_window *window)
{
    double widest = fmax(window->begin.high - window->begin.low, window->end.high - window->end.low);
    return widest / 2 + sync_state.staleness_ns / 2;
}

double sync_device_resolution_ns(void) { return sync_state.resolution_ns; }
