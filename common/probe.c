// SPDX-License-Identifier: Apache-2.0
// Both ends of a probe. See probe.h.
#include "common/probe.h"

#include <stdio.h>
#include <string.h>

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

enum gpu_status probe_run(const char *name, const char *const *environment, double timeout_s,
                          struct probe_answer *answer)
{
    char reason[256] = "";
    struct child_order order = probes.order;
    snprintf(order.probe, sizeof order.probe, "%s", name);
    order.environment = environment;
    order.pu = pin_current();
    order.clock = clock_state;
    order.asked_ticks = clock_ticks();
    *answer = (struct probe_answer){0};
    enum child_outcome outcome = supervise(&order, probes.argv, timeout_s, hear, NULL, answer, reason);
    if (outcome == CHILD_DONE && answer->entered_ticks) return GPU_OK;
    answer->crashed = outcome == CHILD_CRASHED;
    if (outcome == CHILD_UNSUPPORTED) return gpu_reason(GPU_UNSUPPORTED, "%s", reason);
    if (outcome == CHILD_REFUSED) return gpu_reason(GPU_FAILED, "%s", reason);
    if (outcome == CHILD_DONE || outcome == CHILD_ABANDONED)
        snprintf(reason, sizeof reason, "the process broke the protocol");
    return gpu_reason(GPU_FAILED, "probe %s: %s", name, reason);
}

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
    struct pin_place place;
    char pu[16];
    snprintf(pu, sizeof pu, "%d", order->pu);
    const char *unpinned = order->pu < 0 ? NULL : pin_thread(pu, NULL, &place);
    enum gpu_status status =
        unpinned ? gpu_reason(GPU_FAILED, "%s", unpinned) : benchmark->probe(order->probe, &answer);
    const char *reason = gpu_error();
    if (status) return wire_send_texts(order->to_parent, WIRE_FATAL, status, &reason, 1) ? 0 : 1;
    bool sent = probe_say(&answer) && wire_send(order->to_parent, WIRE_END, 0, NULL, 0);
    return sent ? 0 : 1;
}
