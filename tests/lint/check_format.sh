#!/bin/bash
# every C file stands as clang-format leaves it (`make format` repairs), no line over 100 columns
. "$(dirname "$0")/common.sh"
status=0
c_files '*.[ch]' | xargs -r -P "$jobs" -n 20 clang-format-14 --dry-run -Werror --ferror-limit=3 ||
    status=1
# What clang-format cannot break, such as a long word in a comment, it leaves too long.
if c_files '*.[ch]' | xargs -r grep -nHE '^.{101,}' | sed 's/:\([0-9]*\):.*/:\1: over 100 columns/' |
    grep .; then
    status=1
fi
exit $status
