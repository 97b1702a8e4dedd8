/*
 * Decides about a Placement with the policies and namespaces known now.
 *
 * Thread-safe; a decision belongs to its request.
 */
#pragma once

#include "admission/placements/placements.h"
#include "policy/policies.h"

/* Sources of policies and namespaces, and the webhook's settings. All pointers are borrowed. */
struct placement_knowledge {
    struct policy_source *policies;
    struct fleet *fleet;      /* source of namespaces; NULL: use the cache's */
    struct cache *cache;      /* NULL: no namespace is known */
    enum placement_mode mode; /* for this and the following members see struct placement_options */
    bool inject_scores;
    /* Is there a leader that publishes scores? Called by any thread. NULL: there is a leader. */
    bool (*has_leader)(void *ctx);
    void *ctx;
    bool owns;
    uint32_t shards;
};

/* The decision about a Placement; holds the policies that it was made from until it is freed. */
struct placement_admission {
    struct policies *policies;
    enum admission result;
    struct patch patch;
    struct review_answer answer; /* names a policy, so it lives as long as the policies */
};

/* `random`: a random number drawn for this review. */
void placement_decide(const struct placement_knowledge *known, const struct review *review,
                      uint64_t random, struct arena *arena, struct placement_admission *ret);
void placement_admission_done(struct placement_admission *d);

/* A live Placement, reviewed by the controller that publishes its scores. */
struct placement_live {
    struct policy_list policies; /* sorted; borrowed, as all pointers here */
    const struct fleet_view *view;
    struct str namespace, json;
    bool inject;             /* its scores are published; false: remove everything of ours */
    bool without_gate;       /* add no gate yet, whatever its terms */
    struct injected_key key; /* key of its scores */
};
/* Edits a live Placement: unchanged, patched, or failed for a reason that the caller cannot fix. */
enum admission placement_live_edit(const struct placement_live *live, struct arena *arena,
                                   struct patch *patch);
