// SPDX-License-Identifier: Apache-2.0
// What the parser and the printer of an option table share; for common/options*.c alone.
#ifndef LIFTOFF_OPTIONS_ROWS_H
#define LIFTOFF_OPTIONS_ROWS_H

#include "common/options.h"

enum { OPTION_CHOICES_MAX = 16, OPTION_CHOICES_BYTES = 256 };

struct option_choices {
    char text[OPTION_CHOICES_BYTES];
    const char *words[OPTION_CHOICES_MAX + 1]; // into text, NULL-ended
    bool open;                                 // other values may be right too
};

// The row of --help, the only one whose value is optional. It has no target.
extern const struct option_row *const options_help_row;

// The program's rows, then those that every program has; NULL behind the last.
const struct option_row *options_row_at(const struct option_program *program, size_t index);

// Parts SOURCE, a row's choices, at its bars.
void options_split_choices(struct option_choices *choices, const char *source);

#endif
