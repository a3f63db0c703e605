// SPDX-License-Identifier: Apache-2.0
// Parses LIFTOFF_HOST_INJECT and does the host's share of it.
#include "backends/host/inject.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "common/clock.h"

// The launches FIRST … LAST; none if FIRST is 0.
struct range {
    uint64_t first, last;
};

struct inject inject;

static uint64_t launch_ns, gap_ns, complete_ns, byte_ps, live_ps, block_ns, refuse_ns, ask_ns, first_ns, open_ns,
    fence_ns, command_ns, ioctls, no_cache;
static struct range launch_error, alloc_error, hang, crash, wrong_count;
static uint64_t launch_ticks, first_ticks, launches, allocations, freed;
static uint64_t own_ticks; // what a spin takes beyond the wait: a read of the clock
static bool any_fault;
static const void *kernels[256]; // launched before, for first_ns
static unsigned kernels_seen;

static const struct {
    const char *name;
    uint64_t *delay_ns;
    struct range *range;
} table[] = {
    {"launch_ns", &launch_ns, NULL},
    {"gap_ns", &gap_ns, NULL},
    {"complete_ns", &complete_ns, NULL},
    {"hang", NULL, &hang},
    {"crash", NULL, &crash},
    {"launch_error", NULL, &launch_error},
    {"alloc_error", NULL, &alloc_error},
    {"wrong_count", NULL, &wrong_count},
    {"byte_ps", &byte_ps, NULL},
    {"live_ps", &live_ps, NULL},
    {"block_ns", &block_ns, NULL},
    {"refuse_ns", &refuse_ns, NULL},
    {"ask_ns", &ask_ns, NULL},
    {"ioctls", &ioctls, NULL},
    {"first_ns", &first_ns, NULL},
    {"open_ns", &open_ns, NULL},
    {"fence_ns", &fence_ns, NULL},
    {"command_ns", &command_ns, NULL},
    {"no_cache", &no_cache, NULL},
};
enum { TABLE_ROWS = sizeof table / sizeof table[0], DELAY_NS_MAX = 1000000000 };

const char *gpu_injection(void)
{
    const char *text = getenv("LIFTOFF_HOST_INJECT");
    return text && *text ? text : NULL;
}

// Digits alone: strtoull would also take signs and spaces. *REST is what follows them.
static bool parse_number(const char *text, const char **rest, uint64_t *number)
{
    size_t digits = strspn(text, "0123456789");
    *rest = text + digits;
    *number = strtoull(text, NULL, 10);
    return digits > 0 && digits < 19;
}

static enum gpu_status malformed(const char *item, const char *why)
{
    return gpu_reason(GPU_FAILED, "LIFTOFF_HOST_INJECT: '%s' %s", item, why);
}

static enum gpu_status parse_item(const char *item)
{
    size_t row = 0, length = strcspn(item, "=");
    while (row < TABLE_ROWS && (strncmp(table[row].name, item, length) || table[row].name[length])) row++;
    if (row == TABLE_ROWS || !item[length])
        return malformed(
            item,
            "is none of launch_ns=N, gap_ns=N, complete_ns=N, byte_ps=N, live_ps=N, block_ns=N, "
            "refuse_ns=N, ask_ns=N, first_ns=N, open_ns=N, fence_ns=N, command_ns=N, ioctls=N, no_cache=1, hang=K, "
            "crash=K, launch_error=K, alloc_error=K, wrong_count=K");
    uint64_t number;
    const char *rest;
    bool good = parse_number(item + length + 1, &rest, &number);
    if (table[row].delay_ns) {
        if (!good || *rest || number > DELAY_NS_MAX)
            return malformed(item, "names no nanoseconds from 0 to 1000000000");
        *table[row].delay_ns = number;
        return GPU_OK;
    }
    bool onwards = !strcmp(rest, "-");
    if (!good || number == 0 || (*rest && !onwards))
        return malformed(item, "names no launch (from 1; with '-' behind it, that and all after)");
    *table[row].range = (struct range){number, onwards ? UINT64_MAX : number};
    return GPU_OK;
}

static uint64_t ticks_of(uint64_t ns) { return (uint64_t)((double)ns / clock_state.ns_per_tick) + (ns > 0); }

enum gpu_status inject_read(void)
{
    for (size_t row = 0; row < TABLE_ROWS; row++) {
        if (table[row].delay_ns) *table[row].delay_ns = 0;
        else *table[row].range = (struct range){0, 0};
    }
    inject = (struct inject){0};
    launches = allocations = freed = 0;
    kernels_seen = 0;
    const char *text = gpu_injection();
    if (!text) return GPU_OK;

    for (const char *item = text;; item++) {
        char copy[64] = "";
        size_t length = strcspn(item, ",");
        strncat(copy, item, length < sizeof copy ? length : sizeof copy - 1);
        enum gpu_status status = parse_item(copy);
        if (status) return status;
        item += length;
        if (!*item) break;
    }
    own_ticks = (uint64_t)(clock_cost_ns() / clock_state.ns_per_tick);
    launch_ticks = ticks_of(launch_ns);
    first_ticks = ticks_of(first_ns);
    any_fault = launch_error.first || hang.first || crash.first || wrong_count.first;
    inject = (struct inject){.active = true,
                             .no_cache = no_cache > 0,
                             .gap_ticks = ticks_of(gap_ns),
                             .complete_ticks = ticks_of(complete_ns),
                             .block_ticks = ticks_of(block_ns),
                             .refuse_ticks = ticks_of(refuse_ns),
                             .ask_ticks = ticks_of(ask_ns),
                             .open_ticks = ticks_of(open_ns),
                             .fence_ticks = ticks_of(fence_ns),
                             .command_ticks = ticks_of(command_ns)};
    return GPU_OK;
}

static bool within(struct range range, uint64_t launch) { return launch >= range.first && launch <= range.last; }

static bool is_first(const void *kernel)
{
    for (unsigned i = 0; i < kernels_seen; i++)
        if (kernels[i] == kernel) return false;
    if (kernels_seen < sizeof kernels / sizeof *kernels) kernels[kernels_seen++] = kernel;
    return true;
}

enum gpu_status inject_launch(const void *kernel, size_t argument_bytes, uint32_t *fault)
{
    if (first_ticks && is_first(kernel)) inject_spin(first_ticks);
    inject_spin(launch_ticks + ticks_of((argument_bytes * byte_ps + (allocations - freed) * live_ps) / 1000));
    for (uint64_t i = 0; i < ioctls; i++) ioctl(-1, 0);
    if (!any_fault) return GPU_OK; // counting drains the store buffer, which would add to the delay
    uint64_t launch = __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
    if (within(launch_error, launch)) return gpu_reason(GPU_FAILED, "injected launch error");
    if (within(hang, launch)) *fault = FAULT_HANG;
    else if (within(crash, launch)) *fault = FAULT_CRASH;
    else if (within(wrong_count, launch)) *fault = FAULT_SKIP;
    return GPU_OK;
}

enum gpu_status inject_allocation(void)
{
    return within(alloc_error, ++allocations) ? gpu_reason(GPU_FAILED, "injected allocation error") : GPU_OK;
}

void inject_freed(void) { freed++; }

// A spin ends up to a read too late; the next one ends so much sooner, so that many are right on average.
void inject_spin(uint64_t ticks)
{
    static _Thread_local uint64_t late;
    uint64_t begin = clock_ticks(), elapsed;
    do elapsed = clock_ticks() - begin + own_ticks + late; // a pause would add its own length
    while (elapsed < ticks);
    late = elapsed - ticks < own_ticks ? elapsed - ticks : 0; // more than a read was not the spin's doing
}
