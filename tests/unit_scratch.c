// SPDX-License-Identifier: Apache-2.0
// Folders for files that nobody keeps: made where TMPDIR says, and not at all where their name would have to be cut.
#include "common/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static void test_made_and_removed(void **state)
{
    (void)state;
    struct scratch scratch;
    struct stat status;
    unsetenv("TMPDIR");
    assert_int_equal(scratch_make(&scratch), GPU_OK);
    assert_int_equal(stat(scratch.path, &status), 0);
    assert_true(S_ISDIR(status.st_mode));
    char path[sizeof scratch.path];
    strcpy(path, scratch.path);
    scratch_remove(&scratch);
    assert_int_not_equal(stat(path, &status), 0);
}

static void test_a_long_name_is_refused(void **state)
{
    (void)state;
    for (size_t length = 200; length < 400; length++) {
        char folder[400] = "/";
        struct scratch scratch;
        memset(folder + 1, 'x', length - 1);
        folder[length] = '\0';
        setenv("TMPDIR", folder, 1);
        assert_int_equal(scratch_make(&scratch), GPU_FAILED);
        assert_string_equal(scratch.path, "");
        const bool cut = length + strlen("/liftoff-XXXXXX") >= sizeof scratch.path;
        assert_int_equal(strncmp(gpu_error(), cut ? "File name too long: " : "No such file", 12), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_made_and_removed),
                                       cmocka_unit_test(test_a_long_name_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
