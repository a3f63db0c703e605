// SPDX-License-Identifier: Apache-2.0
// Simulates runs whose truth is known and checks what docs/method.md promises of the statistics: coverage [RUNS].
#include "common/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUND_SAMPLES = 9, ROUNDS_MAX = 120, VALUES_MAX = 1000, DESIGNS = 8 };

// --- Random numbers --------------------------------------------------------------------------------------------------

static uint64_t random_state;

// The generator SplitMix64.
static uint64_t random_bits(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double random_uniform(void) { return ((double)(random_bits() >> 11) + 0.5) * 0x1p-53; }

static double random_normal(void)
{
    double radius = sqrt(-2 * log(random_uniform()));
    return radius * cos(6.283185307179586 * random_uniform());
}

static double random_lognormal(void) { return exp(random_normal() / 2); }
static double random_exponential(void) { return -log(random_uniform()); }
static double random_cauchy(void) { return tan(3.141592653589793 * (random_uniform() - 0.5)); }

// One of two numbers; the second with probability SHARE.
static double random_of_two(double first, double second, double share)
{
    return random_uniform() < share ? second : first;
}

// Two random numbers in one expression would come in an order of the compiler's own.
static double random_latency(void)
{
    double factor = random_of_two(1, 10, 0.01);
    return factor * exp(random_normal() / 10);
}

static double random_bimodal(void)
{
    double heap = random_of_two(0, 20, 0.4);
    return heap + random_normal();
}

// --- The interval of the median --------------------------------------------------------------------------------------

// How the median of a round comes about, and what is promised of its interval. A round's own standard deviation is 1.
struct scenario {
    const char *name;
    double (*sample)(void); // the round's median is that of ROUND_SAMPLES of these; NULL: it is normal
    double truth;           // the median of the population
    double step;            // of the clock that quantises the samples, at a random phase, and with them the truth
    double rho;             // correlation of neighbouring rounds
    double process;         // standard deviation of the processes' shifts
    double heap;            // four rounds in ten are shifted by this
    double enough;          // a process takes no more rounds once its own interval is no wider than this; 0: takes all
    unsigned char promised[DESIGNS]; // per cent of intervals that hold the truth
    double widest;                   // mean width, as struct outcome has it
};

struct design {
    unsigned processes, rounds;
};

static const struct design designs[DESIGNS] = {{3, 2}, {3, 6}, {3, 12}, {3, 40}, {1, 6}, {1, 12}, {1, 40}, {6, 6}};

static const struct scenario scenarios[] = {
    {"normal", random_normal,
     .promised = {97, 98, 98, 98, 96, 98, 97, 99}, .widest = 1.85},
    {"lognormal", random_lognormal, .truth = 1,
     .promised = {97, 98, 98, 97, 96, 97, 97, 99}, .widest = 1.85},
    {"latency-like", random_latency, .truth = 1.001267,
     .promised = {97, 98, 98, 97, 96, 97, 97, 99}, .widest = 1.85},
    {"two modes, by sample", random_bimodal, .truth = 0.967422,
     .promised = {97, 98, 98, 97, 97, 97, 97, 99}, .widest = 16},
    {"two modes, by round", .truth = 0.967422, .heap = 20,
     .promised = {97, 98, 98, 98, 97, 97, 97, 99}, .widest = 16},
    {"quantised, step 2", random_normal, .step = 2,
     .promised = {99, 99, 99, 99, 99, 99, 99, 99}, .widest = 1.3},
    {"quantised, step 6.4", random_normal, .step = 6.4,
     .promised = {99, 99, 99, 99, 99, 99, 99, 99}, .widest = 1.3},
    {"rounds alike, rho 0.3", .rho = 0.3,
     .promised = {95, 97, 98, 98, 91, 96, 96, 99}, .widest = 1.85},
    {"rounds alike, rho 0.5", .rho = 0.5,
     .promised = {94, 96, 97, 98, 84, 94, 96, 98}, .widest = 1.85},
    {"rounds alike, rho 0.8", .rho = 0.8,
     .promised = {92, 94, 95, 96, 61, 82, 93, 97}, .widest = 1.85},
    {"processes differ by 0", .process = 0,
     .promised = {97, 98, 98, 97, 96, 97, 97, 99}, .widest = 1.85},
    {"processes differ by 0.5", .process = 0.5,
     .promised = {96, 95, 93, 90, 88, 85, 60, 98}, .widest = 1.85},
    {"processes differ by 1", .process = 1,
     .promised = {94, 92, 90, 91, 72, 64, 34, 97}, .widest = 1.85},
    {"processes differ by 2", .process = 2,
     .promised = {92, 91, 91, 91, 45, 38, 18, 97}, .widest = 1.85},
    {"processes differ by 5", .process = 5,
     .promised = {91, 91, 91, 91, 19, 16, 7, 96}, .widest = 1.85},
    {"stopped when narrow", .enough = 1,
     .promised = {97, 98, 98, 97, 96, 97, 94, 99}, .widest = 1.85},
};
enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

static double median_of_rounds(const struct stats_round *rounds, unsigned count)
{
    double values[ROUNDS_MAX];
    for (unsigned i = 0; i < count; i++)
        values[i] = rounds[i].median;
    stats_sort(values, count);
    return stats_quantile(values, count, 0.5);
}

static double median_of_samples(const struct scenario *scenario, double shift)
{
    double values[ROUND_SAMPLES];
    for (int i = 0; i < ROUND_SAMPLES; i++) {
        values[i] = scenario->sample() + shift;
        if (scenario->step > 0)
            values[i] = scenario->step * round(values[i] / scenario->step);
    }
    stats_sort(values, ROUND_SAMPLES);
    return stats_quantile(values, ROUND_SAMPLES, 0.5);
}

// Fills ROUNDS; returns their number.
static unsigned simulate_process(const struct scenario *scenario, unsigned process, unsigned count, double shift,
                                 struct stats_round *rounds)
{
    double near = random_normal();
    for (unsigned i = 0; i < count; i++) {
        near = scenario->rho * near + sqrt(1 - scenario->rho * scenario->rho) * random_normal();
        rounds[i].process = process;
        if (scenario->sample)
            rounds[i].median = median_of_samples(scenario, shift);
        else
            rounds[i].median = shift + near + random_of_two(0, scenario->heap, 0.4);
        if (scenario->enough > 0) {
            struct stats_interval interval = stats_median_interval(rounds, i + 1, 0);
            if (interval.high - interval.low <= scenario->enough)
                return i + 1;
        }
    }
    return count;
}

struct outcome {
    double covered; // share of runs whose interval holds the truth
    double width;   // mean, over that of an interval of fixed width around the median that holds the truth in 95 %
};

static struct outcome simulate(const struct scenario *scenario, struct design design, unsigned runs)
{
    struct stats_round rounds[ROUNDS_MAX];
    double width = 0, *errors = malloc(runs * sizeof *errors);
    unsigned covered = 0;
    if (!errors)
        abort();
    for (unsigned run = 0; run < runs; run++) {
        double phase = scenario->step * random_uniform();
        double truth = scenario->step > 0 ? scenario->step * round(phase / scenario->step) : scenario->truth;
        unsigned count = 0;
        for (unsigned process = 0; process < design.processes; process++)
            count += simulate_process(scenario, process, design.rounds, phase + scenario->process * random_normal(),
                                      rounds + count);
        struct stats_interval interval = stats_median_interval(rounds, count, scenario->step);
        covered += interval.low <= truth && truth <= interval.high;
        width += interval.high - interval.low;
        errors[run] = fabs(median_of_rounds(rounds, count) - truth);
    }
    stats_sort(errors, runs);
    double ideal = fmax(2 * stats_quantile(errors, runs, 0.95), scenario->step);
    free(errors);
    return (struct outcome){(double)covered / runs, width / runs / ideal};
}

// --- Promises --------------------------------------------------------------------------------------------------------

static unsigned broken;

// True if SHARE of RUNS is too far below PROMISED for chance.
static bool is_below(double share, double promised, unsigned runs)
{
    return share < promised - 4 * sqrt(promised * (1 - promised) / runs);
}

static void check(bool kept, const char *what)
{
    if (kept)
        return;
    broken++;
    printf("BROKEN: %s\n", what);
}

static void check_intervals(unsigned runs)
{
    printf("per cent of intervals that hold the true median, and mean width over the ideal; (processes,rounds)\n");
    printf("%-24s", "");
    for (int d = 0; d < DESIGNS; d++)
        printf("     (%u,%2u)", designs[d].processes, designs[d].rounds);
    putchar('\n');
    for (int s = 0; s < SCENARIOS; s++) {
        bool kept = true;
        printf("%-24s", scenarios[s].name);
        for (int d = 0; d < DESIGNS; d++) {
            struct outcome outcome = simulate(&scenarios[s], designs[d], runs);
            printf(" %5.1f %4.2f", 100 * outcome.covered, outcome.width);
            kept = kept && !is_below(outcome.covered, scenarios[s].promised[d] / 100.0, runs) &&
                   outcome.width <= scenarios[s].widest;
        }
        putchar('\n');
        check(kept, scenarios[s].name);
    }
}

static void check_processes(unsigned runs)
{
    static const struct {
        unsigned processes, promised;
    } rows[] = {{1, 19}, {2, 84}, {3, 91}, {4, 91}, {5, 93}, {6, 96}, {8, 98}, {12, 95}, {20, 95}};
    printf("\nthe same where processes differ by 5, six rounds each, by number of processes\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct design design = {rows[i].processes, 6};
        struct outcome outcome = simulate(&(struct scenario){.process = 5}, design, runs);
        printf("%24u %5.1f %4.2f\n", rows[i].processes, 100 * outcome.covered, outcome.width);
        check(!is_below(outcome.covered, rows[i].promised / 100.0, runs), "number of processes");
    }
}

// --- Drift and two modes ---------------------------------------------------------------------------------------------

static void check_drifts(unsigned runs)
{
    static const struct design drifting[] = {{1, 18}, {1, 40}, {2, 9}, {3, 6}, {3, 12}, {3, 40}};
    printf("\nper cent called drifting: independent rounds; rounds that rise evenly by 8 standard deviations\n");
    for (size_t d = 0; d < sizeof drifting / sizeof drifting[0]; d++) {
        unsigned found[2] = {0}, count = drifting[d].processes * drifting[d].rounds;
        for (unsigned run = 0; run < 2 * runs; run++) {
            struct stats_round rounds[ROUNDS_MAX];
            for (unsigned i = 0; i < count; i++) {
                double rise = run % 2 * 8.0 * (i % drifting[d].rounds) / (drifting[d].rounds - 1);
                rounds[i] = (struct stats_round){random_normal() + rise, i / drifting[d].rounds};
            }
            found[run % 2] += stats_drifts(rounds, count, 0);
        }
        printf("%21u,%2u %5.1f %5.1f\n", drifting[d].processes, drifting[d].rounds, 100.0 * found[0] / runs,
               100.0 * found[1] / runs);
        check(!is_below(1 - (double)found[0] / runs, 0.98, runs), "a false drift in at most 2 %");
        check(!is_below((double)found[1] / runs, 0.98, runs), "a drift of 8 standard deviations is seen in 98 %");
    }
}

static double share_two_modes(double (*sample)(void), double apart, double share, unsigned count, unsigned runs)
{
    unsigned found = 0;
    for (unsigned run = 0; run < runs; run++) {
        double values[VALUES_MAX];
        for (unsigned i = 0; i < count; i++) {
            double heap = random_of_two(0, apart, share);
            values[i] = heap + sample();
        }
        stats_sort(values, count);
        found += stats_two_modes(values, count, 0);
    }
    return (double)found / runs;
}

static void check_modes(unsigned runs)
{
    static const struct {
        const char *name;
        double (*sample)(void);
    } shapes[] = {{"normal", random_normal},           {"uniform", random_uniform}, {"lognormal", random_lognormal},
                  {"exponential", random_exponential}, {"Cauchy", random_cauchy},   {"latency-like", random_latency}};
    printf("\nper cent called two modes: 50, 200, 1000 values of one heap\n");
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        printf("%24s", shapes[s].name);
        for (unsigned n = 50; n <= VALUES_MAX; n = n == 50 ? 200 : 5 * n) {
            double share = share_two_modes(shapes[s].sample, 0, 0, n, runs);
            printf(" %6.2f", 100 * share);
            check(!is_below(1 - share, n == 50 ? 0.999 : 0.9999, runs), "no two modes where there is one");
        }
        putchar('\n');
    }
    printf("\nper cent called two modes: 1000 values of two normal heaps, by distance; upper heap 15, 30, 50 %%\n");
    for (unsigned apart = 4; apart <= 12; apart += 2) {
        printf("%24u", apart);
        for (unsigned percent = 15; percent <= 50; percent += percent == 15 ? 15 : 20) {
            double share = share_two_modes(random_normal, apart, percent / 100.0, VALUES_MAX, runs / 10 + 1);
            printf(" %6.2f", 100 * share);
            check(apart < 10 || share > 0.98, "two modes ten standard deviations apart are seen");
        }
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    unsigned runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000;
    if (argc > 2 || runs < 1000) {
        fprintf(stderr, "usage: coverage [RUNS], at least 1000\n");
        return 2;
    }
    check_intervals(runs);
    check_processes(runs);
    check_drifts(runs);
    check_modes(runs);
    printf(broken ? "\n%u promises broken\n" : "\nall promises kept\n", broken);
    return broken > 0;
}
