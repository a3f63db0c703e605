// SPDX-License-Identifier: Apache-2.0
// What a process is told when it is started as a measuring child or as a probe, through one environment variable.
#ifndef LIFTOFF_CHILD_ORDER_H
#define LIFTOFF_CHILD_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"

// What the parent asks of a child; it travels in one environment variable.
struct child_order {
    char benchmark[64];  // "" asks for facts only
    char moment[16];     // with "": "start" tells all facts, "end" only the changing ones
    char pci_bus_id[32]; // "" if unknown
    unsigned device, process, processes;
    int to_parent, from_parent; // file descriptors

    int pu; // where its parent's thread is bound, or found that it can be; −1 if nowhere

    // Of a probe (probe.h), a measuring process's own child; the rest is as its parent's.
    char probe[64];                      // "" if it is none
    struct clock_state clock;            // the parent's, so that both count the same ticks at once
    uint64_t asked_ticks, entered_ticks; // before it was asked for; when child_order_read was called
    unsigned member, members;            // which of how many that run at once, from 0; members 0: it is alone
    int shared;                          // file descriptor of the members' common memory, if there are members
    const char *const *environment;      // "VARIABLE=value" each, ended by NULL; or NULL. Does not travel in the text
};

#define CHILD_VARIABLE "LIFTOFF_CHILD"

// Writes ORDER as the variable's value. TEXT holds at least CHILD_ORDER_BYTES.
enum { CHILD_ORDER_BYTES = 512 };
void child_order_write(const struct child_order *order, char *text);

// True if this process is a child: *ORDER is filled from the environment and the variable removed from it.
bool child_order_read(struct child_order *order);

#endif
