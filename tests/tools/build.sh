#!/bin/bash
# Builds the tools that packaging and its tests need, at the versions that go.mod beside this file pins,
# into build/tools:
#
#   tests/tools/build.sh helm crane
#
# Nothing to do, and no Go needed, when they are there already.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=/dev/null
. "$top/tests/e2e/go.sh"

declare -A packages=(
    [helm]=helm.sh/helm/v3/cmd/helm
    [helm-unittest]=github.com/helm-unittest/helm-unittest/cmd/helm-unittest
    [crane]=github.com/google/go-containerregistry/cmd/crane
    [kubectl]=./kubectl
)
out=$top/build/tools
cd "$top/tests/tools"
mkdir -p "$out"
exec 9>"$out/lock" # two at a time would write the same file
flock 9
for tool in "$@"; do
    [ -n "${packages[$tool]:-}" ] || die "There is no tool '$tool'; there are: ${!packages[*]}."
    if [ ! -x "$out/$tool" ] || [ go.mod -nt "$out/$tool" ]; then
        need_go
        say "building $tool: a first time takes some minutes, later it is cached"
        timeout -k 5 1200 go build -trimpath -mod=readonly -buildvcs=false -ldflags='-s -w' -o "$out/$tool" \
            "${packages[$tool]}" || die "$tool did not compile."
        touch "$out/$tool"
    fi
done
