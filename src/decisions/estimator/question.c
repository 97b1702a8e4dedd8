/* Computes the demands of replicas and sets of components, in the units of comparisons. */
#include "estimator/internal.h"
#include "estimator/wire.h"

#include <errno.h>
#include <stdlib.h>

/* ---- a replica ---- */

static bool is_cpu(struct str name) {
    return str_eq(name, STR("cpu"));
}

/* Makes the demands from the items of a request that are above 0. */
static int demands_init(struct demands *ret, const struct replica_requirements *from,
                        struct arena *arena) {
    struct demand *items = arena_array_unset(arena, from->request_count, sizeof *items);
    uint32_t count = 0;
    *ret = (struct demands){.given = from->given};
    if (items == NULL)
        return -ENOMEM;
    if (!steps_take(&arena->steps, (uint64_t)from->request_count * 4))
        return -E2BIG;
    for (uint32_t i = 0; i < from->request_count; i++) {
        const struct request *request = &from->requests[i];
        const struct quantity *q = &request->amount;
        if (q->nano <= 0)
            continue;
        const int64_t whole = quantity_value(q), milli = quantity_milli_value(q);
        items[count++] = (struct demand){
            .name = request->name,
            .amount = is_cpu(request->name) ? milli : whole,
            .by_family = q->format == QUANTITY_BINARY_SI ? whole : milli,
            .nano = q->nano,
            .scheduled = resource_is_scheduled(request->name),
        };
    }
    ret->items = items;
    ret->count = count;
    return 0;
}

/* ---- a set ---- */

static int64_t times(int64_t amount, int64_t count) {
    int64_t product;
    return __builtin_mul_overflow(amount, count, &product) ? INT64_MAX : product;
}

static int64_t plus(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int by_name(const void *a, const void *b) {
    const struct set_demand *left = a, *right = b;
    return str_cmp(left->name, right->name);
}

/* Sorts by name, and adds up equal names. Returns the number of names. */
static uint32_t sum_by_name(struct set_demand *sums, uint32_t all) {
    uint32_t count = 0;
    if (all > 1)
        qsort(sums, all, sizeof *sums, by_name);
    for (uint32_t i = 0; i < all; i++) {
        if (count > 0 && str_eq(sums[count - 1].name, sums[i].name)) {
            sums[count - 1].amount = plus(sums[count - 1].amount, sums[i].amount);
            sums[count - 1].by_family = plus(sums[count - 1].by_family, sums[i].by_family);
        } else
            sums[count++] = sums[i];
    }
    return count;
}

/* Adds up the demands of all replicas of the components. */
static int sum_demands(struct component_set *set, struct arena *arena) {
    uint32_t all = 0;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i].replicas > 0 &&
            __builtin_add_overflow(all, set->items[i].demands.count, &all))
            return -E2BIG;
    struct set_demand *sums = arena_array_unset(arena, all, sizeof *sums);
    if (sums == NULL)
        return -ENOMEM;
    if (!steps_take_sort(&arena->steps, all))
        return -E2BIG;
    all = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct component_demand *component = &set->items[i];
        for (uint32_t d = 0; component->replicas > 0 && d < component->demands.count; d++) {
            const struct demand *demand = &component->demands.items[d];
            sums[all++] =
                (struct set_demand){demand->name, times(demand->amount, component->replicas),
                                    times(demand->by_family, component->replicas)};
        }
    }
    set->demands = sums;
    set->demand_count = sum_by_name(sums, all);
    return 0;
}

int component_set_init(struct component_set *ret, const struct component *components,
                       uint32_t component_count, struct arena *arena) {
    struct component_demand *items = arena_array(arena, component_count, sizeof *items);
    int r = items == NULL ? -ENOMEM : 0;
    *ret = (struct component_set){.items = items, .count = component_count};
    for (uint32_t i = 0; r == 0 && i < component_count; i++) {
        const struct component *component = &components[i];
        items[i].replicas = component->replicas > 0 ? component->replicas : 0;
        items[i].requirements = &component->requirements;
        ret->pods += items[i].replicas; /* 2^32 components of 2^31 replicas fit */
        r = demands_init(&items[i].demands, &component->requirements, arena);
    }
    return r == 0 ? sum_demands(ret, arena) : r;
}

int component_sets_sum(const struct component_set *sets, uint32_t count, struct arena *arena,
                       struct component_set *ret) {
    struct component_set total = {0};
    uint64_t all = 0;
    for (uint32_t i = 0; i < count; i++)
        all += sets[i].demand_count;
    if (all > UINT32_MAX || !steps_take_sort(&arena->steps, all))
        return -E2BIG;
    struct set_demand *sums = arena_array_unset(arena, all, sizeof *sums);
    if (sums == NULL)
        return -ENOMEM;
    all = 0;
    for (uint32_t i = 0; i < count; i++) {
        total.pods = plus(total.pods, sets[i].pods);
        for (uint32_t d = 0; d < sets[i].demand_count; d++)
            sums[all++] = sets[i].demands[d];
    }
    total.demands = sums;
    total.demand_count = sum_by_name(sums, (uint32_t)all);
    *ret = total;
    return 0;
}

int estimator_question_init(struct estimator_question *ret,
                            const struct replica_requirements *requirements,
                            const struct component *components, uint32_t component_count,
                            struct arena *arena) {
    *ret = (struct estimator_question){.requirements = requirements, .models = MODELS_THIRD};
    const int r = demands_init(&ret->demands, requirements, arena);
    return r == 0 ? component_set_init(&ret->set, components, component_count, arena) : r;
}

int estimator_question_assume(struct estimator_question *q, const struct assumed_workload *assumed,
                              uint32_t count, struct arena *arena) {
    struct component_set *sets = arena_array(arena, count, sizeof *sets);
    if (sets == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const int r =
            component_set_init(&sets[i], assumed[i].components, assumed[i].component_count, arena);
        if (r != 0)
            return r;
        sets[i].namespace = assumed[i].namespace;
    }
    q->assumed = sets;
    q->assumed_count = count;
    return 0;
}
