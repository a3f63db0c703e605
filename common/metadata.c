// SPDX-License-Identifier: Apache-2.0
// The head of a result file. See metadata.h.
#include "common/metadata.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/bench.h"
#include "common/clock.h"
#include "common/facts.h"
#include "common/pin.h"
#include "common/result.h"
#include "common/rows.h"
#include "version.h"

static struct fact *find(const struct facts *facts, const char *key)
{
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->fact[i].key, key) == 0) return &facts->fact[i];
    return NULL;
}

void facts_add(void *context, const char *key, const char *value)
{
    struct facts *facts = context;
    struct fact *fact = find(facts, key);
    char *copy = strdup(value);
    if (fact) {
        free(fact->value);
    } else {
        facts->fact = realloc(facts->fact, (facts->count + 1) * sizeof *facts->fact);
        if (!facts->fact) abort();
        fact = &facts->fact[facts->count++];
        fact->key = strdup(key);
    }
    fact->value = copy;
    if (!fact->key || !fact->value) abort();
}

const char *facts_get(const struct facts *facts, const char *key, const char *otherwise)
{
    const struct fact *fact = find(facts, key);
    return fact ? fact->value : otherwise;
}

static void facts_drop(struct facts *facts, const char *key)
{
    struct fact *fact = find(facts, key);
    if (!fact) return;
    free(fact->key);
    free(fact->value);
    *fact = facts->fact[--facts->count];
}

void facts_free(struct facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        free(facts->fact[i].key);
        free(facts->fact[i].value);
    }
    free(facts->fact);
    *facts = (struct facts){0};
}

static void add_number(struct facts *facts, const char *key, double value)
{
    char text[32];
    facts_add(facts, key, result_format(text, value));
}

// Where the children will measure from, found the way they find it, and the clock as it is there.
struct place_query {
    const char *how, *pci_bus_id, *wrong;
    struct pin_place place;
    double clock_cost_ns, clock_resolution_ns;
};

static void *ask_place(void *context)
{
    struct place_query *query = context;
    query->wrong = pin_thread(query->how, query->pci_bus_id, &query->place);
    clock_init();
    query->clock_cost_ns = clock_cost_ns();
    query->clock_resolution_ns = clock_resolution_ns();
    return NULL;
}

// A thread of its own is bound: the children must not inherit it.
static void add_place(struct facts *facts, const struct settings *settings)
{
    struct place_query query = {.how = settings->pin, .pci_bus_id = facts_get(facts, "pci_bus_id", NULL)};
    pthread_t thread;
    if (pthread_create(&thread, NULL, ask_place, &query)) abort();
    pthread_join(thread, NULL);
    facts_add(facts, "pin", settings->pin);
    if (query.wrong) facts_add(facts, "pin_failed", query.wrong);
    if (query.place.pu >= 0) add_number(facts, "pinned_pu", query.place.pu);
    if (query.place.core >= 0) add_number(facts, "pinned_core", query.place.core);
    if (query.place.numa_node >= 0) add_number(facts, "pinned_numa_node", query.place.numa_node);
    facts_add(facts, "clock_source", clock_source());
    add_number(facts, "clock_ns_per_tick", clock_state.ns_per_tick);
    add_number(facts, "clock_cost_ns", query.clock_cost_ns);
    add_number(facts, "clock_resolution_ns", query.clock_resolution_ns);
}

void metadata_add_host(struct facts *facts, const struct settings *settings)
{
    static const char *const identifying[] = {"device_serial", "device_uuid"};
    facts_host(settings->anonymous, gpu_environment, facts_add, facts);
    const char *bus = facts_get(facts, "pci_bus_id", NULL);
    if (bus) facts_pci(bus, facts_add, facts);
    add_place(facts, settings);
    for (size_t i = 0; settings->anonymous && i < sizeof identifying / sizeof *identifying; i++)
        facts_drop(facts, identifying[i]);
}

void metadata_run_id(char *text, size_t room)
{
    unsigned random = 0;
    time_t now = time(NULL);
    char utc[24];
    if (getrandom(&random, sizeof random, 0) != sizeof random) random = (unsigned)clock_gettime_ns();
    strftime(utc, sizeof utc, "%Y%m%dT%H%M%SZ", gmtime(&now));
    snprintf(text, room, "%s-%08x", utc, random);
}

static void write_command(FILE *file, char **argv)
{
    size_t bytes = 0;
    char *line = NULL;
    FILE *text = open_memstream(&line, &bytes);
    if (!text) abort();
    const char *slash = strrchr(argv[0], '/');
    fprintf(text, "%s", slash ? slash + 1 : argv[0]);
    for (char **word = argv + 1; *word; word++) fprintf(text, " %s", *word);
    fclose(text);
    result_write_metadata(file, "command_line", line);
    free(line);
}

static void write_options(FILE *file, const struct settings *settings)
{
    char text[160], number[3][32];
    snprintf(text, sizeof text, "budget_s=%s;mps=%d;pin=%s;precision_percent=%s;processes=%u;quick=%d;timeout_s=%s",
             result_format(number[0], settings->budget_s), settings->mps, settings->pin,
             result_format(number[1], settings->precision_percent), settings->processes, settings->quick,
             result_format(number[2], settings->timeout_s));
    result_write_metadata(file, "options", text);
    snprintf(text, sizeof text, "%u", settings->processes);
    result_write_metadata(file, "processes", text);
}

static void write_names(FILE *file, const struct settings *settings)
{
    char *line = NULL;
    size_t bytes = 0;
    FILE *text = open_memstream(&line, &bytes);
    if (!text) abort();
    for (size_t i = 0; benchmarks[i]; i++)
        if (settings_select(settings, benchmarks[i]->name))
            fprintf(text, "%s%s", ftell(text) > 0 ? " " : "", benchmarks[i]->name);
    fclose(text);
    result_write_metadata(file, "benchmarks", line);
    free(line);
}

void metadata_write(FILE *file, FILE *samples, const struct settings *settings, const struct facts *facts,
                    const char *run_id, unsigned device, char **argv)
{
    char utc[32], index[16];
    time_t now = time(NULL);
    strftime(utc, sizeof utc, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    snprintf(index, sizeof index, "%u", device);
    result_write_metadata(file, "liftoff_version", LIFTOFF_VERSION);
    result_write_metadata(file, "run_id", run_id);
    result_write_metadata(file, "backend", gpu_backend);
    result_write_metadata(file, "device_index", index);
    result_write_metadata(file, "start_utc", utc);
    result_write_metadata(file, "compiler", LIFTOFF_COMPILER);
    if (settings->anonymous) result_write_metadata(file, "anonymous", "true");
    else write_command(file, argv);
    write_options(file, settings);
    write_names(file, settings);
    if (gpu_injection()) result_write_metadata(file, "injection", gpu_injection());
    for (size_t i = 0; i < facts->count; i++) result_write_metadata(file, facts->fact[i].key, facts->fact[i].value);
    result_write_header(file);

    if (!samples) return;
    result_write_metadata(samples, "run_id", run_id);
    fprintf(samples, "benchmark,variant,metric,params,axis,axis_value,process,values\n");
}
