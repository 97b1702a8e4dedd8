#include "whatif/placed_domains.h"

#include "engine/simulate.h"

#include <errno.h>
#include <stdlib.h>

static int out_of_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for the domains");
}

static struct placed_domain *push(struct placed_domains *d, struct arena *arena) {
    d->items = arena_push(arena, d->items, d->count, &d->cap, sizeof *d->items);
    return d->items != NULL ? &d->items[d->count++] : NULL;
}

static int compare(const void *a, const void *b) {
    const struct placed_domain *x = a, *y = b;
    if (x->constraint != y->constraint)
        return x->constraint < y->constraint ? -1 : 1;
    return str_cmp(x->value, y->value);
}

/* ---- by constraints ---- */

/* The engine reports domains of hard constraints, which it judges together: a node counts if it has
 * the keys of all of them. Soft constraints are judged together, too. So the constraints of one
 * kind become the hard constraints of a pod without other constraints. */
struct kind {
    struct pod pod;
    struct spread_constraint *constraints;
    uint32_t *origins; /* each constraint's index in the user's list */
};

static int separate(const struct pod *pod, bool hard, struct arena *arena, struct kind *ret) {
    const uint32_t count = pod->constraint_count;
    *ret = (struct kind){.pod = *pod,
                         .constraints = arena_array(arena, count, sizeof *ret->constraints),
                         .origins = arena_array(arena, count, sizeof *ret->origins)};
    if (ret->origins == NULL || ret->constraints == NULL)
        return -ENOMEM;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (pod->constraints[i].hard != hard)
            continue;
        ret->constraints[kept] = pod->constraints[i];
        ret->constraints[kept].hard = true;
        ret->origins[kept++] = i;
    }
    ret->pod.constraints = ret->constraints;
    ret->pod.constraint_count = kept;
    return 0;
}

static int take_reports(const struct kind *kind, const struct applied_constraint *a, bool hard,
                        struct arena *arena, struct placed_domains *ret) {
    for (uint32_t i = 0; i < a->report_count; i++) {
        struct placed_domain *d = push(ret, arena);
        if (d == NULL)
            return -ENOMEM;
        *d = (struct placed_domain){.key = a->constraint->topology_key,
                                    .value = arena_str(arena, a->reports[i].name),
                                    .constraint = kind->origins[a->constraint - kind->constraints],
                                    .hard = hard,
                                    .counted = a->reports[i].counts,
                                    .before = a->reports[i].counts ? a->reports[i].pods : 0};
    }
    return 0;
}

static int count_kind(const struct engine_options *options, struct cache *cache,
                      const struct pod *pod, bool hard, struct arena *arena,
                      struct placed_domains *ret, struct err *err) {
    struct engine_options reporting = *options;
    struct simulation s;
    struct kind kind;
    reporting.reports = true;
    reporting.choose = false;
    if (separate(pod, hard, arena, &kind) != 0)
        return out_of_memory(err);
    if (kind.pod.constraint_count == 0)
        return 0;
    int r = engine_simulate(&reporting, cache, &kind.pod, NULL, arena, &s, err);
    for (uint32_t i = 0; r == 0 && i < s.filter.applied_count; i++)
        if (s.filter.applied[i].origin == CONSTRAINT_OF_POD &&
            take_reports(&kind, &s.filter.applied[i], hard, arena, ret) != 0)
            r = out_of_memory(err);
    return r;
}

/* ---- all pods by zone ---- */

static int count_zones(struct cache_view *v, struct arena *arena, struct placed_domains *ret) {
    struct topology_column column;
    int r = topology_column(&v->nodes, TOPOLOGY_KEY_ZONE, &column);
    uint32_t *index = r == 0 ? arena_array(arena, column.domains, sizeof *index) : NULL;
    for (uint32_t slot = 0; index != NULL && slot < topology_slots(v->nodes.topology); slot++) {
        const uint32_t domain = column.domain_of[slot];
        if (domain == TOPOLOGY_NONE)
            continue;
        if (index[domain] == 0) {
            struct placed_domain *d = push(ret, arena);
            if (d == NULL)
                return -ENOMEM;
            *d = (struct placed_domain){
                .key = TOPOLOGY_KEY_ZONE,
                .value = arena_str(arena, topology_value(&v->nodes, &column, domain)),
                .counted = true};
            index[domain] = ret->count;
        }
        ret->items[index[domain] - 1].before += cache_node(v, slot).pods;
    }
    return r == 0 && index == NULL ? -ENOMEM : r;
}

/* ---- before and after ---- */

int placed_domains_count(const struct engine_options *options, struct cache *cache,
                         const struct pod *pod, struct arena *arena, struct placed_domains *ret,
                         struct err *err) {
    struct cache_view view;
    int r;
    *ret = (struct placed_domains){.constrained = pod->constraint_count > 0};
    if (ret->constrained) {
        r = count_kind(options, cache, pod, true, arena, ret, err);
        if (r == 0)
            r = count_kind(options, cache, pod, false, arena, ret, err);
    } else {
        cache_view_open(cache, &view);
        r = count_zones(&view, arena, ret);
        cache_view_close(&view);
        r = r == -ENOMEM ? out_of_memory(err) : r;
    }
    if (r == 0 && ret->count > 1)
        qsort(ret->items, ret->count, sizeof *ret->items, compare);
    return r;
}

int placed_domains_add(const struct engine_options *options, struct cache *cache,
                       const struct pod *pod, struct arena *arena, struct placed_domains *ret,
                       struct err *err) {
    struct placed_domains now;
    const int r = placed_domains_count(options, cache, pod, arena, &now, err);
    for (uint32_t i = 0; r == 0 && i < ret->count && i < now.count; i++)
        ret->items[i].added = now.items[i].before - ret->items[i].before;
    return r;
}
