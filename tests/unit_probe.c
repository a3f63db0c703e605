// SPDX-License-Identifier: Apache-2.0
// Groups of probes: they meet and share memory, and one that dies, hangs or leaves takes no other with it.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/bench.h"
#include "common/clock.h"
#include "common/probe.h"
#include "common/supervise.h"

enum { MEETINGS = 200 };

// What the members leave in their common memory.
struct page {
    uint32_t came[MEETINGS + 1]; // to each meeting
    uint32_t early;              // how often one went on before all had come
    pid_t pids[PROBE_GROUP_MAX];
};

// --- In the probes -----------------------------------------------------------------------------------------

static enum gpu_status meet_often(struct page *page, unsigned members)
{
    for (unsigned i = 1; i <= MEETINGS; i++) {
        __atomic_add_fetch(&page->came[i], 1, __ATOMIC_SEQ_CST);
        enum gpu_status status = probe_meet(20);
        if (status) return status;
        if (__atomic_load_n(&page->came[i], __ATOMIC_SEQ_CST) != members)
            __atomic_add_fetch(&page->early, 1, __ATOMIC_SEQ_CST);
    }
    return GPU_OK;
}

// "meet3": three members meet. Else the name has a letter a member: (d)ies, (h)angs, (w)aits for the others, (l)eaves
// with a reason, (u)nsupported, comes (s)hortly and ends.
static enum gpu_status act(const char *name, struct probe_answer *answer)
{
    struct page *page = probe_shared();
    page->pids[probe_member()] = getpid();
    answer->count = 1;
    answer->values[0] = probe_member();
    if (!strcmp(name, "meet3")) return meet_often(page, 3);
    switch (name[probe_member()]) {
    case 'd': raise(SIGKILL); break;
    case 'h':
        for (;;) pause();
    case 'l': return gpu_reason(GPU_FAILED, "it had enough");
    case 'u': return gpu_reason(GPU_UNSUPPORTED, "it cannot");
    case 's': return GPU_OK;
    case 'w': return probe_meet(30);
    case 'i': return probe_meet(0.1);
    default: break;
    }
    return GPU_OK;
}

static const struct benchmark actor = {.name = "actor", .probe = act};

// --- The tests ---------------------------------------------------------------------------------------------

static struct probe_member members[PROBE_GROUP_MAX];
static struct page *page;

static enum gpu_status run(const char *name, unsigned count, double timeout_s)
{
    void *shared;
    enum gpu_status status = probe_run_group(name, NULL, count, timeout_s, &shared, sizeof *page, members);
    page = shared;
    return status;
}

// Nobody is left: neither to be reaped, nor alive.
static void assert_nobody_left(unsigned count)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    for (unsigned i = 0; i < count; i++)
        if (page->pids[i]) assert_int_equal(kill(page->pids[i], 0), -1);
}

static void test_they_meet_and_share(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        assert_int_equal(run("meet3", 3, 30), GPU_OK);
        for (unsigned i = 1; i <= MEETINGS; i++) assert_int_equal(page->came[i], 3); // zeroed before the second run
        assert_int_equal(page->early, 0);
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(members[i].status, GPU_OK);
            assert_int_equal(members[i].answer.count, 1);
            assert_true(members[i].answer.values[0] == i);
            assert_true(members[i].answer.entered_ticks > members[i].answer.asked_ticks);
        }
        assert_nobody_left(3);
    }
}

static void assert_fault(unsigned i, enum gpu_status status, const char *reason)
{
    assert_int_equal(members[i].status, status);
    assert_string_equal(members[i].reason, reason);
}

// The limit of time ends the one that hangs; the one that waits for it has long been told by the one that died.
static void test_one_dies_one_hangs(void **state)
{
    (void)state;
    uint64_t begin = clock_ticks();
    assert_int_equal(run("wdh", 3, 2), GPU_FAILED);
    assert_string_equal(gpu_error(), "probe wdh: the process died of SIGKILL");
    assert_true(clock_ns(clock_ticks() - begin) < 10e9);
    assert_fault(0, GPU_FAILED, "another process of the group has ended");
    assert_fault(1, GPU_FAILED, "probe wdh: the process died of SIGKILL");
    assert_fault(2, GPU_FAILED, "probe wdh: the process was killed after 2 s");
    assert_true(members[1].answer.crashed && !members[2].answer.crashed);
    assert_nobody_left(3);
}

// Whoever ends comes to no meeting any more, whatever the reason.
static void test_who_leaves_is_not_waited_for(void **state)
{
    (void)state;
    assert_int_equal(run("wl", 2, 30), GPU_FAILED);
    assert_string_equal(gpu_error(), "it had enough");
    assert_int_equal(run("uw", 2, 30), GPU_UNSUPPORTED);
    assert_string_equal(gpu_error(), "it cannot");
    assert_int_equal(run("sw", 2, 30), GPU_FAILED);
    assert_fault(0, GPU_OK, "");
    assert_fault(1, GPU_FAILED, "another process of the group has ended");
    assert_nobody_left(2);
}

static void test_a_meeting_has_a_limit(void **state)
{
    (void)state;
    assert_int_equal(run("ih", 2, 1), GPU_FAILED);
    assert_fault(0, GPU_FAILED, "the group did not meet within 0.1 s");
    assert_nobody_left(2);
}

int main(int argc, char **argv)
{
    struct child_order order = {.benchmark = "actor", .pu = -1};
    (void)argc;
    if (child_order_read(&order)) return probe_main(&actor, &order);
    clock_init();
    supervise_signals();
    probe_init(&order, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_they_meet_and_share),
        cmocka_unit_test(test_one_dies_one_hangs),
        cmocka_unit_test(test_who_leaves_is_not_waited_for),
        cmocka_unit_test(test_a_meeting_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
