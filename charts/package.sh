#!/bin/bash
# Packs the Helm chart, the same bytes from the same commit:
#
#   charts/package.sh FOLDER        writes FOLDER/evenkeel-VERSION.tgz
#
# Helm's own archive has the time of packing in it, so it is laid out anew. HELM names the program.
# SOURCE_DATE_EPOCH is the date of all files; not set, the date of the commit.
set -euo pipefail
export LC_ALL=C
umask 022
[ $# -eq 1 ] || {
    echo "usage: $0 FOLDER" >&2
    exit 2
}
top=$(cd "$(dirname "$0")/.." && pwd)
helm=${HELM:-$top/build/tools/helm}
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct 2>/dev/null || echo 0)}
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$helm" package "$top/charts/evenkeel" --destination "$work" >/dev/null 2>"$work/log" || {
    cat "$work/log" >&2
    exit 1
}
archive=$(basename "$work"/*.tgz)
mkdir "$work/files"
tar --extract --touch --gzip --file "$work/$archive" --directory "$work/files"
# Helm wants Chart.yaml first, and no folders.
(cd "$work/files" && {
    echo evenkeel/Chart.yaml
    find evenkeel -type f ! -path evenkeel/Chart.yaml | sort
}) >"$work/names"
tar --create --format=ustar --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u=rw,go=r \
    --directory "$work/files" --no-recursion --files-from "$work/names" | gzip -n -9 >"$out/$archive"
printf '%s: %d bytes, sha256:%s\n' "${out#"$PWD"/}/$archive" "$(stat -c %s "$out/$archive")" \
    "$(sha256sum <"$out/$archive" | cut -d ' ' -f 1)"
