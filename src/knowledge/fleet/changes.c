#include "fleet/changes.h"

#include "base/limits.h"
#include "fleet/internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* The Placements found so far, perhaps some of them several times. */
struct finding {
    const struct fleet_contents *c;
    struct arena *arena;
    uint32_t *ids;
    uint32_t count, cap;
    bool spent;           /* no steps are left; the arena itself notes lack of memory */
    struct steps looking; /* steps for the search of the cluster in decisions; when they are spent,
                             the cluster counts as not found */
    /* Conditions for Placements to be found. */
    uint32_t set, resource; /* interned; INTERN_NONE: any */
    uint32_t slot;          /* slot of the changed cluster; TOPOLOGY_NONE: no cluster has changed,
                               or no decision names the cluster */
};

static bool goes_on(struct finding *f, uint64_t steps) {
    f->spent = f->spent || !steps_take(&f->arena->steps, steps);
    return !f->spent && !arena_failed(f->arena);
}

static bool has(const uint32_t *ids, uint32_t count, uint32_t wanted) {
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ids[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ids[low] == wanted;
}

static void find_placement(struct finding *f, uint32_t id) {
    const struct placement_record *p = placement_at(f->c, id);
    if (!pool_is_known(&f->c->placements, id) ||
        (f->set != INTERN_NONE && p->set_count > 0 && !has(p->sets, p->set_count, f->set)) ||
        (f->resource != INTERN_NONE && !has(p->resources, p->resource_count, f->resource)))
        return;
    uint32_t *ids = arena_push(f->arena, f->ids, f->count, &f->cap, sizeof *ids);
    if (ids == NULL)
        return; /* the arena has failed */
    f->ids = ids;
    ids[f->count++] = id;
}

static void find_in_namespace(struct finding *f, uint32_t namespace) {
    uint32_t id = namespace != FLEET_NONE ? namespace_at(f->c, namespace)->placements : FLEET_NONE;
    for (; id != FLEET_NONE && goes_on(f, 1); id = placement_at(f->c, id)->in_namespace.next)
        find_placement(f, id);
}

static void find_by_set(struct finding *f, uint32_t set) {
    uint32_t id = set_at(f->c, set)->bindings;
    for (; id != FLEET_NONE && goes_on(f, 1); id = binding_at(f->c, id)->in_set.next)
        find_in_namespace(f, binding_at(f->c, id)->namespace);
}

/* ---- sets that a cluster is in ---- */

struct cluster_labels {
    const struct topology *topology;
    uint32_t slot;
};

static bool look_up(const void *ctx, struct str key, struct str *ret_value) {
    const struct cluster_labels *labels = ctx;
    return topology_label(labels->topology, labels->slot, key, ret_value);
}

/* Calls `found` for each set that the cluster is in. */
static void find_sets(struct finding *f, struct str cluster,
                      void (*found)(struct finding *f, uint32_t set)) {
    const struct fleet_contents *c = f->c;
    const struct cluster_labels labels = {c->clusters, topology_slot(c->clusters, cluster)};
    struct str name;
    if (labels.slot == TOPOLOGY_NONE || !topology_is_known(c->clusters, labels.slot))
        return;
    if (look_up(&labels, STR(CLUSTER_SET_LABEL), &name)) {
        const uint32_t set = contents_set_find(c, name);
        if (set != FLEET_NONE && pool_is_known(&c->sets, set) &&
            set_at(c, set)->set.type == CLUSTER_SET_BY_LABEL)
            found(f, set);
    }
    for (uint32_t set = c->sets_with_selector; set != FLEET_NONE;
         set = set_at(c, set)->with_selector.next) {
        const struct fleet_set *of = &set_at(c, set)->set;
        if (!goes_on(f, selector_cost(&of->selector).steps))
            return;
        if (of->problem.n == 0 && selector_matches(&of->selector, look_up, &labels))
            found(f, set);
    }
}

/* Finds the Placements that may use the set. */
static void find_users(struct finding *f, uint32_t set) {
    f->set = set_at(f->c, set)->name;
    find_by_set(f, set);
}

/* ---- spread groups ---- */

/* Finds all Placements with a group, once until the next fleet_placements_visit(): it takes too
 * long to compare all selectors of the namespace with each changed Placement. */
static void find_all_grouped(struct finding *f, struct namespace_record *n) {
    if (atomic_exchange(&n->groups_reported, true))
        return;
    for (uint32_t id = n->grouped; id != FLEET_NONE && goes_on(f, 1);
         id = placement_at(f->c, id)->in_groups.next)
        find_placement(f, id);
}

static void find_with_group(struct finding *f, uint32_t id) {
    const struct fleet_contents *c = f->c;
    const struct placement_record *p = placement_at(c, id);
    const struct label_set_ref labels = {&c->strings, &p->labels};
    struct namespace_record *n = namespace_at(c, p->namespace);
    find_placement(f, id);
    if (!pool_is_known(&c->placements, id))
        return;
    if (n->group_steps > LIMIT_GROUP_STEPS) {
        find_all_grouped(f, n);
        return;
    }
    for (uint32_t other = n->grouped; other != FLEET_NONE;
         other = placement_at(c, other)->in_groups.next) {
        const struct placement_record *o = placement_at(c, other);
        if (!goes_on(f, 1 + selector_cost(&o->group).steps))
            return;
        if (selector_matches(&o->group, label_set_lookup, &labels))
            find_placement(f, other);
    }
}

/* ---- the answer ---- */

static struct finding begin(const struct fleet_view *v, struct arena *arena) {
    return (struct finding){.c = v->contents,
                            .arena = arena,
                            .looking.max = arena->steps.max / 4,
                            .set = INTERN_NONE,
                            .resource = INTERN_NONE,
                            .slot = TOPOLOGY_NONE};
}

static int by_number(const void *a, const void *b) {
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static int by_names(const void *a, const void *b) {
    const struct fleet_placement *left = a, *right = b;
    if (left->has_it != right->has_it)
        return left->has_it ? -1 : 1;
    const int order = str_cmp(left->namespace, right->namespace);
    return order != 0 ? order : str_cmp(left->name, right->name);
}

/* Do the Placement's decisions name the cluster? */
static bool has_cluster(struct finding *f, const struct placement_record *p) {
    if (f->slot == TOPOLOGY_NONE)
        return false;
    for (uint32_t id = p->decisions; id != FLEET_NONE;
         id = decision_at(f->c, id)->of_placement.next) {
        const struct fleet_decision *d = &decision_at(f->c, id)->decision;
        if (!steps_take(&f->looking, 1 + d->slot_count))
            return false;
        for (uint32_t i = 0; i < d->slot_count; i++)
            if (d->slots[i] == f->slot)
                return true;
    }
    return false;
}

static int end(struct finding *f, struct fleet_changed *ret) {
    struct fleet_placement *items = arena_array(f->arena, f->count, sizeof *items);
    uint32_t count = 0;
    if (items == NULL || arena_failed(f->arena))
        return -ENOMEM;
    if (f->spent || !steps_take_sort(&f->arena->steps, 2 * (uint64_t)f->count))
        return -E2BIG;
    if (f->count > 1)
        qsort(f->ids, f->count, sizeof *f->ids, by_number);
    for (uint32_t i = 0; i < f->count; i++) {
        if (i > 0 && f->ids[i] == f->ids[i - 1])
            continue;
        const struct placement_record *p = placement_at(f->c, f->ids[i]);
        items[count++] = (struct fleet_placement){
            intern_str(&f->c->strings, namespace_at(f->c, p->namespace)->name),
            intern_str(&f->c->strings, p->name), has_cluster(f, p)};
    }
    if (f->spent)
        return -E2BIG;
    if (count > 1)
        qsort(items, count, sizeof *items, by_names);
    *ret = (struct fleet_changed){items, count};
    return 0;
}

int fleet_changed_by_placement(const struct fleet_view *v, struct str namespace, struct str name,
                               struct arena *arena, struct fleet_changed *ret) {
    struct finding f = begin(v, arena);
    const uint32_t id = contents_placement_find(v->contents, namespace, name);
    if (id != FLEET_NONE)
        find_with_group(&f, id);
    return end(&f, ret);
}

int fleet_changed_by_decision(const struct fleet_view *v, struct str namespace, struct str name,
                              struct arena *arena, struct fleet_changed *ret) {
    struct finding f = begin(v, arena);
    const uint32_t id = contents_decision_find(v->contents, namespace, name);
    if (id != FLEET_NONE && decision_at(v->contents, id)->placement != FLEET_NONE)
        find_with_group(&f, decision_at(v->contents, id)->placement);
    return end(&f, ret);
}

int fleet_changed_by_cluster(const struct fleet_view *v, struct str cluster, struct arena *arena,
                             struct fleet_changed *ret) {
    struct finding f = begin(v, arena);
    const uint32_t slot = topology_slot(v->contents->clusters, cluster);
    if (slot != TOPOLOGY_NONE && v->contents->decided[slot] > 0)
        f.slot = slot;
    find_sets(&f, cluster, find_users);
    return end(&f, ret);
}

int fleet_changed_by_set(const struct fleet_view *v, struct str set, struct arena *arena,
                         struct fleet_changed *ret) {
    struct finding f = begin(v, arena);
    const uint32_t id = contents_set_find(v->contents, set);
    if (id != FLEET_NONE)
        find_users(&f, id);
    return end(&f, ret);
}

int fleet_changed_by_binding(const struct fleet_view *v, struct str namespace, struct str set,
                             struct arena *arena, struct fleet_changed *ret) {
    struct finding f = begin(v, arena);
    f.set = intern_find(&v->contents->strings, set);
    if (f.set != INTERN_NONE)
        find_in_namespace(&f, contents_namespace_find(v->contents, namespace));
    return end(&f, ret);
}

int fleet_changed_by_score(const struct fleet_view *v, struct str cluster, struct str resource,
                           struct arena *arena, struct fleet_changed *ret) {
    struct finding f = begin(v, arena);
    f.resource = intern_find(&v->contents->strings, resource);
    if (f.resource != INTERN_NONE)
        find_sets(&f, cluster, find_by_set);
    return end(&f, ret);
}

int fleet_changed_by_namespace(const struct fleet_view *v, struct str name, struct arena *arena,
                               struct fleet_changed *ret) {
    struct finding f = begin(v, arena);
    find_in_namespace(&f, contents_namespace_find(v->contents, name));
    return end(&f, ret);
}
