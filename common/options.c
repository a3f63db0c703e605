// SPDX-License-Identifier: Apache-2.0
// Owns the command line: fills an options struct from argv as the program's table says, and explains what is wrong.
#include "common/options_rows.h"
#include "version.h"

#include <assert.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_MAX = 64,
    NAME_BYTES = 64,   // longer words are near to nothing
    GETOPT_BASE = 256, // getopt_long's value of the first row, above every short option's character
};

static const struct option_row implicit_rows[] = {
    {.name = "help", .type = OPTION_CHOICE, .argument = "text|man|bash", .choices = "text|man|bash",
     .help = "print this help, the man page's source or a bash completion, and stop"},
    {.name = "version", .type = OPTION_FLAG, .help = "print the version and stop"},
};
const struct option_row *const options_help_row = &implicit_rows[0];
static const struct option_row *const version_row = &implicit_rows[1];

const struct option_row *options_row_at(const struct option_program *program, size_t index)
{
    for (const struct option_row *row = program->rows; row->name; row++) {
        if (index-- == 0)
            return row;
    }
    return index < sizeof(implicit_rows) / sizeof(implicit_rows[0]) ? &implicit_rows[index] : NULL;
}

void options_split_choices(struct option_choices *choices, const char *source)
{
    static const char ellipsis[] = "…";
    size_t length = strlen(source), tail = strlen(ellipsis), count = 0;
    assert(length < sizeof(choices->text));
    memcpy(choices->text, source, length + 1);
    choices->open = length >= tail && strcmp(source + length - tail, ellipsis) == 0;
    if (choices->open)
        choices->text[length - tail] = '\0';
    char *rest;
    for (char *word = strtok_r(choices->text, "|", &rest); word; word = strtok_r(NULL, "|", &rest)) {
        assert(count < OPTION_CHOICES_MAX);
        choices->words[count++] = word;
    }
    choices->words[count] = NULL;
}

static bool choice_accepts(const char *source, const char *text)
{
    struct option_choices choices;
    options_split_choices(&choices, source);
    const char **word = choices.words;
    while (*word && strcmp(*word, text) != 0)
        word++;
    return *word || choices.open;
}

// Puts TEXT into ROW's target; false, and the target untouched, where TEXT is no value of this row.
static bool value_set(const struct option_row *row, void *options, const char *text)
{
    void *target = (char *)options + row->offset;
    if (*text == '\0')
        return false;
    switch (row->type) {
    case OPTION_FLAG:
        assert(!"a flag takes no text");
        return false;
    case OPTION_NUMBER: {
        char *end;
        double value = strtod(text, &end);
        // The alphabet keeps out what strtod also reads: spaces, hexadecimal, "inf" and "nan".
        if (*end || text[strspn(text, "0123456789.eE+-")] || !(value >= row->low && value <= row->high))
            return false;
        memcpy(target, &value, sizeof(value));
        return true;
    }
    case OPTION_COUNT: {
        assert(row->high <= UINT_MAX);
        unsigned long count = strtoul(text, NULL, 10);
        if (text[strspn(text, "0123456789")] || (double)count < row->low || (double)count > row->high)
            return false;
        unsigned value = (unsigned)count;
        memcpy(target, &value, sizeof(value));
        return true;
    }
    case OPTION_CHOICE:
        if (!choice_accepts(row->choices, text))
            return false;
        break;
    case OPTION_TEXT:
    case OPTION_FILE:
        break;
    }
    memcpy(target, &text, sizeof(text));
    return true;
}

static void set_defaults(const struct option_program *program, void *options)
{
    for (const struct option_row *row = program->rows; row->name; row++) {
        assert((row->type == OPTION_FLAG) == (row->argument == NULL));
        bool parsed = !row->standard || value_set(row, options, row->standard);
        assert(parsed && "the default of an option does not parse");
        (void)parsed;
    }
}

static enum options_outcome wrong(const struct option_program *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum options_outcome wrong(const struct option_program *program, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program->name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, " (see '%s --help')\n", program->name);
    va_end(arguments);
    return OPTIONS_WRONG;
}

static enum options_outcome wrong_value(const struct option_program *program, const struct option_row *row,
                                        const char *text)
{
    if (*text == '\0')
        return wrong(program, "option '--%s' needs a value, not an empty text: %s", row->name, row->argument);
    if (row->type != OPTION_CHOICE)
        return wrong(program, "option '--%s' takes a %s from %.10g to %.10g, not '%s'", row->name,
                     row->type == OPTION_COUNT ? "whole number" : "number", row->low, row->high, text);
    struct option_choices choices;
    options_split_choices(&choices, row->choices);
    const char *nearest = options_nearest(text, choices.words);
    if (nearest)
        return wrong(program, "option '--%s' takes %s, not '%s'; did you mean '%s'?", row->name, row->choices, text,
                     nearest);
    return wrong(program, "option '--%s' takes %s, not '%s'", row->name, row->choices, text);
}

// GIVEN is the element of argv that getopt_long did not know, or could not tell from others.
static enum options_outcome wrong_name(const struct option_program *program, const char *given)
{
    char name[NAME_BYTES];
    const char *names[ROWS_MAX + 1], *first = NULL;
    const struct option_row *row;
    size_t count = 0;
    size_t shown = strcspn(given, "=");
    snprintf(name, sizeof(name), "%.*s", (int)shown, given);
    const char *bare = name + strspn(name, "-");
    for (; (row = options_row_at(program, count)); count++) {
        names[count] = row->name;
        if (strncmp(given, "--", 2) != 0 || strncmp(row->name, bare, strlen(bare)) != 0)
            continue;
        if (first)
            return wrong(program, "option '%s' may be '--%s' or '--%s'", name, first, row->name);
        first = row->name;
    }
    names[count] = NULL;
    const char *nearest = options_nearest(bare, names);
    if (nearest)
        return wrong(program, "unknown option '%.*s'; did you mean '--%s'?", (int)shown, given, nearest);
    return wrong(program, "unknown option '%.*s'", (int)shown, given);
}

static enum options_outcome answer_help(const struct option_program *program, const char *form)
{
    if (!form || strcmp(form, "text") == 0)
        options_print_help(program, stdout);
    else if (strcmp(form, "man") == 0)
        options_print_man(program, stdout);
    else if (strcmp(form, "bash") == 0)
        options_print_bash(program, stdout);
    else
        return wrong_value(program, options_help_row, form);
    return OPTIONS_DONE;
}

static void getopt_fill(const struct option_program *program, struct option *table)
{
    const struct option_row *row;
    size_t count = 0;
    for (; (row = options_row_at(program, count)); count++) {
        assert(count < ROWS_MAX);
        int has_value = row->type == OPTION_FLAG ? no_argument : required_argument;
        if (row == options_help_row)
            has_value = optional_argument;
        table[count] = (struct option){row->name, has_value, NULL, GETOPT_BASE + (int)count};
    }
    table[count] = (struct option){0};
}

// What getopt_long could not take: an unknown or ambiguous name, a flag with a value, a short option.
static enum options_outcome explain_refusal(const struct option_program *program, char **argv)
{
    if (optopt >= GETOPT_BASE) {
        const struct option_row *row = options_row_at(program, (size_t)(optopt - GETOPT_BASE));
        return wrong(program, "option '--%s' takes no value", row->name);
    }
    // Of "-quick" getopt has read only "-q", and stays at this element; with "-q" or "--quik" it has gone on.
    bool stays = optopt && !(argv[optind - 1][0] == '-' && argv[optind - 1][1] == optopt && !argv[optind - 1][2]);
    return wrong_name(program, argv[stays ? optind : optind - 1]);
}

enum options_outcome options_parse(const struct option_program *program, void *options, int argc, char **argv,
                                   int *first_operand)
{
    struct option table[ROWS_MAX + 1];
    int value;
    getopt_fill(program, table);
    set_defaults(program, options);
    optind = 0; // makes glibc's getopt forget an earlier command line
    while ((value = getopt_long(argc, argv, ":", table, NULL)) != -1) {
        if (value == '?')
            return explain_refusal(program, argv);
        int known = value == ':' ? optopt : value;
        const struct option_row *row = options_row_at(program, (size_t)(known - GETOPT_BASE));
        if (value == ':')
            return wrong(program, "option '--%s' needs a value: %s", row->name, row->argument);
        if (row == options_help_row)
            return answer_help(program, optarg);
        if (row == version_row) {
            printf("%s %s\n", program->name, LIFTOFF_VERSION);
            return OPTIONS_DONE;
        }
        if (row->type == OPTION_FLAG) {
            memcpy((char *)options + row->offset, &(bool){true}, sizeof(bool));
            continue;
        }
        // `--output --quick` is a forgotten value far more often than a file of that name.
        if (optarg == argv[optind - 1] && strncmp(optarg, "--", 2) == 0)
            return wrong(program, "option '--%s' needs a value before '%s': %s", row->name, optarg, row->argument);
        if (!value_set(row, options, optarg))
            return wrong_value(program, row, optarg);
    }
    *first_operand = optind;
    return OPTIONS_RUN;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

// Insertions, deletions, replacements and swaps of neighbours that make B of A; both shorter than NAME_BYTES.
static unsigned edit_distance(const char *a, const char *b)
{
    unsigned rows[3][NAME_BYTES], *older = rows[0], *old = rows[1], *now = rows[2];
    size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++)
        old[j] = (unsigned)j;
    for (size_t i = 1; a[i - 1]; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= length; j++) {
            now[j] = least(least(old[j], now[j - 1]) + 1, old[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], older[j - 2] + 1);
        }
        unsigned *free_row = older;
        older = old;
        old = now;
        now = free_row;
    }
    return old[length];
}

const char *options_nearest(const char *word, const char *const *words)
{
    size_t length = strlen(word);
    unsigned allowed = (unsigned)(length + 2) / 3 + 1; // the first distance that is too far
    const char *nearest = NULL;
    if (length < 2 || length >= NAME_BYTES)
        return NULL;
    for (; *words; words++) {
        unsigned distance = strlen(*words) < NAME_BYTES ? edit_distance(word, *words) : UINT_MAX;
        if (distance < allowed) {
            allowed = distance;
            nearest = *words;
        }
    }
    return nearest;
}
