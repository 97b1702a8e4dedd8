#include "base/turns.h"

#include "base/hash.h"

struct turn_owner {
    struct list waiting; /* in turns.waiting while one of its items waits */
    struct list ready;   /* list of struct turn of the waiting items */
    struct hash128 key;  /* hash of the owner's string, used instead of the string */
    uint32_t id;
    uint32_t items;
    uint64_t debt; /* cost of the owner's served items, minus one quantum for each turn that it has
                      lost */
};

void turns_init(struct turns *t, uint64_t quantum) {
    *t = (struct turns){.quantum = quantum};
    list_init(&t->waiting);
    pool_init(&t->owners, sizeof(struct turn_owner));
}

void turns_done(struct turns *t) {
    hashmap_done(&t->index);
    pool_done(&t->owners);
}

static bool has_key(const void *ctx, uint32_t id, const void *wanted) {
    const struct turns *t = ctx;
    const struct turn_owner *owner = pool_at(&t->owners, id);
    const struct hash128 *key = wanted;
    return hash128_equal(owner->key, *key);
}

static struct turn_owner *add(struct turns *t, struct hash128 key) {
    const uint32_t id = hashmap_reserve(&t->index) == 0 ? pool_take(&t->owners) : POOL_NONE;
    if (id == POOL_NONE)
        return NULL;
    struct turn_owner *owner = pool_at(&t->owners, id);
    owner->key = key;
    owner->id = id;
    list_init(&owner->waiting);
    list_init(&owner->ready);
    hashmap_insert(&t->index, key.a, id);
    return owner;
}

bool turns_join(struct turns *t, struct turn *turn, struct str owner) {
    const struct hash128 key = hash_bytes128(owner.p, owner.n);
    const uint32_t id = hashmap_find(&t->index, key.a, has_key, t, &key);
    turn->owner = id != HASHMAP_NONE ? pool_at(&t->owners, id) : add(t, key);
    if (turn->owner == NULL)
        return false;
    turn->owner->items++;
    list_init(&turn->waiting);
    return true;
}

void turns_leave(struct turns *t, struct turn *turn) {
    struct turn_owner *owner = turn->owner;
    if (owner == NULL)
        return;
    turns_give_up(turn);
    turn->owner = NULL;
    if (--owner->items > 0)
        return;
    hashmap_remove(&t->index, owner->key.a, owner->id);
    pool_give(&t->owners, owner->id);
}

void turns_wait(struct turns *t, struct turn *turn) {
    struct turn_owner *owner = turn->owner;
    if (turns_waits(turn))
        return;
    list_append(&owner->ready, &turn->waiting);
    if (list_empty(&owner->waiting))
        list_append(&t->waiting, &owner->waiting);
}

void turns_give_up(struct turn *turn) {
    list_remove(&turn->waiting);
    if (list_empty(&turn->owner->ready))
        list_remove(&turn->owner->waiting);
}

bool turns_waits(const struct turn *turn) {
    return !list_empty(&turn->waiting);
}

static bool is_free(const struct turns *t, const struct turn_owner *owner) {
    return t->quantum == 0 || owner->debt < t->quantum;
}

bool turns_any_free(const struct turns *t) {
    struct list *at = t->waiting.next;
    while (at != &t->waiting && !is_free(t, LIST_ITEM(struct turn_owner, waiting, at)))
        at = at->next;
    return at != &t->waiting;
}

/* Returns the first owner that does not lose its turn. An owner that waits alone loses nothing. */
static struct turn_owner *next_owner(struct turns *t) {
    for (;;) {
        struct turn_owner *owner = LIST_ITEM(struct turn_owner, waiting, t->waiting.next);
        if (t->waiting.next == t->waiting.previous)
            owner->debt = 0;
        if (is_free(t, owner))
            return owner;
        owner->debt -= t->quantum;
        list_remove(&owner->waiting);
        list_append(&t->waiting, &owner->waiting);
    }
}

struct turn *turns_next(struct turns *t) {
    if (!turns_any(t))
        return NULL;
    struct turn_owner *owner = next_owner(t);
    struct turn *turn = LIST_ITEM(struct turn, waiting, owner->ready.next);
    list_remove(&turn->waiting);
    list_remove(&owner->waiting);
    if (!list_empty(&owner->ready))
        list_append(&t->waiting, &owner->waiting);
    return turn;
}

void turns_charge(struct turns *t, struct turn *turn, uint64_t cost) {
    if (t->quantum > 0)
        turn->owner->debt += cost;
}
