#include "grpc/turns.h"

#include <stdlib.h>
#include <string.h>

struct caller {
    struct list link;    /* in turns.callers */
    struct list waiting; /* in turns.waiting while one of its connections waits */
    struct list ready;   /* struct turn, those that wait */
    struct address_key key;
    unsigned connections;
};

void turns_init(struct turns *t) {
    list_init(&t->waiting);
    list_init(&t->callers);
}

static struct address_key caller_key(const struct address_key *address) {
    static const uint8_t ipv4[12] = {[10] = 0xff, [11] = 0xff};
    return memcmp(address->bytes, ipv4, sizeof ipv4) == 0 ? *address
                                                          : address_key_network(*address);
}

static struct caller *find(struct turns *t, const struct address_key *key) {
    for (struct list *at = t->callers.next; at != &t->callers; at = at->next) {
        struct caller *caller = LIST_ITEM(struct caller, link, at);
        if (memcmp(&caller->key, key, sizeof *key) == 0)
            return caller;
    }
    return NULL;
}

static struct caller *add(struct turns *t, const struct address_key *key) {
    struct caller *caller = calloc(1, sizeof *caller);
    if (caller == NULL)
        return NULL;
    caller->key = *key;
    list_init(&caller->waiting);
    list_init(&caller->ready);
    list_append(&t->callers, &caller->link);
    return caller;
}

bool turns_join(struct turns *t, struct turn *turn, const struct address_key *address) {
    const struct address_key key = caller_key(address);
    struct caller *caller = find(t, &key);
    if (caller == NULL)
        caller = add(t, &key);
    if (caller == NULL)
        return false;
    caller->connections++;
    turn->caller = caller;
    list_init(&turn->waiting);
    return true;
}

void turns_leave(struct turn *turn) {
    struct caller *caller = turn->caller;
    if (caller == NULL)
        return;
    turn->caller = NULL;
    list_remove(&turn->waiting);
    if (list_empty(&caller->ready))
        list_remove(&caller->waiting);
    if (--caller->connections > 0)
        return;
    list_remove(&caller->link);
    free(caller);
}

void turns_wait(struct turns *t, struct turn *turn) {
    struct caller *caller = turn->caller;
    if (!list_empty(&turn->waiting))
        return;
    list_append(&caller->ready, &turn->waiting);
    if (list_empty(&caller->waiting))
        list_append(&t->waiting, &caller->waiting);
}

struct turn *turns_next(struct turns *t) {
    if (list_empty(&t->waiting))
        return NULL;
    struct caller *caller = LIST_ITEM(struct caller, waiting, t->waiting.next);
    struct turn *turn = LIST_ITEM(struct turn, waiting, caller->ready.next);
    list_remove(&turn->waiting);
    list_remove(&caller->waiting);
    if (!list_empty(&caller->ready))
        list_append(&t->waiting, &caller->waiting);
    return turn;
}
