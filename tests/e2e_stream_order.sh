#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A delay put in between kernels comes back in each gap and nowhere else, and one in each block of the filler in the latency
# behind it; what one multiprocessor cannot have says so, and kernels that do not run fail their rows.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
gap_ns=20000 block_ns=20000
cores=$(two_cores) || exit 77

# measure FILE [INJECTION]
measure() { measure_one_worker "$1" "${2-}" 0 --quick --budget 0.3 stream_order; }

# value FILE VARIANT METRIC AXIS_VALUE COLUMN
value() {
    rows "$1.csv" variant metric axis_value "$5" | awk -F'|' -v key="$2|$3|$4" '$1 "|" $2 "|" $3 == key { print $4 }'
}

# grew VARIANT METRIC AXIS_VALUE COLUMN EXPECTED TOLERANCE: by so much, in ns.
grew() {
    awk -v with="$(value with "$1" "$2" "$3" "$4")" -v before="$(value before "$1" "$2" "$3" "$4")" \
        -v after="$(value after "$1" "$2" "$3" "$4")" -v expected="$5" -v tolerance="$6" -v what="$*" 'BEGIN {
            seen = with - (before + after) / 2
            good = with != "" && before != "" && after != "" && \
                seen >= expected - tolerance && seen <= expected + tolerance
            printf "%-4s grew by %.0f ns: %s\n", good ? "ok" : "off", seen, what
            exit !good
        }'
}

# All of the delay ± 1 µs is in each gap, which is 50 to 800 ns without it, and none of it in a launch on an idle device.
gaps_come_back() {
    grew same_kernel gap '' median $gap_ns 1000 && grew alternating gap '' median $gap_ns 1000 &&
        grew same_kernel gap 8 median $gap_ns 1000 && grew plain gap 4194304 median $gap_ns 2000 &&
        grew idle launch_latency '' median 0 2000
}

# A launch behind the filler waits for the rest of its 160 blocks of 20 µs, which one worker takes one by one, but for 100 µs
# that had passed when it came; with the delay for twice as long. Other work on the worker's core only makes that longer,
# and is not gone for so long, so it is a least time. A launch on an idle device waits for none.
filler_comes_back() {
    waits_for before 160 20000 && waits_for with 160 $((20000 + block_ns)) && grew idle launch_latency '' median 0 2000
}

# waits_for FILE BLOCKS BLOCK_NS
waits_for() {
    awk -v least="$(value "$1" low launch_latency '' min)" -v whole=$(($2 * $3)) 'BEGIN {
        good = least != "" && least >= whole - 100000
        printf "%-4s low launch_latency at least %.0f of %.0f ns\n", good ? "ok" : "off", least, whole
        exit !good
    }'
}

# comes_back INJECTION CHECK. The machine is shared: what is off is measured again.
comes_back() {
    local _
    for _ in {1..6}; do
        measure before
        measure with "$1"
        measure after
        "$2" && return
    done
    fail "$1 does not come back"
}

comes_back "gap_ns=$gap_ns" gaps_come_back
# No kernel's own time is in a gap: eight blocks that spin for 2 µs each, or the writer's.
below() { awk -v part="$1" -v whole="$2" 'BEGIN { exit !(part != "" && part < whole / 2) }'; }
below "$(value before same_kernel gap 8 min)" 16000 || fail 'the gap holds a kernel that spins'
below "$(value before plain gap 4194304 min)" "$(value before plain duration 4194304 min)" || fail 'the gap holds the writer'

comes_back "block_ns=$block_ns" filler_comes_back

# --- The file is whole, and what cannot be is told --------------------------------------------------------------------

expect 0 "$reader" check before.csv
expect 2 "$reader" check with.csv
says 'falsified by injection'
(($(cat out err | grep -c '^with.csv:') == 1)) || fail 'more than the injection is wrong'

expect 0 taskset -c "$cores" "$host" --budget 0.001 --processes 1 --no-samples --output all.csv stream_order
expect 0 "$reader" check all.csv
rows all.csv variant metric axis axis_value status reason >got
for streams in 2 4 8 16 32; do
    for variant in gated ungated; do
        holds got "^$variant\|concurrent\|streams\|$streams\|unsupported\|the device has one multiprocessor: "
    done
done
holds got '^gated\|overlap\|none\|\|unsupported\|the device has one multiprocessor: its streams take turns$'
holds got "^high\|launch_latency\|none\|\|unsupported\|the host device's streams have one priority\$"
for bytes in 0 4096 16384 65536 262144 1048576 4194304 8388608 16777216 33554432 67108864; do
    holds got "^plain\|gap\|bytes\|$bytes\|(ok|unsteady)\|"
    ((bytes < 65536)) || holds got "^plain\|duration\|bytes\|$bytes\|(ok|unsteady)\|"
    holds got "^fenced\|gap\|bytes\|$bytes\|(ok|unsteady)\|"
done
for blocks in 1 8 16; do
    for variant in same_kernel alternating; do
        holds got "^$variant\|gap\|blocks_per_multiprocessor\|$blocks\|(ok|unsteady)\|"
    done
done
# 16 MiB are not stored as fast as 4 KiB: the writer writes.
awk -v much="$(value all plain duration 16777216 min)" -v little="$(value all plain duration 4096 min)" \
    'BEGIN { exit !(much > 100 * little) }' || fail 'the writer takes no longer for more bytes'

# --- Kernels that do not run leave no proof ---------------------------------------------------------------------------

expect 1 env LIFTOFF_HOST_INJECT=wrong_count=2500- "$host" --quick --no-samples --output stops.csv stream_order
rows stops.csv variant metric status reason >got
lacks got '\|(ok|unsteady|timeout)\|'
holds got '^same_kernel\|gap\|failed\|'
holds got '^low\|launch_latency\|failed\|'
