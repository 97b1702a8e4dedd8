/* Copies a cluster into one block: the cluster, its arrays (arrays with the widest items first),
 * and their text. */
#include "model/karmada.h"

#include <stdlib.h>

/* The size of struct karmada_cluster, rounded up so that an array with the widest items may follow.
 */
enum {
    WIDEST = sizeof(__int128),
    HEAD = (sizeof(struct karmada_cluster) + WIDEST - 1) / WIDEST * WIDEST,
};

/* ---- sizes ---- */

static size_t text_of_access(const struct karmada_access *a) {
    return a->endpoint.n + a->secret_namespace.n + a->secret_name.n + a->proxy_url.n +
           a->proxy_headers.n;
}

static size_t text_of_arrays(const struct karmada_cluster *c) {
    size_t n = 0;
    for (uint32_t i = 0; i < c->meta.labels.count; i++)
        n += c->meta.labels.items[i].key.n + c->meta.labels.items[i].value.n;
    for (uint32_t i = 0; i < c->zone_count; i++)
        n += c->zones[i].n;
    for (uint32_t i = 0; i < c->taint_count; i++)
        n += c->taints[i].key.n + c->taints[i].value.n + c->taints[i].effect.n;
    for (uint32_t i = 0; i < c->resource_count; i++)
        n += c->resources[i].name.n;
    return n;
}

static size_t measure(const struct karmada_cluster *c) {
    const struct karmada_models *m = &c->models;
    size_t n = HEAD + c->resource_count * sizeof *c->resources + m->count * sizeof *m->items +
               c->meta.labels.count * sizeof *c->meta.labels.items +
               c->zone_count * sizeof *c->zones + c->taint_count * sizeof *c->taints +
               m->modeling_count * sizeof *m->modelings + c->api_count * sizeof *c->apis +
               m->count * sizeof *m->by_grade + text_of_arrays(c) + c->meta.name.n + c->meta.uid.n +
               c->provider.n + c->region.n + text_of_access(&c->access);
    for (uint32_t i = 0; i < m->count; i++) {
        n += m->items[i].range_count * sizeof *m->items[i].ranges;
        for (uint32_t k = 0; k < m->items[i].range_count; k++)
            n += m->items[i].ranges[k].name.n;
    }
    return n;
}

/* ---- copying ---- */

static void *put(char **at, const void *items, size_t count, size_t size) {
    char *to = *at;
    if (count > 0)
        memcpy(to, items, count * size);
    *at += count * size;
    return to;
}

static void put_text(char **at, struct str *s) {
    s->p = put(at, s->p, s->n, 1);
}

/* Parts of the copy whose strings must still be copied. */
struct parts {
    struct karmada_resource *resources;
    struct karmada_range *ranges; /* the ranges of all models, one after the other */
    struct karmada_model *models;
    struct label *labels;
    struct str *zones;
    struct taint *taints;
};

static void put_arrays(char **at, struct karmada_cluster *c, struct parts *p) {
    struct karmada_models *m = &c->models;
    c->resources = p->resources = put(at, c->resources, c->resource_count, sizeof *c->resources);
    p->ranges = (struct karmada_range *)(void *)*at;
    for (uint32_t i = 0; i < m->count; i++)
        (void)put(at, m->items[i].ranges, m->items[i].range_count, sizeof *m->items[i].ranges);
    m->items = p->models = put(at, m->items, m->count, sizeof *m->items);
    c->meta.labels.items = p->labels =
        put(at, c->meta.labels.items, c->meta.labels.count, sizeof *p->labels);
    c->zones = p->zones = put(at, c->zones, c->zone_count, sizeof *p->zones);
    c->taints = p->taints = put(at, c->taints, c->taint_count, sizeof *p->taints);
    m->modelings = put(at, m->modelings, m->modeling_count, sizeof *m->modelings);
    c->apis = put(at, c->apis, c->api_count, sizeof *c->apis);
    m->by_grade = put(at, m->by_grade, m->count, sizeof *m->by_grade);
}

static void put_texts(char **at, struct karmada_cluster *c, const struct parts *p) {
    struct karmada_range *range = p->ranges;
    put_text(at, &c->meta.name);
    put_text(at, &c->meta.uid);
    put_text(at, &c->provider);
    put_text(at, &c->region);
    put_text(at, &c->access.endpoint);
    put_text(at, &c->access.secret_namespace);
    put_text(at, &c->access.secret_name);
    put_text(at, &c->access.proxy_url);
    put_text(at, &c->access.proxy_headers);
    for (uint32_t i = 0; i < c->meta.labels.count; i++) {
        put_text(at, &p->labels[i].key);
        put_text(at, &p->labels[i].value);
    }
    for (uint32_t i = 0; i < c->zone_count; i++)
        put_text(at, &p->zones[i]);
    for (uint32_t i = 0; i < c->taint_count; i++) {
        put_text(at, &p->taints[i].key);
        put_text(at, &p->taints[i].value);
        put_text(at, &p->taints[i].effect);
    }
    for (uint32_t i = 0; i < c->resource_count; i++)
        put_text(at, &p->resources[i].name);
    for (uint32_t i = 0; i < c->models.count; i++) {
        p->models[i].ranges = range;
        for (uint32_t k = 0; k < p->models[i].range_count; k++, range++)
            put_text(at, &range->name);
    }
}

struct karmada_cluster *karmada_cluster_copy(const struct karmada_cluster *from,
                                             size_t *ret_bytes) {
    const size_t bytes = measure(from);
    struct karmada_cluster *copy = malloc(bytes);
    struct parts parts;
    *ret_bytes = bytes;
    if (copy == NULL)
        return NULL;
    *copy = *from;
    copy->meta = (struct object_meta){.name = from->meta.name,
                                      .uid = from->meta.uid,
                                      .labels = from->meta.labels,
                                      .terminating = from->meta.terminating};
    copy->properties = (struct labels){NULL, 0};
    char *at = (char *)copy + HEAD;
    put_arrays(&at, copy, &parts);
    put_texts(&at, copy, &parts);
    return copy;
}
