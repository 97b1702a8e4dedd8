#include "data/fluid/store.h"

#include "base/hash.h"
#include "base/hashmap.h"
#include "base/limits.h"
#include "data/fluid/doc.h"
#include "model/fluid.h"
#include "model/labels.h"
#include "model/names.h"

#include <errno.h>
#include <stdlib.h>

#define FUSE "spec.fuse.nodeSelector"
#define REPLICAS "spec.replicas"
#define WORKER_REPLICAS "spec.worker.replicas"
#define AFFINITY "status.cacheAffinity"

/* The rows of the kinds, and the paths of the fields that are kept. */
static const struct {
    enum kind_row row;
    const char *paths[6];
} kinds[FLUID_KINDS] = {
    [FLUID_ALLUXIO] = {KIND_ALLUXIO_RUNTIME, {FUSE, REPLICAS, AFFINITY}},
    [FLUID_JINDO] = {KIND_JINDO_RUNTIME, {FUSE, REPLICAS, AFFINITY}},
    [FLUID_JUICEFS] = {KIND_JUICEFS_RUNTIME, {FUSE, REPLICAS, AFFINITY}},
    [FLUID_THIN] = {KIND_THIN_RUNTIME, {FUSE, REPLICAS, AFFINITY}},
    [FLUID_EFC] = {KIND_EFC_RUNTIME, {FUSE, REPLICAS, AFFINITY}},
    [FLUID_VINEYARD] = {KIND_VINEYARD_RUNTIME, {WORKER_REPLICAS, AFFINITY}},
    [FLUID_CACHE] = {KIND_CACHE_RUNTIME, {"spec.client.nodeSelector", WORKER_REPLICAS, AFFINITY}},
    [FLUID_DATASET] = {KIND_DATASET,
                       {"status.phase", "status.conditions", "status.runtimes", "status.ufsTotal",
                        "status.cacheStates.cached"}},
    [FLUID_CLAIM] = {KIND_CLAIM, {0}},
    [FLUID_STATEFUL_SET] = {KIND_RUNTIME_WORKERS, {REPLICAS}},
    [FLUID_WORKER] = {KIND_WORKER_POD, {"metadata.deletionTimestamp", "spec.nodeName"}},
};

struct record {
    cJSON *doc;  /* owned, or the store's `plain` */
    char *names; /* owned: memory of the two following members; NULL: they are in the document */
    const char *namespace, *name;
    size_t bytes;            /* its share of the store's bytes */
    uint32_t next, previous; /* in the list of its dataset's workers */
};

/* The objects of one kind. */
struct table {
    struct pool records;
    struct hashmap index;
};

struct fluid_store {
    struct table tables[FLUID_KINDS];
    struct hashmap workers; /* the heads of lists of workers, by dataset */
    cJSON *plain;           /* owned: the common document of claims without a dataset */
    size_t bytes;
    const struct fluid_store *behind; /* borrowed; NULL: none */
};

/* ---- kinds ---- */

const struct watched_kind *fluid_kind_row(enum fluid_kind kind) {
    return &watched_kinds[kinds[kind].row];
}

const char *fluid_kind_name(enum fluid_kind kind) {
    return fluid_kind_row(kind)->kind;
}

bool fluid_kind_of(struct object_type type, enum fluid_kind *ret) {
    for (enum fluid_kind k = 0; k < FLUID_KINDS; k++) {
        const struct watched_kind *row = fluid_kind_row(k);
        if (kind_is_named(row, type.kind) && str_eq(type.group, str_of(row->group))) {
            *ret = k;
            return true;
        }
    }
    return false;
}

/* ---- the copy that is kept ---- */

/* Copies the value at a path of `from` to the same path of `to`. */
static int keep(cJSON *to, const cJSON *from, const char *path) {
    const cJSON *found = doc_at(from, path);
    if (found == NULL)
        return 0;
    char name[64];
    for (size_t n = strcspn(path, "."); path[n] != '\0'; n = strcspn(path, ".")) {
        memcpy(name, path, n); /* doc_at() found it: the name fits */
        name[n] = '\0';
        if (doc_need_object(to, name, &to, NULL) != 0)
            return -ENOMEM;
        path += n + 1;
    }
    return doc_set(to, path, cJSON_Duplicate(found, true));
}

static int keep_labels(cJSON *to, const cJSON *from) {
    const cJSON *label;
    cJSON *metadata, *labels;
    if (doc_need_object(to, "metadata", &metadata, NULL) != 0 ||
        doc_need_object(metadata, "labels", &labels, NULL) != 0)
        return -ENOMEM;
    cJSON_ArrayForEach(label, doc_object(doc_object(from, "metadata"), "labels")) {
        if (strncmp(label->string, FLUID_DOMAIN, sizeof FLUID_DOMAIN - 1) == 0 &&
            doc_set(labels, label->string, cJSON_Duplicate(label, true)) != 0)
            return -ENOMEM;
    }
    return 0;
}

/* Returns {key, operator: In, values: [value]}; NULL if out of memory. Owned by the caller. */
static cJSON *make_requirement(const char *key, const char *value) {
    CLEANUP(doc_free) cJSON *made = cJSON_CreateObject();
    cJSON *values;
    if (made == NULL || doc_set(made, "key", cJSON_CreateString(key)) != 0 ||
        doc_set(made, "operator", cJSON_CreateString("In")) != 0 ||
        doc_need_array(made, "values", &values, NULL) != 0 ||
        doc_push(values, cJSON_CreateString(value)) != 0)
        return NULL;
    cJSON *ready = made;
    made = NULL;
    return ready;
}

/* Adds the entries of a node selector to a term. */
static int add_selector(cJSON *term, const cJSON *selector) {
    const cJSON *entry;
    cJSON *list;
    cJSON_ArrayForEach(entry, selector) {
        if (cJSON_IsString(entry) &&
            (doc_need_array(term, "matchExpressions", &list, NULL) != 0 ||
             doc_push(list, make_requirement(entry->string, entry->valuestring)) != 0))
            return -ENOMEM;
    }
    return 0;
}

static int keep_worker_terms(cJSON *to, const cJSON *from) {
    const cJSON *affinity = doc_at(from, "spec.template.spec.affinity.nodeAffinity");
    const cJSON *selector = doc_at(from, "spec.template.spec.nodeSelector");
    const cJSON *required = doc_object(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
    const cJSON *own = doc_array(required, "nodeSelectorTerms"), *item;
    bool selects = cJSON_IsObject(selector) && selector->child != NULL;
    cJSON *terms, *term;
    if (cJSON_GetArraySize(own) == 0 && !selects)
        return 0;
    if (doc_need_array(to, FLUID_WORKER_TERMS, &terms, NULL) != 0)
        return -ENOMEM;
    cJSON_ArrayForEach(item, own) {
        if (doc_push(terms, cJSON_Duplicate(item, true)) != 0)
            return -ENOMEM;
    }
    if (terms->child == NULL && doc_push(terms, cJSON_CreateObject()) != 0)
        return -ENOMEM;
    cJSON_ArrayForEach(term, terms) {
        if (add_selector(term, selector) != 0)
            return -ENOMEM;
    }
    return 0;
}

/* Keeps only the label FLUID_LABEL_DATASET of a pod: no other label is read, and users may add
 * many. */
static int keep_dataset(cJSON *to, const cJSON *pod) {
    const cJSON *own = doc_object(doc_object(pod, "metadata"), "labels");
    cJSON *metadata, *labels;
    if (doc_need_object(to, "metadata", &metadata, NULL) != 0 ||
        doc_need_object(metadata, "labels", &labels, NULL) != 0)
        return -ENOMEM;
    return doc_set(labels, FLUID_LABEL_DATASET,
                   cJSON_CreateString(doc_string(own, FLUID_LABEL_DATASET)));
}

/* Keeps the number at the end of the name, unless the pod's controller is not a StatefulSet. */
static int keep_ordinal(cJSON *to, const cJSON *pod) {
    const char *name = doc_string(doc_object(pod, "metadata"), "name");
    const char *dash = strrchr(name, '-');
    const cJSON *owner;
    int64_t ordinal;
    cJSON_ArrayForEach(owner, doc_array(doc_object(pod, "metadata"), "ownerReferences")) {
        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(owner, "controller")) &&
            (strcmp(doc_string(owner, "kind"), STATEFUL_SET_KIND) != 0 ||
             !str_has_prefix(str_of(doc_string(owner, "apiVersion")), STR(APPS_GROUP "/"))))
            return 0;
    }
    if (dash == NULL || !str_to_i64(str_of(dash + 1), &ordinal) || ordinal < 0)
        return 0;
    return doc_set(to, FLUID_ORDINAL, cJSON_CreateNumber((double)ordinal));
}

static cJSON *digest(const cJSON *object, enum fluid_kind kind) {
    CLEANUP(doc_free) cJSON *doc = cJSON_CreateObject();
    if (doc == NULL || keep(doc, object, "metadata.name") != 0 ||
        keep(doc, object, "metadata.uid") != 0 || keep(doc, object, "metadata.namespace") != 0)
        return NULL;
    for (size_t i = 0; kinds[kind].paths[i] != NULL; i++)
        if (keep(doc, object, kinds[kind].paths[i]) != 0)
            return NULL;
    if ((kind == FLUID_CLAIM && keep_labels(doc, object) != 0) ||
        (kind == FLUID_WORKER &&
         (keep_dataset(doc, object) != 0 || keep_ordinal(doc, object) != 0)) ||
        (kind == FLUID_STATEFUL_SET && keep_worker_terms(doc, object) != 0))
        return NULL;
    cJSON *ready = doc;
    doc = NULL;
    return ready;
}

/* Returns the approximate bytes of a document, without malloc's overhead. */
static size_t bytes_of(const cJSON *doc) {
    const cJSON *above[CJSON_NESTING_LIMIT];
    size_t depth = 0, bytes = 0;
    for (const cJSON *at = doc;;) {
        bytes += sizeof *at + (at->string != NULL ? strlen(at->string) + 1 : 0) +
                 (at->valuestring != NULL ? strlen(at->valuestring) + 1 : 0);
        if (at->child != NULL && depth < CJSON_NESTING_LIMIT) {
            above[depth++] = at;
            at = at->child;
            continue;
        }
        while (depth > 0 && at->next == NULL)
            at = above[--depth];
        if (depth == 0)
            return bytes;
        at = at->next;
    }
}

/* ---- records ---- */

static const char *or_default(const char *namespace) {
    return namespace[0] != '\0' ? namespace : "default";
}

static struct record *record_at(const struct fluid_store *s, enum fluid_kind kind, uint32_t id) {
    return pool_at(&s->tables[kind].records, id);
}

static struct record *worker_at(const struct fluid_store *s, uint32_t id) {
    return record_at(s, FLUID_WORKER, id);
}

/* Frees the record's document and names. */
static void record_done(struct fluid_store *s, const struct record *r) {
    s->bytes -= r->bytes;
    if (r->doc != s->plain)
        cJSON_Delete(r->doc);
    free(r->names);
}

/* Is the object a claim without labels of Fluid? Then only its existence matters. */
static bool is_plain(const cJSON *object, enum fluid_kind kind) {
    const cJSON *label;
    if (kind != FLUID_CLAIM)
        return false;
    cJSON_ArrayForEach(label, doc_object(doc_object(object, "metadata"), "labels")) {
        if (strncmp(label->string, FLUID_DOMAIN, sizeof FLUID_DOMAIN - 1) == 0)
            return false;
    }
    return true;
}

static int make_plain(struct fluid_store *s, const struct fluid_key *key, struct record *ret) {
    size_t namespace = strlen(key->namespace) + 1, name = strlen(key->name) + 1;
    char *names = malloc(namespace + name);
    if (names == NULL)
        return -ENOMEM;
    memcpy(names, key->namespace, namespace);
    memcpy(names + namespace, key->name, name);
    *ret = (struct record){.doc = s->plain,
                           .names = names,
                           .namespace = names,
                           .name = names + namespace,
                           .bytes = sizeof *ret + namespace + name};
    return 0;
}

static int make_record(struct fluid_store *s, const struct fluid_key *key, const cJSON *object,
                       struct record *ret) {
    if (is_plain(object, key->kind))
        return make_plain(s, key, ret);
    cJSON *doc = digest(object, key->kind);
    if (doc == NULL)
        return -ENOMEM;
    const cJSON *metadata = doc_object(doc, "metadata");
    *ret = (struct record){.doc = doc,
                           .namespace = or_default(doc_string(metadata, "namespace")),
                           .name = doc_string(metadata, "name"),
                           .bytes = sizeof *ret + bytes_of(doc)};
    return 0;
}

/* ---- the index ---- */

static uint64_t hash_names(const char *namespace, const char *name) {
    return hash_mix(hash_str(str_of(name)), hash_str(str_of(namespace)));
}

static bool has_key(const void *ctx, uint32_t id, const void *wanted) {
    const struct fluid_key *key = wanted;
    const struct record *r = record_at(ctx, key->kind, id);
    return strcmp(r->name, key->name) == 0 && strcmp(r->namespace, key->namespace) == 0;
}

static uint32_t find(const struct fluid_store *s, const struct fluid_key *key) {
    const uint64_t hash = hash_names(key->namespace, key->name);
    return hashmap_find(&s->tables[key->kind].index, hash, has_key, s, key);
}

/* ---- the workers of a dataset ---- */

struct dataset_key {
    const char *namespace, *dataset;
};

static struct dataset_key dataset_of(const struct record *worker) {
    const cJSON *labels = doc_object(doc_object(worker->doc, "metadata"), "labels");
    return (struct dataset_key){worker->namespace, doc_string(labels, FLUID_LABEL_DATASET)};
}

static uint64_t hash_dataset(const struct dataset_key *key) {
    return hash_mix(hash_str(str_of(key->dataset)), hash_str(str_of(key->namespace)));
}

static bool is_of_dataset(const void *ctx, uint32_t id, const void *wanted) {
    const struct fluid_store *s = ctx;
    const struct dataset_key *key = wanted;
    const struct dataset_key own = dataset_of(worker_at(s, id));
    return strcmp(own.dataset, key->dataset) == 0 && strcmp(own.namespace, key->namespace) == 0;
}

static uint32_t first_worker(const struct fluid_store *s, const struct dataset_key *key) {
    return hashmap_find(&s->workers, hash_dataset(key), is_of_dataset, s, key);
}

/* Inserts the worker after the first worker of its dataset, so that the list keeps its head. The
 * map has room. */
static void link_worker(struct fluid_store *s, uint32_t id) {
    struct record *r = worker_at(s, id);
    const struct dataset_key key = dataset_of(r);
    r->previous = first_worker(s, &key);
    r->next = HASHMAP_NONE;
    if (r->previous == HASHMAP_NONE) {
        hashmap_insert(&s->workers, hash_dataset(&key), id);
        return;
    }
    struct record *head = worker_at(s, r->previous);
    r->next = head->next;
    head->next = id;
    if (r->next != HASHMAP_NONE)
        worker_at(s, r->next)->previous = id;
}

static void unlink_worker(struct fluid_store *s, uint32_t id) {
    const struct record *r = worker_at(s, id);
    const struct dataset_key key = dataset_of(r);
    if (r->next != HASHMAP_NONE)
        worker_at(s, r->next)->previous = r->previous;
    if (r->previous != HASHMAP_NONE) {
        worker_at(s, r->previous)->next = r->next;
        return;
    }
    hashmap_remove(&s->workers, hash_dataset(&key), id);
    if (r->next != HASHMAP_NONE)
        hashmap_insert(&s->workers, hash_dataset(&key), r->next);
}

void fluid_store_each_worker(const struct fluid_store *s, const char *namespace,
                             const char *dataset, fluid_visit_fn *visit, void *ctx) {
    const struct dataset_key key = {or_default(namespace), dataset};
    for (; s != NULL; s = s->behind) {
        uint32_t id = first_worker(s, &key);
        while (id != HASHMAP_NONE && visit(ctx, worker_at(s, id)->doc))
            id = worker_at(s, id)->next;
    }
}

/* ---- life ---- */

struct fluid_store *fluid_store_new(void) {
    struct fluid_store *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    for (int k = 0; k < FLUID_KINDS; k++)
        pool_init(&s->tables[k].records, sizeof(struct record));
    s->plain = cJSON_CreateObject();
    if (s->plain != NULL)
        return s;
    fluid_store_free(s);
    return NULL;
}

void fluid_store_free(struct fluid_store *s) {
    if (s == NULL)
        return;
    for (enum fluid_kind k = 0; k < FLUID_KINDS; k++) {
        for (POOL_EACH(&s->tables[k].records, id))
            record_done(s, record_at(s, k, id));
        pool_done(&s->tables[k].records);
        hashmap_done(&s->tables[k].index);
    }
    cJSON_Delete(s->plain);
    hashmap_done(&s->workers);
    free(s);
}

/* Returns a new record, which is in the index; HASHMAP_NONE without memory. */
static uint32_t add(struct fluid_store *s, const struct fluid_key *key) {
    struct table *t = &s->tables[key->kind];
    const uint32_t id = hashmap_reserve(&t->index) == 0 ? pool_take(&t->records) : POOL_NONE;
    if (id != POOL_NONE)
        hashmap_insert(&t->index, hash_names(key->namespace, key->name), id);
    return id;
}

/* Replaces the record with this key, or adds one. */
static int place(struct fluid_store *s, const struct fluid_key *key, const struct record *with) {
    uint32_t id = find(s, key);
    if (key->kind == FLUID_WORKER && hashmap_reserve(&s->workers) != 0)
        return -ENOMEM;
    if (id != HASHMAP_NONE) {
        if (key->kind == FLUID_WORKER)
            unlink_worker(s, id);
        record_done(s, record_at(s, key->kind, id));
    } else if ((id = add(s, key)) == HASHMAP_NONE) {
        return -ENOMEM;
    }
    *record_at(s, key->kind, id) = *with;
    pool_show(&s->tables[key->kind].records, id);
    s->bytes += with->bytes;
    if (key->kind == FLUID_WORKER)
        link_worker(s, id);
    return 0;
}

/* Does the pod keep bytes of a dataset on a node? */
static bool is_worker(const cJSON *pod) {
    const cJSON *labels = doc_object(doc_object(pod, "metadata"), "labels");
    const char *phase = doc_string(doc_object(pod, "status"), "phase");
    return doc_string(labels, FLUID_LABEL_DATASET)[0] != '\0' &&
           doc_string(doc_object(pod, "spec"), "nodeName")[0] != '\0' &&
           strcmp(phase, "Succeeded") != 0 && strcmp(phase, "Failed") != 0;
}

static bool is_too_large(const struct fluid_store *s, const struct record *r) {
    return r->bytes > LIMIT_FLUID_OBJECT || r->bytes > LIMIT_FLUID_BYTES - s->bytes;
}

int fluid_store_put_as(struct fluid_store *s, enum fluid_kind kind, const cJSON *object,
                       struct err *err) {
    const cJSON *metadata = doc_object(object, "metadata");
    struct fluid_key key = {kind, or_default(doc_string(metadata, "namespace")),
                            doc_string(metadata, "name")};
    struct record made;
    if (key.name[0] == '\0')
        return err_set(err, -EINVAL, "cannot keep object of kind '%s': it has no name",
                       fluid_kind_name(kind));
    if (kind == FLUID_WORKER && !is_worker(object)) {
        fluid_store_remove(s, key);
        return 0;
    }
    int r = make_record(s, &key, object, &made);
    if (r == 0 && is_too_large(s, &made))
        r = -EFBIG;
    else if (r == 0)
        r = place(s, &key, &made);
    else
        return err_set(err, r, "cannot keep '%s/%s': out of memory", key.namespace, key.name);
    if (r == 0)
        return 0;
    s->bytes += made.bytes; /* record_done() subtracts these bytes, which were not added yet */
    record_done(s, &made);
    return err_set(err, r, "cannot keep '%s/%s': %s", key.namespace, key.name,
                   r == -EFBIG ? "the object, or all objects together, would be too large"
                               : "out of memory");
}

int fluid_store_put(struct fluid_store *s, const cJSON *object, struct err *err) {
    enum fluid_kind kind;
    const struct object_type type = object_type_of(str_of(doc_string(object, "apiVersion")),
                                                   str_of(doc_string(object, "kind")));
    if (!fluid_kind_of(type, &kind))
        return err_set(err, -ENOTSUP, "cannot keep object of kind '%s': not one of Fluid's",
                       doc_string(object, "kind"));
    return fluid_store_put_as(s, kind, object, err);
}

void fluid_store_drop(struct fluid_store *s, enum fluid_kind kind, uint32_t id) {
    const struct record *r = record_at(s, kind, id);
    if (kind == FLUID_WORKER)
        unlink_worker(s, id);
    hashmap_remove(&s->tables[kind].index, hash_names(r->namespace, r->name), id);
    record_done(s, r);
    pool_give(&s->tables[kind].records, id);
}

void fluid_store_remove(struct fluid_store *s, struct fluid_key key) {
    key.namespace = or_default(key.namespace);
    uint32_t id = find(s, &key);
    if (id != HASHMAP_NONE)
        fluid_store_drop(s, key.kind, id);
}

struct pool *fluid_store_records(struct fluid_store *s, enum fluid_kind kind) {
    return &s->tables[kind].records;
}

const cJSON *fluid_store_get(const struct fluid_store *s, struct fluid_key key) {
    key.namespace = or_default(key.namespace);
    for (; s != NULL; s = s->behind) {
        uint32_t id = find(s, &key);
        if (id != HASHMAP_NONE)
            return record_at(s, key.kind, id)->doc;
    }
    return NULL;
}

void fluid_store_each(const struct fluid_store *s, enum fluid_kind kind, fluid_visit_fn *visit,
                      void *ctx) {
    for (POOL_EACH(&s->tables[kind].records, id))
        if (!visit(ctx, record_at(s, kind, id)->doc))
            return;
}

void fluid_store_set_behind(struct fluid_store *s, const struct fluid_store *behind) {
    s->behind = behind;
}

size_t fluid_store_count(const struct fluid_store *s) {
    size_t count = 0;
    for (int k = 0; k < FLUID_KINDS; k++)
        count += s->tables[k].records.count;
    return count;
}
