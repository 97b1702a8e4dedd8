/*
 * How a body grows: if its length is known, it gets all its memory at once. Otherwise its memory
 * doubles; a mapping doubles by mremap(), which moves page tables and not bytes. MAP_NORESERVE: a
 * client may send fewer bytes than it promised. The budget is charged for received bytes only.
 */
#include "http/body.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST_BYTES = 16 << 10, HEAP_BYTES = 1 << 20 };

static int grow_heap(struct body *b, size_t cap) {
    char *p = realloc(b->p, cap);
    if (p == NULL)
        return -ENOMEM;
    b->p = p;
    b->cap = cap;
    return 0;
}

static int grow_mapping(struct body *b, size_t cap) {
    void *p = b->mapped ? mremap(b->p, b->cap, cap, MREMAP_MAYMOVE)
                        : mmap(NULL, cap, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return -ENOMEM;
    if (!b->mapped && b->n > 0)
        memcpy(p, b->p, b->n);
    if (!b->mapped)
        free(b->p);
    b->p = p;
    b->cap = cap;
    b->mapped = true;
    return 0;
}

/* Makes room for `need` bytes in all. */
static int make_room(struct body *b, size_t need, size_t expected) {
    size_t cap = b->cap < FIRST_BYTES / 2 ? FIRST_BYTES : 2 * b->cap;
    if (cap < need)
        cap = need;
    if (expected != BODY_LENGTH_UNKNOWN && expected >= need)
        cap = expected;
    return cap <= HEAP_BYTES ? grow_heap(b, cap) : grow_mapping(b, cap);
}

/* Charges n bytes. Exceeds the maximum only if less than `alone` was charged before. */
static bool charge(struct byte_budget *budget, size_t n, size_t alone) {
    size_t before = atomic_fetch_add_explicit(&budget->used, n, memory_order_relaxed);
    if (before + n <= budget->max || before < alone)
        return true;
    byte_budget_give_back(budget, n);
    return false;
}

bool byte_budget_charge(struct byte_budget *budget, size_t n, size_t own) {
    return charge(budget, n, own + 1);
}

void byte_budget_force(struct byte_budget *budget, size_t n) {
    (void)atomic_fetch_add_explicit(&budget->used, n, memory_order_relaxed);
}

void byte_budget_give_back(struct byte_budget *budget, size_t n) {
    (void)atomic_fetch_sub_explicit(&budget->used, n, memory_order_relaxed);
}

int body_append(struct body *b, struct byte_budget *budget, struct str bytes, size_t expected,
                bool force) {
    const size_t n = bytes.n;
    if (force)
        byte_budget_force(budget, n);
    else if (!charge(budget, n, 0))
        return -ENOBUFS;
    int r = n > b->cap - b->n ? make_room(b, b->n + n, expected) : 0;
    if (r != 0) {
        byte_budget_give_back(budget, n);
        return r;
    }
    memcpy(b->p + b->n, bytes.p, n);
    b->n += n;
    b->budget = budget;
    return 0;
}

void body_done(struct body *b) {
    if (b->mapped)
        (void)munmap(b->p, b->cap); /* fails only for what was never mapped */
    else
        free(b->p);
    if (b->budget != NULL)
        byte_budget_give_back(b->budget, b->n);
    *b = (struct body){.p = NULL};
}
