#!/bin/bash
# Attacks on the running binary: see main.go. With LONG=1 also against a binary with sanitizers (SANITIZED
# names it): 100,000 mutated bodies, and the scenes, where everything may take SLACK (8) times as much memory
# and time.
#
#   tests/attack/run.sh [FLAG...]      flags of the program: -run slots, -v, -list
#
# Prints a table and last `N passed, N failed`. Environment: EVENKEEL (the binary), LONG, SANITIZED, SLACK.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=/dev/null
. "$top/tests/e2e/go.sh"

need_go
need_evenkeel
mkdir -p "$top/build/attack"
cd "$top/tests/attack"
timeout -k 5 600 go build -buildvcs=false -o "$top/build/attack/attack" . || die "The attacks did not compile."
cd "$top"
size=()
[ "${LONG:-}" != 1 ] || size=(-full)
timeout -k 10 1200 build/attack/attack -evenkeel "$EVENKEEL" "${size[@]}" "$@" | tee build/attack/log
if [ "${LONG:-}" = 1 ]; then
    say "mutated bodies, with sanitizers"
    # clang 14's sanitizers cannot stand as much address randomisation as new kernels are set to
    no_aslr=()
    if setarch -R true 2>/dev/null; then no_aslr=(setarch -R); fi
    timeout -k 10 1800 "${no_aslr[@]}" build/attack/attack -evenkeel "${SANITIZED:?names the binary with sanitizers}" -bodies 100000
    say "the scenes, with sanitizers"
    # what was freed and is held back would be taken for what is kept
    ASAN_OPTIONS=quarantine_size_mb=16 timeout -k 10 3600 "${no_aslr[@]}" \
        build/attack/attack -evenkeel "$SANITIZED" -slack "${SLACK:-8}" "$@" | tee build/attack/sanitized.log
fi
