/*
 * Deciding about a Placement with the policies and the namespaces that are known now.
 *
 * Thread-safe; a decision belongs to its request.
 */
#pragma once

#include "admission/placements/placements.h"
#include "policy/policies.h"

/* What is known, and what runs beside the webhook. Borrowed. */
struct placement_knowledge {
    struct policy_source *policies;
    struct fleet *fleet;      /* whose namespaces are asked about; NULL: the cache's are */
    struct cache *cache;      /* NULL: nothing is known of namespaces */
    enum placement_mode mode; /* as the next ones: see struct placement_options */
    bool inject_scores;
    /* Does somebody lead who publishes scores? Any thread. NULL: somebody does. */
    bool (*has_leader)(void *ctx);
    void *ctx;
    bool owns;
    uint32_t shards;
};

/* What becomes of a Placement, and the policies that it was found from: held until it is done with.
 */
struct placement_admission {
    struct policies *policies;
    enum admission result;
    struct patch patch;
    struct review_answer answer; /* names a policy, so it lives as long */
};

/* `random` is drawn for this review. */
void placement_decide(const struct placement_knowledge *known, const struct review *review,
                      uint64_t random, struct arena *arena, struct placement_admission *ret);
void placement_admission_done(struct placement_admission *d);

/* A live Placement, as the controller that publishes its scores asks about it. */
struct placement_live {
    struct policy_list policies; /* sorted; borrowed, as all */
    const struct fleet_view *view;
    struct str namespace, json;
    bool inject;             /* its scores are there; false: everything of ours is to go */
    bool without_gate;       /* it is to have no gate yet, whatever its terms */
    struct injected_key key; /* under which they are */
};
/* What should be different about it. Unchanged, patched, or failed for a reason that the caller
 * cannot mend. */
enum admission placement_live_edit(const struct placement_live *live, struct arena *arena,
                                   struct patch *patch);
