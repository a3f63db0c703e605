// SPDX-License-Identifier: Apache-2.0
// Writes result files and reads them back, whatever state they are in. See result.h.
#include "common/result.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_BYTES_MAX = 1 << 20, FILE_BUFFER_BYTES = 1 << 16 };

#define RESULT_NAME(id, name) name,
const char *const result_column_names[RESULT_COLUMN_COUNT] = {RESULT_COLUMNS(RESULT_NAME)};
#undef RESULT_NAME

const enum result_column result_key[6] = {RESULT_BENCHMARK, RESULT_VARIANT, RESULT_METRIC,
                                          RESULT_PARAMS,    RESULT_AXIS,    RESULT_AXIS_VALUE};

static const char *const signed_metrics[] = {"barrier",
                                             "carry_cost",
                                             "cold_cost",
                                             "delay_ratio",
                                             "device_period",
                                             "duration",
                                             "duration_per_block",
                                             "fetch_per_byte",
                                             "if_else_cost",
                                             "period",
                                             "stamp_cost",
                                             "sync_error",
                                             "submit_per_argument",
                                             "submit_per_byte",
                                             "submit_per_node",
                                             "submit_fixed",
                                             "device_fixed",
                                             "overlap",
                                             "submit_to_start"};

bool result_is_signed(const char *metric)
{
    for (size_t i = 0; i < sizeof signed_metrics / sizeof *signed_metrics; i++)
        if (strcmp(metric, signed_metrics[i]) == 0) return true;
    return false;
}

bool result_same_key(const struct result_row *a, const struct result_row *b)
{
    for (size_t i = 0; i < sizeof result_key / sizeof *result_key; i++)
        if (strcmp(a->field[result_key[i]], b->field[result_key[i]]) != 0) return false;
    return true;
}

// The C library gives out a static object here; there is nothing to free.
static locale_t c_locale(void) { return newlocale(LC_ALL_MASK, "C", (locale_t)0); }

double result_number(const struct result_row *row, enum result_column column)
{
    const char *text = row->field[column];
    char *end;
    // The alphabet keeps out what strtod also reads: spaces, hexadecimal, "inf" and "nan".
    if (text[0] == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0') return NAN;
    double value = strtod_l(text, &end, c_locale());
    return *end == '\0' && isfinite(value) ? value : NAN;
}

char *result_format(char *text, double value)
{
    text[0] = '\0';
    if (!isfinite(value)) return text;
    if (value == 0) value = 0; // no "-0"
    bool whole = fabs(value) >= 1e7 && fabs(value) < 1e15;
    locale_t before = uselocale(c_locale());
    snprintf(text, 32, whole ? "%.0f" : "%.7g", value);
    uselocale(before);
    return text;
}

// --- Writing -----------------------------------------------------------------------------------------------

static void write_one_line(FILE *file, const char *text)
{
    for (; *text; text++) fputc(*text == '\n' || *text == '\r' ? ' ' : *text, file);
}

void result_write_metadata(FILE *file, const char *key, const char *value)
{
    fputs("# ", file);
    write_one_line(file, key);
    fputs(": ", file);
    write_one_line(file, value);
    fputc('\n', file);
}

void result_write_field(FILE *file, const char *text)
{
    if (text[0] != '#' && text[0] != ' ' && !strpbrk(text, ",\"\r\n")) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"') fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static void write_fields(FILE *file, const char *const *field)
{
    for (int c = 0; c < RESULT_COLUMN_COUNT; c++) {
        if (c > 0) fputc(',', file);
        result_write_field(file, field[c]);
    }
    fputc('\n', file);
}

void result_write_header(FILE *file) { write_fields(file, result_column_names); }
void result_write_row(FILE *file, const struct result_row *row) { write_fields(file, row->field); }
void result_write_end(FILE *file) { fputs("# end\n", file); }

// --- Reading -----------------------------------------------------------------------------------------------

struct result_reader {
    FILE *file;
    char *text; // of the line being read: its fields, each ended by a NUL
    size_t used, room;
    size_t starts[RESULT_COLUMN_COUNT]; // of the fields in text
    unsigned fields;                    // how many there were, also those beyond starts
    unsigned long lines;                // line breaks read
    bool header_seen, over;
    bool skip; // the rest of a line that is at fault is still to be read
    bool cut;  // the line ended with the file, not with a line break
    char fault[160];
    char buffer[FILE_BUFFER_BYTES];
};

struct result_reader *result_reader_open(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file) return NULL;
    struct result_reader *reader = malloc(sizeof *reader);
    if (!reader) abort();
    memset(reader, 0, offsetof(struct result_reader, buffer));
    reader->room = 4096;
    reader->text = malloc(reader->room);
    if (!reader->text) abort();
    reader->file = file;
    setvbuf(file, reader->buffer, _IOFBF, sizeof reader->buffer);
    return reader;
}

void result_reader_close(struct result_reader *reader)
{
    if (!reader) return;
    fclose(reader->file);
    free(reader->text);
    free(reader);
}

// Reads up to the line break and past it.
static void skip_line(struct result_reader *reader)
{
    int c;
    while ((c = getc_unlocked(reader->file)) != '\n' && c != EOF) continue;
    if (c == '\n') reader->lines++;
}

static bool append(struct result_reader *reader, int byte)
{
    if (reader->used == reader->room) {
        if (reader->room == RECORD_BYTES_MAX) return false;
        reader->room *= 2;
        reader->text = realloc(reader->text, reader->room);
        if (!reader->text) abort();
    }
    reader->text[reader->used++] = (char)byte;
    return true;
}

static const char too_long[] = "the line is longer than 1 MiB";
static const char binary[] = "a NUL byte: this is a binary file, not a result file";

// Reads the rest of a line into text as it stands. Returns the fault, or NULL.
static const char *read_text(struct result_reader *reader)
{
    int c;
    reader->used = 0;
    while ((c = getc_unlocked(reader->file)) != '\n' && c != EOF) {
        if (c == '\0') return binary;
        if (!append(reader, c)) return too_long;
    }
    ungetc(c, reader->file);
    if (reader->used > 0 && reader->text[reader->used - 1] == '\r') reader->used--;
    if (!append(reader, '\0')) return too_long;
    skip_line(reader);
    return NULL;
}

static void begin_field(struct result_reader *reader)
{
    if (reader->fields < RESULT_COLUMN_COUNT) reader->starts[reader->fields] = reader->used;
    reader->fields++;
}

// Reads the fields of a row that begins with the byte C, RFC 4180. Returns the fault, or NULL.
static const char *read_fields(struct result_reader *reader, int c)
{
    enum { START, PLAIN, QUOTED, CLOSED } state = START;
    reader->used = reader->fields = 0;
    begin_field(reader);
    for (;; c = getc_unlocked(reader->file)) {
        if (c == '\0') return binary;
        if (state == QUOTED && c == EOF) return "the file is cut off within a quoted field";
        if (state == QUOTED && c != '"') {
            if (c == '\n') reader->lines++;
            if (!append(reader, c)) return too_long;
        } else if (c == '"') {
            if (state == PLAIN) return "a quote within a field that is not quoted";
            if (state == CLOSED && !append(reader, c)) return too_long; // the second of two quotes
            state = state == QUOTED ? CLOSED : QUOTED;
        } else if (c == ',' || c == '\n' || c == EOF) {
            if (c != ',' && state == PLAIN && reader->text[reader->used - 1] == '\r') reader->used--;
            if (!append(reader, '\0')) {
                ungetc(c, reader->file); // it may be the line break
                return too_long;
            }
            if (c == '\n') reader->lines++;
            reader->cut = c == EOF;
            if (c != ',') return NULL;
            begin_field(reader);
            state = START;
        } else if (state == CLOSED) {
            int next = c == '\r' ? getc_unlocked(reader->file) : c;
            if (next != c) ungetc(next, reader->file);
            if (next != '\n' && next != EOF) return "text behind a closing quote";
        } else {
            if (!append(reader, c)) return too_long;
            state = PLAIN;
        }
    }
}

static enum result_item bad(struct result_line *line, const char *fault)
{
    line->fault = fault;
    return RESULT_BAD;
}

// Nothing of value can follow.
static enum result_item hopeless(struct result_reader *reader, struct result_line *line, const char *fault)
{
    reader->over = true;
    return bad(line, fault);
}

// The rest of the line is still to be read.
static enum result_item broken(struct result_reader *reader, struct result_line *line, const char *fault)
{
    if (fault == binary) return hopeless(reader, line, fault);
    reader->skip = true;
    return bad(line, fault);
}

static const char *field_at(const struct result_reader *reader, unsigned column)
{
    return column < reader->fields ? reader->text + reader->starts[column] : "";
}

static const char *header_fault(struct result_reader *reader)
{
    unsigned column = 0;
    while (column < RESULT_COLUMN_COUNT && strcmp(field_at(reader, column), result_column_names[column]) == 0) column++;
    if (column == RESULT_COLUMN_COUNT && reader->fields == RESULT_COLUMN_COUNT) return NULL;
    const char *found = field_at(reader, column < RESULT_COLUMN_COUNT ? column : 0);
    if (column == 0 && strcmp(found, "1") == 0) return "the header line is missing: a row comes first";
    if (column == 0 && strcmp(found, "benchmark") == 0 && strcmp(field_at(reader, 7), "values") == 0)
        return "this is a samples file; the result file is the one without .samples in its name";
    if (column == RESULT_COLUMN_COUNT)
        snprintf(reader->fault, sizeof reader->fault, "foreign header: it has %u columns, schema 1 has %d",
                 reader->fields, RESULT_COLUMN_COUNT);
    else
        snprintf(reader->fault, sizeof reader->fault, "foreign header: column %u is '%.40s', in schema 1 it is '%s'",
                 column + 1, found, result_column_names[column]);
    return reader->fault;
}

static const char *row_fault(struct result_reader *reader)
{
    if (reader->fields != RESULT_COLUMN_COUNT) {
        snprintf(reader->fault, sizeof reader->fault, "%s%u fields, not %d",
                 reader->cut ? "the file is cut off within this row: " : "the row has ", reader->fields,
                 RESULT_COLUMN_COUNT);
        return reader->fault;
    }
    if (strcmp(field_at(reader, RESULT_SCHEMA), "1") == 0) return NULL;
    snprintf(reader->fault, sizeof reader->fault, "schema '%.40s' is not known, only %d is", field_at(reader, 0),
             RESULT_SCHEMA_VERSION);
    return reader->fault;
}

// `# key: value` and `# end`; RESULT_EOF for any other comment.
static enum result_item read_comment(struct result_reader *reader, struct result_line *line)
{
    const char *fault = read_text(reader);
    if (fault) return broken(reader, line, fault);
    if (strcmp(reader->text, " end") == 0) return RESULT_END_MARK;
    char *colon = strchr(reader->text, ':');
    if (!colon) return RESULT_EOF;
    *colon = '\0';
    line->key = reader->text + strspn(reader->text, " \r");
    line->value = colon + (colon[1] == ' ' ? 2 : 1);
    return RESULT_METADATA;
}

// A row that begins with the byte C; RESULT_EOF for the header and for an empty line.
static enum result_item read_row(struct result_reader *reader, struct result_line *line, int c)
{
    const char *fault = read_fields(reader, c);
    if (fault) return broken(reader, line, fault);
    if (reader->fields == 1 && reader->text[0] == '\0') return RESULT_EOF;
    if (!reader->header_seen) {
        reader->header_seen = true;
        fault = header_fault(reader);
        return fault ? hopeless(reader, line, fault) : RESULT_EOF;
    }
    fault = row_fault(reader);
    if (fault) return bad(line, fault);
    for (unsigned column = 0; column < RESULT_COLUMN_COUNT; column++)
        line->row.field[column] = reader->text + reader->starts[column];
    return RESULT_ROW;
}

enum result_item result_reader_next(struct result_reader *reader, struct result_line *line)
{
    enum result_item item = RESULT_EOF;
    while (item == RESULT_EOF && !reader->over) {
        if (reader->skip) skip_line(reader);
        reader->skip = false;
        memset(line, 0, sizeof *line);
        line->number = reader->lines + 1;
        int c = getc_unlocked(reader->file);
        if (c == '#') item = read_comment(reader, line);
        else if (c != EOF) item = read_row(reader, line, c);
        else if (ferror(reader->file)) {
            snprintf(reader->fault, sizeof reader->fault, "cannot be read: %s", strerror(errno));
            item = hopeless(reader, line, reader->fault);
        } else if (!reader->header_seen)
            item = hopeless(reader, line, ftell(reader->file) == 0 ? "the file is empty" : "there is no header line");
        else reader->over = true;
    }
    return item;
}
