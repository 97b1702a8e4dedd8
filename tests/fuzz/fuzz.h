/* What every fuzzer has. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Called by libFuzzer, which has no header. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* What does not hold is a finding. */
static inline void require(bool condition) {
    if (!condition)
        abort();
}

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
