// SPDX-License-Identifier: Apache-2.0
// The parts of one stamping launch. See parts.h.
#include "common/parts.h"

#include <math.h>

#include "common/bench.h"

enum { ERROR_CHAIN = 200 };

enum gpu_status parts_open(struct parts *parts, struct chain *chain)
{
    double stamped_ns, empty_ns;
    parts->clock_error_ns = clock_cost_ns();
    enum gpu_status status = chain_elapsed(chain, CHAIN_STAMPS, ERROR_CHAIN, &stamped_ns);
    if (!status) status = chain_elapsed(chain, CHAIN_EMPTIES, ERROR_CHAIN, &empty_ns);
    if (status) return status;
    parts->stamp_error_ns = fmax((stamped_ns - empty_ns) / ERROR_CHAIN, 0);
    return stamp_launch_open(&parts->stamps, chain->stream, PARTS_ROOM);
}

void parts_close(struct parts *parts) { stamp_launch_close(&parts->stamps); }

enum gpu_status parts_begin(struct parts *parts)
{
    _Static_assert(PARTS_ROOM >= BENCH_ROUND_SAMPLES_MAX + BENCH_LEAD, "a round has room");
    stamp_launch_reset(&parts->stamps);
    return sync_burst(&parts->window.begin);
}

enum gpu_status parts_end(struct parts *parts, enum gpu_status status)
{
    if (!status) status = sync_burst(&parts->window.end);
    return status ? status : stamp_launch_read(&parts->stamps);
}

double parts_launch_latency(const struct parts *parts, unsigned i)
{
    return sync_ns_after(&parts->window, parts->reads[i].called, parts->stamps.stamp[i].begin_ticks);
}

double parts_submit_to_start(const struct parts *parts, unsigned i)
{
    return sync_ns_after(&parts->window, parts->reads[i].returned, parts->stamps.stamp[i].begin_ticks);
}

double parts_duration(const struct parts *parts, unsigned i)
{
    const struct stamp *stamp = &parts->stamps.stamp[i];
    return (double)(stamp->end_ticks - stamp->begin_ticks) * gpu_clock_ns_per_tick();
}

double parts_completion_latency(const struct parts *parts, unsigned i)
{
    return sync_ns_until(&parts->window, parts->stamps.stamp[i].end_ticks, parts->reads[i].known);
}

double parts_submit(const struct parts *parts, unsigned i)
{
    return clock_ns(parts->reads[i].returned - parts->reads[i].called);
}

double parts_round_trip(const struct parts *parts, unsigned i)
{
    return clock_ns(parts->reads[i].known - parts->reads[i].called);
}

double parts_bound_ns(const struct parts *parts) { return sync_bound_ns(&parts->window) + parts->stamp_error_ns; }
