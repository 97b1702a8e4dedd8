#include "admission/placements/decision.h"

static int find_namespace(const struct placement_knowledge *known, const struct fleet_view *view,
                          struct str name, struct arena *arena, struct policy_namespace *ret) {
    *ret = (struct policy_namespace){.name = name};
    if (known->fleet != NULL)
        return policy_namespace_of_fleet(view, name, arena, ret);
    return known->cache != NULL ? policy_namespace_find(known->cache, name, arena, ret) : 0;
}

/* Keeps the view open during the review: the namespace's labels belong to it. */
static void decide(const struct placement_knowledge *known, const struct review *review,
                   struct placement_options *options, struct arena *arena,
                   struct placement_admission *ret) {
    struct policy_namespace namespace;
    struct fleet_view view;
    if (known->fleet != NULL)
        fleet_view_open(known->fleet, &view);
    /* without memory the arena has failed, and reading the Placement fails, too */
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
    struct placement_options options = {.head.finds = true,
                                        .mode = known->mode,
                                        .inject_scores = known->inject_scores,
                                        .is_waiting = known->has_leader != NULL &&
                                                      !known->has_leader(known->ctx),
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

enum admission placement_live_edit(const struct placement_live *live, struct arena *arena,
                                   struct patch *patch) {
    struct policy_namespace namespace = {.name = live->namespace};
    struct review_answer unsaid; /* not used: there is no review to answer */
    const struct placement_options options = {
        .head = {.policies = live->policies.items, .policy_count = live->policies.count},
        .namespace = &namespace,
        .mode = live->inject ? PLACEMENT_SCORES : PLACEMENT_OFF,
        .inject_scores = live->inject,
        .is_publisher = true,
        .withholds_gate = live->without_gate,
        .shards = INJECTED_SHARDS,
        .key = live->key};
    const struct review review = {.group = admitted_placements.group,
                                  .resource = admitted_placements.resource,
                                  .operation = STR("UPDATE"),
                                  .namespace = live->namespace,
                                  .object = live->json,
                                  .old_object = live->json};
    if (policy_namespace_of_fleet(live->view, live->namespace, arena, &namespace) != 0)
        return ADMISSION_FAILED;
    return admit_object(&admitted_placements, &options.head, &review, arena, patch, &unsaid);
}
