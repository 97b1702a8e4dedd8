#!/bin/bash
# Asks random cases of Evenkeel and of the programs that it must agree with: Kubernetes' own code
# (differential.sh), then Open Cluster Management's (ocm.sh) and Karmada's (karmada.sh).
#
#   tests/e2e/differentials.sh CASES [CASES-FOR-OCM [CASES-FOR-KARMADA]]      the same number without them
#
# Prints last `N passed, N failed`. Environment: the variables of the three scripts.
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source=/dev/null
. "$top/tests/e2e/go.sh"

passed=0 failed=0 status=0 # add counts
add kubernetes "$top/tests/e2e/differential.sh" -cases "$1"
add open-cluster-management "$top/tests/e2e/ocm.sh" -cases "${2:-$1}"
add karmada "$top/tests/e2e/karmada.sh" -cases "${3:-$1}"
echo "$passed passed, $failed failed"
exit "$status"
