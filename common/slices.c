// SPDX-License-Identifier: Apache-2.0
// Who had the device when. See slices.h.
#include "common/slices.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// A slice and whose it is.
struct owned {
    uint64_t begin, end;
    unsigned owner;
    bool first; // of its owner's
    bool last;  // it ended with the work, and not by a switch
};

static int by_begin(const void *left, const void *right)
{
    const struct owned *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static unsigned gather(const struct slices_track *tracks, unsigned count, struct owned *all)
{
    unsigned total = 0;
    for (unsigned t = 0; t < count; t++)
        for (unsigned i = 0; i < tracks[t].count; i++) {
            const struct slice *slice = &tracks[t].slices[i];
            all[total++] = (struct owned){slice->begin_ticks, slice->end_ticks, t, i == 0, i + 1 == tracks[t].count};
        }
    qsort(all, total, sizeof *all, by_begin);
    return total;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

static int by_size(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

// Another who has a turn in each round of two is in half of what lies between: the lower quartile is without him.
static double lower_quartile(const double *values, unsigned count)
{
    double sorted[SLICES_ALL];
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, by_size);
    return count ? sorted[(count - 1) / 4] : 0;
}

// Between THIS[0], whose turn began at TURN, and THIS[1].
static void count_gap(const struct owned *this, uint64_t turn, struct slices_account *account)
{
    const bool change = this[0].owner != this[1].owner;
    if (this[1].begin < this[0].end) {
        account->overlaps += change;
        return;
    }
    account->changes += change;
    if (change && (this[0].first || this[1].first)) return;
    const double apart = (double)(this[1].begin - this[0].end);
    if (apart > account->most_apart) account->most_apart = apart;
    if (!change) return;
    account->turn_period[account->switches] = (double)(this[1].begin - turn);
    account->switch_time[account->switches++] = apart;
}

void slices_count(const struct slices_track *tracks, unsigned count, struct slices_account *account)
{
    struct owned all[SLICES_ALL];
    uint64_t first = 0, last = UINT64_MAX;
    assert(count <= SLICES_TRACKS_MAX);
    *account = (struct slices_account){0};
    for (unsigned t = 0; t < count; t++) {
        assert(tracks[t].count >= 1 && tracks[t].count <= SLICES_TRACK_MAX);
        first = later(first, tracks[t].slices[0].begin_ticks);
        last = earlier(last, tracks[t].slices[tracks[t].count - 1].end_ticks);
    }
    if (first >= last) return;
    account->span = (double)(last - first);
    const unsigned total = gather(tracks, count, all);
    uint64_t turn = all[0].begin;
    for (unsigned i = 0; i < total; i++) {
        uint64_t begin = later(all[i].begin, first), end = earlier(all[i].end, last);
        if (begin < end) account->running += (double)(end - begin);
        if (all[i].begin > first && all[i].end < last && !all[i].last)
            account->slice[account->slices++] = (double)(all[i].end - all[i].begin);
        if (i == 0 || all[i].owner != all[i - 1].owner) turn = all[i].begin;
        if (i + 1 < total && all[i].end >= first && all[i + 1].begin <= last) count_gap(&all[i], turn, account);
    }
    account->typical_switch = lower_quartile(account->switch_time, account->switches);
}

double slices_accounted(const struct slices_account *account)
{
    return (account->running + account->changes * account->typical_switch) / account->span;
}
