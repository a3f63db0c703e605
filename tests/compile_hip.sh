#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the HIP backend for AMD and for NVIDIA, looks for the kernels in it, and runs it where no device is.
set -u
cd "$(dirname "$0")/.." || exit 1

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
targets='gfx906 gfx90a gfx1030'
kernels='empty stamp flag gate pingpong clock_steps'
failed=0

fail() { echo "FAILED: $*"; failed=1; }

# Builds in a folder of its own, whatever make called this test.
build() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make BUILD="$work/build" HIP_ARCH="$targets" CUDA_ARCH=90 "$@" 2>&1; }

# The line by which make leaves liftoff-NAME out, if it does; a compiler that is named and missing fails below.
left_out() { build -n clean | grep "^liftoff-$1 is left out: "; }

left_out hip && exit 77

# The program says that there is no device, and names the vendor's call and error.
expect_no_device() { # PATTERN PROGRAM
    local output status
    output=$(timeout 60 env HIP_VISIBLE_DEVICES=-1 CUDA_VISIBLE_DEVICES='' "$2" 2>&1 </dev/null)
    status=$?
    echo "$2: exit $status: $output"
    ((status == 3)) || fail "$2 exits with $status, not 3"
    grep -Eq "no usable device: hip[A-Za-z]+: $1" <<<"$output" || fail "$2 does not say why there is no device"
}

build "$work/build/liftoff-hip" WERROR=-Werror || { fail 'liftoff-hip does not build'; exit 1; }

bundler=
clang_path=$(hipconfig --hipclangpath 2>/dev/null)
for candidate in "$clang_path/clang-offload-bundler" clang-offload-bundler{,-1{5..9},-2{0..9}}; do
    command -v "$candidate" >/dev/null && bundler=$candidate && break
done
if [[ -z $bundler ]]; then
    fail 'no clang-offload-bundler to look into the objects with'
else
    objcopy -O binary --only-section=.hip_fatbin "$work/build/hip/backends/kernels/common.o" "$work/fat" || exit 1
    for target in $targets; do
        "$bundler" --unbundle --type=o --input="$work/fat" --output="$work/$target" \
            --targets="hipv4-amdgcn-amd-amdhsa--$target" || fail "there is no code for $target"
        symbols=$(readelf --wide --symbols "$work/$target" 2>/dev/null)
        for kernel in $kernels; do
            grep -Eq " FUNC .* kernel_$kernel$" <<<"$symbols" || fail "the code for $target lacks kernel_$kernel"
        done
    done
fi
for target in $targets; do
    size=$(sed -n "s/^{\"$target\", \"straight_512\", \(.*\)},$/\1/p" "$work/build/hip/code_sizes")
    ((size >= 512 * 1024 - 512)) || fail "straight code for $target is shorter than it was written: ${size:-unknown}"
done
for kernel in $kernels; do
    nm "$work/build/liftoff-hip" | grep -q " kernel_$kernel$" || fail "liftoff-hip lacks the handle of kernel_$kernel"
done
expect_no_device hipErrorNoDevice "$work/build/liftoff-hip"

HIPCC=/nowhere/hipcc build clean | grep -q 'there is no /nowhere/hipcc' || fail 'a missing HIPCC is no error'
[[ $(HIPCC='' build -n clean | grep -c '^liftoff-hip is left out: ') == 1 ]] || fail 'an empty HIPCC gives no line'

if left_out cuda; then
    echo 'so HIP over CUDA is, too'
else
    build hip-nvidia WERROR=-Werror || fail 'liftoff-hip-nvidia does not build'
    # It needs the driver's library to start; the toolkit has one that answers every call with an error.
    stub=$(find -L "${CUDA_HOME:-/usr/local/cuda}" -path '*/stubs/libcuda.so' -print -quit 2>/dev/null)
    if [[ -n $stub ]]; then
        ln -s "$stub" "$work/libcuda.so.1"
        LD_LIBRARY_PATH=$work expect_no_device cudaError "$work/build/liftoff-hip-nvidia"
    fi
fi
exit "$failed"
