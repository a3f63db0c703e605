// SPDX-License-Identifier: Apache-2.0
// Both ends of a probe. See probe.h.
#include "common/probe.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/bench.h"
#include "common/clock.h"
#include "common/pin.h"
#include "common/supervise.h"

static struct {
    struct child_order order;
    char **argv;
} probes;

void probe_init(const struct child_order *order, char **argv)
{
    probes.order = *order;
    probes.argv = argv;
}

static bool hear(void *context, const struct wire_header *header, const char *payload, int to_child)
{
    (void)to_child;
    struct probe_answer *answer = context;
    if (header->type != WIRE_PROBE || header->bytes != sizeof *answer) return false;
    memcpy(answer, payload, sizeof *answer);
    return answer->count <= PROBE_VALUES_MAX;
}

static struct child_order order_of(const char *name, const char *const *environment)
{
    struct child_order order = probes.order;
    snprintf(order.probe, sizeof order.probe, "%s", name);
    order.environment = environment;
    order.pu = pin_current();
    order.clock = clock_state;
    order.asked_ticks = clock_ticks();
    return order;
}

static enum gpu_status judge(const char *name, enum child_outcome outcome, const char *why, struct probe_answer *answer)
{
    if (outcome == CHILD_DONE && answer->entered_ticks) return GPU_OK;
    answer->crashed = outcome == CHILD_CRASHED;
    if (outcome == CHILD_UNSUPPORTED) return gpu_reason(GPU_UNSUPPORTED, "%s", why);
    if (outcome == CHILD_REFUSED) return gpu_reason(GPU_FAILED, "%s", why);
    if (outcome == CHILD_DONE || outcome == CHILD_ABANDONED) why = "the process broke the protocol";
    return gpu_reason(GPU_FAILED, "probe %s: %s", name, why);
}

enum gpu_status probe_run(const char *name, const char *const *environment, double timeout_s,
                          struct probe_answer *answer)
{
    char reason[256] = "";
    struct child_order order = order_of(name, environment);
    *answer = (struct probe_answer){0};
    enum child_outcome outcome = supervise(&order, probes.argv, timeout_s, hear, NULL, answer, reason);
    return judge(name, outcome, reason, answer);
}

// --- Groups ------------------------------------------------------------------------------------------------

// Stands before what the members share.
struct meeting {
    uint32_t arrived; // so many times a member has come to a meeting
    char pad[60];
    uint32_t gone; // members that have ended
    char pad_too[60];
};
static const char LEFT_ALONE[] = "another process of the group has ended";

static struct {
    int fd;
    size_t bytes;
    struct meeting *meeting; // what is shared lies behind it
    unsigned member, members, meetings;
} group;

static enum gpu_status map_shared(int fd, size_t bytes)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) return gpu_reason(GPU_FAILED, "no shared memory: %s", strerror(errno));
    group.fd = fd;
    group.bytes = bytes;
    group.meeting = mapped;
    return GPU_OK;
}

// Fresh memory a run: a process that was killed and does not end may still write to the last one's.
static enum gpu_status make_shared(size_t bytes)
{
    if (group.meeting) {
        munmap(group.meeting, group.bytes);
        close(group.fd);
        group.meeting = NULL;
    }
    int fd = memfd_create("liftoff", MFD_CLOEXEC);
    if (fd < 0) return gpu_reason(GPU_FAILED, "no shared memory: %s", strerror(errno));
    enum gpu_status status =
        ftruncate(fd, (off_t)bytes) ? gpu_reason(GPU_FAILED, "no shared memory: %s", strerror(errno)) : GPU_OK;
    if (!status) status = map_shared(fd, bytes);
    if (status) close(fd);
    return status;
}

// Of the members' faults the first that is no other's consequence.
static enum gpu_status judge_all(const struct probe_member *members, unsigned count)
{
    const struct probe_member *worst = NULL;
    for (unsigned i = 0; i < count; i++) {
        const struct probe_member *member = &members[i];
        if (!member->status) continue;
        if (!worst || (!strcmp(worst->reason, LEFT_ALONE) && strcmp(member->reason, LEFT_ALONE))) worst = member;
    }
    return worst ? gpu_reason(worst->status, "%s", worst->reason) : GPU_OK;
}

enum gpu_status probe_run_group(const char *name, const char *const *environment, unsigned count, double timeout_s,
                                void **shared, size_t shared_bytes, struct probe_member *members)
{
    static struct supervised children[PROBE_GROUP_MAX];
    _Static_assert((int)PROBE_GROUP_MAX <= (int)SUPERVISE_MAX, "all can be heard");
    enum gpu_status status = make_shared(sizeof *group.meeting + shared_bytes);
    if (status) return status;
    *shared = group.meeting + 1;
    for (unsigned i = 0; i < count; i++) {
        members[i] = (struct probe_member){0};
        children[i] = (struct supervised){.order = order_of(name, environment), .context = &members[i].answer};
        children[i].order.member = i;
        children[i].order.members = count;
        children[i].order.shared = group.fd;
    }
    supervise_group(children, count, probes.argv, timeout_s, hear, NULL, &group.meeting->gone);
    for (unsigned i = 0; i < count; i++) {
        members[i].status = judge(name, children[i].outcome, children[i].reason, &members[i].answer);
        if (members[i].status) snprintf(members[i].reason, sizeof members[i].reason, "%s", gpu_error());
    }
    return judge_all(members, count);
}

unsigned probe_member(void) { return group.member; }

void *probe_shared(void) { return group.meeting + 1; }

enum gpu_status probe_meet(double timeout_s)
{
    enum { POLLS = 256 };
    const double AWAKE_NS = 2e6;
    const uint32_t all = ++group.meetings * group.members;
    uint64_t begin = clock_ticks();
    __atomic_add_fetch(&group.meeting->arrived, 1, __ATOMIC_ACQ_REL);
    for (unsigned polls = 1;; polls++) {
        // In this order: one that has ended may have come here before.
        uint32_t gone = __atomic_load_n(&group.meeting->gone, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&group.meeting->arrived, __ATOMIC_ACQUIRE) >= all) return GPU_OK;
        if (gone) return gpu_reason(GPU_FAILED, "%s", LEFT_ALONE);
        if (polls % POLLS) {
            clock_relax();
            continue;
        }
        double waited_ns = clock_ns(clock_ticks() - begin);
        if (waited_ns > timeout_s * 1e9) return gpu_reason(GPU_FAILED, "the group did not meet within %g s", timeout_s);
        // Whoever waits long is to take no core from those that are at work.
        if (waited_ns < AWAKE_NS) sched_yield();
        else nanosleep(&(struct timespec){0, 50000}, NULL);
    }
}

// Before the probe itself: takes its place in the group, on a core that is not the first member's.
static enum gpu_status join(const struct child_order *order)
{
    struct stat file;
    if (!order->members) return GPU_OK;
    group.member = order->member;
    group.members = order->members;
    if (order->member && order->pu >= 0) pin_worker(order->member - 1, order->pu);
    if (fstat(order->shared, &file)) return gpu_reason(GPU_FAILED, "no shared memory: %s", strerror(errno));
    return map_shared(order->shared, (size_t)file.st_size);
}

// --- In the probe's process --------------------------------------------------------------------------------

static int to_parent;

bool probe_say(const struct probe_answer *answer)
{
    return wire_send(to_parent, WIRE_PROBE, 0, answer, sizeof *answer);
}

int probe_main(const struct benchmark *benchmark, const struct child_order *order)
{
    struct probe_answer answer = {
        .asked_ticks = order->asked_ticks, .entered_ticks = order->entered_ticks, .device = order->device};
    to_parent = order->to_parent;
    enum gpu_status status = order->pu < 0 || pin_pu(order->pu)
                                 ? join(order)
                                 : gpu_reason(GPU_FAILED, "the thread cannot be bound to PU %d", order->pu);
    if (!status) status = benchmark->probe(order->probe, &answer);
    const char *reason = gpu_error();
    if (status) return wire_send_texts(order->to_parent, WIRE_FATAL, status, &reason, 1) ? 0 : 1;
    bool sent = probe_say(&answer) && wire_send(order->to_parent, WIRE_END, 0, NULL, 0);
    return sent ? 0 : 1;
}
