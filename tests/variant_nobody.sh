#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The end-to-end tests once more, as a user without rights, from a folder that this user can read.
set -u

((EUID == 0)) || { echo 'not root: the other tests ran as a user without rights already'; exit 77; }
command -v setpriv >/dev/null || { echo 'no setpriv'; exit 77; }
cd "$(dirname "$0")/.." || exit 1

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/tests" "$folder/build" "$folder/home"
cp tests/run tests/lib.sh tests/e2e_*.sh "$folder/tests"
# Of these the benchmark asks the system for nothing but memory and threads.
for name in arguments cache_loss carry contention default_stream geometry instruction_cache stream_fence stream_order \
    synchronize warm_up; do
    rm "$folder/tests/e2e_$name.sh"
done
find "${BUILD:-build}" -maxdepth 1 -type f -name 'liftoff*' -exec cp -t "$folder/build" {} +
chmod -R a+rX "$folder" && chown nobody "$folder/home"

# A network of their own keeps them apart from other runs on this machine.
isolated=()
unshare --net true 2>/dev/null && isolated=(unshare --net)
cd "$folder" || exit 1
"${isolated[@]}" setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups --no-new-privs \
    env -i PATH="$PATH" HOME="$folder/home" TMPDIR="$folder/home" BUILD="$folder/build" ${V:+V=$V} \
    tests/run tests/e2e_*.sh
