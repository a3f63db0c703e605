// SPDX-License-Identifier: Apache-2.0
// The device's side: workers poll the doorbells, run the packets of a stream in order and share the blocks of a grid.
#include "backends/host/device.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/host/inject.h"
#include "backends/kernels/kernel.h"
#include "common/pin.h"

static const double SPIN_NS = 20e3;   // an idle worker spins for so long, then yields between polls
static const double DRAIN_NS = 200e6; // device_stop waits for so long for the streams,
static const double JOIN_NS = 2e9;    // and then for the kernels that run

struct device device;
_Thread_local struct host_block host_block;
_Thread_local unsigned host_worker;

static struct {
    pthread_t threads[WORKERS_MAX];
    unsigned count;
    uint32_t running; // workers that have not left worker_main
    int avoid_pu;
    uint64_t spin_ticks;
} workers;

static bool stopping(void) { return __atomic_load_n(&device.stop, __ATOMIC_ACQUIRE); }

// Between two polls of a worker that has had nothing to do since *IDLE_SINCE; 0: since now.
static void pause_poll(uint64_t *idle_since)
{
    uint64_t now = clock_ticks();
    if (!*idle_since) *idle_since = now;
    if (now - *idle_since > workers.spin_ticks) sched_yield();
    else clock_relax();
}

static void run_block(const struct packet *packet, uint32_t block)
{
    host_block = (struct host_block){block % packet->columns, packet->columns};
    packet->kernel.call(packet->argument);
    if (inject.block_ticks) inject_spin(inject.block_ticks);
}

// Runs blocks of the stream's grid while there are any that nobody has taken. Only who has taken a block may read the
// packet: the grid cannot end before that block.
static bool share_grid(struct gpu_stream *stream)
{
    bool worked = false;
    uint64_t offer = __atomic_load_n(&stream->offer, __ATOMIC_ACQUIRE);
    while ((uint32_t)offer) {
        if (!__atomic_compare_exchange_n(&stream->offer, &offer, offer - 1, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
            continue;
        const struct packet *packet = &stream->ring[(offer >> 32) % RING_PACKETS];
        run_block(packet, packet->blocks - (uint32_t)offer);
        __atomic_add_fetch(&stream->blocks_done, 1, __ATOMIC_RELEASE);
        worked = true;
        offer = __atomic_load_n(&stream->offer, __ATOMIC_ACQUIRE);
    }
    return worked;
}

static void run_grid(struct gpu_stream *stream, const struct packet *packet, uint64_t number)
{
    if (packet->blocks == 1) {
        run_block(packet, 0);
        return;
    }
    __atomic_store_n(&stream->blocks_done, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&stream->offer, number << 32 | packet->blocks, __ATOMIC_RELEASE);
    share_grid(stream);
    uint64_t idle_since = 0;
    while (__atomic_load_n(&stream->blocks_done, __ATOMIC_ACQUIRE) != packet->blocks) pause_poll(&idle_since);
}

static void hang(void)
{
    while (!stopping()) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

// Whether what a packet waits for has come.
static bool has_come(const struct packet *packet)
{
    if (packet->kind == PACKET_WAIT)
        return __atomic_load_n((const uint32_t *)packet->argument, __ATOMIC_ACQUIRE) >= packet->value;
    const struct gpu_stream *other = packet->argument;
    return __atomic_load_n(&other->completed, __ATOMIC_ACQUIRE) >= packet->kernel.completed;
}

// False if the packet has not ended.
static bool run_command(const struct packet *packet)
{
    switch (packet->kind) {
    case PACKET_WAIT:
    case PACKET_AFTER:
        if (!has_come(packet)) return false;
        if (inject.fence_ticks) inject_spin(inject.fence_ticks);
        break;
    case PACKET_WRITE: __atomic_store_n((uint32_t *)packet->kernel.to, packet->value, __ATOMIC_RELEASE); break;
    case PACKET_COPY: memcpy(packet->kernel.to, packet->argument, packet->blocks); break;
    case PACKET_SET: memset(packet->kernel.to, (int)packet->value, packet->blocks); break;
    case PACKET_CALL: packet->kernel.function((void *)(uintptr_t)packet->argument); break;
    }
    return true;
}

// False if the packet has not ended: what it waits for has not come, or the device stops.
static bool run_packet(struct gpu_stream *stream, const struct packet *packet, uint64_t number)
{
    if (packet->kind != PACKET_KERNEL) return run_command(packet);
    if (packet->fault == FAULT_HANG) {
        hang();
        return false;
    }
    if (packet->fault == FAULT_CRASH) raise(SIGSEGV);
    if (packet->fault != FAULT_SKIP) run_grid(stream, packet, number);
    return true;
}

// Delays the end of kernel NUMBER if nothing is queued behind it; else returns how long to wait after the end.
static uint64_t injected_gap(const struct gpu_stream *stream, uint64_t number)
{
    if (__atomic_load_n(&stream->tail, __ATOMIC_ACQUIRE) == number + 1) {
        inject_spin(inject.complete_ticks);
        return 0;
    }
    return stream->ring[(number + 1) % RING_PACKETS].kind == PACKET_KERNEL ? inject.gap_ticks : 0;
}

// For the worker that owns the stream: runs what is ready, a ring at most, so that other streams have their turn.
static bool run_packets(struct gpu_stream *stream)
{
    uint64_t first = __atomic_load_n(&stream->completed, __ATOMIC_RELAXED), number = first;
    while (number - first < RING_PACKETS && !stopping() && number != __atomic_load_n(&stream->tail, __ATOMIC_ACQUIRE)) {
        const struct packet *packet = &stream->ring[number % RING_PACKETS];
        if (!run_packet(stream, packet, number)) break;
        uint64_t gap_ticks = 0;
        if (inject.active && packet->kind == PACKET_KERNEL) gap_ticks = injected_gap(stream, number);
        number++;
        __atomic_store_n(&stream->completed, number, __ATOMIC_RELEASE);
        if (__atomic_load_n(&device.sleepers, __ATOMIC_RELAXED)) wait_wake();
        if (gap_ticks) inject_spin(gap_ticks);
    }
    return number != first;
}

static bool serve(struct gpu_stream *stream)
{
    bool worked = share_grid(stream);
    uint64_t completed = __atomic_load_n(&stream->completed, __ATOMIC_RELAXED);
    if (__atomic_load_n(&stream->tail, __ATOMIC_RELAXED) == completed) return worked;
    if (__atomic_load_n(&stream->owned, __ATOMIC_RELAXED)) return worked;
    if (__atomic_exchange_n(&stream->owned, 1, __ATOMIC_ACQUIRE)) return worked;
    worked |= run_packets(stream);
    __atomic_store_n(&stream->owned, 0, __ATOMIC_RELEASE);
    return worked;
}

static void *worker_main(void *index)
{
    host_worker = (unsigned)(uintptr_t)index;
    pin_worker(host_worker, workers.avoid_pu);
    uint64_t idle_since = 0;
    while (!stopping()) {
        bool worked = false;
        uint32_t count = __atomic_load_n(&device.stream_count, __ATOMIC_ACQUIRE);
        for (uint32_t i = 0; i < count; i++) worked |= serve(device.streams[i]);
        if (worked) idle_since = 0;
        else pause_poll(&idle_since);
    }
    __atomic_sub_fetch(&workers.running, 1, __ATOMIC_RELEASE);
    return NULL;
}

unsigned device_workers(void)
{
    unsigned count = pin_count();
    return count < 2 ? 1 : count - 1 > WORKERS_MAX ? WORKERS_MAX : count - 1;
}

enum gpu_status device_start(void)
{
    if (workers.count) return gpu_reason(GPU_FAILED, "the host device is open, or a kernel outlived its closing");
    workers.avoid_pu = pin_current();
    workers.spin_ticks = (uint64_t)(SPIN_NS / clock_state.ns_per_tick);
    for (unsigned wanted = device_workers(); workers.count < wanted; workers.count++) {
        __atomic_add_fetch(&workers.running, 1, __ATOMIC_RELAXED);
        void *index = (void *)(uintptr_t)workers.count;
        int error = pthread_create(&workers.threads[workers.count], NULL, worker_main, index);
        if (!error) continue;
        __atomic_sub_fetch(&workers.running, 1, __ATOMIC_RELAXED);
        device_stop();
        return gpu_reason(GPU_FAILED, "pthread_create: %s", strerror(error));
    }
    return GPU_OK;
}

static uint64_t pending(void)
{
    uint64_t packets = 0;
    for (uint32_t i = 0; i < device.stream_count; i++) packets += stream_pending(device.streams[i]);
    return packets;
}

// Polls until COUNT gives 0 or LIMIT_NS have passed; the last count.
static uint64_t wait_none(uint64_t (*count)(void), double limit_ns)
{
    uint64_t begin = clock_ticks(), left;
    while ((left = count()) && clock_ns(clock_ticks() - begin) < limit_ns) sched_yield();
    return left;
}

static uint64_t running(void) { return __atomic_load_n(&workers.running, __ATOMIC_ACQUIRE); }

static void give_up(const char *what, uint64_t count)
{
    gpu_reason(GPU_FAILED, "the host device was closed with %llu %s", (unsigned long long)count, what);
    fprintf(stderr, "liftoff-host: %s\n", gpu_error());
}

void device_stop(void)
{
    uint64_t left = wait_none(pending, DRAIN_NS);
    if (left) give_up("packets that have not ended", left);
    __atomic_store_n(&device.stop, 1, __ATOMIC_RELEASE);
    left = wait_none(running, JOIN_NS);
    if (left) {
        give_up("workers in kernels that do not end", left);
        return; // they still read the streams
    }
    for (unsigned i = 0; i < workers.count; i++) pthread_join(workers.threads[i], NULL);
    workers.count = 0;
    for (uint32_t i = 0; i < device.stream_count; i++) {
        free(device.streams[i]->arguments);
        free(device.streams[i]);
    }
    device = (struct device){0};
    stream_forget_defaults();
}
