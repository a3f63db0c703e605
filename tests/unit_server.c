// SPDX-License-Identifier: Apache-2.0
// Starting and stopping NVIDIA's server between processes, with a stand-in for its control program.
#include "backends/cuda/server.c" // linked into the CUDA programs only

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/scratch.h"

static struct scratch scratch;
static const char *const folder = scratch.path;
static char path[600];

// The stand-in: with -f it opens its control pipe and stays; without it reads what it is to tell the one that stays.
// FAKE says how it behaves otherwise.
static const char program[] = "#!/bin/bash\n"
                              "d=$CUDA_MPS_PIPE_DIRECTORY\n"
                              "if [[ ${1-} == -f ]]; then\n"
                              "    [[ $FAKE == fails ]] && exit 3\n"
                              "    [[ $FAKE == stubborn ]] && trap '' TERM INT HUP\n"
                              "    echo $$ >\"$d/pid\"\n"
                              "    [[ $FAKE == silent ]] || : >\"$d/control\"\n"
                              "    while [[ $FAKE == stubborn || ! -e $d/quit ]]; do sleep 0.05; done\n"
                              "    [[ -e $d/quit ]] && : >\"$d/left\"\n"
                              "    exit 0\n"
                              "fi\n"
                              "read -r word && [[ $word == quit ]] && : >\"$d/quit\"\n";

static int set_up(void **state)
{
    (void)state;
    char name[320];
    if (scratch_make(&scratch)) return -1;
    snprintf(name, sizeof name, "%s/%s", folder, PROGRAM);
    FILE *file = fopen(name, "w");
    fputs(program, file);
    fclose(file);
    chmod(name, 0755);
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", folder);
    setenv("PATH", path, 1);
    setenv("FAKE", "works", 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {PROGRAM, "pid", "control", "quit", "left"};
    char name[320];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, names[i]);
        unlink(name);
    }
    return rmdir(folder);
}

static bool is_there(const char *name)
{
    char full[320];
    snprintf(full, sizeof full, "%s/%s", folder, name);
    return access(full, F_OK) == 0;
}

static pid_t told_pid(void)
{
    char name[320];
    int pid = 0;
    snprintf(name, sizeof name, "%s/pid", folder);
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    fclose(file);
    return pid;
}

static bool is_gone(pid_t pid)
{
    for (int i = 0; i < 300 && kill(pid, 0) == 0; i++) usleep(10000);
    return kill(pid, 0) != 0;
}

static void test_it_starts_and_quits(void **state)
{
    (void)state;
    assert_int_equal(gpu_server_stop(), GPU_OK); // of none
    for (int again = 0; again < 2; again++) {
        assert_int_equal(gpu_server_start(folder), GPU_OK);
        pid_t pid = told_pid();
        assert_int_equal(kill(pid, 0), 0);
        assert_int_equal(getpgid(pid), getpgid(0)); // it dies with the group
        assert_int_equal(gpu_server_start(folder), GPU_FAILED);
        assert_string_equal(gpu_error(), "the server runs already");
        assert_int_equal(gpu_server_stop(), GPU_OK);
        assert_true(is_there("left")); // by itself
        assert_true(is_gone(pid));
        assert_int_equal(tear_down(NULL) | set_up(NULL), 0);
    }
}

static void test_one_that_does_not_quit_is_killed(void **state)
{
    (void)state;
    setenv("FAKE", "stubborn", 1);
    assert_int_equal(gpu_server_start(folder), GPU_OK);
    pid_t pid = told_pid();
    assert_int_equal(gpu_server_stop(), GPU_FAILED);
    assert_string_equal(gpu_error(), PROGRAM " did not end when it was asked to");
    assert_true(is_gone(pid));
    assert_int_equal(gpu_server_stop(), GPU_OK);
}

static void test_none_is_installed(void **state)
{
    (void)state;
    setenv("PATH", "/nowhere", 1);
    assert_int_equal(gpu_server_start(folder), GPU_UNSUPPORTED);
    assert_string_equal(gpu_error(), PROGRAM " is not installed");
    assert_int_equal(gpu_server_stop(), GPU_OK);
}

static void test_one_that_fails(void **state)
{
    (void)state;
    setenv("FAKE", "fails", 1);
    assert_int_equal(gpu_server_start(folder), GPU_FAILED);
    assert_string_equal(gpu_error(), PROGRAM " ended at once with status 3");
}

static void test_one_that_never_opens_its_pipe(void **state)
{
    (void)state;
    setenv("FAKE", "silent", 1);
    assert_int_equal(gpu_server_start(folder), GPU_FAILED);
    assert_string_equal(gpu_error(), PROGRAM " did not open its control pipe within 5 s");
    assert_true(is_gone(told_pid()));
}

// Whoever started it is killed: it ends by itself.
static void test_it_outlives_nobody(void **state)
{
    (void)state;
    pid_t starter = fork();
    if (starter == 0) {
        if (gpu_server_start(folder)) _exit(1);
        for (;;) pause();
    }
    for (int i = 0; i < 300 && !is_there("control"); i++) usleep(10000);
    pid_t pid = told_pid();
    assert_int_equal(kill(pid, 0), 0);
    assert_int_equal(kill(starter, SIGKILL), 0);
    assert_int_equal(waitpid(starter, NULL, 0), starter);
    assert_true(is_gone(pid));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_starts_and_quits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_that_does_not_quit_is_killed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_none_is_installed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_that_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_that_never_opens_its_pipe, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_it_outlives_nobody, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
