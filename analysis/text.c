// SPDX-License-Identifier: Apache-2.0
// UTF-8, widths and units. See text.h.
#include "analysis/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// How many bytes the character at TEXT has; 0 if it is none. *POINT is its code point.
static size_t decode(const char *text, uint32_t *point)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*text;
    size_t bytes = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
    if (bytes == 0 || first >= 0xf8) return 0;
    *point = bytes == 1 ? first : first & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80) return 0;
        *point = *point << 6 | ((unsigned char)text[i] & 0x3fu);
    }
    if (*point < smallest[bytes] || *point > 0x10ffff || (*point >= 0xd800 && *point < 0xe000)) return 0;
    return bytes;
}

char *text_clean(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        uint32_t point = 0;
        size_t bytes = decode(from, &point);
        if (point == '\n' || point == '\r' || point == '\t') {
            *to++ = ' ';
        } else if (bytes == 0 || point < 0x20 || (point >= 0x7f && point < 0xa0)) {
            *to++ = '?';
        } else {
            memmove(to, from, bytes);
            to += bytes;
        }
        from += bytes ? bytes : 1;
    }
    *to = '\0';
    return text;
}

static size_t point_width(uint32_t point)
{
    static const struct {
        uint32_t first, last;
        size_t width;
    } ranges[] = {{0x300, 0x36f, 0},   {0x200b, 0x200f, 0}, {0xfe00, 0xfe0f, 0},   {0x1100, 0x115f, 2},
                  {0x2e80, 0xa4cf, 2}, {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2},   {0xfe30, 0xfe6f, 2},
                  {0xff00, 0xff60, 2}, {0xffe0, 0xffe6, 2}, {0x1f300, 0x1faff, 2}, {0x20000, 0x3fffd, 2}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (point >= ranges[i].first && point <= ranges[i].last) return ranges[i].width;
    return 1;
}

size_t text_width(const char *text)
{
    size_t width = 0;
    uint32_t point;
    for (size_t bytes; *text && (bytes = decode(text, &point)) > 0; text += bytes) width += point_width(point);
    return width;
}

// The power of ten of VALUE when it is written with 4 significant digits: 999.96 has 3, as 1000 has.
static int exponent(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.3e", value);
    return value == 0 ? 0 : atoi(strchr(text, 'e') + 1);
}

static void write_digits(char *text, double value, int power)
{
    if (value == 0 || power < -4 || power > 15) snprintf(text, TEXT_VALUE_BYTES, "%.4g", value);
    else snprintf(text, TEXT_VALUE_BYTES, "%.*f", power < 3 ? 3 - power : 0, value);
}

static void add_unit(char *text, const char *unit)
{
    if (strcmp(unit, "count") == 0 || strcmp(unit, "ratio") == 0) return;
    size_t used = strlen(text);
    const char *per = strstr(unit, "_per_");
    int length = per ? (int)(per - unit) : (int)strlen(unit);
    snprintf(text + used, TEXT_VALUE_BYTES - used, " %.*s%s%s", length, unit, per ? "/" : "",
             per ? per + strlen("_per_") : "");
    text_clean(text);
}

char *text_value(char *text, double value, const char *unit)
{
    static const char *const scaled[] = {"ns", "µs", "ms", "s"};
    text[0] = '\0';
    if (isnan(value)) return text;
    int power = exponent(value), scale = 0;
    if (strcmp(unit, "ns") == 0) {
        scale = power < 3 ? 0 : power >= 9 ? 3 : power / 3;
        unit = scaled[scale];
        value /= pow(1000, scale);
    } else if (value == trunc(value) && fabs(value) < 1e15) {
        power = 3; // no decimals
    }
    write_digits(text, value, power - 3 * scale);
    add_unit(text, unit);
    return text;
}
