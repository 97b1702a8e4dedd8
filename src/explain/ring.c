#include "explain/ring.h"

#include "base/hash.h"
#include "base/mutex.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* The bytes begin with the text, and end with the namespace and the name. */
struct place {
    uint16_t text_n, namespace_n, name_n;
    char bytes[LIMIT_DECISION_BYTES];
};
_Static_assert(LIMIT_DECISION_BYTES <= UINT16_MAX, "lengths of a place are of 16 bits");

/* Hashes of subjects stand apart from texts, so that a search reads few pages. */
struct ring {
    struct mutex mutex; /* guards what follows, but for capacity */
    uint64_t added;
    uint32_t capacity;
    uint64_t *hashes;     /* [capacity]; that of number n is at (n - 1) % capacity */
    struct place *places; /* [capacity] */
};

/* ---- subjects ---- */

static uint64_t hash_of(const struct ring_subject *s) {
    return hash_mix(hash_mix(0, hash_str(s->namespace)), hash_str(s->name));
}

static bool is_kept(const struct ring_subject *s) {
    return s->namespace.n <= LIMIT_DECISION_SUBJECT &&
           s->name.n <= LIMIT_DECISION_SUBJECT - s->namespace.n;
}

size_t ring_room(const struct ring_subject *s) {
    return LIMIT_DECISION_BYTES - (is_kept(s) ? s->namespace.n + s->name.n : 0);
}

static void put_subject(struct place *place, const struct ring_subject *s) {
    place->namespace_n = place->name_n = 0;
    if (!is_kept(s))
        return;
    place->namespace_n = (uint16_t)s->namespace.n;
    place->name_n = (uint16_t)s->name.n;
    char *at = place->bytes + ring_room(s);
    if (s->namespace.n > 0)
        memcpy(at, s->namespace.p, s->namespace.n);
    if (s->name.n > 0)
        memcpy(at + s->namespace.n, s->name.p, s->name.n);
}

static bool is_about(const struct place *place, const struct ring_subject *s) {
    const char *name = place->bytes + sizeof place->bytes - place->name_n;
    return str_eq((struct str){name, place->name_n}, s->name) &&
           str_eq((struct str){name - place->namespace_n, place->namespace_n}, s->namespace);
}

/* ---- life ---- */

int ring_new(uint32_t capacity, struct ring **ret) {
    struct ring *r = calloc(1, sizeof *r);
    if (r == NULL)
        return -ENOMEM;
    r->capacity = capacity;
    r->hashes = calloc(capacity, sizeof *r->hashes);
    r->places = calloc(capacity, sizeof *r->places);
    if (r->hashes == NULL || r->places == NULL) {
        free(r->hashes);
        free(r->places);
        free(r);
        return -ENOMEM;
    }
    mutex_init(&r->mutex);
    *ret = r;
    return 0;
}

void ring_free(struct ring *r) {
    if (r == NULL)
        return;
    mutex_done(&r->mutex);
    free(r->hashes);
    free(r->places);
    free(r);
}

/* ---- decisions ---- */

uint64_t ring_add(struct ring *r, const struct ring_subject *subject, struct str text) {
    assert(text.n <= ring_room(subject));
    uint64_t hash = hash_of(subject);
    mutex_lock(&r->mutex);
    uint32_t at = (uint32_t)(r->added % r->capacity);
    uint64_t number = ++r->added;
    struct place *place = &r->places[at];
    r->hashes[at] = hash;
    place->text_n = (uint16_t)text.n;
    if (text.n > 0)
        memcpy(place->bytes, text.p, text.n);
    put_subject(place, subject);
    mutex_unlock(&r->mutex);
    return number;
}

struct ring_size ring_size(struct ring *r) {
    mutex_lock(&r->mutex);
    struct ring_size size = {r->added, r->capacity};
    mutex_unlock(&r->mutex);
    return size;
}

/* The number of the newest that fits, or 0. The mutex is held. */
static uint64_t search(const struct ring *r, const struct ring_subject *subject, uint64_t hash,
                       uint64_t before) {
    uint64_t newest = before > r->added ? r->added : before - 1;
    uint64_t oldest = r->added > r->capacity ? r->added - r->capacity + 1 : 1;
    if (newest < oldest)
        return 0;
    uint32_t at = (uint32_t)((newest - 1) % r->capacity);
    for (uint64_t number = newest; number >= oldest; number--) {
        if (subject == NULL || (r->hashes[at] == hash && is_about(&r->places[at], subject)))
            return number;
        at = (at == 0 ? r->capacity : at) - 1;
    }
    return 0;
}

bool ring_find(struct ring *r, const struct ring_subject *subject, uint64_t before,
               struct ring_entry *ret) {
    uint64_t hash = subject != NULL ? hash_of(subject) : 0;
    if (before == 0)
        return false;
    mutex_lock(&r->mutex);
    uint64_t number = search(r, subject, hash, before);
    if (number != 0) {
        const struct place *place = &r->places[(number - 1) % r->capacity];
        ret->number = number;
        ret->n = place->text_n;
        memcpy(ret->text, place->bytes, place->text_n);
    }
    mutex_unlock(&r->mutex);
    return number != 0;
}
