// SPDX-License-Identifier: Apache-2.0
// The pauses of the light process: spread over all moments of the other's turns, and in each process other ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/neighbour.h"

enum { COUNT = NEIGHBOUR_SAMPLES };
static const double PART_NS = 5e6 / COUNT;

static void parts_of(uint64_t seed, unsigned *parts)
{
    double pauses_ns[COUNT];
    neighbour_pauses(pauses_ns, COUNT, &seed);
    for (unsigned i = 0; i < COUNT; i++) parts[i] = (unsigned)(pauses_ns[i] / PART_NS);
}

static void test_each_part_has_one(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        unsigned parts[COUNT], seen[COUNT] = {0};
        parts_of(seed << 40 ^ seed, parts);
        for (unsigned i = 0; i < COUNT; i++) {
            assert_true(parts[i] < COUNT);
            seen[parts[i]]++;
        }
        for (unsigned i = 0; i < COUNT; i++) assert_int_equal(seen[i], 1);
    }
}

// As those of neighbouring processes at the same time, and of one process at neighbouring times.
static void test_other_seeds_have_other_orders(void **state)
{
    (void)state;
    const uint64_t seeds[] = {1000000, 1000000 ^ UINT64_C(1) << 40, 1000001};
    unsigned parts[3][COUNT];
    for (unsigned s = 0; s < 3; s++) parts_of(seeds[s], parts[s]);
    for (unsigned s = 0; s < 3; s++) {
        unsigned same = 0;
        for (unsigned i = 0; i < COUNT; i++) same += parts[s][i] == parts[(s + 1) % 3][i];
        assert_true(same < COUNT / 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_part_has_one),
        cmocka_unit_test(test_other_seeds_have_other_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
