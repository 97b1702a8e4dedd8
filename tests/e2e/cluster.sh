#!/bin/bash
# Leaves a control plane with Evenkeel as kube-scheduler's extender running until Ctrl-C, with sample
# nodes and pods to play with. Prints KUBECONFIG and commands to try. Its files are in build/e2e/cluster-files.
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source=/dev/null
. "$top/tests/e2e/go.sh"
out=$top/build/e2e

need_go
need_evenkeel
compile ./internal/... ./cmd/cluster
timeout -k 5 1200 go build -o "$out/cluster" ./cmd/cluster || die "The cluster did not compile."
exec "$out/cluster" -dir "$out/cluster-files" -evenkeel "$EVENKEEL" "$@"
