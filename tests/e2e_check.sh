#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `liftoff check` and `liftoff show` on files that are not what they should be: one real result, and one edit at a time.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

expect 0 "$host" --quick --budget 0.001 --output real.csv harness
expect 0 "$reader" check real.csv

# The base of all edits: the real file with one row, whose numbers are round.
header=$(grep '^schema,' real.csv)
row="$(rows real.csv schema run_id backend device | head -n 1 | tr '|' ,),empty_kernel,runtime,round_trip,ns,lower,,none,,\
,ok,,distribution,10,1,1000,1100,2000,3000,,6000,2100,1,1990,2010,0"
{
    sed -n '/^schema,/q;p' real.csv | sed 's/^# benchmarks: .*/# benchmarks: empty_kernel/'
    printf '%s\n' "$header" '# plan: empty_kernel 1' "$row" '# end'
} >base.csv
last=$(wc -l <base.csv) at=$(($(wc -l <base.csv) - 1)) # lines of the end mark and of the row

# edit COLUMN=VALUE,...: the row with these columns changed.
edit() {
    awk -v header="$header" -v row="$row" -v edits="$1" 'BEGIN {
        n = split(header, name, ",")
        split(row, value, ",")
        for (i = 1; i <= n; i++) at[name[i]] = i
        edit_count = split(edits, edit, ",")
        for (e = 1; e <= edit_count; e++) {
            equals = index(edit[e], "=")
            value[at[substr(edit[e], 1, equals - 1)]] = substr(edit[e], equals + 1)
        }
        for (i = 1; i <= n; i++) printf "%s%s", value[i], i < n ? "," : "\n"
    }'
}

# judge TEXT...: check says of file.csv exactly one line for each TEXT, holding it, in this order; none: it is right.
judge() {
    local text n=0
    expect $(($# > 0 ? 2 : 0)) "$reader" check file.csv
    [[ ! -s err ]] || fail 'a fault belongs to stdout'
    grep '^file\.csv:' out >faults
    for text; do
        n=$((n + 1))
        sed -n "${n}p" faults | grep -qF -- "$text" || fail "fault $n is not: $text"
    done
    (($(wc -l <faults) == n)) || fail "not $n faults"
}

# row EDITS TEXT...: what check says of the row edited so.
row() {
    local edited
    edited=$(edit "$1")
    shift
    awk -v at=$at -v edited="$edited" 'NR == at { $0 = edited } { print }' base.csv >file.csv
    judge "$@"
}

# file SED TEXT...: what check says of the whole file edited so.
file() {
    sed "$1" base.csv >file.csv
    shift
    judge "$@"
}

# --- The file as a whole -------------------------------------------------------------------------------------------------

file ''
file "\$d" "file.csv:$at: no end mark"
file "s/^# end/# interrupted: SIGINT/" "file.csv:$last: interrupted by SIGINT"
file "1i # injection: launch_ns=5000" 'file.csv:1: falsified by injection (launch_ns=5000), not a result'
for key in liftoff_version run_id backend device device_index start_utc kernel cpu_model command_line options \
    clock_source clock_cost_ns clock_resolution_ns compiler processes; do
    file "/^# $key: /d" "metadata $key is missing"
done
file 's/^# cpu_model: .*/# cpu_model: /' 'metadata cpu_model is missing'
file 's/^# command_line: .*/# anonymous: true/'
file 's/^# cpu_model: .*/# anonymous: true/' 'metadata cpu_model is missing'
file "${at}p" "file.csv:$last: the same key as line $at: empty_kernel, runtime, round_trip, , none" '2 rows, 1 planned'
file 's/^# plan: .*/# plan: empty_kernel 41/' 'empty_kernel: 40 of 41 rows missing'
file "s/^# plan: .*/# plan: empty_kernel 2/;${at}d" 'empty_kernel: 2 of 2 rows missing'
file 's/^# plan: .*/# plan: empty_kernel 0/' 'empty_kernel: 1 rows, 0 planned'
file 's/^# plan: .*/# plan: empty_kernel x/' "plan 'empty_kernel x' is not BENCHMARK N" 'no plan says how many'
file '/^# plan: /d' 'empty_kernel: 1 rows, but no plan says how many there should be'
file 's/^# benchmarks: .*/& gap/' 'gap: not one row'
failed='status=failed,reason=died,samples=0,min=,p05=,median=,p95=,max=,mean=,stddev=,median_low=,median_high=,error_bound='
file "${at}a $(edit "benchmark=gap,metric=setup,unit=count,better=none,estimator=count,$failed")"
file "\$a # a: b" 'the file goes on behind its end mark'
file "s/^# run_id: .*/# run_id: r2/" "run_id is '$(cut -d, -f2 <<<"$row")' here and 'r2' above"
file '/^schema,/d' "file.csv:$((at - 1)): the header line is missing: a row comes first"
file 's/^schema,run_id/schema,run/' "foreign header: column 2 is 'run', in schema 1 it is 'run_id'"
file 's/^schema,.*/&,more/' 'foreign header: it has 30 columns, schema 1 has 29'

# --- One row -------------------------------------------------------------------------------------------------------------

row '' # as it is
row p95=1500 'median 2000 is above p95 1500'
row min=1200 'min 1200 is above p05 1100'
row samples=1000,p99=2900 'p95 3000 is above p99 2900'
row samples=1000,p99=7000 'p99 7000 is above max 6000'
row mean=7000 'mean 7000 is not between min 1000 and max 6000'
row median_low=2001 'median 2000 is not between median_low 2001 and median_high 2010'
row min=-1 'min -1 is negative, and round_trip is not a signed metric'
row min=-700,error_bound=680 'min -700 is negative'
row min=-680,error_bound=680
row error_bound=-1 'error_bound -1 is negative'
row metric=submit_to_start,min=-1
row metric=sync_error,stddev=-1 'stddev -1 is negative'
row estimator=fit,min=-1,median_low=-2
row estimator=fit,min=-5,p05=-4,median=-3,median_low=-4,median_high=1 'median -3 is negative'
row status=fine "status 'fine' is none of ok, unsteady, unsupported, failed, timeout"
row "${failed/failed/unsupported}"
row "${failed},median=3" "failed, but median has the value '3'"
row "${failed/reason=died/reason=}" 'failed without a reason'
row "${failed/status=failed,reason=died/status=timeout,reason=}" 'timeout without a reason'
row status=unsteady 'unsteady without a reason'
row status=unsteady,reason=drift
row samples=0 "samples is '0', not a whole number above 0"
row batch=1.5 "batch is '1.5', not a whole number above 0"
row reason=drift "ok, but with the reason 'drift'"
row axis= 'axis is empty'
row axis=,axis_value=3 'axis is empty'
row axis_value=3 "axis_value is '3', but axis is none"
row axis=bytes "axis_value is '', not a number"
row axis=bytes,axis_value=many "axis_value is 'many', not a number"
row axis=bytes,axis_value=0x10 "axis_value is '0x10', not a number"
row axis=bytes,axis_value=nan "axis_value is 'nan', not a number"
row axis=bytes,axis_value=16
row "${failed},axis=bytes" "axis_value is '', not a number"
row p99=5000 'p99 is given with 10 samples; it takes 1000'
row samples=1000 'p99 is empty with 1000 samples'
row samples=5 'an interval from 5 samples; it takes 6 rounds'
row samples=5,median_low=,median_high=
row median_low= 'the interval has only one of its ends'
row unit=furlong "unit 'furlong' is not known"
row unit=ns_per_ "unit 'ns_per_' is not known"
row unit=bytes_per_ns
row estimator=guess "estimator 'guess' is none of"
row better=more "better 'more' is none of"
row benchmark=,metric= 'benchmark is empty' 'metric is empty' 'empty_kernel: 1 of 1 rows missing' ': 1 rows, but no plan'
row 'params=b=1;a=2' 'with ascending keys'
row 'params=a=1;a=2' 'with ascending keys'
row 'params=a=1;' 'with ascending keys'
row params=a 'with ascending keys'
row 'params=block=1;block_threads=128;mechanism=graph'
row run_id=r2 "run_id is 'r2' here and"
row device=other "device is 'other' here and"
row backend=cuda "backend is 'cuda' here and 'host' above"
row mean=0x10 "mean is '0x10', not a number"
row mean=nan "mean is 'nan', not a number"
row median=1e999 "median is '1e999', not a number"
row p95= 'p95 is empty'
row estimator=count,unit=count,min=,p05=,p95=,max=,mean=,stddev=,median_low=,median_high=,samples=1
row schema=2 "schema '2' is not known, only 1 is" 'empty_kernel: 1 of 1 rows missing'
row $'unit=\033[31m' "unit '?[31m' is not known" # no control character reaches a terminal

# --- Files that are no results -------------------------------------------------------------------------------------------

# odd TEXT: check says TEXT of file.csv, and show says it, too; neither crashes, and both exit 2.
odd() {
    judge "$@"
    expect 2 "$reader" show file.csv
    says "$1"
}

: >file.csv
odd 'file.csv:1: the file is empty'
printf '\177ELF\0\0' >file.csv
odd 'a NUL byte: this is a binary file, not a result file'
head -c 100000 "$host" >file.csv
odd 'a NUL byte'
printf 'a,b\n1,2\n' >file.csv
odd "foreign header: column 1 is 'a', in schema 1 it is 'schema'"
printf '# only: metadata\n' >file.csv
odd 'there is no header line'
cp real.samples.csv file.csv
odd 'this is a samples file; the result file is the one without .samples in its name'
sed "s/^# plan: .*/# plan: empty_kernel 2/;${at}a $(edit axis=n,axis_value=1)" base.csv >two.csv
head -c $(($(wc -c <two.csv) - 40)) two.csv >file.csv
odd 'the file is cut off within this row' 'empty_kernel: 1 of 2 rows missing' 'no end mark'
sed "${last}s/,ok,/,\"ok,/" two.csv >file.csv
odd 'the file is cut off within a quoted field' 'empty_kernel: 1 of 2 rows missing' 'no end mark'
sed "${last}s/,ok,/,ok,more,/" two.csv >file.csv
odd 'the row has 30 fields, not 29' 'empty_kernel: 1 of 2 rows missing'
head -c 2000000 /dev/zero | tr '\0' x >file.csv
odd 'the line is longer than 1 MiB' 'there is no header line'
bytes=$(wc -c <base.csv)
for ((cut = 0; cut < bytes; cut += 97)); do # anywhere
    head -c $cut base.csv >file.csv
    expect 2 "$reader" check file.csv
    says 'file.csv:'
    "$reader" show file.csv >out 2>err
    status=$?
    ((status == 0 || status == 2)) || fail "show ends with $status"
    cat out err | grep -qE 'INCOMPLETE|file\.csv:' || fail 'show does not say that it is incomplete'
done
expect 2 "$reader" check nowhere.csv
says 'nowhere.csv: No such file or directory'
expect 2 "$reader" show nowhere.csv real.csv # what can be shown is
says 'nowhere.csv: No such file or directory' clock_cost
expect 2 "$reader" check .
says 'Is a directory'
