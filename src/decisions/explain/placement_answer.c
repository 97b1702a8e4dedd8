#include "explain/placement_answer.h"

#include "policy/match.h"

#include <errno.h>

static int render(const struct ocm_decision *d, const struct placement_request *request,
                  struct arena *arena, struct strbuf *out) {
    switch (request->verb) {
    case PLACEMENT_FILTER:
        return placement_render_filter(d, arena, out);
    case PLACEMENT_PRIORITIZE:
        return placement_render_scores(d, arena, out);
    case PLACEMENT_SELECT:
        break;
    }
    return placement_render(d, &request->how, arena, out);
}

int placement_answer(struct fleet_view *view, const struct placement_request *request,
                     struct arena *arena, struct strbuf *out, struct err *err) {
    const bool whole = request->verb == PLACEMENT_SELECT;
    struct ocm_question question = {.placement = request->placement,
                                    .now_ms = request->now_ms,
                                    .with_rounds = whole && request->how.with_rounds,
                                    .with_domains = whole,
                                    .has_names = request->has_names,
                                    .names = request->names,
                                    .name_count = request->name_count};
    const size_t before = out->n;
    struct ocm_decision d;
    int r = policy_terms_in_fleet(view, request->policies, &request->placement->meta, arena,
                                  &question.policy);
    if (r == 0)
        r = ocm_decide(view, &question, arena, &d, err);
    else
        (void)err_set(err, r, "no memory for the policies of a Placement"); /* r is returned */
    if (r != 0)
        return r;
    r = render(&d, request, arena, out);
    if (r != 0) {
        out->n = before;
        return err_set(err, r, "no memory for the decisions of a Placement");
    }
    return 0;
}
