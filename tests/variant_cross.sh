#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds for AArch64 and lets an emulator run the unit tests and a whole run, its children included (LIFTOFF_RUNNER).
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}/cross
emulator=qemu-aarch64

command -v aarch64-linux-gnu-gcc >/dev/null || { echo 'no aarch64-linux-gnu-gcc'; exit 77; }
command -v "$emulator" >/dev/null || { echo "no $emulator"; exit 77; }
echo '#include <hwloc.h>
int main(void) { return hwloc_get_api_version() == 0; }' |
    aarch64-linux-gnu-gcc -x c -o /dev/null - -lhwloc 2>/dev/null || { echo 'no hwloc for AArch64'; exit 77; }

units=()
for source in tests/unit_*.c; do
    case $source in */unit_nvml.c | */unit_pin.c) continue ;; esac # about the real machine
    units+=("$build/tests/$(basename "$source" .c)")
done
make -s BUILD="$build" CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar NVCC= HIPCC= HWLOC_CFLAGS= HWLOC_LIBS=-lhwloc \
    WERROR=-Werror "$build/liftoff-host" "$build/liftoff" "${units[@]}"

for unit in "${units[@]}"; do
    echo "== $unit"
    LIFTOFF_RUNNER=$emulator "$emulator" "$unit" # some start themselves again
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
LIFTOFF_RUNNER=$emulator "$emulator" "$build/liftoff-host" --quick --budget 0.02 --output "$folder/run.csv"
"$emulator" "$build/liftoff" check "$folder/run.csv"
grep -q '^# machine: aarch64' "$folder/run.csv" || echo 'the emulator does not tell its machine'
