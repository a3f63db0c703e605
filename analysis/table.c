// SPDX-License-Identifier: Apache-2.0
// Keeps a table's cells until their widths are known. See table.h.
#include "analysis/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/text.h"

void table_add(struct table *table, const char *text)
{
    if (table->cell_count == table->cell_room) {
        table->cell_room = table->cell_room ? 2 * table->cell_room : 64;
        table->cells = realloc(table->cells, table->cell_room * sizeof *table->cells);
        if (!table->cells) abort();
    }
    char *copy = strdup(text);
    if (!copy) abort();
    table->cells[table->cell_count++] = text_clean(copy);
}

// How wide column C is; 0 if it is empty.
static size_t column_width(const struct table *table, size_t c)
{
    size_t widest = 0;
    for (size_t i = c; i < table->cell_count; i += table->column_count) {
        size_t width = text_width(table->cells[i]);
        if (width > widest) widest = width;
    }
    size_t heading = text_width(table->columns[c].heading);
    return widest > 0 && widest < heading ? heading : widest;
}

void table_print(const struct table *table, FILE *to, int indent)
{
    assert(table->column_count > 0 && table->cell_count % table->column_count == 0);
    size_t *widths = malloc(table->column_count * sizeof *widths);
    if (!widths) abort();
    for (size_t c = 0; c < table->column_count; c++) widths[c] = column_width(table, c);
    size_t lines = table->cell_count / table->column_count + 1;
    for (size_t line = 0; line < lines; line++) {
        size_t gap = (size_t)indent; // spaces are printed before the next text, so that no line ends in spaces
        for (size_t c = 0; c < table->column_count; c++) {
            const char *text =
                line == 0 ? table->columns[c].heading : table->cells[(line - 1) * table->column_count + c];
            if (widths[c] == 0) continue;
            size_t rest = widths[c] - text_width(text);
            if (table->columns[c].right) gap += rest;
            if (*text) {
                fprintf(to, "%*s%s", (int)gap, "", text);
                gap = 0;
            }
            gap += 2 + (table->columns[c].right ? 0 : rest);
        }
        fputc('\n', to);
    }
    free(widths);
}

void table_free(struct table *table)
{
    for (size_t i = 0; i < table->cell_count; i++) free(table->cells[i]);
    free(table->cells);
    table->cells = NULL;
    table->cell_count = table->cell_room = 0;
}
