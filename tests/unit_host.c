// SPDX-License-Identifier: Apache-2.0
// Drives the device of CPU threads through gpu.h: order, grids, waits, back-pressure, the common kernels and refusals.
#include "tests/unit_host.h"

#include <pthread.h>
#include <unistd.h>

GPU_KERNEL(flag);
GPU_KERNEL(gate);
GPU_KERNEL(pingpong);
GPU_KERNEL(clock_steps);

enum { RING = 1024 };
static const double LONG_NS = 30e9; // a limit that no test is to reach

// What is kept is given again, whatever has failed since.
static void test_outcome(void **state)
{
    (void)state;
    struct gpu_outcome refused, good;
    assert_int_equal(gpu_outcome_keep(&refused, gpu_reason(GPU_UNSUPPORTED, "no %s", "room")), GPU_UNSUPPORTED);
    assert_int_equal(gpu_outcome_keep(&good, GPU_OK), GPU_OK);
    gpu_reason(GPU_FAILED, "something else");
    assert_string_equal(good.reason, "");
    assert_int_equal(gpu_outcome_tell(&good), GPU_OK);
    assert_string_equal(gpu_error(), "something else");
    assert_int_equal(gpu_outcome_tell(&refused), GPU_UNSUPPORTED);
    assert_string_equal(gpu_error(), "no room");
}

// --- The device ------------------------------------------------------------------------------------------------------

static void test_order(void **state)
{
    (void)state;
    struct chain_argument argument = {device_memory(sizeof(uint64_t)), 0};
    struct gpu_launch launch = launch_of(symbol(kernel_chain), &argument, sizeof argument);
    uint64_t expected = 0;
    for (uint64_t i = 1; i <= 10000; i++) {
        argument.term = i;
        submit(&launch);
        expected = expected * 6364136223846793005u + i;
    }
    synchronize();
    assert_true(*argument.value == expected);
    gpu_free(argument.value);
}

static void test_grids(void **state)
{
    (void)state;
    struct visit_argument argument = {device_memory(1000 * sizeof(uint32_t)), device_memory(sizeof(uint32_t)), 0};
    for (unsigned blocks = 1; blocks <= 1000; blocks++) {
        argument.blocks = blocks;
        struct gpu_launch launch = launch_of(symbol(kernel_visit), &argument, sizeof argument);
        launch.grid[0] = blocks;
        submit(&launch);
    }
    synchronize();
    for (unsigned i = 0; i < 1000; i++) assert_int_equal(argument.visits[i], 1000 - i);

    argument.blocks = 5; // along x; y and z repeat them
    struct gpu_launch launch = launch_of(symbol(kernel_visit), &argument, sizeof argument);
    memcpy(launch.grid, (unsigned[]){5, 1, 1}, sizeof launch.grid);
    submit(&launch);
    synchronize();
    for (unsigned i = 0; i < 5; i++) assert_int_equal(argument.visits[i], 1001 - i);
    assert_int_equal(*argument.wrong_counts, 0);
    gpu_free(argument.visits);
    gpu_free(argument.wrong_counts);
}

// As long as the launch says, which no struct can be.
struct echo_head {
    unsigned char *out;
    uint32_t bytes;
};
static void echo(const void *packed)
{
    struct echo_head head;
    memcpy(&head, packed, sizeof head);
    memcpy(head.out, packed, head.bytes);
}

static void test_arguments(void **state)
{
    (void)state;
    static const unsigned sizes[] = {16, 17, 64, 87, 88, 89, 128, 1000, 4095, 4096};
    unsigned char sent[4096], *out = device_memory(sizeof sent);
    for (unsigned i = 0; i < sizeof sent; i++) sent[i] = (unsigned char)(i * 7);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct echo_head head = {out, sizes[i]};
        memcpy(sent, &head, sizeof head);
        struct gpu_launch launch = launch_of(symbol(echo), sent, sizes[i]);
        for (unsigned turn = 0; turn < 3; turn++) {
            sent[sizes[i] - 1] ^= (unsigned char)(sizes[i] > 16); // the argument is read again at each submission
            submit(&launch);
            synchronize();
            assert_memory_equal(out, sent, sizes[i]);
        }
    }
    gpu_free(out);
}

static void test_wait_value(void **state)
{
    (void)state;
    struct gpu_stream *held = stream, *other;
    assert_int_equal(gpu_stream_create(&other), GPU_OK);
    struct chain_argument argument = {device_memory(2 * sizeof(uint64_t)), 1};
    struct gpu_launch launch = launch_of(symbol(kernel_chain), &argument, sizeof argument);
    hold();
    submit(&launch);

    struct chain_argument free_argument = {argument.value + 1, 0};
    stream = other;
    struct gpu_launch free_launch = launch_of(symbol(kernel_chain), &free_argument, sizeof free_argument);
    for (free_argument.term = 1; free_argument.term <= 2 * RING; free_argument.term++) submit(&free_launch);
    synchronize();
    assert_true(argument.value[1] != 0);
    assert_true(__atomic_load_n(argument.value, __ATOMIC_RELAXED) == 0);

    stream = held;
    __atomic_store_n(word, 7, __ATOMIC_RELEASE); // more than was asked for
    synchronize();
    assert_true(*argument.value == 1);
    gpu_stream_destroy(other);
    gpu_free(argument.value);
}

static uint32_t submitted, submitted_when_full;

static void *release_when_full(void *unused)
{
    while (__atomic_load_n(&submitted, __ATOMIC_ACQUIRE) < RING - 1) usleep(1000);
    usleep(20000);
    submitted_when_full = __atomic_load_n(&submitted, __ATOMIC_ACQUIRE);
    release();
    return unused;
}

static void test_back_pressure(void **state)
{
    (void)state;
    pthread_t thread;
    submitted = 0;
    struct chain_argument argument = {device_memory(sizeof(uint64_t)), 1};
    struct gpu_launch launch = launch_of(symbol(kernel_chain), &argument, sizeof argument);
    uint64_t expected = 0;
    hold(); // a packet of its own
    assert_int_equal(pthread_create(&thread, NULL, release_when_full, NULL), 0);
    for (unsigned i = 0; i < 2 * RING; i++) {
        submit(&launch);
        __atomic_add_fetch(&submitted, 1, __ATOMIC_RELEASE);
        expected = expected * 6364136223846793005u + 1;
    }
    synchronize();
    pthread_join(thread, NULL);
    assert_int_equal(submitted_when_full, RING - 1);
    assert_true(*argument.value == expected);
    gpu_free(argument.value);
}

static void test_many_streams(void **state)
{
    (void)state;
    struct gpu_stream *streams[256], *own = stream;
    unsigned count = 0;
    enum gpu_status status;
    while ((status = gpu_stream_create(&streams[count])) == GPU_OK) count++;
    assert_int_equal(status, GPU_UNSUPPORTED);
    assert_int_equal(count, 255);
    struct chain_argument argument = {device_memory(count * sizeof(uint64_t)), 5};
    uint64_t *values = argument.value;
    for (unsigned i = 0; i < count; i++) {
        stream = streams[i];
        argument.value = values + i;
        struct gpu_launch launch = launch_of(symbol(kernel_chain), &argument, sizeof argument);
        submit(&launch);
        submit(&launch);
    }
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(gpu_stream_synchronize(streams[i]), GPU_OK);
        assert_true(values[i] == 5 * 6364136223846793005u + 5);
        gpu_stream_destroy(streams[i]);
    }
    stream = own;
    assert_int_equal(gpu_stream_create(&streams[0]), GPU_OK); // a destroyed one is used again
    gpu_stream_destroy(streams[0]);
    gpu_free(values);
}

static void test_close_undrained(void **state)
{
    (void)state;
    open_device(NULL);
    struct gpu_launch launch = launch_of(gpu_kernel(empty), NULL, 0);
    hold();
    submit(&launch);
    gpu_close();
    assert_string_equal(gpu_error(), "the host device was closed with 2 packets that have not ended");
    gpu_free_mapped(word);
    open_device(NULL);
    assert_int_equal(gpu_open(0), GPU_FAILED);
    close_device();
    gpu_close(); // does nothing
}

// --- The common kernels ----------------------------------------------------------------------------------------------

static void test_stamp(void **state)
{
    (void)state;
    struct stamp stamps[16];
    uint64_t before = clock_ticks();
    stamps_in_a_row(stamps, 16);
    for (unsigned i = 0; i < 16; i++) {
        assert_true(stamps[i].sequence == i + 1);
        assert_true(stamps[i].begin_ticks >= before && stamps[i].end_ticks - stamps[i].begin_ticks >= 100);
        before = stamps[i].end_ticks;
    }
    assert_true(clock_ticks() >= before);
}

static void test_flag_and_gate(void **state)
{
    (void)state;
    struct flag_argument flag_argument = {word + 2, 77};
    struct gpu_launch launch = launch_of(gpu_kernel(flag), &flag_argument, sizeof flag_argument);
    struct gate_argument argument = {word, word + 1, word + 3, ticks_of(LONG_NS), 3};
    struct gpu_launch gate_launch = launch_of(gpu_kernel(gate), &argument, sizeof argument);
    submit(&gate_launch);
    submit(&launch);
    usleep(10000);
    assert_int_equal(__atomic_load_n(word + 2, __ATOMIC_ACQUIRE), 0);
    assert_int_equal(__atomic_load_n(word + 3, __ATOMIC_ACQUIRE), 3);
    __atomic_store_n(word, 3, __ATOMIC_RELEASE);
    while (__atomic_load_n(word + 2, __ATOMIC_ACQUIRE) != 77) clock_relax();
    synchronize();
    assert_int_equal(word[1], 0);

    argument.value = 4;
    argument.limit_ticks = ticks_of(1e6);
    submit(&gate_launch);
    synchronize();
    assert_int_equal(word[1], 1);
}

static void test_pingpong(void **state)
{
    (void)state;
    struct pong *pong = device_memory(sizeof *pong);
    uint64_t *ping = device_memory(sizeof *ping);
    struct pingpong_argument argument = {ping, pong, ticks_of(LONG_NS), 200};
    struct gpu_launch launch = launch_of(gpu_kernel(pingpong), &argument, sizeof argument);
    submit(&launch);
    for (uint64_t i = 1; i <= 200; i++) {
        clock_spin_ns((double)(i * 37 % 500));
        uint64_t before = clock_ticks();
        __atomic_store_n(ping, i, __ATOMIC_SEQ_CST);
        uint64_t stored = clock_ticks();
        uint64_t answer;
        do answer = __atomic_load_n(&pong->answer, __ATOMIC_ACQUIRE);
        while (PONG_SEQUENCE(answer) != i);
        uint64_t seen = clock_ticks(), after = pong->begin_ticks + PONG_AFTER(answer);
        assert_true(after >= before && after <= seen); // nothing before its cause; one clock serves both here
        if (PONG_AGE(answer)) assert_true(after - PONG_AGE(answer) <= stored);
    }
    synchronize();

    argument.limit_ticks = ticks_of(2e6);
    __atomic_store_n(ping, 1, __ATOMIC_RELEASE);
    submit(&launch); // finds ping 1 at the first poll, and gives up waiting for ping 2
    synchronize();
    assert_true(PONG_SEQUENCE(pong->answer) == 1 && PONG_AGE(pong->answer) == 0);
    gpu_free(pong);
    gpu_free(ping);
}

static void test_clock_steps(void **state)
{
    (void)state;
    uint64_t *steps = device_memory(1000 * sizeof *steps);
    struct clock_steps_argument argument = {steps, 999};
    struct gpu_launch launch = launch_of(gpu_kernel(clock_steps), &argument, sizeof argument);
    submit(&launch);
    synchronize();
    for (unsigned i = 0; i < 999; i++) assert_true(steps[i] > 0);
    assert_true(steps[999] == 0);
    gpu_free(steps);
}

static void test_plain_submit(void **state)
{
    (void)state;
    struct gpu_launch launch = launch_of(gpu_kernel(empty), NULL, 0);
    double elapsed_ns = -1;
    assert_int_equal(gpu_plain_submit(&launch, 400, &elapsed_ns), GPU_OK);
    assert_true(elapsed_ns >= 0);
    synchronize();
}

// --- What is refused, what is told -----------------------------------------------------------------------------------

static void test_unsupported(void **state)
{
    (void)state;
    enum gpu_status (*const ways[])(const struct gpu_launch *) = {gpu_launch_driver, gpu_launch_ex, gpu_launch_chevron};
    struct gpu_launch launch = launch_of(gpu_kernel(empty), NULL, 0);
    for (int i = 0; i < 3; i++) {
        gpu_reason(GPU_FAILED, "line\nbreak, %s", gpu_error());
        assert_null(strchr(gpu_error(), '\n'));
        assert_int_equal(ways[i](&launch), GPU_UNSUPPORTED);
        assert_string_equal(gpu_error(), "the host device has one way to launch");
    }
}

static void test_validation(void **state)
{
    (void)state;
    int argument = 0;
    const void *kernel = gpu_kernel(empty);
    const struct {
        struct gpu_launch launch;
        enum gpu_status status;
        const char *reason;
    } cases[] = {
        {{.kernel = NULL, .grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = stream}, GPU_FAILED, "no kernel"},
        {{.kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = NULL}, GPU_FAILED, "no stream"},
        {{.kernel = kernel, .grid = {3, 0, 1}, .block = {1, 1, 1}, .stream = stream}, GPU_FAILED, "3x0x1 has no block"},
        {{.kernel = kernel, .grid = {65536, 65536, 1}, .block = {1, 1, 1}, .stream = stream}, GPU_UNSUPPORTED, "2^32"},
        {{.kernel = kernel, .grid = {-1u, -1u, -1u}, .block = {1, 1, 1}, .stream = stream}, GPU_UNSUPPORTED, "2^32"},
        {{.kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 0}, .stream = stream}, GPU_FAILED, "no thread"},
        {{.kernel = kernel, .grid = {1, 1, 1}, .block = {32, 33, 1}, .stream = stream}, GPU_UNSUPPORTED, "than 1024"},
        {{.kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = stream, .argument = &argument,
          .argument_bytes = 4097}, GPU_UNSUPPORTED, "4097 bytes of argument are more than 4096"},
        {{.kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = stream, .argument_bytes = 4}, GPU_FAILED,
         "contradict"},
        {{.kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = stream, .shared_bytes = 1},
         GPU_UNSUPPORTED, "shared memory"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gpu_launch launch = cases[i].launch;
        assert_int_equal(gpu_launch_prepare(&launch), cases[i].status);
        assert_non_null(strstr(gpu_error(), cases[i].reason));
    }
    assert_int_equal(gpu_stream_wait_value(stream, (char *)word + 2, 1), GPU_FAILED);
    assert_int_equal(gpu_open(1), GPU_FAILED);
}

static void note_fact(void *context, const char *key, const char *value)
{
    assert_true(*key && *value);
    if (!strcmp(key, "device")) strncpy(context, value, 127);
}

static void test_facts(void **state)
{
    (void)state;
    unsigned devices;
    bool throttled = true;
    char name[128] = "";
    assert_string_equal(gpu_backend, "host");
    assert_int_equal(gpu_count(&devices), GPU_OK);
    assert_int_equal(devices, 1);
    assert_int_equal(gpu_facts(0, note_fact, name), GPU_OK);
    assert_int_equal(strncmp(name, "CPU threads (", 13), 0);
    assert_null(strchr(name, ','));
    assert_int_equal(gpu_facts(1, note_fact, name), GPU_FAILED);
    gpu_state(0, "before", note_fact, name, &throttled);
    assert_false(throttled);
    assert_null(gpu_injection());
}

int main(void)
{
    clock_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcome),
        ON_DEVICE(test_order),
        ON_DEVICE(test_grids),
        ON_DEVICE(test_arguments),
        ON_DEVICE(test_wait_value),
        ON_DEVICE(test_back_pressure),
        ON_DEVICE(test_many_streams),
        cmocka_unit_test(test_close_undrained),
        ON_DEVICE(test_stamp),
        ON_DEVICE(test_flag_and_gate),
        ON_DEVICE(test_pingpong),
        ON_DEVICE(test_clock_steps),
        ON_DEVICE(test_plain_submit),
        ON_DEVICE(test_unsupported),
        ON_DEVICE(test_validation),
        ON_DEVICE(test_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
