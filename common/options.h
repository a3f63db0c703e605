// SPDX-License-Identifier: Apache-2.0
// The command line of a program as one table: it parses, checks, prints the help, and makes the man page and the
// completion.
#ifndef LIFTOFF_OPTIONS_H
#define LIFTOFF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum option_type {
    OPTION_FLAG,   // takes no value; target: bool
    OPTION_TEXT,   // target: const char *; any non-empty text
    OPTION_FILE,   // as OPTION_TEXT, completed as a file name
    OPTION_NUMBER, // target: double, in low … high
    OPTION_COUNT,  // target: unsigned, in low … high
    OPTION_CHOICE, // target: const char *; one of choices, or anything that the program's own check accepts if choices
                   // ends in "…"
};

struct option_row {
    const char *name; // long name without dashes; NULL ends the table
    enum option_type type;
    size_t offset;        // of the target in the caller's options struct
    const char *argument; // what the help calls the value, "SECONDS"; NULL for flags
    const char *choices;  // OPTION_CHOICE: separated by '|'
    double low, high;     // OPTION_NUMBER and OPTION_COUNT
    const char *standard; // the default as text, parsed into the target before the command line; NULL: leave it zero
    const char *help;     // one sentence without the full stop
};

struct option_program {
    const char *name;        // "liftoff-host", "liftoff show"
    const char *summary;     // one sentence without the full stop
    const char *operands;    // "[BENCHMARK...]"
    const char *description; // a paragraph or two for the man page, exit statuses included
    const struct option_row *rows;
    const char *const
        *operand_words; // what an operand may be, for completion and for the nearest name; NULL-ended, or NULL
};

enum options_outcome { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_WRONG };

// Fills *OPTIONS from the defaults and ARGV; *FIRST_OPERAND is the index in ARGV of the first operand (operands are
// moved behind the options). OPTIONS_DONE: --help or --version was answered on stdout. OPTIONS_WRONG: one line on
// stderr says what is wrong, with the nearest option's name, and how to get help. Every program has
// --help[=text|man|bash] and --version.
enum options_outcome options_parse(const struct option_program *program, void *options, int argc, char **argv,
                                   int *first_operand);

void options_print_help(const struct option_program *program, FILE *to);
void options_print_man(const struct option_program *program, FILE *to);  // mdoc(7) or man(7) source, section 1
void options_print_bash(const struct option_program *program, FILE *to); // a bash completion

// Which of WORDS (NULL-ended) is nearest to WORD by edit distance; NULL if none is near enough to be meant.
const char *options_nearest(const char *word, const char *const *words);

#endif
