/*
 * Filters by the labels of bound volumes that name their zones and regions. upstream:
 * plugins/volumezone/volume_zone.go.
 */
#include "engine/claims.h"

#include <errno.h>

struct zone_state {
    const uint8_t **zones; /* flags per slot */
    uint32_t count;
    uint8_t rejected, conflict;
};

static int zone_prefilter(struct evaluation *e, void **ret_state, struct err *err) {
    const struct pod_claims *claims = claims_to_judge(e);
    int r = 0;
    (void)err;
    if (claims == NULL || (claims->refuser == NULL && e->claims.zone_count == 0))
        return ALGORITHM_SKIP;
    struct zone_state *s = arena_alloc(e->arena, sizeof *s);
    if (s == NULL)
        return -ENOMEM;
    *ret_state = s;
    s->rejected = claims_reject(e, volume_zone_algorithm.plugin);
    if (claims->refuser != NULL)
        return s->rejected != 0 ? 0 : ALGORITHM_SKIP;
    s->count = e->claims.zone_count;
    s->zones = arena_array(e->arena, s->count, sizeof *s->zones);
    if (s->zones == NULL)
        return -ENOMEM;
    e->node_steps = 1 + (uint64_t)s->count;
    s->conflict = reason_add(e, "node(s) had no available volume zone", STR(""), "");
    for (uint32_t i = 0; r == 0 && i < s->count; i++)
        r = topology_feasible(&e->view->nodes, &e->claims.zones[i], &s->zones[i]);
    return r;
}

static struct filter_status zone_preselect(const struct evaluation *e, void *state, uint32_t slot) {
    const struct zone_state *s = state;
    (void)e;
    (void)slot;
    return (struct filter_status){s->rejected != 0 ? VERDICT_UNRESOLVABLE : VERDICT_PASS,
                                  s->rejected};
}

static struct filter_status zone_filter(const struct evaluation *e, void *state, uint32_t slot) {
    const struct zone_state *s = state;
    for (uint32_t i = 0; i < s->count; i++)
        if ((s->zones[i][slot] & CANDIDATE_AFFINITY) == 0)
            return (struct filter_status){VERDICT_UNRESOLVABLE, s->conflict};
    return zone_preselect(e, state, slot);
}

const struct algorithm volume_zone_algorithm = {
    .name = "volume_zone",
    .plugin = "VolumeZone",
    .prefilter = zone_prefilter,
    .preselect = zone_preselect,
    .filter = zone_filter,
};
