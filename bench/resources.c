// SPDX-License-Identifier: Apache-2.0
// Stands in for the benchmark of resources until that is merged: only the requests that are refused.
#include "common/bench.h"
#include "common/refusal.h"

const struct benchmark resources_benchmark = {
    .name = "resources",
    .summary = "what a device does when it is asked for too much",
    .source = "claim C17",
    .seconds = 5,
    .quick_seconds = 0.4,
    .setup = refusal_plan,
    .teardown = refusal_close,
    .probe = refusal_probe,
};
