#include "volumes/store.h"

#include "base/intern.h"
#include "base/mutex.h"
#include "base/pool.h"
#include "kube/watch/feed.h"
#include "model/object.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* What one object says: of a claim the volume's name, of a volume its node affinity as JSON. */
struct statement {
    struct hash128 key; /* of the object */
    uint32_t text;      /* interned */
    uint32_t generation;
};

/* All objects of one kind that say something. */
struct book {
    struct pool statements;
    struct hashmap index;
    uint32_t generation; /* of the listing under way */
};

enum { CLAIMS, VOLUMES, BOOKS };

struct known {
    struct intern strings;
    struct book books[BOOKS];
};

struct volume_feed {
    struct volume_store *store;
    uint32_t book;
    struct feed feed;
};

struct volume_store {
    struct rwlock lock;
    struct known *now; /* owned; guarded by the lock */
    _Atomic uint64_t changes;
    struct known *next; /* owned: of the reading of files under way, or NULL */
    struct file_follower follower;
    struct volume_feed feeds[BOOKS];
    struct arena arena; /* of the object that a watch shows; its client's thread's */
};

/* A claim's row comes first in the table of kinds for those who look for data. */
static const enum kind_row watched[BOOKS] = {[CLAIMS] = KIND_BOUND_CLAIM, [VOLUMES] = KIND_VOLUME};

/* ---- books ---- */

static bool key_equal(const void *ctx, uint32_t id, const void *key) {
    const struct book *b = ctx;
    const struct statement *statement = pool_at(&b->statements, id);
    const struct hash128 *wanted = key;
    return statement->key.a == wanted->a && statement->key.b == wanted->b;
}

static struct hash128 key_of(struct str namespace, struct str name) {
    struct hash_state hash = hash_begin();
    hash_add(&hash, namespace);
    hash_add(&hash, name);
    return hash_end128(hash);
}

static uint32_t find(const struct book *b, const struct hash128 *key) {
    return hashmap_find(&b->index, key->a, key_equal, b, key);
}

static void forget(struct known *k, struct book *b, uint32_t id) {
    const struct statement *statement = pool_at(&b->statements, id);
    hashmap_remove(&b->index, statement->key.a, id);
    intern_unref(&k->strings, statement->text);
    pool_give(&b->statements, id);
}

static int remember(struct known *k, struct book *b, const struct hash128 *key, struct str text) {
    if (hashmap_reserve(&b->index) != 0)
        return -ENOMEM;
    uint32_t text_id = intern_ref(&k->strings, text);
    uint32_t old = find(b, key);
    uint32_t id = text_id == INTERN_NONE ? POOL_NONE : pool_take(&b->statements);
    if (id == POOL_NONE) {
        intern_unref(&k->strings, text_id);
        return -ENOMEM;
    }
    if (old != POOL_NONE)
        forget(k, b, old);
    *(struct statement *)pool_at(&b->statements, id) =
        (struct statement){.key = *key, .text = text_id, .generation = b->generation};
    hashmap_insert(&b->index, key->a, id);
    return 0;
}

/* What the last listing did not show is gone. */
static void forget_old(struct known *k, struct book *b) {
    for (POOL_EACH(&b->statements, id))
        if (((const struct statement *)pool_at(&b->statements, id))->generation != b->generation)
            forget(k, b, id);
}

static struct known *known_new(void) {
    struct known *k = calloc(1, sizeof *k);
    for (size_t i = 0; k != NULL && i < BOOKS; i++)
        pool_init(&k->books[i].statements, sizeof(struct statement));
    return k;
}

static void known_free(struct known *k) {
    if (k == NULL)
        return;
    for (size_t i = 0; i < BOOKS; i++) {
        struct book *b = &k->books[i];
        for (POOL_EACH(&b->statements, id))
            forget(k, b, id);
        pool_done(&b->statements);
        hashmap_done(&b->index);
    }
    intern_done(&k->strings);
    free(k);
}

/* ---- life ---- */

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for volumes");
}

int volume_store_new(struct volume_store **ret, struct err *err) {
    struct volume_store *s = calloc(1, sizeof *s);
    if (s == NULL)
        return no_memory(err);
    s->now = known_new();
    if (s->now == NULL) {
        free(s);
        return no_memory(err);
    }
    for (uint32_t i = 0; i < BOOKS; i++) {
        s->feeds[i].store = s;
        s->feeds[i].book = i;
    }
    rwlock_init(&s->lock);
    arena_init(&s->arena, LIMIT_KUBE_EVENT);
    *ret = s;
    return 0;
}

void volume_store_free(struct volume_store *s) {
    if (s == NULL)
        return;
    volume_store_stop(s);
    known_free(s->now);
    known_free(s->next);
    arena_done(&s->arena);
    rwlock_done(&s->lock);
    free(s);
}

/* ---- decoding ---- */

struct decoded {
    struct object_meta meta;
    struct str text; /* "": it says nothing */
};

static void spec_decode(struct json_reader *r, uint32_t book, struct decoded *ret) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (book == CLAIMS && str_eq(key, STR("volumeName")))
            ret->text = json_null(r) ? (struct str){0} : json_string(r);
        else if (book == VOLUMES && str_eq(key, STR("nodeAffinity")))
            ret->text = json_null(r) ? (struct str){0} : json_skip(r);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
}

static int decode(struct str json, uint32_t book, struct arena *arena, struct decoded *ret,
                  struct err *err) {
    struct json_reader r;
    struct str key;
    *ret = (struct decoded){0};
    json_reader_init(&r, json, arena, watched_kinds[watched[book]].kind);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("metadata")))
                meta_decode(&r, &ret->meta);
            else if (str_eq(key, STR("spec")))
                spec_decode(&r, book, ret);
            else
                (void)json_skip(&r); /* not ours; errors stay in r */
        }
    if (!json_failed(&r) && str_empty(ret->meta.name))
        json_fail(&r, "the object that ends here has no metadata.name");
    return object_finish(&r, &ret->meta, err);
}

/* A text that is too long to be kept says nothing. */
static int apply(struct known *k, uint32_t book, const struct decoded *object, struct err *err) {
    struct book *b = &k->books[book];
    struct hash128 key = key_of(object->meta.namespace, object->meta.name);
    if (!str_empty(object->text) && object->text.n <= LIMIT_VOLUME_TEXT)
        return remember(k, b, &key, object->text) == 0 ? 0 : no_memory(err);
    uint32_t id = find(b, &key);
    if (id != POOL_NONE)
        forget(k, b, id);
    return 0;
}

/* ---- from files ---- */

static int begin(void *ctx, struct err *err) {
    struct volume_store *s = ctx;
    known_free(s->next);
    s->next = known_new();
    return s->next != NULL ? 0 : no_memory(err);
}

static int take(void *ctx, const struct file_object *object, struct err *err) {
    struct volume_store *s = ctx;
    struct decoded decoded;
    for (uint32_t book = 0; book < BOOKS; book++) {
        const struct watched_kind *kind = &watched_kinds[watched[book]];
        if (!str_eq(object->type.kind, str_of(kind->kind)) ||
            (object->type.group.p != NULL && !str_empty(object->type.group)))
            continue;
        int r = decode(object->json, book, object->arena, &decoded, err);
        return r == 0 ? apply(s->next, book, &decoded, err) : r;
    }
    return 0;
}

static int end(void *ctx, struct err *err) {
    struct volume_store *s = ctx;
    (void)err;
    rwlock_write(&s->lock);
    struct known *before = s->now;
    s->now = s->next;
    s->changes++;
    rwlock_write_done(&s->lock);
    s->next = NULL;
    known_free(before);
    return 0;
}

static void give_up(void *ctx) {
    struct volume_store *s = ctx;
    known_free(s->next);
    s->next = NULL;
}

struct file_follower *volume_store_follower(struct volume_store *s) {
    s->follower = (struct file_follower){s, begin, take, end, give_up, NULL};
    return &s->follower;
}

/* ---- from an API server ---- */

static void watch_begin(void *ctx) {
    const struct volume_feed *f = ctx;
    rwlock_write(&f->store->lock);
    f->store->now->books[f->book].generation++;
    rwlock_write_done(&f->store->lock);
}

static void watch_end(void *ctx) {
    const struct volume_feed *f = ctx;
    rwlock_write(&f->store->lock);
    forget_old(f->store->now, &f->store->now->books[f->book]);
    f->store->changes++;
    rwlock_write_done(&f->store->lock);
}

static int watch_apply(void *ctx, struct str json, struct err *err) {
    const struct volume_feed *f = ctx;
    struct volume_store *s = f->store;
    struct decoded object;
    arena_reset(&s->arena);
    int r = decode(json, f->book, &s->arena, &object, err);
    if (r != 0)
        return r;
    rwlock_write(&s->lock);
    r = apply(s->now, f->book, &object, err);
    s->changes++;
    rwlock_write_done(&s->lock);
    return r;
}

static int watch_remove(void *ctx, struct str json, struct err *err) {
    const struct volume_feed *f = ctx;
    struct volume_store *s = f->store;
    struct decoded gone = {.text = {0}};
    arena_reset(&s->arena);
    int r = object_key_decode(json, &s->arena, &gone.meta, err);
    if (r != 0)
        return r;
    rwlock_write(&s->lock);
    r = apply(s->now, f->book, &gone, err);
    s->changes++;
    rwlock_write_done(&s->lock);
    return r;
}

int volume_store_watch(struct volume_store *s, struct kube_client *client, uint64_t seed,
                       struct err *err) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < BOOKS; i++) {
        const struct feed_options options = {
            .kind = &watched_kinds[watched[i]],
            .client = client,
            .sink = {&s->feeds[i], watch_begin, watch_end, watch_apply, watch_remove},
            .seed = seed + i,
        };
        r = feed_start(&s->feeds[i].feed, &options, err);
    }
    return r;
}

void volume_store_stop(struct volume_store *s) {
    for (size_t i = 0; s != NULL && i < BOOKS; i++)
        feed_stop(&s->feeds[i].feed); /* no callback comes any more */
}

bool volume_store_listed(const struct volume_store *s) {
    bool listed = true;
    for (size_t i = 0; i < BOOKS; i++)
        listed = listed && feed_listed(&s->feeds[i].feed);
    return listed;
}

/* ---- reading ---- */

uint64_t volume_store_changes(const struct volume_store *s) {
    return s != NULL ? atomic_load(&s->changes) : 0;
}

static int compare_ids(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The texts of the volumes' affinities, by id, each once. */
static uint32_t find_texts(const struct known *k, struct str namespace, const struct str *claims,
                           uint32_t claim_count, uint32_t *ids) {
    uint32_t count = 0, unique = 0;
    for (uint32_t i = 0; i < claim_count; i++) {
        const struct book *b = &k->books[CLAIMS];
        struct hash128 key = key_of(namespace, claims[i]);
        uint32_t id = find(b, &key);
        if (id == POOL_NONE)
            continue;
        const struct statement *claim = pool_at(&b->statements, id);
        key = key_of(STR(""), intern_str(&k->strings, claim->text));
        b = &k->books[VOLUMES];
        id = find(b, &key);
        if (id != POOL_NONE)
            ids[count++] = ((const struct statement *)pool_at(&b->statements, id))->text;
    }
    if (count > 0)
        qsort(ids, count, sizeof *ids, compare_ids);
    for (uint32_t i = 0; i < count; i++)
        if (unique == 0 || ids[unique - 1] != ids[i])
            ids[unique++] = ids[i];
    return unique;
}

/* Copies, so that they can be read without the lock. */
static int copy_texts(struct volume_store *s, struct str namespace, const struct str *claims,
                      uint32_t claim_count, struct arena *arena, struct str **ret,
                      uint32_t *ret_count) {
    uint32_t *ids = arena_array(arena, claim_count, sizeof *ids);
    if (ids == NULL)
        return -ENOMEM;
    rwlock_read(&s->lock);
    uint32_t count = find_texts(s->now, namespace, claims, claim_count, ids);
    struct str *texts = arena_array(arena, count, sizeof *texts);
    for (uint32_t i = 0; texts != NULL && i < count; i++)
        texts[i] = arena_str(arena, intern_str(&s->now->strings, ids[i]));
    rwlock_read_done(&s->lock);
    *ret = texts;
    *ret_count = count;
    return arena_failed(arena) ? -ENOMEM : 0;
}

int volume_store_pins(void *store, struct str namespace, const struct cache_may_run *pod,
                      struct arena *arena, const struct node_affinity **ret, uint32_t *ret_count) {
    return volume_store_affinities(store, namespace, pod->claims, pod->claim_count, arena, ret,
                                   ret_count);
}

int volume_store_affinities(struct volume_store *s, struct str namespace, const struct str *claims,
                            uint32_t claim_count, struct arena *arena,
                            const struct node_affinity **ret, uint32_t *ret_count) {
    struct str *texts;
    uint32_t count;
    *ret = NULL;
    *ret_count = 0;
    if (s == NULL || claim_count == 0)
        return 0;
    if (!steps_take_sort(&arena->steps, 2 * (uint64_t)claim_count))
        return -E2BIG;
    int r = copy_texts(s, namespace, claims, claim_count, arena, &texts, &count);
    struct node_affinity *found = r == 0 ? arena_array(arena, count, sizeof *found) : NULL;
    if (found == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct json_reader reader;
        struct err why;
        if (!steps_take_bytes(&arena->steps, texts[i].n))
            return -E2BIG;
        json_reader_init(&reader, texts[i], arena, "spec.nodeAffinity");
        volume_affinity_decode(&reader, &found[*ret_count]);
        r = json_finish(&reader, &why);
        if (r == -ENOMEM)
            return r;
        /* what does not parse, or asks for nothing, pins nothing */
        *ret_count += r == 0 && found[*ret_count].required;
    }
    *ret = found;
    return 0;
}
