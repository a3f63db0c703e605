// SPDX-License-Identifier: Apache-2.0
// Prints a program's option table for people and for shells: help, man page, bash completion.
#include "common/options_rows.h"
#include "version.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <string.h>

enum {
    HELP_COLUMNS = 100,
    LABEL_COLUMNS = 30, // a longer label has the line to itself
    DESCRIPTION_BYTES = 1024,
    NAME_BYTES = 64,
};

// The row's sentence with its range, choices and default; "near|none|…" of an argument PU is shown as "near|none|PU".
static void describe(const struct option_row *row, char text[DESCRIPTION_BYTES])
{
    char values[OPTION_CHOICES_BYTES] = "";
    const char *standard = row->standard;
    if (row->type == OPTION_NUMBER || row->type == OPTION_COUNT) {
        snprintf(values, sizeof(values), "%.10g to %.10g", row->low, row->high);
    } else if (row->type == OPTION_CHOICE && !strchr(row->argument, '|')) { // else the argument's name says it already
        const char *more = strstr(row->choices, "…");
        int known = (int)(more ? (size_t)(more - row->choices) : strlen(row->choices));
        snprintf(values, sizeof(values), "%.*s%s", known, row->choices, more ? row->argument : "");
    }
    int length = snprintf(text, DESCRIPTION_BYTES, "%s%s%s%s%s%s%s", row->help, *values || standard ? " [" : "", values,
                          *values && standard ? "; " : "", standard ? "default " : "", standard ? standard : "",
                          *values || standard ? "]" : "");
    assert(length >= 0 && length < DESCRIPTION_BYTES);
    (void)length;
}

static size_t columns_of(const char *text, size_t bytes)
{
    size_t columns = 0;
    for (size_t i = 0; i < bytes; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80; // UTF-8: every byte but the continuations
    return columns;
}

// Prints TEXT word by word from column INDENT, where the cursor stands, and ends the line.
static void print_wrapped(FILE *to, const char *text, size_t indent)
{
    size_t column = indent;
    while (*(text += strspn(text, " "))) {
        size_t bytes = strcspn(text, " "), columns = columns_of(text, bytes);
        if (column > indent && column + 1 + columns > HELP_COLUMNS) {
            fprintf(to, "\n%*s", (int)indent, "");
            column = indent;
        }
        column += (size_t)fprintf(to, "%s", column > indent ? " " : "") + columns;
        fwrite(text, 1, bytes, to);
        text += bytes;
    }
    fputc('\n', to);
}

static void format_label(const struct option_row *row, char label[OPTION_CHOICES_BYTES])
{
    bool optional = row == options_help_row;
    snprintf(label, OPTION_CHOICES_BYTES, "--%s%s%s%s", row->name, optional ? "[=" : row->argument ? " " : "",
             row->argument ? row->argument : "", optional ? "]" : "");
}

void options_print_help(const struct option_program *program, FILE *to)
{
    const struct option_row *row;
    char label[OPTION_CHOICES_BYTES], text[DESCRIPTION_BYTES];
    size_t widest = 0;
    for (size_t i = 0; (row = options_row_at(program, i)); i++) {
        format_label(row, label);
        size_t columns = columns_of(label, strlen(label));
        if (columns > widest && columns <= LABEL_COLUMNS)
            widest = columns;
    }
    fprintf(to, "Usage: %s [OPTION...] %s\n", program->name, program->operands);
    print_wrapped(to, program->summary, 0);
    fputs("\nOptions:\n", to);
    for (size_t i = 0; (row = options_row_at(program, i)); i++) {
        format_label(row, label);
        describe(row, text);
        size_t columns = columns_of(label, strlen(label));
        fprintf(to, "  %s", label);
        if (columns > widest) {
            fputc('\n', to);
            columns = 0;
            fputs("  ", to);
        }
        fprintf(to, "%*s", (int)(widest - columns + 2), "");
        print_wrapped(to, text, widest + 4);
    }
}

// Writes TEXT so that roff shows exactly its characters and starts a paragraph after each empty line.
static void print_roff(FILE *to, const char *text)
{
    static const char *const escapes[UCHAR_MAX + 1] = {
        ['-'] = "\\-", ['\\'] = "\\e", ['\''] = "\\(aq", ['`'] = "\\(ga", ['^'] = "\\(ha", ['~'] = "\\(ti",
    };
    for (char before = '\n'; *text; before = *text++) {
        const char *escape = escapes[(unsigned char)*text];
        if (before == '\n' && *text == '\n')
            fputs(".PP", to);
        if (before == '\n' && *text == '.')
            fputs("\\&", to);
        if (escape)
            fputs(escape, to);
        else
            fputc(*text, to);
    }
}

// The program's name with FILL for all but letters, digits and KEEP's characters: "liftoff show" is liftoff-show(1).
static void derive_name(const struct option_program *program, char name[NAME_BYTES], const char *keep, char fill)
{
    snprintf(name, NAME_BYTES, "%s", program->name);
    for (char *c = name; *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr(keep, *c))
            *c = fill;
    }
}

void options_print_man(const struct option_program *program, FILE *to)
{
    const struct option_row *row;
    char page[NAME_BYTES], text[DESCRIPTION_BYTES];
    derive_name(program, page, "-_", '-');
    fputs(".TH \"", to);
    for (const char *c = page; *c; c++)
        fputc(toupper((unsigned char)*c), to);
    fprintf(to, "\" 1 \"\" \"liftoff %s\" \"User Commands\"\n.SH NAME\n", LIFTOFF_VERSION);
    print_roff(to, page);
    fputs(" \\- ", to);
    print_roff(to, program->summary);
    fputs("\n.SH SYNOPSIS\n.B ", to);
    print_roff(to, program->name);
    fputs("\n[\\fIOPTION\\fR...] ", to);
    print_roff(to, program->operands);
    fputs("\n.SH DESCRIPTION\n", to);
    print_roff(to, program->description);
    fputs("\n.SH OPTIONS\n", to);
    for (size_t i = 0; (row = options_row_at(program, i)); i++) {
        bool optional = row == options_help_row;
        fputs(".TP\n\\fB\\-\\-", to);
        print_roff(to, row->name);
        fputs("\\fR", to);
        if (row->argument) {
            fputs(optional ? "[=\\fI" : " \\fI", to);
            print_roff(to, row->argument);
            fputs(optional ? "\\fR]" : "\\fR", to);
        }
        fputc('\n', to);
        describe(row, text);
        print_roff(to, text);
        fputc('\n', to);
    }
}

static void print_compgen(FILE *to, const char *const *words)
{
    fputs("mapfile -t COMPREPLY < <(compgen -W '", to);
    for (const char *const *word = words; *word; word++) {
        assert(!strpbrk(*word, "' $`\\"));
        fprintf(to, "%s%s", word > words ? " " : "", *word);
    }
    fputs("' -- \"$word\")\n", to);
}

// The case arm that completes the value of ROW; the word before it is "--name" or, put together again, "--name=".
static void print_bash_value(const struct option_row *row, FILE *to)
{
    if (row->type == OPTION_FLAG)
        return;
    if (row == options_help_row) // its value is never a word of its own
        fprintf(to, "    --%s=)\n        ", row->name);
    else
        fprintf(to, "    --%s | --%s=)\n        ", row->name, row->name);
    if (row->type == OPTION_CHOICE) {
        struct option_choices choices;
        options_split_choices(&choices, row->choices);
        print_compgen(to, choices.words);
    } else if (row->type == OPTION_FILE) {
        fputs("mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n        compopt -o filenames\n", to);
    } else {
        fprintf(to, "COMPREPLY=()\n");
    }
    fputs("        return\n        ;;\n", to);
}

void options_print_bash(const struct option_program *program, FILE *to)
{
    const struct option_row *row;
    char function[NAME_BYTES];
    derive_name(program, function, "", '_');
    fprintf(to, "# shellcheck shell=bash\n_%s()\n{\n", function);
    fputs("    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n", to);
    // A program with commands, as `liftoff show`, leaves each command to the function in that command's own completion.
    bool whole = !strchr(program->name, ' ');
    if (whole)
        fprintf(to,
                "    if ((COMP_CWORD > 1)) && declare -F \"_%s_${COMP_WORDS[1]}\" >/dev/null; then\n"
                "        \"_%s_${COMP_WORDS[1]}\"\n"
                "        return\n"
                "    fi\n",
                function, function);
    fputs("    if [[ $word == = ]]; then\n"
          "        word='' previous=$previous=\n"
          "    elif [[ $previous == = ]]; then\n"
          "        previous=${COMP_WORDS[COMP_CWORD - 2]}=\n"
          "    fi\n"
          "    case $previous in\n",
          to);
    for (size_t i = 0; (row = options_row_at(program, i)); i++)
        print_bash_value(row, to);
    fputs("    esac\n    if [[ $word == -* ]]; then\n        mapfile -t COMPREPLY < <(compgen -W '", to);
    for (size_t i = 0; (row = options_row_at(program, i)); i++)
        fprintf(to, "%s--%s", i ? " " : "", row->name);
    fputs("' -- \"$word\")\n    else\n        ", to);
    if (program->operand_words)
        print_compgen(to, program->operand_words);
    else
        fputs("mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n        compopt -o filenames\n", to);
    fputs("    fi\n}\n", to);
    if (whole)
        fprintf(to, "complete -F _%s %s\n", function, program->name);
}
