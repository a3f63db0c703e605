// SPDX-License-Identifier: Apache-2.0
// What a measuring child tells its parent over a private pipe: both are the same binary, so structs travel as they are.
#ifndef LIFTOFF_WIRE_H
#define LIFTOFF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_type {
    WIRE_FACT,    // texts: key, value
    WIRE_PLAN,    // texts: the row's key and nature, in wire_plan's order; rows are numbered as they come
    WIRE_PLANNED, // nothing: the plan is whole; the child now reads one uint32_t a row: how many rounds to take of it
    WIRE_ROUND,   // struct wire_round and its samples
    WIRE_ROW_END, // struct wire_end, texts: reason, detail
    WIRE_FATAL,   // row: enum gpu_status; texts: reason; the child ends
    WIRE_PROBE,   // struct probe_answer, from a probe's process to the measuring one
    WIRE_END,     // nothing: all is said
};

struct wire_header {
    uint32_t type; // enum wire_type
    uint32_t row;
    uint32_t bytes; // of what follows
};

enum wire_plan {
    PLAN_VARIANT,
    PLAN_METRIC,
    PLAN_UNIT,
    PLAN_BETTER,
    PLAN_PARAMS,
    PLAN_AXIS,
    PLAN_AXIS_VALUE,
    PLAN_ESTIMATOR,
    PLAN_BATCH,
    PLAN_TEXTS
};

struct wire_round {
    double median, error_bound, resolution;
    double elapsed_s,
        lost_s; // how long the round took, and how much of it the thread did not have its core against its will
    uint32_t samples;
    double values[]; // in the order taken
};

struct wire_end {
    uint32_t status; // enum gpu_status
    bool throttled;
};

#define WIRE_DECIDE UINT32_MAX // as many rounds as it needs

enum { WIRE_BYTES_MAX = 1 << 16, WIRE_SAMPLES_MAX = 1 << 14, PROCESSES_MAX = 64 }; // samples a row over all processes

// Sends one message whole; false if the parent is gone.
bool wire_send(int fd, enum wire_type type, uint32_t row, const void *payload, size_t bytes);

// Sends COUNT texts as one payload.
bool wire_send_texts(int fd, enum wire_type type, uint32_t row, const char *const *texts, size_t count);

// Splits PAYLOAD of BYTES into COUNT texts; false if it holds fewer or is not ended by a NUL.
bool wire_texts(const char *payload, size_t bytes, const char **texts, size_t count);

// A reader that takes what the pipe has and gives messages as they become whole.
struct wire_reader {
    int fd;
    size_t used, taken;
    bool ended; // the other side has closed
    char buffer[2 * (WIRE_BYTES_MAX + sizeof(struct wire_header))];
};

// Reads what is there without waiting. False on a read error.
bool wire_fill(struct wire_reader *reader);

// The next whole message in the buffer, valid until the next call; false if there is none. A message that is too long
// to be true sets *BROKEN.
bool wire_next(struct wire_reader *reader, struct wire_header *header, const char **payload, bool *broken);

#endif
