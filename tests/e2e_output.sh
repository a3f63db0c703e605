#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a run writes and where: files that cannot be written, a full disk, names, samples, anonymity, locale, progress.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
quick=("$host" --quick --budget 0.001)

# --- Files that cannot be written -------------------------------------------------------------------------------------

expect 5 "${quick[@]}" --output missing/run.csv harness
says 'missing/run.csv: cannot be created: No such file or directory'

# A name that is too long for the system is not cut to that of another file.
long=$(head -c 4095 /dev/zero | tr '\0' /)
for name in "$long/run.csv" "$long"r "$(head -c 4096 /dev/zero | tr '\0' r)"; do
    expect 5 "${quick[@]}" --output "$name" harness
    says 'cannot be created: File name too long'
    expect 2 "${quick[@]}" --resume "$name"
    says 'File name too long'
done
[[ -z $(find . -name 'r*.csv') && ! -e r && ! -e run ]] || fail 'it wrote a file of another name'

if ((EUID == 0)); then
    echo 'left out: root may write to a read-only folder'
else
    mkdir -m 555 readonly
    expect 5 "${quick[@]}" --output readonly/run.csv harness
    says 'readonly/run.csv: cannot be created: Permission denied'
fi

echo precious >there.csv
expect 5 "${quick[@]}" --output there.csv harness
says 'there.csv: cannot be created: File exists'
[[ $(<there.csv) == precious && ! -e there.samples.csv ]] || fail 'it touched what was there'
echo precious >beside.samples.csv
expect 5 "${quick[@]}" --output beside.csv harness
says 'beside.samples.csv: cannot be created: File exists'
[[ $(<beside.samples.csv) == precious && ! -e beside.csv ]] || fail 'it touched what was there, or left half a pair'

# --- A full disk ------------------------------------------------------------------------------------------------------

# full FILE: a run that found no more room for FILE has said so and left whole lines.
full() {
    says "$1" 'cannot be written'
    is_whole "$1"
    expect 2 "$reader" check "$1"
    says 'no end mark'
}

# The shell's limit on the size of a file: the write fails with a reason, and no signal ends the run within a row.
(
    ulimit -f 5
    expect 5 "${quick[@]}" --no-samples --output limit.csv empty_kernel
    says 'File too large'
) || exit 1
expect 2 "$reader" check limit.csv
says 'no end mark'
is_whole limit.csv
before=$(grep -c '^1,' limit.csv)
((before > 0)) || fail 'no row came before the limit'
cp limit.csv kept.csv
(
    ulimit -f 1
    expect 5 "$host" --quick --budget 0.001 --no-samples --resume limit.csv
    says 'File too large'
) || exit 1
cmp limit.csv kept.csv || fail 'a resume that found no room has spoilt the file'
[[ ! -e limit.csv.tmp ]] || fail 'a resume that found no room left its file behind'
expect 0 "$host" --quick --budget 0.001 --no-samples --resume limit.csv
expect 0 "$reader" check limit.csv

mkdir small
if ((EUID == 0)) && mount -t tmpfs -o size=16k none small 2>/dev/null; then
    expect 5 "${quick[@]}" --output small/run.csv empty_kernel
    says 'No space left on device'
    full small/run.csv
    mount -o remount,size=1m small
    expect 0 "${quick[@]}" --resume small/run.csv
    expect 0 "$reader" check small/run.csv
    umount small
else
    echo 'left out: a full tmpfs takes root and mount'
fi

expect 0 "${quick[@]}" --output run.csv harness
[[ $(<out) == run.csv ]] || fail 'it does not name its file'
for command in "$reader show run.csv" "$reader check run.csv" "$reader --help" "$reader show --help" "$host --help" \
    "$host --list" "$host --version" "${quick[*]} --output full.csv harness"; do
    # shellcheck disable=SC2086 # the words of a command
    expect 5 bash -c 'exec "$@" >/dev/full' -- $command
    says 'could not be written'
    # shellcheck disable=SC2086
    expect 5 bash -c 'exec "$@" >&-' -- ${command/full.csv/closed.csv}
    says 'could not be written'
done
expect 0 "$reader" check full.csv closed.csv # the result is whole, only its name is lost
expect 0 bash -c 'exec "$@" <&- 2>&-' -- "${quick[@]}" --output silent.csv harness
expect 0 "$reader" check silent.csv

# --- Names, options and what is left out ------------------------------------------------------------------------------

expect 0 "$reader" check run.csv
says "$(grep '^# plan: harness' run.csv | cut -d' ' -f4) rows"
expect 0 "$reader" show run.csv
says 'submit_ratio' 'clock_cost'
[[ -f run.samples.csv ]] || fail 'no samples'
expect 0 "${quick[@]}" --no-samples --output bare harness
[[ -f bare && -z $(find . -name 'bare?*') ]] || fail 'samples, or another name'

mkdir folder results
expect 0 "${quick[@]}" harness
[[ $(<out) =~ ^results/host-CPU-threads-.*-0-.*-[0-9]{8}T[0-9]{6}Z\.csv$ && -f $(<out) ]] || fail "unexpected name"
(cd folder && expect 0 "${quick[@]}" harness && [[ $(<out) == ./host-* && -f $(<out) ]]) || fail 'not written to .'

mkdir secret-folder
(
    cd secret-folder || exit 1
    export LIFTOFF_CLOCK=/secret/path
    expect 0 "${quick[@]}" --anonymous harness
    file=$(<out)
    [[ $file != *"$(uname -n)"* ]] || fail 'the host is in the name'
    expect 0 "$reader" check "$file"
    for word in "$(uname -n)" "$(id -un)" "${HOME:-/root}" "$work" secret command_line 'harness --' --anonymous; do
        [[ ! $word || $word == / ]] || ! grep -vE '^# os:' "$file" "${file%.csv}.samples.csv" | cut -d: -f2- | grep -F -- "$word" >out ||
            fail "'$word' is in an anonymous result"
    done
    holds "$file" '^# anonymous: true'
    holds "$file" '^# env_LIFTOFF_CLOCK: \(withheld\)'
) || exit 1
holds run.csv "^# command_line: liftoff-host --quick --budget 0.001 --output run.csv harness"
holds run.csv "^# host: $(uname -n)"
holds run.csv '^# options: .*budget_s=0.0002;.*quick=1'

# --- Samples ----------------------------------------------------------------------------------------------------------

expect 0 "$host" --budget 0.05 --processes 2 --output two.csv harness
expect 0 "$reader" check two.csv
holds two.csv '^# processes: 2'
grep -v '^#' two.samples.csv | tail -n +2 | awk -F, '
    { key = $1; for (i = 2; i <= 6; i++) key = key "|" $i; count[key] += split($8, value, " "); processes[key]++ }
    END { for (key in count) print key, processes[key], count[key] }' | sort >counted
awk '$NF > 1000 || $(NF - 1) != 2' counted >out
[[ ! -s out ]] || fail 'more than 1000 samples, or not two processes'
cut -d' ' -f1 counted | diff - <(keys two.csv) >out || fail 'the keys of the samples are not those of the rows'
awk '$NF > 400 { found = 1 } END { exit !found }' counted || fail 'no row with many samples'
run_id=$(grep '^# run_id:' two.csv)
holds two.samples.csv "^$run_id\$"

# --- Locale and progress ----------------------------------------------------------------------------------------------

mkdir locales
localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8 2>/dev/null
german=(env LOCPATH="$PWD/locales" LC_ALL=de_DE.UTF-8)
[[ $("${german[@]}" locale decimal_point 2>/dev/null) == , ]] || german=(env LC_ALL=C.UTF-8)
expect 0 "${german[@]}" "${quick[@]}" --budget 0.25 --output locale.csv harness
expect 0 "$reader" check locale.csv
rows locale.csv status median | grep -qE '\|[0-9]+\.[0-9]+$' || fail 'no number with a point'
expect 0 "${german[@]}" "$reader" show locale.csv
says_not ,0

expect 0 "${quick[@]}" --progress always --no-samples --output progress.csv harness
says $'\r\033[K' 'harness, process 1 of 1'
expect 0 "${quick[@]}" --progress never --no-samples --output never.csv harness
says_not $'\033'
expect 0 "${quick[@]}" --no-samples --output auto.csv harness # not to a terminal
says_not $'\033'
