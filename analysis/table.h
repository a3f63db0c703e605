// SPDX-License-Identifier: Apache-2.0
// A table of texts, aligned by what a terminal shows.
#ifndef LIFTOFF_ANALYSIS_TABLE_H
#define LIFTOFF_ANALYSIS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table_column {
    const char *heading;
    bool right; // aligned to the right
};

// Set columns and column_count, the rest zero.
struct table {
    const struct table_column *columns;
    size_t column_count;
    char **cells; // a row after the other
    size_t cell_count, cell_room;
};

// Adds the next cell, cleaned, a copy of TEXT.
void table_add(struct table *table, const char *text);

// Prints headings and rows, each line behind INDENT spaces. Columns without a single text are left out.
void table_print(const struct table *table, FILE *to, int indent);

void table_free(struct table *table);

#endif
