// SPDX-License-Identifier: Apache-2.0
// Order statistics of latencies: quantiles, the interval of a median taken in rounds and processes, and the rules that
// call a series unsteady. docs/method.md has each rule and the interval's coverage.
#ifndef LIFTOFF_STATS_H
#define LIFTOFF_STATS_H

#include <stdbool.h>
#include <stddef.h>

// One round of one process: its median, in the row's unit, in the order taken.
struct stats_round {
    double median;
    unsigned process; // 0 …
};

struct stats_summary {
    size_t count;
    double min, p05, median, p95, p99, max, mean, stddev; // p99 is NAN under 1000 values, stddev (n − 1) under 2
};

struct stats_interval {
    double low, high; // both NAN where there are too few rounds
};

enum { STATS_ROUNDS_MIN = 6, STATS_P99_MIN = 1000, STATS_DRIFT_MIN = 18, STATS_MODES_MIN = 50 };

// Sorts ascending, in place. No function here takes NAN: a measured value is a number (an assertion).
void stats_sort(double *values, size_t count);

// The quantile Q (0 … 1) of COUNT >= 1 ascending values, linear between neighbours (Hyndman and Fan's type 7).
double stats_quantile(const double *sorted, size_t count, double q);

// Sorts VALUES and describes them. COUNT 0 gives all NAN.
void stats_summarize(double *values, size_t count, struct stats_summary *summary);

// The interval of the median from the medians of COUNT rounds, in the order taken, a process's rounds together: order
// statistics at 95 %, wider where neighbouring rounds of a process are alike, never narrower than the interval of
// the processes' medians nor than one RESOLUTION (low to high) around the median of all rounds. It holds the true
// median in less than 95 % where fewer than six processes differ, or few rounds are much alike. NAN, NAN for fewer than
// STATS_ROUNDS_MIN rounds.
struct stats_interval stats_median_interval(const struct stats_round *rounds, size_t count, double resolution);

// Half the interval's width over the absolute value of MEDIAN; 0 where the width is no more than RESOLUTION; INFINITY
// where it is NAN.
double stats_relative_error(struct stats_interval interval, double median, double resolution);

// True if in every process the last third of rounds lies above the first third, or in every process below it, by more
// than LIMIT (>= 0, same unit): nine in ten pairs of a round of each do. False under STATS_DRIFT_MIN rounds in all or
// under STATS_ROUNDS_MIN in a process, where chance alone does that too often. Rounds as for stats_median_interval.
bool stats_drifts(const struct stats_round *rounds, size_t count, double limit);

// True if COUNT ascending values fall into two heaps whose medians are further apart than GAP (absolute; less than two
// steps of a clock is no gap), each at least a tenth of them. False under STATS_MODES_MIN values.
bool stats_two_modes(const double *sorted, size_t count, double gap);

// The slope of the straight line of least squares through COUNT >= 2 points, not all of one X.
double stats_slope(const double *x, const double *y, size_t count);

#endif
