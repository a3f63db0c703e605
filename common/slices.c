// SPDX-License-Identifier: Apache-2.0
// Who had the device when. See slices.h.
#include "common/slices.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

// A slice and whose it is.
struct owned {
    uint64_t begin, end;
    unsigned owner;
    bool last; // of its owner's: it ended with the work, and not by a switch
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
            all[total++] = (struct owned){slice->begin_ticks, slice->end_ticks, t, i + 1 == tracks[t].count};
        }
    qsort(all, total, sizeof *all, by_begin);
    return total;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

void slices_count(const struct slices_track *tracks, unsigned count, struct slices_account *account)
{
    struct owned all[SLICES_TRACKS_MAX * SLICES_TRACK_MAX];
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
    for (unsigned i = 0; i < total; i++) {
        uint64_t begin = later(all[i].begin, first), end = earlier(all[i].end, last);
        if (begin < end) account->running += (double)(end - begin);
        if (all[i].begin > first && all[i].end < last && !all[i].last)
            account->slice[account->slices++] = (double)(all[i].end - all[i].begin);
        if (i + 1 == total || all[i].owner == all[i + 1].owner) continue;
        if (all[i].end < first || all[i + 1].begin > last) continue;
        if (all[i + 1].begin < all[i].end) {
            account->overlaps++;
            continue;
        }
        double between = (double)(all[i + 1].begin - all[i].end);
        account->switch_time[account->switches++] = between;
        account->between += between;
    }
}
