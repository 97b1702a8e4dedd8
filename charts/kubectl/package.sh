#!/bin/bash
# Packs kubectl evenkeel for krew, the same bytes from the same commit:
#
#   charts/kubectl/package.sh FOLDER     writes FOLDER/kubectl-evenkeel-VERSION.tar.gz and FOLDER/evenkeel.yaml
#
# RELEASE_URL is the folder from which krew gets the archive, over https. SOURCE_DATE_EPOCH is the date of the
# files; not set, the date of the commit.
set -euo pipefail
export LC_ALL=C
umask 022
[ $# -eq 1 ] || {
    echo "usage: $0 FOLDER" >&2
    exit 2
}
url=${RELEASE_URL:-https://example.com/evenkeel}
[[ $url == https://* ]] || {
    echo "RELEASE_URL '$url' does not begin with https://" >&2
    exit 2
}
top=$(cd "$(dirname "$0")/../.." && pwd)
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct 2>/dev/null || echo 0)}
version=$(sed -n 's/^#define EVENKEEL_VERSION "\(.*\)"$/\1/p' "$top/src/base/version.h")
mkdir -p "$1"
out=$(cd "$1" && pwd)
archive=kubectl-evenkeel-$version.tar.gz

tar --create --format=ustar --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --directory "$top/charts/kubectl" kubectl-evenkeel --directory "$top" LICENSE | gzip -n -9 >"$out/$archive"
sum=$(sha256sum <"$out/$archive" | cut -d ' ' -f 1)

cat >"$out/evenkeel.yaml" <<END
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: evenkeel
spec:
  version: v$version
  homepage: $url
  shortDescription: How even are workloads over zones, and why is a pod there?
  description: |
    Asks the Evenkeel of a cluster, through kubectl exec in one of its pods: why a pod is where it is
    or Pending (explain), how even workloads are over zones, regions or nodes (topology), what would
    become of a pod (simulate), and what a TopologyPolicy would change before it is applied (check).
  caveats: |
    Evenkeel must be installed in the cluster with its Helm chart, and you need the right to create
    pods/exec in its namespace.
  platforms:
  - selector:
      matchExpressions:
      - {key: os, operator: In, values: [linux, darwin]}
    uri: $url/$archive
    sha256: $sum
    bin: kubectl-evenkeel
    files:
    - {from: kubectl-evenkeel, to: .}
    - {from: LICENSE, to: .}
END
printf '%s: %d bytes, sha256:%s\n' "${out#"$PWD"/}/$archive" "$(stat -c %s "$out/$archive")" "$sum"
