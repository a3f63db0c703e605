#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A delay of each launch call comes back once in a graph's submit and for every kernel in a stream's, a gap between kernels in the
# device's time a node; a graph pays sooner where launches are dear; and a graph that does not run is told.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034 # measure_one_worker takes them
cores=$(two_cores) || exit 77

measure() { measure_one_worker "$1" "${2-}" 0 --quick --budget 0.1 graph; }

# value FILE VARIANT METRIC NODES
value() { rows "$1.csv" variant metric axis_value median | awk -F'|' -v key="$2|$3|$4" '$1 "|" $2 "|" $3 == key { print $4 }'; }

# above VARIANT METRIC NODES EXPECTED TOLERANCE: what delayed.csv has above the mean of the others.
above() {
    awk -v with="$(value delayed "$1" "$2" "$3")" -v before="$(value before "$1" "$2" "$3")" \
        -v after="$(value after "$1" "$2" "$3")" -v expected="$4" -v tolerance="$5" -v what="$*" 'BEGIN {
            seen = with - (before + after) / 2
            good = with != "" && before != "" && after != "" && seen >= expected - tolerance && seen <= expected + tolerance
            printf "%-4s %s: grew by %.0f\n", good ? "ok" : "off", what, seen
            exit !good
        }'
}

# A graph is one call, 100 kernels are 100 of them; its slope has no part of it. A tenth: neighbours disturb.
launches() {
    above line submit 100 20000 2000 && above line submit_per_node '' 0 20 && above stream submit 100 2000000 200000 &&
        awk -v dear="$(value delayed line break_even '')" 'BEGIN { exit !(dear > 0 && dear <= 2) }'
}
come_back launches launch_ns=20000

# The last node has nothing queued behind it.
gaps() {
    above line gap 100 3000 300 && above line gap 1000 3000 300 && above line period 100 2970 300 &&
        above line device_per_node '' 3000 300 && above line submit 100 0 1500
}
come_back gaps gap_ns=3000

expect 0 "$reader" check before.csv

measure_one_worker lost wrong_count=1500- 1 --quick --budget 0.02 graph
rows lost.csv status reason | grep '^failed|' | grep -q 'did not run' || fail 'a graph that never ran passes unseen'

# All rows have an answer, and the longest line ran.
measure_one_worker all '' 0 --processes 1 --budget 0.01 graph
rows all.csv variant metric axis_value status reason >got
holds got '^line\|period\|10000\|(ok|unsteady)\|'
holds got '^mixed\|period\|1000\|(ok|unsteady)\|'
holds got '^line\|update_node\|1000\|(ok|unsteady)\|'
holds got '^while\|iteration\|100\|unsupported\|.*no conditional nodes'
