#!/usr/bin/env bash
# make bench AGAINST=COMMIT: its errors about a commit that cannot be built. Its measurements are not tested.
. "$(dirname "$0")/lib.sh"

against() { # SCRIPT [COMMIT]: exit code and what is said in $code and $said
    code=0
    said=$(timeout "$PATIENCE" "$@" 2>&1 </dev/null) || code=$?
}

against tests/bench/against.sh no-such-commit
is "an unknown commit" "$code" 2
like "... is named" "$said" "^bench: there is no commit 'no-such-commit'"
against tests/bench/against.sh
is "no commit" "$code" 2
like "... is wrong usage" "$said" 'usage: .*COMMIT'

# A repository of its own, whose daemon fails to build when half of it is there.
if ! command -v git >/dev/null; then
    finish_tests
    exit
fi
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE # a hook of git may have set them
repository=$work/repository
mkdir -p "$repository/tests/bench"
cp tests/bench/against.sh tests/bench/servers.sh "$repository/tests/bench"
printf 'build/evenkeel:\n\tmkdir -p build && touch build/evenkeel.o && chmod +x build/evenkeel.o\n\tfalse\n' >"$repository/Makefile"
in_repository() { git -C "$repository" -c user.name=test -c user.email=test@example.com "$@"; }
in_repository init --quiet
in_repository add .
in_repository commit --quiet --no-gpg-sign --message 'does not build'
commit=$(in_repository rev-parse HEAD)
against env MAKEFLAGS= "$repository/tests/bench/against.sh" HEAD
is "a commit that does not build" "$code" 2
like "... is named" "$said" "bench: commit $commit does not build"
like "... after what its makefile said" "$said" 'touch build/evenkeel.o.*\*\*\*.*bench: commit'
is "... and nothing of it is left" "$(ls -A "$repository/build/against")" ''

finish_tests
