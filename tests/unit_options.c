// SPDX-License-Identifier: Apache-2.0
// Tests the option table: what it takes, what it refuses and in which words, and the three pages it prints.
#include "common/options.h"
#include "version.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct settings {
    bool quick, list;
    const char *title, *device, *output, *pin, *progress;
    double precision_pct;
    unsigned processes;
};

#define AT(member) offsetof(struct settings, member)
static const struct option_row rows[] = {
    {"title", OPTION_TEXT, AT(title), "TEXT", NULL, 0, 0, NULL, "what stands above the table"},
    {"list", OPTION_FLAG, AT(list), NULL, NULL, 0, 0, NULL, "print each benchmark's name and summary, and stop"},
    {"device", OPTION_CHOICE, AT(device), "N|all", "all|…", 0, 0, "0", "the device to measure"},
    {"output", OPTION_FILE, AT(output), "FILE", NULL, 0, 0, NULL,
     "where the rows go; the default names backend, device and time, in results/ or, without such a folder, in ."},
    {"quick", OPTION_FLAG, AT(quick), NULL, NULL, 0, 0, NULL, "a coarse run: one process, few cases"},
    {"precision", OPTION_NUMBER, AT(precision_pct), "PCT", NULL, 0.01, 50, "1", "half width of the interval to reach"},
    {"processes", OPTION_COUNT, AT(processes), "N", NULL, 1, 4294967295.0, "3", "fresh processes a benchmark"},
    {"pin", OPTION_CHOICE, AT(pin), "PU", "near|none|…", 0, 0, "near", "where the submitting thread stays"},
    {"progress", OPTION_CHOICE, AT(progress), "WHEN", "auto|always|never", 0, 0, "auto", "when to show a bar"},
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, NULL, NULL},
};
static const char *const benchmarks[] = {"empty_kernel", "harness", "memcpy_small", NULL};
static const struct option_program program = {
    .name = "liftoff-host",
    .summary = "Measure what launching a kernel costs on this machine's threads",
    .operands = "[BENCHMARK...]",
    .description = "Measures each BENCHMARK, or all.\n\n.A line with a dot, a back\\slash and 'quotes'.\n\n"
                   "Exit status: 0 all rows ok, 2 wrong usage.",
    .rows = rows,
    .operand_words = benchmarks,
};

static char out[1 << 16], err[1 << 16];
static int first;

static void slurp(FILE *from, char *text, size_t size)
{
    rewind(from);
    text[fread(text, 1, size - 1, from)] = '\0';
    fclose(from);
}

// Parses ARGV (NULL-ended, without the program's name); out and err get what was printed.
static enum options_outcome parse_as(const struct option_program *as, struct settings *settings, char *const *argv)
{
    char *copy[32] = {"program"};
    int argc = 1;
    while ((copy[argc] = argv[argc - 1]))
        argc++;
    *settings = (struct settings){0};
    fflush(NULL);
    FILE *files[2] = {tmpfile(), tmpfile()};
    int saved[2] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    for (int i = 0; i < 2; i++)
        dup2(fileno(files[i]), STDOUT_FILENO + i);
    enum options_outcome outcome = options_parse(as, settings, argc, copy, &first);
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        dup2(saved[i], STDOUT_FILENO + i);
        close(saved[i]);
    }
    slurp(files[0], out, sizeof(out));
    slurp(files[1], err, sizeof(err));
    return outcome;
}

#define parse(settings, ...) parse_as(&program, settings, (char *[]){__VA_ARGS__, NULL})

static void assert_refused(const char *line, char *const *argv)
{
    struct settings settings;
    char expected[512];
    snprintf(expected, sizeof(expected), "liftoff-host: %s (see 'liftoff-host --help')\n", line);
    assert_int_equal(parse_as(&program, &settings, argv), OPTIONS_WRONG);
    assert_string_equal(err, expected);
    assert_string_equal(out, "");
}

#define refused(line, ...) assert_refused(line, (char *[]){__VA_ARGS__, NULL})

static void test_defaults(void **state)
{
    (void)state;
    struct settings settings;
    assert_int_equal(parse_as(&program, &settings, (char *[]){NULL}), OPTIONS_RUN);
    assert_int_equal(first, 1);
    assert_false(settings.quick);
    assert_string_equal(settings.device, "0");
    assert_null(settings.output);
    assert_string_equal(settings.pin, "near");
    assert_string_equal(settings.progress, "auto");
    assert_true(settings.precision_pct == 1.0);
    assert_int_equal(settings.processes, 3);
    assert_string_equal(err, "");
}

static void test_values(void **state)
{
    (void)state;
    struct settings settings;
    assert_int_equal(parse(&settings, "a", "--precision=.5", "b", "--processes", "4294967295", "--quick", "--pin", "17",
                           "--output=x=y", "--device", "-1"), OPTIONS_RUN);
    assert_int_equal(first, 10); // the two operands went behind nine words of options
    assert_true(settings.precision_pct == 0.5);
    assert_int_equal(settings.processes, UINT32_MAX);
    assert_true(settings.quick);
    assert_string_equal(settings.pin, "17");
    assert_string_equal(settings.output, "x=y");
    assert_string_equal(settings.device, "-1");

    assert_int_equal(parse(&settings, "--precision=2", "--prec", "3", "--qui", "--", "--list"), OPTIONS_RUN);
    assert_true(settings.precision_pct == 3.0); // the last counts, and a prefix is enough
    assert_true(settings.quick);
    assert_false(settings.list);
    assert_int_equal(first, 6);
    assert_int_equal(parse(&settings, "--precision=1e-2"), OPTIONS_RUN);
    assert_int_equal(parse(&settings, "--precision=50"), OPTIONS_RUN);
    assert_int_equal(parse(&settings, "--output=--quick"), OPTIONS_RUN);
    assert_string_equal(settings.output, "--quick");
}

static void test_numbers_refused(void **state)
{
    (void)state;
    static char *const numbers[] = {"nan", "inf",   "-inf", "infinity", "-1",    "-0",      "0",
                                    "0x1", " 1",    "1 ",   "1,5",      "1e",    "1.5.2",   "e1",
                                    ".",   "+",     "one",  "1s",       "1e999", "50.0001", "1e-999"};
    static char *const counts[] = {"0",          "-1",  "+1", " 1", "1 ", "1.0", "1e3", "0x10", "4294967296",
                                   "18446744073709551617", "-18446744073709551615", "N"};
    char line[256];
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        snprintf(line, sizeof(line), "option '--precision' takes a number from 0.01 to 50, not '%s'", numbers[i]);
        refused(line, "--precision", numbers[i]);
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        snprintf(line, sizeof(line), "option '--processes' takes a whole number from 1 to 4294967295, not '%s'",
                 counts[i]);
        refused(line, "--processes", counts[i]);
    }
}

static void test_messages(void **state)
{
    (void)state;
    refused("unknown option '--quik'; did you mean '--quick'?", "--quik");
    refused("unknown option '--qiuck'; did you mean '--quick'?", "operand", "--qiuck", "more");
    refused("unknown option '--percision'; did you mean '--precision'?", "--percision=5");
    refused("unknown option '-quick'; did you mean '--quick'?", "x", "-quick");
    refused("unknown option '-q'", "-q");
    refused("unknown option '--halp'; did you mean '--help'?", "--halp");
    refused("unknown option '--something-else'", "--something-else");
    refused("option '--pr' may be '--precision' or '--processes'", "--pr");
    refused("option '--quick' takes no value", "--quick=1");
    refused("option '--version' takes no value", "--version=1");
    refused("option '--precision' needs a value: PCT", "--quick", "--precision");
    refused("option '--output' needs a value before '--quick': FILE", "--output", "--quick");
    refused("option '--output' needs a value, not an empty text: FILE", "--output=");
    refused("option '--precision' needs a value, not an empty text: PCT", "--precision", "");
    refused("option '--progress' takes auto|always|never, not 'alway'; did you mean 'always'?", "--progress=alway");
    refused("option '--progress' takes auto|always|never, not 'xyzzy'", "--progress", "xyzzy");
    refused("option '--help' takes text|man|bash, not 'mann'; did you mean 'man'?", "--help=mann");
}

static void test_nearest(void **state)
{
    (void)state;
    assert_string_equal(options_nearest("emptykernel", benchmarks), "empty_kernel");
    assert_string_equal(options_nearest("harnes", benchmarks), "harness");
    assert_string_equal(options_nearest("harness", benchmarks), "harness");
    assert_string_equal(options_nearest("mecmpy_smal", benchmarks), "memcpy_small");
    assert_null(options_nearest("", benchmarks));
    assert_null(options_nearest("x", benchmarks));
    assert_null(options_nearest("graph_launch", benchmarks));
    char endless[5000];
    memset(endless, 'a', sizeof(endless) - 1);
    endless[sizeof(endless) - 1] = '\0';
    assert_null(options_nearest(endless, benchmarks));
    assert_null(options_nearest("quick", (const char *[]){endless, NULL}));
}

static void test_wrong_default_aborts(void **state)
{
    (void)state;
    struct option_row broken[] = {rows[6], {0}};
    struct option_program other = program;
    broken[0].standard = "0";
    other.rows = broken;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct settings settings = {0};
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        options_parse(&other, &settings, 1, (char *[]){"program", NULL}, &first);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_help(void **state)
{
    (void)state;
    struct settings settings;
    assert_int_equal(parse(&settings, "--version"), OPTIONS_DONE);
    assert_string_equal(out, "liftoff-host " LIFTOFF_VERSION "\n");
    assert_int_equal(parse(&settings, "--help=text"), OPTIONS_DONE);
    static char again[sizeof(out)];
    strcpy(again, out);
    assert_int_equal(parse(&settings, "--help"), OPTIONS_DONE);
    assert_string_equal(out, again);
    assert_non_null(strstr(out, "Usage: liftoff-host [OPTION...] [BENCHMARK...]\n"));
    assert_non_null(strstr(out, "\n  --list                "));
    assert_non_null(strstr(out, "half width of the interval to reach [0.01 to 50; default 1]\n"));
    assert_non_null(strstr(out, "where the submitting thread stays [near|none|PU; default near]\n"));
    assert_non_null(strstr(out, "when to show a bar [auto|always|never; default auto]\n"));
    assert_non_null(strstr(out, "  --help[=text|man|bash]  print this help"));
    const char *options = strstr(out, "Options:\n");
    assert_non_null(options);
    for (char *rest, *line = strtok_r(again + (options - out), "\n", &rest); (line = strtok_r(NULL, "\n", &rest));) {
        assert_true(strlen(line) <= 100);
        assert_true(line[25] == ' ' && line[26] != ' '); // every sentence, and what is wrapped, stands in one column
    }
}

// Runs the shell's COMMAND with the page that --help=FORM prints as its standard input; -1 where TOOL is missing.
static int feed(const char *form, const char *tool, const char *command)
{
    struct settings settings;
    char probe[128];
    snprintf(probe, sizeof(probe), "command -v %s >/dev/null", tool);
    if (system(probe) != 0)
        return -1;
    assert_int_equal(parse_as(&program, &settings, (char *[]){(char *)form, NULL}), OPTIONS_DONE);
    fflush(NULL);
    FILE *pipe = popen(command, "w");
    assert_non_null(pipe);
    fputs(out, pipe);
    return pclose(pipe);
}

static void test_man(void **state)
{
    (void)state;
    int checked = feed("--help=man", "man",
                       "page=$(cat); for locale in C C.UTF-8; do"
                       " printf '%s\\n' \"$page\" | LC_ALL=$locale MANWIDTH=80 man --warnings -l - 2>&1 >/dev/null |"
                       " grep . && exit 1; done; exit 0");
    int shown = feed("--help=man", "man",
                     "LC_ALL=C MANWIDTH=80 man -l - | col -b > \"${TMPDIR:-/tmp}/unit_options.$PPID\" || exit 1;"
                     "page=\"${TMPDIR:-/tmp}/unit_options.$PPID\"; trap 'rm -f \"$page\"' EXIT;"
                     "grep -qF \".A line with a dot, a back\\\\slash and 'quotes'.\" \"$page\" &&"
                     "grep -qF -- '--precision PCT' \"$page\" && grep -qF 'default near' \"$page\"");
    if (checked < 0)
        skip();
    assert_int_equal(checked, 0);
    assert_int_equal(shown, 0);
}

// What bash would offer for WORDS, the last of which is being typed.
static void assert_completed(const char *words, const char *offered)
{
    char command[1024];
    snprintf(command, sizeof(command),
             "bash -c 'source /dev/stdin; cd \"$(mktemp -d)\" || exit 1; trap \"rm -r \\$PWD\" EXIT;"
             "touch \"a file.csv\" b.csv;"
             "COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }; _liftoff_host;"
             "offered=$(printf \"%%s,\" \"${COMPREPLY[@]}\");"
             "[[ $offered == \"%s\" ]] || { echo \"$offered\" >&2; exit 1; }'",
             words, offered);
    assert_int_equal(feed("--help=bash", "bash", command), 0);
}

static void test_bash(void **state)
{
    (void)state;
    int checked = feed("--help=bash", "shellcheck", "shellcheck -");
    assert_true(checked <= 0);
    assert_completed("liftoff-host --pr", "--precision,--processes,--progress,");
    assert_completed("liftoff-host --progress a", "auto,always,");
    assert_completed("liftoff-host --progress = n", "never,");
    assert_completed("liftoff-host --pin =", "near,none,");
    assert_completed("liftoff-host --help = m", "man,");
    assert_completed("liftoff-host --help e", "empty_kernel,");
    assert_completed("liftoff-host --output \"\"", "a file.csv,b.csv,");
    assert_completed("liftoff-host --output = b", "b.csv,");
    assert_completed("liftoff-host --precision \"\"", ",");
    assert_completed("liftoff-host --quick e", "empty_kernel,");
    assert_completed("liftoff-host zzz", ",");
}

static void test_bash_command(void **state)
{
    (void)state;
    struct option_program whole = program, part = program;
    whole.name = "liftoff";
    whole.operand_words = (const char *[]){"show", "check", NULL};
    part.name = "liftoff show";
    part.operand_words = NULL;
    fflush(NULL);
    FILE *pipe = popen("bash -c 'source /dev/stdin; cd / || exit 1; compopt() { :; };"
                       "COMP_WORDS=(liftoff s); COMP_CWORD=1; _liftoff; [[ ${COMPREPLY[*]} == show ]] || exit 1;"
                       "COMP_WORDS=(liftoff show et); COMP_CWORD=2; _liftoff; [[ ${COMPREPLY[*]} == etc ]] || exit 2;"
                       "[[ $(complete -p) == \"complete -F _liftoff liftoff\" ]]'", "w");
    assert_non_null(pipe);
    options_print_bash(&whole, pipe);
    options_print_bash(&part, pipe);
    assert_int_equal(pclose(pipe), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_values),  cmocka_unit_test(test_numbers_refused),
        cmocka_unit_test(test_messages), cmocka_unit_test(test_nearest), cmocka_unit_test(test_wrong_default_aborts),
        cmocka_unit_test(test_help),     cmocka_unit_test(test_man),     cmocka_unit_test(test_bash),
        cmocka_unit_test(test_bash_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
