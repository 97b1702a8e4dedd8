/* Answers a question about a binding, for all known clusters of Karmada or for the clusters that
 * the question names. */
#include "clusters/ask.h"
#include "explain/binding_estimates.h"
#include "fleet/karmada.h"

#include <errno.h>

/* ---- clusters ---- */

/* Finds the clusters that the question names. */
static int find_named(const struct karmada_view *view, const struct clusters_question *q,
                      struct arena *arena, struct karmada_question *ret, struct err *err) {
    const uint32_t slots = topology_slots(view->clusters.topology);
    const struct karmada_cluster **named = arena_array_unset(arena, slots, sizeof *named);
    uint8_t *marks = arena_array(arena, slots, sizeof *marks);
    uint32_t count = 0;
    if (named == NULL || marks == NULL)
        return err_set(err, -ENOMEM, "no memory for Karmada's clusters");
    if (!steps_take(&arena->steps, (uint64_t)slots + q->name_count))
        return err_set(err, -E2BIG, "more clusters than there is time for");
    for (uint32_t i = 0; i < q->name_count; i++) {
        const uint32_t slot = topology_find(&view->clusters, q->names[i]);
        if (slot != TOPOLOGY_NONE)
            marks[slot] = 1;
    }
    for (uint32_t slot = 0; slot < slots; slot++)
        if (marks[slot] != 0 && karmada_member(view, slot) != NULL)
            named[count++] = karmada_member(view, slot);
    ret->clusters = named;
    ret->cluster_count = count;
    return 0;
}

static int find_clusters(const struct karmada_view *view, const struct clusters_question *q,
                         struct arena *arena, struct karmada_question *ret, struct err *err) {
    if (q->has_names)
        return find_named(view, q, arena, ret, err);
    if (karmada_view_clusters(view, arena, &ret->clusters, &ret->cluster_count) != 0)
        return err_set(err, -ENOMEM, "no memory for Karmada's clusters");
    return 0;
}

/* Adds the estimate from the member's own nodes. */
static int add_accurate(const struct binding_asked *asked, struct arena *arena,
                        struct karmada_question *q, struct err *err) {
    int64_t *accurate = arena_array_unset(arena, q->cluster_count, sizeof *accurate);
    bool found = false;
    if (accurate == NULL)
        return err_set(err, -ENOMEM, "no memory for estimates");
    for (uint32_t i = 0; i < q->cluster_count; i++) {
        const bool is_member = str_eq(q->clusters[i]->meta.name, asked->member);
        accurate[i] = is_member ? asked->accurate : ESTIMATE_UNKNOWN;
        found = found || is_member;
    }
    q->accurate = accurate;
    return found ? 0 : err_set(err, -ENOENT, "there is no cluster '%.*s'", STR_ARG(asked->member));
}

/* Adds the replies of estimators. No estimator was asked for a cluster that is newer than the
 * replies. */
static int add_estimated(const struct karmada_view *view, const struct accurate_replicas *estimated,
                         struct arena *arena, struct karmada_question *q, struct err *err) {
    const uint32_t slots = topology_slots(view->clusters.topology);
    int64_t *by_slot = arena_array_unset(arena, slots, sizeof *by_slot);
    int64_t *accurate = arena_array_unset(arena, q->cluster_count, sizeof *accurate);
    if (by_slot == NULL || accurate == NULL)
        return err_set(err, -ENOMEM, "no memory for estimates");
    for (uint32_t slot = 0; slot < slots; slot++)
        by_slot[slot] = ESTIMATE_UNKNOWN;
    for (uint32_t i = 0; i < estimated->count; i++) {
        const uint32_t slot = topology_find(&view->clusters, estimated->clusters[i]);
        if (slot != TOPOLOGY_NONE)
            by_slot[slot] = estimated->replicas[i];
    }
    for (uint32_t i = 0; i < q->cluster_count; i++) {
        const uint32_t slot = topology_find(&view->clusters, q->clusters[i]->meta.name);
        accurate[i] = slot != TOPOLOGY_NONE ? by_slot[slot] : ESTIMATE_UNKNOWN;
    }
    q->accurate = accurate;
    return 0;
}

/* ---- which estimators to ask ---- */

bool clusters_asks_estimators(enum binding_verb verb, const struct karmada_options *options,
                              const struct binding_spec *spec) {
    if (spec->replicas == 0 && spec->component_count == 0)
        return false; /* the binding fits everywhere */
    switch (verb) {
    case BINDING_FILTER:
        return (options->plugins & 1u << PLUGIN_CAPACITY) != 0;
    case BINDING_PRIORITIZE:
        return (options->plugins & (1u << PLUGIN_CAPACITY | 1u << PLUGIN_FREE_CAPACITY)) != 0;
    case BINDING_SELECT:
    case BINDING_ASSIGN:
    case BINDING_ESTIMATE:
        break;
    }
    return true;
}

static int names_of(const struct karmada_question *q, const bool *marks, struct arena *names,
                    const struct str **ret, uint32_t *ret_count, struct err *err) {
    struct str *to = arena_array(names, q->cluster_count, sizeof *to);
    uint32_t count = 0;
    for (uint32_t i = 0; to != NULL && i < q->cluster_count; i++)
        if (marks[i])
            to[count++] = arena_str(names, q->clusters[i]->meta.name);
    if (to == NULL || arena_failed(names))
        return err_set(err, -ENOMEM, "no memory for the names of clusters");
    *ret = to;
    *ret_count = count;
    return 0;
}

int clusters_to_estimate(struct informer *karmada, const struct clusters_question *q,
                         const struct karmada_options *options, struct arena *arena,
                         struct arena *names, const struct str **ret, uint32_t *ret_count,
                         struct err *err) {
    struct karmada_question question = {.options = options};
    struct karmada_view view;
    bool *marks = NULL;
    karmada_view_open(karmada, &view);
    int r = find_clusters(&view, q, arena, &question, err);
    if (r == 0) {
        marks = arena_array(arena, question.cluster_count, sizeof *marks);
        r = marks != NULL ? karmada_may_take(&q->binding, &question, arena, marks, err)
                          : err_set(err, -ENOMEM, "no memory for Karmada's clusters");
    }
    if (r == 0)
        r = names_of(&question, marks, names, ret, ret_count, err);
    karmada_view_close(&view);
    return r;
}

/* ---- the question ---- */

static int render(const struct binding_asked *asked, const struct binding_report *report,
                  struct arena *arena, struct strbuf *out, struct err *err) {
    const struct binding_rendering how = {.limit = asked->question->limit,
                                          .now_ms = asked->now_ms,
                                          .without_plan = !asked->with_plan};
    switch (asked->verb) {
    case BINDING_FILTER:
        return binding_render_filter(report, arena, out, err);
    case BINDING_PRIORITIZE:
        return binding_render_scores(report, arena, out, err);
    case BINDING_SELECT:
        return binding_render(report, &how, arena, out, err);
    case BINDING_ASSIGN:
        binding_render_assignment(report, out);
        return 0;
    case BINDING_ESTIMATE:
        break;
    }
    return binding_render_estimates(report, arena, out, err);
}

static int ask(const struct karmada_view *view, const struct binding_asked *asked,
               struct arena *arena, struct strbuf *out, struct err *err) {
    struct karmada_question question = {.options = asked->options, .assumed = asked->assumed};
    struct karmada_outcome outcome;
    const struct binding_report report = {&asked->question->binding, &question, &outcome};
    const size_t before = out->n;
    int r = find_clusters(view, asked->question, arena, &question, err);
    if (r == 0 && !str_empty(asked->member))
        r = add_accurate(asked, arena, &question, err);
    else if (r == 0 && asked->estimated != NULL)
        r = add_estimated(view, asked->estimated, arena, &question, err);
    if (r == 0)
        r = karmada_schedule_binding(report.binding, &question, arena, &outcome, err);
    if (r == 0)
        r = render(asked, &report, arena, out, err);
    if (r == 0 && asked->assumed != NULL)
        r = karmada_assume(asked->assumed, report.binding, &outcome.decision.assignment, err);
    if (r != 0)
        out->n = before;
    return r;
}

int clusters_ask_binding(struct informer *karmada, const struct binding_asked *asked,
                         struct arena *arena, struct strbuf *out, struct err *err) {
    struct karmada_view view;
    karmada_view_open(karmada, &view);
    const int r = ask(&view, asked, arena, out, err);
    karmada_view_close(&view);
    return r;
}
