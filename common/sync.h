// SPDX-License-Identifier: Apache-2.0
// Puts stamps of the device's clock on the host's time line, with a bound on the error.
//
// A burst of pings through mapped memory to a kernel that answers gives, for that moment, the two ends between which
// "device time minus host time" must lie, because nothing is stamped before its cause. Two bursts, at most 50 ms apart
// around a round, give a band for every moment between them: its middle is the estimate, half its width the bound.
#ifndef LIFTOFF_SYNC_H
#define LIFTOFF_SYNC_H

#include "backends/gpu.h"

// The band at one moment.
struct sync_point {
    double host_ns;   // the moment, on the host's clock
    double low, high; // device time minus host time, in ns
};

struct sync_window {
    struct sync_point begin, end;
};

enum { SYNC_WINDOW_MS = 50 };

// Once a process, before the first burst; measures the step of the device's clock.
enum gpu_status sync_open(void);
void sync_close(void);

// The band now. Takes about 200 µs; the device is idle before and after.
enum gpu_status sync_burst(struct sync_point *point);

// Where a stamp lies after a read of the host's clock, in ns; negative if before. Both within the window, or near it.
double sync_ns_after(const struct sync_window *window, uint64_t host_ticks, uint64_t device_ticks);

// How long after a stamp a read of the host's clock was, in ns.
double sync_ns_until(const struct sync_window *window, uint64_t device_ticks, uint64_t host_ticks);

// The largest error of either within the window: half the band's width where it is widest.
double sync_bound_ns(const struct sync_window *window);

// The step of the device's clock in ns, as sync_open measured it.
double sync_device_resolution_ns(void);

#endif
