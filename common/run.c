// SPDX-License-Identifier: Apache-2.0
// A whole run of one device. See run.h.
#include "common/run.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/bench.h"
#include "common/clock.h"
#include "common/metadata.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/resume.h"
#include "common/rows.h"
#include "common/supervise.h"

struct run {
    const struct settings *settings;
    char **argv;
    unsigned device;
    struct facts facts;
    struct output *output;
    struct resume *resume; // NULL unless --resume
    const char *run_id;
    struct progress_line progress;
    bool output_failed, stuck;
    unsigned failed_rows;
};

// --- Facts -------------------------------------------------------------------------------------------------

static bool hear_fact(void *context, const struct wire_header *header, const char *payload, int to_child)
{
    (void)to_child;
    const char *texts[2];
    if (header->type == WIRE_FACT && wire_texts(payload, header->bytes, texts, 2))
        facts_add(context, texts[0], texts[1]);
    return true;
}

// A benchmark may be asked to be short; a driver takes the time that it takes to start.
static const double FACTS_TIMEOUT_S = 60;

static enum child_outcome ask_facts(unsigned device, const char *moment, const struct settings *settings, char **argv,
                                    struct facts *facts, char *reason)
{
    double timeout_s = settings->timeout_s > FACTS_TIMEOUT_S ? settings->timeout_s : FACTS_TIMEOUT_S;
    struct child_order order = {.device = device, .processes = 1};
    snprintf(order.moment, sizeof order.moment, "%s", moment);
    return supervise(&order, argv, timeout_s, hear_fact, NULL, facts, reason);
}

unsigned run_device_count(const struct settings *settings, char **argv)
{
    char reason[256] = "";
    struct facts facts = {0};
    enum child_outcome outcome = ask_facts(0, "count", settings, argv, &facts, reason);
    unsigned count = (unsigned)strtoul(facts_get(&facts, "device_count", "0"), NULL, 10);
    facts_free(&facts);
    if (outcome == CHILD_INTERRUPTED) return 0;
    if (outcome != CHILD_DONE) fprintf(stderr, "liftoff-%s: no usable device: %s\n", gpu_backend, reason);
    return outcome == CHILD_DONE ? count : 0;
}

// --- One benchmark -----------------------------------------------------------------------------------------

struct session { // of one benchmark
    struct run *run;
    struct rows rows;
    unsigned process;
    bool planned;
    bool answered; // this process's plan
};

static void write_row(struct session *session, struct row *row)
{
    struct run *run = session->run;
    struct rows_scratch scratch;
    char schema[8];
    snprintf(schema, sizeof schema, "%d", RESULT_SCHEMA_VERSION);
    struct result_row line = {.field = {[RESULT_SCHEMA] = schema,
                                        [RESULT_RUN_ID] = run->run_id,
                                        [RESULT_BACKEND] = gpu_backend,
                                        [RESULT_DEVICE] = facts_get(&run->facts, "device", "")}};
    rows_describe(&session->rows, row, &scratch, &line);
    if (row->status == ROW_FAILED || row->status == ROW_TIMEOUT) run->failed_rows++;
    result_write_row(output_text(run->output), &line);
    if (!run->settings->no_samples) rows_write_samples(&session->rows, row, output_samples_text(run->output));
    progress_row(&run->progress);
}

// Rows go out as soon as they are final, one write each.
static bool write_final(struct session *session)
{
    for (unsigned i = 0; i < session->rows.count; i++) {
        struct row *row = &session->rows.row[i];
        if (!row->final || row->written) continue;
        row->written = true;
        write_row(session, row);
        if (!output_flush(session->run->output)) {
            session->run->output_failed = true;
            return false;
        }
    }
    return true;
}

// Answers a plan: which rows to measure. The first plan of a benchmark goes on record.
static bool choose(struct session *session, int to_child)
{
    struct run *run = session->run;
    struct rows *rows = &session->rows;
    if (!session->planned) {
        for (unsigned i = 0; run->resume && i < rows->count; i++) {
            const char *key[] = {rows->benchmark,
                                 rows->row[i].text[PLAN_VARIANT],
                                 rows->row[i].text[PLAN_METRIC],
                                 rows->row[i].text[PLAN_PARAMS],
                                 rows->row[i].text[PLAN_AXIS],
                                 rows->row[i].text[PLAN_AXIS_VALUE]};
            rows->row[i].wanted = !resume_has(run->resume, key);
        }
        char plan[96];
        snprintf(plan, sizeof plan, "%s %u", rows->benchmark, rows->count);
        if (!run->resume || !resume_has_plan(run->resume, rows->benchmark))
            result_write_metadata(output_text(run->output), "plan", plan);
        session->planned = true;
        progress_plan(&run->progress, rows_next_process(rows));
    }
    for (unsigned i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        uint32_t target = !row->wanted || row->final ? 0 : row->first_rounds ? row->first_rounds : WIRE_DECIDE;
        ssize_t written = write(to_child, &target, sizeof target);
        if (written < 0 && errno == EPIPE) return true; // the child is gone: its death tells
        if (written != sizeof target) return false;     // it does not read what it asked for
    }
    return true;
}

static bool hear_benchmark(void *context, const struct wire_header *header, const char *payload, int to_child)
{
    struct session *session = context;
    struct rows *rows = &session->rows;
    switch ((enum wire_type)header->type) {
    case WIRE_PLAN: return rows_announce(rows, header->row, payload, header->bytes);
    case WIRE_PLANNED:
        if (header->row != rows->count || session->answered) return false;
        session->answered = true;
        return choose(session, to_child);
    case WIRE_ROUND: return rows_round(rows, header->row, session->process, payload, header->bytes);
    case WIRE_ROW_END:
        return rows_end(rows, header->row, session->process, session->run->settings->processes, payload,
                        header->bytes) &&
               write_final(session);
    default: return false;
    }
}

static void tick(void *context)
{
    struct session *session = context;
    progress_draw(&session->run->progress);
    if (!output_tick(session->run->output)) session->run->output_failed = true;
}

// A benchmark that could not even say what it would measure leaves one row that says why. Resumed, it leaves the rows
// that it failed with before: that one would be beyond its plan.
static void plan_nothing(struct session *session, enum row_status status, const char *reason)
{
    static const char payload[] = "\0"
                                  "setup\0"
                                  "count\0"
                                  "none\0"
                                  "\0"
                                  "none\0"
                                  "\0"
                                  "count\0"
                                  "1";
    struct run *run = session->run;
    const char *benchmark = session->rows.benchmark;
    rows_free(&session->rows); // what a plan that was cut off had announced
    if (run->resume && resume_has_plan(run->resume, benchmark)) {
        resume_copy_failed(run->resume, benchmark, output_text(run->output));
        run->failed_rows += resume_lacks(run->resume, benchmark);
        fprintf(stderr, "liftoff-%s: %s: nothing was measured again: %s\n", gpu_backend, benchmark, reason);
        return;
    }
    rows_announce(&session->rows, 0, payload, sizeof payload);
    rows_abandon(&session->rows, status, reason);
}

static enum child_outcome run_process(struct session *session, char *reason)
{
    struct run *run = session->run;
    struct child_order order = {.device = run->device,
                                .process = session->process,
                                .processes = run->settings->processes,
                                .pu = atoi(facts_get(&run->facts, "pinned_pu", "-1"))};
    snprintf(order.benchmark, sizeof order.benchmark, "%s", session->rows.benchmark);
    snprintf(order.pci_bus_id, sizeof order.pci_bus_id, "%s", facts_get(&run->facts, "pci_bus_id", ""));
    return supervise(&order, run->argv, run->settings->timeout_s, hear_benchmark, tick, session, reason);
}

// Measures one benchmark in fresh processes. True if the run may go on.
static bool run_benchmark(struct run *run, const struct benchmark *benchmark)
{
    struct session session = {
        .run = run, .rows = {.benchmark = benchmark->name, .precision = run->settings->precision_percent / 100}};
    bool go_on = true;
    for (unsigned process = 0; process < run->settings->processes && go_on; process++) {
        if (process > 0 && rows_next_process(&session.rows) == 0) break;
        session.process = process;
        session.answered = false;
        progress_process(&run->progress, process, run->settings->processes);
        char reason[256] = "", whole[400];
        enum child_outcome outcome = run_process(&session, reason);
        snprintf(whole, sizeof whole, "%s (process %u of %u)", reason, process + 1, run->settings->processes);
        if (outcome == CHILD_INTERRUPTED) go_on = false;
        else if (outcome == CHILD_ABANDONED && run->output_failed) go_on = false;
        else if (outcome == CHILD_ABANDONED) snprintf(whole, sizeof whole, "the process broke the protocol");
        if (outcome == CHILD_STUCK) {
            fprintf(stderr, "liftoff-%s: %s\n", gpu_backend, reason);
            run->stuck = true;
            go_on = false;
        }
        if (outcome == CHILD_DONE) snprintf(whole, sizeof whole, "the process ended without a word on this row");
        if (outcome == CHILD_INTERRUPTED || run->output_failed) continue;
        enum row_status status = outcome == CHILD_TIMEOUT       ? ROW_TIMEOUT
                                 : outcome == CHILD_UNSUPPORTED ? ROW_UNSUPPORTED
                                                                : ROW_FAILED;
        if (session.planned) rows_abandon(&session.rows, status, whole);
        else plan_nothing(&session, status, whole);
        if (!write_final(&session)) go_on = false;
        if (!session.planned) break;
    }
    rows_free(&session.rows);
    return go_on && !run->output_failed;
}

// --- The run -----------------------------------------------------------------------------------------------

// A letter, digit, dot or dash stays, everything else becomes a dash: for file names.
static void plain_name(char *to, size_t room, const char *from)
{
    size_t used = 0;
    for (; *from && used + 1 < room; from++)
        if (isalnum((unsigned char)*from) || *from == '.') to[used++] = *from;
        else if (used > 0 && to[used - 1] != '-') to[used++] = '-';
    while (used > 0 && to[used - 1] == '-') used--;
    to[used] = '\0';
}

static void default_path(char *path, size_t room, const struct run *run, time_t start)
{
    char device[64], host[64], utc[32];
    struct stat folder;
    plain_name(device, sizeof device, facts_get(&run->facts, "device", "device"));
    plain_name(host, sizeof host, facts_get(&run->facts, "host", "anonymous"));
    strftime(utc, sizeof utc, "%Y%m%dT%H%M%SZ", gmtime(&start));
    bool results = stat("results", &folder) == 0 && S_ISDIR(folder.st_mode);
    snprintf(path, room, "%s/%s-%s-%u-%s-%s.csv", results ? "results" : ".", gpu_backend, device, run->device, host,
             utc);
}

// One run at a time measures a device: two would measure each other. The name is gone with the process, however it
// ends.
static bool claim_device(const struct run *run)
{
    const char *bus = facts_get(&run->facts, "pci_bus_id", "");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "liftoff-%.64s", *bus ? bus : gpu_backend);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return true; // no such sockets here: nothing to hold a claim with
    if (bind(fd, (struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) == 0)
        return true;
    int cause = errno;
    close(fd);
    if (cause != EADDRINUSE) return true;
    fprintf(stderr, "liftoff-%s: another run is measuring this device; two would measure each other\n", gpu_backend);
    return false;
}

static double benchmark_seconds(const struct run *run, const struct benchmark *benchmark)
{
    return run->settings->quick ? benchmark->quick_seconds : benchmark->seconds;
}

// Says what is to come, and how long it takes.
static double forecast(const struct run *run)
{
    double seconds = 0;
    unsigned count = 0;
    for (size_t i = 0; benchmarks[i]; i++) {
        if (!settings_select(run->settings, benchmarks[i]->name)) continue;
        seconds += benchmark_seconds(run, benchmarks[i]);
        count++;
    }
    fprintf(stderr, "liftoff-%s: %s, %u benchmark%s, %u process%s each, about %.0f s\n", gpu_backend,
            facts_get(&run->facts, "device", "?"), count, count == 1 ? "" : "s", run->settings->processes,
            run->settings->processes == 1 ? "" : "es", seconds);
    return seconds;
}

static void end_file(struct run *run)
{
    FILE *text = output_text(run->output);
    int signal_number = supervise_signal();
    if (run->stuck) result_write_metadata(text, "interrupted", "the device is stuck");
    if (run->stuck) return;
    if (signal_number) {
        result_write_metadata(text, "interrupted", signal_number == SIGINT ? "SIGINT" : "SIGTERM");
        return;
    }
    char reason[256] = "";
    struct facts after = {0};
    enum child_outcome outcome = ask_facts(run->device, "end", run->settings, run->argv, &after, reason);
    if (outcome == CHILD_INTERRUPTED) {
        facts_free(&after);
        end_file(run);
        return;
    }
    if (outcome != CHILD_DONE) result_write_metadata(text, "end_failed", reason);
    else
        for (size_t i = 0; i < after.count; i++)
            if (strcmp(after.fact[i].key, "device_count") != 0)
                result_write_metadata(text, after.fact[i].key, after.fact[i].value);
    facts_free(&after);
    result_write_end(text);
}

static int measure_all(struct run *run)
{
    progress_begin(&run->progress, run->settings->progress, forecast(run));
    for (size_t i = 0; benchmarks[i]; i++) {
        if (!settings_select(run->settings, benchmarks[i]->name)) continue;
        if (run->resume && !resume_lacks(run->resume, benchmarks[i]->name)) continue;
        progress_benchmark(&run->progress, benchmarks[i]->name, benchmark_seconds(run, benchmarks[i]));
        if (supervise_signal() || !run_benchmark(run, benchmarks[i])) break;
    }
    progress_end(&run->progress);
    if (!run->output_failed) end_file(run);
    bool closed = output_close(run->output);
    int signal_number = supervise_signal();
    if (run->output_failed || !closed) return EXIT_OUTPUT;
    if (signal_number) {
        fprintf(stderr, "liftoff-%s: interrupted; the rows that had ended are kept, --resume measures the others\n",
                gpu_backend);
        return signal_number == SIGINT ? EXIT_INTERRUPT : EXIT_TERMINATE;
    }
    if (!run->failed_rows) return EXIT_OK;
    fprintf(stderr, "liftoff-%s: %u row%s failed or timed out; 'liftoff show' says why\n", gpu_backend,
            run->failed_rows, run->failed_rows == 1 ? "" : "s");
    return EXIT_ROWS;
}

static int open_and_measure(struct run *run, const char *path)
{
    char run_id[40];
    metadata_run_id(run_id, sizeof run_id);
    run->run_id = run_id;
    if (run->resume) run->run_id = resume_metadata(run->resume, "run_id");
    run->output = output_create(path, !run->settings->no_samples, run->resume != NULL);
    if (!run->output) return EXIT_OUTPUT;
    if (run->resume) resume_copy(run->resume, output_text(run->output), output_samples_text(run->output));
    else
        metadata_write(output_text(run->output), output_samples_text(run->output), run->settings, &run->facts,
                       run->run_id, run->device, run->argv);
    if (!output_flush(run->output)) {
        output_close(run->output);
        return EXIT_OUTPUT;
    }
    int status = measure_all(run);
    printf("%s\n", path);
    if (fflush(stdout) == 0) return status;
    fprintf(stderr, "liftoff-%s: the file's name could not be written to the output\n", gpu_backend);
    return EXIT_OUTPUT;
}

// All is known about the machine: now the file.
static int measure_device(struct run *run, time_t start)
{
    const struct settings *settings = run->settings;
    const char *unpinned = facts_get(&run->facts, "pin_failed", NULL);
    char standard[512];
    const char *path = standard;
    if (unpinned && settings->pin_given) {
        fprintf(stderr, "liftoff-%s: --pin %s: %s\n", gpu_backend, settings->pin, unpinned);
        return EXIT_USAGE;
    }
    if (unpinned) fprintf(stderr, "liftoff-%s: the measuring thread is not pinned: %s\n", gpu_backend, unpinned);
    default_path(standard, sizeof standard, run, start);
    if (settings->output) path = settings->output;
    if (settings->resume) {
        path = settings->resume;
        run->resume = resume_open(path, &run->facts);
        if (!run->resume) return EXIT_USAGE;
    }
    bool whole = run->resume && resume_is_whole(run->resume, settings);
    if (whole) fprintf(stderr, "liftoff-%s: %s is whole: there is nothing to resume\n", gpu_backend, path);
    int status = whole ? EXIT_OK : open_and_measure(run, path);
    resume_free(run->resume);
    return status;
}

int run_device(const struct settings *settings, unsigned device, char **argv)
{
    struct run run = {.settings = settings, .argv = argv, .device = device};
    char reason[256] = "";
    time_t start = time(NULL);
    int status = EXIT_DEVICE;
    enum child_outcome outcome = ask_facts(device, "start", settings, argv, &run.facts, reason);
    if (outcome == CHILD_INTERRUPTED) {
        status = supervise_signal() == SIGINT ? EXIT_INTERRUPT : EXIT_TERMINATE;
    } else if (outcome != CHILD_DONE) {
        fprintf(stderr, "liftoff-%s: no usable device: %s\n", gpu_backend, reason);
    } else if (!facts_get(&run.facts, "device", NULL)) {
        fprintf(stderr, "liftoff-%s: there is no device %u, only %s\n", gpu_backend, device,
                facts_get(&run.facts, "device_count", "0"));
    } else if (claim_device(&run)) {
        metadata_add_host(&run.facts, settings);
        status = measure_device(&run, start);
    }
    facts_free(&run.facts);
    return status;
}
