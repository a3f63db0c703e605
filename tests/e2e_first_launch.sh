#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A delay of each kernel's first launch comes back in first_launch only, one of opening in context_creation only, and a
# probe that dies, hangs or runs nothing fails the rows that needed it.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

# measure STATUS FILE [INJECTION [OPTION...]]
measure() {
    rm -f "$2.csv"
    expect "$1" env LIFTOFF_HOST_INJECT="${3-}" "$host" --no-samples --output "$2.csv" "${@:4}" first_launch
}

# grew METRIC EXPECTED_MS [AXIS_VALUE]: the median's growth from plain.csv to delayed.csv, ± 3 % and a millisecond:
# threads of a busy machine wake up late, and a process starts when there is a core for it, which takes up to 5 ms.
grew() {
    local slack=1
    [[ $1 != process_start && $1 != start_to_first ]] || slack=5
    awk -F'|' -v metric="$1" -v expected="$2" -v value="${3-}" -v slack="$slack" '
        $2 == metric && $3 == value { seen[++n] = $4 }
        END {
            off = (seen[2] - seen[1]) / 1e6 - expected
            good = n == 2 && off <= slack + 0.03 * expected && -off <= slack + 0.03 * expected
            printf "%-4s %s %s grew by %.3f ms, of %g\n", good ? "ok" : "off", metric, value, off + expected, expected
            exit !good
        }' <(for file in plain delayed; do rows $file.csv variant metric axis_value median status | grep '|ok$'; done)
}

# Each argument: METRIC:EXPECTED_MS[:AXIS_VALUE].
all_grew() {
    local item metric expected value
    for item; do
        IFS=: read -r metric expected value <<<"$item"
        grew "$metric" "$expected" "$value" || return
    done
}

# check_delay INJECTION ITEM...; measured again where the machine was busy.
check_delay() {
    local injection=$1 _
    shift
    for _ in {1..4}; do
        measure 0 plain
        measure 0 delayed "$injection"
        all_grew "$@" && return
    done
    fail "$injection does not come back where it belongs, or elsewhere"
}

check_delay first_ns=20000000 process_start:0 driver_start:0 context_creation:0 start_to_first:20 first_launch:20 \
    first_submit:20 second_launch:0 second_submit:0 first_launch:20:1024 second_launch:0:1024 first_launch:20:65536 \
    second_launch:0:65536
check_delay open_ns=50000000 process_start:0 driver_start:0 context_creation:50 start_to_first:50 first_launch:0 \
    second_launch:0 first_launch:0:1024

expect 0 "$reader" check plain.csv
rows plain.csv variant metric axis axis_value status reason >got
reason='a host kernel is part of the program: none is loaded at run time'
holds got "^default\|module_load\|functions\|1000\|unsupported\|$reason\$"
holds got "^warm_cache\|module_load\|none\|\|unsupported\|$reason\$"
lacks got '\|(failed|timeout)\|'

# --- Probes that fail -------------------------------------------------------------------------------------------------

# The third launch is the first of some kernel's code: the others are measured.
measure 1 skipped wrong_count=3 --processes 1
rows skipped.csv metric axis status reason >got
(($(grep -c '|failed|launch 3 left no stamp: the kernel did not run$' got) == 2)) || fail 'not one case failed'
holds got '^first_launch\|none\|ok\|'
holds got '^first_launch\|code_bytes\|ok\|'

measure 1 died crash=1
rows died.csv status reason | sort -u >got
diff got - <<<'failed|probe all: the process died of SIGSEGV' || fail 'a probe that dies is not told so'
holds died.csv '^# end$'

measure 1 hung hang=2 --quick
rows hung.csv status reason | sort -u >got
diff got - <<<'failed|probe start: the process was killed after 10 s' || fail 'a probe that hangs is not told so'
holds hung.csv '^# end$'
nobody_left
