#include "clusters/ask.h"

int clusters_ask(const struct clusters_known *known, const struct clusters_question *q,
                 enum placement_verb verb, int64_t now_ms, struct arena *arena, struct strbuf *out,
                 struct err *err) {
    struct steps steps = {.max = arena->steps.max}; /* of what the view builds */
    struct fleet_view view;
    struct policies *held = known->policies != NULL ? policies_hold(known->policies) : NULL;
    struct placement_request request = {
        .placement = &q->placement,
        .now_ms = q->has_now ? q->now_ms : now_ms,
        .verb = verb,
        .has_names = q->has_names,
        .names = q->names,
        .name_count = q->name_count,
        .how = {.limit = q->limit, .with_rounds = q->with_rounds},
    };
    if (held != NULL)
        request.policies.items = policies_items(held, &request.policies.count);
    fleet_view_open(known->fleet, &view);
    view.clusters.steps = &steps;
    int r = placement_answer(&view, &request, arena, out, err);
    fleet_view_close(&view);
    if (held != NULL)
        policies_release(held);
    return r;
}
