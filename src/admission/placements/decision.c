#include "admission/placements/decision.h"

static int find_namespace(const struct placement_knowledge *known, const struct fleet_view *view,
                          struct str name, struct arena *arena, struct policy_namespace *ret) {
    *ret = (struct policy_namespace){.name = name};
    if (known->fleet != NULL)
        return policy_namespace_of_fleet(view, name, arena, ret);
    return known->cache != NULL ? policy_namespace_find(known->cache, name, arena, ret) : 0;
}

/* The view stays open meanwhile: the namespace's labels are its own. */
static void decide(const struct placement_knowledge *known, const struct review *review,
                   struct placement_options *options, struct arena *arena,
                   struct placement_admission *ret) {
    struct policy_namespace namespace;
    struct fleet_view view;
    if (known->fleet != NULL)
        fleet_view_open(known->fleet, &view);
    /* no memory: the arena says so, and reading the Placement will find the same */
    (void)find_namespace(known, &view, review->namespace, arena, &namespace);
    options->namespace = &namespace;
    ret->result = admit_object(&admitted_placements, &options->head, review, arena, &ret->patch,
                               &ret->answer);
    options->namespace = NULL;
    if (known->fleet != NULL)
        fleet_view_close(&view);
}

void placement_decide(const struct placement_knowledge *known, const struct review *review,
                      uint64_t random, struct arena *arena, struct placement_admission *ret) {
    struct placement_options options = {.mode = known->mode,
                                        .inject_scores = known->inject_scores,
                                        .owns = known->owns,
                                        .shards = known->shards,
                                        .random = random};
    *ret = (struct placement_admission){.policies = policies_hold(known->policies)};
    options.head.policies = policies_items(ret->policies, &options.head.policy_count);
    decide(known, review, &options, arena, ret);
}

void placement_admission_done(struct placement_admission *d) {
    policies_release(d->policies);
}
