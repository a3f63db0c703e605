#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is passed between two kernels costs the gap between them more, and between two phases of one it does not; a kernel that never ran is told.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2034 # measure_one_worker takes it
cores=$(two_cores) || exit 77

readonly bytes=65536

measure() { measure_one_worker "$1" "${2-}" 0 --quick --budget 0.3 carry; }

# median FILE VARIANT METRIC
median() { rows "$1.csv" variant metric axis_value median | awk -F'|' -v key="$2|$3|$bytes" '$1 "|" $2 "|" $3 == key { print $4 }'; }

# of_three VARIANT METRIC: before, with and after the injection
of_three() { echo "$(median before "$@") $(median delayed "$@") $(median after "$@")"; }

# One gap lies between producer and consumer; those around them are in front of what is timed.
gap_comes_back() {
    awk -v phases="$(of_three phases carry_cost)" -v kernels="$(of_three kernels carry_cost)" \
        -v boundary="$(of_three kernels boundary)" '
        function grew(list,    v) { split(list, v, " "); return v[2] - (v[1] + v[3]) / 2 }
        BEGIN {
            printf "grew by %.0f ns between kernels, its boundary by %.0f, by %.0f between phases\n", grew(kernels), \
                grew(boundary), grew(phases)
            exit !(grew(kernels) > 36000 && grew(kernels) < 44000 && grew(boundary) > 36000 && grew(boundary) < 44000 &&
                grew(phases) > -2000 && grew(phases) < 2000)
        }'
}
come_back gap_comes_back gap_ns=40000
expect 0 "$reader" check before.csv

# A pass through memory is one store and one load of each byte: it cannot be faster than the loads alone.
rows before.csv variant metric axis_value median | awk -F'|' '
    $2 == "bandwidth" && $1 == "device" { most = $4 }
    $2 == "carry_rate" { if ($4 > worst) worst = $4 }
    END { exit !(most > 0 && most < 1000 && worst > 0 && worst < 1.5 * most) }' || fail 'rates above the bandwidth'

# The runs differ in how many launches come before; of so many one is the registers' kernel or one that carries.
for launch in 400 401 402 403; do
    measure_one_worker lost "wrong_count=$launch" 1 --quick --budget 0.05 carry
    rows lost.csv status reason | grep '^failed|' | grep -qE 'did not run|not what was produced' ||
        fail "launch $launch never ran, and that passes unseen"
done
