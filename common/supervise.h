// SPDX-License-Identifier: Apache-2.0
// Runs one measuring child: starts it, hears it, watches the clock, and leaves nothing of it behind.
#ifndef LIFTOFF_SUPERVISE_H
#define LIFTOFF_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/child_order.h"
#include "common/wire.h"

enum child_outcome {
    CHILD_DONE,        // it told all and ended
    CHILD_DIED,        // ended before it had told all
    CHILD_CRASHED,     // a signal ended it before it had told all
    CHILD_TIMEOUT,     // killed for taking longer than it may
    CHILD_REFUSED,     // it said itself why it cannot go on
    CHILD_UNSUPPORTED, // likewise, because this device or toolkit cannot
    CHILD_INTERRUPTED, // this process was told to stop; the child was killed
    CHILD_ABANDONED,   // the listener wanted no more; the child was killed
    CHILD_STUCK,       // killed, but the system cannot take it back: the device must not be used again
};

// Takes a message; answers the child on TO_CHILD where the protocol wants it. False: abandon the child.
typedef bool child_listener(void *context, const struct wire_header *header, const char *payload, int to_child);

// Called about five times a second while the child runs, for progress and for data that must reach the disk.
typedef void child_ticker(void *context);

// SIGINT and SIGTERM are noted from now on, SIGPIPE and SIGXFSZ are ignored. The signal that came, or 0.
void supervise_signals(void);
int supervise_signal(void);

// Runs ORDER in a new process of this binary with the command line ARGV, for at most TIMEOUT_S seconds. REASON (256
// bytes) says what happened where the outcome is not CHILD_DONE.
enum child_outcome supervise(const struct child_order *order, char **argv, double timeout_s, child_listener *listen,
                             child_ticker *tick, void *context, char *reason);

// One of several children that run at the same time.
struct supervised {
    struct child_order order;
    void *context; // for the listener
    enum child_outcome outcome;
    char reason[256];
};

// Runs COUNT (1 … SUPERVISE_MAX) orders at once, as supervise does: one that dies or tells nonsense takes no other with
// it, and when this returns all have ended. *GONE (or NULL) counts those that have ended or told all, at once. The
// ticker gets the first one's context.
enum { SUPERVISE_MAX = 8 };
void supervise_group(struct supervised *children, unsigned count, char **argv, double timeout_s, child_listener *listen,
                     child_ticker *tick, uint32_t *gone);

#endif
