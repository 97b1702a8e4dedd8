/*
 * Counts the bytes that one session holds. Each session has some bytes for itself, so that other
 * sessions cannot block it. Beyond these bytes, all sessions share a budget.
 *
 * Threads: a struct belongs to the thread of its session; the budget is shared, without locks.
 */
#pragma once

#include "grpc/grpc.h"

struct grpc_held {
    struct grpc_budget *budget; /* borrowed */
    size_t bytes;
};

/* Adds n bytes. Returns false if neither the session nor the budget has room for them. */
bool grpc_hold(struct grpc_held *h, size_t n);
/* Gives back n of the held bytes. */
void grpc_let_go(struct grpc_held *h, size_t n);
