#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds everything for the host with clang, where a warning is an error, and runs the unit tests.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}/clang

command -v clang >/dev/null || { echo 'no clang'; exit 77; }
units=()
for source in tests/unit_*.c; do units+=("$build/tests/$(basename "$source" .c)"); done
make -s -j"$(nproc)" BUILD="$build" CC=clang NVCC= HIPCC= WERROR=-Werror "$build/liftoff-host" "$build/liftoff" \
    "$build/tests/coverage" "$build/tests/fuzz_result" "$build/tests/fake/libnvidia-ml.so.1" "${units[@]}"
for unit in "${units[@]}"; do
    echo "== $unit"
    "$unit"
done
