/*
 * Filters by the pod's PersistentVolumeClaims. A bound claim needs a node in reach of its volume. A
 * claim that waits for a pod needs a node in reach of an unbound volume of its class, or a node for
 * which the class creates a volume. upstream: plugins/volumebinding, without the capacity of
 * storage, and without volumes of in-tree drivers that a CSI driver has taken over.
 */
#include "engine/claims.h"

#include <errno.h>

struct binding_state {
    const struct pod_claims *claims;
    const uint8_t **bound;  /* flags per slot; NULL: the claim's volume may be anywhere */
    const uint8_t **places; /* flags per slot, for each place of a waiting claim */
    uint32_t *taken;        /* per static volume: number of the last node where a claim took it */
    uint32_t node;          /* number of the node that is judged, from 1 */
    uint8_t rejected, conflict, no_volume, both;
};

/* Steps to judge one node: every volume of every claim may be looked at. */
static uint64_t steps_of_node(const struct pod_claims *claims) {
    uint64_t steps = 2 + (uint64_t)claims->bound_count + claims->waiting_count;
    for (uint32_t i = 0; i < claims->waiting_count; i++)
        steps += claims->waiting[i].volume_count;
    return steps;
}

/* Can the claims be judged with half of all steps? If not, they are not judged. */
static bool is_affordable(const struct evaluation *e, const struct pod_claims *claims) {
    const uint64_t slots = topology_slots(e->view->nodes.topology);
    const uint64_t places = (uint64_t)claims->place_count + claims->bound_count;
    return e->steps->max == 0 ||
           8 * slots * places + e->count * steps_of_node(claims) <= e->steps->max / 2;
}

static int find_flags(const struct evaluation *e, struct binding_state *s) {
    const struct pod_claims *claims = s->claims;
    int r = 0;
    s->bound = arena_array(e->arena, claims->bound_count, sizeof *s->bound);
    s->places = arena_array(e->arena, claims->place_count, sizeof *s->places);
    s->taken = arena_array(e->arena, claims->id_count, sizeof *s->taken);
    if (s->bound == NULL || s->places == NULL || s->taken == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; r == 0 && i < claims->bound_count; i++)
        if (claims->bound[i].affinity != NULL)
            r = topology_feasible(&e->view->nodes, &e->claims.bound[i], &s->bound[i]);
    for (uint32_t i = 0; r == 0 && i < claims->place_count; i++)
        if (claims->places[i] != NULL)
            r = topology_feasible(&e->view->nodes, &e->claims.places[i], &s->places[i]);
    return r;
}

static int binding_prefilter(struct evaluation *e, void **ret_state, struct err *err) {
    const struct pod_claims *claims = claims_to_judge(e);
    (void)err;
    if (claims == NULL ||
        (claims->refuser == NULL && claims->bound_count == 0 && claims->waiting_count == 0))
        return ALGORITHM_SKIP;
    struct binding_state *s = arena_alloc(e->arena, sizeof *s);
    if (s == NULL)
        return -ENOMEM;
    *ret_state = s;
    s->claims = claims;
    s->rejected = claims_reject(e, volume_binding_algorithm.plugin);
    if (claims->refuser != NULL)
        return s->rejected != 0 ? 0 : ALGORITHM_SKIP;
    if (!is_affordable(e, claims)) {
        e->claims.unjudged = "too many volumes";
        return ALGORITHM_SKIP;
    }
    e->node_steps = steps_of_node(claims);
    s->conflict =
        reason_add(e, "node(s) didn't match PersistentVolume's node affinity", STR(""), "");
    s->no_volume =
        reason_add(e, "node(s) didn't find available persistent volumes to bind", STR(""), "");
    s->both = reason_add(e,
                         "node(s) didn't match PersistentVolume's node affinity, node(s) didn't "
                         "find available persistent volumes to bind",
                         STR(""), "");
    return find_flags(e, s);
}

static struct filter_status binding_preselect(const struct evaluation *e, void *state,
                                              uint32_t slot) {
    const struct binding_state *s = state;
    (void)e;
    (void)slot;
    return (struct filter_status){s->rejected != 0 ? VERDICT_UNRESOLVABLE : VERDICT_PASS,
                                  s->rejected};
}

static bool is_in_reach(const struct binding_state *s, uint32_t place, uint32_t slot) {
    return place == POD_CLAIMS_ANYWHERE || (s->places[place][slot] & CANDIDATE_AFFINITY) != 0;
}

/* Takes the first volume in reach that no other claim of the pod has taken. If a volume names the
 * claim, the claim can only have this volume. upstream: FindMatchingVolume */
static bool take_volume(struct binding_state *s, const struct waiting_claim *w, uint32_t slot) {
    for (uint32_t i = 0; i < w->volume_count; i++) {
        const struct static_volume *v = &w->volumes[i];
        if (s->taken[v->id] == s->node)
            continue;
        const bool reached = is_in_reach(s, v->place, slot);
        if (reached)
            s->taken[v->id] = s->node;
        if (reached || i < w->its_count)
            return reached;
    }
    return false;
}

/* Are there volumes for all waiting claims? upstream: FindPodVolumes */
static bool find_volumes(const struct evaluation *e, struct binding_state *s, uint32_t slot) {
    const struct pod_claims *claims = s->claims;
    const struct str name = topology_name(e->view->nodes.topology, slot);
    for (uint32_t i = 0; i < claims->waiting_count; i++) {
        const struct waiting_claim *w = &claims->waiting[i];
        if (w->has_node && !str_eq(w->node, name))
            return false;
        const bool taken = !w->has_node && take_volume(s, w, slot);
        if (!taken && !(w->provisions && is_in_reach(s, w->place, slot)))
            return false;
    }
    return true;
}

static struct filter_status binding_filter(const struct evaluation *e, void *state, uint32_t slot) {
    struct binding_state *s = state;
    bool reached = true;
    if (s->rejected != 0)
        return binding_preselect(e, state, slot);
    s->node++;
    for (uint32_t i = 0; i < s->claims->bound_count; i++)
        reached = reached && (s->bound[i] == NULL || (s->bound[i][slot] & CANDIDATE_AFFINITY) != 0);
    const bool found = find_volumes(e, s, slot);
    if (reached && found)
        return (struct filter_status){VERDICT_PASS, 0};
    const uint8_t one = reached ? s->no_volume : s->conflict;
    return (struct filter_status){VERDICT_UNRESOLVABLE, !reached && !found ? s->both : one};
}

const struct algorithm volume_binding_algorithm = {
    .name = "volume_binding",
    .plugin = "VolumeBinding",
    .prefilter = binding_prefilter,
    .preselect = binding_preselect,
    .filter = binding_filter,
};
