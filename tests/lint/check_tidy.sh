#!/bin/bash
# clang-tidy, and with it clang's own warnings, over every C file
#
# A file that passed is not looked at again until its preprocessed text, the configuration or the
# flags (TIDY_FLAGS) change: the user's cache holds one empty file for each checksum that passed, for
# every clone. tests/lint/green names a commit in which every file passed: files that read as they did
# there, and all that they include, are not looked at. ALL=1 looks at every file again.
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

# What clang-tidy is told, by a Makefile.
flags_of() { # makefile
    # shellcheck disable=SC2016 # make expands it
    make -s -f "$1" CC=clang-14 --eval 'tidy-flags: ; @echo $(LINT_FLAGS)' tidy-flags
}

# Did other rules hold in a commit?
rules_differ() { # commit
    ! git cat-file -e "$1^{commit}" 2>/dev/null || ! git diff --quiet "$1" -- .clang-tidy tests/.clang-tidy '*.proto' ||
        [ "$(git show "$1:Makefile" | flags_of -)" != "$(flags_of Makefile)" ]
}

# Files that differ from a commit's, or that the compiler may not have seen as they are now.
changed_since() { # commit
    local folders=(src handlers certs tests) oldest
    git diff --name-only "$1" -- "${folders[@]}"
    git ls-files --others --exclude-standard -- "${folders[@]}"
    [ -d build/obj ] || return 0
    oldest=$(find build/obj -name '*.d' -printf '%T@ %p\n' | sort -n | sed -n '1s/^[^ ]* //p')
    [ -z "$oldest" ] || find "${folders[@]}" -name '*.[ch]' -newer "$oldest"
}

# What each file includes, as make reads it: by a build, or asked of the compiler.
includes() {
    local file flags
    read -ra flags <<<"$TIDY_FLAGS"
    c_files '*.c' | while read -r file; do
        [ -e "build/obj/${file%.c}.d" ] || echo "$file"
    done | xargs -r clang-14 "${flags[@]}" -MM
    [ ! -d build/obj ] || find build/obj -name '*.d' -exec cat {} +
}

# C files that read otherwise than in the commit of tests/lint/green, in which every file passed: those that
# changed, and those that include what changed.
to_look_at() {
    local green
    green=$(<tests/lint/green)
    if [ -n "${ALL:-}" ] || rules_differ "$green"; then
        c_files '*.c'
        return
    fi
    awk 'FILENAME == ARGV[1] { changed[$0]; next }
         FILENAME == ARGV[2] { files[++count] = $0; next }
         /\.o:/ { file = "" }
         { for (i = 1; i <= NF; i++) {
               if (file == "" && $i ~ /\.c$/) known[file = $i]
               if ($i in changed) differs[file] } }
         END { for (i = 1; i <= count; i++) if (!(files[i] in known) || files[i] in differs) print files[i] }' \
        <(changed_since "$green") <(c_files '*.c') <(includes)
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
to_look_at | xargs -r -P "$jobs" -n 1 "$self" --one
