// SPDX-License-Identifier: Apache-2.0
// What `liftoff check` finds wrong, and the rules for a single row.
#ifndef LIFTOFF_ANALYSIS_CHECK_H
#define LIFTOFF_ANALYSIS_CHECK_H

#include "common/result.h"

// The words of the column `status`, and how many rows had each.
enum { CHECK_STATUSES = 5 };
extern const char *const check_statuses[CHECK_STATUSES];

struct check {
    const char *path;
    unsigned long faults, rows, with_status[CHECK_STATUSES];
};

// Prints `FILE:LINE: what` and counts it. What does not fit into a line of 400 bytes is cut.
__attribute__((format(printf, 3, 4)))
void check_fault(struct check *check, unsigned long line, const char *format, ...);

// Counts the row at LINE and names everything in it that cannot be.
void check_row(struct check *check, unsigned long line, const struct result_row *row);

#endif
