/*
 * Filters by nodeSelector and required node affinity. If all terms of a pod name nodes by
 * metadata.name, the other nodes are excluded before any other filter. upstream:
 * plugins/nodeaffinity/node_affinity.go.
 */
#include "engine/algorithm.h"

#include <errno.h>

struct affinity_state {
    const uint8_t *flags; /* CANDIDATE_*, per slot; NULL: the pod has no affinity */
    const uint8_t *added; /* CANDIDATE_* by options->added_affinity, per slot; NULL: the option is
                             not set */
    bool names_nodes, conflict;
    bool *named; /* per slot: the terms name the node; only if the terms name nodes */
    uint8_t reason, added_reason, other_reason, conflict_reason;
};

/* Gets the one name that satisfies the term's fields. Returns false if the term names no node; the
 * name is empty if its fields contradict each other. */
static bool name_of_term(const struct node_selector_term *term, struct str *ret_name) {
    bool found = false;
    for (uint32_t i = 0; i < term->field_count; i++) {
        const struct requirement *field = &term->fields[i];
        if (!str_eq(field->key, STR("metadata.name")) || field->op != SELECTOR_IN)
            continue;
        *ret_name = !found || str_eq(*ret_name, field->values[0]) ? field->values[0] : STR("");
        found = true;
    }
    return found;
}

static int mark_named(const struct evaluation *e, struct affinity_state *s) {
    const struct node_affinity *affinity = &e->pod->affinity;
    struct str name;
    s->named = arena_array(e->arena, topology_slots(e->view->nodes.topology), sizeof *s->named);
    if (s->named == NULL)
        return -ENOMEM;
    s->conflict = s->names_nodes = affinity->required && affinity->term_count > 0;
    for (uint32_t i = 0; s->names_nodes && i < affinity->term_count; i++) {
        s->names_nodes = name_of_term(&affinity->terms[i], &name);
        if (!s->names_nodes || str_empty(name))
            continue;
        s->conflict = false;
        uint32_t slot = topology_find(&e->view->nodes, name);
        if (slot != TOPOLOGY_NONE)
            s->named[slot] = true;
    }
    return 0;
}

static int affinity_prefilter(struct evaluation *e, void **ret_state, struct err *err) {
    (void)err;
    bool silent = !e->pod->affinity.required && e->pod->affinity.node_selector.count == 0;
    bool added = e->options->added_affinity != NULL && e->options->added_affinity->required;
    if (silent && !added)
        return ALGORITHM_SKIP;
    struct affinity_state *s = arena_alloc(e->arena, sizeof *s);
    if (s == NULL || mark_named(e, s) != 0)
        return -ENOMEM;
    s->reason = reason_add(e, "node(s) didn't match Pod's node affinity/selector", STR(""), "");
    s->other_reason = reason_add(e, "node(s) didn't satisfy plugin(s) [NodeAffinity]", STR(""), "");
    s->conflict_reason = reason_add(e, "pod affinity terms conflict", STR(""), "");
    if (added)
        s->added_reason =
            reason_add(e, "node(s) didn't match scheduler-enforced node affinity", STR(""), "");
    *ret_state = s;
    int r = added ? topology_feasible(&e->view->nodes, &e->added, &s->added) : 0;
    return r == 0 && !silent ? topology_feasible(&e->view->nodes, &e->feasibility, &s->flags) : r;
}

static struct filter_status affinity_preselect(const struct evaluation *e, void *state,
                                               uint32_t slot) {
    const struct affinity_state *s = state;
    (void)e;
    if (!s->names_nodes || s->named[slot])
        return (struct filter_status){VERDICT_PASS, 0};
    return (struct filter_status){VERDICT_UNRESOLVABLE,
                                  s->conflict ? s->conflict_reason : s->other_reason};
}

static struct filter_status affinity_filter(const struct evaluation *e, void *state,
                                            uint32_t slot) {
    const struct affinity_state *s = state;
    (void)e;
    if (s->added != NULL && (s->added[slot] & CANDIDATE_AFFINITY) == 0)
        return (struct filter_status){VERDICT_UNRESOLVABLE, s->added_reason};
    if (s->flags == NULL || (s->flags[slot] & CANDIDATE_AFFINITY) != 0)
        return (struct filter_status){VERDICT_PASS, 0};
    return (struct filter_status){VERDICT_UNRESOLVABLE, s->reason};
}

const struct algorithm affinity_algorithm = {
    .name = "affinity",
    .plugin = "NodeAffinity",
    .prefilter = affinity_prefilter,
    .preselect = affinity_preselect,
    .filter = affinity_filter,
};
