#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Delays put in between kernels, and in launches, come back in the chains and single launches of the plain stream; what the
# host device cannot have says so; a chain whose kernels do not run is failed. unit_dependency has the arithmetic.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
cores=$(two_cores) || exit 77

# measure FILE [INJECTION [STATUS]]
measure() { measure_one_worker "$1" "${2-}" "${3-0}" --quick --budget 0.05 dependent_launch; }

single='block_threads=32;blocks=1;kernel=stamp' chain='block_threads=32;blocks=1;mechanism=stream;wait=no'

# All of 20 µs ± 1 µs is in each gap and period, its negative in what would be overlap, and none of it in a single launch.
gaps_come_back() {
    grew gap stream "$chain" 20000 1000 && grew period stream "$chain" 20000 1000 &&
        grew overlap stream "$chain" -20000 1000 && grew launch_latency stream "$single" 0 2000
}

# 20 µs a launch are in the call and in all that contains it, and in no gap: the queue was full.
launches_come_back() {
    grew submit stream "$single" 20000 2000 && grew round_trip stream "$single" 20000 2000 &&
        grew gap stream "$chain" 0 1000 && grew period stream "$chain" 0 1000
}

come_back gaps_come_back gap_ns=20000
come_back launches_come_back launch_ns=20000

# A period holds the 10 µs that each kernel works, and a gap does not.
rows before.csv variant metric params min | awk -F'|' '
    $1 == "stream" && $2 == "period" { period = $4 }
    $1 == "stream" && $2 == "gap" { gap = $4 }
    END { exit !(period >= 10000 && gap != "" && gap < 5000) }' || fail 'a gap holds the work, or a period lacks it'

# --- The whole file ---------------------------------------------------------------------------------------------------

expect 0 "$reader" check before.csv
expect 2 "$reader" check delayed.csv
says 'falsified by injection'
(($(cat out err | grep -c '^delayed.csv:') == 1)) || fail 'more than the injection is wrong'

expect 0 taskset -c "$cores" "$host" --budget 0.001 --processes 1 --no-samples --output all.csv dependent_launch
expect 0 "$reader" check all.csv
rows all.csv variant metric params axis_value status reason >got
none='unsupported\|the host device has no dependent launches$'
# shape BLOCKS MECHANISM WAIT
shape() { echo "block_threads=32;blocks=$1;mechanism=$2;wait=$3"; }
for kind in '1 stream' 'multiprocessors stream' '1 graph'; do
    read -r blocks mechanism <<<"$kind"
    for metric in gap overlap period; do
        holds got "^stream\|$metric\|$(shape "$blocks" "$mechanism" no)\|10000\|(ok|unsteady)\|"
        for variant in attribute trigger_start trigger_middle trigger_end; do
            holds got "^$variant\|$metric\|$(shape "$blocks" "$mechanism" yes)\|10000\|$none"
        done
    done
    for metric in overlap period order_broken; do
        holds got "^trigger_start\|$metric\|$(shape "$blocks" "$mechanism" no)\|10000\|$none"
    done
done
for duration in 0 2000 50000; do
    holds got "^stream\|period\|$(shape 1 stream no)\|$duration\|(ok|unsteady)\|"
    holds got "^trigger_start\|gap\|$(shape 1 stream yes)\|$duration\|$none"
done
for metric in launch_latency submit round_trip; do
    holds got "^stream\|$metric\|$single\|\|(ok|unsteady)\|"
    holds got "^attribute\|$metric\|$single\|\|$none"
done

# --- Kernels that do not run leave no proof ---------------------------------------------------------------------------

measure stops wrong_count=900- 1
rows stops.csv variant metric status reason >got
lacks got '^stream\|.*\|(ok|unsteady|timeout)\|'
holds got '^stream\|period\|failed\|'
