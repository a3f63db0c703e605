// SPDX-License-Identifier: Apache-2.0
// Shows that system calls are counted in their phase and on every thread, and that counters which disagree are noticed.
#include "common/syscalls.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static struct syscalls_counts counts;

static void call_ioctl(int calls)
{
    for (int i = 0; i < calls; i++) ioctl(-1, 0);
}

static void *call_on_thread(void *unused)
{
    call_ioctl(5);
    return unused;
}

// Phase 1: 3 ioctls and 2 others; 2: nothing; 3: 5 ioctls on another thread; 0: 4.
static enum gpu_status work_counted(void)
{
    pthread_t thread;
    syscalls_phase(1);
    call_ioctl(3);
    syscall(SYS_getppid);
    syscall(SYS_getppid);
    syscalls_phase(2);
    syscalls_phase(3);
    if (pthread_create(&thread, NULL, call_on_thread, NULL)) abort();
    pthread_join(thread, NULL);
    syscalls_phase(0);
    call_ioctl(4);
    return GPU_OK;
}

static void test_counts(void **state)
{
    (void)state;
    assert_int_equal(syscalls_count(work_counted, &counts), GPU_OK);
    assert_int_equal(counts.phase[1].interposed, 3);
    assert_int_equal(counts.phase[2].interposed, 0);
    assert_int_equal(counts.phase[3].interposed, 5);
    if (counts.refused) {
        printf("ptrace is refused: %s\n", strerror(counts.refused));
        skip();
    }
    assert_int_equal(counts.phase[1].ioctls, 3);
    assert_int_equal(counts.phase[1].syscalls, 5);
    assert_int_equal(counts.phase[2].syscalls, 0);
    assert_int_equal(counts.phase[3].ioctls, 5);
    assert_true(counts.phase[3].syscalls > 5); // the thread's own beginning and end
}

// Past the interposed entry, as a library that makes the system call by itself.
static enum gpu_status work_past_libc(void)
{
    syscalls_phase(2);
    call_ioctl(3);
    syscall(SYS_ioctl, -1, 0, 0);
    syscall(SYS_ioctl, -1, 0, 0);
    return GPU_OK;
}

static void test_disagreement(void **state)
{
    (void)state;
    enum gpu_status status = syscalls_count(work_past_libc, &counts);
    if (counts.refused) skip();
    assert_int_equal(status, GPU_FAILED);
    assert_string_equal(gpu_error(), "the counts of ioctl calls disagree in phase 2: 3 interposed, 5 traced");
}

static enum gpu_status work_unsupported(void) { return gpu_reason(GPU_UNSUPPORTED, "it cannot"); }

static enum gpu_status work_lost(void) { _exit(3); }

static void test_failures(void **state)
{
    (void)state;
    assert_int_equal(syscalls_count(work_unsupported, &counts), GPU_UNSUPPORTED);
    assert_string_equal(gpu_error(), "it cannot");
    assert_int_equal(syscalls_count(work_lost, &counts), GPU_FAILED);
    assert_string_equal(gpu_error(), "the counted process ended early with status 3, signal 0");
    assert_int_equal(syscalls_count(work_counted, &counts), GPU_OK); // as if nothing had been
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_disagreement),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
