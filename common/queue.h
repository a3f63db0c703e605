// SPDX-License-Identifier: Apache-2.0
// How many commands a stream takes before the call that submits one more does not return until another has ended.
#ifndef LIFTOFF_QUEUE_H
#define LIFTOFF_QUEUE_H

#include "common/launch.h"

enum { QUEUE_CALLS_MAX = 8192 };

// Submits one command to the chain's stream.
typedef enum gpu_status queue_submit(void *context);

// Closes the chain's gate and calls SUBMIT until a call blocks. *DEPTH: the calls that returned; the gate comes on top.
// *BLOCKED_RETURN_NS: from the gate's opening until the blocked call returned. The stream is empty before and after.
// GPU_UNSUPPORTED where none of QUEUE_CALLS_MAX calls blocks, or where there is one processing unit only.
enum gpu_status queue_depth(struct chain *chain, queue_submit *submit, void *context, unsigned *depth,
                            double *blocked_return_ns);

#endif
