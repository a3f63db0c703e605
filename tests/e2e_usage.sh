#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the command line answers: wrong usage, lists, help, and which device.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

# wrong TEXT ARGUMENT...: liftoff-host refuses the arguments, says TEXT, and writes nothing.
wrong() {
    local text=$1
    shift
    expect 2 "$host" "$@"
    says "$text"
    [[ ! -s out && -z $(find . -name '*.csv') ]] || fail 'it wrote something'
}

# --- Names and values -------------------------------------------------------------------------------------------------

wrong "unknown option '--quik'; did you mean '--quick'?" --quik
wrong "unknown option '-q'" -q
wrong "option '--pr" --pr 1
wrong "there is no benchmark 'empty_kernal'; did you mean 'empty_kernel'?" empty_kernal
wrong "there is no benchmark 'zzzzzz' (--list names them)" harness zzzzzz
wrong "option '--precision' takes a number from 0.01 to 100, not '0'" --precision 0
wrong "not '1,5'" --precision 1,5
wrong "not 'nan'" --precision nan
wrong "option '--budget' takes a number from 0.001 to 3600, not '-1'" --budget=-1
wrong "option '--timeout' takes a number from 0.1 to 86400, not '1e9'" --timeout 1e9
wrong "option '--processes' takes a whole number from 1 to 64, not '65'" --processes 65
wrong "not '1.5'" --processes 1.5
wrong "option '--progress' takes auto|always|never, not 'nevr'; did you mean 'never'?" --progress nevr
wrong "option '--output' needs a value before '--quick'" --output --quick
wrong "option '--output' needs a value, not an empty text" --output ''
wrong "option '--budget' needs a value: SECONDS" --budget
wrong "option '--quick' takes no value" --quick=1
wrong '--device takes an index or all' --device first
wrong '--pin takes near, none or the number of a processing unit' --pin far
wrong '--resume writes to the file that it resumes; leave --output out' --resume a.csv --output b.csv
wrong '--device all writes a file a device; leave --output and --resume out' --device all --output b.csv

expect 2 "$reader"
says 'COMMAND'
expect 2 "$reader" shwo x.csv
says "there is no command 'shwo'; did you mean 'show'?"
expect 2 "$reader" check
says 'liftoff check: FILE... is missing'
expect 2 "$reader" show --quick x.csv
says "unknown option '--quick'"

# --- Lists and help ---------------------------------------------------------------------------------------------------

expect 0 "$host" --list
lacks out $'^[^\t]*$' # name, tab, summary
lacks out $'\t.*\t'
holds out $'^empty_kernel\t.'
holds out $'^harness\t.'

for program in "$host" "$reader"; do
    name=${program##*/}
    expect 0 "$program" --version
    holds out "^$name [0-9]+\\.[0-9]+\\.[0-9]+"
    expect 0 "$program" --help
    says "Usage: $name "
    expect 0 "$program" --help=man
    holds out '^\.TH '
    if command -v man >/dev/null; then
        man --warnings -l out >page 2>warnings || fail 'man cannot format the page'
        [[ ! -s warnings ]] || fail "man warns: $(<warnings)"
    fi
    expect 0 "$program" --help=bash
    bash -n out || fail 'the completion is no bash'
    expect 2 "$program" --help=html
    says "option '--help' takes text|man|bash, not 'html'"
done
expect 0 "$host" --help
for option in list device output quick precision budget timeout processes pin no-samples resume anonymous progress; do
    says "--$option"
done

# --- Devices and pins -------------------------------------------------------------------------------------------------

expect 3 "$host" --device 5 harness
says 'there is no device 5, only 1'
expect 0 "$host" --device all --quick --budget 0.001 --no-samples harness
file=$(<out)
[[ $file == ./host-*-0-*.csv && -f $file ]] || fail "unexpected file $file"
expect 0 "$host" --pin none --quick --budget 0.001 --no-samples --output none.csv harness
holds none.csv '^# pin: none'
lacks none.csv '^# pinned_pu'
expect 2 "$host" --pin 9999 --quick --output pin.csv harness
says '--pin 9999: not near, none or a processing unit that this process may use'
[[ ! -e pin.csv ]] || fail 'a file was made before the usage was right'

# Where the machine cannot be read nobody is pinned, which is told; only who asked for a place is refused.
export HWLOC_SYNTHETIC='pack:2 core:4 pu:1' # another machine
expect 0 "$host" --quick --budget 0.001 --no-samples --output unpinned.csv harness
says "the measuring thread is not pinned: hwloc cannot read this machine's topology"
expect 0 "$reader" check unpinned.csv
holds unpinned.csv "^# pin_failed: hwloc cannot read this machine's topology"
holds unpinned.csv ',(ok|unsteady),'
lacks unpinned.csv '^# pinned_pu'
sed -i '/^# end$/d; 0,/^1,/{/^1,/d}' unpinned.csv
expect 0 "$host" --resume unpinned.csv
expect 0 "$reader" check unpinned.csv
for place in near 0; do
    expect 2 "$host" --pin $place --quick --output place.csv harness
    says "--pin $place: hwloc cannot read this machine's topology"
    [[ ! -e place.csv ]] || fail 'a file of a run that is not pinned where it was to be'
done
expect 0 "$host" --pin none --quick --budget 0.001 --no-samples --output none-asked.csv harness
says_not 'not pinned'
unset HWLOC_SYNTHETIC
sed -i '/^# end$/d' unpinned.csv
expect 2 "$host" --resume unpinned.csv
says "its pin_failed is 'hwloc cannot" "', not ''"

# --- What stands before the measuring processes -----------------------------------------------------------------------

for runner in env 'nice -n 0'; do
    expect 0 env LIFTOFF_RUNNER="$runner" "$host" --quick --budget 0.001 --no-samples --output "${runner%% *}.csv" harness
    expect 0 "$reader" check "${runner%% *}.csv"
done
expect 3 env LIFTOFF_RUNNER=/nowhere/at/all "$host" --quick --output runner.csv harness
says 'cannot start /nowhere/at/all: No such file or directory' 'no usable device: the process ended early with status 127'

# Every word arrives, of a long runner and of a long command line, and in the processes that a benchmark starts itself.
cat >count_words <<'END'
#!/bin/sh
echo "$LIFTOFF_RUNNER $#" >>told
shift 100
exec "$@"
END
chmod +x count_words
runner="./count_words $(seq -s ' ' 100)"
mapfile -t names < <(yes context_switch | head -n 100)
expect 0 env LIFTOFF_RUNNER="$runner" "$host" --quick --budget 0.001 --no-samples --output words.csv "${names[@]}"
expect 0 "$reader" check words.csv
[[ $(sort -u told) == "$runner $((100 + 1 + 6 + 100))" ]] || fail 'words of the runner or of the command line are lost'
(($(wc -l <told) > 3)) || fail 'no process of the benchmark itself'

# Without /proc a process cannot start itself again, and says so.
# shellcheck disable=SC2016 # for the inner shell
without_proc=(unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' --)
if ((EUID == 0)) && "${without_proc[@]}" "$host" --version >out 2>&1; then # sanitizers need it
    for runner in '' env; do
        expect 3 env LIFTOFF_RUNNER="$runner" "${without_proc[@]}" "$host" --quick --output proc.csv harness
        says 'cannot start /proc/self/exe: No such file or directory'
    done
else
    echo 'left out: a machine without /proc takes root and mount'
fi
