/*
 * Answers one question about a Placement: finds its policy, decides, and writes the decision as
 * JSON. `evenkeel simulate --placement` and every verb of /clusters/v1 use this, so all of them
 * give the same answer.
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
    bool has_names; /* answer only about the clusters in `names` */
    const struct str *names;
    uint32_t name_count;
    struct placement_rendering how; /* with PLACEMENT_SELECT */
};

/* Appends the answer. Returns 0, or -E2BIG (arena->steps are spent) or -ENOMEM with a sentence, and
 * then `out` is as before. An overflow shows only in `out`. */
int placement_answer(struct fleet_view *view, const struct placement_request *request,
                     struct arena *arena, struct strbuf *out, struct err *err) MUST_CHECK;
