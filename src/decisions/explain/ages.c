#include "explain/ages.h"

static int64_t older(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t workloads_age_ms(const struct cache *cache) {
    static const enum object_kind kinds[] = {OBJECT_SERVICE, OBJECT_REPLICATION_CONTROLLER,
                                             OBJECT_REPLICA_SET, OBJECT_STATEFUL_SET};
    int64_t oldest_ms = -1;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        oldest_ms = older(oldest_ms, cache_kind_age_ms(cache, kinds[i]));
    return oldest_ms;
}

int64_t ages_now_ms(const struct cache *cache) {
    if (cache == NULL)
        return -1;
    return older(cache_kind_age_ms(cache, OBJECT_NODE), cache_kind_age_ms(cache, OBJECT_POD));
}

void ages_of(const struct cache *cache, const struct applied_constraint *applied, uint32_t count,
             struct decision_ages *ages, struct decision_about *about) {
    *ages = (struct decision_ages){.nodes_ms = cache_kind_age_ms(cache, OBJECT_NODE),
                                   .pods_ms = cache_kind_age_ms(cache, OBJECT_POD),
                                   .workloads_ms = -1};
    for (uint32_t i = 0; i < count; i++)
        if (applied[i].origin == CONSTRAINT_OF_DEFAULTS) {
            ages->workloads_ms = workloads_age_ms(cache);
            break;
        }
    int64_t oldest_ms = older(older(ages->nodes_ms, ages->pods_ms), ages->workloads_ms);
    about->data_age_ms = older(oldest_ms, 0);
    about->ages = oldest_ms >= 0 ? ages : NULL; /* files have no age */
}
