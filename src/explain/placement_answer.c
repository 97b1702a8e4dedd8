#include "explain/placement_answer.h"

#include "policy/match.h"

#include <errno.h>

/* ---- policies ---- */

/* A copy of the labels that a namespace has. */
static int find_namespace(const struct fleet_view *view, struct str name, struct arena *arena,
                          struct policy_namespace *ret) {
    struct label_set_ref ref;
    *ret = (struct policy_namespace){.name = name};
    if (!fleet_namespace(view, name, &ref))
        return 0;
    struct label *labels = arena_array(arena, ref.set->count, sizeof *labels);
    if (labels == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < ref.set->count; i++)
        labels[i] = label_set_at(ref.strings, ref.set, i);
    ret->labels = (struct labels){labels, ref.set->count};
    ret->known = true;
    return 0;
}

int placement_policy_terms(const struct fleet_view *view, struct policy_list policies,
                           const struct object_meta *placement, struct arena *arena,
                           struct ocm_policy_terms *ret) {
    struct policy_namespace namespace;
    struct policy_choice choice;
    *ret = (struct ocm_policy_terms){0};
    if (policies.count == 0)
        return 0;
    int r = find_namespace(view, placement->namespace, arena, &namespace);
    if (r != 0)
        return r;
    const bool known = policy_of_placement(policies, &namespace, placement, &choice);
    const struct policy *audited = choice.audited[POLICY_PLACEMENTS];
    const struct policy *enforced = choice.enforced[POLICY_PLACEMENTS];
    if (!known)
        ret->warning = arena_printf(
            arena,
            "namespace '%.*s' is not known: which policy spreads its Placements depends on its "
            "labels",
            STR_ARG(placement->namespace));
    else if (audited != NULL) /* it comes before the other */
        ret->warning = policy_placement_audit(audited, arena);
    else if (enforced != NULL)
        *ret = (struct ocm_policy_terms){enforced->placement_terms, enforced->placement_term_count,
                                         enforced->name, STR("")};
    return arena_failed(arena) ? -ENOMEM : 0;
}

/* ---- the answer ---- */

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
    int r = placement_policy_terms(view, request->policies, &request->placement->meta, arena,
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
        return err_set(err, r, "no memory for what is decided of a Placement");
    }
    return 0;
}
