#!/bin/bash
# Builds build/e2e/peer: Kubernetes' own PodTopologySpread behind Go's net/http, which `make bench`
# measures beside Evenkeel. See kube/peer.
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source=/dev/null
. "$top/tests/e2e/go.sh"

need_go
compile ./peer/...
timeout -k 5 1200 go build -o "$top/build/e2e/peer" ./peer || die "The peer did not compile."
