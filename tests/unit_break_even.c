// SPDX-License-Identifier: Apache-2.0
// Break-even by hand: a line through two points, and the first number of kernels at which one line is below another.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/break_even.h"

static void test_line(void **state)
{
    (void)state;
    const struct break_even_line line = break_even_line((double[]){12, 210}, (unsigned[]){1, 100});
    assert_true(line.per_kernel == 2);
    assert_true(line.fixed == 10);
}

static void test_kernels(void **state)
{
    (void)state;
    const struct break_even_line stream = {0, 4}, graph = {10, 1}, free = {0, 0}, once = {20, 2};
    assert_true(break_even_kernels(graph, free, stream, 1) == 4);  // 10 + 4 < 16, but 10 + 3 > 12
    assert_true(break_even_kernels(graph, once, stream, 1) == 30); // 30 + 3 * 30 = 4 * 30
    assert_true(break_even_kernels(graph, once, stream, 2) == 10); // 20 + 2 * 10 = 4 * 10
    assert_true(break_even_kernels(stream, free, graph, 1) > BREAK_EVEN_MOST);
    assert_true(break_even_kernels(free, free, graph, 1) == 1); // cheaper from none on
    assert_true(break_even_kernels(stream, free, stream, 1) > BREAK_EVEN_MOST);
    assert_true(break_even_kernels(graph, (struct break_even_line){1e9, 0}, stream, 1) > BREAK_EVEN_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_line), cmocka_unit_test(test_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
