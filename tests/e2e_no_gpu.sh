#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The programs for GPUs where there is none to use: they start without a driver, say so, and write nothing.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

tested=0
for backend in cuda hip; do
    program=$build/liftoff-$backend
    [[ -x $program ]] || continue
    tested=$((tested + 1))
    none=(env CUDA_VISIBLE_DEVICES='' HIP_VISIBLE_DEVICES=-1 ROCR_VISIBLE_DEVICES=-1 "$program")
    expect 3 "${none[@]}" --quick --output run.csv
    says "liftoff-$backend: no usable device: "
    expect 3 "${none[@]}" --device all --quick
    says "liftoff-$backend: no usable device"
    [[ ! -s out && -z $(find . -name '*.csv') ]] || fail 'it wrote something'
    expect 0 "${none[@]}" --list
    holds out $'^empty_kernel\t'
    expect 0 "${none[@]}" --version
    expect 2 "${none[@]}" --quik
done
((tested)) || { echo 'neither liftoff-cuda nor liftoff-hip was built'; exit 77; }
