#include "estimator/quota.h"

#include "base/sorted.h"
#include "model/labels.h"

#include <errno.h>
#include <stdlib.h>

#define REQUESTS "requests."
#define LIMITS "limits."

/* ---- free amounts ---- */

/* A room while it is read. If a name is given with and without its prefix, the amount with the
 * prefix counts. */
struct named_room {
    struct quota_room room;
    bool prefixed;
};

static int by_name(const void *a, const void *b) {
    const struct named_room *left = a, *right = b;
    const int order = str_cmp(left->room.name, right->room.name);
    return order != 0 ? order : left->prefixed - right->prefixed;
}

static bool is_counted(struct str name) {
    return str_eq(name, STR("cpu")) || str_eq(name, STR("memory")) || resource_is_extended(name);
}

/* Gets the room of one amount of the quota; returns false if the amount does not count. */
static bool room_of(const struct quota_amount *amount, struct named_room *ret) {
    struct str name = amount->name;
    if (!amount->has_hard || !amount->has_used || str_has_prefix(name, STR(LIMITS)))
        return false;
    ret->prefixed = str_has_prefix(name, STR(REQUESTS));
    if (ret->prefixed) {
        name.p += sizeof REQUESTS - 1;
        name.n -= sizeof REQUESTS - 1;
    }
    if (!is_counted(name))
        return false;
    const struct quantity left = {.nano = amount->hard - amount->used};
    ret->room = (struct quota_room){name, left.nano,
                                    str_eq(name, STR("cpu")) ? quantity_milli_value(&left)
                                                             : quantity_value(&left)};
    return true;
}

int estimator_quota_init(const struct quota *from, struct arena *arena,
                         struct estimator_quota *ret) {
    struct named_room *named = arena_array_unset(arena, from->amount_count, sizeof *named);
    struct quota_room *rooms = arena_array_unset(arena, from->amount_count, sizeof *rooms);
    uint32_t all = 0, count = 0;
    *ret = (struct estimator_quota){.namespace = from->meta.namespace,
                                    .scopes = from->scopes,
                                    .scope_count = from->scope_count,
                                    .rooms = rooms};
    if (named == NULL || rooms == NULL)
        return -ENOMEM;
    if (!steps_take_sort(&arena->steps, (uint64_t)from->amount_count * 4))
        return -E2BIG;
    for (uint32_t i = 0; i < from->amount_count; i++)
        if (room_of(&from->amounts[i], &named[all]))
            all++;
    if (all > 1)
        qsort(named, all, sizeof *named, by_name);
    for (uint32_t i = 0; i < all; i++) {
        if (count > 0 && str_eq(rooms[count - 1].name, named[i].room.name))
            count--;
        rooms[count++] = named[i].room;
    }
    ret->room_count = count;
    return 0;
}

/* ---- scopes ---- */

static bool is_among(struct str word, const struct str *words, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (str_eq(word, words[i]))
            return true;
    return false;
}

/* Is the scope valid as a requirement on a label? upstream: labels.NewRequirement() */
static bool scope_is_valid(const struct quota_scope *scope) {
    for (uint32_t i = 0; i < scope->value_count; i++)
        if (!label_value_valid(scope->values[i]))
            return false;
    return true;
}

static bool scope_selects(const struct quota_scope *scope, struct str priority_class) {
    const bool given = !str_empty(priority_class);
    if (!str_eq(scope->name, STR("PriorityClass")))
        return false;
    if (str_eq(scope->op, STR("Exists")))
        return given;
    if (str_eq(scope->op, STR("DoesNotExist")))
        return scope->value_count == 0 && !given;
    if (scope->value_count == 0 || !scope_is_valid(scope))
        return false;
    if (str_eq(scope->op, STR("In")))
        return given && is_among(priority_class, scope->values, scope->value_count);
    return str_eq(scope->op, STR("NotIn")) &&
           !(given && is_among(priority_class, scope->values, scope->value_count));
}

/* Does the quota select pods of this priority class? Takes steps; also returns false when they are
 * spent, so the caller must check the steps. */
static bool quota_selects(const struct estimator_quota *quota, bool given,
                          struct str priority_class, struct steps *steps) {
    if (quota->scope_count == 0)
        return true;
    for (uint32_t i = 0; given && i < quota->scope_count; i++) {
        if (!steps_take(steps, 1 + (uint64_t)quota->scopes[i].value_count * 2))
            return false;
        if (scope_selects(&quota->scopes[i], priority_class))
            return true;
    }
    return false;
}

/* ---- sums, one for each room ---- */

static struct str room_name(const void *items, size_t i) {
    return ((const struct quota_room *)items)[i].name;
}

static const struct quota_room *find_room(const struct estimator_quota *quota, struct str name) {
    bool found;
    const size_t at = sorted_place(quota->rooms, quota->room_count, room_name, name, &found);
    return found ? &quota->rooms[at] : NULL;
}

static void add_demands(const struct estimator_quota *quota, const struct demands *demands,
                        int64_t replicas, int64_t *sums) {
    for (uint32_t i = 0; i < demands->count; i++) {
        const struct quota_room *room = find_room(quota, demands->items[i].name);
        int64_t amount;
        if (room == NULL)
            continue;
        int64_t *sum = &sums[room - quota->rooms];
        if (__builtin_mul_overflow(demands->items[i].amount, replicas, &amount) ||
            __builtin_add_overflow(*sum, amount, sum))
            *sum = INT64_MAX;
    }
}

/* Adds the demands of a set's components that the quota selects. *ret_any is true if it selects a
 * component. */
static int add_set(const struct estimator_quota *quota, const struct component_set *set,
                   struct arena *arena, int64_t *sums, bool *ret_any) {
    for (uint32_t i = 0; i < set->count; i++) {
        const struct component_demand *component = &set->items[i];
        const struct replica_requirements *requirements = component->requirements;
        const bool selects =
            quota_selects(quota, requirements->given, requirements->priority_class, &arena->steps);
        if (!steps_take(&arena->steps, 1 + (uint64_t)component->demands.count * 4))
            return -E2BIG;
        if (!selects)
            continue;
        *ret_any = true;
        add_demands(quota, &component->demands, component->replicas, sums);
    }
    return 0;
}

/* Adds the amounts that assumed workloads of a namespace take from the quota. */
static int add_assumed(const struct estimator_quota *quota, const struct estimator_question *q,
                       struct str namespace, struct arena *arena, int64_t *sums) {
    bool any;
    for (uint32_t i = 0; i < q->assumed_count; i++) {
        const int r = str_eq(q->assumed[i].namespace, namespace)
                          ? add_set(quota, &q->assumed[i], arena, sums, &any)
                          : 0;
        if (r != 0)
            return r;
    }
    return 0;
}

/* Returns the number of times that `wanted` fits beside `assumed`; 0 if `assumed` alone does not
 * fit. */
static int64_t divide_rooms(const struct estimator_quota *quota, const int64_t *wanted,
                            const int64_t *assumed) {
    int64_t least = ESTIMATE_MAX;
    for (uint32_t i = 0; i < quota->room_count; i++) {
        const struct quota_room *room = &quota->rooms[i];
        const __int128 unit = str_eq(room->name, STR("cpu")) ? 1000000 : 1000000000;
        int64_t left;
        if (assumed[i] > 0 && room->nano < unit * assumed[i])
            return 0;
        if (wanted[i] == 0)
            continue;
        if (__builtin_sub_overflow(room->amount, assumed[i], &left) || left < 0)
            left = 0;
        least = left / wanted[i] < least ? left / wanted[i] : least;
    }
    return least;
}

/* ---- answers ---- */

/* Makes two sums for each room: of the wanted and of the assumed amounts. */
static int make_sums(const struct estimator_quota *quota, struct arena *arena, int64_t *ret[2]) {
    if (!steps_take(&arena->steps, 1 + (uint64_t)quota->room_count))
        return -E2BIG;
    ret[0] = arena_array(arena, quota->room_count, sizeof *ret[0]);
    ret[1] = arena_array(arena, quota->room_count, sizeof *ret[1]);
    return ret[0] == NULL || ret[1] == NULL ? -ENOMEM : 0;
}

static int quota_replicas(const struct estimator_quota *quota, const struct estimator_question *q,
                          struct arena *arena, int64_t *ret) {
    int64_t *sums[2];
    const bool selects = quota_selects(quota, true, q->requirements->priority_class, &arena->steps);
    int r = steps_spent(&arena->steps) ? -E2BIG : 0;
    *ret = ESTIMATE_MAX;
    if (r != 0 || !selects)
        return r;
    r = make_sums(quota, arena, sums);
    if (r == 0)
        r = add_assumed(quota, q, q->requirements->namespace, arena, sums[1]);
    if (r != 0)
        return r;
    add_demands(quota, &q->demands, 1, sums[0]);
    *ret = divide_rooms(quota, sums[0], sums[1]);
    return 0;
}

int estimator_quotas_replicas(const struct estimator_quota *quotas, uint32_t count,
                              const struct estimator_question *q, struct arena *arena,
                              int64_t *ret) {
    const struct str namespace = q->requirements->namespace;
    *ret = ESTIMATE_MAX;
    for (uint32_t i = 0; q->demands.given && i < count; i++) {
        int64_t replicas;
        if (!steps_take(&arena->steps, 1))
            return -E2BIG;
        if (!str_empty(namespace) && !str_eq(namespace, quotas[i].namespace))
            continue;
        const int r = quota_replicas(&quotas[i], q, arena, &replicas);
        if (r != 0)
            return r;
        *ret = replicas < *ret ? replicas : *ret;
    }
    return 0;
}

static int quota_sets(const struct estimator_quota *quota, const struct estimator_question *q,
                      struct arena *arena, int64_t *ret) {
    int64_t *sums[2];
    bool any = false;
    *ret = ESTIMATE_MAX;
    int r = make_sums(quota, arena, sums);
    if (r == 0)
        r = add_set(quota, &q->set, arena, sums[0], &any);
    if (r == 0 && any)
        r = add_assumed(quota, q, q->set.namespace, arena, sums[1]);
    if (r == 0 && any)
        *ret = divide_rooms(quota, sums[0], sums[1]);
    return r;
}

int estimator_quotas_sets(const struct estimator_quota *quotas, uint32_t count,
                          const struct estimator_question *q, struct arena *arena, int64_t *ret) {
    *ret = ESTIMATE_MAX;
    if (q->set.count == 0 || str_empty(q->set.namespace))
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t sets;
        if (!steps_take(&arena->steps, 1))
            return -E2BIG;
        if (!str_eq(q->set.namespace, quotas[i].namespace))
            continue;
        const int r = quota_sets(&quotas[i], q, arena, &sets);
        if (r != 0)
            return r;
        *ret = sets < *ret ? sets : *ret;
    }
    return 0;
}
