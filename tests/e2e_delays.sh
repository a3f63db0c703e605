#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Delays that are put into the host device come back out of the metrics that contain them, and out of no others' parts.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
delay_ns=5000

# measure FILE [INJECTION]
measure() {
    rm -f "$1.csv"
    expect 0 env LIFTOFF_HOST_INJECT="${2-}" "$host" --quick --budget 0.15 --no-samples --output "$1.csv" empty_kernel
}

# value FILE METRIC COLUMN: of the plainest launch, which has the shortest params.
value() {
    rows "$1.csv" metric axis variant params "$3" | awk -F'|' -v metric="$2" '
        $1 == metric && $2 == "none" && $3 == "runtime" && (params == "" || length($4) < length(params)) {
            params = $4
            value = $5
        }
        END { print value }'
}

# delayed METRIC NAME: the delay, ± max(2 %, 60 ns), over the mean of the two runs around it. A batch of delayed launches takes
# a millisecond, and its mean collects all that interrupts a shared machine: there the bound grows with the batches' spread, to 10 %.
# A round trip without delay is a tenth as long, and host and device poll in step in it: with a delay they do not, for 4 %.
delayed() {
    local low
    low=$(value "$2" "$1" p05)
    (($(value "$2" "$1" batch) > 1)) || low=''
    awk -v with="$(value "$2" "$1" median)" -v before="$(value "$2-before" "$1" median)" \
        -v after="$(value "$2-after" "$1" median)" -v low="$low" -v delay=$delay_ns \
        -v metric="$1" -v name="$2" 'BEGIN {
            bound = 0.02 * delay > 60 ? 0.02 * delay : 60
            if (metric == "round_trip") bound = 0.04 * delay
            if (low != "" && 3 * (with - low) > bound) bound = 3 * (with - low)
            if (bound > 0.1 * delay) bound = 0.1 * delay
            seen = with - (before + after) / 2
            good = with != "" && before != "" && after != "" && seen >= delay - bound && seen <= delay + bound
            printf "%-4s %s: %s %.1f ns, before %.1f, after %.1f, so %.1f ± %.0f\n", good ? "ok" : "off",
                name, metric, with, before, after, seen, bound
            exit !good
        }'
}

# The machine is shared: what is off is measured again, seven times at most.
check_delay() {
    local name=$1 attempt metric off
    shift
    for attempt in {1..8}; do
        measure "$name-before"
        measure "$name" "${name}_ns=$delay_ns"
        measure "$name-after"
        off=()
        for metric; do delayed "$metric" "$name" || off+=("$metric"); done
        ((${#off[@]})) || return 0
        set -- "${off[@]}"
        echo "attempt $attempt: off are $*"
    done
    fail "$delay_ns ns of $name do not come back in $*"
}

check_delay launch submit submit_single launch_latency round_trip
check_delay gap device_period
check_delay complete completion_latency round_trip
