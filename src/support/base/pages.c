#include "base/pages.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LARGE = 128 << 10
}; /* for smaller arrays, a page fault for each page costs more than it
      saves */

static bool has_pages(size_t bytes) {
    return bytes >= LARGE;
}

static void *allocate(size_t bytes) {
    if (!has_pages(bytes))
        return malloc(bytes);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void *pages_resize(void *p, size_t old, size_t bytes) {
    if (p != NULL && !has_pages(old) && !has_pages(bytes))
        return realloc(p, bytes);
    if (p != NULL && has_pages(old) && has_pages(bytes)) {
        void *moved = mremap(p, old, bytes, MREMAP_MAYMOVE);
        return moved == MAP_FAILED ? NULL : moved;
    }
    void *to = allocate(bytes);
    if (to == NULL || p == NULL)
        return to;
    memcpy(to, p, old < bytes ? old : bytes);
    pages_free(p, old);
    return to;
}

void pages_free(void *p, size_t bytes) {
    if (p != NULL && has_pages(bytes))
        (void)munmap(p, bytes); /* fails only for memory that is not ours */
    else
        free(p);
}
