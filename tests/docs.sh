#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the documents quote is there: README's table is what `liftoff show` prints, and every result, figure and page named exists.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build} status=0
result=results/cuda-NVIDIA-H200-0-anonymous-20261201T053112Z.csv

shown=$("$build/liftoff" show "$result") || exit 1
while IFS= read -r line; do
    grep -qxF -- "$line" <<<"$shown" || { echo "README quotes a line that is not in $result: $line"; status=1; }
done < <(awk '/^```/ {inside = !inside; next} inside && /^  (variant|runtime|driver) /' README.md)

for page in README.md CONTRIBUTING.md results/README.md docs/*.md; do
    while IFS= read -r path; do
        [[ -e $path || -e $(dirname "$page")/$path ]] || { echo "$page names $path, which is not there"; status=1; }
    done < <({ grep -oE '\]\([^):#]+\)' "$page" | sed 's/^](//; s/)$//'; grep -oE 'results/[a-z][A-Za-z0-9.-]*\.csv' "$page"; } | sort -u)
done

"$build/liftoff" check results/*.csv || status=1
exit "$status"
