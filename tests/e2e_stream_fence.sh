#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Delays of the host device's fences, gaps and calls come back in those metrics of stream_fence that are to hold them, and in no other.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

cores=$(two_cores) || exit 77

# measure FILE [INJECTION [STATUS]]
measure() { measure_one_worker "$1" "${2-}" "${3-0}" --quick --budget 0.02 stream_fence; }

block='block_threads=32;blocks=1'
in_stream="$block;order=one_stream" across="$block;order=ping_pong"

# 10 µs a fence, ± 5 %: what other work does to a gap of less than a microsecond, in a median of means of 20, is less.
fences_come_back() {
    grew gap none "$in_stream" 0 500 && grew gap event_record "$in_stream" 0 500 &&
        grew gap event_wait "$in_stream" 10000 500 && grew gap wait_value "$in_stream" 10000 500 &&
        grew gap in_order "$across" 0 500 && grew gap event "$across" 10000 500 &&
        grew gap event_timed "$across" 10000 500 && grew gap value "$across" 10000 500 &&
        grew fan_out event "$block" 40000 2000 && grew join event "$block" 40000 2000 && # one worker: one after another
        grew submit event_wait '' 0 500
}

# Of a kernel right behind a kernel alone.
gaps_come_back() {
    grew gap none "$in_stream" 10000 500 && grew gap in_order "$across" 10000 500 &&
        grew gap event_record "$in_stream" 0 500 && grew gap event "$across" 0 500
}

# Of calls that are no launches; a call is timed without what the device does.
calls_come_back() {
    grew submit event_record '' 10000 500 && grew submit event_wait '' 10000 500 && grew submit wait_value '' 10000 500 &&
        grew gap event_record "$in_stream" 0 500 && grew gap event_wait "$in_stream" 0 500
}

come_back fences_come_back fence_ns=10000
come_back gaps_come_back gap_ns=10000
come_back calls_come_back command_ns=10000

# --- The whole file, and launches that do not run ---------------------------------------------------------------------

expect 0 "$reader" check before.csv
expect 2 "$reader" check delayed.csv
says 'falsified by injection'
(($(cat out err | grep -c '^delayed.csv:') == 1)) || fail 'more than the injection is wrong'

expect 0 "$host" --budget 0.001 --no-samples --output all.csv stream_fence
expect 0 "$reader" check all.csv
rows all.csv variant metric axis axis_value status >got
for way in event_record event_record_timed event_wait host_function write_value wait_value memset_4 copy_4; do
    for metric in submit gap; do holds got "^$way\|$metric\|none\|\|(ok|unsteady)$"; done
done
for count in 1 2 4 8 16 32; do
    for metric in fan_out join; do holds got "^event\|$metric\|streams\|$count\|(ok|unsteady)$"; done
done
for scope in none block device system; do
    for bytes in 0 128 4096 65536; do holds got "^$scope\|fence\|bytes\|$bytes\|(ok|unsteady)$"; done
done

measure stops wrong_count=2000- 1
rows stops.csv metric status reason >got
lacks got '\|(ok|unsteady|timeout)\|'
holds got '^gap\|failed\|.*the kernel did not run$'
holds got '^fan_out\|failed\|.*the kernel did not run$'
holds got '^fence\|failed\|the kernel with the fences did not run$'
