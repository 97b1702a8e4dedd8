#include "model/ocm.h"

#include "base/json_fields.h"
#include "model/fields.h"
#include "model/quantity.h"

#include <stdlib.h>

/* ---- taints ---- */

static struct str effect_decode(struct json_reader *r) {
    static const char *const effects[] = {"NoSelect", "PreferNoSelect", "NoSelectIfNew"};
    enum { EFFECTS = sizeof effects / sizeof effects[0] };
    const uint32_t effect = json_word(r, effects, EFFECTS, EFFECTS);
    return effect < EFFECTS ? str_of(effects[effect]) : (struct str){0};
}

static void taint_decode(struct json_reader *r, void *into) {
    struct cluster_taint *t = into;
    struct str key;
    t->added_ms = INT64_MIN;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("key")))
            t->taint.key = json_string(r);
        else if (str_eq(key, STR("value")))
            t->taint.value = json_string(r);
        else if (str_eq(key, STR("effect")))
            t->taint.effect = effect_decode(r);
        else if (str_eq(key, STR("timeAdded")))
            (void)json_time(r, &t->added_ms); /* null: not given */
    }
}

/* ---- claims ---- */

struct claim {
    struct str name, value;
    size_t place; /* among the claims as they came */
};

struct claims {
    struct claim *items;
    uint32_t count;
};

static void claim_decode(struct json_reader *r, void *into) {
    static const struct json_field fields[] = {
        JSON_TEXT("name", struct claim, name),
        JSON_TEXT("value", struct claim, value),
    };
    json_fields(r, &JSON_ROWS(fields), into);
}

static int by_name(const void *a, const void *b) {
    const struct claim *left = a, *right = b;
    int order = str_cmp(left->name, right->name);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* By name, and of those with one name the last only. False: the reader's steps are spent. */
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

/* Sorted claims, by the names that columns have. */
static struct labels claims_as_labels(const struct claims *claims, struct arena *arena) {
    struct label *items = arena_array(arena, claims->count, sizeof *items);
    for (uint32_t i = 0; items != NULL && i < claims->count; i++)
        items[i] = (struct label){claim_key(claims->items[i].name, arena), claims->items[i].value};
    return (struct labels){items, items != NULL ? claims->count : 0};
}

/* ---- the object ---- */

static void amounts_decode(struct json_reader *r, struct cluster_amount *cpu,
                           struct cluster_amount *memory) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        struct cluster_amount *amount = str_eq(key, STR("cpu"))      ? cpu
                                        : str_eq(key, STR("memory")) ? memory
                                                                     : NULL;
        if (amount != NULL)
            *amount = (struct cluster_amount){true, quantity_decode_double(r)};
    }
}

static void spec_decode(struct json_reader *r, struct managed_cluster *ret) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("taints")))
            ret->taints =
                json_array_of(r, sizeof *ret->taints, UINT32_MAX, taint_decode, &ret->taint_count);
        else if (str_eq(key, STR("hubAcceptsClient")))
            ret->accepted = json_bool(r);
    }
}

static void status_decode(struct json_reader *r, struct managed_cluster *ret,
                          struct claims *claims) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("clusterClaims")))
            claims->items =
                json_array_of(r, sizeof *claims->items, UINT32_MAX, claim_decode, &claims->count);
        else if (str_eq(key, STR("allocatable")))
            amounts_decode(r, &ret->cpu_allocatable, &ret->memory_allocatable);
        else if (str_eq(key, STR("capacity")))
            amounts_decode(r, &ret->cpu_capacity, &ret->memory_capacity);
    }
}

void managed_cluster_decode(struct json_reader *r, struct managed_cluster *ret) {
    struct claims claims = {0};
    struct str key;
    *ret = (struct managed_cluster){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, &ret->meta);
        else if (str_eq(key, STR("spec")))
            spec_decode(r, ret);
        else if (str_eq(key, STR("status")))
            status_decode(r, ret, &claims);
    }
    ret->properties = ret->meta.labels;
    if (claims.count > 0 && sort_claims(r, &claims))
        ret->properties =
            labels_merge(ret->meta.labels, claims_as_labels(&claims, r->arena), r->arena);
}
