// SPDX-License-Identifier: Apache-2.0
// The pattern, the counting of what is found of it, and the two controls, on the host device.
#include "tests/unit_host.h"

#include "backends/gpu_kernel.h"
#include "common/survival.h"

enum { WORDS = 3 * SURVIVAL_PERIOD * 64 };

static struct survival_left left;

static void open_all(void **state)
{
    (void)state;
    assert_int_equal(survival_open(), GPU_OK);
    assert_int_equal(survival_seed(&left.seed), GPU_OK);
}

static double found_by(enum survival_kernel looker, uint32_t seed)
{
    double survived = -1;
    char detail[128];
    assert_int_equal(survival_look(looker, &left, seed, &survived, detail), GPU_OK);
    return survived;
}

static double found_in(uint32_t *words, uint32_t seed)
{
    double survived = -1;
    assert_int_equal(survival_look_memory(words, WORDS, seed, &survived), GPU_OK);
    return survived;
}

static void test_seeds_differ_and_are_not_0(void **state)
{
    (void)state;
    uint32_t before = 0, seed;
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(survival_seed(&seed), GPU_OK);
        assert_true(seed && seed != before);
        before = seed;
    }
}

static void test_the_pattern(void **state)
{
    open_all(state);
    static uint32_t words[WORDS], others[WORDS];
    uint32_t *memory = device_memory(sizeof words);
    assert_int_equal(survival_leave_memory(memory, WORDS, left.seed), GPU_OK);
    assert_int_equal(gpu_read(words, memory, sizeof words), GPU_OK);
    assert_int_equal(survival_leave_memory(memory, WORDS, left.seed + 1), GPU_OK);
    assert_int_equal(gpu_read(others, memory, sizeof others), GPU_OK);
    for (unsigned i = 0; i < WORDS; i++) {
        assert_true(words[i] && words[i] != others[i]);
        if (i >= SURVIVAL_PERIOD) assert_int_equal(words[i], words[i - SURVIVAL_PERIOD]);
        for (unsigned j = i + 1; j < SURVIVAL_PERIOD; j++) assert_true(words[i] != words[j]);
    }
    gpu_free(memory);
    survival_close();
}

static void test_memory_is_counted_by_the_word(void **state)
{
    open_all(state);
    uint32_t *memory = device_memory(WORDS * sizeof *memory);
    assert_true(found_in(memory, left.seed) == 0); // zeroed
    assert_int_equal(survival_leave_memory(memory, WORDS / 2, left.seed), GPU_OK);
    assert_true(found_in(memory, left.seed) == 0.5);
    assert_true(found_in(memory, left.seed + 1) == 0);
    assert_int_equal(survival_leave_memory(memory, WORDS, left.seed), GPU_OK);
    assert_true(found_in(memory, left.seed) == 1);
    memory[WORDS - 1] ^= 1;
    assert_true(found_in(memory, left.seed) == (WORDS - 1.0) / WORDS);
    gpu_free(memory);
    survival_close();
}

// Of the host's own: a worker keeps each kernel's array apart.
static void test_shared_memory_and_its_controls(void **state)
{
    open_all(state);
    double survived = -1;
    char detail[128];
    assert_int_equal(survival_pair(EITHER, EITHER, &left, left.seed, &survived, detail), GPU_OK);
    assert_true(survived == 1);
    assert_non_null(strstr(detail, "dropped_blocks="));
    assert_true(found_by(EITHER, left.seed) == 1); // to look changes nothing
    assert_true(found_by(EITHER, left.seed + 1) == 0);
    assert_true(found_by(LOOK, left.seed) == 0);
    assert_int_equal(survival_pair(EITHER, EITHER, &left, left.seed + 1, &survived, NULL), GPU_OK);
    assert_true(survived == 0);
    survival_close();
}

static void test_blocks_elsewhere_are_dropped(void **state)
{
    open_all(state);
    double survived = -1;
    assert_int_equal(survival_leave(EITHER, &left), GPU_OK);
    memset(left.on, 0, sizeof left.on);
    assert_int_equal(survival_look(EITHER, &left, left.seed, &survived, NULL), GPU_UNSUPPORTED);
    assert_non_null(strstr(gpu_error(), "no block looked"));
    survival_close();
}

static void test_a_lost_launch_is_told(void **state)
{
    open_device("wrong_count=200");
    open_all(state);
    double survived;
    unsigned failures = 0;
    for (unsigned i = 0; i < 400 && !failures; i++)
        if (survival_pair(EITHER, EITHER, &left, left.seed, &survived, NULL)) failures++;
    assert_int_equal(failures, 1);
    assert_non_null(strstr(gpu_error(), "did not run"));
    survival_close();
    close_device();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seeds_differ_and_are_not_0), ON_DEVICE(test_the_pattern),
        ON_DEVICE(test_memory_is_counted_by_the_word),     ON_DEVICE(test_shared_memory_and_its_controls),
        ON_DEVICE(test_blocks_elsewhere_are_dropped),      cmocka_unit_test(test_a_lost_launch_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
