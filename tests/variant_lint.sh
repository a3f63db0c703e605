#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rules of the sources that no compiler checks: shellcheck, no vendor where none belongs, lines of 120 columns at most, an
# SPDX line first. Long functions and files are told, and are no failure.
set -u
cd "$(dirname "$0")/.." || exit 1
failures=0
shopt -s lastpipe # or what `found` counts is lost

# found WHAT: fails if there is anything on stdin, and shows it.
found() {
    local lines
    lines=$(cat)
    [[ $lines ]] || return 0
    printf '== %s\n%s\n' "$1" "$lines"
    failures=$((failures + 1))
}

mapfile -t scripts < <(grep -lE '^#!.*\b(ba)?sh\b' scripts/* tests/* .ci/* 2>/dev/null)
mapfile -t sources < <(find analysis backends bench common plots tests \( -name '*.[ch]' -o -name '*.cu' \) | sort)

if command -v shellcheck >/dev/null; then
    shellcheck -x "${scripts[@]}" tests/lib.sh 2>&1 | found 'shellcheck'
else
    echo 'no shellcheck: scripts are not checked'
fi

vendor='\b(cuda|cu|hip|nvml|rsmi|amdsmi|hsa)_?[A-Z][A-Za-z]+\w*|#include *[<"](cuda|hip|nvml|rocm|hsa)'
grep -nE "$vendor" bench/*.[ch] common/*.[ch] analysis/*.[ch] 2>/dev/null | found "a vendor's name where none belongs"

LC_ALL=C.UTF-8 grep -nE '^.{121,}$' "${sources[@]}" | cut -c1-140 | found 'lines over 120 columns'
for file in "${sources[@]}" "${scripts[@]}"; do
    head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$file"
done | found 'files without an SPDX line'

# A function's body starts with a brace of its own in column 1, and ends with one.
for file in "${sources[@]}"; do
    awk -v file="$file" '
        /^\{/ { begin = NR }
        /^\}/ && begin { if (NR - begin > 61) printf "note: %s:%d: a function of %d lines\n", file, begin, NR - begin - 1; begin = 0 }
        END { limit = file ~ /\.h$/ ? 150 : 400; if (NR > limit) printf "note: %s: %d lines\n", file, NR }' "$file"
done
((failures == 0))
