// SPDX-License-Identifier: Apache-2.0
// The entry of liftoff-cuda, liftoff-hip and liftoff-host: a run, or one of its own measuring processes.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/bench.h"
#include "common/child.h"
#include "common/resume.h"
#include "common/run.h"
#include "common/supervise.h"

static void list(void)
{
    for (size_t i = 0; benchmarks[i]; i++) printf("%s\t%s\n", benchmarks[i]->name, benchmarks[i]->summary);
}

// What was asked for went to stdout, if stdout took it.
static int answered(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_OK;
    fprintf(stderr, "liftoff-%s: the answer could not be written\n", gpu_backend);
    return EXIT_OUTPUT;
}

static int run_all(const struct settings *settings, char **argv)
{
    unsigned count = run_device_count(settings, argv);
    int worst = count ? EXIT_OK : EXIT_DEVICE;
    for (unsigned device = 0; device < count && !supervise_signal(); device++) {
        int status = run_device(settings, device, argv);
        if (status > worst) worst = status;
    }
    int signal_number = supervise_signal();
    if (signal_number) return signal_number == SIGINT ? EXIT_INTERRUPT : EXIT_TERMINATE;
    return worst;
}

// Files must not get the numbers of standard streams that were closed: messages would land in them. For reading only:
// what is written to a closed stream is still lost, and that is told.
static void open_standard_streams(void)
{
    int fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO) fd = dup(fd);
    if (fd > STDERR_FILENO) close(fd);
}

static int act(const struct settings *settings, char **argv)
{
    if (settings->list) {
        list();
        return answered();
    }
    supervise_signals();
    if (settings->device[0] == 'a') return run_all(settings, argv);
    return run_device(settings, (unsigned)strtoul(settings->device, NULL, 10), argv);
}

int main(int argc, char **argv)
{
    static struct settings settings;
    static struct child_order order;
    open_standard_streams();
    char **words = malloc(((size_t)argc + 1) * sizeof *words); // as given: parsing moves the operands
    if (!words) abort();
    for (int i = 0; i <= argc; i++) words[i] = argv[i];

    bool child = child_order_read(&order);
    enum options_outcome outcome = settings_parse(&settings, argc, argv);
    int status = outcome == OPTIONS_DONE ? answered() : EXIT_USAGE;
    if (outcome == OPTIONS_RUN && settings.resume && !resume_settings(settings.resume, &settings))
        outcome = OPTIONS_WRONG;
    if (outcome == OPTIONS_RUN) status = child ? child_run(&order, &settings, words) : act(&settings, words);
    free(words);
    return status;
}
