// SPDX-License-Identifier: Apache-2.0
// The text behind gpu_error(): why the last call did not succeed, one a thread, shared by all backends.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backends/gpu.h"

static _Thread_local char reason[256] = "no call has failed";

enum gpu_status gpu_reason(enum gpu_status status, const char *format, ...)
{
    char text[sizeof reason]; // the arguments may quote gpu_error()
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; (c = strpbrk(c, "\r\n")); c++) *c = ' ';
    memcpy(reason, text, sizeof reason);
    return status;
}

const char *gpu_error(void) { return reason; }

enum gpu_status gpu_outcome_keep(struct gpu_outcome *outcome, enum gpu_status status)
{
    outcome->status = status;
    memcpy(outcome->reason, status ? reason : "", status ? sizeof reason : 1);
    return status;
}

enum gpu_status gpu_outcome_tell(const struct gpu_outcome *outcome)
{
    return outcome->status ? gpu_reason(outcome->status, "%s", outcome->reason) : GPU_OK;
}
