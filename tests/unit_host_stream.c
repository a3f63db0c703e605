// SPDX-License-Identifier: Apache-2.0
// Holds the host device's streams against gpu_stream.h: events, the default stream, commands between kernels, waits.
#include "tests/unit_host.h"

#include <pthread.h>
#include <unistd.h>

#include "backends/gpu_graph.h"
#include "backends/gpu_stream.h"

static bool ended(struct gpu_stream *asked)
{
    bool answer = false;
    assert_int_equal(gpu_stream_query(asked, &answer), GPU_OK);
    return answer;
}

// For a while: it is never to happen, and no test can wait for that.
static void assert_waits(struct gpu_stream *asked)
{
    for (int i = 0; i < 10; i++) {
        usleep(2000);
        assert_false(ended(asked));
    }
}

static void wait_for(struct gpu_stream *waiting, uint32_t *flag, uint32_t value)
{
    assert_int_equal(gpu_stream_wait_value(waiting, flag, value), GPU_OK);
}

static void open_gate(uint32_t *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }

// An event holds back the stream that waits for it, and only that.
static void test_event(void **state)
{
    (void)state;
    struct gpu_stream *one, *two, *three;
    struct gpu_event *event;
    bool happened = true;
    uint32_t *words = device_memory(4 * sizeof *words);
    assert_int_equal(gpu_stream_create(&one) | gpu_stream_create(&two) | gpu_stream_create(&three), GPU_OK);
    assert_int_equal(gpu_event_create(&event, false), GPU_OK);
    assert_int_equal(gpu_stream_wait_event(two, event), GPU_OK); // recorded nowhere: waits for nothing
    assert_int_equal(gpu_stream_synchronize(two), GPU_OK);

    wait_for(one, words, 1);
    assert_int_equal(gpu_stream_write_value(one, words + 1, 7), GPU_OK);
    assert_int_equal(gpu_event_record(event, one), GPU_OK);
    wait_for(one, words, 2);
    assert_int_equal(gpu_stream_wait_event(two, event), GPU_OK);
    assert_int_equal(gpu_stream_copy(two, words + 2, words + 1, sizeof *words), GPU_OK);
    assert_int_equal(gpu_stream_write_value(three, words + 3, 9), GPU_OK);
    assert_int_equal(gpu_stream_synchronize(three), GPU_OK);
    assert_int_equal(words[3], 9);
    assert_waits(two);
    assert_int_equal(gpu_event_query(event, &happened), GPU_OK);
    assert_false(happened);

    open_gate(words);
    assert_int_equal(gpu_event_synchronize(event), GPU_OK);
    assert_int_equal(gpu_stream_synchronize(two), GPU_OK);
    assert_int_equal(words[2], 7);
    assert_false(ended(one)); // it went on to its second wait
    __atomic_store_n(words, 2, __ATOMIC_RELEASE);
    assert_int_equal(gpu_device_synchronize(), GPU_OK);
    assert_true(ended(one));
    gpu_event_destroy(event);
    gpu_stream_destroy(one), gpu_stream_destroy(two), gpu_stream_destroy(three);
    gpu_free(words);
}

// The legacy default stream follows blocking streams, and they follow it; others do neither.
static void test_legacy(void **state)
{
    (void)state;
    struct gpu_stream *legacy, *own, *one, *two, *free_one;
    uint32_t *words = device_memory(4 * sizeof *words);
    assert_int_equal(gpu_stream_default(&legacy, GPU_STREAM_LEGACY), GPU_OK);
    assert_int_equal(gpu_stream_default(&own, GPU_STREAM_PER_THREAD), GPU_OK);
    assert_int_equal(gpu_stream_create_blocking(&one) | gpu_stream_create_blocking(&two), GPU_OK);
    assert_int_equal(gpu_stream_create(&free_one), GPU_OK);

    wait_for(one, words, 1);
    assert_int_equal(gpu_stream_write_value(legacy, words + 1, 1), GPU_OK);
    assert_int_equal(gpu_stream_write_value(two, words + 2, 1), GPU_OK);
    assert_int_equal(gpu_stream_write_value(own, words + 3, 1), GPU_OK);
    assert_int_equal(gpu_stream_write_value(free_one, words + 3, 2), GPU_OK);
    assert_int_equal(gpu_stream_synchronize(free_one), GPU_OK);
    assert_int_equal(words[3], 2);
    assert_waits(two);
    assert_false(ended(legacy) || ended(own));
    open_gate(words);
    assert_int_equal(gpu_device_synchronize(), GPU_OK);
    assert_int_equal(words[1] + words[2] + words[3], 3);
    gpu_stream_destroy(one), gpu_stream_destroy(two), gpu_stream_destroy(free_one);
    gpu_free(words);
}

static void add(void *sum) { *(unsigned *)sum = *(unsigned *)sum * 10 + 1; }

static void test_commands(void **state)
{
    (void)state;
    unsigned char *bytes = device_memory(64);
    unsigned sum = 4;
    assert_int_equal(gpu_stream_set(stream, bytes, 0xab, 33), GPU_OK);
    assert_int_equal(gpu_stream_call(stream, add, &sum) | gpu_stream_call(stream, add, &sum), GPU_OK);
    assert_int_equal(gpu_stream_synchronize(stream), GPU_OK);
    for (int i = 0; i < 64; i++) assert_int_equal(bytes[i], i < 33 ? 0xab : 0);
    assert_int_equal(sum, 411);
    gpu_free(bytes);
}

// Each kind of wait returns once, and only once, there is nothing left to wait for.
static void test_waits(void **state)
{
    (void)state;
    close_device();
    for (enum gpu_wait how = 0; how < GPU_WAITS; how++) {
        assert_int_equal(gpu_open_waiting(0, how), GPU_OK);
        struct gpu_stream *asked;
        struct gpu_event *event;
        uint32_t *flag = device_memory(sizeof *flag);
        assert_int_equal(gpu_stream_create(&asked) | gpu_event_create_blocking(&event), GPU_OK);
        for (uint32_t i = 1; i < 500; i++) {
            assert_int_equal(gpu_stream_write_value(asked, flag, i) | gpu_event_record(event, asked), GPU_OK);
            assert_int_equal(i % 2 ? gpu_event_synchronize(event) : gpu_stream_synchronize(asked), GPU_OK);
            assert_int_equal(*flag, i);
        }
        gpu_event_destroy(event);
        gpu_stream_destroy(asked);
        gpu_free(flag);
        gpu_close();
    }
    open_device(NULL);
}

// Threads that share a stream lose no command.
static uint32_t counted;
static struct gpu_stream *shared;
static void count(void *context)
{
    (void)context;
    counted++; // one stream: one call at a time
}
static void *submit_calls(void *context)
{
    (void)context;
    for (int i = 0; i < 5000; i++)
        if (gpu_stream_call(shared, count, NULL)) return &counted;
    return NULL;
}
static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    void *failed;
    counted = 0;
    assert_int_equal(gpu_stream_create(&shared), GPU_OK);
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, submit_calls, NULL), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(gpu_stream_synchronize(shared), GPU_OK);
    assert_int_equal(counted, 20000);
    gpu_stream_destroy(shared);
}

// A graph runs what was captured, in its order, as often as it is launched, and nothing before.
static void test_graph(void **state)
{
    (void)state;
    struct chain_argument argument = {device_memory(sizeof(uint64_t)), 0};
    struct gpu_launch launch = launch_of(symbol(kernel_chain), &argument, sizeof argument);
    struct gpu_graph *graph;
    struct gpu_graph_executable *executable;
    assert_int_equal(gpu_capture_begin(stream), GPU_OK);
    for (argument.term = 1; argument.term <= 300; argument.term++) submit(&launch);
    assert_int_equal(gpu_capture_end(stream, &graph), GPU_OK);
    synchronize();
    assert_true(*argument.value == 0);
    assert_int_equal(gpu_graph_instantiate(graph, &executable), GPU_OK);
    gpu_graph_destroy(graph);
    uint64_t expected = 0;
    for (int launches = 0; launches < 7; launches++) {
        assert_int_equal(gpu_graph_launch(executable, stream), GPU_OK);
        for (uint64_t i = 1; i <= 300; i++) expected = expected * 6364136223846793005u + i;
    }
    synchronize();
    assert_true(*argument.value == expected);
    gpu_graph_executable_destroy(executable);
    gpu_free(argument.value);
}

// What a graph cannot keep is refused when it is made.
static void test_graph_refused(void **state)
{
    (void)state;
    struct gpu_graph *graph;
    struct gpu_event *event;
    assert_int_equal(gpu_event_create(&event, false), GPU_OK);
    assert_int_equal(gpu_capture_begin(stream) | gpu_event_record(event, stream), GPU_OK);
    assert_int_equal(gpu_capture_end(stream, &graph), GPU_UNSUPPORTED);
    assert_int_equal(gpu_capture_begin(stream), GPU_OK);
    struct gpu_launch launch = launch_of(gpu_kernel(empty), NULL, 0);
    for (int i = 0; i < 1024; i++) submit(&launch);
    assert_int_equal(gpu_capture_end(stream, &graph), GPU_UNSUPPORTED);
    submit(&launch);
    synchronize();
    gpu_event_destroy(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_DEVICE(test_event),
        ON_DEVICE(test_legacy),
        ON_DEVICE(test_commands),
        ON_DEVICE(test_waits),
        ON_DEVICE(test_threads),
        ON_DEVICE(test_graph),
        ON_DEVICE(test_graph_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
