#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs that end before their time, and runs that meet: what is left, what check says of it, and how --resume finishes it.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
quick=("$host" --quick --budget 0.001)
# For what is done many times: many rows, some of them unsupported, and none that takes long to measure.
fast=(arguments empty_kernel geometry harness resources stream_fence stream_order validation)

expect 0 "${quick[@]}" --output complete.csv
keys complete.csv >all_keys

# expected_keys [BENCHMARK...]: those of a complete run of these, or of all.
expected_keys() {
    local IFS='|'
    grep -E "^(${*:-.*})\|" all_keys
}

# begin FILE [BENCHMARK...]: a run in the background that would take long; its process in $parent.
begin() {
    wait_for_device
    # A shell's background jobs ignore SIGINT, what is started by env does not.
    env --default-signal=INT,QUIT "$host" --quick --budget 300 --precision 0.01 --output "$@" >out 2>err &
    parent=$!
}

# finish FILE REASON [BENCHMARK...]: check says what is missing; resumed, the file is as good as a complete one.
finish() {
    expect 2 "$reader" check "$1"
    says "$2"
    local id
    id=$(grep '^# run_id:' "$1")
    rows "$1" benchmark variant metric params axis axis_value median | sort >before
    # A resumed run has the options of the file; these would take too long here.
    sed -i 's/^# options: .*/# options: budget_s=0.0002;mps=0;pin=near;precision_percent=1;processes=1;quick=1;timeout_s=120/' "$1"
    expect 0 "$host" --resume "$1"
    [[ $(<out) == "$1" && ! -e $1.tmp && ! -e ${1%.csv}.samples.csv.tmp ]] || fail 'not put in place'
    expect 0 "$reader" check "$1"
    keys "$1" | diff <(expected_keys "${@:3}") - >out || fail 'not the keys of a complete run'
    holds "$1" '^# resumed: true'
    holds "$1" "^$id\$"
    lacks "$1" '^# interrupted'
    rows "$1" benchmark variant metric params axis axis_value median | sort | comm -13 - before >out
    [[ ! -s out ]] || fail 'rows that were measured before are not what they were'
    # Samples are there for each row that has a value, once a process.
    rows "$1" status benchmark variant metric params axis axis_value | grep -E '^(ok|unsteady)\|' | cut -d'|' -f2- | sort >valued
    grep -v '^#' "${1%.csv}.samples.csv" | tail -n +2 | cut -d, -f1-6 | tr , '|' | sort | diff valued - >out ||
        fail 'the samples are not those of the rows'
}

# --- Signals ----------------------------------------------------------------------------------------------------------

for name in INT:130 TERM:143; do
    signal=${name%:*} file=$signal.csv
    begin "$file"
    # Rows that are not supported come at once.
    until_true 10 has_rows "$file" 1
    kill -"$signal" "$parent"
    wait "$parent"
    status=$?
    ((status == ${name#*:})) || fail "SIG$signal gave status $status"
    nobody_left
    holds "$file" "^# interrupted: SIG$signal\$"
    lacks "$file" '^# end'
    is_whole "$file"
    finish "$file" "interrupted by SIG$signal"
done

# A signal to the whole group, as a terminal sends it.
begin group.csv "${fast[@]}"
until_true 10 has_rows group.csv 1
mapfile -t group < <(processes)
kill -INT "${group[@]}"
wait "$parent"
status=$?
((status == 130)) || fail "SIGINT to all gave status $status"
nobody_left
finish group.csv 'interrupted by SIGINT' "${fast[@]}"

# Before the file exists, a signal leaves none.
printf '#!/bin/sh\ntouch started\nexec sleep 9\n' >slow
chmod +x slow
env --default-signal=INT,QUIT LIFTOFF_RUNNER=./slow "$host" --quick --output early.csv >out 2>err &
parent=$!
until_true 10 test -e started
kill -INT "$parent"
wait "$parent"
status=$?
((status == 130)) || fail "SIGINT at the start gave status $status"
[[ ! -e early.csv ]] || fail 'a file without a run'

# --- Two runs at once -------------------------------------------------------------------------------------------------

begin first.csv harness
until_true 10 test -s first.csv
timeout 20 "${quick[@]}" --output second.csv harness >out 2>err
status=$?
((status == 3)) || fail "the second run ended with $status"
says 'another run is measuring this device'
[[ ! -e second.csv ]] || fail 'the second run made a file'
kill -TERM "$parent"
wait "$parent"
nobody_left

# --- The parent dies at any moment ------------------------------------------------------------------------------------

for delay in 0.01 0.03 0.06 0.1 0.3; do
    file=killed-$delay.csv
    begin "$file" "${fast[@]}"
    sleep "$delay"
    kill -KILL "$parent"
    wait "$parent" 2>/dev/null
    nobody_left
    [[ -e $file ]] || continue
    is_whole "$file"
    [[ -s $file ]] || continue
    finish "$file" 'no end mark' "${fast[@]}"
done
# And while it writes many rows.
for delay in 0.05 0.09 0.13 0.18 0.24; do
    file=busy-$delay.csv
    wait_for_device
    "${quick[@]}" --output "$file" "${fast[@]}" >out 2>err &
    parent=$!
    sleep "$delay"
    kill -KILL "$parent" 2>/dev/null
    wait "$parent" 2>/dev/null
    nobody_left
    [[ -s $file ]] || continue
    is_whole "$file"
    grep -q '^# end' "$file" || finish "$file" 'no end mark' "${fast[@]}"
done

# While it resumes: what was there stays, and the next resume finishes.
begin resumed.csv "${fast[@]}"
until_true 10 has_rows resumed.csv 1
kill -TERM "$parent"
wait "$parent"
cp resumed.csv kept.csv
wait_for_device
"$host" --quick --budget 300 --precision 0.01 --resume resumed.csv >out 2>err &
parent=$!
until_true 10 test -s resumed.csv.tmp
kill -KILL "$parent"
wait "$parent" 2>/dev/null
nobody_left
cmp kept.csv resumed.csv || fail 'a resume that was killed has touched the file'
expect 2 env LIFTOFF_CLOCK=gettime "$host" --resume resumed.csv
says "cannot be resumed here: its clock_source is"
cmp kept.csv resumed.csv || fail 'a resume that was refused has touched the file'
finish resumed.csv 'interrupted by SIGTERM' "${fast[@]}"

# --- A child dies -----------------------------------------------------------------------------------------------------

# A child of the run that is not DEAD any more, in $child.
find_child() {
    child=$(processes | grep -vx "$parent" | head -n 1)
    [[ $child && $child != "$1" ]]
}

begin child.csv harness empty_kernel
until_true 10 has_rows child.csv 1
find_child none || fail 'there is no child'
kill -KILL "$child"
until_true 10 find_child "$child"
kill -KILL "$child"
wait "$parent"
status=$?
((status == 1)) || fail "with children killed the run ended with $status"
says 'rows failed or timed out'
nobody_left
holds child.csv ',failed,the process died of SIGKILL \(process 1 of 1\),'
holds child.csv '^# end'
[[ $(rows child.csv benchmark | sort -u | wc -l) == 2 ]] || fail 'the run did not go on with the next benchmark'
expect 0 "$reader" check child.csv # what failed is said: no fault of the file
sed -i 's/^# options: budget_s=[0-9.]*/# options: budget_s=0.0002/' child.csv
expect 0 "$host" --resume child.csv
lacks child.csv ',failed,'
keys child.csv | diff <(expected_keys empty_kernel harness) - >out || fail 'resumed, not the keys of a complete run'

# Resumed, a benchmark may die before it has said what it would measure: what failed before stays, with its reasons, and the
# file is not whole. So it is where rows were missing, and where the benchmark had not come to a plan before either.
cat >die <<'END'
#!/bin/sh
env | grep -q "^LIFTOFF_[A-Z]*=.*synchronize" && kill -9 $$
exec "$@"
END
chmod +x die
expect 1 env LIFTOFF_HOST_INJECT=hang=300 "$host" --quick --timeout 1 --budget 0.01 --output dies.csv synchronize
holds dies.csv ',timeout,the process was killed after 1 s'
sed '/^# injection: /d' dies.csv >kept.csv
rows kept.csv benchmark variant metric params axis axis_value status reason | sort >before
for attempt in 1 2; do
    cp kept.csv dies.csv
    expect 1 env LIFTOFF_RUNNER=./die "$host" --resume dies.csv
    says 'synchronize: nothing was measured again: the process died of SIGKILL' 'rows failed or timed out'
    rows dies.csv benchmark variant metric params axis axis_value status reason | sort | diff before - >out || fail 'rows are lost'
    expect 0 "$reader" check dies.csv
    cp dies.csv kept.csv
done
sed '0,/,timeout,/{/,timeout,/d}' kept.csv >fewer.csv
expect 1 env LIFTOFF_RUNNER=./die "$host" --resume fewer.csv
expect 2 "$reader" check fewer.csv
says '1 of'
sed '/,\(timeout\|failed\),/d' kept.csv >fewer.csv
expect 1 env LIFTOFF_RUNNER=./die "$host" --resume fewer.csv
holds fewer.csv '^# end'
for file in kept.csv fewer.csv; do
    expect 0 "$host" --resume $file
    says_not 'nothing to resume'
    expect 0 "$reader" check $file
    [[ $(keys $file) == "$(cut -d'|' -f1-6 before)" ]] || fail 'not the keys of the first run'
    expect 0 "$host" --resume $file
    says 'nothing to resume'
done
expect 1 env LIFTOFF_RUNNER=./die "$host" --quick --budget 0.01 --output setup.csv synchronize
expect 1 env LIFTOFF_RUNNER=./die "$host" --resume setup.csv
[[ $(rows setup.csv metric status) == 'setup|failed' ]] || fail 'not one row that says why'
sed 's/,failed,/,unsupported,/' setup.csv >unsupported.csv # nor is it tried again where it cannot be
expect 0 "$host" --resume unsupported.csv
says 'nothing to resume'
sed -i '/^# end/d' unsupported.csv
expect 0 "$host" --resume unsupported.csv
[[ $(rows unsupported.csv metric status) == 'setup|unsupported' ]] || fail 'it was tried again'
expect 0 "$host" --resume setup.csv
expect 0 "$reader" check setup.csv

# --- What cannot be resumed -------------------------------------------------------------------------------------------

# refuses TEXT SED: a file edited so is not resumed, for that reason, and stays as it is.
refuses() {
    sed "$2" INT.csv >edited.csv
    cp edited.csv kept.csv
    expect 2 "${quick[@]}" --resume edited.csv
    says "$1"
    cmp edited.csv kept.csv || fail 'refused, but changed'
}
# An option that the file's run did not have yet is as it is by default, whatever this command line says.
sed 's/^# options: .*/# options: budget_s=0.0002;pin=near;precision_percent=1;processes=1;quick=1;timeout_s=120/; /^# end/d' \
    TERM.csv >older.csv
expect 0 "$host" --mps --resume older.csv
expect 0 "$reader" check older.csv

refuses 'its device is' 's/^# device: .*/# device: another/'
refuses 'its backend is' 's/^# backend: .*/# backend: cuda/'
refuses 'its liftoff_version is' 's/^# liftoff_version: .*/# liftoff_version: 0.0.1/'
refuses 'its driver_version is' '/^# kernel/i # driver_version: 1'
refuses 'its injection is' '/^# kernel/i # injection: launch_ns=1'
LIFTOFF_HOST_INJECT=gap_ns=1 refuses "its injection is '', not 'gap_ns=1'" ''
refuses 'is no result that could be resumed' d
refuses 'is no result that could be resumed' '1s/.*/a,b,c/;1q'
for option in later=1 budget_s= budget_s=x budget_s=nan processes=0 processes=65 mps=2 pin=far quick budget=1; do
    refuses "its option '$option' cannot be understood" "s/^# options: .*/# options: quick=1;$option/"
done
refuses "its option '' cannot be understood" '/^# options: /d'
expect 2 "${quick[@]}" --resume nowhere.csv
says 'nowhere.csv: No such file or directory'
cp complete.csv kept.csv
expect 0 "$host" --resume complete.csv
says 'there is nothing to resume'
cmp complete.csv kept.csv || fail 'a complete file was changed'
refuses 'has no run_id' '/^# run_id/d'
refuses 'is damaged before line' '/^# end/i broken,row\n1,2,3'
expect 2 "$host" --resume INT.csv harness
says 'leave the names out'
keys complete.csv | diff all_keys - >out || fail 'a complete file was changed'
expect 0 "$reader" check complete.csv
