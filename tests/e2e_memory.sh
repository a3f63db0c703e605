#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# However many samples there are, the parent keeps within 64 MiB.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

wait_for_device
"$host" --budget 2 --processes 1 --precision 0.01 --timeout 60 --output run.csv harness >out 2>err &
parent=$!
peak_kib=0
for ((i = 0; i < 25; i++)); do
    kib=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$parent/status" 2>/dev/null)
    ((${kib:-0} > peak_kib)) && peak_kib=$kib
    sleep 0.1
done
kill -TERM "$parent" 2>/dev/null # what is still to come brings no more samples at a time
wait "$parent"
status=$?
((status == 143 || status == 0)) || fail "exit status $status"
nobody_left
samples=$(rows run.csv samples | sort -n | tail -n 1)
echo "peak of the parent: $peak_kib KiB, with up to ${samples:-0} samples a row"
((peak_kib > 0 && peak_kib <= 65536)) || fail "the parent took $peak_kib KiB"
is_whole run.csv
