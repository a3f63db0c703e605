// SPDX-License-Identifier: Apache-2.0
// The launches that benchmarks are made of: an empty kernel, a stamping kernel that proves that it ran, and chains of
// either behind a closed gate.
#ifndef LIFTOFF_LAUNCH_H
#define LIFTOFF_LAUNCH_H

#include "backends/gpu_graph.h"
#include "backends/kernels/common.h"
#include "common/clock.h"

typedef enum gpu_status launch_function(const struct gpu_launch *);

enum { LAUNCH_BLOCK_THREADS = 32 }; // one warp, one block: the smallest launch
#define LAUNCH_PARAMS "block_threads=32;blocks=1"

// Prepares *LAUNCH as BLOCKS of so many THREADS of KERNEL, with the one struct that it takes, into STREAM.
enum gpu_status launch_prepare(struct gpu_launch *launch, const void *kernel, unsigned blocks, unsigned threads,
                               void *argument, size_t argument_bytes, struct gpu_stream *stream);

// Prepares `empty` as one block into STREAM.
enum gpu_status launch_prepare_empty(struct gpu_launch *launch, struct gpu_stream *stream);

// The worst of several answers that were OR-ed together.
static inline enum gpu_status launch_worst(unsigned answers)
{
    return answers & GPU_FAILED ? GPU_FAILED : (enum gpu_status)answers;
}

// Waits for STREAM, whatever happened before. Answers STATUS if it is not GPU_OK, else the first error that was met.
static inline enum gpu_status launch_drain(struct gpu_stream *stream, enum gpu_status status)
{
    enum gpu_status ended = gpu_stream_synchronize(stream);
    return status ? status : ended;
}

// Ends the capture of STREAM, whatever happened since gpu_capture_begin, and makes *EXECUTABLE of it. Answers STATUS if
// it is not GPU_OK, else the first error that was met; *EXECUTABLE is then left as it was.
enum gpu_status launch_capture_end(struct gpu_stream *stream, enum gpu_status status,
                                   struct gpu_graph_executable **executable);

// The time of COUNT submissions in a row. Inlined, so that SUBMIT is called directly and nothing else stands between
// the clock reads. It waits for nothing: COUNT stays under half the queue, and the caller drains it.
static inline __attribute__((always_inline)) enum gpu_status launch_time_batch(const struct gpu_launch *launch,
                                                                               unsigned count, launch_function *submit,
                                                                               double *elapsed_ns)
{
    unsigned status = GPU_OK;
    uint64_t begin = clock_ticks();
    for (unsigned i = 0; i < count; i++) status |= (unsigned)submit(launch);
    uint64_t end = clock_ticks();
    *elapsed_ns = clock_ns(end - begin);
    return launch_worst(status);
}

// Of the stamps that COUNT blocks left, STRIDE bytes apart, the first one's number being at *FIRST: GPU_FAILED if one
// is not of launch SEQUENCE.
enum gpu_status launch_check_stamps(const uint64_t *first, size_t stride, unsigned count, uint64_t sequence);

// From one stamp's end to the next one's begin, on average over COUNT (2 …) of them.
double launch_stamps_gap_ns(const struct stamp *stamps, unsigned count);

// Launches of `stamp`, whose stamps are proved when they are read.
struct stamp_launch {
    struct gpu_launch launch;
    struct stamp_argument argument;
    struct stamp *device; // ROOM of them
    struct stamp *stamp;  // after stamp_launch_read, on the host
    unsigned room, used;
    uint64_t first_sequence; // of stamp 0
};

enum gpu_status stamp_launch_open(struct stamp_launch *stamps, struct gpu_stream *stream, unsigned room);
void stamp_launch_close(struct stamp_launch *stamps);

// Prepares *LAUNCH as a launch of the same stamps into another stream; it takes what stamp_launch_aim aims at.
enum gpu_status stamp_launch_into(struct stamp_launch *stamps, struct gpu_stream *stream, struct gpu_launch *launch);

// Forgets the stamps so far.
static inline void stamp_launch_reset(struct stamp_launch *stamps)
{
    stamps->first_sequence += stamps->used;
    stamps->used = 0;
}

// Aims the next launch at the next stamp. Call it before each submission, outside the timed region.
static inline void stamp_launch_aim(struct stamp_launch *stamps)
{
    stamps->argument.out = stamps->device + stamps->used;
    stamps->argument.sequence = stamps->first_sequence + stamps->used;
    stamps->used++;
}

// Brings the stamps here, once the stream is drained. GPU_FAILED if any of the launches left no stamp of its own.
enum gpu_status stamp_launch_read(struct stamp_launch *stamps);

// Follows launches that cannot prove by themselves that they ran: one stamping launch, drained and read. Forgets the
// stamps so far.
enum gpu_status stamp_launch_prove(struct stamp_launch *stamps);

// A launch of `flag`, whose one store the host waits for.
struct flag_launch {
    struct gpu_launch launch;
    struct flag_argument argument;
    uint32_t *word; // mapped
};

enum gpu_status flag_launch_open(struct flag_launch *flag, struct gpu_stream *stream);
void flag_launch_close(struct flag_launch *flag);

// From before the call until the host sees the word that the kernel stored to mapped memory. The stream is drained
// outside the clock.
enum gpu_status flag_launch_time(struct flag_launch *flag, double *elapsed_ns);

// A gate that holds a stream, and two stamps around a chain. Further streams may be held with it.
enum { CHAIN_LENGTH_MAX = 400 }; // the queue of every device known takes twice as many
enum { CHAIN_GATES_MAX = 34 };
struct chain_gate {
    struct gpu_launch launch;
    struct gate_argument argument;
};
struct chain {
    struct gpu_stream *stream;
    struct gpu_launch empty;
    struct chain_gate gates[CHAIN_GATES_MAX];
    unsigned gates_closed; // since the last chain_release
    uint32_t gate_value;
    uint32_t *gate_words; // mapped: open, expired, and for each gate the value that it ran with
    struct stamp_launch stamps;
};

enum chain_kind { CHAIN_EMPTIES, CHAIN_STAMPS };

enum gpu_status chain_open(struct chain *chain);

// The same on STREAM, which chain_close destroys.
enum gpu_status chain_open_on(struct chain *chain, struct gpu_stream *stream);
void chain_close(struct chain *chain);

// Closes the gate: what is submitted to the stream from now on waits, for at most a second.
enum gpu_status chain_hold(struct chain *chain);

// Closes a gate in STREAM too, after chain_hold: the same word opens it.
enum gpu_status chain_hold_too(struct chain *chain, struct gpu_stream *stream);

// Opens the gates and waits for nothing. Any thread may, once chain_hold has returned.
void chain_let_go(struct chain *chain);

// Opens the gates and drains their streams. GPU_FAILED if one had given up waiting, or did not run.
enum gpu_status chain_release(struct chain *chain);

// On the device, from the begin of a stamp to the begin of the next with LENGTH (0 … CHAIN_LENGTH_MAX) kernels between
// them, all of them in the queue before the first one starts.
enum gpu_status chain_elapsed(struct chain *chain, enum chain_kind kind, unsigned length, double *elapsed_ns);

// The same with LENGTH launches of BETWEEN, prepared for the chain's stream, through SUBMIT.
enum gpu_status chain_elapsed_launch(struct chain *chain, const struct gpu_launch *between, launch_function *submit,
                                     unsigned length, double *elapsed_ns);

// What a grid that only leaves stamps, prepared for the chain's stream, takes longer than an empty one of its shape: no
// more than that do the stamps' stores, and its beginning and end beyond its clock reads, add to the gap behind it.
enum gpu_status chain_stamps_cost(struct chain *chain, const struct gpu_launch *stamping, double *ns);

#endif
