#!/bin/bash
# clang-tidy, and with it clang's own warnings, over every C file
#
# A file that passed is not looked at again until its preprocessed text, the configuration or the
# flags (TIDY_FLAGS) change: the user's cache holds one empty file for each checksum that passed, for
# every clone. tests/lint/green names a commit in which every file passed: its files need not be
# looked at on a new machine, either. ALL=1 looks at every file again.
. "$(dirname "$0")/common.sh"
: "${TIDY_FLAGS:?is set by make lint}"
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

# Remembers the files of a commit as passed, with that commit's own flags.
remember() { # commit
    local tree flags known=$cache/$1
    [ ! -e "$known" ] && git cat-file -e "$1^{commit}" 2>/dev/null || return 0
    tree=$(mktemp -d)
    git archive "$1" | tar -x -C "$tree"
    ln -s "$PWD/build" "$tree/build" # what is made from messages' definitions
    # shellcheck disable=SC2016 # make expands it
    flags=$(make -s -C "$tree" CC=clang-14 --eval 'tidy-flags: ; @echo $(LINT_FLAGS)' tidy-flags)
    (
        cd "$tree"
        c_files '*.c' | TIDY_FLAGS=$flags tidy_top=$tree xargs -r -P "$jobs" -n 1 "$self" --checksum
    ) | (cd "$cache" && xargs -r touch)
    rm -r "$tree"
    touch "$known"
}

self=$PWD/tests/lint/check_tidy.sh
case ${1:-} in
--one)
    tidy_one "$2"
    exit
    ;;
--checksum)
    cd "${tidy_top:-.}"
    checksum "$2"
    exit
    ;;
esac
mkdir -p "$cache"
find "$cache" -type f -mtime +30 -delete
remember "$(<tests/lint/green)"
c_files '*.c' | xargs -r -P "$jobs" -n 1 "$self" --one
