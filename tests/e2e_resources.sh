#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fixed work takes what its blocks take, one at a time on one worker; delays of blocks and between grids come back out
# of duration and gap; blocks that do not run fail their rows; and what the host lacks is told.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
blocks=32 spin_ns=10000 delay_ns=5000


cores=$(two_cores) || exit 77

# measure FILE [INJECTION]
measure() {
    rm -f "$1.csv"
    expect 0 taskset -c "$cores" env LIFTOFF_HOST_INJECT="${2-}" \
        "$host" --quick --budget 0.3 --no-samples --output "$1.csv" resources
    holds "$1.csv" '^# workers: 1$'
}

# value FILE METRIC COLUMN: of the kernel that holds nothing.
value() {
    rows "$1.csv" variant metric axis_value "$3" |
        awk -F'|' -v metric="$2" '$1 == "dynamic" && $2 == metric && $3 == 0 { print $4 }'
}

# grows FILE METRIC COLUMN EXPECTED SLACK: by what the metric is above the two runs around it.
grows() {
    awk -v with="$(value "$1" "$2" "$3")" -v before="$(value before "$2" "$3")" -v after="$(value after "$2" "$3")" \
        -v expected="$4" -v slack="$5" -v name="$1 $2" 'BEGIN {
            seen = with - (before + after) / 2
            good = with != "" && before != "" && after != "" && seen >= expected - slack && seen <= expected + slack
            printf "%-4s %s: %.0f ns, before %.0f, after %.0f, so %.0f of %.0f ± %.0f\n", good ? "ok" : "off",
                name, with, before, after, seen, expected, slack
            exit !good
        }'
}

# What comes after the last block's last clock read is no part of a grid, but all there is between two grids of one block.
# Other work on the cores interrupts most grids of 32 blocks and makes them longer: the shortest counts. What is off
# nevertheless is measured again.
comes_back() {
    local all=$(((blocks - 1) * delay_ns)) off=0
    grows block duration min "$all" $((all / 20)) || off=1
    grows block gap median "$delay_ns" $((delay_ns / 20)) || off=1
    grows gap duration min 0 $((all / 20)) || off=1
    grows gap gap median "$delay_ns" $((delay_ns / 20)) || off=1
    # The work alone: never shorter, and hardly longer.
    awk -v least="$(value before duration min)" -v work=$((blocks * spin_ns)) 'BEGIN {
        printf "%s ns are the least that %d ns of work take\n", least, work
        exit !(least >= work && least <= 1.03 * work)
    }' || off=1
    ((off == 0))
}

attempt=0
until ((attempt > 0)) && comes_back; do
    ((++attempt <= 8)) || fail "$delay_ns ns do not come back"
    measure before
    measure block "block_ns=$delay_ns"
    measure gap "gap_ns=$delay_ns"
    measure after
done

for file in before block gap after; do
    [[ $(value $file occupancy min)/$(value $file occupancy max) == 1/1 ]] ||
        fail "one worker holds $(value $file occupancy min) to $(value $file occupancy max) blocks at once"
done

# --- The file is whole, and what cannot be is told --------------------------------------------------------------------

expect 0 "$reader" check before.csv
expect 2 "$reader" check block.csv
says 'falsified by injection'
(($(rows before.csv status | wc -l) <= 20)) || fail 'more than 20 rows of --quick'

expect 0 "$host" --processes 1 --budget 0.001 --no-samples --output all.csv resources
expect 0 "$reader" check all.csv
rows all.csv variant metric axis axis_value status reason >got
nothing='unsupported\|"the host device has no registers, stacks or shared memory to allot to blocks"$'
for registers in 16 32 64 128 168 255; do
    holds got "^registers\|occupancy\|registers_per_thread\|$registers\|$nothing"
done
for bytes in 1024 8192 16384 49152; do holds got "^static\|duration\|shared_bytes\|$bytes\|$nothing"; done
for bytes in 1024 4096 8192 16384 32768 49152 65536 102400 163840; do
    holds got "^dynamic\|gap\|shared_bytes\|$bytes\|$nothing"
done
for bytes in 0 1024 8192 32768; do holds got "^\|first_launch\|local_bytes\|$bytes\|$nothing"; done
for variant in same kernels_alternate carveout_alternates; do holds got "^$variant\|period\|none\|\|$nothing"; done
holds got "^dynamic_most\|occupancy\|none\|\|$nothing"
holds got "^dynamic\|occupancy_ratio\|shared_bytes\|0\|$nothing"
for metric in occupancy duration gap; do holds got "^dynamic\|$metric\|shared_bytes\|0\|(ok|unsteady)\|"; done

# --- Blocks that do not run leave no stamp ----------------------------------------------------------------------------

expect 1 env LIFTOFF_HOST_INJECT=wrong_count=40- "$host" --quick --no-samples --output stops.csv resources
rows stops.csv variant metric status reason | grep -v '|unsupported|' >got
lacks got '\|(ok|unsteady|timeout)\|'
holds got '^dynamic\|duration\|failed\|"block 0 of [0-9]+ did not run'
