// SPDX-License-Identifier: Apache-2.0
// Tests result files: what is written is read back, broken files are named for what they are, docs/schema.md is true.
#include "common/result.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define HEADER                                                                                                         \
    "schema,run_id,backend,device,benchmark,variant,metric,unit,better,params,axis,axis_value,detail,status,reason,"   \
    "estimator,samples,batch,min,p05,median,p95,p99,max,mean,stddev,median_low,median_high,error_bound\n"
#define ROW_BEGIN "1,r1,host,dev,"
#define ROW_END ",runtime,round_trip,ns,lower,,none,,,ok,,distribution,10,1,1,2,3,4,,6,3,1,2.5,3.5,0\n"
#define ROW ROW_BEGIN "empty_kernel" ROW_END

static char path[32]; // of a file in memory
static struct result_reader *reader;
static struct result_line line;

static void write_file(const char *text, size_t bytes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    reader = result_reader_open(path);
    assert_non_null(reader);
}

static void begin(const char *text) { write_file(text, strlen(text)); }

static void expect(enum result_item item, unsigned long number)
{
    assert_int_equal(result_reader_next(reader, &line), item);
    if (item != RESULT_EOF) assert_int_equal(line.number, number);
}

static void expect_bad(const char *fault, unsigned long number)
{
    expect(RESULT_BAD, number);
    assert_string_equal(line.fault, fault);
}

static void expect_end(void)
{
    expect(RESULT_EOF, 0);
    expect(RESULT_EOF, 0);
    result_reader_close(reader);
}

static void test_columns(void **state)
{
    (void)state;
    char text[1024] = "";
    for (int c = 0; c < RESULT_COLUMN_COUNT; c++) {
        strcat(text, result_column_names[c]);
        strcat(text, c + 1 < RESULT_COLUMN_COUNT ? "," : "\n");
    }
    assert_string_equal(text, HEADER);
    assert_int_equal(RESULT_COLUMN_COUNT, 29);
}

static void test_format(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "0"},
                 {1, "1"},
                 {0.1, "0.1"},
                 {-2.5, "-2.5"},
                 {4213.70049, "4213.7"},
                 {4213.70051, "4213.701"},
                 {1.0 / 3, "0.3333333"},
                 {9999999, "9999999"},
                 {1234567.25, "1234567"},
                 {16777216, "16777216"},
                 {16777216.5, "16777216"},
                 {123456788.7, "123456789"},
                 {-123456788.7, "-123456789"},
                 {999999999999999.0, "999999999999999"},
                 {1e15, "1e+15"},
                 {0.00001234, "1.234e-05"},
                 {NAN, ""},
                 {INFINITY, ""},
                 {-INFINITY, ""}};
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(result_format(text, cases[i].value), cases[i].text);
}

static void test_format_keeps_order(void **state)
{
    (void)state;
    static const double ascending[] = {9999999.4,         9999999.6, 10000000.4,  10000001,
                                       999999999999999.4, 1e15,      1.0000004e15};
    char text[32];
    double before = 0;
    for (size_t i = 0; i < sizeof ascending / sizeof *ascending; i++) {
        double now = atof(result_format(text, ascending[i]));
        assert_true(now >= before);
        before = now;
    }
}

static void test_number(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},      {"12", 12},       {"-3.5", -3.5}, {"+1", 1},
                {"1e3", 1000}, {"2.5E-1", 0.25}, {".5", 0.5},    {"7.", 7}};
    static const char *const wrong[] = {"",   " 1", "1 ",  "1x",    "0x10",  "inf", "nan",   "-", ".",
                                        "e5", "1e", "1,5", "1.2.3", "1e999", "--1", "1e5.5", "١"};
    struct result_row row = {{0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        row.field[RESULT_MEDIAN] = good[i].text;
        assert_true(result_number(&row, RESULT_MEDIAN) == good[i].value);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        row.field[RESULT_MEDIAN] = wrong[i];
        assert_true(isnan(result_number(&row, RESULT_MEDIAN)));
    }
}

static void test_write(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    struct result_row row;
    for (int c = 0; c < RESULT_COLUMN_COUNT; c++) row.field[c] = "";
    row.field[0] = "1";
    row.field[1] = "a,b";
    row.field[2] = "say \"hi\"";
    row.field[3] = "two\nlines";
    row.field[4] = "#hash";
    row.field[5] = " space";
    row.field[6] = "cr\rcr";
    row.field[7] = "plain # text ";
    result_write_metadata(file, "ke\ny", "a\r\nb: c");
    result_write_row(file, &row);
    result_write_end(file);
    fclose(file);
    assert_string_equal(text,
                        "# ke y: a  b: c\n1,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\"#hash\",\" space\",\"cr\rcr\","
                        "plain # text ,,,,,,,,,,,,,,,,,,,,,\n# end\n");
    free(text);
}

static void test_read_back(void **state)
{
    (void)state;
    static const char *const awkward[] = {"1", "a,b", "\"",   "\"\"", "x\ny\n", "\r", "\r\n",
                                          "#", " ",   "µs …", ",",    "\"a\",", "",   "1\r"};
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    struct result_row row;
    for (size_t c = 0; c < RESULT_COLUMN_COUNT; c++)
        row.field[c] = awkward[c == 0 ? 0 : c % (sizeof awkward / sizeof *awkward)];
    result_write_metadata(file, "key", " two  spaces: and colons ");
    result_write_header(file);
    result_write_row(file, &row);
    result_write_end(file);
    fclose(file);
    write_file(text, bytes);
    free(text);

    expect(RESULT_METADATA, 1);
    assert_string_equal(line.key, "key");
    assert_string_equal(line.value, " two  spaces: and colons ");
    expect(RESULT_ROW, 3);
    for (int c = 0; c < RESULT_COLUMN_COUNT; c++) assert_string_equal(line.row.field[c], row.field[c]);
    expect(RESULT_END_MARK, 10); // fields 4, 6, 18 and 20 hold six line breaks
    expect_end();
}

static void test_read_plain(void **state)
{
    (void)state;
    begin("# run_id: r1\n#no colon here\n#tight:value\n" HEADER "\n" ROW "# plan: empty_kernel 1\n# end\n");
    expect(RESULT_METADATA, 1);
    assert_string_equal(line.value, "r1");
    expect(RESULT_METADATA, 3);
    assert_string_equal(line.key, "tight");
    assert_string_equal(line.value, "value");
    expect(RESULT_ROW, 6);
    assert_string_equal(line.row.field[RESULT_BENCHMARK], "empty_kernel");
    assert_string_equal(line.row.field[RESULT_PARAMS], "");
    assert_string_equal(line.row.field[RESULT_ERROR_BOUND], "0");
    assert_true(result_number(&line.row, RESULT_MEDIAN_LOW) == 2.5);
    assert_true(isnan(result_number(&line.row, RESULT_P99)));
    expect(RESULT_METADATA, 7);
    expect(RESULT_END_MARK, 8);
    expect_end();
}

// Every line break of a file as a CR and an LF, as some transfers leave it.
static void test_read_crlf(void **state)
{
    (void)state;
    static const char plain[] = "# run_id: r1\n" HEADER ROW_BEGIN "\"empty_kernel\"" ROW_END "# end\n";
    char text[2 * sizeof plain], *to = text;
    for (const char *from = plain; *from; from++) {
        if (*from == '\n') *to++ = '\r';
        *to++ = *from;
    }
    write_file(text, (size_t)(to - text));
    expect(RESULT_METADATA, 1);
    assert_string_equal(line.value, "r1");
    expect(RESULT_ROW, 3);
    assert_string_equal(line.row.field[RESULT_BENCHMARK], "empty_kernel");
    assert_string_equal(line.row.field[RESULT_ERROR_BOUND], "0");
    expect(RESULT_END_MARK, 4);
    expect_end();
}

static void test_last_field_quoted_crlf(void **state)
{
    (void)state;
    char text[] = HEADER ROW;
    text[sizeof text - 3] = '\0'; // without the last field, "0\n"
    char whole[2048];
    snprintf(whole, sizeof whole, "%s\"7\"\r\n%s\"8\"", text, text + strlen(HEADER));
    begin(whole);
    expect(RESULT_ROW, 2);
    assert_string_equal(line.row.field[RESULT_ERROR_BOUND], "7");
    expect(RESULT_ROW, 3);
    assert_string_equal(line.row.field[RESULT_ERROR_BOUND], "8");
    expect_end();
}

static void test_bad_rows_are_passed_over(void **state)
{
    (void)state;
    begin(HEADER "1,r1,host\n" ROW "2" ROW_BEGIN "x" ROW_END ROW_BEGIN "a\"b" ROW_END ROW_BEGIN "\"a\"b" ROW_END ROW);
    expect_bad("the row has 3 fields, not 29", 2);
    expect(RESULT_ROW, 3);
    expect_bad("schema '21' is not known, only 1 is", 4);
    expect_bad("a quote within a field that is not quoted", 5);
    expect_bad("text behind a closing quote", 6);
    expect(RESULT_ROW, 7);
    expect_end();
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    static const char whole[] = "# run_id: r1\n" HEADER ROW ROW_BEGIN "\"empty\"\"\n,kernel\"" ROW_END "# end\n";
    size_t head = strlen("# run_id: r1\n" HEADER), first = head + strlen(ROW), end = strlen(whole) - strlen("# end\n");
    for (size_t bytes = 0; bytes < strlen(whole); bytes++) {
        unsigned rows = 0, bad = 0;
        bool ended = false;
        write_file(whole, bytes);
        for (enum result_item item; (item = result_reader_next(reader, &line)) != RESULT_EOF;) {
            rows += item == RESULT_ROW;
            bad += item == RESULT_BAD;
            ended = ended || item == RESULT_END_MARK;
        }
        result_reader_close(reader);
        // Only a row's line break may be missing; with it gone the row still has all its fields.
        bool whole_line =
            bytes >= head - 1 && (bytes <= head || (bytes >= first - 2 && bytes <= first) || bytes >= end - 2);
        if (bytes >= head) assert_int_equal(rows, (bytes >= first - 2) + (bytes >= end - 2));
        assert_int_equal(bad, whole_line ? 0 : 1);
        assert_int_equal(ended, bytes == strlen(whole) - 1);
    }
}

static void test_cut_row_says_so(void **state)
{
    (void)state;
    begin(HEADER ROW "1,r1,host");
    expect(RESULT_ROW, 2);
    expect_bad("the file is cut off within this row: 3 fields, not 29", 3);
    expect_end();
    begin(HEADER "1,r1,\"ho\nst,");
    expect_bad("the file is cut off within a quoted field", 2);
    expect_end();
}

static void test_hopeless_files(void **state)
{
    (void)state;
    begin("");
    expect_bad("the file is empty", 1);
    expect_end();
    begin("# run_id: r1\n");
    expect(RESULT_METADATA, 1);
    expect_bad("there is no header line", 2);
    expect_end();
    begin(ROW ROW);
    expect_bad("the header line is missing: a row comes first", 1);
    expect_end();
    begin("TestCase,Mean,Median\n1,2,3\n");
    expect_bad("foreign header: column 1 is 'TestCase', in schema 1 it is 'schema'", 1);
    expect_end();
    begin("schema,run_id,backend,device,benchmark\n");
    expect_bad("foreign header: column 6 is '', in schema 1 it is 'variant'", 1);
    expect_end();
    char text[] = HEADER;
    text[strlen(text) - 1] = ',';
    begin(text);
    expect_bad("foreign header: it has 30 columns, schema 1 has 29", 1);
    expect_end();
    begin("# run_id: r1\nbenchmark,variant,metric,params,axis,axis_value,process,values\n");
    expect(RESULT_METADATA, 1);
    expect_bad("this is a samples file; the result file is the one without .samples in its name", 2);
    expect_end();
}

static void test_binary(void **state)
{
    (void)state;
    static const char *const places[] = {"\177ELF\1%", "# run_id: %r1\n", HEADER "1,%", HEADER "1,\"%", "%"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char text[1024];
        size_t bytes = strlen(places[i]);
        memcpy(text, places[i], bytes);
        *(char *)memchr(text, '%', bytes) = '\0';
        write_file(text, bytes);
        expect(RESULT_BAD, i == 2 || i == 3 ? 2 : 1);
        assert_string_equal(line.fault, "a NUL byte: this is a binary file, not a result file");
        expect_end();
    }
}

static void test_unreadable(void **state)
{
    (void)state;
    assert_null(result_reader_open("/nonexistent/file"));
    assert_int_equal(errno, ENOENT);
    result_reader_close(NULL);
    reader = result_reader_open("/");
    assert_non_null(reader);
    expect_bad("cannot be read: Is a directory", 1);
    expect_end();
}

// A row of up to 1 MiB is read, a longer one is named and the next line is read; so is a metadata line.
static void test_long_lines(void **state)
{
    (void)state;
    enum { MIB = 1 << 20 };
    size_t rest = strlen(ROW_BEGIN) + strlen(ROW_END); // a byte of memory a byte of the line, its line break included
    for (int more = -1; more <= 2; more++) {
        size_t filled = MIB - rest + (size_t)more;
        char *text = malloc(4 * MIB), *to = text;
        to += sprintf(to, HEADER ROW_BEGIN);
        memset(to, 'x', filled);
        to += filled + (size_t)sprintf(to + filled, ROW_END ROW "# ");
        memset(to, 'k', 2 * MIB);
        to += 2 * MIB + sprintf(to + 2 * MIB, ": v\n" ROW);
        write_file(text, (size_t)(to - text));
        free(text);
        if (more <= 0) expect(RESULT_ROW, 2);
        else expect_bad("the line is longer than 1 MiB", 2);
        if (more <= 0) assert_int_equal(strlen(line.row.field[RESULT_BENCHMARK]), filled);
        expect(RESULT_ROW, 3);
        expect_bad("the line is longer than 1 MiB", 4);
        expect(RESULT_ROW, 5);
        expect_end();
    }
}

static void test_keys(void **state)
{
    (void)state;
    struct result_row a, b;
    for (int c = 0; c < RESULT_COLUMN_COUNT; c++) a.field[c] = b.field[c] = "";
    assert_true(result_same_key(&a, &b));
    for (int c = 0; c < RESULT_COLUMN_COUNT; c++) {
        b = a;
        b.field[c] = "other";
        bool in_key = c == RESULT_BENCHMARK || c == RESULT_VARIANT || c == RESULT_METRIC || c == RESULT_PARAMS ||
                      c == RESULT_AXIS || c == RESULT_AXIS_VALUE;
        assert_int_equal(result_same_key(&a, &b), !in_key);
    }
    assert_true(result_is_signed("submit_to_start"));
    assert_true(result_is_signed("sync_error"));
    assert_true(result_is_signed("stamp_cost"));
    assert_true(result_is_signed("delay_ratio"));
    assert_true(result_is_signed("device_period"));
    assert_true(result_is_signed("submit_per_byte") && result_is_signed("submit_per_argument"));
    assert_false(result_is_signed("round_trip"));
    assert_false(result_is_signed(""));
}

// The names in the first column of the tables under HEADING of docs/schema.md, each ended by a newline.
static void read_schema_table(const char *heading, char *names, size_t room)
{
    FILE *file = fopen("docs/schema.md", "r");
    if (!file) fail_msg("docs/schema.md: %s; run this from the project's root", strerror(errno));
    char *text = NULL;
    size_t size = 0, used = 0;
    bool here = false;
    names[0] = '\0';
    while (getline(&text, &size, file) > 0) {
        if (strncmp(text, "## ", 3) == 0) here = strncmp(text + 3, heading, strlen(heading)) == 0;
        if (!here || strncmp(text, "| `", 3) != 0) continue;
        used += (size_t)snprintf(names + used, room - used, "%.*s\n", (int)strcspn(text + 3, "`"), text + 3);
        assert_true(used < room);
    }
    free(text);
    fclose(file);
}

static void test_schema_document(void **state)
{
    (void)state;
    char names[4096], expected[4096] = "";
    for (int c = 0; c < RESULT_COLUMN_COUNT; c++) {
        strcat(expected, result_column_names[c]);
        strcat(expected, "\n");
    }
    read_schema_table("Columns", names, sizeof names);
    assert_string_equal(names, expected);

    read_schema_table("Signed metrics", names, sizeof names);
    unsigned count = 0;
    for (char *rest = names, *name; (name = strsep(&rest, "\n")) && *name; count++) assert_true(result_is_signed(name));
    assert_int_equal(count, 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_format_keeps_order),
        cmocka_unit_test(test_number),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_read_back),
        cmocka_unit_test(test_read_plain),
        cmocka_unit_test(test_read_crlf),
        cmocka_unit_test(test_last_field_quoted_crlf),
        cmocka_unit_test(test_bad_rows_are_passed_over),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_cut_row_says_so),
        cmocka_unit_test(test_hopeless_files),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_schema_document),
    };
    int fd = memfd_create("result", MFD_CLOEXEC);
    if (fd < 0) return 1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
