#!/bin/bash
# Packs kubectl evenkeel for krew, the same bytes from the same commit:
#
#   charts/kubectl/package.sh FOLDER     writes FOLDER/kubectl-evenkeel-VERSION.tar.gz and FOLDER/evenkeel.yaml
#
# RELEASE_URL is the folder from which krew gets the archive, over https. SOURCE_DATE_EPOCH is the date of the
# files; not set, the date of the commit.
. "$(dirname "$0")/../common.sh"
arguments 1 FOLDER $#
url=${RELEASE_URL:-https://example.com/evenkeel}
[[ $url == https://* ]] || {
    echo "RELEASE_URL '$url' does not begin with https://" >&2
    exit 2
}
mkdir -p "$1"
out=$(cd "$1" && pwd)
name=kubectl-evenkeel-$version.tar.gz

compressed_tar u=rwX,go=rX --directory "$top/charts/kubectl" kubectl-evenkeel --directory "$top" LICENSE >"$out/$name"
sum=$(sha256sum <"$out/$name" | cut -d ' ' -f 1)

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
    uri: $url/$name
    sha256: $sum
    bin: kubectl-evenkeel
    files:
    - {from: kubectl-evenkeel, to: .}
    - {from: LICENSE, to: .}
END
say_made "$out/$name"
