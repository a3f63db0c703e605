#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A delay for each byte of the arguments comes back as the slope over bytes and over counts, arguments that do not arrive fail
# their row, and what the device cannot take says so.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

# measure FILE [INJECTION]
measure() {
    rm -f "$1.csv"
    expect 0 env LIFTOFF_HOST_INJECT="${2-}" "$host" --quick --budget 0.5 --no-samples --output "$1.csv" arguments
}

# value FILE METRIC: the runtime's median.
value() { rows "$1.csv" variant metric median | awk -F'|' -v metric="$2" '$1 == "runtime" && $2 == metric { print $3 }'; }

# comes_back METRIC EXPECTED: what the metric grew by in ns, ± 3 %. The longest list is delayed by 20 µs, so that a read of the
# clock more or less in it is well under a hundredth.
comes_back() {
    awk -v with="$(value delayed "$1")" -v before="$(value before "$1")" -v after="$(value after "$1")" \
        -v expected="$2" -v metric="$1" 'BEGIN {
            seen = with - (before + after) / 2
            good = with != "" && before != "" && after != "" && seen >= 0.97 * expected && seen <= 1.03 * expected
            printf "%-4s %s grew by %.4f; put in were %.4f ± 3 %%\n", good ? "ok" : "off", metric, seen, expected
            exit !good
        }'
}

# check_delay METRIC PICOSECONDS EXPECTED. The machine is shared: what is off is measured again, three times at most.
check_delay() {
    local _
    for _ in {1..4}; do
        measure before
        measure delayed "byte_ps=$2"
        measure after
        comes_back "$1" "$3" && return
    done
    fail "$2 ps a byte do not come back in $1"
}

check_delay submit_per_argument 40000 320 # of 8 bytes
check_delay submit_per_byte 5000 5

# A call without arguments has no part of it.
rows delayed.csv metric axis_value median |
    awk -F'|' '$1 == "submit" && $2 == 0 && $3 < 1000 { good = 1 } END { exit !good }' || fail 'a call without arguments is delayed'

# --- The file is whole, and what cannot be is told --------------------------------------------------------------------

expect 0 "$reader" check before.csv
expect 2 "$reader" check delayed.csv
says "falsified by injection (byte_ps=5000), not a result"
[[ $(grep -c 'delayed.csv:' out) == 1 ]] || fail 'the injection is not the only fault'

expect 0 "$host" --budget 0.001 --no-samples --output all.csv arguments
expect 0 "$reader" check all.csv
rows all.csv variant metric axis axis_value status reason >got
for bytes in 8192 16384 32764; do
    holds got "^runtime\|submit\|argument_bytes\|$bytes\|unsupported\|$bytes bytes of argument are more than 4096\$"
    holds got "^runtime\|launch_latency\|argument_bytes\|$bytes\|unsupported\|"
done
holds got '^packed\|submit_per_byte\|none\|\|unsupported\|the host device has one way to launch$'
for bytes in 0 4 16 64 256 1024 4096; do holds got "^runtime\|submit\|argument_bytes\|$bytes\|(ok|unsteady)\|"; done
for count in 0 1 2 4 8 16 32 64 512; do holds got "^runtime\|submit\|argument_count\|$count\|(ok|unsteady)\|"; done
lacks got '^packed\|[a-z_]*\|argument_count\|'

# --- Launches that do not run leave no proof --------------------------------------------------------------------------

expect 1 env LIFTOFF_HOST_INJECT=wrong_count=3000- "$host" --quick --no-samples --output stops.csv arguments
rows stops.csv variant metric status reason | grep '^runtime' >got
lacks got '\|(ok|unsteady|timeout)\|'
holds got '\|submit\|failed\|the arguments did not arrive: '
holds got '\|submit_per_byte\|failed\|the arguments did not arrive: '
holds got '\|launch_latency\|failed\|'

# One launch of a batch is enough to tell, and spoils no other row.
for fault in wrong_count launch_error; do
    for launch in 3000 3333 4001; do
        rm -f one.csv
        expect 1 env LIFTOFF_HOST_INJECT=$fault=$launch "$host" --quick --no-samples --output one.csv arguments
        [[ $(rows one.csv status | grep -c failed) == 1 ]] || fail "launch $launch: not one row failed"
    done
done
