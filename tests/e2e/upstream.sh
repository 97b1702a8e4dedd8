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
work=$top/build/e2e/upstream
bin=$work/bin
laid=./upstream/laid/test/integration/scheduler

need_go
need_evenkeel
mkdir -p "$bin"

compile ./internal/etcd ./upstream/hook ./upstream/layout # changes to the module's folder
kubernetes=$(go list -m -f '{{.Dir}}' k8s.io/kubernetes) || die "Go does not know where Kubernetes is."
go run ./upstream/layout -kubernetes "$kubernetes" -module "$PWD" -out "$work" ||
    die "Kubernetes' tests could not be laid out."
go test ./upstream/layout ./upstream/run >"$work/unit.log" 2>&1 || die "$(cat "$work/unit.log")"
for command in etcd run; do
    timeout -k 5 600 go build -o "$bin/$command" "./upstream/$command" || die "$command did not compile."
done

logs=$top/build/e2e/logs/upstream
run=("$bin/run" -bin "$bin" -logs "$logs" -kubernetes "$kubernetes" "$@")
"${run[@]}" -list >"$work/list" || exit # says what is wrong
packages=$("${run[@]}" -packages) || exit
for flag in "$@"; do
    case $flag in
    -list | --list) exec cat "$work/list" ;;
    esac
done

say "compiling Kubernetes' tests"
overlay=(-overlay "$work/overlay.json")
compile "${overlay[@]}" "$laid/../util"
for package in $packages; do
    # Without its debugging information, which takes longer than all the rest. Vetting is theirs.
    timeout -k 5 1200 go test -c -vet=off -ldflags='-s -w' "${overlay[@]}" \
        -o "$bin/${package##*/}.test" "$laid/$package" || die "$package did not compile."
done

rm -rf "$logs"
mkdir -p "$logs"
say "running Kubernetes' tests (logs: build/e2e/logs/upstream)"
exec "${run[@]}"
