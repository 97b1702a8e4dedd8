#include "explain/ring.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct place {
    uint32_t n;
    char text[LIMIT_DECISION_BYTES];
};

/* Keys stand apart from texts, so that a search reads few pages. */
struct ring {
    pthread_mutex_t mutex; /* guards what follows, but for capacity */
    uint64_t added;
    uint32_t capacity;
    struct hash128 *keys; /* [capacity]; that of number n is at (n - 1) % capacity */
    struct place *places; /* [capacity] */
};

int ring_new(uint32_t capacity, struct ring **ret) {
    struct ring *r = calloc(1, sizeof *r);
    if (r == NULL)
        return -ENOMEM;
    r->capacity = capacity;
    r->keys = calloc(capacity, sizeof *r->keys);
    r->places = calloc(capacity, sizeof *r->places);
    if (r->keys == NULL || r->places == NULL || pthread_mutex_init(&r->mutex, NULL) != 0) {
        free(r->keys);
        free(r->places);
        free(r);
        return -ENOMEM;
    }
    *ret = r;
    return 0;
}

void ring_free(struct ring *r) {
    if (r == NULL)
        return;
    (void)pthread_mutex_destroy(&r->mutex); /* fails only while it is held */
    free(r->keys);
    free(r->places);
    free(r);
}

uint64_t ring_add(struct ring *r, struct hash128 key, struct str text) {
    assert(text.n <= LIMIT_DECISION_BYTES);
    (void)pthread_mutex_lock(&r->mutex); /* cannot fail on a mutex that is there */
    uint32_t at = (uint32_t)(r->added % r->capacity);
    uint64_t number = ++r->added;
    r->keys[at] = key;
    r->places[at].n = (uint32_t)text.n;
    if (text.n > 0)
        memcpy(r->places[at].text, text.p, text.n);
    (void)pthread_mutex_unlock(&r->mutex);
    return number;
}

struct ring_size ring_size(struct ring *r) {
    (void)pthread_mutex_lock(&r->mutex);
    struct ring_size size = {r->added, r->capacity};
    (void)pthread_mutex_unlock(&r->mutex);
    return size;
}

/* The number of the newest that fits, or 0. The mutex is held. */
static uint64_t search(const struct ring *r, const struct hash128 *key, uint64_t before) {
    uint64_t newest = before > r->added ? r->added : before - 1;
    uint64_t oldest = r->added > r->capacity ? r->added - r->capacity + 1 : 1;
    if (newest < oldest)
        return 0;
    uint32_t at = (uint32_t)((newest - 1) % r->capacity);
    for (uint64_t number = newest; number >= oldest; number--) {
        if (key == NULL || (r->keys[at].a == key->a && r->keys[at].b == key->b))
            return number;
        at = (at == 0 ? r->capacity : at) - 1;
    }
    return 0;
}

bool ring_find(struct ring *r, const struct hash128 *key, uint64_t before, struct ring_entry *ret) {
    if (before == 0)
        return false;
    (void)pthread_mutex_lock(&r->mutex);
    uint64_t number = search(r, key, before);
    if (number != 0) {
        const struct place *place = &r->places[(number - 1) % r->capacity];
        ret->number = number;
        ret->n = place->n;
        memcpy(ret->text, place->text, place->n);
    }
    (void)pthread_mutex_unlock(&r->mutex);
    return number != 0;
}
