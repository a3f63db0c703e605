// SPDX-License-Identifier: Apache-2.0
// The host's clock: the invariant time-stamp counter where there is one, else clock_gettime. Reading it costs and it
// has a resolution; both are measured and published, never subtracted.
#ifndef LIFTOFF_CLOCK_H
#define LIFTOFF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct clock_state {
    bool counter;       // reads the CPU's counter, not clock_gettime
    double ns_per_tick; // calibrated against CLOCK_MONOTONIC_RAW
};
extern struct clock_state clock_state;

// Chooses the source and calibrates it (about 10 ms). Before it, ticks have no length. Again at will: it refines.
void clock_init(void);

// "tsc", "cntvct" or "clock_gettime".
const char *clock_source(void);

// What two reads in a row are apart: the median of many (its cost), and the smallest step above zero.
double clock_cost_ns(void);
double clock_resolution_ns(void);

static inline uint64_t clock_gettime_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Ticks since some moment. No instruction before the read is still to run, except that stores may still be on their way
// to where others see them; none after it has begun.
static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
    if (clock_state.counter) {
        unsigned cpu;
        uint64_t ticks = __rdtscp(&cpu);
        _mm_lfence();
        return ticks;
    }
#elif defined(__aarch64__)
    if (clock_state.counter) {
        uint64_t ticks;
        __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks)::"memory");
        return ticks;
    }
#endif
    return clock_gettime_ns();
}

// Returns when the stores before it can be seen by everybody, devices included.
static inline void clock_wait_stores(void)
{
#if defined(__x86_64__)
    _mm_mfence();
#elif defined(__aarch64__)
    __asm__ volatile("dsb sy" ::: "memory");
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static inline double clock_ns(uint64_t ticks) { return (double)ticks * clock_state.ns_per_tick; }

// Tells the core that this thread polls.
static inline void clock_relax(void)
{
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// Sleeps for so long, whatever signals come meanwhile.
void clock_sleep_ns(double ns);

// How long one cycle of the calling thread's core is now, from a chain of dependent operations; NAN where it cannot be
// told. It shows what the core's real clock does beneath a counter that runs evenly. Takes about 2 µs.
double clock_core_cycle_ns(void);

// How long one of many independent additions takes now; NAN where it cannot be told. It doubles when the core is
// shared: with a sibling thread of this machine, or of a neighbour that only the hypervisor sees.
double clock_core_operation_ns(void);

// Returns after NS nanoseconds, awake all the while.
void clock_spin_ns(double ns);

#ifdef __cplusplus
}
#endif
#endif
