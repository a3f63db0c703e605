// SPDX-License-Identifier: Apache-2.0
// Shows that each injection of the host device does what it says, and that malformed ones are refused.
#include "common/launch.h" // before names that it would shadow

#include "tests/unit_host.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/gpu_kernel.h"

static void test_inject_launch_ns(void **state)
{
    (void)state;
    open_device("launch_ns=200000");
    assert_string_equal(gpu_injection(), "launch_ns=200000");
    struct gpu_launch launch = launch_of(gpu_kernel(empty), NULL, 0);
    uint64_t begin = clock_ticks();
    for (int i = 0; i < 10; i++) submit(&launch);
    assert_true(clock_ns(clock_ticks() - begin) >= 10 * 200e3);
    double elapsed_ns;
    assert_int_equal(gpu_plain_submit(&launch, 10, &elapsed_ns), GPU_OK);
    assert_true(elapsed_ns >= 10 * 200e3 * 0.999);
    synchronize();
    close_device();
}

static void test_inject_gap_ns(void **state)
{
    (void)state;
    struct stamp stamps[8];
    open_device("gap_ns=300000");
    stamps_in_a_row(stamps, 8);
    for (int i = 1; i < 8; i++) assert_true(ns_of(stamps[i].begin_ticks - stamps[i - 1].end_ticks) >= 300e3);
    close_device();
}

static void test_inject_complete_ns(void **state)
{
    (void)state;
    struct stamp stamps[8];
    open_device("complete_ns=100000000");
    stamps_in_a_row(stamps, 8);
    assert_true(ns_of(clock_ticks() - stamps[7].end_ticks) >= 100e6);
    assert_true(ns_of(stamps[7].begin_ticks - stamps[0].end_ticks) < 7 * 100e6); // none between queued kernels
    close_device();
}

static void test_inject_hang(void **state)
{
    (void)state;
    struct stamp *out;
    open_device("hang=2");
    out = device_memory(2 * sizeof *out);
    struct stamp_argument argument = {out, 1, 0};
    struct gpu_launch launch = launch_of(gpu_kernel(stamp), &argument, sizeof argument);
    submit(&launch);
    synchronize();
    argument.out++;
    submit(&launch);
    gpu_close();
    assert_string_equal(gpu_error(), "the host device was closed with 1 packets that have not ended");
    assert_true(out[0].sequence == 1 && out[1].sequence == 0);
    gpu_free(out);
    gpu_free_mapped(word);
}

static void test_inject_crash(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); // neither the test's nor a sanitizer's
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        open_device("crash=2");
        struct gpu_launch launch = launch_of(gpu_kernel(empty), NULL, 0);
        submit(&launch);
        synchronize();
        *word = 1;
        submit(&launch);
        synchronize();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static void test_inject_launch_error(void **state)
{
    (void)state;
    open_device("launch_error=2,launch_ns=1");
    struct chain_argument argument = {device_memory(sizeof(uint64_t)), 1};
    struct gpu_launch launch = launch_of(symbol(kernel_chain), &argument, sizeof argument);
    submit(&launch);
    assert_int_equal(gpu_launch_runtime(&launch), GPU_FAILED);
    assert_string_equal(gpu_error(), "injected launch error");
    synchronize();
    assert_true(*argument.value == 1);
    submit(&launch);
    synchronize();
    assert_true(*argument.value == 6364136223846793005u + 1);
    gpu_free(argument.value);
    close_device();
}

static void count_visits(const char *injection, uint32_t expected)
{
    open_device(injection);
    struct visit_argument argument = {device_memory(sizeof(uint32_t)), device_memory(sizeof(uint32_t)), 1};
    struct gpu_launch launch = launch_of(symbol(kernel_visit), &argument, sizeof argument);
    for (int i = 0; i < 10; i++) submit(&launch);
    synchronize();
    assert_int_equal(*argument.visits, expected);
    gpu_free(argument.visits);
    gpu_free(argument.wrong_counts);
    close_device();
}

static void test_inject_wrong_count(void **state)
{
    (void)state;
    count_visits("wrong_count=3", 9);
    count_visits("wrong_count=4-", 3);
    count_visits("wrong_count=11", 10);
    count_visits("", 10);
}

// Whichever of a chain's gates does not run, what was behind it is not taken for gated.
static void test_inject_wrong_count_of_gates(void **state)
{
    (void)state;
    static const struct {
        const char *injection, *reason;
    } cases[] = {{"wrong_count=1", "gate 1 of 3 left no mark: the kernel did not run"},
                 {"wrong_count=2", "gate 2 of 3 left no mark: the kernel did not run"},
                 {"wrong_count=3", "gate 3 of 3 left no mark: the kernel did not run"},
                 {"wrong_count=9", NULL}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct chain chain;
        struct gpu_stream *others[2];
        open_device(cases[i].injection);
        assert_int_equal(chain_open(&chain), GPU_OK);
        assert_int_equal(gpu_stream_create(&others[0]), GPU_OK);
        assert_int_equal(gpu_stream_create(&others[1]), GPU_OK);
        assert_int_equal(chain_hold(&chain), GPU_OK);
        for (int k = 0; k < 2; k++) assert_int_equal(chain_hold_too(&chain, others[k]), GPU_OK);
        assert_int_equal(chain_release(&chain), cases[i].reason ? GPU_FAILED : GPU_OK);
        if (cases[i].reason) assert_string_equal(gpu_error(), cases[i].reason);
        assert_int_equal(chain_hold(&chain), GPU_OK); // the next ones are judged anew
        assert_int_equal(chain_release(&chain), GPU_OK);
        for (int k = 0; k < 2; k++) gpu_stream_destroy(others[k]);
        chain_close(&chain);
        close_device();
    }
}

static void test_inject_refuse_and_ask_ns(void **state)
{
    (void)state;
    int current;
    open_device("refuse_ns=200000,ask_ns=100000");
    struct gpu_launch launch = launch_of(gpu_kernel(empty), NULL, 0);
    launch.grid[0] = 0;
    uint64_t begin = clock_ticks();
    assert_string_equal(gpu_code_name(gpu_launch_code(&launch)), "LAUNCH_REFUSED");
    assert_true(clock_ns(clock_ticks() - begin) >= 200e3 * 0.999);
    assert_string_equal(gpu_code_name(gpu_code_last()), "LAUNCH_REFUSED");
    assert_int_equal(gpu_code_last(), 0);
    begin = clock_ticks();
    assert_int_equal(gpu_device_current(&current), GPU_OK);
    assert_true(clock_ns(clock_ticks() - begin) >= 100e3 * 0.999);
    close_device();
}

static void test_inject_malformed(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "x", "hang", "hang=", "hang=0", "hang=-", "hang=1-2", "hang=+1", "hang= 1", "hang=3,", ",", "gap=5", "gap_ns=",
        "gap_ns=5-", "gap_ns=-5", "gap_ns=1e3", "gap_ns=99999999999", "launch_ns=1 ", "=1", "hang=99999999999999999999",
        "wrong_count=1,,gap_ns=2",
        "an unknown word that is so long that no buffer of a sensible length could hold it whole=1"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        setenv("LIFTOFF_HOST_INJECT", texts[i], 1);
        assert_int_equal(gpu_open(0), GPU_FAILED);
        assert_non_null(strstr(gpu_error(), "LIFTOFF_HOST_INJECT: '"));
    }
    unsetenv("LIFTOFF_HOST_INJECT");
}

int main(void)
{
    clock_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inject_launch_ns),
        cmocka_unit_test(test_inject_gap_ns),
        cmocka_unit_test(test_inject_complete_ns),
        cmocka_unit_test(test_inject_hang),
        cmocka_unit_test(test_inject_crash),
        cmocka_unit_test(test_inject_launch_error),
        cmocka_unit_test(test_inject_wrong_count),
        cmocka_unit_test(test_inject_wrong_count_of_gates),
        cmocka_unit_test(test_inject_refuse_and_ask_ns),
        cmocka_unit_test(test_inject_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
