/*
 * One question about a Placement, from what is known to the bytes of the answer: which policy it
 * has, what is decided, and that as JSON. `evenkeel simulate --placement` and every verb of
 * /clusters/v1 ask here, so all of them answer alike.
 */
#pragma once

#include "explain/placement.h"
#include "model/policy.h"

enum placement_verb {
    PLACEMENT_FILTER,     /* placement_render_filter() */
    PLACEMENT_PRIORITIZE, /* placement_render_scores() */
    PLACEMENT_SELECT,     /* placement_render() */
};

/* All borrowed. */
struct placement_request {
    const struct placement *placement;
    struct policy_list policies; /* sorted */
    int64_t now_ms;              /* since 1970 */
    enum placement_verb verb;
    bool has_names; /* only these clusters */
    const struct str *names;
    uint32_t name_count;
    struct placement_rendering how; /* with PLACEMENT_SELECT */
};

/*
 * The terms that policies have for a Placement: those of the first that matches it and has any; of
 * one with mode Audit nothing but a warning, and the policies behind it do not count. Where that
 * depends on labels of a namespace that is not known, there are none, and a warning. In the arena
 * or borrowed from the policies. 0 or -ENOMEM.
 */
int placement_policy_terms(const struct fleet_view *view, struct policy_list policies,
                           const struct object_meta *placement, struct arena *arena,
                           struct ocm_policy_terms *ret) MUST_CHECK;

/* Appends the answer. 0, -E2BIG (arena->steps are spent) or -ENOMEM, with a sentence; then `out` is
 * as it was. That `out` is full is asked of it. */
int placement_answer(struct fleet_view *view, const struct placement_request *request,
                     struct arena *arena, struct strbuf *out, struct err *err) MUST_CHECK;
