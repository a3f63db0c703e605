// SPDX-License-Identifier: Apache-2.0
// The kernel that stays, on the host device: it sees when the whole process is stopped, and says how long.
#include "tests/unit_host.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/resident.h"

static const double STAY_NS = 60e6;
enum { STOP_US = 30000 };

// Another process stops this one for a while, as if its turn were over.
static pid_t stop_soon(void)
{
    pid_t stopped = getpid(), pid = fork();
    if (pid) return pid;
    usleep(10000);
    kill(stopped, SIGSTOP);
    usleep(STOP_US);
    kill(stopped, SIGCONT);
    _exit(0);
}

static void test_it_sees_that_it_was_away(void **state)
{
    (void)state;
    static struct resident resident;
    static struct resident_record record;
    assert_int_equal(resident_open(&resident, RESIDENT_ONE_WARP, STAY_NS), GPU_OK);
    pid_t stopper = stop_soon();
    assert_int_equal(resident_launch(&resident), GPU_OK);
    assert_int_equal(resident_read(&resident, &record), GPU_OK);
    assert_int_equal(waitpid(stopper, NULL, 0), stopper);

    // Other work may have had the core, too, but never so long.
    uint64_t longest = 0;
    assert_true(record.count >= 2 && record.longest_pass_ns > 0 && record.longest_pass_ns <= 10e3);
    for (unsigned i = 0; i < record.count; i++) {
        assert_true(record.slices[i].end_ticks >= record.slices[i].begin_ticks);
        if (i == 0) continue;
        uint64_t away = record.slices[i].begin_ticks - record.slices[i - 1].end_ticks;
        assert_true(ns_of(away) > 10e3 - ns_of(1));
        if (away > longest) longest = away;
    }
    assert_true(ns_of(longest) > 0.9 * STOP_US * 1e3);
    if (record.count < SLICES_TRACK_MAX) // else it was away too often to see it all
        assert_true(ns_of(record.slices[record.count - 1].end_ticks - record.slices[0].begin_ticks) > STAY_NS - 10e3);
    resident_close(&resident);
}

static void test_a_lost_kernel_is_missed(void **state)
{
    (void)state;
    static struct resident resident;
    static struct resident_record record;
    assert_int_equal(resident_open(&resident, RESIDENT_ONE_WARP, 1e6), GPU_OK);
    assert_int_equal(resident_launch(&resident), GPU_OK);
    resident.argument.sequence++; // as if it had been launched once more
    assert_int_equal(resident_read(&resident, &record), GPU_FAILED);
    resident_close(&resident);
    assert_int_equal(resident_open(&resident, RESIDENT_FULL_SHARED, 1e6), GPU_UNSUPPORTED);
    resident_close(&resident);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_DEVICE(test_it_sees_that_it_was_away),
        ON_DEVICE(test_a_lost_kernel_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
