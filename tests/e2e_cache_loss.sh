#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A load finds what was touched just before, waits longer for what was swept out or does not fit, and a launch that never ran is told.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034 # measure_one_worker takes them
cores=$(two_cores) || exit 77

# value VARIANT BYTES: 0 stands for the largest set
value() {
    rows reload.csv metric variant params axis_value median | grep '^reload|' | grep 'memory=global' |
        awk -F'|' -v variant="$1" -v bytes="$2" \
            '$2 == variant && ($4 == bytes || !bytes) && $4 + 0 > last { last = $4; found = $5 } END { print found }'
}

attempt=0
while :; do
    measure_one_worker reload '' 0 --quick --budget 0.05 cache_loss
    expect 0 "$reader" check reload.csv
    near=$(value second_pass 16384) next=$(value next_launch 16384) swept=$(value after_sweep 16384) large=$(value second_pass 0)
    awk -v near="$near" -v next_one="$next" -v swept="$swept" -v large="$large" \
        'BEGIN { exit !(near > 0 && next_one > 0 && swept > 1.5 * next_one && large > 2 * near) }' && break
    ((++attempt <= 4)) || fail "cycles a load: $near touched, $next in the next launch, $swept swept, $large of the largest set"
done

# Every way of so many loads says so.
rows reload.csv metric axis_value detail | grep '^reload|16384|' | sort -u | cut -d'|' -f3 | cut -d';' -f1 >told
grep -qx 'loads=127' told || fail "16 KiB of 128 bytes each are 127 loads behind the first: $(cat told)"

# One of many launches does not run: the one that makes the sets, one that touches, one that chases.
for launch in 20 34 42 200; do
    measure_one_worker lost wrong_count=$launch 1 --quick --budget 0.02 cache_loss
    rows lost.csv status reason | grep '^failed|' >told
    (($(wc -l <told) == 1 && $(grep -c 'did not run' told) == 1)) ||
        fail "launch $launch never ran, and the rows say: $(cat told)"
done

# Without a sweep only what needs one is missing.
measure_one_worker unswept no_cache=1 0 --quick --budget 0.02 cache_loss
rows unswept.csv status metric variant reason | awk -F'|' '
    $3 == "after_sweep" { swept++; bad += $1 != "unsupported" || $4 !~ /nobody tells how large the shared cache is/ }
    $3 != "after_sweep" && $2 == "reload" { others++; bad += $1 != "ok" && $1 != "unsteady" }
    END { exit bad || !swept || !others }' || fail 'without a known cache more is lost than what needs a sweep'
