// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of result files: no input may break it, and what it has read it writes and reads back the same.
//
// With -DLIBFUZZER and clang's -fsanitize=fuzzer this is a fuzzer; without, a program that replays files.
#include "common/result.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) abort();
}

// Reads SIZE bytes as a result file and writes what it holds to *TEXT, which the caller frees. Returns the bad lines.
static unsigned long rewrite(const char *data, size_t size, char **text, size_t *bytes)
{
    char path[32];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct result_reader *reader = result_reader_open(path);
    FILE *file = open_memstream(text, bytes);
    require(reader && file);

    struct result_line line;
    enum result_item item;
    unsigned long bad = 0, number = 0;
    result_write_header(file);
    while ((item = result_reader_next(reader, &line)) != RESULT_EOF) {
        require(line.number >= number);
        number = line.number;
        if (item == RESULT_METADATA) result_write_metadata(file, line.key, line.value);
        if (item == RESULT_ROW) result_write_row(file, &line.row);
        if (item == RESULT_END_MARK) result_write_end(file);
        if (item == RESULT_ROW)
            for (int c = 0; c < RESULT_COLUMN_COUNT; c++) (void)result_number(&line.row, (enum result_column)c);
        if (item == RESULT_BAD) require(line.fault && ++bad);
    }
    result_reader_close(reader);
    fclose(file);
    close(fd);
    return bad;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *once, *twice;
    size_t once_bytes, twice_bytes;
    rewrite((const char *)data, size, &once, &once_bytes);
    // Quotes and `: ` may make a line that was just short enough too long.
    if (size < 1 << 18) {
        require(rewrite(once, once_bytes, &twice, &twice_bytes) == 0);
        require(once_bytes == twice_bytes && memcmp(once, twice, once_bytes) == 0);
        free(twice);
    }
    free(once);
    return 0;
}

#ifndef LIBFUZZER
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb"), *memory;
        char *data, block[4096];
        size_t size, taken;
        if (!file || !(memory = open_memstream(&data, &size))) {
            perror(argv[i]);
            return 2;
        }
        while ((taken = fread(block, 1, sizeof block, file)) > 0) fwrite(block, 1, taken, memory);
        fclose(memory);
        fclose(file);
        LLVMFuzzerTestOneInput((const uint8_t *)data, size);
        free(data);
    }
    return 0;
}
#endif
