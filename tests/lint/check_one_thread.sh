#!/bin/bash
# rooms without threads are in the Makefile's ONE_THREAD, which the thread sanitizer passes over, and no others
#
# A room has threads when a file of it, or of its tests, includes what locks, atomics and threads are of, or
# when its tests start those of other rooms (`others`). `make test` fails when a test of ONE_THREAD starts
# a thread: tests/unit/one_thread.c.
. "$(dirname "$0")/common.sh"
shopt -s extglob
others=' controllers volumes '
# shellcheck disable=SC2016 # make expands it
listed=" $(make -s --eval 'one-thread: ; @echo $(ONE_THREAD)' one-thread) "

# Folders in which some file has to do with threads.
threaded() {
    c_files '*.[ch]' | xargs grep -lE '#include (<pthread\.h>|<stdatomic\.h>|<threads\.h>|"base/mutex\.h")|\b_Atomic\b' |
        sed 's,/[^/]*$,,' | sort -u
}

# Below src a room may stand in a wing.
status=0
rooms=$(find tests/unit -name 'test_*.c' | sed 's,^tests/unit/,,; s,/[^/]*$,,' | sort -u)
folders=" $(threaded | tr '\n' ' ')"
for room in $rooms; do
    has=''
    [[ $folders != *" tests/unit/$room "* && $folders != *" src/$room "* && $folders != *" src/"*([!\ ])"/$room "* &&
        $folders != *" $room "* ]] || has=1
    [[ $others != *" $room "* ]] || has=1
    # A room's name covers the rooms below it.
    in=''
    [[ $listed != *" unit/$room "* && $listed != *" unit/${room%%/*} "* ]] || in=1
    if [ -n "$has" ] && [ -n "$in" ]; then
        echo "Makefile:1: unit/$room is in ONE_THREAD, but a file of src/$room or tests/unit/$room has locks, atomics or threads"
        status=1
    elif [ -z "$has" ] && [ -z "$in" ]; then
        echo "Makefile:1: unit/$room has no locks and no threads: ONE_THREAD lacks it (or, where its tests start others' threads, tests/lint/check_one_thread.sh)"
        status=1
    fi
done
exit $status
