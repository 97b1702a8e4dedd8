#!/bin/bash
# Evenkeel beside Open Cluster Management's own placement controller, from OCM's Go module.
#
#   tests/e2e/ocm.sh [FLAG...]       random fleets asked of both (ocm/differential). Flags of Go tests:
#                                    -cases 100000, -seed 42, -number 7, -run TestSelect
#   tests/e2e/ocm.sh -hub [FLAG...]  scenarios on a real kube-apiserver with OCM's kinds (ocm/hub_test.go)
#   tests/e2e/ocm.sh -bench          how long both take, as a table (ocm/bench); with what the decision and
#                                    the plan alone take where build/bench has them (make bench)
#
# The first two print a summary of the cases, and last `N passed, N failed`. A case in which the two
# differ stays in build/e2e/ocm; logs of a hub stay in build/e2e/ocm-hub. Environment: EVENKEEL (the
# binary), E2E_TIMEOUT (seconds for everything, default 3000), EVENKEEL_E2E_FLEET (see
# ocm/fleet_scale_test.go).
# shellcheck disable=SC2034 # go.sh reads go_module
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source=/dev/null
. "$top/tests/e2e/go.sh"
go_module=ocm
out=$top/build/e2e
limit=${E2E_TIMEOUT:-3000}
status=0
flags=() # test_flags sets it

build_test() { # package below tests/e2e/ocm, name
    timeout -k 5 1200 go test -c -o "$out/$2" "./$1" || die "The tests did not compile."
}

run_test() { # package below tests/e2e/ocm, name [flag...]
    local name=$2
    cd "$top/tests/e2e/ocm/$1" || exit 1
    EVENKEEL_E2E_OCM_API=$(go list -m -f '{{.Dir}}' open-cluster-management.io/api) ||
        die "Go does not know where OCM's API is."
    export EVENKEEL_E2E_OCM_API
    shift 2
    timeout -k 10 $((limit + 30)) "$out/$name" -test.v -test.timeout "${limit}s" "$@" 2>&1 </dev/null | tee -a "$log"
    [ "${PIPESTATUS[0]}" -eq 0 ] || status=1
}

ask() {
    local package
    compile ./internal/... ./differential
    for package in internal/answer internal/peer differential; do
        build_test "$package" "ocm-${package##*/}.test"
    done
    rm -rf "$out/ocm"
    say "asking"
    run_test internal/answer ocm-answer.test
    run_test internal/peer ocm-peer.test
    run_test differential ocm-differential.test "${flags[@]}"
}

# The control plane is of another module, which has other versions of Kubernetes' libraries.
run_hub() {
    "$top/tests/tools/build.sh" kubectl || exit 1
    go_module=kube
    compile ./cmd/controlplane
    timeout -k 5 1200 go build -o "$out/controlplane" ./cmd/controlplane || die "The control plane did not compile."
    go_module=ocm
    compile ./internal/... ./cmd/...
    timeout -k 5 1200 go build -o "$out/hub" ./cmd/hub || die "The hub to play with did not compile."
    build_test . ocm-hub.test
    rm -rf "$out/ocm-hub"
    export EVENKEEL_E2E_HUB=$out/hub EVENKEEL_E2E_CONTROL_PLANE=$out/controlplane EVENKEEL_E2E_KUBECTL=$top/build/tools/kubectl \
        EVENKEEL_E2E_DIR=$out/ocm-hub
    say "running (logs: build/e2e/ocm-hub)"
    run_test . ocm-hub.test "${flags[@]}"
}

bench() {
    local programs=() name
    compile ./internal/... ./bench
    timeout -k 5 1200 go build -o "$out/ocm-bench" ./bench || die "The benchmark did not compile."
    for name in decide plan; do
        [ ! -x "$top/build/bench/$name" ] || programs+=("-$name" "$top/build/bench/$name")
    done
    "$out/ocm-bench" -evenkeel "$EVENKEEL" ${programs[@]+"${programs[@]}"}
}

need_go
need_evenkeel
mkdir -p "$out"
mode=${1:-}
log=$out/ocm.log
case $mode in
-bench)
    bench
    exit
    ;;
-hub)
    log=$out/ocm-hub.log # beside the cases
    shift
    ;;
esac
: >"$log"
test_flags 'cases|seed|number|steps' "$@"
case $mode in
-hub) run_hub ;;
*) ask ;;
esac
passed=$(grep -c '^--- PASS' "$log")
failed=$(grep -cE '^--- (FAIL|SKIP)' "$log")
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
echo "$passed passed, $failed failed"
exit "$status"
