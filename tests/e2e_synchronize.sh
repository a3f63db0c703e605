#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A delay before the host device tells of an end comes back out of every wait that asks the device, and not out of the flag that a
# kernel stores by itself; who sleeps does not burn the time of a core.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
delay_ns=50000

cores=$(two_cores) || exit 77

# measure FILE [INJECTION]
measure() { measure_one_worker "$1" "${2-}" 0 --processes 1 synchronize; }

# value FILE VARIANT METRIC METHOD KERNEL_NS COLUMN
value() {
    rows "$1.csv" variant metric axis_value params "$6" |
        awk -F'|' -v key="$2|$3|$5|" -v method="method=$4" 'index($0, key) == 1 && $4 ~ method "$" { print $5 }'
}

# comes_back METRIC METHOD DELAY: the delay is there, ± 2 µs, in medians; what is polled at takes its turns with the poll, and
# a neighbour only makes waits longer.
comes_back() {
    awk -v with="$(value with spin "$1" "$2" 10000 median)" -v before="$(value before spin "$1" "$2" 10000 median)" \
        -v after="$(value after spin "$1" "$2" 10000 median)" -v delay="$3" -v name="$1 by $2" 'BEGIN {
            seen = with - (before + after) / 2
            good = with != "" && before != "" && after != "" && seen >= delay - 2000 && seen <= delay + 2000
            printf "%-4s %s %.0f ns, before %.0f, after %.0f, so %.0f of %d ns\n", good ? "ok" : "off", name, with, before,
                after, seen, delay
            exit !good
        }'
}

# What is burnt while a kernel of 1 ms runs: a part of what spinning burns, though spinning may lose its core for a while.
# The process burns a core more, the device's worker, whatever the waiting thread does.
sleeping_saves() {
    awk -v spin="$(value before spin cpu_time stream 1000000 median)" \
        -v block="$(value before block cpu_time stream 1000000 median)" \
        -v by_event="$(value before block cpu_time event 1000000 median)" \
        -v all_spin="$(value before spin process_cpu_time stream 1000000 median)" \
        -v all_block="$(value before block process_cpu_time stream 1000000 median)" 'BEGIN {
            good = spin != "" && block != "" && by_event != "" && spin > 0.7 && block < 0.3 && by_event < 0.3
            good = good && all_spin - spin > 0.7 && all_spin - spin < 1.3 && all_block - block > 0.7 && all_block - block < 1.3
            printf "%-4s cpu_time: spin %.3f, block %.3f, block by event %.3f; process_cpu_time: spin %.3f, block %.3f\n",
                good ? "ok" : "off", spin, block, by_event, all_spin, all_block
            exit !good
        }'
}

all_good() {
    comes_back completion_latency stream $delay_ns && comes_back completion_latency device $delay_ns &&
        comes_back completion_latency stream_query $delay_ns && comes_back round_trip stream $delay_ns &&
        comes_back completion_latency mapped_flag 0 && sleeping_saves
}

attempt=0
until ((attempt > 0)) && all_good; do
    ((++attempt <= 8)) || fail "$delay_ns ns do not come back in completion_latency"
    measure before
    measure with "complete_ns=$delay_ns"
    measure after
done

# The kernel is before its end: its length is in the round trip, and not in the latency.
awk -v least="$(value before spin round_trip stream 10000 min)" 'BEGIN { exit !(least >= 10000) }' ||
    fail 'a round trip is shorter than its kernel'
awk -v most="$(value before spin completion_latency stream 1000000 median)" 'BEGIN { exit !(most < 500000) }' ||
    fail 'the latency holds the kernel of 1 ms'

# Six rounds a process, from one probe.
[[ $(value before spin completion_latency stream 10000 samples) == 342 ]] || fail 'not 342 samples of the short kernel'
[[ $(value before block cpu_time event 1000000 samples) == 60 ]] || fail 'not 60 samples of the long kernel'
[[ $(value before block process_cpu_time event 1000000 samples) == 1 ]] || fail 'not one sum a process'

expect 0 "$reader" check before.csv
expect 2 "$reader" check with.csv
says 'falsified by injection'
