#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A device that misbehaves: what the harness makes of launches that hang, crash, fail or do not run.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

# injected STATUS FILE INJECTION ARGUMENT...: a run with the injection, which its file must tell.
injected() {
    local wanted=$1 file=$2 injection=$3
    shift 3
    expect "$wanted" env LIFTOFF_HOST_INJECT="$injection" "$host" --quick --budget 0.001 --output "$file" "$@"
    nobody_left
    holds "$file" "^# injection: $injection\$"
    holds "$file" "^# env_LIFTOFF_HOST_INJECT: $injection\$"
    holds "$file" '^# end'
    expect 2 "$reader" check "$file"
    says "falsified by injection ($injection), not a result"
    [[ $(grep -c "$file:" out) == 1 ]] || fail 'the injection is not the only fault'
    expect 0 "$reader" show "$file"
    says "INJECTED: falsified on purpose ($injection), not a result"
}

# reasons FILE STATUS: the reasons of its rows of that status, each once.
reasons() { rows "$1" status reason | grep "^$2|" | cut -d'|' -f2- | sort -u; }

expect 0 "$host" --quick --budget 0.001 --output clean.csv harness empty_kernel
keys clean.csv >all_keys

# What asks nothing of the device in its rounds may stand: reads rows, metric first.
of_device() { grep -vE '^(clock|core|device_clock)_'; }

# --- Before anything is planned, and in the middle --------------------------------------------------------------------

for launch in 1 3000; do
    injected 1 "hang-$launch.csv" "hang=$launch" --timeout 0.5 harness empty_kernel
    rows "hang-$launch.csv" metric status reason | of_device >got
    lacks got '\|(ok|unsteady|failed)\|'
    [[ $(reasons "hang-$launch.csv" timeout) == 'the process was killed after 0.5 s (process 1 of 1)' ]] || fail 'another reason'

    injected 1 "crash-$launch.csv" "crash=$launch" harness empty_kernel
    rows "crash-$launch.csv" metric status reason | of_device >got
    lacks got '\|(ok|unsteady|timeout)\|'
    [[ $(reasons "crash-$launch.csv" failed) == 'the process died of SIGSEGV (process 1 of 1)' ]] || fail 'another reason'
done
for fault in hang crash; do
    [[ $(rows $fault-1.csv benchmark metric) == $'empty_kernel|setup\nharness|setup' ]] || fail 'the run did not go on'
    keys $fault-3000.csv | diff all_keys - >out || fail 'planned rows are missing'
done

# Of three processes the second crashes: what ended in the first, too, has no value.
cat >second <<'END'
#!/bin/sh
n=$(cat count 2>/dev/null || echo 0)
echo $((n + 1)) >count
[ "$n" = 2 ] && export LIFTOFF_HOST_INJECT=crash=3000
exec "$@"
END
chmod +x second
expect 1 env LIFTOFF_RUNNER=./second "$host" --budget 0.01 --processes 3 --output second.csv harness
[[ $(reasons second.csv failed) == 'the process died of SIGSEGV (process 2 of 3)' ]] || fail 'another reason'
expect 0 "$reader" check second.csv
rm count

# --- Launches that fail or do not run ---------------------------------------------------------------------------------

injected 1 error-all.csv launch_error=1- harness empty_kernel
[[ $(reasons error-all.csv failed) == 'injected launch error (process 1 of 1)' ]] || fail 'another reason'
injected 1 error-late.csv launch_error=3000- harness empty_kernel
[[ $(reasons error-late.csv failed) == 'injected launch error' ]] || fail 'another reason'
rows error-late.csv metric status | of_device >got
lacks got '\|(ok|unsteady|timeout)$'
injected 1 error-once.csv launch_error=3000 harness
[[ $(rows error-once.csv status | grep -c failed) == 1 ]] || fail 'one launch failed, but not one row'

injected 1 nothing.csv wrong_count=1- harness empty_kernel
[[ $(rows nothing.csv metric status | sort -u) == 'setup|failed' ]] || fail 'a setup without a running kernel'
injected 1 stops.csv wrong_count=3000- harness empty_kernel
keys stops.csv | diff all_keys - >out || fail 'planned rows are missing'
rows stops.csv metric variant status reason | of_device >got
lacks got '\|(ok|unsteady|timeout)\|'
for metric in submit submit_single round_trip host_period device_period stamp_cost submit_ratio delay_ratio; do
    holds got "^$metric\\|.*did not run"
done

# --- Injections that are none -----------------------------------------------------------------------------------------

while read -r injection text; do
    expect 3 env LIFTOFF_HOST_INJECT="$injection" "$host" --quick --output malformed.csv harness
    says 'no usable device: LIFTOFF_HOST_INJECT' "$text"
    [[ ! -e malformed.csv ]] || fail 'a file without a run'
done <<'END'
bogus=1 'bogus=1' is none of launch_ns=N, gap_ns=N
launch_ns 'launch_ns' is none of
launch_ns=x 'launch_ns=x' names no nanoseconds from 0 to 1000000000
launch_ns=-5 'launch_ns=-5' names no nanoseconds
launch_ns=1000000001 'launch_ns=1000000001' names no nanoseconds
hang=0 'hang=0' names no launch (from 1
crash=1--2 'crash=1--2' names no launch
launch_ns=1,,gap_ns=1 '' is none of
END
expect 0 env LIFTOFF_HOST_INJECT='' "$host" --quick --budget 0.001 --output unset.csv harness
lacks unset.csv '^# injection'
