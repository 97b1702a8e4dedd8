#include "owners/memory.h"

#include "base/hash.h"
#include "base/hashmap.h"
#include "base/limits.h"
#include "base/lru.h"
#include "base/mutex.h"
#include "base/pool.h"

#include <errno.h>
#include <stdlib.h>

struct record {
    struct lru_entry entry;
    struct hash128 key;
    int64_t until_ms;
    char *text; /* owned */
    size_t n;
};

struct owners {
    struct mutex lock; /* guards all but the clock */
    struct clock *clock;
    struct pool records;
    struct hashmap index;
    struct lru kept;
    uint64_t tick;
};

static bool is_key(const void *ctx, uint32_t id, const void *key) {
    const struct owners *o = ctx;
    const struct hash128 *wanted = key;
    const struct record *record = pool_at(&o->records, id);
    return hash128_equal(record->key, *wanted);
}

static struct hash128 key_of(enum owner_what what, const struct owner_ref *ref) {
    struct hash_state hash = hash_begin();
    hash_add_number(&hash, what);
    hash_add(&hash, ref->api);
    hash_add(&hash, ref->kind);
    if (what != OWNER_KIND) {
        hash_add(&hash, ref->namespace);
        hash_add(&hash, ref->name);
    }
    return hash_end128(hash);
}

/* ---- life ---- */

static void forget(void *owners, uint32_t id) {
    struct owners *o = owners;
    struct record *record = pool_at(&o->records, id);
    lru_remove(&o->kept, id);
    hashmap_remove(&o->index, record->key.a, id);
    free(record->text);
    pool_give(&o->records, id);
}

int owners_new(struct clock *clock, struct owners **ret, struct err *err) {
    struct owners *o = calloc(1, sizeof *o);
    if (o == NULL)
        return err_set(err, -ENOMEM, "no memory to remember controllers");
    o->clock = clock != NULL ? clock : clock_real();
    mutex_init(&o->lock);
    pool_init(&o->records, sizeof(struct record));
    o->kept = (struct lru){.pool = &o->records,
                           .entry_offset = offsetof(struct record, entry),
                           .limits = {.count = LIMIT_OWNERS, .bytes = LIMIT_OWNERS_BYTES},
                           .free = forget,
                           .context = o};
    lru_init(&o->kept);
    *ret = o;
    return 0;
}

void owners_free(struct owners *o) {
    if (o == NULL)
        return;
    for (POOL_EACH(&o->records, id))
        forget(o, id);
    lru_done(&o->kept);
    hashmap_done(&o->index);
    pool_done(&o->records);
    mutex_done(&o->lock);
    free(o);
}

/* ---- remembering ---- */

bool owners_recall(struct owners *o, enum owner_what what, const struct owner_ref *ref,
                   struct arena *arena, struct str *ret) {
    struct hash128 key = key_of(what, ref);
    int64_t now_ms = o->clock->now_ms(o->clock);
    mutex_lock(&o->lock);
    uint32_t id = hashmap_find(&o->index, key.a, is_key, o, &key);
    bool known = false;
    if (id != POOL_NONE) {
        struct record *record = pool_at(&o->records, id);
        known = record->until_ms > now_ms;
        if (known) {
            record->entry.used = ++o->tick;
            *ret = arena_str(arena, (struct str){record->text, record->n});
        }
    }
    mutex_unlock(&o->lock);
    return known;
}

/* Adds a record. If this fails, the text of the record is freed. */
static uint32_t add(struct owners *o, const struct record *made, uint64_t owner) {
    const struct cost cost = {.steps = 1, .bytes = sizeof *made + made->n};
    uint32_t id = POOL_NONE;
    if (lru_make_room(&o->kept, owner, &cost) && hashmap_reserve(&o->index) == 0)
        id = pool_take(&o->records);
    if (id == POOL_NONE)
        return id;
    *(struct record *)pool_at(&o->records, id) = *made;
    if (lru_add(&o->kept, id, owner, &cost, ++o->tick) != 0) {
        pool_give(&o->records, id);
        return POOL_NONE;
    }
    hashmap_insert(&o->index, made->key.a, id);
    return id;
}

void owners_remember(struct owners *o, enum owner_what what, const struct owner_ref *ref,
                     struct str text, int64_t for_ms) {
    struct record made = {.key = key_of(what, ref),
                          .until_ms = o->clock->now_ms(o->clock) + for_ms,
                          .text = malloc(text.n + 1),
                          .n = text.n};
    if (made.text == NULL)
        return;
    if (text.n > 0)
        memcpy(made.text, text.p, text.n);
    mutex_lock(&o->lock);
    uint32_t id = hashmap_find(&o->index, made.key.a, is_key, o, &made.key);
    if (id != POOL_NONE)
        forget(o, id);
    id = add(o, &made, hash_str(what != OWNER_KIND ? ref->namespace : STR("")));
    mutex_unlock(&o->lock);
    if (id == POOL_NONE)
        free(made.text);
}

enum owner_knowledge owners_selector(struct owners *o, const struct owner_ref *ref,
                                     struct arena *arena, struct str *ret) {
    struct str plural;
    if (owners_recall(o, OWNER_KIND, ref, arena, &plural) && str_empty(plural))
        return OWNER_SELECTS_NOTHING;
    if (!owners_recall(o, OWNER_SELECTOR, ref, arena, ret))
        return OWNER_UNKNOWN;
    return str_empty(*ret) ? OWNER_SELECTS_NOTHING : OWNER_SELECTS;
}

enum owner_unit owners_unit(struct owners *o, const struct owner_ref *ref, struct arena *arena,
                            struct str *ret) {
    if (!owners_recall(o, OWNER_UNIT, ref, arena, ret))
        return OWNER_UNIT_UNKNOWN;
    if (str_empty(*ret))
        return OWNER_UNIT_NONE;
    return str_eq(*ret, OWNER_UNREAD) ? OWNER_UNIT_UNREAD : OWNER_UNIT_MADE;
}
