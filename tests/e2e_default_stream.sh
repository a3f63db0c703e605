#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The legacy default stream waits for blocking streams and they for it, and no other stream does: a delay of the host device's
# waits comes back in its barriers alone.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

cores=$(two_cores) || exit 77

# measure FILE [INJECTION [STATUS]]
measure() { measure_one_worker "$1" "${2-}" "${3-0}" --quick --budget 0.05 default_stream; }

block='block_threads=32;blocks=1'

# 20 µs a wait, ± 10 %: the worker that polls all streams finds what it waited for within less.
waits_come_back() {
    local way side
    for side in into out_of; do
        grew barrier legacy "$block;side=$side;spin_ns=20000" 20000 2000 || return
        for way in non_blocking per_thread; do
            grew barrier $way "$block;side=$side;spin_ns=20000" 0 2000 || return
        done
    done
    grew makespan none "$block;spin_ns=20000" 0 2000 &&
        grew makespan legacy "$block;spin_ns=20000" 40000 4000 && # the legacy stream waits, and is waited for
        grew submit legacy "$block;streams_are=idle" 0 2000
}

launches_come_back() {
    grew submit legacy "$block;streams_are=idle" 20000 2000 && grew submit legacy "$block;streams_are=busy" 20000 2000 &&
        grew barrier legacy "$block;side=into;spin_ns=20000" 0 2000
}

come_back waits_come_back fence_ns=20000
come_back launches_come_back launch_ns=20000

# --- The whole file, and launches that do not run ---------------------------------------------------------------------

expect 0 "$reader" check before.csv
rows before.csv metric variant params status reason >got
for way in legacy none; do
    holds got "^overlap\|$way\|$block;spin_ns=100000;streams=non_blocking\|unsupported\|"
done
rows before.csv metric variant status reason >got
for way in legacy per_thread non_blocking none; do
    holds got "^overlap\|$way\|unsupported\|kernels that spin overlap on two multiprocessors; this device has one$"
done
expect 2 "$reader" check delayed.csv
says 'falsified by injection'
(($(cat out err | grep -c '^delayed.csv:') == 1)) || fail 'more than the injection is wrong'

expect 0 "$host" --budget 0.001 --no-samples --output all.csv default_stream
expect 0 "$reader" check all.csv
rows all.csv variant metric axis axis_value status >got
for count in 1 2 4 8 32; do
    for way in none legacy; do holds got "^$way\|makespan\|streams\|$count\|(ok|unsteady)$"; done
done
for count in 1 8 32; do holds got "^legacy\|submit\|streams\|$count\|(ok|unsteady)$"; done

measure stops wrong_count=300- 1
rows stops.csv metric status reason | grep -v '^overlap' >got
lacks got '\|(ok|unsteady|timeout)\|'
holds got '^barrier\|failed\|.*the kernel did not run$'
holds got '^makespan\|failed\|.*the kernel did not run$'
