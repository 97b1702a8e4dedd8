#!/bin/bash
# Kubernetes' own integration tests of its scheduler, with Evenkeel as extender in every kube-scheduler
# that they make: in place of the PodTopologySpread plugin, and beside it.
#
#   tests/e2e/upstream.sh                  what `make e2e` runs, some minutes
#   tests/e2e/upstream.sh -list            says what that is, and which cases no extender can pass
#   tests/e2e/upstream.sh -tests REGEXP -modes in-place,beside -loads calm,busy -count 20
#   tests/e2e/upstream.sh -full            everything, 20 times: hours
#
# Modes: stock, out (the plugin is taken out, nothing is put in), in-place, beside, in-place+bind,
# beside+bind. Prints a line per test and mode, and last `N passed, N failed`. Nothing of Kubernetes'
# is kept here: the packages come out of the Go module (kube/upstream/layout), and stay in
# build/e2e/upstream; logs are in build/e2e/logs/upstream. Environment: EVENKEEL (the binary).
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source=/dev/null
. "$top/tests/e2e/go.sh"
laid_bin='' kubernetes='' laid_overlay=() # lay_out sets them

need_go
need_evenkeel
lay_out
go test ./internal/part ./upstream/... >"$laid_bin/unit.log" 2>&1 || die "$(cat "$laid_bin/unit.log")"
timeout -k 5 600 go build -o "$laid_bin/run" ./upstream/run || die "What runs the tests did not compile."

logs=$top/build/e2e/logs/upstream
run=("$laid_bin/run" -bin "$laid_bin" -logs "$logs" -kubernetes "$kubernetes" "$@")
packages=$("${run[@]}" -packages) || exit # it has said what is wrong
for flag in "$@"; do
    case $flag in
    -list | --list) exec "${run[@]}" ;;
    esac
done

say "compiling Kubernetes' tests"
compile "${laid_overlay[@]}" ./upstream/laid/test/integration/util
for package in $packages; do
    link_laid "scheduler/$package"
done

rm -rf "$logs"
mkdir -p "$logs"
say "running Kubernetes' tests (logs: build/e2e/logs/upstream)"
exec "${run[@]}"
