#include "model/karmada.h"
#include "model/quantity.h"

#include <stdlib.h>

/* ---- resources ---- */

/* As they are read: one amount of one resource. */
struct amount {
    struct str name;
    enum karmada_amount which;
    __int128 nano;
};

struct summary {
    struct amount *items; /* in the arena */
    uint32_t count, cap;
};

static void amounts_decode(struct json_reader *r, enum karmada_amount which, struct summary *s) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        struct amount *items = arena_push(r->arena, s->items, s->count, &s->cap, sizeof *items);
        if (items == NULL)
            return; /* the arena says so */
        s->items = items;
        items[s->count++] = (struct amount){key, which, quantity_decode_nano(r)};
    }
}

static void summary_decode(struct json_reader *r, struct summary *s) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("allocatable")))
            amounts_decode(r, KARMADA_ALLOCATABLE, s);
        else if (str_eq(key, STR("allocating")))
            amounts_decode(r, KARMADA_ALLOCATING, s);
        else if (str_eq(key, STR("allocated")))
            amounts_decode(r, KARMADA_ALLOCATED, s);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
}

static int by_name(const void *a, const void *b) {
    const struct amount *left = a, *right = b;
    return str_cmp(left->name, right->name);
}

/* What was read of each, together. */
static void gather(struct json_reader *r, struct summary *s, struct karmada_cluster *ret) {
    struct karmada_resource *resources = arena_array(r->arena, s->count, sizeof *resources);
    uint32_t count = 0;
    if (resources == NULL)
        return; /* the arena says so */
    if (!steps_take_sort(&r->arena->steps, s->count)) {
        json_fail(r, "too many resources");
        return;
    }
    if (s->count > 1)
        qsort(s->items, s->count, sizeof *s->items, by_name);
    for (uint32_t i = 0; i < s->count; i++) {
        if (count == 0 || !str_eq(resources[count - 1].name, s->items[i].name))
            resources[count++].name = s->items[i].name;
        resources[count - 1].nano[s->items[i].which] = s->items[i].nano;
    }
    ret->resources = resources;
    ret->resource_count = count;
}

/* ---- properties ---- */

static struct str joined(const struct str *parts, uint32_t count, struct arena *arena) {
    size_t n = count; /* with a comma behind each */
    if (count < 2)
        return count == 1 ? parts[0] : (struct str){0};
    for (uint32_t i = 0; i < count; i++)
        n += parts[i].n;
    char *text = arena_alloc(arena, n), *at = text;
    if (text == NULL)
        return (struct str){0};
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i].n > 0)
            memcpy(at, parts[i].p, parts[i].n);
        at += parts[i].n;
        *at++ = ',';
    }
    return (struct str){text, n - 1};
}

static void name_fields(struct json_reader *r, struct karmada_cluster *ret) {
    const struct label fields[] = {
        {STR(FIELD_PREFIX "provider"), ret->provider},
        {STR(FIELD_PREFIX "region"), ret->region},
        {STR(FIELD_PREFIX "zone"), joined(ret->zones, ret->zone_count, r->arena)},
    };
    struct label given[sizeof fields / sizeof fields[0]];
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (!str_empty(fields[i].value))
            given[count++] = fields[i];
    ret->properties = labels_merge(ret->meta.labels, (struct labels){given, count}, r->arena);
}

/* ---- the object ---- */

static void spec_decode(struct json_reader *r, struct karmada_cluster *ret) {
    struct str key, zone = {0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("provider")))
            ret->provider = json_string(r);
        else if (str_eq(key, STR("region")))
            ret->region = json_string(r);
        else if (str_eq(key, STR("zone")))
            zone = json_string(r);
        else if (str_eq(key, STR("zones")))
            ret->zones = strings_decode(r, &ret->zone_count);
        else if (str_eq(key, STR("taints")))
            ret->taints = taints_decode(r, &ret->taint_count);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
    if (ret->zone_count > 0 || str_empty(zone))
        return;
    struct str *zones = arena_alloc(r->arena, sizeof *zones);
    if (zones == NULL)
        return; /* the arena says so */
    *zones = zone;
    ret->zones = zones;
    ret->zone_count = 1;
}

static void status_decode(struct json_reader *r, struct summary *summary,
                          struct karmada_cluster *ret) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("resourceSummary")))
            summary_decode(r, summary);
        else if (str_eq(key, STR("apiEnablements")))
            karmada_apis_decode(r, ret);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
}

void karmada_cluster_decode(struct json_reader *r, struct karmada_cluster *ret) {
    struct summary summary = {0};
    struct str key;
    *ret = (struct karmada_cluster){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, &ret->meta);
        else if (str_eq(key, STR("spec")))
            spec_decode(r, ret);
        else if (str_eq(key, STR("status")))
            status_decode(r, &summary, ret);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
    gather(r, &summary, ret);
    name_fields(r, ret);
}
