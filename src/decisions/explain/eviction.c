#include "explain/eviction.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define NONE EVICTION_NONE
/* Shares are numbered from 1, so that a zeroed table of shares needs no memory until it is used. */
enum { NO_SHARE = 0 };

struct place {
    uint32_t older, newer; /* neighbours by age among all places */
    uint32_t next;         /* the next newer place of its share */
};

struct share {
    uint64_t owner;
    uint32_t first, last;           /* its oldest and its newest place */
    uint32_t count;                 /* number of its places */
    uint32_t previous_equal, equal; /* neighbours in the list of shares of this size */
    uint32_t chain; /* next share with the same low bits of its owner, or next free share */
};

/* There are at most as many shares as places, because no share is empty. */
struct eviction {
    uint32_t capacity, taken;
    struct place *places;     /* [capacity] */
    uint32_t oldest, newest;  /* the oldest and the newest place */
    struct share *shares;     /* [capacity + 1] */
    uint32_t fresh, free;     /* the first share never used; the list of freed shares */
    uint32_t *chains;         /* [mask + 1]: first share by the low bits of its owner */
    uint32_t mask;            /* a power of two less one */
    uint32_t *of_count, most; /* [capacity + 1]: lists of shares by size; the largest size */
};

int eviction_new(uint32_t places, struct eviction **ret) {
    struct eviction *s = calloc(1, sizeof *s);
    if (s == NULL)
        return -ENOMEM;
    *s = (struct eviction){.capacity = places, .oldest = NONE, .newest = NONE, .fresh = 1};
    while (s->mask + 1 < places)
        s->mask = 2 * s->mask + 1;
    s->places = calloc(places, sizeof *s->places);
    s->shares = calloc((size_t)places + 1, sizeof *s->shares);
    s->chains = calloc((size_t)s->mask + 1, sizeof *s->chains);
    s->of_count = calloc((size_t)places + 1, sizeof *s->of_count);
    if (s->places == NULL || s->shares == NULL || s->chains == NULL || s->of_count == NULL) {
        eviction_free(s);
        return -ENOMEM;
    }
    *ret = s;
    return 0;
}

void eviction_free(struct eviction *s) {
    if (s == NULL)
        return;
    free(s->places);
    free(s->shares);
    free(s->chains);
    free(s->of_count);
    free(s);
}

/* ---- shares by size ---- */

static void leave_equals(struct eviction *s, uint32_t id) {
    const struct share *share = &s->shares[id];
    if (share->previous_equal == NO_SHARE)
        s->of_count[share->count] = share->equal;
    else
        s->shares[share->previous_equal].equal = share->equal;
    if (share->equal != NO_SHARE)
        s->shares[share->equal].previous_equal = share->previous_equal;
}

static void join_equals(struct eviction *s, uint32_t id) {
    struct share *share = &s->shares[id];
    uint32_t *head = &s->of_count[share->count];
    share->previous_equal = NO_SHARE;
    share->equal = *head;
    if (*head != NO_SHARE)
        s->shares[*head].previous_equal = id;
    *head = id;
}

/* Changes a share's size by one, so the largest size shrinks by one at most. */
static void resize(struct eviction *s, uint32_t id, uint32_t count) {
    leave_equals(s, id);
    s->shares[id].count = count;
    join_equals(s, id);
    if (count > s->most)
        s->most = count;
    else if (s->of_count[s->most] == NO_SHARE)
        s->most--;
}

/* ---- shares by owner ---- */

static uint32_t *chain_of(struct eviction *s, uint64_t owner) {
    return &s->chains[owner & s->mask];
}

static uint32_t find(struct eviction *s, uint64_t owner) {
    uint32_t id = *chain_of(s, owner);
    while (id != NO_SHARE && s->shares[id].owner != owner)
        id = s->shares[id].chain;
    return id;
}

/* Returns a new share without places; the caller adds a place at once. */
static uint32_t open_share(struct eviction *s, uint64_t owner) {
    uint32_t id = s->free, *chain = chain_of(s, owner);
    if (id != NO_SHARE)
        s->free = s->shares[id].chain;
    else
        id = s->fresh++;
    s->shares[id] = (struct share){.owner = owner, .first = NONE, .last = NONE, .chain = *chain};
    *chain = id;
    join_equals(s, id);
    return id;
}

static void close_share(struct eviction *s, uint32_t id) {
    uint32_t *link = chain_of(s, s->shares[id].owner);
    leave_equals(s, id);
    while (*link != id)
        link = &s->shares[*link].chain;
    *link = s->shares[id].chain;
    s->shares[id].chain = s->free;
    s->free = id;
}

/* ---- places ---- */

/* Removes the oldest place of a share from the share and from the order by age. */
static uint32_t give_up(struct eviction *s, uint32_t id) {
    struct share *share = &s->shares[id];
    uint32_t at = share->first;
    const struct place *place = &s->places[at];
    *(place->older == NONE ? &s->oldest : &s->places[place->older].newer) = place->newer;
    *(place->newer == NONE ? &s->newest : &s->places[place->newer].older) = place->older;
    share->first = place->next;
    if (share->first == NONE)
        share->last = NONE;
    resize(s, id, share->count - 1);
    return at;
}

static void put(struct eviction *s, uint32_t id, uint32_t at) {
    struct share *share = &s->shares[id];
    s->places[at] = (struct place){.older = s->newest, .newer = NONE, .next = NONE};
    *(s->newest == NONE ? &s->oldest : &s->places[s->newest].newer) = at;
    s->newest = at;
    *(share->last == NONE ? &share->first : &s->places[share->last].next) = at;
    share->last = at;
    resize(s, id, share->count + 1);
}

/* Returns a place. If all places are taken, the largest share gives up a place; if several shares
 * are largest, the owner's share does. */
static uint32_t make_room(struct eviction *s, uint32_t own) {
    if (s->taken < s->capacity)
        return s->taken++;
    bool is_largest = own != NO_SHARE && s->shares[own].count == s->most;
    uint32_t from = is_largest ? own : s->of_count[s->most];
    uint32_t at = give_up(s, from);
    if (from != own && s->shares[from].count == 0)
        close_share(s, from);
    return at;
}

uint32_t eviction_place(struct eviction *s, uint64_t owner) {
    uint32_t own = find(s, owner);
    uint32_t at = make_room(s, own);
    if (own == NO_SHARE)
        own = open_share(s, owner);
    put(s, own, at);
    return at;
}

uint32_t eviction_newest(const struct eviction *s) {
    return s->newest;
}

uint32_t eviction_older(const struct eviction *s, uint32_t place) {
    return s->places[place].older;
}
