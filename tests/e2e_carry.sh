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
    awk -v own="$(of_three kernels_own carry_cost)" -v phases="$(of_three phases carry_cost)" -v kernels="$(of_three kernels carry_cost)" \
        -v boundary="$(of_three kernels boundary)" '
        function grew(list,    v) { split(list, v, " "); return v[2] - (v[1] + v[3]) / 2 }
        BEGIN {
            printf "grew by %.0f ns between kernels, its boundary by %.0f, by %.0f between phases\n", grew(kernels), \
                grew(boundary), grew(phases)
            exit !(grew(kernels) > 36000 && grew(kernels) < 44000 && grew(boundary) > 36000 && grew(boundary) < 44000 &&
                grew(own) > 36000 && grew(own) < 44000 &&
                grew(phases) > -2000 && grew(phases) < 2000)
        }'
}
come_back gap_comes_back gap_ns=40000
expect 0 "$reader" check before.csv

# A pass through memory is one store and one load of each byte, so of no size can it be faster than both after each other.
# Of the bandwidths the best sample counts: the machine is shared.
measure_one_worker every_size '' 0 --processes 1 --budget 0.02 carry
rows every_size.csv variant metric axis_value median max detail status reason | awk -F'|' '
    function most(a, b) { return a > b ? a : b }
    $2 == "bandwidth" { best[$1] = $5 }
    $2 == "carry_rate" { rate[$1 " of " $3] = $4; variant[$1 " of " $3] = $1 }
    $2 == "carry_cost" && $4 == "" && $8 !~ /ten steps/ { print "no cost of " $1 " of " $3; bad = 1 }
    END {
        load = most(best["l2"], best["device"])
        store = most(best["l2_store"], best["device_store"])
        bound = load * store / (load + store)
        for (key in rate) {
            count++
            limit = variant[key] == "shared" ? best["shared"] : bound
            if (rate[key] > 0 && rate[key] < limit) continue
            printf "%s: %s bytes a ns, of at most %s\n", key, rate[key], limit
            bad = 1
        }
        exit bad || count < 24
    }' >out || fail 'rates above what the bandwidths allow'

# Of memory no byte is read twice, from 16 times the cache; of the cache a quarter is, eight times. Here a block is one thread.
cache=$(getconf LEVEL2_CACHE_SIZE)
if ((cache > 0 && cache <= 64 << 20)); then
    for level in device:16 device_store:16 l2:2 l2_store:2; do
        rows every_size.csv variant detail | grep -q "^${level%:*}|blocks=1;bytes=$((cache * ${level#*:}));" ||
            fail "${level%:*} does not cover ${level#*:} times the cache"
    done
fi

# The runs differ in how many launches come before; of so many some are of the first pass, and some of the one that counts.
for launch in {400..404}; do
    measure_one_worker lost "wrong_count=$launch" 1 --quick --budget 0.05 carry
    rows lost.csv status reason | grep '^failed|' | grep -qE 'did not run|not what was produced' ||
        fail "launch $launch never ran, and that passes unseen"
done
