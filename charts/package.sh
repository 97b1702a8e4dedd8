#!/bin/bash
# Packs the Helm chart, the same bytes from the same commit:
#
#   charts/package.sh FOLDER        writes FOLDER/evenkeel-VERSION.tgz
#
# Helm's own archive has the time of packing in it, so it is laid out anew. HELM names the program.
# SOURCE_DATE_EPOCH is the date of all files; not set, the date of the commit.
. "$(dirname "$0")/common.sh"
arguments 1 FOLDER $#
helm=${HELM:-$top/build/tools/helm}
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$helm" package "$top/charts/evenkeel" --destination "$work" >/dev/null 2>"$work/log" || {
    cat "$work/log" >&2
    exit 1
}
name=$(basename "$work"/*.tgz)
mkdir "$work/files"
tar --extract --touch --gzip --file "$work/$name" --directory "$work/files"
# Helm wants Chart.yaml first, and no folders.
(cd "$work/files" && {
    echo evenkeel/Chart.yaml
    find evenkeel -type f ! -path evenkeel/Chart.yaml | sort
}) >"$work/names"
compressed_tar u=rw,go=r --directory "$work/files" --no-recursion --files-from "$work/names" >"$out/$name"
say_made "$out/$name"
