#include "hub/denied_objects.h"

#include "base/hash.h"
#include "base/limits.h"

struct denied {
    struct strbuf name;
    int64_t until_ms;
    uint32_t times;
};

static struct denied *at(const struct denied_objects *d, uint32_t id) {
    return pool_at(&d->objects, id);
}

static bool is_named(const void *ctx, uint32_t id, const void *wanted) {
    return str_eq(strbuf_str(&at(ctx, id)->name), *(const struct str *)wanted);
}

static uint32_t find(const struct denied_objects *d, struct str object) {
    return hashmap_find(&d->index, hash_str(object), is_named, d, &object);
}

static void forget(struct denied_objects *d, uint32_t id) {
    struct denied *o = at(d, id);
    hashmap_remove(&d->index, hash_str(strbuf_str(&o->name)), id);
    strbuf_done(&o->name);
    pool_give(&d->objects, id);
}

/* Forgets objects that were not denied for as long as a denial may last. */
static void forget_old(struct denied_objects *d, int64_t now_ms) {
    for (POOL_EACH(&d->objects, id))
        if (at(d, id)->until_ms + DENIAL_MAX_MS <= now_ms)
            forget(d, id);
}

static uint32_t make(struct denied_objects *d, struct str object, int64_t now_ms) {
    if (d->objects.count >= LIMIT_DENIED_OBJECTS)
        forget_old(d, now_ms);
    const bool fits = d->objects.count < LIMIT_DENIED_OBJECTS && hashmap_reserve(&d->index) == 0;
    const uint32_t id = fits ? pool_take(&d->objects) : POOL_NONE;
    if (id == POOL_NONE)
        return HASHMAP_NONE;
    strbuf_append_str(&at(d, id)->name, object);
    if (strbuf_failed(&at(d, id)->name)) {
        strbuf_done(&at(d, id)->name);
        pool_give(&d->objects, id);
        return HASHMAP_NONE;
    }
    hashmap_insert(&d->index, hash_str(object), id);
    return id;
}

void denied_objects_init(struct denied_objects *d) {
    *d = (struct denied_objects){.index = {0}};
    pool_init(&d->objects, sizeof(struct denied));
}

void denied_objects_done(struct denied_objects *d) {
    for (POOL_EACH(&d->objects, id))
        strbuf_done(&at(d, id)->name);
    pool_done(&d->objects);
    hashmap_done(&d->index);
}

void denied_objects_add(struct denied_objects *d, struct str object, int64_t now_ms) {
    uint32_t id = find(d, object);
    if (id == HASHMAP_NONE)
        id = make(d, object, now_ms);
    if (id == HASHMAP_NONE || at(d, id)->until_ms > now_ms)
        return;
    struct denied *o = at(d, id);
    int64_t wait_ms = DENIAL_MS;
    for (uint32_t i = 0; i < o->times && wait_ms < DENIAL_MAX_MS; i++)
        wait_ms *= 2;
    o->until_ms = now_ms + (wait_ms < DENIAL_MAX_MS ? wait_ms : DENIAL_MAX_MS);
    o->times++;
}

void denied_objects_remove(struct denied_objects *d, struct str object) {
    const uint32_t id = find(d, object);
    if (id != HASHMAP_NONE)
        forget(d, id);
}

int64_t denied_objects_left_ms(const struct denied_objects *d, struct str object, int64_t now_ms) {
    const uint32_t id = find(d, object);
    return id != HASHMAP_NONE && at(d, id)->until_ms > now_ms ? at(d, id)->until_ms - now_ms : 0;
}
