// SPDX-License-Identifier: Apache-2.0
// Orders as text. See child_order.h.
#include "common/child_order.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void child_order_write(const struct child_order *order, char *text)
{
    snprintf(text, CHILD_ORDER_BYTES, "%s,%s,%s,%s,%u,%u,%u,%d,%d,%d,%u,%u,%d,%d,%a,%" PRIu64, order->benchmark,
             order->moment, order->pci_bus_id, order->probe, order->device, order->process, order->processes,
             order->to_parent, order->from_parent, order->pu, order->member, order->members, order->shared,
             order->clock.counter, order->clock.ns_per_tick, order->asked_ticks);
}

// strsep keeps empty fields, sscanf does not.
static bool next_field(char **rest, char *field, size_t bytes)
{
    const char *text = strsep(rest, ",");
    return text && snprintf(field, bytes, "%s", text) < (int)bytes;
}

bool child_order_read(struct child_order *order)
{
    const char *value = getenv(CHILD_VARIABLE);
    if (!value) return false;
    char text[CHILD_ORDER_BYTES], *rest = text;
    int counter;
    snprintf(text, sizeof text, "%s", value);
    unsetenv(CHILD_VARIABLE);
    bool whole =
        next_field(&rest, order->benchmark, sizeof order->benchmark) &&
        next_field(&rest, order->moment, sizeof order->moment) &&
        next_field(&rest, order->pci_bus_id, sizeof order->pci_bus_id) &&
        next_field(&rest, order->probe, sizeof order->probe) && rest &&
        sscanf(rest, "%u,%u,%u,%d,%d,%d,%u,%u,%d,%d,%la,%" SCNu64, &order->device, &order->process, &order->processes,
               &order->to_parent, &order->from_parent, &order->pu, &order->member, &order->members, &order->shared,
               &counter, &order->clock.ns_per_tick, &order->asked_ticks) == 12;
    if (!whole) return false;
    if (order->probe[0]) {
        order->clock.counter = counter;
        clock_state = order->clock;
        order->entered_ticks = clock_ticks();
    }
    fcntl(order->to_parent, F_SETFD, FD_CLOEXEC); // private: nothing that this process starts is to hold them open
    fcntl(order->from_parent, F_SETFD, FD_CLOEXEC);
    if (order->members) fcntl(order->shared, F_SETFD, FD_CLOEXEC);
    return true;
}
