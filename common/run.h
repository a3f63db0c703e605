// SPDX-License-Identifier: Apache-2.0
// A whole run of one device: facts, benchmarks, processes, and the file they leave.
#ifndef LIFTOFF_RUN_H
#define LIFTOFF_RUN_H

#include "common/settings.h"

// Measures DEVICE as SETTINGS say, with ARGV for the children. Returns an exit status of the program.
int run_device(const struct settings *settings, unsigned device, char **argv);

// How many devices there are, asked of a child; 0 after a message on stderr.
unsigned run_device_count(const struct settings *settings, char **argv);

#endif
