/*
 * All tickets are in one list, in the order in which they joined. It has an item for each open bind
 * call, a few hundred at most, so a search for a namespace walks through the list.
 */
#include "extender/bind_order.h"

#include "base/mutex.h"

#include <errno.h>
#include <stdlib.h>

struct bind_queue {
    struct mutex lock;
    struct bind_ticket *first, **end;
};

int bind_queue_new(struct bind_queue **ret) {
    struct bind_queue *q = calloc(1, sizeof *q);
    if (q == NULL)
        return -ENOMEM;
    mutex_init(&q->lock);
    q->end = &q->first;
    *ret = q;
    return 0;
}

void bind_queue_free(struct bind_queue *q) {
    if (q == NULL)
        return;
    mutex_done(&q->lock);
    free(q);
}

/* Returns the link to the namespace's first ticket, from `link` on; the last link if it has
 * none. */
static struct bind_ticket **find(struct bind_ticket **link, struct str namespace) {
    while (*link != NULL && !str_eq((*link)->namespace, namespace))
        link = &(*link)->next;
    return link;
}

static struct bind_ticket *take(struct bind_queue *q, struct bind_ticket **link) REQUIRES(q->lock) {
    struct bind_ticket *t = *link;
    if (t == NULL)
        return NULL;
    *link = t->next;
    if (q->end == &t->next)
        q->end = link;
    t->next = NULL;
    return t;
}

enum bind_turn bind_queue_join(struct bind_queue *q, struct bind_ticket *t,
                               bool (*reserve)(struct bind_ticket *t)) {
    enum bind_turn turn = BIND_REFUSED;
    mutex_lock(&q->lock);
    if (reserve(t)) {
        turn = *find(&q->first, t->namespace) == NULL ? BIND_FIRST : BIND_WAITS;
        t->next = NULL;
        *q->end = t;
        q->end = &t->next;
    }
    mutex_unlock(&q->lock);
    return turn;
}

struct bind_ticket *bind_queue_next(struct bind_queue *q, struct bind_ticket *t) {
    mutex_lock(&q->lock);
    (void)take(q, find(&q->first, t->namespace)); /* t itself: the first of its namespace */
    struct bind_ticket *next = *find(&q->first, t->namespace);
    mutex_unlock(&q->lock);
    return next;
}

void bind_queue_abandon(struct bind_queue *q, struct bind_ticket *t,
                        void (*undo)(struct bind_ticket *list)) {
    struct bind_ticket *list = NULL, **end = &list;
    mutex_lock(&q->lock);
    for (struct bind_ticket **link = find(&q->first, t->namespace); *link != NULL;
         link = find(link, t->namespace)) {
        *end = take(q, link);
        end = &(*end)->next;
    }
    undo(list);
    mutex_unlock(&q->lock);
}
