// SPDX-License-Identifier: Apache-2.0
// Copies what the reader gives. See load.h.
#include "analysis/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/text.h"

static void *must(void *memory)
{
    if (!memory) abort();
    return memory;
}

// Makes room in MEMORY for one more than COUNT elements; its room is the next power of two.
static void *grow(void *memory, size_t count, size_t each)
{
    return (count & (count - 1)) == 0 ? must(realloc(memory, (count ? 2 * count : 1) * each)) : memory;
}

static void add_row(struct loaded *file, const struct result_row *row)
{
    size_t bytes[RESULT_COLUMN_COUNT], total = 0;
    for (int c = 0; c < RESULT_COLUMN_COUNT; c++) total += bytes[c] = strlen(row->field[c]) + 1;
    char *texts = must(malloc(total)); // one block a row: field 0 owns it
    file->rows = grow(file->rows, file->row_count, sizeof *file->rows);
    struct result_row *copy = &file->rows[file->row_count++];
    for (int c = 0; c < RESULT_COLUMN_COUNT; texts += bytes[c++])
        copy->field[c] = memcpy(texts, row->field[c], bytes[c]);
}

bool load(struct loaded *file, const char *path, const char *program)
{
    *file = (struct loaded){0};
    struct result_reader *reader = result_reader_open(path);
    if (!reader) {
        fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
        return false;
    }
    struct result_line line;
    enum result_item item;
    bool whole = true;
    while ((item = result_reader_next(reader, &line)) != RESULT_EOF) {
        if (item == RESULT_ROW) add_row(file, &line.row);
        if (item == RESULT_END_MARK) file->ended = true;
        if (item == RESULT_METADATA) {
            file->metadata = grow(file->metadata, file->metadata_count, sizeof *file->metadata);
            file->metadata[file->metadata_count++] =
                (struct loaded_metadata){must(strdup(line.key)), must(strdup(line.value))};
        }
        if (item == RESULT_BAD) {
            char *fault = text_clean(must(strdup(line.fault)));
            fprintf(stderr, "%s: %s:%lu: %s\n", program, path, line.number, fault);
            free(fault);
            whole = false;
        }
    }
    result_reader_close(reader);
    return whole;
}

void load_free(struct loaded *file)
{
    for (size_t i = 0; i < file->metadata_count; i++) {
        free(file->metadata[i].key);
        free(file->metadata[i].value);
    }
    for (size_t i = 0; i < file->row_count; i++) free((char *)file->rows[i].field[0]);
    free(file->metadata);
    free(file->rows);
}

const char *load_metadata(const struct loaded *file, const char *key, const char *otherwise)
{
    const char *value = otherwise;
    for (size_t i = 0; i < file->metadata_count; i++)
        if (strcmp(file->metadata[i].key, key) == 0) value = file->metadata[i].value;
    return value;
}
