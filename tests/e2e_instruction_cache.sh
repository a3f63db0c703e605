#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sizes of code are those that the linked program has, what is swept costs more than what is not, and a launch that never ran is told.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034 # measure_one_worker takes them
cores=$(two_cores) || exit 77

measure_one_worker warm '' 0 --quick --budget 0.1 instruction_cache
expect 0 "$reader" check warm.csv

# Read from the program, not from the object that the build reads.
symbols=$(readelf --wide --symbols "$host") || fail 'the program has no symbols to read'
for kibibytes in 4 64 512; do
    size=$(awk -v name="kernel_straight_$kibibytes" '$NF == name { print $3 }' <<<"$symbols")
    told=$(rows warm.csv axis_value detail | grep "^$((kibibytes * 1024))|" | cut -d';' -f1 | sort -u)
    [[ $told == "$((kibibytes * 1024))|code_bytes=$((size))" ]] ||
        fail "$kibibytes KiB of code are $((size)) bytes in the program, and told as: $told"
    ((size >= kibibytes * 1024 - 512 && size <= kibibytes * 1024 + 512)) || fail "$kibibytes KiB of code came to $size bytes"
done

# value FILE VARIANT METRIC
value() { rows "$1.csv" variant metric median | awk -F'|' -v key="$2|$3" '$1 "|" $2 == key { print $3 }'; }

attempt=0
until awk -v hit="$(value warm after_itself load)" -v swept="$(value warm after_sweep load)" \
    'BEGIN { exit !(hit > 0 && swept > 1.2 * hit) }'; do
    ((++attempt <= 4)) || fail "a load takes $(value warm after_sweep load) cycles after the sweep, and $(value warm after_itself load) without"
    measure_one_worker warm '' 0 --quick --budget 0.1 instruction_cache
done

# A ratio of two times errs by both: the bound is in the proportion of the ratio to what is warm. 10 µs are at least that in
# the median when the passes are chosen; later runs may be quicker, on a shared machine by half.
measure_one_worker whole '' 0 --processes 1 --budget 0.02 instruction_cache
rows whole.csv metric status median error_bound detail | awk -F'|' '
    $1 != "slowdown" || $2 == "unsupported" { next }
    { match($5, /warm_ns=[0-9]+/); warm = substr($5, RSTART + 8, RLENGTH - 8) + 0 }
    !($4 > 0 && warm > 2500) { print; bad = 1 }
    { count++ }
    END { exit bad || count < 10 }' || fail 'a slowdown without a bound, or of too short a kernel'

# One of many launches in a round does not run.
measure_one_worker lost wrong_count=200 1 --quick --budget 0.02 instruction_cache
rows lost.csv status reason | grep '^failed|' | grep -q 'did not run' || fail 'a launch that never ran passes unseen'

# Without a sweep only what needs one is missing.
measure_one_worker unswept no_cache=1 0 --quick --budget 0.02 instruction_cache
rows unswept.csv status metric variant reason | awk -F'|' '
    $3 == "after_sweep" { swept++; bad += $1 != "unsupported" || $4 !~ /nobody tells how large the shared cache is/ }
    $3 != "after_sweep" && $2 == "cycles_per_instruction" { others++; bad += $1 != "ok" && $1 != "unsteady" }
    END { exit bad || !swept || !others }' || fail 'without a known cache more is lost than what needs a sweep'
