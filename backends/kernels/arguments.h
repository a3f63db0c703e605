// SPDX-License-Identifier: Apache-2.0
// Which kernels arguments.cu has, and what they leave behind: shared with the host code that launches them.
#ifndef LIFTOFF_KERNELS_ARGUMENTS_H
#define LIFTOFF_KERNELS_ARGUMENTS_H

#include <stdint.h>

// `arguments_bytes_N` takes one struct of N bytes, `arguments_count_N` N values of 8 bytes, each a parameter of its
// own, and `arguments_none` nothing. They differ in nothing else.
#define ARGUMENTS_BYTES(X) X(4) X(16) X(64) X(256) X(1024) X(4096)
#define ARGUMENTS_BYTES_LARGE(X) X(8192) X(16384) X(32764) // beyond what kernels take everywhere
#define ARGUMENTS_COUNTS(X) X(1) X(2) X(4) X(8) X(16) X(32) X(64) X(512)

// What they leave in a variable of the device's, because a pointer to it would be one more argument.
struct arguments_seen {
    uint64_t begin_ticks; // the first thread's first clock read
    uint64_t sum;      // of the last byte, or the last value, of every launch so far; a launch without any counts as 1
    uint64_t sequence; // the report's
};

// `arguments_report`: copies that variable to OUT, in device memory.
struct arguments_report_argument {
    struct arguments_seen *out;
    uint64_t sequence;
};

#endif
