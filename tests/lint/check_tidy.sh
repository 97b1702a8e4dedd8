#!/bin/bash
# clang-tidy, and with it clang's own warnings, over every C file
#
# A file that passed is not looked at again until its preprocessed text, the configuration or the
# flags (TIDY_FLAGS) change: build/lint/tidy holds one empty file per checksum that passed.
. "$(dirname "$0")/common.sh"
: "${TIDY_FLAGS:?is set by make lint}"
cache=build/lint/tidy

tidy_one() { # file
    local flags key
    read -ra flags <<<"$TIDY_FLAGS"
    # Comments are kept, for they can hold NOLINT.
    key=$({
        echo "$1 $TIDY_FLAGS"
        cat .clang-tidy tests/.clang-tidy
        clang-14 "${flags[@]}" -E -C "$1"
    } 2>&1 | sha256sum) || true
    key=$cache/${key%% *}
    [ ! -e "$key" ] || return 0
    if ! clang-tidy-14 --quiet "$1" -- "${flags[@]}" >"$key.out" 2>&1; then
        grep -vE '^[0-9]+ (warning|error)|warnings? treated as error' "$key.out" || true
        rm "$key.out"
        return 1
    fi
    rm "$key.out"
    touch "$key"
}

if [ "${1:-}" = --one ]; then
    tidy_one "$2"
    exit
fi
mkdir -p $cache
c_files '*.c' | xargs -r -P "$jobs" -n 1 "$0" --one
