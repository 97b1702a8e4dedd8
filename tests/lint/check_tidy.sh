#!/bin/bash
# clang-tidy, and with it clang's own warnings, over every C file
#
# A file that passed is not looked at again until its preprocessed text, the configuration or the
# flags (TIDY_FLAGS) change: the user's cache holds one empty file for each checksum that passed, for
# every clone. ALL=1 looks at every file again.
. "$(dirname "$0")/common.sh"
: "${TIDY_FLAGS:?is set by make lint}"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/evenkeel/tidy

tidy_one() { # file
    local flags key
    read -ra flags <<<"$TIDY_FLAGS"
    # Comments are kept, for they can hold NOLINT.
    key=$({
        clang-tidy-14 --version
        echo "$1 ${TIDY_FLAGS//$PWD/}"
        cat .clang-tidy tests/.clang-tidy
        clang-14 "${flags[@]}" -E -C "$1"
    } 2>&1 | sha256sum) || true
    key=$cache/${key%% *}
    if [ -e "$key" ] && [ -z "${ALL:-}" ]; then
        touch "$key"
        return 0
    fi
    if ! clang-tidy-14 --quiet "$1" -- "${flags[@]}" >"$key.$$" 2>&1; then
        grep -vE '^[0-9]+ (warning|error)|warnings? treated as error' "$key.$$" || true
        rm "$key.$$"
        return 1
    fi
    rm "$key.$$"
    touch "$key"
}

if [ "${1:-}" = --one ]; then
    tidy_one "$2"
    exit
fi
mkdir -p "$cache"
find "$cache" -type f -mtime +30 -delete
c_files '*.c' | xargs -r -P "$jobs" -n 1 "$0" --one
