#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Delays of launches, of refusals and of a call before a launch come back in the rows of each and in no others; errors
# are named, and what a launch after a refused one does is told.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
delay_ns=20000

# measure FILE [INJECTION]
measure() {
    rm -f "$1.csv"
    expect 0 env LIFTOFF_HOST_INJECT="${2-}" "$host" --quick --budget 0.3 --no-samples --output "$1.csv" \
        resources validation
    rows "$1.csv" benchmark variant metric axis_value median |
        grep -E '^validation\|[a-z_]+\|(submit|call)\|.*[0-9]$|^resources\|[a-z_]+\|failure_cost\|.*[0-9]$' | cut -d'|' -f2- >"$1.rows"
}

# grew FILE: the rows that took the delay longer in FILE than before, and those that did not, each of them within 5 %: a
# refused call and a valid one take some hundred ns, which other work may double. What lies between is "off".
grew() {
    awk -F'|' -v delay=$delay_ns '
        NR == FNR { before[$1 FS $2 FS $3] = $4; next }
        {
            seen = $4 - before[$1 FS $2 FS $3]
            word = seen > 0.95 * delay && seen < 1.05 * delay ? "grew" : seen < 0.05 * delay ? "same" : "off"
            print word "|" $1 "|" $2 "|" $3
        }' before.rows "$1.rows" | sort
}

refused='block_threads no_kernel shared_bytes'
valid() { for live in '' 0 1000; do echo "$1|valid|submit|$live"; done; }
calls() { printf '%s|get_device|call|\nsame|last_error|call|\n' "$1"; }
refusals() { for kind in $refused; do printf '%s|%s|submit|\n%s|%s|failure_cost|\n' "$1" "$kind" "$1" "$kind"; done; }

# comes_back FILE: as the file expected says. The machine is shared: what is off is measured again, three times at most.
comes_back() {
    local _
    sort -o expected expected
    for _ in {1..4}; do
        measure before
        measure "$1" "$2"
        grew "$1" | diff expected - >out && return
    done
    fail "$2 does not come back where it was put in, and there alone"
}

{ valid grew && refusals same && calls same; } >expected
comes_back launch "launch_ns=$delay_ns"
{ valid same && refusals grew && calls grew; } >expected
comes_back refuse "refuse_ns=$delay_ns,ask_ns=$delay_ns"

# A launch takes 20 µs, and 20 ns more for each allocation: twice as long with 1000 of them, and as long as ever with none.
ratios() {
    measure live "launch_ns=$delay_ns,live_ps=20000"
    rows live.csv metric axis_value median | awk -F'|' '$1 == "submit_ratio" {
        expected = $2 == 0 ? 1 : 2
        rows++
        off += $3 < 0.95 * expected || $3 > 1.05 * expected
    }
    END { exit rows != 2 || off }'
}
ratios || ratios || ratios || fail "20 ns an allocation are not twice 20 µs: $(grep submit_ratio live.csv)"

# --- The file is whole, and what cannot be is told --------------------------------------------------------------------

expect 0 "$reader" check before.csv
expect 2 "$reader" check refuse.csv
says "falsified by injection (refuse_ns=$delay_ns,ask_ns=$delay_ns), not a result"
[[ $(grep -c 'refuse.csv:' out) == 1 ]] || fail 'the injection is not the only fault'

expect 0 "$host" --budget 0.001 --no-samples --output all.csv resources validation
expect 0 "$reader" check all.csv
rows all.csv variant metric axis_value status detail reason >got
for kind in block_threads zero_grid zero_block shared_bytes no_kernel; do
    holds got "^$kind\|submit\|\|(ok|unsteady)\|error=LAUNCH_REFUSED;process_medians="
    holds got "^$kind\|failure_cost\|\|(ok|unsteady)\|error=LAUNCH_REFUSED;next_launch=works;process_medians="
done
for kind in block_dimension grid_dimension shared_most registers cooperative cluster; do
    holds got "^$kind\|submit\|\|unsupported\|\|.nothing to ask too much of: the host device has no registers"
    holds got "^$kind\|failure_cost\|\|unsupported\|\|.nothing to ask too much of: "
done
for kind in stack allow_shared; do
    holds got "^$kind\|failure_cost\|\|unsupported\|\|.nothing to ask too much of: "
    lacks got "^$kind\|submit\|"
done
holds got '^unknown_kernel\|submit\|\|unsupported\|\|.any address is that of a kernel here: '
holds got '^shared_overrun\|failure_cost\|\|unsupported\|\|the host device has no shared memory$'
holds got '^null_write\|context_survived\|\|unsupported\|\|no process lives to be told of this fault: '
[[ $(grep -cE '^valid\|submit\|[0-9]+\|(ok|unsteady)\|' got) == 12 ]] || fail 'a level of allocations has no value'

rows all.csv variant metric params >got
holds got '^zero_grid\|failure_cost\|cause=invalid;entry=runtime;kernel=empty$'
holds got '^no_kernel\|submit\|cause=invalid;entry=runtime;kernel=none$'
holds got '^registers\|submit\|cause=over_provision;entry=runtime;kernel=registers$'
[[ -z $(keys all.csv | uniq -d) ]] || fail "keys come twice: $(keys all.csv | uniq -d)"

# --- Allocations that fail, for want of room and otherwise -------------------------------------------------------------

expect 1 env LIFTOFF_HOST_INJECT=alloc_error=50- "$host" --processes 1 --budget 0.001 --no-samples --output fault.csv validation
rows fault.csv variant metric params axis_value status reason >got
for kind in plain plain_large mapped managed; do
    holds got "^valid\|submit_ratio\|.*kind=$kind\|100\|failed\|.*no more than [0-9]+ of 100 allocations .*: injected"
done
lacks got '\|submit_ratio\|.*\|unsupported\|'
(
    ulimit -v 150000 # 100 of 2 MiB are more
    expect 0 "$host" --processes 1 --budget 0.001 --no-samples --output room.csv validation
) || exit 1
rows room.csv variant metric params axis_value status reason >got
holds got '^valid\|submit\|.*kind=plain_large\|100\|unsupported\|.*no more than [0-9]+ of 100 allocations .*: no memory'
holds got '^valid\|submit\|.*kind=plain\|100\|(ok|unsteady)\|'

# --- A probe that dies before its fault is no fault's doing ------------------------------------------------------------

cat >dies <<'END'
#!/bin/bash
case $LIFTOFF_CHILD in
*null_write*) kill -SEGV $$ ;;
*trap*) exit 9 ;;
esac
exec "$@"
END
chmod +x dies
expect 1 env LIFTOFF_RUNNER="$PWD/dies" "$host" --processes 1 --budget 0.001 --no-samples --output dies.csv resources
rows dies.csv variant metric status reason >got
holds got '^null_write\|failure_cost\|failed\|probe null_write: the process died of SIGSEGV'
holds got '^trap\|context_survived\|failed\|probe trap: the process ended early with status 9'

# --- Launches that fail or do not run ---------------------------------------------------------------------------------

# fails BENCHMARK METRIC REASON INJECTION: with it, all its rows of the metric that can be measured fail for the reason.
fails() {
    rm -f fault.csv
    expect 1 env LIFTOFF_HOST_INJECT="$4" "$host" --quick --budget 0.01 --no-samples --output fault.csv "$1"
    rows fault.csv variant metric status reason >got
    grep -qE "\|$2\|failed\|$3" got && ! grep -E "\|$2\|" got | grep -qvE "\|(failed\|$3|unsupported\|)"
}

for fault in 'launch_error|injected launch error$' 'wrong_count|launch 1 of 1 left no stamp: '; do
    fails validation submit "${fault#*|}" "${fault%%|*}=40-" || fail "${fault%%|*}: not every submit fails"
    lacks got '\|call\|failed\|'
    # How many launches come before the first round of this metric is not for this test to know.
    for launch in 40 400 4000 fail; do
        [[ $launch != fail ]] || fail "${fault%%|*} of the launch after a refused one is not told"
        fails resources failure_cost 'the launch after a refused one: ' "${fault%%|*}=$launch-" && break
    done
done
