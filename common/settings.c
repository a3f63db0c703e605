// SPDX-License-Identifier: Apache-2.0
// The option table of liftoff-cuda, liftoff-hip and liftoff-host.
#include "common/settings.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bench.h"
#include "common/wire.h"

#define AT(member) offsetof(struct settings, member)

static const char default_pin[] = "near"; // by its address told from one that was given

static const struct option_row rows[] = {
    {"list", OPTION_FLAG, AT(list), NULL, NULL, 0, 0, NULL, "print the benchmarks, name and summary, and end"},
    {"device", OPTION_CHOICE, AT(device), "N", "all|…", 0, 0, "0",
     "the device to measure by its index, or all, a file each"},
    {"output", OPTION_FILE, AT(output), "FILE", NULL, 0, 0, NULL,
     "write to FILE, which must not exist; default results/BACKEND-DEVICE-INDEX-HOST-UTC.csv"},
    {"quick", OPTION_FLAG, AT(quick), NULL, NULL, 0, 0, NULL,
     "one process, a fifth of the budget, and only the most important rows"},
    {"precision", OPTION_NUMBER, AT(precision_percent), "PCT", NULL, 0.01, 100, "1",
     "stop a case when its median is known to this many percent"},
    {"budget", OPTION_NUMBER, AT(budget_s), "SECONDS", NULL, 0.001, 3600, "0.2",
     "measure a case no longer than this, over all processes"},
    {"timeout", OPTION_NUMBER, AT(timeout_s), "SECONDS", NULL, 0.1, 86400, "120",
     "kill a benchmark's process that takes longer"},
    {"processes", OPTION_COUNT, AT(processes), "N", NULL, 1, PROCESSES_MAX, NULL,
     "fresh processes a benchmark is measured in; default 6, or 1 with --quick"},
    {"pin", OPTION_CHOICE, AT(pin), "PLACE", "near|none|…", 0, 0, default_pin,
     "the core to measure from: near the device, none, or the number of a processing unit"},
    {"mps", OPTION_FLAG, AT(mps), NULL, NULL, 0, 0, NULL,
     "start a server through which processes share the device at once (MPS), for the rows that need it"},
    {"no-samples", OPTION_FLAG, AT(no_samples), NULL, NULL, 0, 0, NULL,
     "do not write NAME.samples.csv beside the results"},
    {"resume", OPTION_FILE, AT(resume), "FILE", NULL, 0, 0, NULL,
     "measure what FILE lacks or has as failed, with the options and benchmarks of FILE"},
    {"anonymous", OPTION_FLAG, AT(anonymous), NULL, NULL, 0, 0, NULL,
     "leave out host, serials, UUIDs, user, paths and command line"},
    {"progress", OPTION_CHOICE, AT(progress), "WHEN", "auto|always|never", 0, 0, "auto",
     "show what is being measured on the terminal"},
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, NULL, NULL},
};

static const char *benchmark_names[256];

static bool number_or(const char *text, const char *word)
{
    char *end;
    if (strcmp(text, word) == 0) return true;
    long value = strtol(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && value < 100000;
}

bool settings_select(const struct settings *settings, const char *benchmark)
{
    if (!settings->names[0]) return true;
    for (char **name = settings->names; *name; name++)
        if (strcmp(*name, benchmark) == 0) return true;
    return false;
}

static bool check_names(const char *program, char **names)
{
    for (; *names; names++) {
        size_t i = 0;
        while (benchmark_names[i] && strcmp(benchmark_names[i], *names) != 0) i++;
        if (benchmark_names[i]) continue;
        const char *nearest = options_nearest(*names, benchmark_names);
        fprintf(stderr, "%s: there is no benchmark '%s'", program, *names);
        if (nearest) fprintf(stderr, "; did you mean '%s'?", nearest);
        fprintf(stderr, " (--list names them)\n");
        return false;
    }
    return true;
}

enum options_outcome settings_parse(struct settings *settings, int argc, char **argv)
{
    static char program_name[32];
    snprintf(program_name, sizeof program_name, "liftoff-%s", gpu_backend);
    size_t count = 0;
    for (; benchmarks[count] && count + 1 < sizeof benchmark_names / sizeof *benchmark_names; count++)
        benchmark_names[count] = benchmarks[count]->name;

    const struct option_program program = {
        .name = program_name,
        .summary = "measure what launching a kernel costs, and why",
        .operands = "[BENCHMARK...]",
        .description =
            "Runs each benchmark in child processes of its own and writes one CSV file a device, whole after "
            "every row. Without names it runs all of them. Read the result with liftoff(1).\n"
            "Exit status: 0 if every row is ok, unsteady or unsupported; 1 if some failed or timed out; 2 for "
            "wrong usage; 3 without a usable device; 5 if the output could not be written; 130 or 143 if "
            "interrupted.",
        .rows = rows,
        .operand_words = benchmark_names,
    };
    int first;
    enum options_outcome outcome = options_parse(&program, settings, argc, argv, &first);
    if (outcome != OPTIONS_RUN) return outcome;
    settings->names = argv + first;
    settings->pin_given = settings->pin != default_pin;
    if (!check_names(program_name, settings->names)) return OPTIONS_WRONG;
    const char *wrong = NULL;
    if (!number_or(settings->device, "all")) wrong = "--device takes an index or all";
    if (!number_or(settings->pin, "near") && strcmp(settings->pin, "none") != 0)
        wrong = "--pin takes near, none or the number of a processing unit";
    if (settings->resume && settings->names[0]) wrong = "--resume measures what FILE was to have; leave the names out";
    if (settings->resume && settings->output) wrong = "--resume writes to the file that it resumes; leave --output out";
    if ((settings->resume || settings->output) && strcmp(settings->device, "all") == 0)
        wrong = "--device all writes a file a device; leave --output and --resume out";
    if (wrong) {
        fprintf(stderr, "%s: %s\n", program_name, wrong);
        return OPTIONS_WRONG;
    }
    if (settings->processes == 0) settings->processes = settings->quick ? 1 : 6;
    if (settings->quick) settings->budget_s /= 5;
    return OPTIONS_RUN;
}

// Takes one KEY=VALUE of an earlier run's options. False if it is none.
static bool adopt_option(struct settings *settings, const char *option)
{
    const struct {
        const char *key;
        double low, high;
        double *number;
        unsigned *count;
        bool *flag;
    } table[] = {{"budget_s", 0, 3600, .number = &settings->budget_s},
                 {"mps", 0, 1, .flag = &settings->mps},
                 {"precision_percent", 0, 100, .number = &settings->precision_percent},
                 {"processes", 1, PROCESSES_MAX, .count = &settings->processes},
                 {"quick", 0, 1, .flag = &settings->quick},
                 {"timeout_s", 0, 86400, .number = &settings->timeout_s}};
    const char *equals = strchr(option, '=');
    if (!equals) return false;
    if (strncmp(option, "pin=", 4) == 0) {
        settings->pin = equals + 1;
        settings->pin_given = strcmp(settings->pin, default_pin) != 0;
        return number_or(settings->pin, "near") || strcmp(settings->pin, "none") == 0;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strlen(table[i].key) != (size_t)(equals - option) || strncmp(option, table[i].key, strlen(table[i].key)))
            continue;
        char *end;
        double value = strtod(equals + 1, &end);
        if (!equals[1] || *end || !(value >= table[i].low && value <= table[i].high)) return false;
        if (table[i].number) *table[i].number = value;
        if (table[i].count) *table[i].count = (unsigned)value;
        if (table[i].flag) *table[i].flag = value != 0;
        return true;
    }
    return false;
}

bool settings_adopt(struct settings *settings, const char *options, char *benchmark_list)
{
    static char copy[512]; // settings point into it
    static char *names[sizeof benchmark_names / sizeof *benchmark_names];
    char *rest = copy;
    snprintf(copy, sizeof copy, "%s", options);
    settings->mps = false; // of this command line; files are older than the option
    for (char *option; (option = strsep(&rest, ";"));) {
        if (adopt_option(settings, option)) continue;
        fprintf(stderr, "liftoff-%s: %s: its option '%s' cannot be understood\n", gpu_backend, settings->resume,
                option);
        return false;
    }
    size_t count = 0;
    for (char *name; (name = strsep(&benchmark_list, " ")) && count + 1 < sizeof names / sizeof *names;)
        if (*name) names[count++] = name;
    settings->names = names;
    return check_names("liftoff", names);
}
