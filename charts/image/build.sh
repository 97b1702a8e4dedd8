#!/bin/bash
# Makes a container image of the daemon, without a container engine: an OCI image layout, the same
# bytes from the same commit and the same Debian packages.
#
#   charts/image/build.sh BINARY FOLDER
#
# FOLDER is written anew; a folder of other things than an older image is refused:
#
#   oci/          the OCI layout (oci-layout, index.json, blobs)
#   image.tar     the same as one file, with Docker's manifest.json beside index.json: for `docker load`,
#                 `podman load`, `ctr image import`, `crane push`
#   digest        the image's digest, sha256:...
#   sbom.spdx.json  what is in it; a copy is inside
#   symbols/      the debugging symbols that the binary inside lacks, by build ID
#
# There are two layers: Debian's libraries with their licences, which stay from release to release, and
# what is Evenkeel's. Inside is no shell, no package manager and no CA certificate: in a cluster the CA
# comes with the service account, elsewhere it belongs into the kubeconfig.
#
# SOURCE_DATE_EPOCH is the date of all files; not set, the date of the commit.
. "$(dirname "$0")/../common.sh"

arguments 2 'BINARY FOLDER' $#
binary=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
epoch=$SOURCE_DATE_EPOCH
created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
architecture=$(dpkg --print-architecture)
version=$("$binary" version -o json | jq -r .version)
commit=$("$binary" version -o json | jq -r .commit)
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
rm -f "$out/image.tar" "$out/digest" "$out/sbom.spdx.json"
mkdir -p "$out/oci/blobs/sha256" "$work/debian" "$work/evenkeel"
printf '{"imageLayoutVersion":"1.0.0"}\n' >"$out/$mark"
# Every file that is put into the image: its path there, the Debian package that it is of, or
# "evenkeel", and its layer, with tabs in between.
listing=$work/files
: >"$listing"

digest_of() { sha256sum <"$1" | cut -d ' ' -f 1; }

put() { # LAYER MODE FILE PATH PACKAGE: a file at an absolute path of the image
    install -D -m "$2" "$3" "$work/$1$4"
    printf '%s\t%s\t%s\n' "$4" "$5" "$1" >>"$listing"
}

# ---- Debian's part ----

# Notes which package each file is of: a path, a tab, a package. What dpkg knows by a path below /lib may
# be asked for below /usr/lib, and the other way round.
find_owners() { # FILE...
    local path
    for path in "$@"; do
        printf '%s\n' "$path" "${path#/usr}" "/usr$path"
    done | sort -u | xargs dpkg-query -S 2>/dev/null |
        sed -nE 's/^([^:, ]+)(:[^, ]*)?(, .*)?: (\/.*)$/\4\t\1/p' >"$work/owners" || true
}

package_of() { # FILE
    local path package
    for path in "$1" "${1#/usr}" "/usr$1"; do
        package=$(awk -F '\t' -v path="$path" '$1 == path { print $2; exit }' "$work/owners")
        [ -z "$package" ] || break
    done
    [ -n "$package" ] || die "no Debian package has $1"
    echo "$package"
}

# A path as it is where /lib and /lib64 are links to what is below /usr.
merged() { # PATH
    case $1 in
    /lib/* | /lib64/*) echo "/usr$1" ;;
    *) echo "$1" ;;
    esac
}

# The loader and the libraries that it loads: "SONAME => PATH (address)", and the loader's own line.
stage_libraries() {
    local path file package
    ldd "$binary" | awk '$2 == "=>" { print $3 } $1 ~ "^/" { print $1 }' | sort >"$work/libraries"
    grep -q . "$work/libraries" || die "ldd names no library of $binary"
    grep -q '^not$' "$work/libraries" && die "a library of $binary is not on this machine: $(ldd "$binary" | grep 'not found')"
    # shellcheck disable=SC2046  # libraries have no blanks in their names
    find_owners $(xargs readlink -f <"$work/libraries")
    while read -r path; do
        file=$(readlink -f "$path")
        package=$(package_of "$file")
        put debian 755 "$file" "$(merged "$path")" "$package"
    done <"$work/libraries"
    ln -s usr/lib "$work/debian/lib"
    ln -s usr/lib64 "$work/debian/lib64"
}

debian_packages() { cut -f 2 "$listing" | grep -vx evenkeel | sort -u; }

# Debian's licences: one file for each package, and the texts that these refer to.
stage_licences() {
    local package text
    for package in $(debian_packages); do
        [ -e "/usr/share/doc/$package/copyright" ] || die "there is no /usr/share/doc/$package/copyright"
        put debian 644 "/usr/share/doc/$package/copyright" "/usr/share/doc/$package/copyright" "$package"
    done
    grep -ohE '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' \
        "$work"/debian/usr/share/doc/*/copyright | sort -u >"$work/licences"
    while read -r text; do
        [ ! -e "$text" ] || put debian 644 "$text" "$text" base-files
    done <"$work/licences"
}

# ---- Evenkeel's part ----

stage_evenkeel() {
    local id symbols
    cp "$binary" "$work/stripped"
    strip --strip-all "$work/stripped"
    put evenkeel 755 "$work/stripped" /usr/bin/evenkeel evenkeel
    put evenkeel 644 "$top/LICENSE" /usr/share/doc/evenkeel/LICENSE evenkeel
    printf 'root:x:0:0:root:/:/usr/sbin/nologin\nevenkeel:x:%d:%d:evenkeel:/:/usr/sbin/nologin\n' \
        $user $user >"$work/passwd"
    printf 'root:x:0:\nevenkeel:x:%d:\n' $user >"$work/group"
    put evenkeel 644 "$work/passwd" /etc/passwd evenkeel
    put evenkeel 644 "$work/group" /etc/group evenkeel
    id=$(readelf -n "$binary" | awk '/Build ID/ { print $3 }')
    [ -n "$id" ] || die "$binary has no build ID"
    symbols=$out/symbols/.build-id/${id:0:2}/${id:2}.debug
    mkdir -p "$(dirname "$symbols")"
    objcopy --only-keep-debug "$binary" "$symbols"
}

# ---- the list of contents ----

# The first of these names that this machine's distribution gives a value.
os_release() { # NAME...
    local name
    for name in "$@"; do
        # shellcheck source=/dev/null
        (. /etc/os-release && [ -n "${!name:-}" ] && printf '%s\n' "${!name}") && return
    done
    die "/etc/os-release has none of: $*"
}

# "/lib -> usr/lib, /lib64 -> usr/lib64"
symbolic_links() { (cd "$work/debian" && find . -type l -printf '/%P -> %l\n' | sort | paste -s -d , | sed 's/,/, /g'); }

# SPDX 2.3. A list cannot hold its own checksum; the standard has a field for that.
sbom_path=/usr/share/doc/evenkeel/sbom.spdx.json
# SPDX 2.3, 7.9: the checksum of a package's sorted checksums.
verification_code() { # PACKAGE
    awk -F '\t' -v package="$1" '$2 == package { print $3 }' "$work/sums" | sort | tr -d '\n' | sha1sum | cut -d ' ' -f 1
}

write_sbom() {
    local path package layer file id release
    id=$(os_release ID)
    release=$(os_release VERSION_ID VERSION_CODENAME)
    sort -o "$listing" "$listing"
    while IFS=$'\t' read -r path package layer; do
        file=$work/$layer$path
        printf '%s\t%s\t%s\t%s\n' "$path" "$package" "$(sha1sum <"$file" | cut -d ' ' -f 1)" \
            "$(digest_of "$file")"
    done <"$listing" >"$work/sums"
    for package in evenkeel $(debian_packages); do
        printf '%s\t%s\n' "$package" "$(verification_code "$package")"
    done >"$work/codes"
    # shellcheck disable=SC2016  # dpkg-query's own fields
    debian_packages | xargs dpkg-query -W \
        -f='${Package}\t${Version}\t${Architecture}\t${Homepage}\t${source:Package}\n' >"$work/packages"
    jq -n -S --rawfile sums "$work/sums" --rawfile packages "$work/packages" --arg version "$version" \
        --arg commit "$commit" --arg created "$created" --arg contents "$(digest_of "$work/sums")" --arg itself ".$sbom_path" \
        --rawfile codes "$work/codes" --arg links "$(symbolic_links)" --arg id "$id" \
        --arg distribution "$id-$release" \
        -f "$here/sbom.jq" >"$work/sbom"
    install -m 644 "$work/sbom" "$out/sbom.spdx.json"
    install -D -m 644 "$work/sbom" "$work/evenkeel$sbom_path"
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
    archive "$work/$1" . >"$work/$1.tar"
    digest_of "$work/$1.tar"
    gzip -n -9 "$work/$1.tar"
    blob "$work/$1.tar.gz" application/vnd.oci.image.layer.v1.tar+gzip
}

write_layout() {
    local debian evenkeel layers config manifest
    mapfile -t debian < <(layer debian)
    mapfile -t evenkeel < <(layer evenkeel)
    layers=$(printf '%s\n' "${debian[1]}" "${evenkeel[1]}" | jq -s -c .)
    jq -n -c -S --arg architecture "$architecture" --arg created "$created" --arg version "$version" \
        --arg commit "$commit" --arg user "$user:$user" --arg debian "sha256:${debian[0]}" \
        --arg evenkeel "sha256:${evenkeel[0]}" -f "$here/config.jq" >"$work/config"
    config=$(blob "$work/config" application/vnd.oci.image.config.v1+json)
    jq -n -c -S --argjson config "$config" --argjson layers "$layers" \
        '{schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", config: $config, layers: $layers}' \
        >"$work/manifest"
    manifest=$(blob "$work/manifest" application/vnd.oci.image.manifest.v1+json)
    jq -r .digest <<<"$manifest" >"$out/digest"
    jq -n -c -S --argjson manifest "$manifest" --arg architecture "$architecture" --arg version "$version" \
        '{schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json",
          manifests: [$manifest + {platform: {architecture: $architecture, os: "linux"},
                                   annotations: {"org.opencontainers.image.ref.name": $version}}]}' \
        >"$out/oci/index.json"
    # Older Dockers, and crane, read this of an archive.
    mkdir "$work/archive"
    cp -r "$out/oci/." "$work/archive/"
    jq -n -c -S --argjson config "$config" --argjson layers "$layers" --arg version "$version" \
        'def path: "blobs/" + sub(":"; "/");
         [{Config: ($config.digest | path), Layers: [$layers[].digest | path], RepoTags: ["evenkeel:" + $version]}]' \
        >"$work/archive/manifest.json"
    # They look for names without "./" in front.
    archive "$work/archive" blobs index.json manifest.json oci-layout >"$out/image.tar"
}

stage_libraries
stage_evenkeel
stage_licences
write_sbom
write_layout
rm -rf "$work"
printf '%s: Evenkeel %s (%s) for %s, %d bytes, %s\n' "$out/image.tar" "$version" "$commit" "$architecture" \
    "$(stat -c %s "$out/image.tar")" "$(cat "$out/digest")"
