#include "findings/state/fleet.h"

#include "base/limits.h"
#include "findings/state/keys.h"
#include "ocm/decide.h"

#include <errno.h>
#include <stdio.h>

enum { PATH_BYTES = 200 };

/* ---- names ---- */

static void check_sets(const struct fleet_view *v, const struct placement *p, struct findings *f) {
    char path[PATH_BYTES];
    if (fleet_lacks_all(v))
        return;
    for (uint32_t i = 0; i < p->set_count; i++) {
        if (fleet_set_find(v, p->sets[i]) != NULL)
            continue;
        (void)snprintf(path, sizeof path, "spec.clusterSets[%u]", i);
        findings_add(f, FINDING_NAME_UNKNOWN, str_of(path),
                     STR("Name a ManagedClusterSet of the hub, or create this one"),
                     "there is no ManagedClusterSet '%.*s'", STR_ARG(p->sets[i]));
    }
}

/* Adds a finding if a cluster's score has expired, or if no cluster has the score. */
static void check_score(const struct fleet_view *v, const struct placement_prioritizer *p,
                        const uint8_t *in_sets, int64_t now_ms, struct str path,
                        struct findings *f) {
    const struct fleet_scores *scores = fleet_scores_find(v, p->resource);
    const uint32_t name = fleet_score_name(v, p->score);
    const struct topology *t = v->clusters.topology;
    uint32_t objects = 0, items = 0, over = 0;
    struct str first = {0};
    for (uint32_t slot = 0; scores != NULL && slot < topology_slots(t); slot++) {
        if (!topology_is_known(t, slot))
            continue;
        const struct fleet_score s = fleet_score_of(scores, slot, name);
        objects += s.has_object;
        items += s.has_item;
        if (in_sets[slot] != 0 && s.has_object && s.has_end && s.valid_until_ms < now_ms &&
            over++ == 0)
            first = topology_name(t, slot);
    }
    if (objects == 0)
        findings_add(f, FINDING_NAME_UNKNOWN, path,
                     STR("Name an AddOnPlacementScore of the clusters, or publish this one"),
                     "no cluster has an AddOnPlacementScore '%.*s': all count 0",
                     STR_ARG(p->resource));
    else if (items == 0)
        findings_add(f, FINDING_NAME_UNKNOWN, path, STR("Name a score that these objects have"),
                     "no AddOnPlacementScore '%.*s' has a score '%.*s': all clusters count 0",
                     STR_ARG(p->resource), STR_ARG(p->score));
    if (over > 0)
        findings_add(f, FINDING_EXPIRED, path,
                     STR("Look after the source of the scores: it renews validUntil"),
                     "the AddOnPlacementScores '%.*s' of %u clusters are past their validUntil and "
                     "count 0; the first is that of '%.*s'",
                     STR_ARG(p->resource), over, STR_ARG(first));
}

static void check_scores(const struct fleet_view *v, const struct placement *placement,
                         const uint8_t *in_sets, int64_t now_ms, struct findings *f) {
    char path[PATH_BYTES];
    for (uint32_t i = 0; i < placement->prioritizer_count; i++) {
        const struct placement_prioritizer *p = &placement->prioritizers[i];
        if (p->type != PRIORITIZER_ADD_ON || !p->has_add_on || p->weight == 0 ||
            !steps_take(&f->arena->steps, topology_slots(v->clusters.topology)))
            continue;
        (void)snprintf(path, sizeof path,
                       "spec.prioritizerPolicy.configurations[%u].scoreCoordinate.addOn", i);
        check_score(v, p, in_sets, now_ms, str_of(path), f);
    }
}

/* ---- terms ---- */

int findings_of_term(struct fleet_view *v, const struct placement_term *term, struct str path,
                     struct findings *f) {
    const struct str claim = claim_key(term->key, f->arena);
    struct key_use use, other;
    int r = key_use_find(&v->clusters, term->is_claim ? claim : term->key, &use);
    if (r == 0)
        r = key_use_find(&v->clusters, term->is_claim ? term->key : claim, &other);
    if (r != 0)
        return r;
    const char *is = term->is_claim ? "claim" : "label",
               *is_not = term->is_claim ? "label" : "claim";
    if (use.domains == 0 && other.domains > 0)
        findings_add(f, FINDING_OTHER_KEY_TYPE, path,
                     term->is_claim ? STR("Write topologyKeyType: Label")
                                    : STR("Write topologyKeyType: Claim"),
                     "no cluster has a %s '%.*s'; it is a %s of clusters", is, STR_ARG(term->key),
                     is_not);
    else if (use.domains == 0 && term->is_claim)
        findings_add(f, FINDING_KEY_UNKNOWN, path, STR("Use a claim that clusters have"),
                     "no cluster has a claim '%.*s': the constraint spreads nothing",
                     STR_ARG(term->key));
    else if (use.domains == 0)
        findings_add_unknown_key(
            &v->clusters, term->key, path, "cluster",
            term->hard ? "no cluster can be selected" : "the constraint spreads nothing", f);
    else if (use.domains == 1)
        findings_add(f, FINDING_SINGLE_DOMAIN, path,
                     STR("Use a label or claim that has several values"),
                     "all clusters have the value '%.*s' of the %s '%.*s': the constraint spreads "
                     "over nothing",
                     STR_ARG(use.value), is, STR_ARG(term->key));
    return 0;
}

static int check_terms(struct fleet_view *v, const struct placement *p, struct findings *f) {
    char path[PATH_BYTES];
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < p->term_count; i++) {
        (void)snprintf(path, sizeof path, "spec.spreadPolicy.spreadConstraints[%u].topologyKey", i);
        r = findings_of_term(v, &p->terms[i], str_of(path), f);
    }
    return r;
}

/* ---- predicates ---- */

/* Predicates are alternatives: the answer is empty only if none of them can match. */
static int check_predicates(struct fleet_view *v, const struct placement *p, struct findings *f) {
    struct str *missing = arena_array(f->arena, p->predicate_count, sizeof *missing);
    char path[PATH_BYTES];
    if (missing == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < p->predicate_count; i++) {
        const int r = key_missing(&v->clusters, &p->predicates[i].selector.labels, &missing[i]);
        if (r != 0 || str_empty(missing[i]))
            return r;
    }
    for (uint32_t i = 0; i < p->predicate_count; i++) {
        (void)snprintf(path, sizeof path,
                       "spec.predicates[%u].requiredClusterSelector.labelSelector", i);
        findings_add_unknown_label(&v->clusters, missing[i], str_of(path), f);
    }
    return 0;
}

/* ---- clusters ---- */

static void check_deleted(const struct fleet_view *v, const uint8_t *in_sets, struct findings *f) {
    const struct topology *t = v->clusters.topology;
    for (uint32_t slot = 0; slot < topology_slots(t); slot++)
        if (in_sets[slot] != 0 && fleet_cluster(v, slot)->terminating)
            findings_add(f, FINDING_BEING_DELETED, STR(""),
                         STR("Wait for its end, or remove its finalizers"),
                         "the cluster '%.*s' is left out: it is being deleted",
                         STR_ARG(topology_name(t, slot)));
}

/* Finds mistakes that exclude clusters of the Placement's sets. Clusters of other sets are not its
 * candidates, and give no findings. */
static int check_candidates(struct fleet_view *v, const struct placement *placement, int64_t now_ms,
                            struct findings *f) {
    CLEANUP(arena_done) struct arena arena;
    const uint8_t *in_sets;
    const uint64_t before = f->arena->steps.used;
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    arena.steps = f->arena->steps;
    const int r = ocm_find_in_sets(v, placement, &arena, &in_sets);
    f->arena->steps.used += arena.steps.used - before; /* the view's steps are already counted */
    if (r != 0)
        return r;
    check_deleted(v, in_sets, f);
    check_scores(v, placement, in_sets, now_ms, f);
    return 0;
}

int findings_of_fleet(struct fleet *fleet, const struct placement *placement, int64_t now_ms,
                      struct findings *f) {
    struct fleet_view v;
    int r = 0;
    fleet_view_open(fleet, &v);
    v.clusters.steps = &f->arena->steps;
    if (topology_stats(v.clusters.topology).candidates > 0) {
        check_sets(&v, placement, f);
        r = check_candidates(&v, placement, now_ms, f);
        if (r == 0)
            r = check_terms(&v, placement, f);
        if (r == 0)
            r = check_predicates(&v, placement, f);
    }
    fleet_view_close(&v);
    return r;
}
