#!/bin/bash
# What the scripts here share: Go must be there and new enough, and a first build of several
# minutes says how far it is. To be sourced; its functions end the script when they fail.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd) || exit 1
go_module=kube # the folder of the Go module; each family of peers has its own, with other libraries

say() { printf '== %s\n' "$*"; }
die() {
    printf '%s\n' "$@" >&2
    exit 1
}

need_go() {
    local want have
    want=$(awk '$1 == "go" { print $2 }' "$top/tests/e2e/$go_module/go.mod")
    have=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null) || die \
        "The end-to-end tests need Go $want or newer, and there is no go command here." \
        "Get it from https://go.dev/dl/ (unpack it, and put its bin folder into PATH), or, where your" \
        "distribution has Go 1.21 or newer, install its package: that Go fetches the newer one by" \
        "itself when GOTOOLCHAIN=go$want is set."
    have=${have#go}
    have=${have%%[- ]*}
    if [ "${GOTOOLCHAIN:-}" = "go$want" ]; then
        return
    fi
    [ "$(printf '%s\n' "$want" "$have" | sort -V | head -n 1)" = "$want" ] || die \
        "The end-to-end tests need Go $want or newer; this is Go $have." \
        "Get it from https://go.dev/dl/, or let this Go fetch it: export GOTOOLCHAIN=go$want"
}

need_evenkeel() {
    EVENKEEL=${EVENKEEL:-$top/build/evenkeel}
    [ -x "$EVENKEEL" ] || die "There is no $EVENKEEL to test: run make first, or set EVENKEEL."
    export EVENKEEL
}

# Counts the packages that the compiler reports, and prints the number every ten seconds.
show_progress() { # packages in all
    local count=0 next=$((SECONDS + 10)) package
    while true; do
        if read -r -t 2 package; then
            case $package in
            '' | '#'* | *' '*) printf '   %s\n' "$package" ;; # an error, or a module that is fetched
            *) count=$((count + 1)) ;;
            esac
        elif [ $? -le 128 ]; then
            break
        fi
        if [ "$SECONDS" -ge "$next" ] && [ "$count" -gt 0 ]; then
            printf '   %d of at most %d packages compiled, %d s\n' "$count" "$1" "$SECONDS"
            next=$((SECONDS + 10))
        fi
    done
}

# Compiles packages of $go_module and their dependencies into Go's build cache, so that linking takes only
# seconds. -buildvcs=false: nobody reads the version stamp. -s: no debugging information, which takes
# hundreds of megabytes and longer to link than everything else.
compile() { # package...
    local total
    cd "$top/tests/e2e/$go_module" || exit 1
    export GOFLAGS="${GOFLAGS:-} -buildvcs=false -mod=readonly -ldflags=-s"
    say "fetching Go modules (nothing to do if they are there)"
    timeout -k 5 1200 go mod download || die "Go could not fetch the modules of tests/e2e/$go_module."
    total=$(go list -deps "$@" | wc -l)
    say "compiling what tests/e2e/$go_module needs: a first time takes several minutes, later it is cached"
    timeout -k 5 2400 go build -v -o /dev/null "$@" 2>&1 | show_progress "$total"
    [ "${PIPESTATUS[0]}" -eq 0 ] || die "tests/e2e/$go_module did not compile."
    mkdir -p "$top/build/e2e"
}

# Sets `flags` to those of Go tests, given to a test that is compiled: its own keep their names, which
# `own` matches, and Go's get a prefix.
test_flags() { # own flag...
    local own=$1 flag
    shift
    flags=()
    for flag in "$@"; do
        if [[ $flag == -test.* || $flag != -* || $flag =~ ^-($own)(=|$) ]]; then
            flags+=("$flag")
        else
            flags+=("-test.${flag#-}")
        fi
    done
}

# Runs something that ends with `N passed, N failed`, which is added to `passed` and `failed` instead of
# printed; a bad end sets `status` to 1. All three are the script's, and begin at 0.
add() { # name command...
    local name=$1 log=$top/build/e2e/$1.log sum
    shift
    mkdir -p "$top/build/e2e"
    # Line by line, as it comes.
    "$@" 2>&1 | tee "$log" | sed -uE '/^[0-9]+ passed, [0-9]+ failed$/d'
    # shellcheck disable=SC2034 # the script exits with it
    [ "${PIPESTATUS[0]}" -eq 0 ] || status=1
    sum=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1) || sum='0 passed, 1 failed'
    say "$name: $sum"
    passed=$((passed + ${sum%% *}))
    sum=${sum#*, }
    failed=$((failed + ${sum%% *}))
}

# Copies Kubernetes' own tests and adds our hook to them (see kube/upstream/layout). Compiles the packages
# that they share, and the etcd that they start. Sets laid_bin, the folder for programs, and kubernetes,
# the folder of the module.
lay_out() {
    local work=$top/build/e2e/upstream
    laid_bin=$work/bin
    mkdir -p "$laid_bin"
    compile ./internal/etcd ./upstream/layout ./upstream/program # changes to the module's folder
    kubernetes=$(go list -m -f '{{.Dir}}' k8s.io/kubernetes) || die "Go does not know where Kubernetes is."
    go run ./upstream/layout -kubernetes "$kubernetes" -module "$PWD" -out "$work" ||
        die "Kubernetes' tests could not be laid out."
    laid_overlay=(-overlay "$work/overlay.json")
    timeout -k 5 600 go build -o "$laid_bin/etcd" ./upstream/etcd || die "etcd did not compile."
}

# Links a package of these tests into laid_bin. Their own project vets them.
link_laid() { # package below test/integration
    timeout -k 5 1200 go test -c -vet=off "${laid_overlay[@]}" \
        -o "$laid_bin/${1##*/}.test" "./upstream/laid/test/integration/$1" || die "$1 did not compile."
}
