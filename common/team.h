// SPDX-License-Identifier: Apache-2.0
// Threads that launch at the same time: each on a core of its own, with something to launch into, started together.
#ifndef LIFTOFF_TEAM_H
#define LIFTOFF_TEAM_H

#include <pthread.h>

#include "common/launch.h"

enum { TEAM_THREADS_MAX = 16 };

// What the threads launch into: one stream, a stream each, or a stream and a context each.
enum team_lanes { TEAM_ONE_STREAM, TEAM_STREAM_EACH, TEAM_CONTEXT_EACH, TEAM_LANES };

struct gpu_context;
struct team_lane {
    bool open;
    struct gpu_context *context; // NULL: the one that the device was opened with
    struct gpu_stream *stream;
    struct gpu_launch launch; // `empty`
    struct stamp_launch stamps;
};

struct team_worker {
    unsigned index; // 0: the thread that called team_start
    struct team_lane *lane;
    enum gpu_status status; // of the work, with gpu_error() as the reason
    pthread_t thread;
    struct gpu_outcome outcome; // STATUS, for the thread that started the team
};
extern struct team_worker team_workers[TEAM_THREADS_MAX];

// The calling thread is the one that will start teams; SHARED is the stream of TEAM_ONE_STREAM. Once a process.
enum gpu_status team_open(struct gpu_stream *shared);
void team_close(void);

// Starts THREADS − 1 threads (pinned, the device current), opens what each and the calling one launches into, and
// returns when all are ready. They do WORK from team_go on; the calling thread does its share itself. GPU_UNSUPPORTED
// where there are fewer cores; after a failure there is no team to end.
enum gpu_status team_start(enum team_lanes lanes, unsigned threads, void (*work)(struct team_worker *));
void team_go(void);

// Tells the threads to stop and waits for them. STATUS is passed on if it is not GPU_OK, else the first that a thread
// met.
enum gpu_status team_end(enum gpu_status status);

// For WORK: whether team_end was called; and all THREADS come here before one goes on.
bool team_stopping(void);
void team_barrier(void);

// Between two polls, number POLLS and the next, of a thread that waits for another one.
void team_pause(unsigned polls);

#endif
