#include "data/fluid/resolve.h"

#include "model/fluid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NAMED_AT_MOST = 8, /* missing claims that one sentence names */
    NAME_BYTES = 300,  /* an object's name, of at most 253 bytes, and a suffix */
};

/* Dataset.status.runtimes[].type, and the runtime's fields with its FUSE node selector and its
 * number of workers (upstream: api/v1alpha1, Replicas() of each). */
static const struct runtime_row {
    const char *type, *selector_path, *replicas_path;
} runtimes[FLUID_RUNTIMES] = {
    [FLUID_ALLUXIO] = {"alluxio", "spec.fuse.nodeSelector", "spec.replicas"},
    [FLUID_JINDO] = {"jindo", "spec.fuse.nodeSelector", "spec.replicas"},
    [FLUID_JUICEFS] = {"juicefs", "spec.fuse.nodeSelector", "spec.replicas"},
    [FLUID_THIN] = {"thin", "spec.fuse.nodeSelector", "spec.replicas"},
    [FLUID_EFC] = {"efc", "spec.fuse.nodeSelector", "spec.replicas"},
    [FLUID_VINEYARD] = {"vineyard", "", "spec.worker.replicas"}, /* upstream reads no selector */
    [FLUID_CACHE] = {"cache", "spec.client.nodeSelector", "spec.worker.replicas"},
};

struct resolver {
    const struct fluid_store *store;
    const char *namespace;
    bool precheck, from_workers;
    struct fluid_missing *missing;
    struct err *err;
};

static const cJSON *get(struct resolver *r, enum fluid_kind kind, const char *namespace,
                        const char *name) {
    struct fluid_key key = {kind, namespace, name};
    const cJSON *found = fluid_store_get(r->store, key);
    struct fluid_missing *m = r->missing;
    if (found == NULL && m != NULL && m->count < sizeof m->keys / sizeof m->keys[0])
        m->keys[m->count++] = key;
    return found;
}

/* ---- the claims of a pod ---- */

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the names, sorted, each once. */
static int sort_claims(const struct fluid_query *query, struct arena *arena, const char ***ret,
                       size_t *ret_count) {
    size_t unique = 0;
    const char **names = arena_array(arena, query->claim_count, sizeof *names);
    for (uint32_t i = 0; names != NULL && i < query->claim_count; i++)
        names[i] = arena_cstr(arena, query->claims[i]);
    if (names == NULL || arena_failed(arena))
        return -ENOMEM;
    if (query->claim_count > 1)
        qsort(names, query->claim_count, sizeof *names, by_text);
    for (uint32_t i = 0; i < query->claim_count; i++)
        if (unique == 0 || strcmp(names[unique - 1], names[i]) != 0)
            names[unique++] = names[i];
    *ret = names;
    *ret_count = unique;
    return 0;
}

/* Reports all missing claims in one sentence. */
static int check_claims(struct resolver *r, const char *const *names, size_t count) {
    char bytes[400];
    struct strbuf list = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    size_t absent = 0;
    for (size_t i = 0; i < count; i++)
        if (get(r, FLUID_CLAIM, r->namespace, names[i]) == NULL && ++absent <= NAMED_AT_MOST)
            strbuf_appendf(&list, "%s'%s'", absent > 1 ? ", " : "", names[i]);
    int code = 0;
    if (absent > 0)
        code = err_set(r->err, -ENOENT,
                       "cannot find %zu of the pod's volume claims in namespace '%s': %.*s%s",
                       absent, r->namespace, (int)list.n, bytes,
                       absent > NAMED_AT_MOST || strbuf_failed(&list) ? " and more" : "");
    return code;
}

/* ---- from a claim to its runtime ---- */

static bool is_dataset_claim(const cJSON *labels) {
    const cJSON *label;
    cJSON_ArrayForEach(label, labels) {
        if (strncmp(label->string, FLUID_LABEL_COMMON, strlen(FLUID_LABEL_COMMON)) == 0 ||
            strcmp(label->string, FLUID_LABEL_MANAGED_BY) == 0 ||
            strcmp(label->string, FLUID_LABEL_WRAPPED_BY) == 0)
            return true;
    }
    return false;
}

static int check_bound(struct resolver *r, const cJSON *dataset, const char *name) {
    const cJSON *status = doc_object(dataset, "status"), *condition;
    const char *phase = doc_string(status, "phase"), *why = "";
    if (!r->precheck || (phase[0] != '\0' && strcmp(phase, "NotBound") != 0))
        return 0;
    cJSON_ArrayForEach(condition, doc_array(status, "conditions")) {
        if (strcmp(doc_string(condition, "type"), "NotReady") == 0)
            why = doc_string(condition, "message");
    }
    return err_set(r->err, -EAGAIN, "dataset '%s/%s' is not bound%s%s", r->namespace, name,
                   why[0] != '\0' ? ": " : "", why);
}

static const char *runtime_type(const cJSON *dataset) {
    const cJSON *list = doc_array(doc_object(dataset, "status"), "runtimes");
    return doc_string(cJSON_GetArrayItem(list, 0), "type");
}

/* Returns FLUID_RUNTIMES for an unknown type. */
static enum fluid_kind kind_of_type(const char *type) {
    enum fluid_kind k = 0;
    while (k < FLUID_RUNTIMES && strcmp(runtimes[k].type, type) != 0)
        k++;
    return k;
}

static int runtime_kind(struct resolver *r, const cJSON *dataset, const char *name,
                        enum fluid_kind *ret) {
    const char *type = runtime_type(dataset);
    *ret = kind_of_type(type);
    if (*ret != FLUID_RUNTIMES)
        return 0;
    return err_set(r->err, -EINVAL, "dataset '%s/%s' has no usable runtime: its type is '%s'",
                   r->namespace, name, type);
}

static int64_t read_count(const cJSON *number) {
    return cJSON_IsNumber(number) && number->valuedouble >= 0 ? number->valueint : -1;
}

/* Returns the replicas of the workers' StatefulSet, or -1; a JindoRuntime's StatefulSet has a name
 * of its own. */
static int64_t stateful_set_replicas(const struct fluid_store *store,
                                     const struct fluid_identity *dataset) {
    static const char *const suffixes[] = {"-worker", "-jindofs-worker"};
    int64_t replicas = -1;
    for (size_t i = 0; replicas < 0 && i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char name[NAME_BYTES];
        int n = snprintf(name, sizeof name, "%s%s", dataset->name, suffixes[i]);
        const struct fluid_key key = {FLUID_STATEFUL_SET, dataset->namespace, name};
        if (n < NAME_BYTES)
            replicas = read_count(doc_at(fluid_store_get(store, key), "spec.replicas"));
    }
    return replicas;
}

int64_t fluid_wanted_workers(const struct fluid_store *store,
                             const struct fluid_identity *dataset) {
    struct fluid_key key = {FLUID_DATASET, dataset->namespace, dataset->name};
    key.kind = kind_of_type(runtime_type(fluid_store_get(store, key)));
    if (key.kind == FLUID_RUNTIMES)
        return -1;
    int64_t replicas =
        read_count(doc_at(fluid_store_get(store, key), runtimes[key.kind].replicas_path));
    return replicas >= 0 ? replicas : stateful_set_replicas(store, dataset);
}

static const char *uid_of(const cJSON *object) {
    return doc_string(doc_object(object, "metadata"), "uid");
}

static void read_runtime(struct fluid_dataset *d, const cJSON *runtime) {
    const cJSON *selector = doc_at(runtime, runtimes[d->runtime].selector_path);
    const cJSON *required =
        doc_at(runtime, "status.cacheAffinity.requiredDuringSchedulingIgnoredDuringExecution");
    d->fuse_selector = cJSON_IsObject(selector) && selector->child != NULL ? selector : NULL;
    d->cache_terms = doc_array(required, "nodeSelectorTerms");
}

/* Gets the node affinity of an EFCRuntime's workers. Returns 0 or -ENOMEM. */
static int worker_terms(struct resolver *r, const char *name, struct arena *arena,
                        const cJSON **ret) {
    struct strbuf worker = {0};
    strbuf_appendf(&worker, "%s-worker", name);
    const char *copy = strbuf_failed(&worker) ? NULL : arena_cstr(arena, strbuf_str(&worker));
    strbuf_done(&worker);
    if (copy == NULL)
        return err_set(r->err, -ENOMEM, "out of memory");
    struct fluid_key key = {FLUID_STATEFUL_SET, r->namespace, copy};
    *ret = doc_array(fluid_store_get(r->store, key), FLUID_WORKER_TERMS);
    return 0;
}

/* Finds the physical dataset: nodes have its labels. It may be unknown here, or in a namespace that
 * this process may not read: its name is enough for most labels. */
static void find_physical(struct resolver *r, const cJSON *labels, struct fluid_dataset *d) {
    struct fluid_identity id = {doc_string(labels, FLUID_LABEL_REFERRING_NAMESPACE),
                                doc_string(labels, FLUID_LABEL_REFERRING_NAME), ""};
    d->physical = d->self;
    d->unlabelled = d->runtime == FLUID_THIN;
    if (id.namespace[0] == '\0' || id.name[0] == '\0')
        return;
    const cJSON *dataset =
        fluid_store_get(r->store, (struct fluid_key){FLUID_DATASET, id.namespace, id.name});
    id.uid = uid_of(dataset);
    d->physical = id;
    d->unlabelled = strcmp(runtime_type(dataset), runtimes[FLUID_THIN].type) == 0;
}

static int resolve_claim(struct resolver *r, const char *claim, const cJSON *labels,
                         struct arena *arena, struct fluid_dataset *ret) {
    const char *name = doc_string(labels, FLUID_LABEL_MANAGED_BY);
    if (name[0] == '\0')
        name = doc_string(labels, FLUID_LABEL_WRAPPED_BY);
    if (name[0] == '\0')
        name = claim;
    const cJSON *dataset = get(r, FLUID_DATASET, r->namespace, name);
    if (dataset == NULL)
        return err_set(r->err, -ENOENT, "cannot find dataset '%s/%s'", r->namespace, name);
    struct fluid_dataset d = {.claim = claim, .self = {r->namespace, name, uid_of(dataset)}};
    int code = check_bound(r, dataset, name);
    if (code == 0)
        code = runtime_kind(r, dataset, name, &d.runtime);
    if (code != 0)
        return code;
    const cJSON *runtime = get(r, d.runtime, r->namespace, name);
    if (runtime == NULL)
        return err_set(r->err, -ENOENT, "cannot find %s '%s/%s'", fluid_kind_name(d.runtime),
                       r->namespace, name);
    read_runtime(&d, runtime);
    if (d.runtime == FLUID_EFC && r->from_workers && d.cache_terms == NULL)
        code = worker_terms(r, name, arena, &d.cache_terms);
    if (code != 0)
        return code;
    find_physical(r, labels, &d);
    *ret = d;
    return 0;
}

int fluid_resolve(const struct fluid_query *query, struct arena *arena, struct fluid_datasets *ret,
                  struct err *err) {
    struct resolver r = {
        .store = query->store,
        .namespace = query->namespace[0] != '\0' ? query->namespace : "default",
        .precheck = !query->unbound_too,
        .from_workers = query->from_workers,
        .missing = query->missing,
        .err = err,
    };
    const char **names = NULL;
    size_t count = 0;
    if (r.missing != NULL)
        r.missing->count = 0;
    if (sort_claims(query, arena, &names, &count) != 0)
        return err_set(err, -ENOMEM, "cannot resolve the pod's volumes: out of memory");
    int code = check_claims(&r, names, count);
    if (code != 0)
        return code;
    struct fluid_datasets found = {arena_array(arena, count, sizeof *found.items), 0};
    if (found.items == NULL)
        return err_set(err, -ENOMEM, "cannot resolve the pod's volumes: out of memory");
    for (size_t i = 0; i < count; i++) {
        const cJSON *labels = doc_object(
            doc_object(get(&r, FLUID_CLAIM, r.namespace, names[i]), "metadata"), "labels");
        if (!is_dataset_claim(labels))
            continue;
        code = resolve_claim(&r, names[i], labels, arena, &found.items[found.count]);
        if (code != 0) {
            (void)err_wrap(err, "volume claim '%s'", names[i]); /* the code stays */
            return code;
        }
        found.count++;
    }
    *ret = found;
    return 0;
}

const char *fluid_label_key(const char *prefix, const struct fluid_identity *id,
                            struct arena *arena) {
    enum { TOO_LONG = 63 };
    size_t length = strlen(prefix) + strlen(id->namespace) + 1 + strlen(id->name);
    bool by_uid = length >= TOO_LONG && id->uid[0] != '\0';
    struct strbuf key = {0};
    strbuf_appendf(&key, "%s%s%s%s", prefix, by_uid ? id->uid : id->namespace, by_uid ? "" : "-",
                   by_uid ? "" : id->name);
    const char *copy = strbuf_failed(&key) ? NULL : arena_cstr(arena, strbuf_str(&key));
    strbuf_done(&key);
    return copy;
}

bool fluid_label_fits(const char *key) {
    enum { NAME_MAX_BYTES = 63 }; /* bytes of a label's name, after the slash */
    const char *slash = strchr(key, '/');
    return slash == NULL || strlen(slash + 1) <= NAME_MAX_BYTES;
}
