// SPDX-License-Identifier: Apache-2.0
// What a command of `liftoff` is. One file a command; main.c lists them.
#ifndef LIFTOFF_ANALYSIS_COMMAND_H
#define LIFTOFF_ANALYSIS_COMMAND_H

#include "common/options.h"

// The exit statuses of `liftoff`.
enum { LIFTOFF_DONE = 0, LIFTOFF_USAGE = 2, LIFTOFF_OUTPUT = 5 };

struct command {
    const char *name;
    const struct option_program *program; // named "liftoff NAME"
    int (*run)(int argc, char **argv);    // ARGV[0] is the command's name; returns the exit status
};

// Parses the command line of a command that needs operands. Returns these, at least one, ended by NULL; or NULL, and
// *STATUS is what to exit with. OPTIONS may be NULL where the program has no rows.
char **command_operands(const struct option_program *program, void *options, int argc, char **argv, int *status);

extern const struct command show_command, check_command;

#endif
