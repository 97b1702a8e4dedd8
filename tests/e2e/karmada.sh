#!/bin/bash
# Evenkeel beside Karmada's own code, from its Go module: random questions asked of both (karmada/differential).
#
#   tests/e2e/karmada.sh [FLAG...]   flags of Go tests: -cases 100000, -seed 42, -number 7, -run TestSelect
#   tests/e2e/karmada.sh -live [FLAG...]   karmada-scheduler and karmada-descheduler with Evenkeel as the
#                                    estimator of member clusters, on real API servers (karmada/live)
#   tests/e2e/karmada.sh -bench      how long both take, as tables (karmada/bench); Evenkeel's side are programs of
#                                    build/bench, which make bench builds, and the daemon itself. Flags of it may
#                                    follow: -only estimators, -only members, -patience 3m
#
# The first two print a summary of the cases, and last `N passed, N failed`. A case in which the two differ stays in
# build/e2e/karmada; logs of the second stay in build/e2e/karmada-live. Environment: EVENKEEL (the binary),
# E2E_TIMEOUT (seconds for everything, default 3000).
# shellcheck disable=SC2034 # go.sh reads go_module
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source=/dev/null
. "$top/tests/e2e/go.sh"
out=$top/build/e2e
limit=${E2E_TIMEOUT:-3000}
flags=() # test_flags sets it
tags=    # of Go, beside the one of all

# Karmada's messages are of Kubernetes' types, whose methods for them are behind a tag.
given_flags=${GOFLAGS:-}
use_module() { # folder below tests/e2e [flag...]
    go_module=$1
    shift
    export GOFLAGS="$given_flags -tags=kubernetes_protomessage_one_more_release${tags:+,$tags} $*"
}

# The control plane is of another module, which has other versions of Kubernetes' libraries.
build_live() {
    GOFLAGS=$given_flags
    go_module=kube
    compile ./cmd/controlplane
    timeout -k 5 1200 go build -o "$out/controlplane" ./cmd/controlplane || die "The control plane did not compile."
    use_module karmada
    compile ./internal/... ./cmd/... ./live
    timeout -k 5 1200 go build -o "$out/karmada-programs" ./cmd/karmada || die "Karmada did not compile."
    timeout -k 5 1200 go test -c -o "$out/karmada-live.test" ./live || die "The tests did not compile."
    EVENKEEL_E2E_KARMADA=$(go list -m -f '{{.Dir}}' github.com/karmada-io/karmada) || die "Go does not know where Karmada is."
    export EVENKEEL_E2E_KARMADA EVENKEEL_E2E_CONTROL_PLANE=$out/controlplane EVENKEEL_E2E_KARMADA_PEER=$out/karmada-programs \
        EVENKEEL_E2E_DIR=$out/karmada-live
}

# A program of an older version, which has a file of requirements of its own.
build_older() { # version, file of requirements, environment variable for the program
    use_module karmada/older "-modfile=$2"
    compile .
    timeout -k 5 1200 go build -o "$out/karmada-$1" . || die "What asks Karmada $1 did not compile."
    export "$3=$out/karmada-$1"
}

use_module karmada
need_go
if [ "${1:-}" = -bench ]; then
    need_evenkeel
    compile ./internal/... ./bench
    timeout -k 5 1200 go build -o "$out/karmada-bench" ./bench || die "The benchmark did not compile."
    "$out/karmada-bench" -programs "$top/build/bench" -evenkeel "$EVENKEEL" "${@:2}"
    exit
fi
need_evenkeel
tests=differential
if [ "${1:-}" = -live ]; then
    tests=live
    shift
    build_live
    rm -rf "$out/karmada-live"
    mkdir -p "$out/karmada-live"
else
    compile ./internal/... ./differential
    timeout -k 5 1200 go test -c -o "$out/karmada-differential.test" ./differential || die "The tests did not compile."
    build_older v1.17.1 go.mod EVENKEEL_E2E_KARMADA_1_17
    tags=without_server build_older v1.16.0 v1_16.mod EVENKEEL_E2E_KARMADA_1_16
    rm -rf "$out/karmada"
fi

test_flags 'cases|seed|number' "$@"
[ $tests != live ] || flags=(-test.parallel=8 "${flags[@]}") # they mostly wait
log=$out/karmada-$tests.log
say "asking"
cd "$top/tests/e2e/karmada/$tests" || exit 1
timeout -k 10 $((limit + 30)) "$out/karmada-$tests.test" -test.v -test.timeout "${limit}s" \
    "${flags[@]}" 2>&1 </dev/null | tee "$log"
status=${PIPESTATUS[0]}
passed=$(grep -c '^--- PASS' "$log")
failed=$(grep -cE '^--- (FAIL|SKIP)' "$log")
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
echo "$passed passed, $failed failed"
exit "$status"
