// SPDX-License-Identifier: Apache-2.0
// What a kernel finds of what another has left in the stores of the device.
#include "common/survival.h"

static enum gpu_status setup(struct bench_plan *plan, bool quick) { return survival_add(plan, quick); }

const struct benchmark cache_loss_benchmark = {
    .name = "cache_loss",
    .summary = "what a kernel finds of what the one before it left in shared memory and in device memory",
    .source = "claims C12, C14",
    .seconds = 3,
    .quick_seconds = 0.5,
    .setup = setup,
    .teardown = survival_close,
    .probe = survival_probe,
};
