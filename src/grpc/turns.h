/*
 * Whose connection is served next. Callers of different addresses take turns, and the connections
 * of one address in theirs; so who asks much, on however many connections, waits for itself. An
 * address of IPv6 stands for its /64, all of which may be one caller's.
 *
 * Joining takes a step for each address that is there, everything else constant time. Not
 * thread-safe.
 */
#pragma once

#include "base/list.h"
#include "net/address.h"

/* Of one worker. */
struct turns {
    struct list waiting; /* struct caller, who have a connection that waits; the next one first */
    struct list callers; /* all */
};

/* A connection's. */
struct turn {
    struct caller *caller; /* NULL: it has not joined */
    struct list waiting;   /* in the caller's list, or in none */
};

void turns_init(struct turns *t);
/* All zero at first. False: no memory. */
bool turns_join(struct turns *t, struct turn *turn, const struct address_key *address) MUST_CHECK;
/* It may not have joined. */
void turns_leave(struct turn *turn);
/* It waits from now on, if it does not yet. */
void turns_wait(struct turns *t, struct turn *turn);
/* The one whose turn it is; it waits no more. NULL: none waits. */
struct turn *turns_next(struct turns *t);
