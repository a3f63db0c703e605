#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds with the sanitizers for addresses and undefined behaviour, and with the one for threads; runs the unit tests and a
# whole run of the host device, its children included, under each. Not one report may come.
set -eu
cd "$(dirname "$0")/.."

failures=0
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
export ASAN_OPTIONS="log_path=$reports/asan:detect_stack_use_after_return=1:strict_string_checks=1"
export UBSAN_OPTIONS="log_path=$reports/ubsan:print_stacktrace=1"
export TSAN_OPTIONS="log_path=$reports/tsan:second_deadlock_stack=1"

# An old thread sanitizer cannot live with a kernel's wide address randomisation; a network of its own keeps a run apart from
# other runs on this machine.
around=()
setarch -R true 2>/dev/null && around=(setarch -R)
unshare --net true 2>/dev/null && around+=(unshare --net)

check() {
    echo "== $*"
    "${around[@]}" "$@" || { echo "exit status $?: $*"; failures=$((failures + 1)); }
}

# sanitize NAME FLAGS
sanitize() {
    local build=${BUILD:-build}/$1 unit units=()
    for unit in tests/unit_*.c; do
        # The thread sanitizer has a thread of its own, which is not restricted as the process's threads are.
        [[ $1/$unit == tsan/tests/unit_pin.c ]] || units+=("$build/tests/$(basename "$unit" .c)")
    done
    make -s -j"$(nproc)" BUILD="$build" NVCC= HIPCC= CFLAGS="-O1 -g -fno-omit-frame-pointer $2" WERROR= \
        "$build/liftoff-host" "$build/liftoff" "$build/tests/fake/libnvidia-ml.so.1" "${units[@]}"
    for unit in "${units[@]}"; do check "$unit"; done
    rm -f "$reports"/run.*
    check "$build/liftoff-host" --quick --budget 0.02 --output "$reports/run.csv"
    check "$build/liftoff" show "$reports/run.csv"
    check "$build/liftoff" check "$reports/run.csv"
    sed -i '/^# end/d;$d' "$reports/run.csv"
    check "$build/liftoff-host" --quick --budget 0.02 --resume "$reports/run.csv"
}

if [[ $(uname -m) == x86_64 || $(uname -m) == aarch64 ]]; then
    sanitize asan '-fsanitize=address,undefined -fno-sanitize-recover=undefined'
    sanitize tsan '-fsanitize=thread'
else
    echo 'the sanitizers are known to work on x86-64 and AArch64 only'
    exit 77
fi

for report in "$reports"/*san.*; do
    [[ -e $report ]] || continue
    echo "== ${report##*/}"
    cat "$report"
    failures=$((failures + 1))
done
((failures == 0)) || { echo "$failures failures"; exit 1; }
