/*
 * The APIs that a cluster serves. A cluster lists some hundreds of APIs, and a scheduler asks for
 * one of them at each cluster: so a cluster keeps a sorted list of hashes. Two APIs with the same
 * hash would be confused; the hash key is secret, so the probability of that is 2^-64.
 */
#include "model/karmada.h"

#include "base/hash.h"

#include <stdlib.h>

struct served {
    karmada_api *items; /* in the arena */
    uint32_t count, cap;
};

karmada_api karmada_api_of(struct str group_version, struct str kind) {
    struct hash_state hash = hash_begin();
    hash_add(&hash, group_version);
    hash_add(&hash, kind);
    return hash_end(hash);
}

karmada_api karmada_api_of_object(struct str api_version, struct str kind) {
    const size_t slash = str_find(api_version, '/');
    struct str group_version = api_version;
    if (slash != SIZE_MAX) {
        const struct str version = {api_version.p + slash + 1, api_version.n - slash - 1};
        if (str_find(version, '/') != SIZE_MAX)
            group_version = (struct str){0};
        else if (slash == 0)
            group_version = version;
    }
    return karmada_api_of(group_version, kind);
}

/* ---- status.apiEnablements ---- */

static void kinds_decode(struct json_reader *r, struct str group_version, struct served *served) {
    struct str key;
    if (!json_array(r))
        return;
    while (json_element(r)) {
        struct str kind = {0};
        if (json_object(r))
            while (json_member(r, &key)) {
                if (str_eq(key, STR("kind")))
                    kind = json_string(r);
            }
        karmada_api *items =
            arena_push(r->arena, served->items, served->count, &served->cap, sizeof *items);
        if (items == NULL)
            return; /* the error stays in the arena */
        served->items = items;
        items[served->count++] = karmada_api_of(group_version, kind);
    }
}

/* Reads a group of APIs. First looks up groupVersion, without moving the reader, because
 * `resources` may be written before groupVersion. */
static void group_decode(struct json_reader *r, struct served *served) {
    const struct str group_version = json_peek_member(r, STR("groupVersion"));
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("groupVersion")))
            (void)json_string(r); /* groupVersion was read before; errors stay in r */
        else if (str_eq(key, STR("resources")))
            kinds_decode(r, group_version, served);
    }
}

static int by_value(const void *a, const void *b) {
    const karmada_api left = *(const karmada_api *)a, right = *(const karmada_api *)b;
    return (left > right) - (left < right);
}

void karmada_apis_decode(struct json_reader *r, struct karmada_cluster *ret) {
    struct served served = {0};
    uint32_t unique = 0;
    ret->apis = NULL;
    ret->api_count = 0;
    if (!json_array(r))
        return;
    while (json_element(r))
        group_decode(r, &served);
    if (!steps_take_sort(&r->arena->steps, served.count)) {
        json_fail(r, "too many resources");
        return;
    }
    if (served.count > 1)
        qsort(served.items, served.count, sizeof *served.items, by_value);
    for (uint32_t i = 0; i < served.count; i++)
        if (unique == 0 || served.items[unique - 1] != served.items[i])
            served.items[unique++] = served.items[i];
    ret->apis = served.items;
    ret->api_count = unique;
}

/* Hashes are spread evenly, so a hash is near its proportional place in the list. A search from
 * there touches one or two cache lines; bisection would touch nine. */
bool karmada_cluster_serves(const struct karmada_cluster *cluster, karmada_api api) {
    uint32_t at = (uint32_t)(((api >> 32) * cluster->api_count) >> 32);
    while (at < cluster->api_count && cluster->apis[at] < api)
        at++;
    while (at > 0 && cluster->apis[at - 1] >= api)
        at--;
    return at < cluster->api_count && cluster->apis[at] == api;
}
