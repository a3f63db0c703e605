// SPDX-License-Identifier: Apache-2.0
// What an earlier, incomplete result file already holds. See resume.h.
#include "common/resume.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/bench.h"
#include "common/output.h"
#include "common/result.h"
#include "common/rows.h"
#include "version.h"

struct kept_row {
    struct result_row row; // owns its texts
    char *key;             // as a line of the samples file begins
    bool failed;           // or timed out: to be measured again
};

struct resume {
    char *samples_path;
    struct facts metadata; // without the marks of an end
    struct kept_row *row;
    size_t count;
    char **plans; // "BENCHMARK N"
    size_t plan_count;
    bool ended;
};

static void *grown(void *array, size_t count, size_t each)
{
    void *more = realloc(array, (count + 1) * each);
    if (!more) abort();
    return more;
}

static char *copied(const char *text)
{
    char *copy = strdup(text);
    if (!copy) abort();
    return copy;
}

static char *sample_key(const char *const field[6])
{
    char *text;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    if (!file) abort();
    for (int i = 0; i < 6; i++) {
        result_write_field(file, field[i]);
        fputc(',', file);
    }
    fclose(file);
    return text;
}

static char *row_key(const struct result_row *row)
{
    const char *field[6];
    for (int i = 0; i < 6; i++) field[i] = row->field[result_key[i]];
    return sample_key(field);
}

static void keep_row(struct resume *resume, const struct result_row *row)
{
    const char *status = row->field[RESULT_STATUS];
    resume->row = grown(resume->row, resume->count, sizeof *resume->row);
    struct kept_row *kept = &resume->row[resume->count++];
    for (int c = 0; c < RESULT_COLUMN_COUNT; c++) kept->row.field[c] = copied(row->field[c]);
    kept->key = row_key(row);
    kept->failed =
        strcmp(status, row_status_words[ROW_FAILED]) == 0 || strcmp(status, row_status_words[ROW_TIMEOUT]) == 0;
}

static void keep_metadata(struct resume *resume, const char *key, const char *value)
{
    if (strcmp(key, "plan") == 0) {
        resume->plans = grown(resume->plans, resume->plan_count, sizeof *resume->plans);
        resume->plans[resume->plan_count++] = copied(value);
    } else if (strcmp(key, "interrupted") != 0 && strcmp(key, "resumed") != 0 && strncmp(key, "end_", 4) != 0) {
        facts_add(&resume->metadata, key, value);
    }
}

static bool read_file(struct resume *resume, const char *path)
{
    struct result_reader *reader = result_reader_open(path);
    struct result_line line;
    bool last_was_bad = false;
    if (!reader) {
        fprintf(stderr, "liftoff-%s: %s: %s\n", gpu_backend, path, strerror(errno));
        return false;
    }
    for (enum result_item item; (item = result_reader_next(reader, &line)) != RESULT_EOF;) {
        if (last_was_bad) { // damage in the middle is no interruption: what follows it might be lost
            fprintf(stderr, "liftoff-%s: %s is damaged before line %lu ('liftoff check' says how)\n", gpu_backend, path,
                    line.number);
            result_reader_close(reader);
            return false;
        }
        if (item == RESULT_METADATA) keep_metadata(resume, line.key, line.value);
        else if (item == RESULT_ROW) keep_row(resume, &line.row);
        else if (item == RESULT_END_MARK) resume->ended = true;
        last_was_bad = item == RESULT_BAD; // a last line that was cut off is what an interruption leaves
        if (last_was_bad && resume->metadata.count == 0)
            fprintf(stderr, "liftoff-%s: %s: %s\n", gpu_backend, path, line.fault);
    }
    result_reader_close(reader);
    return resume->metadata.count > 0;
}

static bool same(const struct resume *resume, const char *path, const char *key, const char *here)
{
    const char *there = facts_get(&resume->metadata, key, "");
    if (strcmp(there, here ? here : "") == 0) return true;
    fprintf(stderr, "liftoff-%s: %s cannot be resumed here: its %s is '%s', not '%s'\n", gpu_backend, path, key, there,
            here ? here : "");
    return false;
}

struct resume *resume_open(const char *path, const struct facts *facts)
{
    static const char *const facts_that_count[] = {"device",          "device_uuid",  "driver_version",
                                                   "runtime_version", "clock_source", "pin_failed"};
    struct resume *resume = calloc(1, sizeof *resume);
    if (!resume) abort();
    resume->samples_path = output_beside(path, ".samples.csv");
    bool fine = read_file(resume, path);
    if (!fine) fprintf(stderr, "liftoff-%s: %s is no result that could be resumed\n", gpu_backend, path);
    if (fine && !resume_metadata(resume, "run_id")) {
        fprintf(stderr, "liftoff-%s: %s has no run_id\n", gpu_backend, path);
        fine = false;
    }
    fine = fine && same(resume, path, "backend", gpu_backend) &&
           same(resume, path, "liftoff_version", LIFTOFF_VERSION) && same(resume, path, "injection", gpu_injection());
    for (size_t i = 0; fine && i < sizeof facts_that_count / sizeof *facts_that_count; i++)
        fine = same(resume, path, facts_that_count[i], facts_get(facts, facts_that_count[i], ""));
    if (fine) return resume;
    resume_free(resume);
    return NULL;
}

bool resume_settings(const char *path, struct settings *settings)
{
    struct resume *resume = calloc(1, sizeof *resume);
    if (!resume) abort();
    bool fine = read_file(resume, path);
    const char *options = facts_get(&resume->metadata, "options", ""),
               *names = facts_get(&resume->metadata, "benchmarks", "");
    static char benchmark_list[4096]; // settings point into it
    snprintf(benchmark_list, sizeof benchmark_list, "%s", names);
    if (!fine) fprintf(stderr, "liftoff-%s: %s is no result that could be resumed\n", gpu_backend, path);
    fine = fine && settings_adopt(settings, options, benchmark_list);
    static char device[16];
    snprintf(device, sizeof device, "%s", facts_get(&resume->metadata, "device_index", "0"));
    settings->device = device;
    char *samples = output_beside(path, ".samples.csv");
    settings->no_samples = access(samples, F_OK) != 0;
    free(samples);
    resume_free(resume);
    return fine;
}

// The plan of BENCHMARK, NULL if there is none.
static const char *find_plan(const struct resume *resume, const char *benchmark)
{
    size_t length = strlen(benchmark);
    for (size_t i = 0; i < resume->plan_count; i++)
        if (strncmp(resume->plans[i], benchmark, length) == 0 && resume->plans[i][length] == ' ')
            return resume->plans[i];
    return NULL;
}

static bool is_of(const struct kept_row *kept, const char *benchmark)
{
    return strcmp(kept->row.field[RESULT_BENCHMARK], benchmark) == 0;
}

unsigned resume_lacks(const struct resume *resume, const char *benchmark)
{
    const char *plan = find_plan(resume, benchmark);
    unsigned long planned = plan ? strtoul(plan + strlen(benchmark), NULL, 10) : 1,
                  have = 0; // no plan: one row said why
    for (size_t i = 0; i < resume->count; i++) have += is_of(&resume->row[i], benchmark) && !resume->row[i].failed;
    return planned > have ? (unsigned)(planned - have) : 0;
}

bool resume_is_whole(const struct resume *resume, const struct settings *settings)
{
    for (size_t i = 0; benchmarks[i]; i++)
        if (settings_select(settings, benchmarks[i]->name) && resume_lacks(resume, benchmarks[i]->name)) return false;
    return resume->ended;
}

void resume_free(struct resume *resume)
{
    if (!resume) return;
    for (size_t i = 0; i < resume->count; i++) {
        for (int c = 0; c < RESULT_COLUMN_COUNT; c++) free((char *)resume->row[i].row.field[c]);
        free(resume->row[i].key);
    }
    for (size_t i = 0; i < resume->plan_count; i++) free(resume->plans[i]);
    free(resume->plans);
    free(resume->row);
    free(resume->samples_path);
    facts_free(&resume->metadata);
    free(resume);
}

const char *resume_metadata(const struct resume *resume, const char *key)
{
    return facts_get(&resume->metadata, key, NULL);
}

bool resume_has(const struct resume *resume, const char *const key[6])
{
    char *wanted = sample_key(key);
    bool found = false;
    for (size_t i = 0; i < resume->count && !found; i++)
        found = !resume->row[i].failed && strcmp(resume->row[i].key, wanted) == 0;
    free(wanted);
    return found;
}

bool resume_has_plan(const struct resume *resume, const char *benchmark) { return find_plan(resume, benchmark); }

static void copy_samples(const struct resume *resume, FILE *samples)
{
    FILE *old = fopen(resume->samples_path, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    result_write_metadata(samples, "run_id", resume_metadata(resume, "run_id"));
    fprintf(samples, "benchmark,variant,metric,params,axis,axis_value,process,values\n");
    while (old && (length = getline(&line, &room, old)) > 0) {
        if (line[length - 1] != '\n') break; // cut off
        for (size_t i = 0; i < resume->count; i++)
            if (!resume->row[i].failed && strncmp(line, resume->row[i].key, strlen(resume->row[i].key)) == 0) {
                fputs(line, samples);
                break;
            }
    }
    free(line);
    if (old) fclose(old);
}

void resume_copy(const struct resume *resume, FILE *file, FILE *samples)
{
    for (size_t i = 0; i < resume->metadata.count; i++)
        result_write_metadata(file, resume->metadata.fact[i].key, resume->metadata.fact[i].value);
    result_write_metadata(file, "resumed", "true");
    result_write_header(file);
    for (size_t i = 0; i < resume->plan_count; i++) result_write_metadata(file, "plan", resume->plans[i]);
    for (size_t i = 0; i < resume->count; i++)
        if (!resume->row[i].failed) result_write_row(file, &resume->row[i].row);
    if (samples) copy_samples(resume, samples);
}

void resume_copy_failed(const struct resume *resume, const char *benchmark, FILE *file)
{
    for (size_t i = 0; i < resume->count; i++)
        if (resume->row[i].failed && is_of(&resume->row[i], benchmark)) result_write_row(file, &resume->row[i].row);
}
