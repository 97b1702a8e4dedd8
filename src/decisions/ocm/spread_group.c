/*
 * The spread group: Placements of the same namespace that the annotation's selector picks. When the
 * rounds of this Placement begin, the clusters of the group's other Placements are already counted.
 */
#include "ocm/internal.h"

struct counting {
    struct deciding *x;
    uint32_t *counts; /* [slots]: count of each cluster */
};

static int count_placement(void *ctx, struct str name) {
    const struct counting *c = ctx;
    const struct object_meta *own = &c->x->placement->meta;
    int r = deciding_steps(c->x, 1);
    if (str_eq(name, own->name))
        return r;
    for (const struct fleet_decision *d = fleet_decisions(c->x->view, own->namespace, name);
         r == 0 && d != NULL; d = d->next) {
        r = deciding_steps(c->x, 1 + d->slot_count);
        for (uint32_t i = 0; r == 0 && i < d->slot_count; i++)
            c->counts[d->slots[i]]++;
    }
    return r;
}

static struct str describe_invalid(const struct err *err, struct arena *arena) {
    return arena_printf(arena,
                        "annotation " PLACEMENT_GROUP_ANNOTATION ": %s: there is no spread group",
                        err->text);
}

struct str ocm_group_invalid(const struct placement *placement, struct arena *arena) {
    struct selector selector;
    struct err err;
    return placement_group_parse(placement, arena, &selector, &err) == -EINVAL
               ? describe_invalid(&err, arena)
               : STR("");
}

int spread_group_count(struct deciding *x, uint32_t **ret) {
    struct selector selector;
    struct err err;
    *ret = NULL;
    int r = placement_group_parse(x->placement, x->arena, &selector, &err);
    if (r == -ENOENT)
        return 0;
    if (r == -EINVAL) {
        x->d->group_invalid = describe_invalid(&err, x->arena);
        return deciding_warn(x, x->d->group_invalid);
    }
    if (r != 0)
        return r;
    struct counting counting = {x, arena_array(x->arena, x->slots, sizeof(uint32_t))};
    if (counting.counts == NULL)
        return -ENOMEM;
    r = fleet_placements_visit(x->view, x->placement->meta.namespace, &selector, &x->arena->steps,
                               count_placement, &counting);
    if (r == 0)
        *ret = counting.counts;
    return r;
}
