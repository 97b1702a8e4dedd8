/*
 * A machine whose wall clock is wrong, for one process: preloaded (LD_PRELOAD), it adds the seconds
 * that stand in the file $WALL_CLOCK_FILE to CLOCK_REALTIME, whichever function asks. The file is
 * read at every look, so a test jumps by putting another one in its place (rename, so that it is
 * never half written). Other clocks, the dates of files and all waiting are left alone, as when an
 * administrator sets the date.
 *
 * Why not libfaketime: in Debian 12's (0.9.10) pthread_cond_timedwait() on CLOCK_MONOTONIC returns
 * at once, so that threads spin which should wait.
 *
 * Thread-safe, and touches neither errno nor the heap.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* What a text begins with; no strtoll(), which may want the locale. */
static long long number(const char *text, ssize_t n) {
    long long value = 0;
    for (ssize_t i = text[0] == '-'; i < n && text[i] >= '0' && text[i] <= '9'; i++)
        value = value * 10 + (text[i] - '0');
    return text[0] == '-' ? -value : value;
}

/* No file, or none that can be opened: no jump. */
static long long shift_s(void) {
    const char *path = getenv("WALL_CLOCK_FILE");
    char text[32] = "";
    int before = errno;
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        (void)close(fd);
    errno = before;
    return n > 0 ? number(text, n) : 0;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): glibc's names are reserved */
int clock_gettime(clockid_t id, struct timespec *at) {
    int r = (int)syscall(SYS_clock_gettime, id, at);
    if (r == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE || id == CLOCK_TAI))
        at->tv_sec += shift_s();
    return r;
}

int timespec_get(struct timespec *at, int base) {
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, at) == 0 ? base : 0;
}

time_t time(time_t *ret) {
    struct timespec at = {.tv_sec = 0};
    (void)clock_gettime(CLOCK_REALTIME, &at); /* cannot fail on Linux */
    if (ret != NULL)
        *ret = at.tv_sec;
    return at.tv_sec;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now = {.tv_sec = 0};
    (void)zone;                                /* obsolete, and always NULL */
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail on Linux */
    *at = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
