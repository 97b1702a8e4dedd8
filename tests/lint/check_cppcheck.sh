#!/bin/bash
# cppcheck: warnings, performance, portability
. "$(dirname "$0")/common.sh"
mkdir -p build/lint/cppcheck
wings=(src/*/)
cppcheck --enable=warning,performance,portability --error-exitcode=1 --inline-suppr --quiet \
    --std=c11 --language=c -D_GNU_SOURCE -D__GNUC__ "${wings[@]/#/-I}" -I. -Itests \
    --template='{file}:{line}: {severity}: {message} [{id}]' \
    --suppressions-list=tests/lint/cppcheck.suppressions \
    --cppcheck-build-dir=build/lint/cppcheck -j "$jobs" src handlers certs tests
