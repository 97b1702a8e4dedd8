#include "explain/ring.h"

#include "base/hash.h"
#include "base/mutex.h"
#include "explain/eviction.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { SUBJECT_PARTS = 4 };

/* `bytes` begins with the text, and ends with the parts of the subject, without separators. */
struct place {
    uint16_t text_n;
    uint16_t part_n[SUBJECT_PARTS]; /* all 0: the subject is not kept */
    char bytes[LIMIT_DECISION_BYTES];
};
_Static_assert(LIMIT_DECISION_BYTES <= UINT16_MAX, "lengths of a place are of 16 bits");

/* The search key of a text. Labels are stored apart from the texts, so that a search reads few
 * pages of memory. */
struct label {
    uint64_t number, hash; /* number of the text; hash of its subject */
};

struct ring {
    struct mutex mutex; /* guards the rest except capacity */
    uint64_t added;
    uint32_t capacity;
    struct eviction *eviction; /* chooses the next place */
    struct label *labels;      /* [capacity] */
    struct place *places;      /* [capacity] */
};

/* ---- subjects ---- */

static bool is_kept(const struct subject *s) {
    return subject_bytes(s) <= LIMIT_DECISION_SUBJECT;
}

size_t ring_room(const struct subject *s) {
    return LIMIT_DECISION_BYTES - (is_kept(s) ? subject_bytes(s) : 0);
}

static void put_subject(struct place *place, const struct subject *s) {
    const struct str parts[SUBJECT_PARTS] = {s->group, s->kind, s->namespace, s->name};
    char *at = place->bytes + ring_room(s);
    memset(place->part_n, 0, sizeof place->part_n);
    for (size_t i = 0; is_kept(s) && i < SUBJECT_PARTS; i++) {
        place->part_n[i] = (uint16_t)parts[i].n;
        if (parts[i].n > 0)
            memcpy(at, parts[i].p, parts[i].n);
        at += parts[i].n;
    }
}

static bool is_about(const struct place *place, const struct subject *s) {
    struct str parts[SUBJECT_PARTS];
    const char *end = place->bytes + sizeof place->bytes;
    for (size_t i = SUBJECT_PARTS; i-- > 0;) {
        end -= place->part_n[i];
        parts[i] = (struct str){end, place->part_n[i]};
    }
    const struct subject kept = {parts[0], parts[1], parts[2], parts[3]};
    return subject_eq(&kept, s);
}

/* ---- life ---- */

int ring_new(uint32_t capacity, struct ring **ret) {
    struct ring *r = calloc(1, sizeof *r);
    if (r == NULL)
        return -ENOMEM;
    r->capacity = capacity;
    mutex_init(&r->mutex);
    r->labels = calloc(capacity, sizeof *r->labels);
    r->places = calloc(capacity, sizeof *r->places);
    if (r->labels == NULL || r->places == NULL || eviction_new(capacity, &r->eviction) != 0) {
        ring_free(r);
        return -ENOMEM;
    }
    *ret = r;
    return 0;
}

void ring_free(struct ring *r) {
    if (r == NULL)
        return;
    mutex_done(&r->mutex);
    eviction_free(r->eviction);
    free(r->labels);
    free(r->places);
    free(r);
}

/* ---- decisions ---- */

/* All dry runs have one share, as a caller may send any number of them in any namespace. */
static uint64_t owner_of(const struct subject *subject, bool dry_run) {
    return dry_run ? 0 : hash_str(subject->namespace) | 1;
}

uint64_t ring_add(struct ring *r, const struct subject *subject, bool dry_run, struct str text) {
    assert(text.n <= ring_room(subject));
    uint64_t hash = subject_hash(subject), owner = owner_of(subject, dry_run);
    mutex_lock(&r->mutex);
    uint32_t at = eviction_place(r->eviction, owner);
    uint64_t number = ++r->added;
    struct place *place = &r->places[at];
    r->labels[at] = (struct label){number, hash};
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

/* Returns the place of the newest text that matches, or EVICTION_NONE. The caller holds the mutex.
 */
static uint32_t search(const struct ring *r, const struct subject *subject, uint64_t hash,
                       uint64_t before) {
    uint32_t at = eviction_newest(r->eviction);
    while (at != EVICTION_NONE) {
        const struct label *label = &r->labels[at];
        if (label->number < before &&
            (subject == NULL || (label->hash == hash && is_about(&r->places[at], subject))))
            break;
        at = eviction_older(r->eviction, at);
    }
    return at;
}

bool ring_find(struct ring *r, const struct subject *subject, uint64_t before,
               struct ring_entry *ret) {
    uint64_t hash = subject != NULL ? subject_hash(subject) : 0;
    mutex_lock(&r->mutex);
    uint32_t at = search(r, subject, hash, before);
    if (at != EVICTION_NONE) {
        const struct place *place = &r->places[at];
        ret->number = r->labels[at].number;
        ret->n = place->text_n;
        memcpy(ret->text, place->bytes, place->text_n);
    }
    mutex_unlock(&r->mutex);
    return at != EVICTION_NONE;
}
