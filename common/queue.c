// SPDX-License-Identifier: Apache-2.0
// Fills a stream behind a closed gate while a second thread watches. See queue.h.
#include "common/queue.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "common/pin.h"

// A call blocks if it has not returned while its thread ran for BLOCKED_NS: one that was switched off its core does not
// look so. A vendor whose calls sleep lets no thread run; then BLOCKED_WALL_NS decide.
static const double BLOCKED_NS = 3e6, BLOCKED_WALL_NS = 20e6;
enum { LOOK_NS = 100000, ATTEMPTS = 3 };

struct watch {
    struct chain *chain;
    int submitter_pu;
    clockid_t submitter_clock; // the time that the submitting thread has run
    uint32_t returned, done;   // written by it

    uint32_t opened; // written by the watcher, as what follows, before it
    uint32_t depth;
    uint64_t opened_ticks;
};

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
    uint64_t since_ticks = clock_ticks();
    double since_ns = ran_ns(watch);
    pin_release();
    pin_worker(0, watch->submitter_pu);
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
            watch->depth = returned;
            watch->opened_ticks = clock_ticks();
            __atomic_store_n(&watch->opened, 1, __ATOMIC_RELEASE); // before the gate, or more calls could follow unseen
            chain_let_go(watch->chain);
            break;
        }
    }
    return NULL;
}

// One attempt behind a gate that is closed. *RETURNED_TICKS is read after each call.
static enum gpu_status submit_watched(struct watch *watch, queue_submit *submit, void *context,
                                      uint64_t *returned_ticks)
{
    pthread_t watcher;
    enum gpu_status status = GPU_OK;
    int error = pthread_create(&watcher, NULL, watch_main, watch);
    if (error) return gpu_reason(GPU_FAILED, "pthread_create: %s", strerror(error));
    for (uint32_t i = 0; i < QUEUE_CALLS_MAX && !status && !__atomic_load_n(&watch->opened, __ATOMIC_ACQUIRE); i++) {
        status = submit(context);
        *returned_ticks = clock_ticks();
        __atomic_store_n(&watch->returned, i + 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&watch->done, 1, __ATOMIC_RELEASE);
    pthread_join(watcher, NULL);
    return status;
}

enum gpu_status queue_depth(struct chain *chain, queue_submit *submit, void *context, unsigned *depth,
                            double *blocked_return_ns)
{
    if (pin_count() < 2) return gpu_reason(GPU_UNSUPPORTED, "whether a call blocks is seen from a second core only");
    // Behind the gate nothing may happen for the first time: loading a kernel may wait for the stream.
    enum gpu_status status = submit(context), ended = gpu_stream_synchronize(chain->stream);
    if (status || ended) return status ? status : ended;

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct watch watch = {.chain = chain, .submitter_pu = pin_current()};
        uint64_t returned_ticks = 0;
        pthread_getcpuclockid(pthread_self(), &watch.submitter_clock);
        status = chain_hold(chain);
        if (!status) status = submit_watched(&watch, submit, context, &returned_ticks);
        ended = chain_release(chain);
        if (status || ended) return status ? status : ended;
        if (!watch.opened)
            return gpu_reason(GPU_UNSUPPORTED, "%d calls were accepted and none blocked", QUEUE_CALLS_MAX);
        if (returned_ticks < watch.opened_ticks) continue; // not blocked, but off its core between two calls
        *depth = watch.depth;
        *blocked_return_ns = clock_ns(returned_ticks - watch.opened_ticks);
        return GPU_OK;
    }
    return gpu_reason(GPU_FAILED, "the submitting thread was switched off its core %d times in a row", ATTEMPTS);
}
