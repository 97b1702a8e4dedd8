#!/bin/bash
# cppcheck: warnings, performance, portability
#
# Looks at the files of changed.sh; ALL=1 looks at every file again.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/changed.sh"
mkdir -p build/lint/cppcheck
to_look_at tests/lint/check_cppcheck.sh tests/lint/cppcheck.suppressions >build/lint/cppcheck.files
[ -s build/lint/cppcheck.files ] || exit 0
wings=(src/*/)
cppcheck --enable=warning,performance,portability --error-exitcode=1 --inline-suppr --quiet \
    --std=c11 --language=c -D_GNU_SOURCE -D__GNUC__ "${wings[@]/#/-I}" -I. -Itests \
    --template='{file}:{line}: {severity}: {message} [{id}]' \
    --suppressions-list=tests/lint/cppcheck.suppressions \
    --cppcheck-build-dir=build/lint/cppcheck -j "$jobs" --file-list=build/lint/cppcheck.files
