/*
 * The thread sanitizer skips the rooms of ONE_THREAD in the Makefile, because their tests start no
 * thread. `make test` names these rooms in the environment: a program of these rooms fails at its
 * end if it has started a thread.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <unistd.h>

/* "build/tests/unit/engine/test_engine" belongs to the rooms unit/engine and unit. */
static bool is_of(const char *program, const char *room, size_t n) {
    const char *tests = strstr(program, "tests/");
    return tests != NULL && strncmp(tests + strlen("tests/"), room, n) == 0 &&
           tests[strlen("tests/") + n] == '/';
}

__attribute__((destructor)) static void look_for_threads(void) {
    const char *rooms = getenv("ONE_THREAD");
    if (rooms == NULL || __libc_single_threaded)
        return;
    for (size_t n; *rooms != '\0'; rooms += n) {
        rooms += strspn(rooms, " ");
        n = strcspn(rooms, " ");
        if (!is_of(program_invocation_name, rooms, n))
            continue;
        (void)fprintf(stderr, "starts a thread, but %.*s is in ONE_THREAD of the Makefile\n",
                      (int)n, rooms);
        (void)fflush(NULL);
        _exit(1);
    }
}
