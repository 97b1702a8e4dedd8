/*
 * Counts the bytes that one session holds. Each session has some for itself, so that others cannot
 * block it; beyond them all sessions share a budget.
 *
 * Threads: a struct belongs to the thread of its session; the budget is shared, without locks.
 */
#pragma once

#include "grpc/grpc.h"

struct grpc_held {
    struct grpc_budget *budget; /* borrowed */
    size_t bytes;
};

/* False: there is no room, neither of the session nor of all. */
bool grpc_hold(struct grpc_held *h, size_t n);
/* So many of those that it holds. */
void grpc_let_go(struct grpc_held *h, size_t n);
