# shellcheck shell=bash
# Functions for the measured servers: start, address, memory, stop; and the daemon of another commit.
# Sourced, not run. The script that sources it sets $work, a folder that is removed at the end.

say() { printf '== %s\n' "$*" >&2; }

declare -A pid address

stop_server() { # name
    [ -n "${pid[$1]:-}" ] || return 0
    kill -INT "${pid[$1]}" 2>/dev/null || true
    wait "${pid[$1]}" 2>/dev/null || true
    pid[$1]=
}

clean_up() {
    local name
    for name in "${!pid[@]}"; do
        stop_server "$name"
    done
    rm -rf "${work:?}"
}
trap clean_up EXIT

# Starts a server, and reads its output until it prints its address; later output goes to its log,
# $work/NAME.log. If the server does not serve, prints the log and fails.
start_server() { # name command...
    local name=$1 fifo=$work/$1.fifo log=$work/$1.log line fd
    shift
    rm -f "$fifo"
    mkfifo "$fifo"
    : >"$log"
    "$@" >"$fifo" 2>&1 &
    pid[$name]=$!
    address[$name]=
    exec {fd}<"$fifo"
    while IFS= read -r -t 120 line <&"$fd"; do
        echo "$line" >>"$log"
        if [[ $line =~ serving.*(extender|echo)=([^ ]+) ]]; then
            address[$name]=${BASH_REMATCH[2]}
            break
        fi
    done
    if [ -z "${address[$name]}" ]; then
        exec {fd}<&-
        stop_server "$name"
        say "$name does not serve:"
        cat "$log" >&2
        return 1
    fi
    cat <&"$fd" >>"$log" &
    exec {fd}<&-
}

# Where else a server listens, as its log says: webhook, ops.
other_address() { # server listener
    sed -nE "s/.*serving.* $2=([^ ]+).*/\\1/p" "$work/$1.log"
}

# How long a server took to read its state, as its log says; nothing when it does not.
reading_ms() { # server
    sed -nE 's/.*state read.*duration_ms=([0-9]+).*/\1/p' "$work/$1.log" | head -n 1
}

kib() { # server field
    awk -v field="$2:" '$1 == field {print $2}' "/proc/${pid[$1]}/status"
}

die() { # message
    printf 'bench: %s\n' "$1" >&2
    exit 2
}

target=build${FLAVOR:+/$FLAVOR}/evenkeel # of another commit's own makefile

# Lays the commit's files out whole or not at all.
lay_out() { # sha
    local tree=build/against/$1
    [ ! -d "$tree" ] || return 0
    rm -rf "$tree.part"
    mkdir -p "$tree.part"
    git archive "$1" | tar -x -C "$tree.part" && mv "$tree.part" "$tree"
}

# Nothing is left of a build that failed or was interrupted. One that is there is up to date unless
# flags have changed, which make sees.
build_that() { # sha
    local tree=build/against/$1 jobs=()
    [[ " ${MAKEFLAGS:-}" == *" -j"* ]] || jobs=(-j"$(nproc)")
    trap 'rm -rf "$tree" "$tree.part"; clean_up; exit 2' INT TERM
    say "building commit $1 in $tree"
    if ! lay_out "$1" || ! make -C "$tree" --no-print-directory ${jobs[@]+"${jobs[@]}"} \
        COMMIT="${1:0:12}" "$target" >&2 || [ ! -x "$tree/$target" ]; then
        rm -rf "$tree" "$tree.part"
        die "commit $1 does not build, see above; what was built of it is removed"
    fi
    trap - INT TERM
}

# What most clusters would have: one policy for the pods in question, and two constraints to add.
# shellcheck disable=SC2034  # for who sources this
policy='apiVersion: evenkeel.io/v1alpha1
kind: TopologyPolicy
metadata: {name: web}
spec:
  match: {objectSelector: {matchLabels: {tier: web}}}
  pods:
    replaceDefaults: true
    spread:
    - {topologyKey: topology.kubernetes.io/region, whenUnsatisfiable: ScheduleAnyway}
    - {topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, minDomains: 3}'
