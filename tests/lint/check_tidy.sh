#!/bin/bash
# clang-tidy, and with it clang's own warnings, over every C file
#
# A file that passed is not looked at again until its preprocessed text, the configuration or the
# flags (TIDY_FLAGS) change: the user's cache holds one empty file for each checksum that passed, for
# every clone. Looks at the files of changed.sh; ALL=1 looks at every file again.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/changed.sh"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/evenkeel/tidy
export tidy_top=${tidy_top:-$PWD} tidy_version=${tidy_version:-$(clang-tidy-14 --version)}

# The checksum of all that a file's verdict depends on. Comments count, for they can hold NOLINT.
checksum() { # file
    local flags
    read -ra flags <<<"$TIDY_FLAGS"
    {
        echo "$tidy_version"
        printf '%s ' "$1" "${flags[@]//$tidy_top/}"
        echo
        cat .clang-tidy tests/.clang-tidy
        clang-14 "${flags[@]}" -E -C "$1"
    } 2>&1 | sha256sum | cut -d ' ' -f 1
}

tidy_one() { # file
    local flags key
    read -ra flags <<<"$TIDY_FLAGS"
    key=$cache/$(checksum "$1")
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

self=$PWD/tests/lint/check_tidy.sh
case ${1:-} in
--one)
    tidy_one "$2"
    exit
    ;;
esac
mkdir -p "$cache"
find "$cache" -type f -mtime +30 -delete
to_look_at .clang-tidy tests/.clang-tidy | xargs -r -P "$jobs" -n 1 "$self" --one
