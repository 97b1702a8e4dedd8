#include "base/sorted.h"
#include "model/binding.h"

static bool has_name(const struct str *sorted, uint32_t count, struct str name) {
    return sorted_texts_find(sorted, count, name) != UINT32_MAX;
}

static bool overlaps(const struct requirement *q, const struct cluster_traits *cluster) {
    for (uint32_t i = 0; i < cluster->zone_count; i++)
        if (has_name(q->values, q->value_count, cluster->zones[i]))
            return true;
    return false;
}

/* upstream: matchZones() */
static bool zones_match(const struct requirement *q, const struct cluster_traits *cluster) {
    switch (q->op) {
    case SELECTOR_IN:
        return overlaps(q, cluster);
    case SELECTOR_NOT_IN:
        return !overlaps(q, cluster);
    case SELECTOR_EXISTS:
        return cluster->zone_count > 0;
    case SELECTOR_DOES_NOT_EXIST:
        return cluster->zone_count == 0;
    case SELECTOR_GT:
    case SELECTOR_LT:
        break; /* an affinity with another operator is invalid */
    }
    return false;
}

/* A label_lookup_fn for fields of a cluster: an empty field counts as a missing label. */
static bool field_lookup(const void *ctx, struct str key, struct str *ret_value) {
    const struct cluster_traits *cluster = ctx;
    if (str_eq(key, STR("provider")))
        *ret_value = cluster->provider;
    else if (str_eq(key, STR("region")))
        *ret_value = cluster->region;
    else
        return false;
    return !str_empty(*ret_value);
}

bool cluster_affinity_matches(const struct cluster_affinity *affinity,
                              const struct cluster_traits *cluster, struct steps *steps) {
    const uint64_t zones = (uint64_t)affinity->zone_count * (1 + cluster->zone_count);
    if (!steps_take(steps, 1 + affinity->labels.count + affinity->fields.count + zones))
        return false;
    if (affinity->invalid ||
        has_name(affinity->excluded, affinity->excluded_count, cluster->name) ||
        (affinity->name_count > 0 &&
         !has_name(affinity->names, affinity->name_count, cluster->name)))
        return false;
    if (affinity->label_selector.present &&
        !selector_matches(&affinity->labels, labels_lookup, &cluster->labels))
        return false;
    for (uint32_t i = 0; i < affinity->zone_count; i++)
        if (!zones_match(&affinity->zones[i], cluster))
            return false;
    return selector_matches(&affinity->fields, field_lookup, cluster);
}
