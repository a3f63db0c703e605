// SPDX-License-Identifier: Apache-2.0
// What blocks tell, by hand: who was resident together, and which stamps are refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/hold.h"

// On multiprocessor 7 two blocks at once, then a third; on 2000 three at once; on 0 one after the other: 2, 3 and 1.
static const struct hold_stamp blocks[] = {{100, 200, 9, 7},    {110, 210, 9, 7},    {200, 300, 9, 7},
                                           {100, 200, 9, 2000}, {100, 205, 9, 2000}, {199, 290, 9, 2000},
                                           {90, 190, 9, 0},     {190, 310, 9, 0}};
enum { COUNT = sizeof blocks / sizeof *blocks };

static void test_resident(void **state)
{
    (void)state;
    assert_true(hold_resident(blocks, COUNT) == 2);
    assert_true(hold_resident(blocks, 3) == 2);
    assert_true(hold_resident(blocks + 3, 3) == 3);
    assert_true(hold_resident(blocks + 6, 2) == 1);
    assert_true(hold_resident(blocks, 6) == 2.5); // nothing of what was counted before is left
}

static void test_span(void **state)
{
    (void)state;
    uint64_t begin, end;
    assert_int_equal(hold_span(blocks, COUNT, 9, &begin, &end), GPU_OK);
    assert_int_equal(begin, 90);
    assert_int_equal(end, 310);
    assert_int_equal(hold_span(blocks, COUNT, 8, &begin, &end), GPU_FAILED);
    assert_string_equal(gpu_error(), "block 0 of 8 did not run, or lost what it held");
    struct hold_stamp far = {1, 2, 9, MULTIPROCESSORS_MAX};
    assert_int_equal(hold_span(&far, 1, 9, &begin, &end), GPU_UNSUPPORTED);
    assert_string_equal(gpu_error(), "the kernels of this device do not tell their multiprocessor (block 0: 4096)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_resident), cmocka_unit_test(test_span)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
