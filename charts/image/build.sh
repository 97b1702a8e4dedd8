#!/bin/bash
# Makes a container image of the daemon, without a container engine: an OCI image layout, the same
# bytes from the same commit and the same Debian packages.
#
#   charts/image/build.sh BINARY FOLDER [BINARY ROOT]...
#
# The first BINARY is this machine's own. Others are of other architectures, each with the folder that its
# libraries are in (charts/arm64.sh makes both); then one index has an image for each.
#
# FOLDER is written anew; a folder of other things than an older image is refused:
#
#   oci/          the OCI layout (oci-layout, index.json, blobs)
#   image.tar     the same as one file, with Docker's manifest.json beside index.json: for `docker load`,
#                 `podman load`, `ctr image import`, `crane push`. Who reads only manifest.json gets the first image
#   digest        sha256:..., of the image, or of the index of several
#   sbom-ARCHITECTURE.spdx.json  what is in it; a copy is inside
#   symbols/      the debugging symbols that the binaries inside lack, by build ID
#
# What push.sh wrote of an older image, values.yaml, is removed.
#
# There are two layers: Debian's libraries with their licences, which stay from release to release, and
# what is Evenkeel's. Inside is no shell, no package manager and no CA certificate: in a cluster the CA
# comes with the service account, elsewhere it belongs into the kubeconfig.
#
# SOURCE_DATE_EPOCH is the date of all files; not set, the date of the commit.
. "$(dirname "$0")/../common.sh"

if [ $# -lt 2 ] || [ $(($# % 2)) -ne 0 ]; then
    echo "usage: $0 BINARY FOLDER [BINARY ROOT]..." >&2
    exit 2
fi
own=$1 out=$2
images=("$1" "" "${@:3}") # each a binary and the folder with its libraries
here=$(cd "$(dirname "$0")" && pwd)
epoch=$SOURCE_DATE_EPOCH
created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
version=$("$own" version -o json | jq -r .version)
commit=$("$own" version -o json | jq -r .commit)
user=65532

die() {
    printf '%s\n' "charts/image: $*" >&2
    exit 1
}

# This file, the first to be written, shows that the folder is ours.
mark=oci/oci-layout
if [ -e "$out" ] && [ ! -e "$out/$mark" ]; then
    [ -d "$out" ] || die "$out is no folder"
    [ -z "$(ls -A "$out")" ] || die "$out holds no image that could be replaced: name another folder, or empty it"
fi
work=$out/work
rm -rf "$work" "$out/symbols" "$out/oci/blobs" "$out/oci/index.json"
rm -f "$out/image.tar" "$out/digest" "$out/values.yaml" "$out"/sbom-*.spdx.json
mkdir -p "$out/oci/blobs/sha256" "$work"
printf '{"imageLayoutVersion":"1.0.0"}\n' >"$out/$mark"

digest_of() { sha256sum <"$1" | cut -d ' ' -f 1; }

# shellcheck source=charts/image/stage.sh
. "$here/stage.sh"

# What a program is made for, as Debian and OCI call it.
architecture_of() { # FILE
    local machine
    machine=$(readelf --file-header "$1" | sed -nE 's/^ *Machine: *//p')
    case $machine in
    *X86-64) echo amd64 ;;
    AArch64) echo arm64 ;;
    *) die "$1 is for a machine that no image is made for: $machine" ;;
    esac
}

# ---- the layout ----

# Files of the same names and contents make the same archive.
archive() { # FOLDER NAME...
    tar --create --format=ustar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner \
        --mode=u=rwX,go=rX --directory "$1" "${@:2}"
}

# Moves a file among the blobs, and prints its descriptor.
blob() { # FILE MEDIA-TYPE
    local digest size
    digest=$(digest_of "$1")
    size=$(stat -c %s "$1")
    mv "$1" "$out/oci/blobs/sha256/$digest"
    chmod 644 "$out/oci/blobs/sha256/$digest"
    jq -n -c --arg type "$2" --arg digest "sha256:$digest" --argjson size "$size" \
        '{mediaType: $type, digest: $digest, size: $size}'
}

layer() { # NAME: the descriptor, and the digest of what is in it, as a line each
    archive "$stage/$1" . >"$stage/$1.tar"
    digest_of "$stage/$1.tar"
    gzip -n -9 "$stage/$1.tar"
    blob "$stage/$1.tar.gz" application/vnd.oci.image.layer.v1.tar+gzip
}

# Writes the blobs of what is staged, and prints the descriptor of its manifest.
write_image() {
    local debian evenkeel layers config manifest
    mapfile -t debian < <(layer debian)
    mapfile -t evenkeel < <(layer evenkeel)
    layers=$(printf '%s\n' "${debian[1]}" "${evenkeel[1]}" | jq -s -c .)
    jq -n -c -S --arg architecture "$architecture" --arg created "$created" --arg version "$version" \
        --arg commit "$commit" --arg user "$user:$user" --arg debian "sha256:${debian[0]}" \
        --arg evenkeel "sha256:${evenkeel[0]}" -f "$here/config.jq" >"$stage/config"
    config=$(blob "$stage/config" application/vnd.oci.image.config.v1+json)
    jq -n -c -S --argjson config "$config" --argjson layers "$layers" \
        '{schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", config: $config, layers: $layers}' \
        >"$stage/manifest"
    manifest=$(blob "$stage/manifest" application/vnd.oci.image.manifest.v1+json)
    jq -c --arg architecture "$architecture" '. + {platform: {architecture: $architecture, os: "linux"}}' <<<"$manifest"
}

write_index() { # DESCRIPTORS: an image index of them, on standard output
    jq -n -c -S --argjson manifests "$1" \
        '{schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: $manifests}'
}

# Several images are one by an index of their own: whoever pushes or pulls the layout's only entry has them all.
write_layout() { # DESCRIPTORS of manifests
    local entry
    entry=$(jq -c '.[0]' <<<"$1")
    if [ "$(jq length <<<"$1")" -gt 1 ]; then
        write_index "$1" >"$work/index"
        entry=$(blob "$work/index" application/vnd.oci.image.index.v1+json)
    fi
    jq -r .digest <<<"$entry" >"$out/digest"
    write_index "$(jq -c --arg version "$version" '[. + {annotations: {"org.opencontainers.image.ref.name": $version}}]' <<<"$entry")" \
        >"$out/oci/index.json"
}

# Older Dockers, and crane, read manifest.json of an archive, which has no word for architectures: it names the
# first image.
write_archive() { # DESCRIPTORS of manifests
    local first
    first=$(jq -r '.[0].digest | sub(":"; "/")' <<<"$1")
    mkdir "$work/archive"
    cp -r "$out/oci/." "$work/archive/"
    jq -c -S --arg version "$version" \
        'def path: "blobs/" + sub(":"; "/");
         [{Config: (.config.digest | path), Layers: [.layers[].digest | path], RepoTags: ["evenkeel:" + $version]}]' \
        "$out/oci/blobs/$first" >"$work/archive/manifest.json"
    # They look for names without "./" in front.
    archive "$work/archive" blobs index.json manifest.json oci-layout >"$out/image.tar"
}

# ---- all of it ----

architectures=()
for ((i = 0; i < ${#images[@]}; i += 2)); do
    architecture=$(architecture_of "${images[i]}")
    [[ " ${architectures[*]} " != *" $architecture "* ]] || die "there are two binaries for $architecture"
    # What cannot be asked here says its commit in its constants.
    grep -qaP -- "$commit\x00" "${images[i]}" || die "${images[i]} is not of the commit of $own, $commit"
    architectures+=("$architecture")
done
for i in "${!architectures[@]}"; do
    architecture=${architectures[i]} binary=${images[2 * i]} root=${images[2 * i + 1]:+$(realpath "${images[2 * i + 1]}")}
    stage=$work/$architecture
    stage_image
    write_image >"$stage/descriptor"
done
manifests=$(for architecture in "${architectures[@]}"; do cat "$work/$architecture/descriptor"; done | jq -s -c .)
write_layout "$manifests"
write_archive "$manifests"
rm -rf "$work"
printf '%s: Evenkeel %s (%s) for %s, %d bytes, %s\n' "$out/image.tar" "$version" "$commit" "${architectures[*]}" \
    "$(stat -c %s "$out/image.tar")" "$(cat "$out/digest")"
