/*
 * Keeps bindings in the order in which their pods were counted, one at a time in a namespace.
 *
 * A pod is evaluated as if the pods reserved before it were bound already. So the API server must
 * not see this pod's binding before the bindings of those pods: its history would show states that
 * no evaluation allowed. If one of the earlier bindings fails, this pod was evaluated with a pod
 * that never ran on that node. Pods of different namespaces do not count each other.
 *
 * Any thread may call.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct bind_queue;

/* One binding, as a member of the caller's struct. The ticket is the caller's until it joins. */
struct bind_ticket {
    struct str namespace;
    struct bind_ticket *next; /* belongs to the queue */
};

/* Returns 0 or -ENOMEM. */
int bind_queue_new(struct bind_queue **ret) MUST_CHECK;
void bind_queue_free(struct bind_queue *q); /* NULL is fine */

enum bind_turn { BIND_REFUSED, BIND_WAITS, BIND_FIRST };
/* Calls `reserve` and, unless that returns false, puts the ticket at the end of its namespace's
 * queue. Both happen under the queue's lock, so a pod that was evaluated with this reservation
 * joins later. */
enum bind_turn bind_queue_join(struct bind_queue *q, struct bind_ticket *t,
                               bool (*reserve)(struct bind_ticket *t)) MUST_CHECK;
/* Ends the turn of a binding that succeeded. Returns the ticket whose turn is next, or NULL. */
struct bind_ticket *bind_queue_next(struct bind_queue *q, struct bind_ticket *t) MUST_CHECK;
/* Ends the turn of a binding that failed: removes `t` and all tickets that wait behind it, and
 * calls `undo` with them as a list, under the queue's lock. So a ticket that joins later was
 * evaluated without their pods, or its `reserve` can see that it was evaluated with them. */
void bind_queue_abandon(struct bind_queue *q, struct bind_ticket *t,
                        void (*undo)(struct bind_ticket *list));
