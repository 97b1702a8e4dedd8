/*
 * Bindings in the order in which their pods were counted, one at a time in a namespace.
 *
 * A pod is judged as if those reserved before it were bound already. The API server must not see it
 * any sooner, or its history shows moments that no verdict allowed; and when one of those before it
 * fails, it has been judged on something that never was. Pods of different namespaces do not count
 * each other.
 *
 * Any thread may call.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct bind_queue;

/* One binding; a member of what its owner knows of it, and the owner's until it joins. */
struct bind_ticket {
    struct str namespace;
    struct bind_ticket *next; /* the queue's */
};

/* 0 or -ENOMEM. */
int bind_queue_new(struct bind_queue **ret) MUST_CHECK;
void bind_queue_free(struct bind_queue *q); /* NULL is fine */

enum bind_turn { BIND_REFUSED, BIND_WAITS, BIND_FIRST };
/* Calls `reserve` and, unless that returns false, puts the ticket at the end of its namespace's
 * queue in the same moment: a pod that is judged on that reservation joins later. */
enum bind_turn bind_queue_join(struct bind_queue *q, struct bind_ticket *t,
                               bool (*reserve)(struct bind_ticket *t)) MUST_CHECK;
/* Ends a turn: returns whose is next, or NULL. */
struct bind_ticket *bind_queue_next(struct bind_queue *q, struct bind_ticket *t) MUST_CHECK;
/* Ends a turn that came to nothing: takes `t` and all that wait behind it out, as a list, and calls
 * `undo` with it in the same moment: a ticket that joins later was judged on what is true now, or
 * `reserve` knows that it was not. */
void bind_queue_abandon(struct bind_queue *q, struct bind_ticket *t,
                        void (*undo)(struct bind_ticket *list));
