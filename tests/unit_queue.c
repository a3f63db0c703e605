// SPDX-License-Identifier: Apache-2.0
// Calls that block, sleeping or busy, are told from a submitting thread that was switched off its core.
#include "common/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "common/pin.h"

enum { BEFORE = 4, SLEEP_NS = 40000000, SPIN_NS = 10000000 };

static struct chain chain;
static unsigned calls;
static bool switched; // what the system is made to say: off its core once more at each question

#ifndef __GLIBC__
typedef int __rusage_who_t;
#endif
int getrusage(__rusage_who_t who, struct rusage *usage)
{
    static long switches;
    (void)who;
    *usage = (struct rusage){.ru_nivcsw = switched ? ++switches : switches};
    return 0;
}

static double ran_ns(void)
{
    struct timespec ran;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
    return (double)ran.tv_sec * 1e9 + (double)ran.tv_nsec;
}

// The one before the gate, then BEFORE quick ones, then one that takes its time, and so on.
static bool is_slow(void) { return calls++ > 0 && (calls - 1) % (BEFORE + 1) == 0; }

static enum gpu_status submit_asleep(void *unused)
{
    (void)unused;
    if (is_slow()) nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
    return GPU_OK;
}

static enum gpu_status submit_busy(void *unused)
{
    (void)unused;
    double begin = ran_ns();
    if (is_slow())
        while (ran_ns() - begin < SPIN_NS) continue;
    return GPU_OK;
}

static enum gpu_status depth(queue_submit *submit, bool switched_off, struct queue_answer *answer)
{
    calls = 0;
    switched = switched_off;
    return queue_depth(&chain, submit, NULL, answer);
}

// A watcher that comes late lets a slow call pass, and takes the next for it.
static void check(const struct queue_answer *answer)
{
    assert_int_equal(answer->depth % (BEFORE + 1), BEFORE);
    assert_true(answer->blocked_return_ns > 0 && answer->blocked_return_ns < SLEEP_NS);
    assert_true(answer->clocks_apart_ns > 0);
}

static void test_queue_depth(void **state)
{
    (void)state;
    struct queue_answer answer;
    if (pin_count() < 2) skip();
    clock_init();
    assert_int_equal(gpu_open(0), GPU_OK);
    assert_int_equal(chain_open(&chain), GPU_OK);
    assert_int_equal(depth(submit_asleep, false, &answer), GPU_OK);
    check(&answer);
    assert_int_equal(depth(submit_busy, true, &answer), GPU_OK);
    check(&answer);
    assert_int_equal(depth(submit_asleep, true, &answer), GPU_FAILED);
    assert_string_equal(gpu_error(), "the submitting thread was switched off its core 3 times in a row");
    chain_close(&chain);
    gpu_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_queue_depth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
