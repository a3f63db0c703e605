// SPDX-License-Identifier: Apache-2.0
// A measuring process: opens the device, announces the rows of one benchmark, measures them in shuffled rounds and
// tells the parent (wire.h). It is the same binary, started again.
#ifndef LIFTOFF_CHILD_H
#define LIFTOFF_CHILD_H

#include "common/child_order.h"
#include "common/settings.h"

// Does what ORDER says and returns the process's exit status: 0 if all was told. ARGV is the process's own.
int child_run(const struct child_order *order, const struct settings *settings, char **argv);

#endif
