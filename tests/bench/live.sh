#!/bin/bash
# Measures Evenkeel beside a real etcd, kube-apiserver and kube-scheduler with a large cluster in them:
# first sync, memory, event to answer, kube-scheduler's pods per second; and Kubernetes' own benchmark,
# scheduler_perf, with Evenkeel in it.
#
#   tests/bench/live.sh             5,000 nodes and 150,000 pods, two hours; refreshes
#                                   docs/performance.md
#   QUICK=1 tests/bench/live.sh     500 nodes and 10,000 pods, some minutes
#   tests/bench/live.sh FLAG...     without scheduler_perf: `--rounds 2 --steps sync,events`, say;
#                                   --help lists them
#   tests/bench/live.sh scheduler_perf FLAG...
#                                   that alone: `-sizes 500x3 -modes stock,in-place`, say
#
# Only the first form touches the document. Needs Go, some 10 GB of memory, and a machine that does
# nothing else. EVENKEEL is the binary (build/evenkeel). Prints tables and leaves the same figures in
# build/live.json and build/scheduler_perf.json; when it fails, logs of every part are in build/live.
# How to read them: docs/performance.md.
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source=/dev/null
. "$top/tests/e2e/go.sh"
out=$top/build/e2e
document=$top/docs/performance.md
work=$top/build/live

laid_bin='' kubernetes='' # lay_out sets them

flags=("$@")
perf_flags=(-sizes '500x3,5000x1')
parts='scale scheduler_perf'
if [ "${1:-}" = scheduler_perf ]; then
    parts=scheduler_perf
    perf_flags=("${@:2}")
elif [ -n "${QUICK:-}" ] && [ "$QUICK" != 0 ]; then
    flags=(--quick "${flags[@]}")
    perf_flags=(-sizes 500x1)
elif [ $# -gt 0 ]; then
    parts=scale
fi

# Replaces what stands between the markers of the document.
refresh_document() { # text
    grep -q '<!-- live:begin -->' "$document" || die "There is no <!-- live:begin --> in $document."
    awk -v text="$1" '
        /<!-- live:end -->/ {inside = 0}
        !inside {print}
        /<!-- live:begin -->/ {inside = 1; while ((getline line < text) > 0) print line}
    ' "$document" >"$work/document" || die "Could not write $work/document."
    cp "$work/document" "$document" || die "Could not write $document."
    say "refreshed docs/performance.md" >&2
}

build() {
    compile ./scale ./scale/baseline # changes to the module's folder
    timeout -k 5 1200 go build -o "$out/scale" ./scale || die "The benchmark did not compile."
    timeout -k 5 1200 go build -o "$out/scale-baseline" ./scale/baseline ||
        die "What it compares with did not compile."
    case $parts in
    *scheduler_perf)
        lay_out
        timeout -k 5 600 go build -o "$laid_bin/perf" ./upstream/perf || die "What runs scheduler_perf did not compile."
        link_laid scheduler_perf/topology_spreading
        ;;
    esac
}

measure_scale() {
    "$out/scale" --evenkeel "$EVENKEEL" --json "$top/build/live.json" --dir "$work/parts" "${flags[@]}"
}

measure_scheduler_perf() {
    EVENKEEL_BASELINE=$out/scale-baseline "$laid_bin/perf" -bin "$laid_bin" -kubernetes "$kubernetes" \
        -dir "$work/scheduler_perf" -json "$top/build/scheduler_perf.json" "${perf_flags[@]}"
}

need_go
need_evenkeel
build >&2
rm -rf "$work"
mkdir -p "$work" || die "Cannot make $work."
for part in $parts; do
    "measure_$part" >"$work/part.md" || die "That failed. Logs: build/live"
    cat "$work/part.md"
    cat "$work/part.md" >>"$work/report.md"
done
if [ $# -eq 0 ] && [ ${#flags[@]} -eq 0 ]; then
    refresh_document "$work/report.md"
fi
rm -rf "$work"
