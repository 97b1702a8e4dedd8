/* What every fuzzer has. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Called by libFuzzer, which has no header. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
/* What a fuzzer defines. */
static int try_input(const uint8_t *bytes, size_t n);

/* What does not hold is a finding. */
static inline void require_at(bool condition, const char *what, int line) {
    if (condition)
        return;
    (void)fprintf(stderr, "line %d: does not hold: %s\n", line, what);
    abort();
}
#define require(condition) require_at((condition), #condition, __LINE__)

/* The bytes as a file without a disk: its path, until the next call. */
static inline const char *as_file(const uint8_t *bytes, size_t n) {
    static char path[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("input", MFD_CLOEXEC);
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* fits */
    }
    require(fd >= 0 && ftruncate(fd, 0) == 0);
    require(pwrite(fd, bytes, n, 0) == (ssize_t)n);
    return path;
}

static inline int64_t cpu_us(void) {
    struct timespec now;
    require(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* An input that takes long is a finding, however busy the machine is: CPU time is this thread's
 * own. The sanitizers make it some ten times what it is otherwise. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    enum { BASE_US = 500000, US_PER_BYTE = 20 };
    int64_t began = cpu_us();
    int r = try_input(bytes, n);
    require(cpu_us() - began < BASE_US + (int64_t)n * US_PER_BYTE);
    return r;
}
