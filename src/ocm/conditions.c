/*
 * OCM's two conditions of a Placement, and the one that says whether the spread terms are
 * fulfilled. upstream: scheduling_controller.go newMisconfiguredCondition(),
 * newSatisfiedCondition().
 */
#include "ocm/internal.h"

const struct str ocm_status_names[OCM_STATUSES] = {
    [OCM_FALSE] = {"False", 5}, [OCM_TRUE] = {"True", 4}, [OCM_UNKNOWN] = {"Unknown", 7}};

const struct str ocm_spread_reason_names[OCM_SPREAD_REASONS] = {
    [OCM_SPREAD_MISCONFIGURED] = {"Misconfigured", 13},
    [OCM_SPREAD_SKEWED] = {"Skewed", 6},
    [OCM_SPREAD_TOO_FEW_DOMAINS] = {"TooFewDomains", 13},
    [OCM_SPREAD_UNSCHEDULED] = {"Unscheduled", 11},
    [OCM_SPREAD_EVEN] = {"Even", 4}};

/* ---- OCM's ---- */

/* "Predicate:the problem"; a problem of the groups comes last, so it is the one that is reported.
 */
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

/* "before[a,b]after" */
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

/* ---- the spread's ---- */

static void append_key(struct strbuf *text, const struct placement_term *term) {
    strbuf_append_str(text, text->n > 0 ? STR("; ") : STR(""));
    strbuf_append_str(text, term->is_claim ? STR("claim ") : STR(""));
    strbuf_append_str(text, term->key);
}

/* Terms whose skew is over, or all. */
static void append_skews(const struct ocm_decision *d, bool over, struct strbuf *text) {
    for (uint32_t t = 0; t < d->term_count; t++) {
        if (over && d->plan.skew[t] <= d->terms[t].max_skew)
            continue;
        append_key(text, &d->terms[t]);
        strbuf_appendf(text, ": skew %lld, maxSkew %d", (long long)d->plan.skew[t],
                       d->terms[t].max_skew);
    }
}

/* Terms of which a parent has fewer domains than minDomains, and how many the first such has. A
 * parent's domains come after it and before the next of its depth or less. */
static void append_too_few(const struct ocm_decision *d, struct strbuf *text) {
    for (uint32_t t = 0; t < d->term_count; t++) {
        const int32_t wanted = d->terms[t].min_domains;
        int32_t found = 0, least = INT32_MAX;
        bool open = t == 0; /* the root has domains of the first term */
        for (uint32_t i = 0; i <= d->plan.domain_count; i++) {
            const bool end = i == d->plan.domain_count || d->plan.domains[i].depth <= t;
            if (!end) {
                found += d->plan.domains[i].depth == t + 1;
                continue;
            }
            least = open && found < least ? found : least;
            open = i < d->plan.domain_count && d->plan.domains[i].depth == t;
            found = 0;
        }
        if (least == INT32_MAX || least >= wanted)
            continue;
        append_key(text, &d->terms[t]);
        strbuf_appendf(text, ": %d %s%s, minDomains %d", least, least == 1 ? "domain" : "domains",
                       t > 0 ? " below one parent" : "", wanted);
    }
}

static enum ocm_spread_reason find_reason(const struct deciding *x, struct strbuf *text) {
    const struct ocm_decision *d = x->d;
    if (d->outcome != OCM_DECIDED) {
        strbuf_append_str(text, STR("no cluster was selected by these terms"));
        return OCM_SPREAD_MISCONFIGURED;
    }
    append_skews(d, true, text);
    if (text->n > 0)
        return OCM_SPREAD_SKEWED;
    append_too_few(d, text);
    if (text->n > 0)
        return OCM_SPREAD_TOO_FEW_DOMAINS;
    if (d->plan.unscheduled > 0 && d->plan.selected_count < x->left_count) {
        strbuf_appendf(text,
                       "%u of %u clusters are not scheduled: DoNotSchedule terms allow none of"
                       " the %u that are left",
                       d->plan.unscheduled, d->plan.unscheduled + d->plan.selected_count,
                       x->left_count - d->plan.selected_count);
        return OCM_SPREAD_UNSCHEDULED;
    }
    append_skews(d, false, text);
    return OCM_SPREAD_EVEN;
}

int decide_spread(struct deciding *x) {
    static const enum ocm_status statuses[OCM_SPREAD_REASONS] = {
        [OCM_SPREAD_MISCONFIGURED] = OCM_UNKNOWN, [OCM_SPREAD_EVEN] = OCM_TRUE};
    struct strbuf text = {0};
    if (!x->d->has_spread)
        return 0;
    const enum ocm_spread_reason reason = find_reason(x, &text);
    x->d->spread = (struct ocm_condition){STR("SpreadSatisfied"), statuses[reason],
                                          ocm_spread_reason_names[reason],
                                          arena_str(x->arena, strbuf_str(&text))};
    const bool failed = strbuf_failed(&text) || arena_failed(x->arena);
    strbuf_done(&text);
    return failed ? -ENOMEM : 0;
}
