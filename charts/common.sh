#!/bin/bash
# What everything that packs shares; sourced. The same bytes from the same commit: the same order and
# rights of files wherever it runs, and one date for all of them, that of the commit or SOURCE_DATE_EPOCH.
set -euo pipefail
export LC_ALL=C
umask 022
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
# shellcheck disable=SC2034 # for those who source it
version=$(sed -n 's/^#define EVENKEEL_VERSION "\(.*\)"$/\1/p' "$top/src/support/base/version.h")

arguments() { # NUMBER_WANTED NAMES NUMBER: ends the script with its usage
    [ "$3" -eq "$1" ] || {
        echo "usage: $0 $2" >&2
        exit 2
    }
}

compressed_tar() { # MODE TAR_ARGUMENT...: a tar of names as they are given, compressed, to stdout
    tar --create --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode="$1" "${@:2}" | gzip -n -9
}

say_made() { # FILE: its size and checksum
    printf '%s: %d bytes, sha256:%s\n' "${1#"$PWD"/}" "$(stat -c %s "$1")" "$(sha256sum <"$1" | cut -d ' ' -f 1)"
}
