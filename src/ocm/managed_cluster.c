#include "ocm/managed_cluster.h"

#include "model/object.h"

#include <stdlib.h>

/* ---- claims ---- */

struct claim {
    struct str name, value;
    size_t place; /* among the claims as they came */
};

static void claim_decode(struct json_reader *r, void *into) {
    static const struct json_string_field fields[] = {
        {{"name", 4}, offsetof(struct claim, name)},
        {{"value", 5}, offsetof(struct claim, value)},
    };
    json_strings_of(r, fields, sizeof fields / sizeof fields[0], into);
}

static int by_name(const void *a, const void *b) {
    const struct claim *left = a, *right = b;
    int order = str_cmp(left->name, right->name);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* Sorted, and of those with one name the last only. Returns how many are left. */
static uint32_t settle_claims(struct claim *claims, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        claims[i].place = i;
    qsort(claims, count, sizeof *claims, by_name);
    for (uint32_t i = 0; i < count; i++)
        if (i + 1 == count || !str_eq(claims[i].name, claims[i + 1].name))
            claims[kept++] = claims[i];
    return kept;
}

static struct str claim_key(struct str name, struct arena *arena) {
    const size_t prefix = sizeof CLAIM_PREFIX - 1;
    char *key = arena_alloc(arena, prefix + name.n);
    if (key == NULL)
        return (struct str){0};
    memcpy(key, CLAIM_PREFIX, prefix);
    memcpy(key + prefix, name.p, name.n);
    return (struct str){key, prefix + name.n};
}

/* Labels and claims, by key. Both are sorted; every claim's key has the prefix, but labels may
 * stand before and behind it. */
static struct labels merge(struct labels labels, const struct claim *claims, uint32_t count,
                           struct arena *arena) {
    struct label *items = arena_array(arena, labels.count + count, sizeof *items);
    uint32_t n = 0, l = 0;
    for (uint32_t c = 0; items != NULL && c < count; c++) {
        struct str key = claim_key(claims[c].name, arena);
        while (l < labels.count && str_cmp(labels.items[l].key, key) < 0)
            items[n++] = labels.items[l++];
        items[n++] = (struct label){key, claims[c].value};
    }
    while (items != NULL && l < labels.count)
        items[n++] = labels.items[l++];
    return (struct labels){items, n};
}

/* ---- the object ---- */

struct cluster {
    struct object_meta meta;
    const struct taint *taints;
    uint32_t taint_count;
    struct claim *claims;
    uint32_t claim_count;
};

static void spec_decode(struct json_reader *r, struct cluster *cluster) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("taints")))
            cluster->taints = taints_decode(r, &cluster->taint_count);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
}

static void status_decode(struct json_reader *r, struct cluster *cluster) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("clusterClaims")))
            cluster->claims = json_array_of(r, sizeof *cluster->claims, UINT32_MAX, claim_decode,
                                            &cluster->claim_count);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
}

void managed_cluster_decode(struct json_reader *r, struct candidate *ret) {
    struct cluster cluster = {0};
    struct str key;
    *ret = (struct candidate){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, &cluster.meta);
        else if (str_eq(key, STR("spec")))
            spec_decode(r, &cluster);
        else if (str_eq(key, STR("status")))
            status_decode(r, &cluster);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
    if (cluster.claims != NULL)
        cluster.claim_count = settle_claims(cluster.claims, cluster.claim_count);
    *ret = (struct candidate){
        .name = cluster.meta.name,
        .labels = cluster.claim_count == 0
                      ? cluster.meta.labels
                      : merge(cluster.meta.labels, cluster.claims, cluster.claim_count, r->arena),
        .taints = cluster.taints,
        .taint_count = cluster.taint_count};
}
