#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the documents quote is there: README's table is what `liftoff show` prints, and every result, figure and page named exists.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build} status=0
result=results/cuda-NVIDIA-H200-0-anonymous-20261201T062435Z.csv

shown=$("$build/liftoff" show "$result") || exit 1
while IFS= read -r line; do
    grep -qxF -- "$line" <<<"$shown" || { echo "README quotes a line that is not in $result: $line"; status=1; }
done < <(awk '/^```/ {inside = !inside; next} inside && /^  (variant|runtime|driver) /' README.md)

for page in README.md CONTRIBUTING.md results/README.md docs/*.md; do
    while IFS= read -r path; do
        [[ -e $path || -e $(dirname "$page")/$path ]] || { echo "$page names $path, which is not there"; status=1; }
    done < <({ grep -oE '\]\([^):#]+\)' "$page" | sed 's/^](//; s/)$//'; grep -oE 'results/[a-z][A-Za-z0-9.-]*\.csv' "$page"; } | sort -u)
done

# Only what the repository holds: `make run` puts its results beside it.
if git rev-parse --git-dir >/dev/null 2>&1; then mapfile -t files < <(git ls-files 'results/*.csv'); else files=(results/*.csv); fi
"$build/liftoff" check "${files[@]}" || status=1

while IFS=$'\t' read -r benchmark _; do
    grep -qx "## The metrics of $benchmark" docs/method.md || { echo "docs/method.md says nothing of $benchmark"; status=1; }
    grep -q "^| \`$benchmark\`" README.md || { echo "README.md says nothing of $benchmark"; status=1; }
done < <("$build/liftoff-host" --list)
exit "$status"
