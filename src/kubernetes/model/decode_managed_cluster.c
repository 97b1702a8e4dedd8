#include "model/ocm.h"

#include "base/json_fields.h"
#include "model/fields.h"
#include "model/quantity.h"

#include <stdlib.h>

/* ---- taints ---- */

static void effect_read(struct json_reader *r, void *into) {
    static const char *const effects[] = {"NoSelect", "PreferNoSelect", "NoSelectIfNew"};
    enum { EFFECTS = sizeof effects / sizeof effects[0] };
    const uint32_t effect = json_word(r, effects, EFFECTS, EFFECTS);
    *(struct str *)into = effect < EFFECTS ? str_of(effects[effect]) : (struct str){0};
}

static const struct json_field taint_fields[] = {
    JSON_TEXT("key", struct cluster_taint, taint.key),
    JSON_TEXT("value", struct cluster_taint, taint.value),
    JSON_CALL("effect", struct cluster_taint, taint.effect, effect_read),
    JSON_TIME("timeAdded", struct cluster_taint, added_ms, .absent = INT64_MIN),
};

/* ---- claims ---- */

struct claim {
    struct str name, value;
    size_t place; /* position among the claims in the text */
};

struct claims {
    struct claim *items;
    uint32_t count;
};

static const struct json_field claim_fields[] = {
    JSON_TEXT("name", struct claim, name),
    JSON_TEXT("value", struct claim, value),
};

static int by_name(const void *a, const void *b) {
    const struct claim *left = a, *right = b;
    int order = str_cmp(left->name, right->name);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* Sorts the claims by name; of equal names keeps only the last. Returns false if the reader's steps
 * are spent. */
static bool sort_claims(struct json_reader *r, struct claims *claims) {
    uint32_t kept = 0;
    if (!steps_take_sort(&r->arena->steps, claims->count)) {
        json_fail(r, "too many claims");
        return false;
    }
    for (uint32_t i = 0; i < claims->count; i++)
        claims->items[i].place = i;
    qsort(claims->items, claims->count, sizeof *claims->items, by_name);
    for (uint32_t i = 0; i < claims->count; i++)
        if (i + 1 == claims->count || !str_eq(claims->items[i].name, claims->items[i + 1].name))
            claims->items[kept++] = claims->items[i];
    claims->count = kept;
    return true;
}

struct str claim_key(struct str name, struct arena *arena) {
    const size_t prefix = sizeof CLAIM_PREFIX - 1;
    char *key = arena_alloc(arena, prefix + name.n);
    if (key == NULL)
        return (struct str){0};
    memcpy(key, CLAIM_PREFIX, prefix);
    if (name.n > 0)
        memcpy(key + prefix, name.p, name.n);
    return (struct str){key, prefix + name.n};
}

/* Returns the sorted claims as labels with the keys of claim_key(). */
static struct labels claims_as_labels(const struct claims *claims, struct arena *arena) {
    struct label *items = arena_array(arena, claims->count, sizeof *items);
    for (uint32_t i = 0; items != NULL && i < claims->count; i++)
        items[i] = (struct label){claim_key(claims->items[i].name, arena), claims->items[i].value};
    return (struct labels){items, items != NULL ? claims->count : 0};
}

/* ---- the object ---- */

struct read_amounts {
    struct cluster_amount cpu, memory;
};

/* A ManagedCluster, while it is read. */
struct read_cluster {
    struct managed_cluster cluster;
    struct read_amounts allocatable, capacity;
    struct claims claims;
};

static void amount_read(struct json_reader *r, void *into) {
    *(struct cluster_amount *)into = (struct cluster_amount){true, quantity_decode_double(r)};
}

static const struct json_field amounts_fields[] = {
    JSON_CALL("cpu", struct read_amounts, cpu, amount_read),
    JSON_CALL("memory", struct read_amounts, memory, amount_read),
};
static const struct json_field spec_fields[] = {
    JSON_LIST("taints", struct read_cluster, cluster.taints, cluster.taint_count, UINT32_MAX,
              taint_fields),
    JSON_FLAG("hubAcceptsClient", struct read_cluster, cluster.accepted),
};
static const struct json_field status_fields[] = {
    JSON_LIST("clusterClaims", struct read_cluster, claims.items, claims.count, UINT32_MAX,
              claim_fields),
    JSON_OBJECT_AT("allocatable", struct read_cluster, allocatable, amounts_fields),
    JSON_OBJECT_AT("capacity", struct read_cluster, capacity, amounts_fields),
};
static const struct json_field cluster_fields[] = {
    JSON_CALL("metadata", struct read_cluster, cluster.meta, meta_read),
    JSON_WITHIN("spec", spec_fields),
    JSON_WITHIN("status", status_fields),
};

void managed_cluster_decode(struct json_reader *r, struct managed_cluster *ret) {
    struct read_cluster read = {.claims = {.count = 0}};
    json_fields(r, &JSON_ROWS(cluster_fields), &read);
    *ret = read.cluster;
    ret->cpu_allocatable = read.allocatable.cpu;
    ret->memory_allocatable = read.allocatable.memory;
    ret->cpu_capacity = read.capacity.cpu;
    ret->memory_capacity = read.capacity.memory;
    ret->properties = ret->meta.labels;
    if (read.claims.count > 0 && sort_claims(r, &read.claims))
        ret->properties =
            labels_merge(ret->meta.labels, claims_as_labels(&read.claims, r->arena), r->arena);
}
