#!/bin/bash
# Builds the daemon and the unit tests for arm64 with Debian's cross compiler, and runs the tests under
# qemu's user emulation:
#
#   tests/arm64.sh [TEST...]      build/arm64/tests/unit/base/test_hash, say; all of them without one
#
# Needs gcc-aarch64-linux-gnu and qemu-user-static (make arm64 installs them) and Debian's package lists. The
# libraries come from arm64 packages that are unpacked below build/arm64/sysroot: nothing of them is
# installed on this machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=$PWD/build/arm64
root=$build/sysroot
packages=(libc6-dev libmicrohttpd-dev libgnutls28-dev libssl-dev libcurl4-openssl-dev libyaml-dev libcjson-dev
    libcmocka-dev)

# Package lists of their own, because those of this machine need not have arm64.
apt_arm64() { # command argument...
    apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$build/apt" \
        -o Dir::State::status="$build/apt/status" -o Dir::Cache="$build/apt/cache" -o APT::Sandbox::User=root \
        -o APT::Install-Recommends=false "$@"
}

unpack_libraries() {
    local deb
    [ ! -e "$root/complete" ] || return 0
    printf '== fetching the libraries for arm64\n' >&2
    rm -rf "$root"
    mkdir -p "$root" "$build/apt/lists/partial" "$build/apt/cache/archives/partial"
    : >"$build/apt/status"
    apt_arm64 update
    apt_arm64 install --download-only --yes "${packages[@]}" >/dev/null
    for deb in "$build"/apt/cache/archives/*.deb; do
        dpkg-deb --extract "$deb" "$root"
    done
    rm -rf "$build/apt"
    touch "$root/complete"
}

mkdir -p "$build"
unpack_libraries
export PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig
export TEST_UNDER="qemu-aarch64-static -L $root"
make_arm64() {
    make --no-print-directory NO_DEPS=1 FLAVOR=arm64 CC="aarch64-linux-gnu-gcc --sysroot=$root" \
        AR=aarch64-linux-gnu-ar "$@"
}
if [ $# -gt 0 ]; then
    make_arm64 -j"$(nproc)" "$@"
    exec tests/run "$@"
fi
make_arm64 -j"$(nproc)" build/arm64/evenkeel
make_arm64 unit
