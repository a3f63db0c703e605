#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/plot: figures are drawn, show the file's numbers, and are left out where the file has none.
set -u
command -v gnuplot >/dev/null || { echo 'gnuplot is not here' && exit 77; }
plot=$(cd "$(dirname "$0")/.." && pwd)/scripts/plot
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0

# expect WHAT COMMAND...: COMMAND succeeds.
expect() {
    local what=$1
    shift
    "$@" && return
    echo "not so: $what"
    failures=$((failures + 1))
}

# expect_status STATUS WHAT ARGUMENT...: scripts/plot ends with STATUS; its output is left in the file said.
expect_status() {
    local wanted=$1 what=$2 status
    shift 2
    "$plot" "$@" >said 2>&1
    status=$?
    ((status == wanted)) && return
    echo "exit status $status, not $wanted: $what"
    cat said
    failures=$((failures + 1))
}

is_png() { [[ $(head -c 4 "$1" | tail -c 3) == PNG && $(wc -c <"$1") -gt 10000 ]]; }
is_svg() { grep -q '</svg>' "$1" && (($(wc -c <"$1") > 5000)); }

device='O'\''Brien "X", 2nd'
columns=schema,run_id,backend,device,benchmark,variant,metric,unit,better,params,axis,axis_value,detail,status,reason
columns+=,estimator,samples,batch,min,p05,median,p95,p99,max,mean,stddev,median_low,median_high,error_bound

begin_file() {
    printf '# %s\n' 'liftoff_version: 0.1.0' 'run_id: R' 'backend: cuda' "device: $device" 'cpu_model: A host' \
        'start_utc: 2026-12-01T04:21:00Z'
    echo "$columns"
}

# row METRIC KERNEL AXIS VALUE STATUS MEDIAN LOW HIGH BOUND: with CR LF at its end, and quoted fields that hold commas,
# quotes and line breaks.
row() {
    local detail='"stop=""budget"",
# no comment, and 1,2,3"'
    printf '1,R,cuda,"%s",empty_kernel,runtime,%s,ns,lower,"block_threads=32;blocks=1%s",%s,%s,%s,%s,"why, it says",' \
        "${device//\"/\"\"}" "$1" "${2:+;kernel=$2}" "$3" "$4" "$detail" "$5"
    printf 'distribution,6,1,,,%s,,,,,,%s,%s,%s\r\n' "$6" "$7" "$8" "$9"
}

rows() {
    row submit_single stamp none '' ok 4000 3900 4100 0
    row submit_single '' none '' ok 4050 3950 4150 0
    row launch_latency stamp none '' unsteady 6500 6400 6600 800
    row completion_latency stamp none '' ok 2500 '' '' 810
    row round_trip '' none '' ok 9100 9000 9200 0
    row flag_latency '' none '' unsupported '' '' '' ''
    row submit_single stamp idle_ns 1e6 ok 5000 4900 5100 0
    row submit_single stamp idle_ns 0 ok 4000 3900 4100 0
    row submit_single stamp idle_ns 1000 ok 4200 -10 4300 0
    for metric in launch_latency round_trip; do
        row "$metric" stamp idle_ns 1000 ok 7200 7100 7300 800
        row "$metric" stamp idle_ns 0 ok 7000 6900 7100 800
        row "$metric" stamp idle_ns 1e6 failed '' '' '' ''
    done
}

# Two processes; the values are not in order, and 10 is not less than 9 as a number.
samples() {
    printf '# run_id: R\nbenchmark,variant,metric,params,axis,axis_value,process,values\n'
    printf 'empty_kernel,runtime,submit_single,"block_threads=32;blocks=1;kernel=stamp",none,,0,4000 900 10000\n'
    printf 'empty_kernel,runtime,round_trip,block_threads=32;blocks=1,none,,0,9000 9100 9200 9300\n'
    printf 'empty_kernel,runtime,flag_latency,block_threads=32;blocks=1,none,,0,1 2 3\n'
    printf 'empty_kernel,runtime,submit_single,block_threads=32;blocks=1,idle_ns,0,0,1 2 3\n'
    printf 'empty_kernel,runtime,submit_single,block_threads=32;blocks=1;kernel=stamp,none,,1,4100\n'
}

numbers() { grep -v '^#' "$1" | grep .; }

# --- All figures, and the numbers in them ------------------------------------------------------------------------------

mkdir 'a=b c'
{ begin_file && rows && echo '# end'; } >'a=b c/x.csv'
samples >'a=b c/x.samples.csv'
expect_status 0 'a whole file' 'a=b c/x.csv' 'a=b c/x.samples.csv' --output "it's here"
cd "it's here/x" || exit 1
for figure in empty_kernel_ecdf empty_kernel_breakdown empty_kernel_idle; do
    expect "$figure.png is a picture" is_png $figure.png
    expect "$figure.svg is a picture" is_svg $figure.svg
    expect "$figure names the device, the host and the day" \
        grep -qF "$device   ·   host: A host   ·   2026-12-01" $figure.svg
done
expect 'the medians, in the order of the figure' diff - <(numbers empty_kernel_breakdown.dat) <<'END'
none 4000 3900 4100 0 0 6
none 6500 6400 6600 800 1 6
none 2500 NaN NaN 810 0 6
none 9100 9000 9200 0 0 6
END
expect 'the sweep in order, without the rows that failed' diff - <(numbers empty_kernel_idle.dat) <<'END'
0 4000 3900 4100 0 0 6
1000 4200 -10 4300 0 0 6
1e6 5000 4900 5100 0 0 6
0 7000 6900 7100 800 0 6
1000 7200 7100 7300 800 0 6
0 7000 6900 7100 800 0 6
1000 7200 7100 7300 800 0 6
END
expect 'the samples of all processes, sorted as numbers' diff - <(numbers empty_kernel_ecdf.samples.dat) <<'END'
900 0.25
4000 0.5
4100 0.75
10000 1
9000 0.25
9100 0.5
9200 0.75
9300 1
END
expect 'the parts and the whole are told' \
    grep -q '4.00 µs (44 %) the host.*s call (submit_single)' empty_kernel_breakdown.svg
expect 'the sum of the parts has the bound of the host clock, and their mark' \
    grep -qF '9.00*  ±0' empty_kernel_breakdown.svg
expect 'what is after the call is told, marked where unsteady' \
    grep -qF '2.50 µs (28 %) until the first thread*' empty_kernel_breakdown.svg
expect 'a metric that is unsupported is not drawn' [ "$(grep -c flag_latency -- *.svg *.dat | grep -vc ':0')" = 0 ]
cd "$scratch" || exit 1

# --- What a file may lack ----------------------------------------------------------------------------------------------

{
    begin_file
    row submit_single stamp none '' ok 4 4 4 0
    row launch_latency stamp none '' ok 6 6 6 1
    row completion_latency stamp none '' ok 2 2 2 1
    row round_trip '' none '' ok 9 9 9 0
} >y.csv
expect_status 0 'a file without samples and idle rows' y.csv
expect 'the breakdown needs no samples' is_png plots/out/y/empty_kernel_breakdown.png
expect 'a missing samples file is told' grep -q 'y.csv: no empty_kernel_ecdf: there is no samples file' said
expect 'missing rows are told' grep -q 'y.csv: no empty_kernel_idle: there is no submit_single' said
expect 'no figure without data' [ ! -e plots/out/y/empty_kernel_idle.png ]
expect 'a run that has not ended is marked' grep -q 'incomplete run' plots/out/y/empty_kernel_breakdown.svg

{
    begin_file
    row submit_single stamp none '' ok 4 4 4 0
    row launch_latency stamp none '' failed '' '' '' ''
} >y.csv
expect_status 0 'a file whose parts failed' y.csv
expect 'why is told' grep -q 'no empty_kernel_breakdown: launch_latency is failed: why, it says' said
expect 'the picture of what the file was before is gone' [ ! -e plots/out/y/empty_kernel_breakdown.png ]
samples | sed 's/run_id: R/run_id: S/' >y.samples.csv
expect_status 0 'samples of another run' y.csv
expect 'they are not drawn' grep -q 'no empty_kernel_ecdf: the samples file is of another run' said

# --- Every figure ------------------------------------------------------------------------------------------------------

# Of the newest complete file of a GPU: no figure fails where its rows are.
complete=$(find "$(dirname "$plot")/../results" -name 'cuda-*Z.csv' -size +300k ! -name '*.samples.csv' | sort | tail -1)
expect_status 0 "the figures of ${complete##*/}" "$complete" --output every

# --- Faults of the user ------------------------------------------------------------------------------------------------

expect_status 2 'no file' --output out
expect_status 2 'an unknown option' --fast y.csv
expect_status 2 'a file that is not there' none.csv
: >empty.csv
expect_status 2 'an empty file' empty.csv
echo a,b >other.csv
expect_status 2 'a file of another kind' other.csv
sed 's/^1,R/2,R/' y.csv >two.csv
expect_status 2 'a schema from the future' two.csv
expect 'says which' grep -q 'two.csv is of schema 2, not 1' said
expect_status 5 'a folder that cannot be made' y.csv --output y.csv
expect_status 0 'help' --help

((failures == 0))
