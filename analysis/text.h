// SPDX-License-Identifier: Apache-2.0
// Text for a terminal, UTF-8: what files hold made safe to print, its width, and values as people write them.
#ifndef LIFTOFF_ANALYSIS_TEXT_H
#define LIFTOFF_ANALYSIS_TEXT_H

#include <stddef.h>

// Makes TEXT printable in place: line breaks and tabs become spaces, other control characters (a terminal would obey
// them) and what is no UTF-8 become '?'. Returns TEXT.
char *text_clean(char *text);

// Columns that a terminal needs for TEXT, as text_clean leaves it.
size_t text_width(const char *text);

enum { TEXT_VALUE_BYTES = 64 };

// VALUE with its unit, 4 significant digits: ns as ns, µs, ms or s; `count` and `ratio` bare, `ns_per_byte` as ns/byte.
// Whole numbers in other units than ns are written in full. "" for NAN. TEXT holds TEXT_VALUE_BYTES. Returns TEXT.
char *text_value(char *text, double value, const char *unit);

#endif
