// SPDX-License-Identifier: Apache-2.0
// Chooses the host's clock, calibrates it, and measures what reading it costs.
#include "common/clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { CALIBRATION_NS = 10000000, ANCHOR_TRIES = 64, READS = 4001 };

struct clock_state clock_state;

// One moment on both clocks.
struct anchor {
    uint64_t ticks, ns;
};

static struct anchor first_anchor;

#if defined(__x86_64__)
// rdtscp exists, and the counter neither changes its rate nor stops (/proc/cpuinfo: constant_tsc and nonstop_tsc).
static bool counter_invariant(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(d & 1u << 27)) return false;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

static double nominal_ns_per_tick(void) { return 0; }
#elif defined(__aarch64__)
static bool counter_invariant(void) { return true; } // the architecture asks for it

static double nominal_ns_per_tick(void)
{
    uint64_t hertz;
    __asm__("mrs %0, cntfrq_el0" : "=r"(hertz));
    return hertz ? 1e9 / (double)hertz : 0;
}
#else
static bool counter_invariant(void) { return false; }

static double nominal_ns_per_tick(void) { return 0; }
#endif

// An interrupt between the reads makes a bracket wide, so the tightest of many is kept.
static struct anchor anchor_take(void)
{
    struct anchor best = {0, 0};
    uint64_t width = UINT64_MAX;
    for (int i = 0; i < ANCHOR_TRIES; i++) {
        uint64_t before = clock_ticks(), ns = clock_gettime_ns(), after = clock_ticks();
        if (after - before >= width) continue;
        width = after - before;
        best = (struct anchor){before + width / 2, ns};
    }
    return best;
}

void clock_init(void)
{
    if (clock_state.ns_per_tick == 0) {
        const char *forced = getenv("LIFTOFF_CLOCK");
        clock_state.counter = !(forced && !strcmp(forced, "gettime")) && counter_invariant();
        clock_state.ns_per_tick = 1;
        if (!clock_state.counter) return;
        first_anchor = anchor_take();
    }
    if (!clock_state.counter) return;
    while (clock_gettime_ns() - first_anchor.ns < CALIBRATION_NS)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    struct anchor now = anchor_take();
    double measured = (double)(now.ns - first_anchor.ns) / (double)(now.ticks - first_anchor.ticks);
    double nominal = nominal_ns_per_tick();
    // The rate that the firmware states has no noise, but firmware has been wrong.
    bool agrees = nominal > 0 && fabs(measured / nominal - 1) < 1e-3;
    clock_state.ns_per_tick = agrees ? nominal : measured;
}

void clock_sleep_ns(double ns)
{
    struct timespec left = {(time_t)(ns / 1e9), (long)(ns - 1e9 * (double)(time_t)(ns / 1e9))};
    while (ns > 0 && nanosleep(&left, &left) && errno == EINTR) {
    }
}

const char *clock_source(void)
{
    if (!clock_state.counter) return "clock_gettime";
#if defined(__aarch64__)
    return "cntvct";
#else
    return "tsc";
#endif
}

static void read_differences(uint64_t differences[READS])
{
    uint64_t last = clock_ticks();
    for (int i = 0; i < READS; i++) {
        uint64_t now = clock_ticks();
        differences[i] = now - last;
        last = now;
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

double clock_cost_ns(void)
{
    uint64_t differences[READS];
    read_differences(differences);
    qsort(differences, READS, sizeof *differences, compare);
    return clock_ns(differences[READS / 2]);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Two reads of a counter are many steps apart, but every difference is a whole number of steps: the step is their
// greatest common divisor. clock_gettime rounds to nanoseconds, which leaves no divisor: there, the smallest one.
double clock_resolution_ns(void)
{
    uint64_t differences[READS], divisor = 0, smallest = UINT64_MAX;
    do {
        read_differences(differences);
        for (int i = 0; i < READS; i++) {
            if (!differences[i]) continue;
            divisor = common_divisor(differences[i], divisor);
            if (differences[i] < smallest) smallest = differences[i];
        }
    } while (!divisor);
    return clock_ns(clock_state.counter ? divisor : smallest);
}

void clock_spin_ns(double ns)
{
    uint64_t begin = clock_ticks();
    while (clock_ns(clock_ticks() - begin) < ns) clock_relax();
}

#if defined(__x86_64__)
#define CHAIN_OPERATION "xor %1, %0\n\t"
#define INDEPENDENT_OPERATIONS "add $1, %0\n\tadd $1, %1\n\tadd $1, %2\n\tadd $1, %3\n\t"
#elif defined(__aarch64__)
#define CHAIN_OPERATION "eor %0, %0, %1\n\t"
#define INDEPENDENT_OPERATIONS "add %0, %0, #1\n\tadd %1, %1, #1\n\tadd %2, %2, #1\n\tadd %3, %3, #1\n\t"
#endif

double clock_core_cycle_ns(void)
{
#ifdef CHAIN_OPERATION
    uint64_t value = 0, other = clock_ticks(), begin = clock_ticks();
    // Each waits for the one before it: a cycle each. Additions of a constant would not do: some cores do them while
    // renaming.
    for (int i = 0; i < 8; i++) __asm__ volatile(".rept 512\n\t" CHAIN_OPERATION ".endr" : "+r"(value) : "r"(other));
    return clock_ns(clock_ticks() - begin) / (8 * 512);
#else
    return NAN;
#endif
}

double clock_core_operation_ns(void)
{
#ifdef INDEPENDENT_OPERATIONS
    uint64_t a = 0, b = 0, c = 0, d = 0, begin = clock_ticks();
    for (int i = 0; i < 32; i++)
        __asm__ volatile(".rept 128\n\t" INDEPENDENT_OPERATIONS ".endr" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    return clock_ns(clock_ticks() - begin) / (32 * 128 * 4);
#else
    return NAN;
#endif
}
