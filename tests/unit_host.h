// SPDX-License-Identifier: Apache-2.0
// What the tests of the host device share: kernels whose mistakes show, and short ways to open, launch and wait.
#ifndef LIFTOFF_TESTS_UNIT_HOST_H
#define LIFTOFF_TESTS_UNIT_HOST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/gpu.h"
#include "backends/kernels/common.h"
#include "backends/kernels/kernel.h"

GPU_KERNEL(empty);
GPU_KERNEL(stamp);

// --- Kernels -------------------------------------------------------------------------------------------

// A wrong order gives another value.
struct chain_argument {
    uint64_t *value, term;
};
KERNEL(chain, struct chain_argument) { *argument.value = *argument.value * 6364136223846793005u + argument.term; }

struct visit_argument {
    uint32_t *visits, *wrong_counts, blocks;
};
KERNEL(visit, struct visit_argument)
{
    argument.visits[block_index()]++; // no atomic: each block is to run once, and kernels one after the other
    if (block_count() != argument.blocks) __atomic_add_fetch(argument.wrong_counts, 1, __ATOMIC_RELAXED);
}

static inline const void *symbol(void (*kernel)(const void *))
{
    union {
        void (*kernel)(const void *);
        const void *symbol;
    } address = {kernel};
    return address.symbol;
}

// --- Short ways ------------------------------------------------------------------------------------------------------

static struct gpu_stream *stream;
static uint32_t *word; // mapped

static inline void open_device(const char *injection)
{
    if (injection) setenv("LIFTOFF_HOST_INJECT", injection, 1);
    else unsetenv("LIFTOFF_HOST_INJECT");
    void *host, *view;
    assert_int_equal(gpu_open(0), GPU_OK);
    assert_int_equal(gpu_stream_create(&stream), GPU_OK);
    assert_int_equal(gpu_alloc_mapped(&host, &view, 64), GPU_OK);
    assert_ptr_equal(host, view);
    word = host;
}

static inline void close_device(void)
{
    gpu_stream_destroy(stream);
    gpu_close();
    gpu_free_mapped(word);
}

static inline int device_setup(void **state)
{
    (void)state;
    open_device(NULL);
    return 0;
}

static inline int device_teardown(void **state)
{
    (void)state;
    close_device();
    return 0;
}

// A test that finds the device open, with nothing injected.
#define ON_DEVICE(test) cmocka_unit_test_setup_teardown(test, device_setup, device_teardown)

static inline void *device_memory(size_t bytes)
{
    void *memory;
    assert_int_equal(gpu_alloc(&memory, bytes), GPU_OK);
    return memory;
}

static inline struct gpu_launch launch_of(const void *kernel, void *argument, size_t bytes)
{
    struct gpu_launch launch = {.kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .argument = argument,
                                .argument_bytes = bytes, .stream = stream};
    assert_int_equal(gpu_launch_prepare(&launch), GPU_OK);
    return launch;
}

static inline void submit(const struct gpu_launch *launch) { assert_int_equal(gpu_launch_runtime(launch), GPU_OK); }

static inline void synchronize(void) { assert_int_equal(gpu_stream_synchronize(stream), GPU_OK); }

static inline void hold(void)
{
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
    assert_int_equal(gpu_stream_wait_value(stream, word, 1), GPU_OK);
}

static inline void release(void) { __atomic_store_n(word, 1, __ATOMIC_RELEASE); }

static inline uint64_t ticks_of(double ns) { return (uint64_t)(ns / gpu_clock_ns_per_tick()) + 1; }

static inline double ns_of(uint64_t ticks) { return (double)ticks * gpu_clock_ns_per_tick(); }

// Queues COUNT stamps behind a held stream, lets them run, and copies what they left.
static inline void stamps_in_a_row(struct stamp *out, unsigned count)
{
    struct stamp *memory = device_memory(count * sizeof *memory);
    struct stamp_argument argument = {.spin_ticks = 100};
    struct gpu_launch launch = launch_of(gpu_kernel(stamp), &argument, sizeof argument);
    hold();
    for (unsigned i = 0; i < count; i++) {
        argument.out = memory + i;
        argument.sequence = i + 1;
        submit(&launch);
    }
    release();
    synchronize();
    assert_int_equal(gpu_read(out, memory, count * sizeof *memory), GPU_OK);
    gpu_free(memory);
}

#endif
