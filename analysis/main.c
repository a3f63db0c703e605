// SPDX-License-Identifier: Apache-2.0
// `liftoff`, the program that reads results: finds the command and runs it.
#include <stdio.h>
#include <string.h>

#include "analysis/command.h"

static const struct command *const commands[] = {&show_command, &check_command};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const char *names[COMMANDS + 1];

static const struct option_row no_rows[] = {{.name = NULL}};
static const struct option_program program = {
    .name = "liftoff",
    .summary = "read the results of liftoff-cuda, liftoff-hip and liftoff-host",
    .operands = "COMMAND ...",
    .description =
        "show prints results as tables, check says what is wrong with a file. Each command has a page and a help "
        "of its own: liftoff-show(1), liftoff show --help.\n\n"
        "Exit status: 0 if done; 2 for wrong usage or input that cannot be read; 5 if the output could not be "
        "written.",
    .rows = no_rows,
    .operand_words = names,
};

// `results/*.csv` names the samples files, too; they are passed over where they stand beside something else.
static char **without_samples(char **paths)
{
    size_t kept = 0;
    for (size_t i = 0; paths[i]; i++) {
        size_t length = strlen(paths[i]);
        if (length < 12 || strcmp(paths[i] + length - 12, ".samples.csv") != 0) paths[kept++] = paths[i];
    }
    if (kept > 0) paths[kept] = NULL;
    return paths;
}

char **command_operands(const struct option_program *of, void *options, int argc, char **argv, int *status)
{
    int first;
    enum options_outcome outcome = options_parse(of, options, argc, argv, &first);
    *status = outcome == OPTIONS_WRONG ? LIFTOFF_USAGE : LIFTOFF_DONE;
    if (outcome != OPTIONS_RUN) return NULL;
    if (argv[first]) return without_samples(argv + first);
    *status = LIFTOFF_USAGE;
    fprintf(stderr, "%s: %s is missing (see '%s --help')\n", of->name, of->operands, of->name);
    return NULL;
}

// What --help adds to the program's own table: the commands, and in the completion theirs.
static void print_commands(const char *argument)
{
    const char *form = strchr(argument, '=');
    if (strncmp(argument, "--h", 3) != 0) return;
    if (!form || strcmp(form, "=text") == 0) {
        printf("\nCommands:\n");
        for (size_t i = 0; i < COMMANDS; i++) printf("  %-9s %s\n", commands[i]->name, commands[i]->program->summary);
    } else if (strcmp(form, "=bash") == 0) {
        for (size_t i = 0; i < COMMANDS; i++) options_print_bash(commands[i]->program, stdout);
    }
}

static int run(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == '-') {
        int status;
        char **operands = command_operands(&program, NULL, argc, argv, &status);
        if (operands) fprintf(stderr, "liftoff: the command comes first: liftoff %s ...\n", *operands);
        else if (status == LIFTOFF_DONE) print_commands(argv[1]);
        return operands ? LIFTOFF_USAGE : status;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i]->name) == 0) return commands[i]->run(argc - 1, argv + 1);
    const char *nearest = options_nearest(argv[1], names);
    fprintf(stderr, "liftoff: there is no command '%s'", argv[1]);
    if (nearest) fprintf(stderr, "; did you mean '%s'?", nearest);
    fprintf(stderr, " (see 'liftoff --help')\n");
    return LIFTOFF_USAGE;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < COMMANDS; i++) names[i] = commands[i]->name;
    int status = run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("liftoff: the output could not be written");
        return LIFTOFF_OUTPUT;
    }
    return status;
}
