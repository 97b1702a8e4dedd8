#!/bin/bash
# Leaves a hub of Open Cluster Management with Evenkeel in it running until Ctrl-C: a real API server, OCM's own
# placement controller, and a dozen clusters to place on. Prints KUBECONFIG and commands to try. Its files are in
# build/e2e/hub-files.
# shellcheck disable=SC2034 # go.sh reads go_module
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source=/dev/null
. "$top/tests/e2e/go.sh"
out=$top/build/e2e

need_go
need_evenkeel
"$top/tests/tools/build.sh" kubectl || exit 1
# The control plane is of another module, which has other versions of Kubernetes' libraries.
compile ./cmd/controlplane
timeout -k 5 1200 go build -o "$out/controlplane" ./cmd/controlplane || die "The control plane did not compile."
go_module=ocm
compile ./cmd/hub
timeout -k 5 1200 go build -o "$out/hub" ./cmd/hub || die "The hub did not compile."
EVENKEEL_E2E_OCM_API=$(go list -m -f '{{.Dir}}' open-cluster-management.io/api) || die "Go does not know where OCM's API is."
export EVENKEEL_E2E_OCM_API
exec "$out/hub" -dir "$out/hub-files" -evenkeel "$EVENKEEL" -controlplane "$out/controlplane" -kubectl "$top/build/tools/kubectl" "$@"
