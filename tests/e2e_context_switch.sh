#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A delay put in front of every launch comes back in what a light process waits for, alone and beside a busy one; a
# process that dies or hangs fails the rows that needed it, and nobody is left.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
delay_ns=3000000

# measure STATUS FILE [INJECTION [OPTION...]]
measure() {
    rm -f "$2.csv"
    expect "$1" env LIFTOFF_HOST_INJECT="${3-}" "$host" --no-samples --quick --output "$2.csv" "${@:4}" context_switch
}

# comes_back METRIC VARIANT: its median grew by the delay, ± 5 %; beside a busy process by as much at least and not by
# twice as much, because on two cores the wait for one comes to it.
comes_back() {
    awk -F'|' -v metric="$1" -v variant="$2" -v delay=$delay_ns '
        $1 == variant && $2 == metric { seen[++n] = $3 }
        END {
            grown = seen[2] - seen[1]
            good = n == 2 && grown >= 0.95 * delay && grown <= (variant == "alone" ? 1.05 : 2) * delay
            printf "%-4s %s %s grew by %.0f of %d ns\n", good ? "ok" : "off", variant, metric, grown, delay
            exit !good
        }' <(for file in plain delayed; do rows $file.csv variant metric median status | grep -E '\|(ok|unsteady)$'; done)
}

all_come_back() {
    local metric
    for metric in launch_latency_shared round_trip_shared; do
        comes_back $metric alone && comes_back $metric beside_long || return
    done
}

attempt=0
until ((attempt > 0)) && all_come_back; do
    ((++attempt <= 6)) || fail "$delay_ns ns a launch do not come back"
    measure 0 plain
    measure 0 delayed "launch_ns=$delay_ns"
done
expect 0 "$reader" check plain.csv

rows plain.csv variant metric status reason >got
(($(grep -c '|unsupported|each process has a host device of its own$' got) == 4)) || fail 'turns are not unsupported'

# --- The server between processes --------------------------------------------------------------------------------------

rm -f all.csv
expect 0 "$host" --no-samples --processes 1 --output all.csv context_switch
rows all.csv variant metric status reason >got
holds got '^mps_beside_long\|round_trip_shared\|unsupported\|.* only when asked for with --mps$'
lacks got '\|(failed|timeout)\|'
(($(wc -l <got) <= 50)) || fail 'too many rows'
holds all.csv '^# options: .*;mps=0;'

rm -f served.csv
expect 0 "$host" --no-samples --processes 1 --mps --output served.csv context_switch
rows served.csv variant metric status reason >got
holds got '^mps_beside_long\|round_trip_shared\|unsupported\|each process has a host device of its own$'
holds served.csv '^# options: .*;mps=1;'
[[ ! $(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'liftoff-*' -newer all.csv -user "$EUID") ]] || fail 'the server left its folder'

# --- Processes that fail ------------------------------------------------------------------------------------------------

# Each process counts its own launches. The light one makes most, so that only it comes to the 300th.
measure 1 died crash=300
rows died.csv status reason | sort -u >got
holds got '^failed\|probe quick: the process died of SIGSEGV$'
lacks got '^(ok|unsteady)\|'
holds died.csv '^# end$'
nobody_left

# No kernel runs: the stamps are missing in both.
measure 1 skipped wrong_count=1-
rows skipped.csv status reason | sort -u >got
lacks got '^(ok|unsteady)\|'
nobody_left
