/*
 * The body of one request, collected in one piece, which the JSON reader needs. Only received bytes
 * use memory, whatever length the client announced, and they are charged to a budget that all
 * requests of a listener share.
 *
 * Up to 1 MiB a body is on the heap. A larger one has its own mapping, which goes back to the
 * kernel in one piece and leaves no hole in the heap. If the length is known, there is one
 * allocation and no copying; the kernel provides pages as they are written.
 *
 * Threads: a body belongs to one thread at a time; the budget is shared.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes that the requests of a listener hold: bodies, and answers that have not left. */
struct byte_budget {
    size_t max;
    _Atomic size_t used;
};

/* Charges n bytes. Returns false, and charges nothing, if the budget is too small. A request that
 * already holds all charged bytes itself (`own`) may exceed the budget: no other request would give
 * bytes back. */
bool byte_budget_charge(struct byte_budget *budget, size_t n, size_t own);
/* Charges n bytes, even if the budget is too small. */
void byte_budget_force(struct byte_budget *budget, size_t n);
void byte_budget_give_back(struct byte_budget *budget, size_t n);

/* All zero is an empty body. */
struct body {
    char *p; /* owned */
    size_t n, cap;
    bool mapped;                /* by mmap(), otherwise by malloc() */
    struct byte_budget *budget; /* charged with n bytes; NULL while empty */
};

#define BODY_LENGTH_UNKNOWN SIZE_MAX

/* Adds bytes; `expected` is the length of the whole body, or BODY_LENGTH_UNKNOWN. With `force`, the
 * bytes are charged even beyond the budget. Returns 0, -ENOBUFS (the budget is too small) or
 * -ENOMEM. */
int body_append(struct body *b, struct byte_budget *budget, struct str bytes, size_t expected,
                bool force) MUST_CHECK;
/* Frees the body and gives its bytes back to the budget. The body is empty then. */
void body_done(struct body *b);
