#include "net/shares.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static struct list *named_like(struct shares *s, const struct share *parent,
                               const struct address_key *key) {
    uint64_t hash = hash_mix(hash_bytes(key->bytes, sizeof key->bytes), (uintptr_t)parent);
    return &s->by_key[hash & s->mask];
}

static struct list *sized_like(struct shares *s, const struct share *parent, unsigned size) {
    return &s->by_size[hash_mix((uintptr_t)parent, size) & s->mask];
}

/* Returns the child with this size that has had it for longest, or NULL. */
static struct share *find_sized(struct shares *s, const struct share *parent, unsigned size) {
    struct list *head = sized_like(s, parent, size);
    for (struct list *at = head->next; at != head; at = at->next) {
        struct share *found = LIST_ITEM(struct share, sized, at);
        if (found->parent == parent && found->size == size)
            return found;
    }
    return NULL;
}

static struct share *find_named(struct shares *s, const struct share *parent,
                                const struct address_key *key) {
    struct list *head = named_like(s, parent, key);
    for (struct list *at = head->next; at != head; at = at->next) {
        struct share *found = LIST_ITEM(struct share, named, at);
        if (found->parent == parent && memcmp(&found->key, key, sizeof *key) == 0)
            return found;
    }
    return NULL;
}

bool shares_init(struct shares *s, unsigned connections) {
    /* at worst each connection, and one newcomer, has its own address and its own network */
    const unsigned count = 2 * (connections + 1);
    unsigned heads = 16; /* a search through a few entries of a bucket is quick */
    while (heads < count / 4)
        heads *= 2;
    *s = (struct shares){.count = count, .mask = heads - 1};
    s->all = calloc(count, sizeof *s->all);
    s->by_key = calloc(heads, sizeof *s->by_key);
    s->by_size = calloc(heads, sizeof *s->by_size);
    if (s->all == NULL || s->by_key == NULL || s->by_size == NULL)
        return false;
    list_init(&s->unused);
    for (unsigned i = 0; i < heads; i++) {
        list_init(&s->by_key[i]);
        list_init(&s->by_size[i]);
    }
    return true;
}

void shares_done(struct shares *s) {
    free(s->all);
    free(s->by_key);
    free(s->by_size);
    *s = (struct shares){.all = NULL};
}

static struct share *take(struct shares *s) {
    if (list_empty(&s->unused))
        return s->fresh < s->count ? &s->all[s->fresh++] : NULL;
    struct share *share = LIST_ITEM(struct share, named, s->unused.next);
    list_remove(&share->named);
    return share;
}

static struct share *find_or_make(struct shares *s, struct share *parent,
                                  const struct address_key *key) {
    struct share *share = find_named(s, parent, key);
    if (share != NULL || (share = take(s)) == NULL)
        return share;
    *share = (struct share){.parent = parent, .key = *key};
    list_init(&share->sized);
    list_init(&share->idle);
    list_init(&share->busy);
    list_append(named_like(s, parent, key), &share->named);
    parent->children++;
    return share;
}

struct share *shares_of(struct shares *s, const struct address_key *address) {
    const struct address_key network = address_key_network(*address);
    struct share *parent = find_or_make(s, &s->everybody, &network);
    return parent != NULL ? find_or_make(s, parent, address) : NULL;
}

void shares_drop(struct shares *s, struct share *address) {
    for (struct share *parent, *at = address; at->parent != NULL; at = parent) {
        parent = at->parent;
        if (at->size > 0 || at->children > 0)
            return;
        list_remove(&at->named);
        list_append(&s->unused, &at->named);
        parent->children--;
    }
}

void shares_grow(struct shares *s, struct share *address) {
    s->everybody.size++;
    for (struct share *at = address; at->parent != NULL; at = at->parent) {
        list_remove(&at->sized);
        at->size++;
        list_append(sized_like(s, at->parent, at->size), &at->sized);
        if (at->parent->largest < at->size)
            at->parent->largest = at->size;
    }
}

void shares_shrink(struct shares *s, struct share *address) {
    s->everybody.size--;
    for (struct share *at = address; at->parent != NULL; at = at->parent) {
        list_remove(&at->sized);
        at->size--;
        if (at->size > 0)
            list_append(sized_like(s, at->parent, at->size), &at->sized);
        if (at->parent->largest == at->size + 1 && find_sized(s, at->parent, at->size + 1) == NULL)
            at->parent->largest--; /* no other child has the old size, so the largest size is now
                                      one less */
    }
    shares_drop(s, address);
}

struct share *shares_largest(struct shares *s) {
    struct share *network = find_sized(s, &s->everybody, s->everybody.largest);
    return network != NULL ? find_sized(s, network, network->largest) : NULL;
}

bool shares_exceeds(const struct share *a, const struct share *b) {
    if (a->parent != b->parent)
        return a->parent->size > b->parent->size + 1;
    return a->size > b->size + 1;
}
