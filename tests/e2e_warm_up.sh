#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Branches that nobody can foresee cost a CPU more than others, delays come back, code sizes are the program's, and a launch that never ran is told.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034 # measure_one_worker takes them
cores=$(two_cores) || exit 77

# value FILE VARIANT METRIC PARAMS AXIS_VALUE
value() { rows "$1.csv" variant metric params axis_value median | awk -F'|' -v key="$2|$3|$4|$5" '$1 "|" $2 "|" $3 "|" $4 == key { print $5 }'; }
one='block_threads=32;blocks=1' everywhere='block_threads=32;blocks=multiprocessors'

measure() { measure_one_worker "$1" "${2-}" 0 --quick warm_up; }
measure plain
expect 0 "$reader" check plain.csv
symbols=$(readelf --wide --symbols "$host") || fail 'the program has no symbols to read'
for kernel in straight branches; do
    size=$(awk -v name="kernel_warm_$kernel" '$NF == name { print $3 }' <<<"$symbols")
    variant=${kernel/branches/branch_random}
    told=$(rows plain.csv variant metric detail | grep "^$variant|iteration" | cut -d'|' -f3 | cut -d';' -f1 | sort -u)
    [[ $told == "code_bytes=$((size))" ]] || fail "$kernel has $((size)) bytes in the program, and told is: $told"
    ((size > 4096)) || fail "$kernel has $size bytes only: a compiler made one piece of two"
done

# A CPU foresees branches that repeat, and not those at random: half of those are guessed wrong, at 10 cycles or more.
same() { value "$1" branch_same if_else_cost "$one;iteration=32..63;state=after_evictor" ''; }
random() { value "$1" branch_random if_else_cost "$one;iteration=32..63;state=after_evictor" ''; }
attempt=0
until awk -v same="$(same plain)" -v random="$(random plain)" 'BEGIN { exit !(random > same + 2 && same < 3 && same > -3) }'; do
    ((++attempt <= 4)) || fail "branches at random cost $(random plain) cycles, the same again $(same plain)"
    measure plain
done
for variant in straight branch_random; do
    for iteration in 0 1 63; do
        for state in after_evictor after_itself; do
            awk -v cycles="$(value plain "$variant" iteration "$one;state=$state" "$iteration")" 'BEGIN { exit !(cycles > 0) }' ||
                fail "iteration $iteration of $variant $state has no cycles"
        done
    done
done

# Code that lies in the core's cache already is there sooner: the first iteration shows what makes the state. Of both kernels,
# because a core fetches one of them ahead at times, and which one changes from build to build.
first() { echo $(($(value plain straight iteration "$one;state=$1" 0 | cut -d. -f1) + $(value plain branch_random iteration "$one;state=$1" 0 | cut -d. -f1))); }
attempt=0
until awk -v cold="$(first after_evictor)" -v warm="$(first after_itself)" 'BEGIN { exit !(cold > 1.15 * warm) }'; do
    ((++attempt <= 7)) || fail "both first iterations take $(first after_evictor) cycles behind other code, and $(first after_itself) after itself"
    measure plain
done

# What the CPU device has not is told with the reason.
rows plain.csv metric status reason | grep -q '^instructions_per_cycle|unsupported|.*cycle count of this device is its clock' ||
    fail 'instructions a cycle are to be unsupported'
rows plain.csv metric status reason | grep -q '^clock_rate|unsupported|.*cycle count of this device is its clock' || fail 'a clock rate is to be unsupported'
rows plain.csv metric status reason | grep -q '^block_start_skew|unsupported|.*only 1 of at least 2 multiprocessors' || fail 'skew is to be unsupported'

# With all the workers that there are, the rows without an axis are measured, or told why not.
expect 0 "$host" --no-samples --quick --output many.csv warm_up
expect 0 "$reader" check many.csv
for metric in block_start_skew all_busy_latency; do
    rows many.csv metric axis axis_value status reason |
        grep -qE "^$metric\|none\|\|(ok\||unsteady\||unsupported\|.*(began on|only 1 of at least 2|less than ten steps of the device's clock))" ||
        fail "with all workers: $(rows many.csv metric axis status reason | grep "^$metric")"
done

# The launch call is 20 µs longer, and what comes before the first block with it; 3 µs are what a neighbour adds.
launch_comes_back() { grew all_busy_latency '' "$everywhere" 20000 3000; }
come_back launch_comes_back launch_ns=20000

# From one on, no launch runs: whichever row it falls to.
measure_one_worker lost wrong_count=250- 1 --quick warm_up
rows lost.csv status reason | grep '^failed|' | grep -q 'did not run' || fail 'a launch that never ran passes unseen'
