#!/bin/bash
# The end-to-end tests: the built Evenkeel against etcd, kube-apiserver and kube-scheduler.
#
#   tests/e2e/run.sh              all scenarios, Kubernetes' own tests (upstream.sh), and those on a hub
#                                 of Open Cluster Management (ocm.sh -hub)
#   tests/e2e/run.sh FLAG...      scenarios only, with flags of Go tests: -run 'OrderedSpread/hard',
#                                 -count 3, -short
#
# Prints a line per scenario with its seconds, the output of each failed scenario, and last
# `N passed, N failed`. Logs of every part stay in build/e2e/logs. Environment: EVENKEEL (the
# binary), E2E_TIMEOUT (seconds for all scenarios, default 3600), the variables of kube/main_test.go,
# E2E_MAY_SKIP (a regular expression: scenarios that may be skipped, which otherwise count as failed;
# with -short all may), UPSTREAM_FLAGS (flags for upstream.sh, say -full), and E2E_WITHOUT="upstream hub",
# which leaves these two parts out, for a caller that runs them separately. PART=3/10 runs a tenth of the
# tests that take long: kube/internal/part.
# shellcheck disable=SC2034 # go.sh reads go_module
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source=/dev/null
. "$top/tests/e2e/go.sh"
out=$top/build/e2e

limit=${E2E_TIMEOUT:-3600}
together=8 # of the tests that mostly wait
need_go
need_evenkeel

"$top/tests/tools/build.sh" helm crane kubectl # which install the chart, push its image, and are typed
# OCM's placement controller is of another module, which has other versions of Kubernetes' libraries.
go_module=ocm
compile ./cmd/controller
timeout -k 5 1200 go build -o "$out/ocm-controller" ./cmd/controller || die "OCM's controller did not compile."
EVENKEEL_E2E_OCM_API=$(go list -m -f '{{.Dir}}' open-cluster-management.io/api) || die "Go does not know where OCM's API is."
export EVENKEEL_E2E_OCM_CONTROLLER=$out/ocm-controller EVENKEEL_E2E_OCM_API
go_module=kube
compile ./internal/...
say "linking the tests"
# The chart looks at the version that the API server says it has.
kubernetes=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
stamp=k8s.io/component-base/version
timeout -k 5 1200 go test -c -ldflags "-s -X $stamp.gitVersion=$kubernetes -X $stamp.gitMajor=1 -X $stamp.gitMinor=$(cut -d . -f 2 <<<"$kubernetes")" \
    -o "$out/kube.test" . || die "The tests did not compile."

may_skip=${E2E_MAY_SKIP:-}
# A test's flags have a prefix once it is compiled: -run becomes -test.run.
flags=()
for flag in "$@"; do
    case $flag in
    -short) may_skip=. ;;&
    -test.* | [!-]*) flags+=("$flag") ;;
    -*) flags+=("-test.${flag#-}") ;;
    esac
done

scenarios() {
    local statuses
    EVENKEEL_E2E_DIR=$out/logs timeout -k 10 $((limit + 30)) "$out/kube.test" -test.v=test2json \
        -test.timeout "${limit}s" -test.parallel "$together" "${flags[@]}" 2>&1 </dev/null |
        tee "$out/logs/tests.log" | awk -v may_skip="$may_skip" -f "$top/tests/e2e/scenarios.awk"
    statuses=("${PIPESTATUS[@]}")
    [ "${statuses[0]}" -eq 0 ] && [ "${statuses[2]}" -eq 0 ]
}

mkdir -p "$out/logs"
find "$out/logs" -mindepth 1 -maxdepth 1 ! -name upstream -exec rm -rf {} + # upstream.sh may run beside this
say "running (logs: build/e2e/logs)"
if [ $# -gt 0 ]; then
    scenarios
    exit
fi
passed=0 failed=0 status=0 # add counts
read -ra upstream_flags <<<"${UPSTREAM_FLAGS:-}"
add scenarios scenarios
[[ " ${E2E_WITHOUT:-} " == *' upstream '* ]] || add upstream "$top/tests/e2e/upstream.sh" "${upstream_flags[@]}"
[[ " ${E2E_WITHOUT:-} " == *' hub '* ]] || add hub "$top/tests/e2e/ocm.sh" -hub
echo "$passed passed, $failed failed"
exit $status
