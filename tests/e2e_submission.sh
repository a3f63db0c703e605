#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The host device's queue is as deep as it is made; delays of a call and of the device come back at the fills where they belong;
# ioctl calls put into a launch are counted, both ways.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
delay_ns=3000
# A ring of 1024 packets; the gate that holds the stream is one of them until it ends.
depth=1023

mapfile -t cores < <(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr ',' '\n' |
    awk -F- '{ for (core = $1; core <= $NF; core++) print core }' | head -n 2)
((${#cores[@]} == 2)) || { echo 'one core cannot tell: the watcher needs a second' && exit 77; }

# measure FILE INJECTION [OPTION...]: where other work on the cores is in the way of a watcher, rows fail, and what they were to hold
# is off.
measure() {
    local file=$1.csv injection=$2
    shift 2
    rm -f "$file"
    wait_for_device
    LIFTOFF_HOST_INJECT="$injection" timeout --kill-after=5 60 \
        "$host" --processes 1 --budget 0.02 --no-samples "$@" --output "$file" submission >out 2>err
    (($? <= 1)) || fail "$injection $*: no result"
}

# value FILE VARIANT METRIC AXIS AXIS_VALUE [COLUMN]
value() {
    rows "$1.csv" variant metric axis axis_value "${6-median}" |
        awk -F'|' -v key="$2|$3|$4|$5" '$1 "|" $2 "|" $3 "|" $4 == key { print $5 }'
}

# grew METRIC AXIS AXIS_VALUE EXPECTED [COLUMN]: by so many ns from before.csv to with.csv, ± 5 % of the delay. The spins are right to a
# few ns each; other work on the cores only makes things longer, and is seldom gone: what is off is measured again, and of
# samples of milliseconds, which hardly ever are left alone, the shortest counts.
grew() {
    awk -v before="$(value before runtime "$1" "$2" "$3" "${5-median}")" \
        -v with="$(value with runtime "$1" "$2" "$3" "${5-median}")" -v expected="$4" -v delay=$delay_ns -v what="$1 $2=$3" 'BEGIN {
            seen = with - before
            good = with != "" && before != "" && seen >= expected - 0.05 * delay && seen <= expected + 0.05 * delay
            printf "%-4s %s: %.1f ns, before %.1f, so %.1f of %d ns\n", good ? "ok" : "off", what, with, before, seen, expected
            exit !good
        }'
}

no_row_failed() { ! rows "$1.csv" metric status reason | grep '|failed|'; }

# --- The depth, of all commands ---------------------------------------------------------------------------------------

depths() { rows "$1.csv" metric params axis_value status median | awk -F'|' '$1 == "queue_depth" && $4 != "unsupported"'; }
is_deep() { ! depths "$1" | grep -v "|ok|$depth$" | grep -q . && [[ $(depths "$1" | grep -c .) == 7 ]]; }

# Calls cost the delay while the queue has room, whatever it holds. In a full one they wait for kernels of 10 µs each, and the
# delay passes while they would wait.
calls_cost() {
    local fill
    for fill in 0 0.125 0.25 0.5 0.75 0.9; do grew submit queue_fill "$fill" $delay_ns || return; done
    grew submit queue_fill 1 0 min
}

# The device's delay between kernels is no part of a call while there is room, and all of it in a full queue and in a burst. Kernels
# last longer than calls there, or the device would be done with one before the next is queued: there is no delay then.
kernels_cost() {
    grew submit queue_fill 0 0 && grew submit queue_fill 0.5 0 && grew submit queue_fill 1 $delay_ns min &&
        grew period launches 100 $delay_ns
}

attempt=0
until ((attempt > 0)) && no_row_failed before && no_row_failed with && is_deep before && is_deep with && calls_cost; do
    ((++attempt <= 6)) || { depths with && fail "the depth is not $depth, or $delay_ns ns a call do not come back"; }
    measure before ''
    measure with launch_ns=$delay_ns
done
expect 0 "$reader" check before.csv
rows before.csv metric params axis_value status reason >got
holds got '^queue_depth\|block_threads=32;blocks=1;command=kernel\|32764\|unsupported\|32764 bytes of argument are more than 4096$'
awk -v full="$(value before runtime submit queue_fill 1)" 'BEGIN { exit !(full >= 10000) }' || fail 'a full queue takes calls faster than kernels end'

attempt=0
until ((attempt > 0)) && no_row_failed before && no_row_failed with && kernels_cost; do
    ((++attempt <= 8)) || fail "$delay_ns ns a kernel do not come back"
    measure before block_ns=1000 --quick --budget 0.1
    measure with block_ns=1000,gap_ns=$delay_ns --quick --budget 0.1
done

# --- System calls -----------------------------------------------------------------------------------------------------

measure with ioctls=3 --quick
rows with.csv variant metric status reason median >got
if grep -q 'ptrace' got; then
    echo "the rest is left out: $(grep -m 1 -o '[^|]*ptrace[^|]*' got)" && exit 77
fi
for variant in interposed traced; do
    holds got "^$variant\|ioctls_context\|ok\|\|0$"
    holds got "^$variant\|ioctls_first_launch\|ok\|\|3$"
    holds got "^$variant\|ioctls_per_launch\|ok\|\|3$"
    holds got "^$variant\|ioctls_synchronize\|ok\|\|0$"
done
awk -v all="$(value with traced syscalls_per_launch none '')" 'BEGIN { exit !(all >= 3) }' ||
    fail 'the system calls of a launch are fewer than its ioctl calls'
measure with ioctls=0 --quick
for variant in interposed traced; do [[ $(value with "$variant" ioctls_per_launch none '') == 0 ]] || fail "$variant counts what is not"; done

# --- What cannot be told, or does not run -----------------------------------------------------------------------------

expect 0 taskset -c "${cores[0]}" "$host" --quick --budget 0.02 --no-samples --output alone.csv submission
rows alone.csv metric axis status reason >got
holds got '^queue_depth\|argument_bytes\|unsupported\|whether a call blocks is seen from a second core only$'
holds got '^submit\|queue_fill\|unsupported\|'
holds got '^period\|launches\|(ok|unsteady)\|'

expect 1 env LIFTOFF_HOST_INJECT=wrong_count=1- "$host" --quick --budget 0.02 --no-samples --output lost.csv submission
rows lost.csv metric status reason >got
lacks got '\|(ok|unsteady|timeout)\|'
holds got '^ioctls_per_launch\|failed\|launch 1 of 1 left no stamp'
