#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A delay in each launch call comes back once a call: in a thread's submit, in the period of all, and in the launch latency.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
delay_ns=20000

cores=$(two_cores) || exit 77

# measure FILE [INJECTION]
measure() { measure_one_worker "$1" "${2-}" 0 --quick contention; }

# value FILE VARIANT METRIC AXIS_VALUE COLUMN
value() { rows "$1.csv" variant metric axis_value "$5" | awk -F'|' -v key="$2|$3|$4" '$1 "|" $2 "|" $3 == key { print $4 }'; }

# comes_back METRIC AXIS_VALUE: the delay ± 5 %. Other work on the cores makes calls longer.
comes_back() {
    awk -v with="$(value with stream_each "$1" "$2" median)" -v before="$(value before stream_each "$1" "$2" median)" \
        -v after="$(value after stream_each "$1" "$2" median)" -v delay=$delay_ns -v metric="$1" 'BEGIN {
            seen = with - (before + after) / 2
            good = with != "" && before != "" && after != "" && seen >= 0.95 * delay && seen <= 1.05 * delay
            printf "%-4s %s %.0f ns, before %.0f, after %.0f, so %.0f of %d ns\n", good ? "ok" : "off", metric, with, before,
                after, seen, delay
            exit !good
        }'
}

# What is put before the end of a launch with none behind it is waited for behind the last call: in the period alone.
drain_is_apart() {
    awk -v calls="$(value drain stream_each call_period 1 median)" -v period="$(value drain stream_each period 1 median)" \
        -v before="$(value before stream_each call_period 1 median)" -v delay=$((50 * delay_ns)) 'BEGIN {
            good = calls != "" && period - calls >= 0.95 * delay / 50 && calls - before < 0.1 * delay / 50
            printf "%-4s call_period %.0f ns, before %.0f, period %.0f\n", good ? "ok" : "off", calls, before, period
            exit !good
        }'
}

# Of one thread: a second one shares its core with the device and loses it in the middle of calls.
all_good() {
    comes_back submit 1 && comes_back period 1 && comes_back call_period 1 && comes_back launch_latency 0 && drain_is_apart
}

attempt=0
until ((attempt > 0)) && all_good; do
    ((++attempt <= 8)) || fail "$delay_ns ns a call do not come back"
    measure before
    measure with "launch_ns=$delay_ns"
    measure after
    measure drain "complete_ns=$((50 * delay_ns))" # 50 launches share it
done

# Two threads wait at the same time, each through its own calls: a call holds the delay, and a launch of both half of it at least.
for variant in one_stream stream_each; do
    awk -v submit="$(value with $variant submit 2 min)" -v period="$(value with $variant period 2 min)" -v delay=$delay_ns \
        'BEGIN { exit !(submit >= 0.95 * delay && period >= 0.475 * delay) }' ||
        fail "$variant: less than what was put in: $(grep $variant with.csv)"
done
awk -v most="$(value with stream_each fairness 2 max)" -v least="$(value with stream_each fairness 2 min)" \
    'BEGIN { exit !(least > 0 && most <= 1) }' || fail 'fairness is a part of 1'

# A thread that waits for the others in vain says so.
for variant in one_stream stream_each; do
    value before $variant period 2 detail | grep -qE '(^|;)capped_samples=[0-7]_of_7(;|$)' || fail "$variant: how many were capped?"
done
[[ $(value before stream_each period 1 detail) == *capped_samples=0_of_7* ]] || fail 'one thread waits for nobody'

expect 0 "$reader" check before.csv
expect 2 "$reader" check with.csv
says 'falsified by injection'
