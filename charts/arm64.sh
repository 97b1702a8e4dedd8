#!/bin/bash
# Builds for arm64 with Debian's cross compiler:
#
#   charts/arm64.sh TARGET...      build/arm64/evenkeel, say: targets of the Makefile, in its flavour arm64
#
# Needs gcc-aarch64-linux-gnu (make deps-arm64 installs it) and Debian's package lists. The libraries come from
# arm64 packages that are unpacked below build/arm64/sysroot: nothing of them is installed on this machine. Which
# package has which file is in dpkg's own form, in sysroot/var/lib/dpkg: charts/image asks for it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=$PWD/build/arm64
root=$build/sysroot
# base-files has the texts of licences, and the name of the distribution.
packages=(base-files libc6-dev libmicrohttpd-dev libgnutls28-dev libssl-dev libcurl4-openssl-dev libyaml-dev libcjson-dev
    libprotobuf-c-dev libnghttp2-dev libcmocka-dev)

# Package lists of their own, because those of this machine need not have arm64.
apt_arm64() { # command argument...
    apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$build/apt" \
        -o Dir::State::status="$build/apt/status" -o Dir::Cache="$build/apt/cache" -o APT::Sandbox::User=root \
        -o APT::Install-Recommends=false "$@"
}

# Files of a package, and what dpkg notes about one that is installed.
unpack() { # DEB
    local name database=$root/var/lib/dpkg
    dpkg-deb --extract "$1" "$root"
    mkdir -p "$database/info"
    name=$(dpkg-deb --field "$1" Package)
    dpkg-deb --fsys-tarfile "$1" | tar --list | sed -nE 's|^\.(/.*[^/])/?$|\1|p' >"$database/info/$name.list"
    {
        echo 'Status: install ok installed'
        dpkg-deb --field "$1"
        echo
    } >>"$database/status"
}

unpack_libraries() {
    local deb complete=$root/var/lib/dpkg/complete
    # Of a day or more ago they may be older than this machine's.
    [ "$(find "$complete" -mmin -1440 -exec cat {} + 2>/dev/null)" != "${packages[*]}" ] || return 0
    printf '== fetching the libraries for arm64\n' >&2
    rm -rf "$root" "$build/apt"
    mkdir -p "$root" "$build/apt/lists/partial" "$build/apt/cache/archives/partial"
    : >"$build/apt/status"
    apt_arm64 update
    apt_arm64 install --download-only --yes "${packages[@]}" >/dev/null
    for deb in "$build"/apt/cache/archives/*.deb; do
        unpack "$deb"
    done
    rm -rf "$build/apt"
    echo "${packages[*]}" >"$complete"
}

mkdir -p "$build"
unpack_libraries
export PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig
exec make --no-print-directory NO_DEPS=1 FLAVOR=arm64 CC="aarch64-linux-gnu-gcc --sysroot=$root" \
    AR=aarch64-linux-gnu-ar -j"$(nproc)" "$@"
