/*
 * The records of Placements, with their lists and indexes. All functions but planner_scored() need
 * the mutex.
 */
#include "base/hash.h"
#include "hub/placement_history.h"
#include "hub/planner_internal.h"

/* ---- finding records ---- */

struct planner_key planner_key_of(struct str text) {
    const size_t at = str_find(text, '/');
    return (struct planner_key){{text.p, at}, {text.p + at + 1, text.n - at - 1}};
}

static uint64_t hash_of(struct planner_key key) {
    struct hash_state state = hash_begin();
    hash_add(&state, key.namespace);
    hash_add(&state, key.name);
    return hash_end(state);
}

static bool is_named(const void *ctx, uint32_t id, const void *wanted) {
    const struct planner_key key = planner_key_of(strbuf_str(&planner_record(ctx, id)->name)),
                             *other = wanted;
    return str_eq(key.name, other->name) && str_eq(key.namespace, other->namespace);
}

uint32_t planner_find(const struct planner *p, struct planner_key key) {
    const uint32_t id = hashmap_find(&p->index, hash_of(key), is_named, p, &key);
    return id != HASHMAP_NONE ? id : POOL_NONE;
}

static uint32_t make_record(struct planner *p, struct planner_key key) {
    struct strbuf name = {0};
    strbuf_append_str(&name, key.namespace);
    strbuf_append_char(&name, '/');
    strbuf_append_str(&name, key.name);
    const bool good = !strbuf_failed(&name) && hashmap_reserve(&p->index) == 0;
    const uint32_t id = good ? pool_take(&p->records) : POOL_NONE;
    if (id == POOL_NONE || !turns_join(&p->dirty, &planner_record(p, id)->dirty, key.namespace)) {
        if (id != POOL_NONE)
            pool_give(&p->records, id);
        strbuf_done(&name);
        return POOL_NONE;
    }
    planner_record(p, id)->id = id;
    planner_record(p, id)->name = name;
    planner_record(p, id)->wake_ms = INT64_MAX;
    planner_record(p, id)->next_waiting = planner_record(p, id)->next_joined = POOL_NONE;
    hashmap_insert(&p->index, hash_of(key), id);
    return id;
}

/* ---- lists ---- */

void planner_offer(struct planner *p, uint32_t id) {
    struct planner_record *r = planner_record(p, id);
    r->offered = true;
    r->next = POOL_NONE;
    if (p->first_ready == POOL_NONE)
        p->first_ready = id;
    else
        planner_record(p, p->last_ready)->next = id;
    p->last_ready = id;
}

uint32_t planner_take_offer(struct planner *p) {
    const uint32_t id = p->first_ready;
    if (id == POOL_NONE)
        return POOL_NONE;
    planner_record(p, id)->offered = false;
    p->first_ready = planner_record(p, id)->next;
    if (planner_record(p, id)->pending.what == OWNED_NOTHING)
        planner_mark(p, id); /* its Placement may be gone: only the offer kept the record */
    return id;
}

uint32_t planner_take_dirty(struct planner *p) {
    struct turn *turn = turns_next(&p->dirty);
    return turn != NULL ? LIST_ITEM(struct planner_record, dirty, turn)->id : POOL_NONE;
}

void planner_mark(struct planner *p, uint32_t id) {
    turns_wait(&p->dirty, &planner_record(p, id)->dirty);
    condition_signal(&p->wake);
}

enum { MEMORY_MS = 1000 }; /* after a lack of memory, until all Placements are marked again */

void planner_mark_name(struct planner *p, struct planner_key key) {
    uint32_t id = planner_find(p, key);
    id = id == POOL_NONE ? make_record(p, key) : id;
    if (id != POOL_NONE)
        planner_mark(p, id);
    else if (p->again_ms == INT64_MAX)
        p->again_ms = p->options.clock->now_ms(p->options.clock) + MEMORY_MS;
}

void planner_mark_sweep(struct planner *p) {
    p->sweep.again = true;
    planner_mark_name(p, (struct planner_key){STR(""), STR("")});
}

/* ---- records by their items ---- */

static uint64_t hash_of_key(struct injected_key key) {
    const uint64_t number = injected_key_number(key);
    return hash_bytes(&number, sizeof number);
}

static bool has_key(const void *ctx, uint32_t id, const void *wanted) {
    const struct planner_record *r = planner_record(ctx, id);
    const struct injected_key *key = wanted;
    return injected_key_eq(r->key, *key);
}

static bool waits_for(const void *ctx, uint32_t id, const void *wanted) {
    const struct planner_key key = planner_key_of(strbuf_str(&planner_record(ctx, id)->waits)),
                             *other = wanted;
    return str_eq(key.name, other->name) && str_eq(key.namespace, other->namespace);
}

static bool is_key(bool has, struct injected_key key, const struct injected_key *other) {
    return other == NULL ? !has : has && injected_key_eq(key, *other);
}

void planner_set_key(struct planner *p, uint32_t id, const struct injected_key *key,
                     const struct injected_key *noted) {
    struct planner_record *r = planner_record(p, id);
    const bool same = is_key(r->has_key, r->key, key);
    const bool lost =
        (r->has_key && !same) || (r->has_noted_key && !is_key(true, r->noted_key, noted));
    if (!same && r->has_key)
        hashmap_remove(&p->by_key, hash_of_key(r->key), id);
    if (!same)
        r->has_key = key != NULL && hashmap_reserve(&p->by_key) == 0;
    if (!same && r->has_key) {
        r->key = *key;
        hashmap_insert(&p->by_key, hash_of_key(r->key), id);
    }
    r->has_noted_key = noted != NULL;
    if (noted != NULL)
        r->noted_key = *noted;
    if (lost)
        planner_mark_sweep(p);
}

static uint32_t first_waiting(const struct planner *p, struct planner_key object) {
    const uint32_t id = hashmap_find(&p->by_waiting, hash_of(object), waits_for, p, &object);
    return id != HASHMAP_NONE ? id : POOL_NONE;
}

static void mark_waiting(struct planner *p, struct planner_key object) {
    uint32_t id = first_waiting(p, object);
    for (; id != POOL_NONE; id = planner_record(p, id)->next_waiting)
        planner_mark(p, id);
}

/* Ends a record's wait for its object. If the record is the first, the next one takes its place in
 * the index. */
static void stop_waiting(struct planner *p, uint32_t id) {
    struct planner_record *r = planner_record(p, id);
    const struct planner_key object = planner_key_of(strbuf_str(&r->waits));
    uint32_t at = first_waiting(p, object);
    if (at == id) {
        hashmap_remove(&p->by_waiting, hash_of(object), id);
        if (r->next_waiting != POOL_NONE && hashmap_reserve(&p->by_waiting) == 0)
            hashmap_insert(&p->by_waiting, hash_of(object), r->next_waiting);
    } else {
        while (at != POOL_NONE && planner_record(p, at)->next_waiting != id)
            at = planner_record(p, at)->next_waiting;
        if (at != POOL_NONE)
            planner_record(p, at)->next_waiting = r->next_waiting;
    }
    /* the record's write will not be seen any more: the others need not wait for it */
    if (r->written != 0)
        planner_mark_waiting(p, strbuf_str(&r->waits));
    r->written = 0;
    strbuf_clear(&r->waits);
}

uint32_t planner_first_waiting(const struct planner *p, struct str object) {
    return first_waiting(p, planner_key_of(object));
}

void planner_mark_waiting(struct planner *p, struct str object) {
    mark_waiting(p, planner_key_of(object));
}

void planner_set_waits(struct planner *p, uint32_t id, struct str object) {
    struct planner_record *r = planner_record(p, id);
    if (str_eq(strbuf_str(&r->waits), object))
        return;
    if (r->waits.n > 0)
        stop_waiting(p, id);
    if (object.n == 0 || hashmap_reserve(&p->by_waiting) != 0)
        return;
    const struct planner_key key = planner_key_of(object);
    const uint32_t first = first_waiting(p, key);
    strbuf_append_str(&r->waits, object);
    if (strbuf_failed(&r->waits)) {
        strbuf_done(&r->waits); /* the Placement is planned again after a while */
        return;
    }
    r->next_waiting = POOL_NONE;
    if (first == POOL_NONE) {
        hashmap_insert(&p->by_waiting, hash_of(key), id);
        return;
    }
    r->next_waiting = planner_record(p, first)->next_waiting;
    planner_record(p, first)->next_waiting = id;
}

void planner_scored(void *ctx, struct str cluster, struct str resource, struct str item) {
    struct planner *p = ctx;
    const struct planner_key object = {cluster, resource};
    struct injected_key key;
    mutex_lock(&p->mutex);
    mark_waiting(p, object);
    uint32_t id = injected_key_read(resource, item, &key)
                      ? hashmap_find(&p->by_key, hash_of_key(key), has_key, p, &key)
                      : HASHMAP_NONE;
    if (id != HASHMAP_NONE)
        planner_mark(p, id);
    mutex_unlock(&p->mutex);
}

/* ---- the end of a record ---- */

void planner_drop(struct planner *p, uint32_t id) {
    static const struct planner_counts none;
    struct planner_record *r = planner_record(p, id);
    planner_metrics_replace(&p->metrics, &r->counts, &none);
    if (r->has_key)
        hashmap_remove(&p->by_key, hash_of_key(r->key), id);
    planner_set_waits(p, id, STR(""));
    const struct planner_key key = planner_key_of(strbuf_str(&r->name));
    if (key.name.n > 0)
        placement_history_forget(p->options.history, key.namespace, key.name);
    hashmap_remove(&p->index, hash_of(key), id);
    turns_leave(&p->dirty, &r->dirty);
    owned_write_done(&r->pending);
    owned_write_done(&r->news.write);
    owned_done(&r->owned);
    strbuf_done(&r->name);
    strbuf_done(&r->waits);
    pool_give(&p->records, id);
}
