// SPDX-License-Identifier: Apache-2.0
// What a kernel finds of what the one before it left: in caches, by the cycles of loads that depend on each other, and
// (survival.h) in shared and device memory.
#include <stdio.h>
#include <stdlib.h>

#include "common/reload.h"
#include "common/survival.h"

enum { SAMPLES = 8, FROM_LOG2 = 11, PAGES_FROM = 32, CASES_MAX = 160 };

static const char *const way_names[RELOAD_WAYS] = {"first_pass",   "second_pass", "next_launch", "after_sweep",
                                                   "other_kernel", "graph",       "dependent",   "idle"};

static struct reload reloads[CASES_MAX];
static unsigned reload_count;

// reload: of a chase of loads, each of which needs the one before: the multiprocessor's cycle count, from before the
// first to when the last has arrived, less what the timing takes beside them, over their number.
static enum gpu_status measure_reload(struct bench_case *c, unsigned samples, double *values)
{
    const struct reload *reload = &reloads[(int)c->argument];
    enum gpu_status status = reload_prepare(reload);
    for (unsigned i = 0; i < samples && !status; i++)
        status = reload_measure(reload, &values[i], &c->error_bound[0], c->detail);
    return status;
}

static void add(struct bench_plan *plan, enum reload_memory memory, enum reload_way way, uint64_t bytes)
{
    const struct reload reload = {memory, way, bytes};
    struct bench_case c = {.variant = way_names[way],
                           .axis = "working_set_bytes",
                           .axis_value = (double)bytes,
                           .samples = SAMPLES,
                           .budget_share = 0.05,
                           .argument = reload_count,
                           .sleeps = way == RELOAD_IDLE,
                           .measure = measure_reload,
                           .outputs = {{"reload", "cycles", "lower", .resolution = 1.0 / reload_loads(&reload)}}};
    if (reload_count == CASES_MAX) abort();
    reloads[reload_count++] = reload;
    snprintf(c.params, sizeof c.params, "block_threads=%d;blocks=multiprocessors;line_bytes=%zu;memory=%s",
             RELOAD_THREADS, reload_line_bytes(memory), reload_memory_name(memory));
    bench_add(plan, &c);
}

static void add_global(struct bench_plan *plan, unsigned to_log2, bool quick)
{
    for (unsigned log2 = FROM_LOG2; log2 <= to_log2; log2++) {
        const bool some = log2 == 14 || log2 == 17 || log2 == 20 || log2 == to_log2;
        if (quick && !(some && log2 != 17)) continue;
        add(plan, RELOAD_GLOBAL, RELOAD_SECOND_PASS, 1ul << log2);
        add(plan, RELOAD_GLOBAL, RELOAD_NEXT_LAUNCH, 1ul << log2);
        if (log2 == 14 || !quick) add(plan, RELOAD_GLOBAL, RELOAD_AFTER_SWEEP, 1ul << log2);
        for (enum reload_way way = RELOAD_OTHER_KERNEL; way <= RELOAD_IDLE && some && !quick; way++)
            add(plan, RELOAD_GLOBAL, way, 1ul << log2);
    }
}

static void add_others(struct bench_plan *plan, bool quick)
{
    for (unsigned i = 0; i < RELOAD_CONSTANT_CYCLES; i++)
        for (enum reload_way way = RELOAD_SECOND_PASS; way <= RELOAD_OTHER_KERNEL; way++)
            if (way != RELOAD_AFTER_SWEEP && (!quick || (i == 3 && way < RELOAD_AFTER_SWEEP)))
                add(plan, RELOAD_CONSTANT, way, (uint64_t)RELOAD_CONSTANT_BYTES_MIN << i);
    if (quick) return;
    for (unsigned i = 2; i < RELOAD_CONSTANT_CYCLES; i += 2)
        for (enum reload_way way = RELOAD_SECOND_PASS; way <= RELOAD_NEXT_LAUNCH; way++)
            add(plan, RELOAD_CONSTANT_LONG, way, (uint64_t)RELOAD_CONSTANT_BYTES_MIN << i);
    for (enum reload_way way = RELOAD_FIRST_PASS; way <= RELOAD_SECOND_PASS; way++)
        add(plan, RELOAD_PARAMETERS, way, RELOAD_PARAMETER_LINES * RELOAD_INDEXED_LINE_BYTES);
    for (unsigned log2 = 14; log2 <= 17; log2 += 3)
        for (enum reload_way way = RELOAD_SECOND_PASS; way <= RELOAD_NEXT_LAUNCH; way++)
            add(plan, RELOAD_READ_ONLY, way, 1ul << log2);
    for (uint64_t count = PAGES_FROM; count <= RELOAD_PAGES_MAX; count *= 4)
        for (enum reload_way way = RELOAD_NEXT_LAUNCH; way <= RELOAD_AFTER_SWEEP; way++)
            add(plan, RELOAD_PAGES, way, count * gpu_page_bytes());
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    unsigned to_log2 = 19;
    while (2ul << to_log2 <= 4 * gpu_cache_bytes()) to_log2++;
    enum gpu_status status = reload_open(1ul << to_log2);
    if (status) return status;
    add_global(plan, to_log2, quick);
    add_others(plan, quick);
    return survival_add(plan, quick);
}

static void teardown(void)
{
    survival_close();
    reload_close();
}

const struct benchmark cache_loss_benchmark = {
    .name = "cache_loss",
    .summary = "what a kernel finds of what the one before it left: in caches, shared memory and device memory",
    .source = "claims C12, C13, C14",
    .seconds = 11,
    .quick_seconds = 1.3,
    .setup = setup,
    .teardown = teardown,
    .probe = survival_probe,
};
