#include "volumes/store.h"

#include "base/intern.h"
#include "base/pool.h"
#include "volumes/internal.h"
#include "volumes/zone_labels.h"

#include <errno.h>
#include <stdlib.h>

/* ---- books ---- */

static bool key_equal(const void *ctx, uint32_t id, const void *key) {
    const struct book *b = ctx;
    const struct statement *statement = pool_at(&b->statements, id);
    const struct hash128 *wanted = key;
    return hash128_equal(statement->key, *wanted);
}

static uint32_t find(const struct book *b, const struct hash128 *key) {
    return hashmap_find(&b->index, key->a, key_equal, b, key);
}

const struct statement *statement_find(const struct book *b, struct str namespace,
                                       struct str name) {
    const struct hash128 key = hash_names128(namespace, name);
    const uint32_t id = find(b, &key);
    return id == POOL_NONE ? NULL : pool_at(&b->statements, id);
}

static void forget(struct known *k, struct book *b, uint32_t id) {
    const struct statement *statement = pool_at(&b->statements, id);
    hashmap_remove(&b->index, statement->key.a, id);
    intern_unref(&k->strings, statement->text);
    intern_unref(&k->strings, statement->facts);
    pool_give(&b->statements, id);
}

static int remember(struct known *k, struct book *b, const struct statement *new) {
    uint32_t id = find(b, &new->key);
    if (id != POOL_NONE) {
        const struct statement *old = pool_at(&b->statements, id);
        intern_unref(&k->strings, old->text);
        intern_unref(&k->strings, old->facts);
    } else if (hashmap_reserve(&b->index) != 0 || (id = pool_take(&b->statements)) == POOL_NONE) {
        return -ENOMEM;
    } else {
        hashmap_insert(&b->index, new->key.a, id);
    }
    *(struct statement *)pool_at(&b->statements, id) = *new;
    pool_show(&b->statements, id);
    return 0;
}

/* Interns the texts, and keeps both or neither. */
static int remember_texts(struct known *k, struct book *b, struct statement *new,
                          const struct kept_texts *texts) {
    new->text = intern_ref(&k->strings, texts->places);
    new->facts = new->text == INTERN_NONE ? INTERN_NONE : intern_ref(&k->strings, texts->facts);
    if (new->facts != INTERN_NONE && remember(k, b, new) == 0)
        return 0;
    if (new->facts != INTERN_NONE)
        intern_unref(&k->strings, new->facts);
    if (new->text != INTERN_NONE)
        intern_unref(&k->strings, new->text);
    return -ENOMEM;
}

static int known_new(void **ret, struct err *err) {
    struct known *k = calloc(1, sizeof *k);
    if (k == NULL)
        return err_set(err, -ENOMEM, "no memory for volumes");
    for (size_t i = 0; i < BOOKS; i++)
        pool_init(&k->books[i].statements, sizeof(struct statement));
    *ret = k;
    return 0;
}

static void known_free(void *contents) {
    struct known *k = contents;
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

/* ---- the kinds ---- */

/* Reads a volume's node affinity; "" if it is no object, because a list stands for labels. */
static struct str affinity_text(struct json_reader *r) {
    const bool is_object = json_peek(r) == JSON_OBJECT;
    const struct str text = json_skip(r);
    return is_object ? text : (struct str){0};
}

/* Reads the text of the object's places, in the arena. */
static void spec_decode(struct json_reader *r, uint32_t book, struct str *ret) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (book == CLAIMS && str_eq(key, STR("volumeName")))
            *ret = json_null(r) ? (struct str){0} : json_string(r);
        else if (book == VOLUMES && str_eq(key, STR("nodeAffinity")))
            *ret = affinity_text(r);
    }
}

static struct str finish_text(const struct strbuf *text, struct arena *arena) {
    if (strbuf_failed(text))
        arena->failed = true;
    return strbuf_failed(text) ? STR("") : arena_str(arena, strbuf_str(text));
}

/* Puts the affinities of the volume's labels before its own, which may not be readable. */
static void add_zone_labels(const struct labels *labels, struct arena *arena,
                            struct kept_texts *kept) {
    CLEANUP(strbuf_done) struct strbuf list = {0};
    struct json_writer w = {.out = &list};
    json_begin_array(&w);
    kept->zones = (uint8_t)zone_labels_write(labels, &w);
    if (kept->zones == 0)
        return;
    if (!str_empty(kept->places))
        json_put_raw(&w, kept->places);
    json_end_array(&w);
    kept->places = finish_text(&list, arena);
}

static void add_topologies(struct str object, struct arena *arena, struct kept_texts *kept) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct json_writer w = {.out = &text};
    storage_topologies(object, arena, &w);
    kept->places = finish_text(&text, arena);
}

/* A bound claim needs only the name of its volume, and most claims are bound. */
static bool is_plainly_bound(const struct storage_facts *facts) {
    return storage_claim_is_bound(facts) && !facts->deleted && !str_eq(facts->phase, STR("Lost"));
}

static void add_facts(const struct informer_object *object, struct kept_texts *kept) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct json_writer w = {.out = &text};
    struct storage_facts facts;
    storage_shorten(object->json, object->kind == CLAIMS, object->arena, &w);
    kept->facts = finish_text(&text, object->arena);
    if (storage_decode(kept->facts, object->arena, &facts) != 0)
        return; /* every reader of these facts gets the same error */
    if (object->kind == CLAIMS && is_plainly_bound(&facts))
        kept->facts = STR("");
    kept->class = hash_str(facts.class);
    if (facts.has_claim)
        kept->claim = hash_names128(facts.claim_namespace, facts.claim_name).a;
}

/* Decodes an object into its texts. */
static void decode(struct json_reader *r, struct informer_object *ret) {
    struct kept_texts *kept = arena_alloc(ret->arena, sizeof *kept);
    struct str key;
    ret->decoded = kept;
    if (kept == NULL || !json_object(r))
        return; /* the caller reports a failed arena */
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, &ret->meta);
        else if (str_eq(key, STR("spec")))
            spec_decode(r, ret->kind, &kept->places);
    }
    if (json_failed(r))
        return;
    add_facts(ret, kept);
    if (ret->kind == VOLUMES)
        add_zone_labels(&ret->meta.labels, ret->arena, kept);
    else if (ret->kind == CLASSES)
        add_topologies(ret->json, ret->arena, kept);
}

static int forget_object(void *contents, const struct informer_object *gone, struct err *err) {
    struct known *k = contents;
    struct book *b = &k->books[gone->kind];
    struct hash128 key = hash_names128(gone->meta.namespace, gone->meta.name);
    uint32_t id = find(b, &key);
    (void)err;
    if (id != POOL_NONE)
        forget(k, b, id);
    return 0;
}

/* Texts that are too long are not kept. */
static int apply(void *contents, const struct informer_object *object, struct err *err) {
    struct known *k = contents;
    const struct kept_texts *kept = object->decoded;
    static const struct kept_texts none;
    struct statement new = {.key = hash_names128(object->meta.namespace, object->meta.name),
                            .class = kept->class,
                            .claim = kept->claim,
                            .zones = kept->zones};
    new.too_long = kept->places.n > LIMIT_VOLUME_TEXT || kept->facts.n > LIMIT_VOLUME_TEXT;
    int r = remember_texts(k, &k->books[object->kind], &new, new.too_long ? &none : kept);
    return r == 0 ? 0 : err_set(err, r, "no memory for volumes");
}

static struct pool *statements(void *contents, uint32_t book) {
    struct known *k = contents;
    return &k->books[book].statements;
}

static void drop(void *contents, uint32_t book, uint32_t id) {
    struct known *k = contents;
    forget(k, &k->books[book], id);
}

static uint64_t kept_bytes(const void *contents) {
    enum { STATEMENT_BYTES = sizeof(struct statement) + 10 }; /* and its place in the index */
    const struct known *k = contents;
    uint64_t bytes = k->strings.bytes;
    for (size_t i = 0; i < BOOKS; i++)
        bytes += k->books[i].statements.count * (uint64_t)STATEMENT_BYTES;
    return bytes;
}

/* The claim's row comes first, for readers that search the watched kinds for data. */
static const struct informer_kind kinds[BOOKS] = {
    [CLAIMS] = {KIND_BOUND_CLAIM, decode, apply, forget_object, NULL},
    [VOLUMES] = {KIND_VOLUME, decode, apply, forget_object, NULL},
    [CLASSES] = {KIND_STORAGE_CLASS, decode, apply, forget_object, NULL},
};
const struct informer_store volume_store = {.what = "volumes",
                                            .kinds = kinds,
                                            .kind_count = BOOKS,
                                            .open = known_new,
                                            .close = known_free,
                                            .records = statements,
                                            .drop = drop,
                                            .kept_bytes = kept_bytes};

/* ---- reading ---- */

static int compare_ids(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Finds the volumes' affinity texts, by id, without duplicates. */
static uint32_t find_texts(const struct known *k, struct str namespace, const struct str *claims,
                           uint32_t claim_count, uint32_t *ids) {
    uint32_t count = 0, unique = 0;
    for (uint32_t i = 0; i < claim_count; i++) {
        const struct statement *claim = statement_find(&k->books[CLAIMS], namespace, claims[i]);
        const struct statement *volume =
            claim == NULL
                ? NULL
                : statement_find(&k->books[VOLUMES], STR(""), intern_str(&k->strings, claim->text));
        if (volume != NULL && intern_str(&k->strings, volume->text).n > 0)
            ids[count++] = volume->text;
    }
    if (count > 0)
        qsort(ids, count, sizeof *ids, compare_ids);
    for (uint32_t i = 0; i < count; i++)
        if (unique == 0 || ids[unique - 1] != ids[i])
            ids[unique++] = ids[i];
    return unique;
}

/* Copies the texts, to read them without the lock. */
static int copy_texts(struct informer *volumes, struct str namespace, const struct str *claims,
                      uint32_t claim_count, struct arena *arena, struct str **ret,
                      uint32_t *ret_count) {
    uint32_t *ids = arena_array(arena, claim_count, sizeof *ids);
    if (ids == NULL)
        return -ENOMEM;
    const struct known *k = informer_read(volumes);
    uint32_t count = find_texts(k, namespace, claims, claim_count, ids);
    struct str *texts = arena_array(arena, count, sizeof *texts);
    for (uint32_t i = 0; texts != NULL && i < count; i++)
        texts[i] = arena_str(arena, intern_str(&k->strings, ids[i]));
    informer_read_done(volumes);
    *ret = texts;
    *ret_count = count;
    return arena_failed(arena) ? -ENOMEM : 0;
}

int volume_pins(void *volumes, struct str namespace, const struct cache_may_run *pod,
                struct arena *arena, const struct node_affinity **ret, uint32_t *ret_count) {
    return volume_affinities(volumes, namespace, pod->claims, pod->claim_count, arena, ret,
                             ret_count);
}

/* Appends one affinity. An affinity that cannot be read, or that requires nothing, limits nothing,
 * and is left out. */
static void read_one(struct json_reader *r, struct node_affinity *found, uint32_t *count) {
    found[*count] = (struct node_affinity){0}; /* an earlier affinity may have been read in part */
    volume_affinity_decode(r, &found[*count]);
    *count += !json_failed(r) && found[*count].required;
}

int places_read(struct str text, struct arena *arena, struct node_affinity *found,
                uint32_t *count) {
    struct json_reader reader;
    struct err why;
    json_reader_init(&reader, text, arena, "spec.nodeAffinity");
    if (str_empty(text))
        return 0;
    if (text.p[0] != '[')
        read_one(&reader, found, count);
    else if (json_array(&reader))
        for (uint32_t i = 0; i < AFFINITIES && json_element(&reader); i++)
            read_one(&reader, found, count);
    return json_finish(&reader, &why) == -ENOMEM ? -ENOMEM : 0;
}

int volume_affinities(struct informer *volumes, struct str namespace, const struct str *claims,
                      uint32_t claim_count, struct arena *arena, const struct node_affinity **ret,
                      uint32_t *ret_count) {
    struct str *texts;
    uint32_t count = 0;
    *ret = NULL;
    *ret_count = 0;
    if (volumes == NULL || claim_count == 0)
        return 0;
    if (!steps_take_sort(&arena->steps, 2 * (uint64_t)claim_count))
        return -E2BIG;
    int r = copy_texts(volumes, namespace, claims, claim_count, arena, &texts, &count);
    const uint32_t most = count * AFFINITIES;
    struct node_affinity *found = r == 0 ? arena_array(arena, most, sizeof *found) : NULL;
    if (found == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        if (!steps_take_bytes(&arena->steps, texts[i].n))
            return -E2BIG;
        if (places_read(texts[i], arena, found, ret_count) != 0)
            return -ENOMEM;
    }
    if (steps_spent(&arena->steps))
        return -E2BIG; /* without steps, valid terms look invalid */
    *ret = found;
    return 0;
}
