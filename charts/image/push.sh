#!/bin/bash
# Pushes the image that build.sh has made, and writes what the chart must know of it:
#
#   charts/image/push.sh FOLDER IMAGE
#
# IMAGE is REGISTRY/NAME, with :TAG behind it or the version. FOLDER/values.yaml is for
# `helm install --values`: the chart then takes exactly these bytes, by their digest. CRANE names the program;
# who may push is in Docker's configuration (`crane auth login`).
. "$(dirname "$0")/../common.sh"
arguments 2 'FOLDER IMAGE' $#
folder=$1 image=$2
crane=${CRANE:-$top/build/tools/crane}

die() {
    printf '%s\n' "charts/image/push.sh: $*" >&2
    exit 1
}

rm -f "$folder/values.yaml"
[ -s "$folder/digest" ] || die "$folder holds no image: make image"
case $image in
*/*) ;;
*) die "'$image' names no registry that nodes could pull from: REGISTRY/NAME" ;;
esac
[[ $image =~ ^[A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)+(:[A-Za-z0-9_][A-Za-z0-9._-]*)?$ ]] ||
    die "'$image' is not REGISTRY/NAME or REGISTRY/NAME:TAG, as in registry.example.com/evenkeel"
repository=$image tag=$version
case ${image##*/} in
*:*) repository=${image%:*} tag=${image##*:} ;;
esac
pushed=$("$crane" push "$folder/oci" "$repository:$tag") || die "$repository:$tag was not pushed"
digest=$(<"$folder/digest")
[ "${pushed##*@}" = "$digest" ] || die "the registry has $pushed, and the image is $digest"
cat >"$folder/values.yaml" <<END
image:
  repository: $repository
  tag: "$tag"
  digest: $digest
END
echo "$repository:$tag@$digest, for helm: --values $folder/values.yaml"
