// SPDX-License-Identifier: Apache-2.0
// A measuring process: what it tells of a round is that round's own.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/bench.h"
#include "common/child.h"
#include "common/clock.h"
#include "common/supervise.h"

// --- In the child ------------------------------------------------------------------------------------------

// By the call: the first one is the round that warms up and does not count.
static const double bounds[] = {100, 7, 3, 0, 5};
enum { ROUNDS = sizeof bounds / sizeof *bounds - 1, SAMPLES = 2 };

// A round's bound is the largest of its samples'.
static enum gpu_status measure(struct bench_case *c, unsigned samples, double *values)
{
    static unsigned calls;
    for (unsigned i = 0; i < samples; i++) {
        values[i] = 1;
        c->error_bound[0] = fmax(c->error_bound[0], bounds[calls]);
    }
    calls++;
    return GPU_OK;
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    (void)quick;
    bench_add(plan, &(struct bench_case){
                        .outputs = {{"metric", "ns", "lower", NULL, 0}},
                        .samples = SAMPLES,
                        .rounds = ROUNDS,
                        .measure = measure,
                    });
    return GPU_OK;
}

static const struct benchmark bounded = {.name = "bounded", .setup = setup, .probes_only = true};
const struct benchmark *const benchmarks[] = {&bounded, NULL};

// --- The tests ---------------------------------------------------------------------------------------------

static char **words;

struct heard {
    unsigned rounds;
    double bound[ROUNDS];
};

static bool hear(void *context, const struct wire_header *header, const char *payload, int to_child)
{
    struct heard *heard = context;
    const uint32_t target = WIRE_DECIDE;
    struct wire_round round;
    if (header->type == WIRE_PLANNED) return write(to_child, &target, sizeof target) == sizeof target;
    if (header->type != WIRE_ROUND) return true;
    memcpy(&round, payload, sizeof round);
    if (heard->rounds == ROUNDS) return false;
    heard->bound[heard->rounds++] = round.error_bound;
    return true;
}

static void test_bounds_are_of_their_round(void **state)
{
    (void)state;
    struct heard heard = {0};
    struct child_order order = {.benchmark = "bounded", .processes = 1, .pu = -1};
    char reason[256];
    assert_int_equal(supervise(&order, words, 30, hear, NULL, &heard, reason), CHILD_DONE);
    assert_int_equal(heard.rounds, ROUNDS);
    for (unsigned i = 0; i < ROUNDS; i++) assert_true(heard.bound[i] == bounds[i + 1]);
}

int main(int argc, char **argv)
{
    static struct child_order order;
    static const struct settings settings = {.pin = "none", .precision_percent = 1, .budget_s = 1, .processes = 1};
    (void)argc;
    if (child_order_read(&order)) return child_run(&order, &settings, argv);
    words = argv;
    clock_init();
    supervise_signals();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounds_are_of_their_round)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
