// SPDX-License-Identifier: Apache-2.0
// Fills a stream behind a closed gate while a second thread watches. See queue.h.
#include "common/queue.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "common/pin.h"

// A call blocks if it has not returned while its thread ran for BLOCKED_NS: one that was switched off its core does not
// look so. A vendor whose calls sleep lets no thread run; then BLOCKED_WALL_NS decide, unless it was switched off.
static const double BLOCKED_NS = 3e6, BLOCKED_WALL_NS = 20e6;
enum { LOOK_NS = 100000, ATTEMPTS = 3, BALLS = 32 };

struct watch {
    struct chain *chain;
    int submitter_pu;
    clockid_t submitter_clock; // the time that the submitting thread has run
    uint32_t returned, done;   // written by it
    bool switched_off;

    uint32_t ball; // odd: thrown to the watcher; even: thrown back, ball_ticks having been read
    uint64_t ball_ticks;

    uint32_t opened; // written by the watcher, as what follows, before it
    uint32_t depth;
    bool ran; // the submitting thread did, while no call returned
    uint64_t opened_ticks;
};

// --- The clocks of the two threads -------------------------------------------------------------------------

static void throw_back(struct watch *watch)
{
    for (uint32_t i = 1; i <= BALLS; i++) {
        while (__atomic_load_n(&watch->ball, __ATOMIC_ACQUIRE) != 2 * i - 1) clock_relax();
        watch->ball_ticks = clock_ticks();
        __atomic_store_n(&watch->ball, 2 * i, __ATOMIC_RELEASE);
    }
}

// The submitter's clock less the watcher's lies between two ends, because no ball is caught before it is thrown. A
// clock of coarse steps does not see how long a ball flies.
static double clocks_apart_ns(struct watch *watch)
{
    int64_t low = INT64_MIN, high = INT64_MAX;
    for (uint32_t i = 1; i <= BALLS; i++) {
        uint64_t thrown = clock_ticks();
        __atomic_store_n(&watch->ball, 2 * i - 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&watch->ball, __ATOMIC_ACQUIRE) != 2 * i) clock_relax();
        int64_t after = (int64_t)(clock_ticks() - watch->ball_ticks), before = (int64_t)(thrown - watch->ball_ticks);
        if (before > low) low = before;
        if (after < high) high = after;
    }
    return clock_ns((uint64_t)(-low > high ? -low : high)) + clock_resolution_ns();
}

// --- The two threads ---------------------------------------------------------------------------------------

static double ran_ns(const struct watch *watch)
{
    struct timespec ran;
    clock_gettime(watch->submitter_clock, &ran);
    return (double)ran.tv_sec * 1e9 + (double)ran.tv_nsec;
}

// Opens the gate once no call returns any more. Asleep between looks, so that it leaves its core to whoever needs it.
static void *watch_main(void *context)
{
    struct watch *watch = context;
    uint32_t seen = 0;
    pin_release();
    pin_worker(0, watch->submitter_pu);
    throw_back(watch);
    uint64_t since_ticks = clock_ticks();
    double since_ns = ran_ns(watch);
    while (!__atomic_load_n(&watch->done, __ATOMIC_ACQUIRE)) {
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
        uint32_t returned = __atomic_load_n(&watch->returned, __ATOMIC_ACQUIRE);
        uint64_t now_ticks = clock_ticks();
        double now_ns = ran_ns(watch);
        if (returned != seen) {
            seen = returned;
            since_ticks = now_ticks;
            since_ns = now_ns;
        } else if (now_ns - since_ns > BLOCKED_NS || clock_ns(now_ticks - since_ticks) > BLOCKED_WALL_NS) {
            watch->ran = now_ns - since_ns > BLOCKED_NS;
            watch->depth = returned;
            watch->opened_ticks = clock_ticks();
            __atomic_store_n(&watch->opened, 1, __ATOMIC_RELEASE); // before the gate, or more calls could follow unseen
            chain_let_go(watch->chain);
            break;
        }
    }
    return NULL;
}

// How often the system has switched the calling thread off its core for another.
static long switches_off(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

// One attempt behind a gate that is closed.
static enum gpu_status submit_watched(struct watch *watch, queue_submit *submit, void *context,
                                      struct queue_answer *answer)
{
    pthread_t watcher;
    enum gpu_status status = GPU_OK;
    int error = pthread_create(&watcher, NULL, watch_main, watch);
    if (error) return gpu_reason(GPU_FAILED, "pthread_create: %s", strerror(error));
    answer->clocks_apart_ns = clocks_apart_ns(watch);
    long switches = switches_off();
    uint64_t returned_ticks = 0;
    for (uint32_t i = 0; i < QUEUE_CALLS_MAX && !status && !__atomic_load_n(&watch->opened, __ATOMIC_ACQUIRE); i++) {
        status = submit(context);
        returned_ticks = clock_ticks();
        __atomic_store_n(&watch->returned, i + 1, __ATOMIC_RELEASE);
    }
    watch->switched_off = switches_off() != switches;
    __atomic_store_n(&watch->done, 1, __ATOMIC_RELEASE);
    pthread_join(watcher, NULL);
    answer->depth = watch->depth;
    // Negative where no call was blocked, but the thread off its core between two.
    int64_t blocked = (int64_t)(returned_ticks - watch->opened_ticks);
    answer->blocked_return_ns = blocked < 0 ? -1 : clock_ns((uint64_t)blocked);
    return status;
}

enum gpu_status queue_depth(struct chain *chain, queue_submit *submit, void *context, struct queue_answer *answer)
{
    if (pin_count() < 2) return gpu_reason(GPU_UNSUPPORTED, "whether a call blocks is seen from a second core only");
    // Behind the gate nothing may happen for the first time: loading a kernel may wait for the stream.
    enum gpu_status status = launch_drain(chain->stream, submit(context));
    for (int attempt = 0; attempt < ATTEMPTS && !status; attempt++) {
        struct watch watch = {.chain = chain, .submitter_pu = pin_current()};
        pthread_getcpuclockid(pthread_self(), &watch.submitter_clock);
        status = chain_hold(chain);
        if (!status) status = submit_watched(&watch, submit, context, answer);
        enum gpu_status released = chain_release(chain);
        if (!status) status = released;
        if (status) return status;
        if (!watch.opened)
            return gpu_reason(GPU_UNSUPPORTED, "%d calls were accepted and none blocked", QUEUE_CALLS_MAX);
        if (answer->blocked_return_ns >= 0 && (watch.ran || !watch.switched_off)) return GPU_OK;
    }
    if (status) return status;
    return gpu_reason(GPU_FAILED, "the submitting thread was switched off its core %d times in a row", ATTEMPTS);
}
