// SPDX-License-Identifier: Apache-2.0
// Order statistics of latencies: quantiles, the interval of a median of rounds, and the rules for drift and two modes.
#include "common/stats.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

// The rules' numbers; docs/method.md says why.
#define CONFIDENCE 0.95
#define CORRELATION_MAX 0.9
#define DRIFT_PAIRS 0.9
#define MODES_EXPLAINED 0.9

static double *scratch_allocate(size_t count)
{
    double *values = malloc(count * sizeof *values);
    if (!values)
        abort();
    return values;
}

static int compare_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert(!isnan(values[i]));
    if (count > 1)
        qsort(values, count, sizeof *values, compare_ascending);
}

double stats_quantile(const double *sorted, size_t count, double q)
{
    assert(count > 0 && q >= 0 && q <= 1);
    double position = q * (double)(count - 1);
    size_t below = (size_t)position;
    double fraction = position - (double)below;
    // Also keeps the last value from reading its neighbour, and infinities from becoming NAN.
    if (fraction == 0 || sorted[below] == sorted[below + 1])
        return sorted[below];
    return sorted[below] + fraction * (sorted[below + 1] - sorted[below]);
}

void stats_summarize(double *values, size_t count, struct stats_summary *summary)
{
    *summary = (struct stats_summary){count, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (count == 0)
        return;
    stats_sort(values, count);
    summary->min = values[0];
    summary->p05 = stats_quantile(values, count, 0.05);
    summary->median = stats_quantile(values, count, 0.5);
    summary->p95 = stats_quantile(values, count, 0.95);
    if (count >= STATS_P99_MIN)
        summary->p99 = stats_quantile(values, count, 0.99);
    summary->max = values[count - 1];

    // Sums of distances from the median keep the digits that sums of large values lose.
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] - summary->median;
    double shift = sum / (double)count;
    summary->mean = summary->median + shift;
    for (size_t i = 0; i < count; i++) {
        double distance = values[i] - summary->median - shift;
        squares += distance * distance;
    }
    if (count > 1)
        summary->stddev = sqrt(squares / (double)(count - 1));
}

// The largest rank K (1 …) so that the Kth smallest to the Kth largest of COUNT values hold their population's median
// with at least 95 %: a count of heads is then K … COUNT − K. 0 where even the smallest and the largest do not.
static size_t median_rank(size_t count)
{
    double n = (double)count;
    size_t rank = count / 2;
    // From the centre outward, so that no term underflows however large COUNT is.
    double k = (double)rank;
    double probability = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2));
    double covered = count % 2 ? 2 * probability : probability;
    while (rank > 0 && covered < CONFIDENCE) {
        probability *= (double)rank / (double)(count - rank + 1);
        covered += 2 * probability;
        rank--;
    }
    return rank;
}

// How many of the COUNT >= 1 rounds belong to the first one's process.
static size_t process_length(const struct stats_round *rounds, size_t count)
{
    size_t length = 1;
    while (length < count && rounds[length].process == rounds[0].process)
        length++;
    return length;
}

static void copy_sorted(double *sorted, const struct stats_round *rounds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sorted[i] = rounds[i].median;
    stats_sort(sorted, count);
}

// The rank of VALUE among SORTED, counted from the middle; ties share theirs.
static double centred_rank(const double *sorted, size_t count, double value)
{
    size_t below = 0, not_above = count;
    for (size_t end = count; below < end;) {
        size_t middle = below + (end - below) / 2;
        if (sorted[middle] < value)
            below = middle + 1;
        else
            end = middle;
    }
    for (size_t start = below; start < not_above;) {
        size_t middle = start + (not_above - start) / 2;
        if (sorted[middle] > value)
            not_above = middle;
        else
            start = middle + 1;
    }
    return ((double)below + (double)not_above - (double)count) / 2;
}

struct lag_sums {
    double products, squares;
};

// Adds one process's rounds to the sums whose quotient is the correlation of the ranks of neighbours.
static void add_lag_sums(struct lag_sums *sums, const struct stats_round *rounds, const double *sorted, size_t count)
{
    double products = 0, squares = 0, previous = 0;
    for (size_t i = 0; i < count; i++) {
        double rank = centred_rank(sorted, count, rounds[i].median);
        products += previous * rank;
        squares += rank * rank;
        previous = rank;
    }
    // Ranks sum to zero, which alone makes neighbours unlike: in random order by exactly −1/COUNT.
    sums->products += products + squares / (double)count;
    sums->squares += squares;
}

// How much wider than for independent rounds the interval is to be.
static double lag_inflation(const struct lag_sums *sums)
{
    if (sums->products <= 0)
        return 1;
    double rho = fmin(sums->products / sums->squares, CORRELATION_MAX);
    return sqrt((1 + rho) / (1 - rho));
}

// From the smallest to the largest value where COUNT is too small for 95 %.
static struct stats_interval rank_interval(const double *sorted, size_t count, double inflation)
{
    double middle = (double)(count + 1) / 2;
    double rank = floor(middle - inflation * (middle - (double)median_rank(count)));
    size_t first = rank >= 1 ? (size_t)rank - 1 : 0;
    return (struct stats_interval){sorted[first], sorted[count - 1 - first]};
}

// The interval from COUNT >= 2 ascending medians of processes; rounds alone may bring these EXPLAINED apart.
static struct stats_interval process_interval(const double *medians, size_t count, double explained)
{
    // Longer by these shares of its length at each end, the hull of so few normal values holds their centre in 90 %.
    static const double stretch[] = {0, 0, 2.7, 0.5, 0.1};
    struct stats_interval hull = rank_interval(medians, count, 1);
    double length = hull.high - hull.low;
    if (count < sizeof stretch / sizeof stretch[0] && length > explained) {
        hull.low -= stretch[count] * length;
        hull.high += stretch[count] * length;
    }
    return hull;
}

// What rounds tell when each process is looked at by itself.
struct process_scan {
    double *medians; // of the processes, in the order taken
    double *rests;   // rounds less their process's median
    size_t count;    // of processes
    struct lag_sums sums;
};

static void scan_processes(struct process_scan *scan, const struct stats_round *rounds, size_t count)
{
    for (size_t first = 0, length; first < count; first += length) {
        length = process_length(rounds + first, count - first);
        double *own = scan->rests + first;
        copy_sorted(own, rounds + first, length);
        add_lag_sums(&scan->sums, rounds + first, own, length);
        double median = stats_quantile(own, length, 0.5);
        for (size_t i = 0; i < length; i++)
            own[i] -= median;
        scan->medians[scan->count++] = median;
    }
    stats_sort(scan->medians, scan->count);
    stats_sort(scan->rests, count);
}

struct stats_interval stats_median_interval(const struct stats_round *rounds, size_t count, double resolution)
{
    if (count < STATS_ROUNDS_MIN)
        return (struct stats_interval){NAN, NAN};
    struct process_scan scan = {.medians = scratch_allocate(count), .rests = scratch_allocate(count)};
    double *sorted = scratch_allocate(count);
    scan_processes(&scan, rounds, count);
    copy_sorted(sorted, rounds, count);

    double median = stats_quantile(sorted, count, 0.5), inflation = lag_inflation(&scan.sums);
    struct stats_interval interval = rank_interval(sorted, count, inflation);
    if (scan.count > 1) {
        struct stats_interval rest = rank_interval(scan.rests, count, inflation);
        double explained = fmax(rest.high - rest.low, resolution);
        struct stats_interval between = process_interval(scan.medians, scan.count, explained);
        interval.low = fmin(interval.low, between.low);
        interval.high = fmax(interval.high, between.high);
    }
    interval.low = fmin(interval.low, median - resolution / 2);
    interval.high = fmax(interval.high, median + resolution / 2);
    free(scan.medians);
    free(scan.rests);
    free(sorted);
    return interval;
}

double stats_relative_error(struct stats_interval interval, double median, double resolution)
{
    double width = interval.high - interval.low;
    if (isnan(width))
        return INFINITY;
    // An interval of one RESOLUTION around the median is that wide but for rounding.
    if (width <= resolution + 4 * DBL_EPSILON * fabs(median))
        return 0;
    return width / 2 / fabs(median);
}

// True if HIGH is more than LIMIT above LOW in nine of ten pairs of one of each; both are COUNT ascending values.
static bool lies_above(const double *high, const double *low, size_t count, double limit)
{
    double pairs = 0;
    for (size_t i = 0, below = 0; i < count; i++) {
        while (below < count && high[i] - low[below] > limit)
            below++;
        pairs += (double)below;
    }
    return pairs >= DRIFT_PAIRS * (double)count * (double)count;
}

bool stats_drifts(const struct stats_round *rounds, size_t count, double limit)
{
    if (count < STATS_DRIFT_MIN)
        return false;
    double *begin = scratch_allocate(count / 3), *end = scratch_allocate(count / 3);
    bool rises = true, falls = true;
    for (size_t first = 0, length; first < count && (rises || falls); first += length) {
        length = process_length(rounds + first, count - first);
        size_t third = length / 3;
        copy_sorted(begin, rounds + first, third);
        copy_sorted(end, rounds + first + length - third, third);
        rises = rises && length >= STATS_ROUNDS_MIN && lies_above(end, begin, third, limit);
        falls = falls && length >= STATS_ROUNDS_MIN && lies_above(begin, end, third, limit);
    }
    free(begin);
    free(end);
    return rises || falls;
}

// Where sorted[0 … count) is best cut in two, both parts holding at least a tenth: the cut that explains most of the
// variance of the values between the 2nd and the 98th percentile. 0 if no cut explains enough of it for two heaps.
static size_t best_split(const double *sorted, size_t count)
{
    size_t first = count / 50, last = count - first, tenth = (count + 9) / 10, best = 0;
    double centre = stats_quantile(sorted, count, 0.5), n = (double)(last - first);
    double sum = 0, squares = 0;
    for (size_t i = first; i < last; i++) {
        double distance = sorted[i] - centre;
        sum += distance;
        squares += distance * distance;
    }
    double least = MODES_EXPLAINED * (squares - sum * sum / n), lower_sum = 0;
    for (size_t i = first; i + tenth <= count; i++) {
        // Here i values lie below the cut, of which i − first count.
        double below = (double)(i - first), above = n - below;
        if (i >= tenth && sorted[i - 1] < sorted[i]) {
            double apart = (sum - lower_sum) / above - lower_sum / below;
            double explained = below * above / n * apart * apart;
            if (explained >= least) {
                least = explained;
                best = i;
            }
        }
        lower_sum += sorted[i] - centre;
    }
    return best;
}

bool stats_two_modes(const double *sorted, size_t count, double gap)
{
    size_t split = count < STATS_MODES_MIN ? 0 : best_split(sorted, count);
    return split > 0 &&
           stats_quantile(sorted + split, count - split, 0.5) - stats_quantile(sorted, split, 0.5) > gap;
}

double stats_slope(const double *x, const double *y, size_t count)
{
    double mean_x = 0, mean_y = 0, together = 0, spread = 0;
    for (size_t i = 0; i < count; i++) {
        mean_x += x[i] / (double)count;
        mean_y += y[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        together += (x[i] - mean_x) * (y[i] - mean_y);
        spread += (x[i] - mean_x) * (x[i] - mean_x);
    }
    return together / spread;
}
