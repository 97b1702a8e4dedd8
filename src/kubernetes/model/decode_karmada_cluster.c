#include "model/karmada.h"

#include "model/fields.h"
#include "model/quantity.h"

#include <stdlib.h>

/* ---- resources ---- */

/* One amount of one resource, while the summary is read. */
struct amount {
    struct str name;
    enum karmada_amount which;
    struct quantity quantity;
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
            return; /* the error stays in the arena */
        s->items = items;
        items[s->count++] = (struct amount){key, which, amount_decode(r, NULL)};
    }
}

/* A Cluster, while it is read. */
struct read_cluster {
    struct karmada_cluster cluster;
    struct summary summary;
    struct str zone; /* spec.zone, the older field for one zone */
};

static void allocatable_read(struct json_reader *r, void *into) {
    amounts_decode(r, KARMADA_ALLOCATABLE, into);
}

static void allocating_read(struct json_reader *r, void *into) {
    amounts_decode(r, KARMADA_ALLOCATING, into);
}

static void allocated_read(struct json_reader *r, void *into) {
    amounts_decode(r, KARMADA_ALLOCATED, into);
}

static void modelings_read(struct json_reader *r, void *into) {
    karmada_modelings_decode(r, into);
}

static const struct json_field summary_fields[] = {
    JSON_CALL("allocatable", struct read_cluster, summary, allocatable_read),
    JSON_CALL("allocating", struct read_cluster, summary, allocating_read),
    JSON_CALL("allocated", struct read_cluster, summary, allocated_read),
    JSON_CALL("allocatableModelings", struct read_cluster, cluster.models, modelings_read),
};

static int by_name(const void *a, const void *b) {
    const struct amount *left = a, *right = b;
    return str_cmp(left->name, right->name);
}

/* Subtracts an amount. If *from is zero, it gets the format of the subtracted amount. upstream:
 * resource Quantity.Sub() */
static void subtract(struct quantity *from, const struct karmada_resource *resource,
                     enum karmada_amount which, enum quantity_format format) {
    if ((resource->given & 1u << which) == 0)
        return;
    if (from->nano == 0)
        from->format = format;
    from->nano -= resource->nano[which];
}

/* Computes the free amount of a resource. `formats`: the formats of its amounts. */
static void work_out_free(struct karmada_resource *resource,
                          const enum quantity_format formats[static KARMADA_AMOUNTS]) {
    struct quantity left = {.nano = resource->nano[KARMADA_ALLOCATABLE],
                            .format = formats[KARMADA_ALLOCATABLE]};
    subtract(&left, resource, KARMADA_ALLOCATED, formats[KARMADA_ALLOCATED]);
    subtract(&left, resource, KARMADA_ALLOCATING, formats[KARMADA_ALLOCATING]);
    resource->format = left.format;
    resource->free =
        str_eq(resource->name, STR("cpu")) ? quantity_milli_value(&left) : quantity_value(&left);
}

/* Pods are whole numbers: each amount is rounded before the subtraction. upstream:
 * getAllowedPodNumber() */
static int64_t free_pods_of(const struct karmada_resource *pods) {
    int64_t amounts[KARMADA_AMOUNTS], left;
    for (int which = 0; which < KARMADA_AMOUNTS; which++)
        amounts[which] = quantity_value(&(struct quantity){.nano = pods->nano[which]});
    const __int128 wide = (__int128)amounts[KARMADA_ALLOCATABLE] - amounts[KARMADA_ALLOCATED] -
                          amounts[KARMADA_ALLOCATING];
    left = wide > INT64_MAX ? INT64_MAX : wide < 0 ? 0 : (int64_t)wide;
    return left;
}

/* Merges the amounts that were read into one item for each resource. */
static void gather(struct json_reader *r, struct summary *s, struct karmada_cluster *ret) {
    struct karmada_resource *resources = arena_array(r->arena, s->count, sizeof *resources);
    uint32_t count = 0;
    if (resources == NULL)
        return; /* the error stays in the arena */
    if (!steps_take_sort(&r->arena->steps, s->count)) {
        json_fail(r, "too many resources");
        return;
    }
    if (s->count > 1)
        qsort(s->items, s->count, sizeof *s->items, by_name);
    for (uint32_t i = 0; i < s->count;) {
        struct karmada_resource *resource = &resources[count++];
        enum quantity_format formats[KARMADA_AMOUNTS] = {0};
        for (resource->name = s->items[i].name;
             i < s->count && str_eq(resource->name, s->items[i].name); i++) {
            const struct amount *amount = &s->items[i];
            resource->nano[amount->which] = amount->quantity.nano;
            resource->given |= (uint8_t)(1u << amount->which);
            formats[amount->which] = amount->quantity.format;
        }
        work_out_free(resource, formats);
        if (str_eq(resource->name, STR("pods")))
            ret->free_pods = free_pods_of(resource);
    }
    ret->resources = resources;
    ret->resource_count = count;
}

/* ---- properties ---- */

static struct str joined(const struct str *parts, uint32_t count, struct arena *arena) {
    size_t n = count; /* a comma after each part */
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

/* Reads headers. Skips headers that are no object: no API server stores such headers. */
static void headers_read(struct json_reader *r, void *into) {
    if (json_peek(r) == JSON_OBJECT)
        *(struct str *)into = json_skip(r);
}

static void mode_read(struct json_reader *r, void *into) {
    *(bool *)into = str_eq(json_string(r), STR("Pull"));
}

static void taints_read(struct json_reader *r, void *into) {
    struct karmada_cluster *cluster = into;
    cluster->taints = taints_decode(r, &cluster->taint_count);
}

static void models_read(struct json_reader *r, void *into) {
    karmada_models_decode(r, into);
}

static void apis_read(struct json_reader *r, void *into) {
    karmada_apis_decode(r, into);
}

static const struct json_field secret_fields[] = {
    JSON_TEXT("namespace", struct read_cluster, cluster.access.secret_namespace),
    JSON_TEXT("name", struct read_cluster, cluster.access.secret_name),
};
static const struct json_field spec_fields[] = {
    JSON_TEXT("apiEndpoint", struct read_cluster, cluster.access.endpoint),
    JSON_WITHIN("secretRef", secret_fields),
    JSON_TEXT("proxyURL", struct read_cluster, cluster.access.proxy_url),
    JSON_CALL("proxyHeader", struct read_cluster, cluster.access.proxy_headers, headers_read),
    JSON_FLAG("insecureSkipTLSVerification", struct read_cluster,
              cluster.access.insecure_skip_tls_verify),
    JSON_TEXT("provider", struct read_cluster, cluster.provider),
    JSON_TEXT("region", struct read_cluster, cluster.region),
    JSON_TEXT("zone", struct read_cluster, zone),
    JSON_TEXTS("zones", struct read_cluster, cluster.zones, cluster.zone_count, UINT32_MAX),
    JSON_CALL("syncMode", struct read_cluster, cluster.pull, mode_read),
    JSON_CALL("taints", struct read_cluster, cluster, taints_read),
    JSON_CALL("resourceModels", struct read_cluster, cluster.models, models_read),
};
static const struct json_field status_fields[] = {
    JSON_WITHIN_GIVEN("resourceSummary", summary_fields, struct read_cluster, cluster.has_summary),
    JSON_CALL("apiEnablements", struct read_cluster, cluster, apis_read),
};
static const struct json_field cluster_fields[] = {
    JSON_CALL("metadata", struct read_cluster, cluster.meta, meta_read),
    JSON_WITHIN("spec", spec_fields),
    JSON_WITHIN("status", status_fields),
};

static void use_zone(struct json_reader *r, struct karmada_cluster *ret, struct str zone) {
    if (ret->zone_count > 0 || str_empty(zone))
        return;
    struct str *zones = arena_alloc(r->arena, sizeof *zones);
    if (zones == NULL)
        return; /* the error stays in the arena */
    *zones = zone;
    ret->zones = zones;
    ret->zone_count = 1;
}

void karmada_cluster_decode(struct json_reader *r, struct karmada_cluster *ret) {
    struct read_cluster read = {.zone = {0}};
    json_fields(r, &JSON_ROWS(cluster_fields), &read);
    *ret = read.cluster;
    use_zone(r, ret, read.zone);
    gather(r, &read.summary, ret);
    karmada_models_finish(r, &ret->models);
    name_fields(r, ret);
}
