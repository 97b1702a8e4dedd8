/*
 * Makes OCM's two conditions of a Placement. upstream: scheduling_controller.go
 * newMisconfiguredCondition(), newSatisfiedCondition().
 */
#include "ocm/internal.h"

const struct str ocm_status_names[OCM_STATUSES] = {
    [OCM_FALSE] = {"False", 5}, [OCM_TRUE] = {"True", 4}, [OCM_UNKNOWN] = {"Unknown", 7}};

/* Returns "Predicate:the problem". A problem of the groups comes last, so it replaces the
 * others. */
static struct str misconfiguration(struct deciding *x) {
    const struct ocm_decision *d = x->d;
    const bool groups = d->group_problem.n > 0;
    const struct str parts[] = {groups ? STR("") : d->plugin, STR(":"),
                                groups ? d->group_problem : d->problem};
    return deciding_join(x, parts, 3);
}

static bool is_misconfigured(const struct ocm_decision *d) {
    return d->outcome == OCM_MISCONFIGURED || d->group_problem.n > 0;
}

static struct ocm_condition misconfigured(struct deciding *x) {
    const struct str type = STR("PlacementMisconfigured");
    if (is_misconfigured(x->d))
        return (struct ocm_condition){type, OCM_TRUE, STR("Misconfigured"), misconfiguration(x)};
    return (struct ocm_condition){type, OCM_FALSE, STR("Succeedconfigured"),
                                  STR("Placement configurations check pass")};
}

/* Returns "before[a,b]after". */
static struct str list_text(struct deciding *x, struct str before, const struct str *names,
                            uint32_t count, struct str after) {
    struct strbuf text = {0};
    strbuf_append_str(&text, before);
    for (uint32_t i = 0; i < count; i++) {
        strbuf_append_str(&text, i > 0 ? STR(",") : STR(""));
        strbuf_append_str(&text, names[i]);
    }
    strbuf_append_str(&text, after);
    const struct str copy = arena_str(x->arena, strbuf_str(&text));
    x->arena->failed = x->arena->failed || strbuf_failed(&text);
    strbuf_done(&text);
    return copy;
}

static struct ocm_condition satisfied(struct deciding *x) {
    const struct ocm_decision *d = x->d;
    const struct placement *p = x->placement;
    struct ocm_condition c = {.type = STR("PlacementSatisfied"), .status = OCM_FALSE};
    if (d->binding_count == 0) {
        c.reason = STR("NoManagedClusterSetBindings");
        c.message = STR("No valid ManagedClusterSetBindings found in placement namespace");
    } else if (d->set_count == 0) {
        c.reason = STR("NoIntersection");
        c.message = list_text(x, STR("None of ManagedClusterSets ["), p->sets, p->set_count,
                              STR("] is bound to placement namespace"));
    } else if (d->available_count == 0) {
        c.reason = STR("AllManagedClusterSetsEmpty");
        c.message = list_text(x, STR("All ManagedClusterSets ["), d->sets, d->set_count,
                              STR("] have no member ManagedCluster"));
    } else if (d->outcome == OCM_ERROR && !is_misconfigured(d)) {
        c.reason = STR("NotAllDecisionsScheduled");
        c.message = d->problem;
    } else if (d->plan.selected_count == 0) {
        c.reason = STR("NoManagedClusterMatched");
        c.message = STR("No ManagedCluster matches any of the cluster predicate");
    } else if (d->plan.unscheduled == 0) {
        c.status = OCM_TRUE;
        c.reason = STR("AllDecisionsScheduled");
        c.message = STR("All cluster decisions scheduled");
    } else {
        c.reason = STR("NotAllDecisionsScheduled");
        c.message = arena_printf(x->arena, "%u cluster decisions unscheduled", d->plan.unscheduled);
    }
    return c;
}

int decide_conditions(struct deciding *x) {
    x->d->conditions[0] = misconfigured(x);
    x->d->conditions[1] = satisfied(x);
    return arena_failed(x->arena) ? -ENOMEM : 0;
}

struct str ocm_error_text(const struct ocm_decision *d, struct arena *arena) {
    if (d->outcome == OCM_DECIDED)
        return STR("");
    if (d->plugin.n == 0)
        return d->problem;
    struct strbuf text = {0};
    strbuf_append_str(&text, d->plugin);
    strbuf_append_str(&text, STR(": "));
    strbuf_append_str(&text, d->problem);
    const struct str copy = arena_str(arena, strbuf_str(&text));
    arena->failed = arena->failed || strbuf_failed(&text);
    strbuf_done(&text);
    return copy;
}
