# SPDX-License-Identifier: Apache-2.0
# What the end-to-end tests share: a folder of their own with copies of the programs, and the words that a test is made of.
# shellcheck shell=bash
set -u

# Two runs on one machine refuse each other, and a tmpfs needs a mount: as root, in namespaces of this test's own.
if ((EUID == 0)) && [[ -z ${E2E_ISOLATED-} ]] && unshare --net --mount true 2>/dev/null; then
    E2E_ISOLATED=1 exec unshare --net --mount "$0" "$@"
fi

unset LIFTOFF_HOST_INJECT LIFTOFF_RUNNER LIFTOFF_CLOCK
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
build=$(cd "${BUILD:-build}" && pwd -P) || exit 1
work=$(mktemp -d) && work=$(cd "$work" && pwd -P) || exit 1
host=$work/bin/liftoff-host reader=$work/bin/liftoff
mkdir "$work/bin" && cp "$build/liftoff" "$build/liftoff-host" "$work/bin" || exit 1
mkdir "$work/here" && cd "$work/here" || exit 1

# The processes of this test's own copy of the program; a zombie is none.
processes() { find /proc -maxdepth 2 -name exe -lname "$host" 2>/dev/null | cut -d/ -f3; }

clean_up() {
    local pids
    mapfile -t pids < <(processes)
    ((${#pids[@]} == 0)) || kill -KILL "${pids[@]}" 2>/dev/null
    cd / && rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Ends the test; shows where, and what the last command said.
fail() {
    echo "FAILED at ${BASH_SOURCE[-1]##*/}:${BASH_LINENO[-2]}: $*"
    [[ ! -s out ]] || sed 's/^/  out: /' out | tail -n 30
    [[ ! -s err ]] || sed 's/^/  err: /' err | tail -n 30
    exit 1
}

# expect STATUS COMMAND...: runs it, its output in the files out and err, and fails unless it ends with STATUS.
expect() {
    local wanted=$1 status
    shift
    wait_for_device
    timeout --kill-after=5 60 "$@" >out 2>err
    status=$?
    ((status == wanted)) || fail "exit status $status, not $wanted: $*"
}

# Another run of somebody else, where this test has no namespace of its own.
wait_for_device() {
    local i
    for ((i = 0; i < 300; i++)); do
        grep -q '@liftoff-host$' /proc/net/unix || return 0
        sleep 0.1
    done
}

# says TEXT...: the last command said each of them.
says() {
    local text
    for text; do
        cat out err | grep -qF -- "$text" || fail "it does not say: $text"
    done
}

says_not() {
    ! cat out err | grep -qF -- "$1" || fail "it says: $1"
}

# holds FILE REGEX / lacks FILE REGEX
holds() { grep -qE -- "$2" "$1" || fail "$1 lacks $2"; }
lacks() { ! grep -qE -- "$2" "$1" || fail "$1 holds $2: $(grep -E -m 1 -- "$2" "$1")"; }

# rows FILE COLUMN...: these columns of each row, parted by |.
rows() {
    local file=$1
    shift
    awk -v columns="$*" '
        /^#/ { next }
        {
            rest = $0
            for (n = 1;; n++) {
                if (!match(rest, /^"([^"]|"")*"/)) match(rest, /^[^,]*/)
                field[n] = substr(rest, 1, RLENGTH)
                rest = substr(rest, RLENGTH + 1)
                if (rest == "") break
                rest = substr(rest, 2)
            }
        }
        !header { for (i = 1; i <= n; i++) at[field[i]] = i; header = 1; wanted = split(columns, name, " "); next }
        { for (i = 1; i <= wanted; i++) printf "%s%s", field[at[name[i]]], i < wanted ? "|" : "\n" }' "$file"
}

keys() { rows "$1" benchmark variant metric params axis axis_value | sort; }

# No line is cut off, and every row is whole.
is_whole() {
    [[ ! -s $1 || $(tail -c 1 "$1" | od -An -tx1) == ' 0a' ]] || fail "the last line of $1 is cut off"
    "$reader" check "$1" >out 2>err
    says_not 'cut off within' && says_not ' fields, not '
}

# Within two seconds no process of the run is left.
nobody_left() {
    local i
    for ((i = 0; i < 20; i++)); do
        [[ $(processes) ]] || return 0
        sleep 0.1
    done
    fail "processes are left: $(processes | xargs ps -o pid,stat,args -p)"
}

# until SECONDS COMMAND...: waits for it to succeed.
until_true() {
    local i limit=$1
    shift
    for ((i = 0; i < limit * 50; i++)); do
        "$@" && return 0
        sleep 0.02
    done
    fail "not within $limit s: $*"
}

has_rows() { [[ -f $1 ]] && (($(grep -c '^1,' "$1") >= $2)); }

# two_cores: two of those that may be used, as taskset wants them. They make a device of one worker, which does block
# after block: more of them would wait for each other at the count of blocks, and not for what was put in. Fails with
# the reason where there is but one.
two_cores() {
    local list
    mapfile -t list < <(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr ',' '\n' |
        awk -F- '{ for (core = $1; core <= $NF; core++) print core }' | head -n 2)
    ((${#list[@]} == 2)) || { echo 'one core cannot tell: host and device would take turns' >&2 && return 1; }
    echo "${list[0]},${list[1]}"
}

# measure_one_worker FILE INJECTION STATUS OPTION... BENCHMARK: runs it on the two cores in $cores, which make a device of one worker.
measure_one_worker() {
    rm -f "$1.csv"
    # shellcheck disable=SC2154 # the test has asked two_cores
    expect "$3" taskset -c "$cores" env LIFTOFF_HOST_INJECT="$2" "$host" --no-samples --output "$1.csv" "${@:4}"
    holds "$1.csv" '^# workers: 1$'
}

# grew METRIC VARIANT PARAMS EXPECTED TOLERANCE: what delayed.csv has above the mean of before.csv and after.csv, in ns.
grew() {
    local file
    for file in before delayed after; do
        rows "$file.csv" metric variant params median | awk -F'|' -v key="$1|$2|$3" '$1 "|" $2 "|" $3 == key { print $4 }'
    done | awk -v what="$1 $2 $3" -v expected="$4" -v tolerance="$5" '
        { value[NR] = $1 }
        END {
            seen = value[2] - (value[1] + value[3]) / 2
            good = NR == 3 && seen >= expected - tolerance && seen <= expected + tolerance
            printf "%-4s %s grew by %.0f ns; put in were %d ± %d\n", good ? "ok" : "off", what, seen, expected, tolerance
            exit !good
        }'
}

# come_back CHECK INJECTION: the test's own `measure FILE [INJECTION]` is done before, with and after the injection, until CHECK,
# which holds the three files against each other, succeeds. The machine is shared: what is off is measured again.
come_back() {
    local attempt
    for attempt in {1..8}; do
        measure before
        measure delayed "$2"
        measure after
        "$1" && return
        echo "attempt $attempt of $2 is off"
    done
    fail "$2 does not come back"
}
