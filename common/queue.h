// SPDX-License-Identifier: Apache-2.0
// How many commands a stream takes before the call that submits one more does not return until another has ended.
#ifndef LIFTOFF_QUEUE_H
#define LIFTOFF_QUEUE_H

#include "common/launch.h"

enum { QUEUE_CALLS_MAX = 8192 };

// Submits one command to the chain's stream.
typedef enum gpu_status queue_submit(void *context);

struct queue_answer {
    unsigned depth;           // the calls that returned behind the gate, which comes on top
    double blocked_return_ns; // from the gate's opening until the call that was blocked returned
    double clocks_apart_ns;   // a bound on the difference of the two clocks, of two cores, that are read for that
};

// Closes the chain's gate and calls SUBMIT until a call blocks. The stream is empty before and after. GPU_UNSUPPORTED
// where none of QUEUE_CALLS_MAX calls blocks, or where there is one processing unit only.
enum gpu_status queue_depth(struct chain *chain, queue_submit *submit, void *context, struct queue_answer *answer);

#endif
