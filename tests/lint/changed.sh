# shellcheck shell=bash
# Sourced by the checks that take long: which C files they look at. tests/lint/green names a commit in which
# every file passed these checks.
: "${TIDY_FLAGS:?is set by make lint}"

# Prints the flags that a Makefile gives to clang-tidy.
flags_of() { # makefile
    # shellcheck disable=SC2016 # make expands it
    make -s -f "$1" CC=clang-14 --eval 'tidy-flags: ; @echo $(LINT_FLAGS)' tidy-flags
}

# Did other rules hold in a commit?
rules_differ() { # commit file...
    ! git cat-file -e "$1^{commit}" 2>/dev/null || ! git diff --quiet "$1" -- "${@:2}" '*.proto' ||
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

# Prints the C files that changed since the commit of tests/lint/green, and those that include such a file.
# Prints all C files if a file with the check's rules changed, or the flags did, or with ALL=1.
to_look_at() { # file-with-rules...
    local green
    green=$(<tests/lint/green)
    if [ -n "${ALL:-}" ] || rules_differ "$green" "$@"; then
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
