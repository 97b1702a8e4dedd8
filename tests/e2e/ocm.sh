#!/bin/bash
# Random fleets asked of Evenkeel and of Open Cluster Management's own placement controller, side by
# side: see ocm/differential.
#
#   tests/e2e/ocm.sh [FLAG...]      flags of Go tests: -cases 100000, -seed 42, -number 7, -run TestSelect
#
# Prints what the cases were like, and last `N passed, N failed`. A case in which the two differ stays
# in build/e2e/ocm. Environment: EVENKEEL (the binary), E2E_TIMEOUT (seconds for everything, default
# 3000).
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source=/dev/null
. "$top/tests/e2e/go.sh"
# shellcheck disable=SC2034 # go.sh reads it
go_module=ocm
out=$top/build/e2e
flags=() # test_flags sets it

need_go
need_evenkeel
compile ./internal/...
for package in internal/peer differential; do
    timeout -k 5 1200 go test -c -o "$out/ocm-${package##*/}.test" "./$package" || die "The tests did not compile."
done
EVENKEEL_E2E_OCM_API=$(go list -m -f '{{.Dir}}' open-cluster-management.io/api) || die "Go does not know where OCM's API is."
export EVENKEEL_E2E_OCM_API

limit=${E2E_TIMEOUT:-3000}
log=$out/ocm.log
: >"$log"
status=0
ask() { # package [flag...]
    local package=$1
    shift
    cd "$top/tests/e2e/ocm/$package" || exit 1
    timeout -k 10 $((limit + 30)) "$out/ocm-${package##*/}.test" -test.v -test.timeout "${limit}s" "$@" \
        2>&1 </dev/null | tee -a "$log"
    [ "${PIPESTATUS[0]}" -eq 0 ] || status=1
}

say "asking"
rm -rf "$out/ocm"
test_flags 'cases|seed|number' "$@"
ask internal/peer
ask differential "${flags[@]}"
passed=$(grep -c '^--- PASS' "$log")
failed=$(grep -cE '^--- (FAIL|SKIP)' "$log")
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
echo "$passed passed, $failed failed"
exit "$status"
