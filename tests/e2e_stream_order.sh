#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A delay between kernels comes back in each gap, one of the host's call in no gap but in launch_latency; a launch waits
# for the whole grid before it; what was written takes time and is found; and what the host lacks is told.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
gap_ns=5000 launch_ns=20000 filler_ns=$((160 * 20000))

cores=$(two_cores) || exit 77

# measure FILE [INJECTION]
measure() {
    rm -f "$1.csv"
    expect 0 taskset -c "$cores" env LIFTOFF_HOST_INJECT="${2-}" \
        "$host" --quick --budget 0.5 --no-samples --output "$1.csv" stream_order
    holds "$1.csv" '^# workers: 1$'
}

# value FILE VARIANT METRIC AXIS_VALUE: its median.
value() {
    rows "$1.csv" variant metric axis_value median | awk -F'|' -v key="$2|$3|$4" '$1 "|" $2 "|" $3 == key { print $4 }'
}

# grows FILE VARIANT METRIC AXIS_VALUE EXPECTED SLACK: by what the median is above the two runs around it.
grows() {
    awk -v with="$(value "$1" "$2" "$3" "$4")" -v before="$(value before "$2" "$3" "$4")" \
        -v after="$(value after "$2" "$3" "$4")" -v expected="$5" -v slack="$6" -v name="$1: $2 $3 $4" 'BEGIN {
            seen = with - (before + after) / 2
            good = with != "" && before != "" && after != "" && seen >= expected - slack && seen <= expected + slack
            printf "%-4s %s: %.0f ns, before %.0f, after %.0f, so %.0f of %.0f ± %.0f\n", good ? "ok" : "off",
                name, with, before, after, seen, expected, slack
            exit !good
        }'
}

# A gap of the host device is 50 to 300 ns, by where the caches stand; behind 4 MiB that were written up to 500 ns more. The
# slack is twice that. A gap that held the host's call would grow by all of it, one that missed the end of the kernel
# before by nothing. What is off is measured again: other work on the cores passes.
comes_back() {
    local off=0
    for row in 'same_kernel|gap|' 'alternating|gap|' 'same_kernel|gap|8' 'plain|gap|4194304'; do
        IFS='|' read -r variant metric at <<<"$row"
        local slack=$((at == 4194304 ? 1000 : 500))
        grows gap "$variant" "$metric" "$at" "$gap_ns" "$slack" || off=1
        grows launch "$variant" "$metric" "$at" 0 "$slack" || off=1
    done
    grows gap idle launch_latency '' 0 1000 || off=1
    grows launch idle launch_latency '' "$launch_ns" 1000 || off=1
    # The launch comes 30 to 50 µs after that of the grid before it, and its call takes no part of the wait.
    awk -v low="$(value before low launch_latency '')" -v whole=$filler_ns 'BEGIN {
        printf "a launch behind %d ns of work waits %s ns\n", whole, low
        exit !(low >= whole - 60000 && low <= 1.1 * whole)
    }' || off=1
    # No core writes 200 bytes a ns.
    awk -v ns="$(value before plain duration 4194304)" 'BEGIN { print "4 MiB take " ns " ns"; exit !(ns >= 4194304 / 200) }' ||
        off=1
    ((off == 0))
}

attempt=0
until ((attempt > 0)) && comes_back; do
    ((++attempt <= 6)) || fail 'the delays do not come back'
    measure before
    measure gap "gap_ns=$gap_ns"
    measure launch "launch_ns=$launch_ns"
    measure after
done

# --- The file is whole, and what cannot be is told --------------------------------------------------------------------

expect 0 "$reader" check before.csv
expect 2 "$reader" check gap.csv
says 'falsified by injection'
(($(rows before.csv status | wc -l) <= 11)) || fail 'more than 10 rows of --quick' # and the header

expect 0 taskset -c "$cores" "$host" --processes 1 --budget 0.01 --no-samples --output all.csv stream_order
expect 0 "$reader" check all.csv
(($(rows all.csv status | wc -l) <= 61)) || fail 'more than 60 rows'
rows all.csv variant metric axis axis_value status reason >got
for bytes in 0 4096 16384 65536 262144 1048576 4194304 16777216 67108864; do
    for row in 'plain\|gap' 'plain\|duration' 'fenced\|gap'; do holds got "^$row\|bytes\|$bytes\|(ok|unsteady)\|"; done
done
for blocks in 1 8 16; do
    for kernels in same_kernel alternating; do
        holds got "^$kernels\|gap\|blocks_per_multiprocessor\|$blocks\|(ok|unsteady)\|"
    done
done
turns='unsupported\|the device has one multiprocessor: its streams take turns$'
for variant in gated ungated; do
    for metric in overlap second_start; do holds got "^$variant\|$metric\|none\|\|$turns"; done
    for streams in 2 4 8 16 32; do holds got "^$variant\|concurrent\|streams\|$streams\|$turns"; done
done
holds got "^high\|launch_latency\|none\|\|unsupported\|the host device's streams have one priority$"
holds got '^low\|launch_latency\|none\|\|(ok|unsteady)\|'

# --- Kernels that do not run leave no stamp ---------------------------------------------------------------------------

expect 1 env LIFTOFF_HOST_INJECT=wrong_count=1200- "$host" --quick --no-samples --output stops.csv stream_order
rows stops.csv variant metric status reason | grep -v '|unsupported|' >got
lacks got '\|(ok|unsteady|timeout)\|'
holds got '^same_kernel\|gap\|failed\|"block 0 of [0-9]+ did not run'
holds got '^plain\|duration\|failed\|"block 0 of [0-9]+ did not run'
holds got '^(low|idle)\|launch_latency\|failed\|'
