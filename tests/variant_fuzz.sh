#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the reader of result files for a minute, from the seeds in tests/corpus/result.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}/fuzz

command -v clang >/dev/null || { echo 'no clang'; exit 77; }
mkdir -p "$build/corpus"
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n > 1 ? 0 : 0; }' |
    clang -x c -fsanitize=fuzzer -o "$build/probe" - 2>/dev/null || { echo 'this clang has no libFuzzer'; exit 77; }
clang -std=c11 -D_GNU_SOURCE -DLIBFUZZER -I. -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
    -o "$build/fuzz_result" tests/fuzz_result.c common/result.c -lm
# What is found goes to the first folder; what breaks lies in the build folder, too.
"$build/fuzz_result" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$build/" "$build/corpus" tests/corpus/result
