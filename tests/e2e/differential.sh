#!/bin/bash
# Random cases asked of Evenkeel and of Kubernetes' own code, side by side: see kube/differential.
#
#   tests/e2e/differential.sh [FLAG...]      flags of Go tests: -cases 100000, -seed 42, -run Spread
#
# Prints a summary of the cases, and last `N passed, N failed`. Environment: EVENKEEL (the binary),
# LIBEVENKEEL (the archive), E2E_TIMEOUT (seconds for everything, default 3000).
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source=/dev/null
. "$top/tests/e2e/go.sh"
out=$top/build/e2e
flags=() # test_flags sets it

need_go
need_evenkeel
export LIBEVENKEEL=${LIBEVENKEEL:-$top/build/libevenkeel.a}
compile ./differential
timeout -k 5 1200 go test -c -o "$out/differential.test" ./differential || die "The tests did not compile."

test_flags 'cases|seed|number' "$@"
say "asking"
limit=${E2E_TIMEOUT:-3000}
cd "$top/tests/e2e/kube/differential" || exit 1
timeout -k 10 $((limit + 30)) "$out/differential.test" -test.v -test.timeout "${limit}s" \
    "${flags[@]}" 2>&1 </dev/null | tee "$out/differential.log"
status=${PIPESTATUS[0]}
passed=$(grep -c '^--- PASS' "$out/differential.log")
failed=$(grep -cE '^--- (FAIL|SKIP)' "$out/differential.log")
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
echo "$passed passed, $failed failed"
exit "$status"
