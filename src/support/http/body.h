/*
 * The body of one request, collected in one piece, which the JSON reader needs. It uses memory for
 * the bytes that have arrived, whatever length the client announced, and charges it to a budget
 * that all requests of a listener share.
 *
 * Up to 1 MiB a body lives on the heap; a larger one gets a mapping of its own, which goes back to
 * the kernel in one piece and leaves no hole in the heap. With a known length there is one
 * allocation and no second copy; the kernel gives pages as they are written to.
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

/* Charges n bytes. False if that is too much: nothing is charged. A request that holds all charged
 * bytes itself (`own`) may exceed the budget: there is nobody to wait for. */
bool byte_budget_charge(struct byte_budget *budget, size_t n, size_t own);
/* Charges n bytes, whether that is too much or not. */
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

/* Adds bytes; `expected` is the length of the whole body if it is known. With `force` they are
 * charged whatever the budget. 0, -ENOBUFS when the budget does not allow it, or -ENOMEM. */
int body_append(struct body *b, struct byte_budget *budget, struct str bytes, size_t expected,
                bool force) MUST_CHECK;
/* Frees the body and gives its bytes back to the budget. The body is empty then. */
void body_done(struct body *b);
