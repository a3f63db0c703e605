#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the CUDA backend for three architectures, looks for the kernels in the code, and runs it where no device is.
set -u
cd "$(dirname "$0")/.." || exit 1

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
kernels='empty stamp flag gate pingpong clock_steps'
failed=0

fail() { echo "FAILED: $*"; failed=1; }

# Builds in a folder of its own, whatever make called this test.
build() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make BUILD="$work/build" CUDA_ARCH='75 80 90' "$@" 2>&1; }

# Make says why; a compiler that is named and missing fails the build below.
build -n clean | grep "^liftoff-cuda is left out: " && exit 77

# The program says that there is no device, and names the vendor's call and error.
expect_no_device() { # ENVIRONMENT...
    local output status
    output=$(timeout 60 env "$@" "$work/build/liftoff-cuda" 2>&1 </dev/null)
    status=$?
    echo "liftoff-cuda: exit $status: $output"
    ((status == 3)) || fail "liftoff-cuda exits with $status, not 3"
    grep -Eq 'no usable device: (cuda[A-Za-z]+: cudaErrorNoDevice |cudaErrorInsufficientDriver: .*driver)' <<<"$output" ||
        fail 'liftoff-cuda does not say why there is no device'
}

build "$work/build/liftoff-cuda" WERROR=-Werror || { fail 'liftoff-cuda does not build'; exit 1; }

compiler=$(PATH=${CUDA_HOME:-/usr/local/cuda}/bin:$PATH command -v "${NVCC:-nvcc}")
for architecture in 75 80 90; do
    "$compiler" -std=c++17 -O2 -I. -Werror all-warnings -cubin -arch="sm_$architecture" -o "$work/cubin" \
        backends/kernels/common.cu || fail "the kernels do not compile for sm_$architecture"
    symbols=$(readelf --wide --symbols "$work/cubin" 2>/dev/null)
    for kernel in $kernels; do
        grep -Eq " FUNC .* kernel_$kernel$" <<<"$symbols" || fail "the code for sm_$architecture lacks kernel_$kernel"
    done
    size=$(sed -n "s/^{\"$architecture\", \"straight_512\", \(.*\)},$/\1/p" "$work/build/cuda/code_sizes")
    ((size >= 512 * 1024 - 512)) || fail "straight code for $architecture is shorter than it was written: ${size:-unknown}"
done

[[ -e /dev/nvidiactl ]] || expect_no_device
expect_no_device CUDA_VISIBLE_DEVICES=

NVCC=/nowhere/nvcc build clean | grep -q 'there is no /nowhere/nvcc' || fail 'a missing NVCC is no error'
[[ $(NVCC='' build -n clean | grep -c '^liftoff-cuda is left out: ') == 1 ]] || fail 'an empty NVCC gives no line'
exit "$failed"
