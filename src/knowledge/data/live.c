#include "data/live.h"

#include "base/limits.h"
#include "base/mutex.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct fluid_live {
    struct rwlock lock; /* guards the store */
    struct fluid_store *store;
    _Atomic size_t count;
};

int fluid_live_new(struct fluid_live **ret, struct err *err) {
    struct fluid_live *l = calloc(1, sizeof *l);
    if (l != NULL)
        l->store = fluid_store_new();
    if (l == NULL || l->store == NULL) {
        free(l);
        return err_set(err, -ENOMEM, "no memory for Fluid's objects");
    }
    rwlock_init(&l->lock);
    *ret = l;
    return 0;
}

void fluid_live_free(struct fluid_live *l) {
    if (l == NULL)
        return;
    fluid_store_free(l->store);
    rwlock_done(&l->lock);
    free(l);
}

/* ---- reading ---- */

const struct fluid_store *fluid_live_store(const struct fluid_live *l) {
    return l->store;
}

void fluid_live_hold(struct fluid_live *l) NOT_ANALYSED {
    rwlock_read(&l->lock);
}

void fluid_live_release(struct fluid_live *l) NOT_ANALYSED {
    rwlock_read_done(&l->lock);
}

size_t fluid_live_count(const struct fluid_live *l) {
    return atomic_load(&l->count);
}

/* ---- writing ---- */

void fluid_live_lock(struct fluid_live *l) NOT_ANALYSED {
    rwlock_write(&l->lock);
}

void fluid_live_unlock(struct fluid_live *l) NOT_ANALYSED {
    atomic_store(&l->count, fluid_store_count(l->store));
    rwlock_write_done(&l->lock);
}

static int parse(struct str object, enum fluid_kind kind, cJSON **ret, struct err *err) {
    cJSON *doc = cJSON_ParseWithLength(object.p, object.n);
    if (doc == NULL) /* not valid JSON, or no memory: cJSON does not report which */
        return err_set(err, -EINVAL, "a %s cannot be read", fluid_kind_name(kind));
    *ret = doc;
    return 0;
}

static struct fluid_key key_of(const cJSON *doc, enum fluid_kind kind) {
    const cJSON *metadata = doc_object(doc, "metadata");
    return (struct fluid_key){kind, doc_string(metadata, "namespace"),
                              doc_string(metadata, "name")};
}

static bool is_wanted(const struct fluid_key *key) {
    return key->kind != FLUID_STATEFUL_SET || str_has_suffix(str_of(key->name), STR("-worker"));
}

int fluid_live_apply(struct fluid_live *l, enum fluid_kind kind, struct str object,
                     struct err *err) {
    CLEANUP(doc_free) cJSON *doc = NULL;
    int r = parse(object, kind, &doc, err);
    if (r != 0)
        return r;
    const struct fluid_key key = key_of(doc, kind);
    if (!is_wanted(&key))
        return 0;
    fluid_live_lock(l);
    r = fluid_store_put_as(l->store, kind, doc, err);
    if (r != 0 && r != -ENOMEM)
        fluid_store_remove(l->store, key);
    fluid_live_unlock(l);
    return r;
}

void fluid_live_remove(struct fluid_live *l, struct fluid_key key) {
    fluid_live_lock(l);
    fluid_store_remove(l->store, key);
    fluid_live_unlock(l);
}

struct pool *fluid_live_records(struct fluid_live *l, enum fluid_kind kind) {
    return fluid_store_records(l->store, kind);
}

void fluid_live_drop(struct fluid_live *l, enum fluid_kind kind, uint32_t id) {
    fluid_store_drop(l->store, kind, id);
}
