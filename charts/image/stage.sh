# shellcheck shell=bash disable=SC2154  # variables of build.sh
# What is in the image of one architecture: sourced by build.sh, which sets
#
#   architecture, binary   which one it is, as Debian calls it, and the daemon for it
#   root                   where Debian's files for it are: "" for this machine's own, or a folder that holds
#                          packages of another architecture and dpkg's list of them (charts/arm64.sh)
#   stage                  a folder for all that is made here; its layers are in debian/ and evenkeel/
#
# Nothing here starts the binary, which may be another machine's.

packages() { dpkg-query --admindir="$root/var/lib/dpkg" "$@"; }

put() { # LAYER MODE FILE PATH PACKAGE: a file at an absolute path of the image
    install -D -m "$2" "$3" "$stage/$1$4"
    printf '%s\t%s\t%s\n' "$4" "$5" "$1" >>"$listing"
}

# ---- Debian's part ----

# Notes which package each file is of: a path, a tab, a package. What dpkg knows by a path below /lib may
# be asked for below /usr/lib, and the other way round.
find_owners() { # PATH...
    local path
    for path in "$@"; do
        printf '%s\n' "$path" "${path#/usr}" "/usr$path"
    done | sort -u | xargs dpkg-query --admindir="$root/var/lib/dpkg" -S 2>/dev/null |
        sed -nE 's/^([^:, ]+)(:[^, ]*)?(, .*)?: (\/.*)$/\4\t\1/p' >"$stage/owners" || true
}

package_of() { # PATH
    local path package
    for path in "$1" "${1#/usr}" "/usr$1"; do
        package=$(awk -F '\t' -v path="$path" '$1 == path { print $2; exit }' "$stage/owners")
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

# The file behind symbolic links, below the root and without it in front.
behind_links() { # PATH
    local file
    file=$(readlink -e "$root$1") || die "there is no $root$1"
    [[ $file == "$root"/* ]] || die "$root$1 leads out of $root"
    echo "${file#"$root"}"
}

needed_by() { # FILE: names of libraries
    readelf --dynamic --wide "$1" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]$/\1/p'
}

library_path() { # NAME: where the loader looks, of the folders that Debian's packages use
    local folder
    for folder in "/lib/$multiarch" "/usr/lib/$multiarch"; do
        [ ! -e "$root$folder/$1" ] || {
            echo "$folder/$1"
            return
        }
    done
    die "a library of $binary is not on this machine: $1 for $architecture"
}

# Paths of the loader that the binary names, and of the libraries that it and they need: as `ldd` would say, which
# can only be asked about this machine's own programs.
find_libraries() {
    local loader name path files=("$binary")
    local -A seen=()
    loader=$(readelf --program-headers --wide "$binary" | sed -nE 's/.*program interpreter: (.*)\]$/\1/p')
    [ -n "$loader" ] || die "$binary names no loader"
    echo "$loader"
    seen[${loader##*/}]=1 # libc needs it, too, by its name
    while [ ${#files[@]} -gt 0 ]; do
        for name in $(needed_by "${files[0]}"); do
            [ -z "${seen[$name]:-}" ] || continue
            seen[$name]=1
            path=$(library_path "$name") || exit
            echo "$path"
            files+=("$root$path")
        done
        files=("${files[@]:1}")
    done
}

stage_libraries() {
    local path file package files=()
    find_libraries >"$stage/libraries"
    while read -r path; do
        files+=("$(behind_links "$path")")
    done <"$stage/libraries"
    find_owners "${files[@]}"
    while read -r path; do
        file=$(behind_links "$path")
        package=$(package_of "$file")
        put debian 755 "$root$file" "$(merged "$path")" "$package"
    done <"$stage/libraries"
    ln -s usr/lib "$stage/debian/lib"
    [ ! -d "$stage/debian/usr/lib64" ] || ln -s usr/lib64 "$stage/debian/lib64"
}

debian_packages() { cut -f 2 "$listing" | grep -vx evenkeel | sort -u; }

# Debian's licences: one file for each package, and the texts that these refer to.
stage_licences() {
    local package text
    for package in $(debian_packages); do
        text=/usr/share/doc/$package/copyright
        [ -e "$root$text" ] || die "there is no $root$text"
        put debian 644 "$root$text" "$text" "$package"
    done
    grep -ohE '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' \
        "$stage"/debian/usr/share/doc/*/copyright | sort -u >"$stage/licences"
    while read -r text; do
        [ ! -e "$root$text" ] || put debian 644 "$root$text" "$text" base-files
    done <"$stage/licences"
}

# ---- Evenkeel's part ----

stage_evenkeel() {
    local id symbols
    cp "$binary" "$stage/stripped"
    "$triplet-strip" --strip-all "$stage/stripped"
    put evenkeel 755 "$stage/stripped" /usr/bin/evenkeel evenkeel
    put evenkeel 644 "$top/LICENSE" /usr/share/doc/evenkeel/LICENSE evenkeel
    printf 'root:x:0:0:root:/:/usr/sbin/nologin\nevenkeel:x:%d:%d:evenkeel:/:/usr/sbin/nologin\n' \
        "$user" "$user" >"$stage/passwd"
    printf 'root:x:0:\nevenkeel:x:%d:\n' "$user" >"$stage/group"
    put evenkeel 644 "$stage/passwd" /etc/passwd evenkeel
    put evenkeel 644 "$stage/group" /etc/group evenkeel
    id=$(readelf -n "$binary" | awk '/Build ID/ { print $3 }')
    [ -n "$id" ] || die "$binary has no build ID"
    symbols=$out/symbols/.build-id/${id:0:2}/${id:2}.debug
    mkdir -p "$(dirname "$symbols")"
    "$triplet-objcopy" --only-keep-debug "$binary" "$symbols"
}

# ---- the list of contents ----

# The first of these names that the distribution gives a value.
os_release() { # NAME...
    local name
    for name in "$@"; do
        # shellcheck source=/dev/null
        (. "$root/etc/os-release" && [ -n "${!name:-}" ] && printf '%s\n' "${!name}") && return
    done
    die "$root/etc/os-release has none of: $*"
}

# "/lib -> usr/lib, /lib64 -> usr/lib64"
symbolic_links() { (cd "$stage/debian" && find . -type l -printf '/%P -> %l\n' | sort | paste -s -d , | sed 's/,/, /g'); }

# SPDX 2.3. A list cannot hold its own checksum; the standard has a field for that.
sbom_path=/usr/share/doc/evenkeel/sbom.spdx.json
# SPDX 2.3, 7.9: the checksum of a package's sorted checksums.
verification_code() { # PACKAGE
    awk -F '\t' -v package="$1" '$2 == package { print $3 }' "$stage/sums" | sort | tr -d '\n' | sha1sum | cut -d ' ' -f 1
}

write_sbom() {
    local path package layer file id release
    id=$(os_release ID)
    release=$(os_release VERSION_ID VERSION_CODENAME)
    sort -o "$listing" "$listing"
    while IFS=$'\t' read -r path package layer; do
        file=$stage/$layer$path
        printf '%s\t%s\t%s\t%s\n' "$path" "$package" "$(sha1sum <"$file" | cut -d ' ' -f 1)" \
            "$(digest_of "$file")"
    done <"$listing" >"$stage/sums"
    for package in evenkeel $(debian_packages); do
        printf '%s\t%s\n' "$package" "$(verification_code "$package")"
    done >"$stage/codes"
    # shellcheck disable=SC2016,SC2046  # dpkg-query's own fields; names of packages
    packages -W -f='${Package}\t${Version}\t${Architecture}\t${Homepage}\t${source:Package}\n' $(debian_packages) >"$stage/packages"
    jq -n -S --rawfile sums "$stage/sums" --rawfile packages "$stage/packages" --arg version "$version" \
        --arg commit "$commit" --arg created "$created" --arg contents "$(digest_of "$stage/sums")" --arg itself ".$sbom_path" \
        --rawfile codes "$stage/codes" --arg links "$(symbolic_links)" --arg id "$id" \
        --arg distribution "$id-$release" \
        -f "$here/sbom.jq" >"$stage/sbom"
    install -m 644 "$stage/sbom" "$out/sbom-$architecture.spdx.json"
    install -D -m 644 "$stage/sbom" "$stage/evenkeel$sbom_path"
}

# ---- all of it ----

stage_image() {
    local triplet multiarch
    # Every file that is put into the image: its path there, the Debian package that it is of, or
    # "evenkeel", and its layer, with tabs in between.
    local listing=$stage/files
    triplet=$(dpkg-architecture --host-arch "$architecture" --query DEB_HOST_GNU_TYPE 2>/dev/null)
    multiarch=$(dpkg-architecture --host-arch "$architecture" --query DEB_HOST_MULTIARCH 2>/dev/null)
    mkdir -p "$stage/debian" "$stage/evenkeel"
    : >"$listing"
    stage_libraries
    stage_evenkeel
    stage_licences
    write_sbom
}
