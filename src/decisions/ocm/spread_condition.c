/*
 * The condition SpreadSatisfied: how even a set of clusters is by the terms of a decision. The
 * clusters are the selected clusters, or the clusters that a live hub has decided. decide.h lists
 * the reasons in their order.
 */
#include "ocm/internal.h"

const struct str ocm_spread_reason_names[OCM_SPREAD_REASONS] = {
    [OCM_SPREAD_MISCONFIGURED] = {"Misconfigured", 13},
    [OCM_SPREAD_KEY_UNKNOWN] = {"KeyUnknown", 10},
    [OCM_SPREAD_NOTHING_ASKED] = {"NoClusters", 10},
    [OCM_SPREAD_NO_CLUSTERS] = {"NoClusters", 10},
    [OCM_SPREAD_SKEWED] = {"Skewed", 6},
    [OCM_SPREAD_TOO_FEW_DOMAINS] = {"TooFewDomains", 13},
    [OCM_SPREAD_UNSCHEDULED] = {"Unscheduled", 11},
    [OCM_SPREAD_GROUP_INVALID] = {"SpreadGroupInvalid", 18},
    [OCM_SPREAD_EVEN] = {"Even", 4}};

static const enum ocm_status statuses[OCM_SPREAD_REASONS] = {
    [OCM_SPREAD_MISCONFIGURED] = OCM_UNKNOWN,
    [OCM_SPREAD_NOTHING_ASKED] = OCM_UNKNOWN,
    [OCM_SPREAD_EVEN] = OCM_TRUE};

struct judging {
    const struct ocm_decision *d;
    struct arena *arena;
    const uint32_t *slots;
    uint32_t count;
    uint32_t passing, lacking; /* numbers of clusters that pass OCM's own filters; of these, without
                                  a hard term's key */
    int64_t skew[PLACEMENT_TERMS]; /* skew of the clusters in `slots` */
    struct strbuf text;
};

/* ---- counts ---- */

static void count_passing(struct judging *j) {
    const struct ocm_decision *d = j->d;
    for (uint32_t i = 0; d->filtered && i < d->available_count; i++) {
        j->passing += ocm_passes_filters(d, d->available[i]);
        j->lacking += d->verdicts[d->available[i]] == OCM_TOPOLOGY_KEY;
    }
}

static bool is_plan(const struct judging *j) {
    const struct plan *plan = &j->d->plan;
    uint8_t *selected = arena_alloc(j->arena, topology_slots(j->d->view->clusters.topology));
    bool same = selected != NULL && plan->selected_count == j->count;
    for (uint32_t i = 0; same && i < j->count; i++)
        selected[plan->selected[i]] = 1;
    for (uint32_t i = 0; same && i < j->count; i++)
        same = selected[j->slots[i]] != 0;
    return same;
}

/* Measures the skew of each term with a plan that starts from the clusters and picks no cluster. */
static int measure(struct judging *j) {
    const struct ocm_decision *d = j->d;
    const uint32_t slots = topology_slots(d->view->clusters.topology);
    struct plan plan;
    if (is_plan(j)) {
        memcpy(j->skew, d->plan.skew, sizeof j->skew);
        return 0;
    }
    uint32_t *candidates = arena_array(j->arena, d->available_count, sizeof *candidates), count = 0;
    uint32_t *there = arena_array(j->arena, slots, sizeof *there);
    if (candidates == NULL || there == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; d->others != NULL && slot < slots; slot++)
        there[slot] = d->others[slot];
    for (uint32_t i = 0; i < j->count; i++)
        there[j->slots[i]]++;
    for (uint32_t i = 0; i < d->available_count; i++)
        if (d->verdicts[d->available[i]] == OCM_PASS)
            candidates[count++] = d->available[i];
    const struct plan_question question = {.terms = d->terms,
                                           .term_count = d->term_count,
                                           .candidates = candidates,
                                           .candidate_count = count,
                                           .others = there,
                                           .has_number = true};
    int r = ocm_plan(&d->view->clusters, &question, j->arena, &plan);
    if (r == 0)
        memcpy(j->skew, plan.skew, sizeof j->skew);
    return r;
}

/* ---- sentences ---- */

static void append_kind(struct judging *j, const struct placement_term *term, const char *label) {
    strbuf_append_str(&j->text, j->text.n > 0 ? STR("; ") : STR(""));
    strbuf_append_str(&j->text, term->is_claim ? STR("claim ") : str_of(label));
}

static void append_key(struct judging *j, const struct placement_term *term) {
    append_kind(j, term, "");
    strbuf_append_str(&j->text, term->key);
}

/* Appends the skew of each term; with `over`, only of terms with a skew above maxSkew. */
static void append_skews(struct judging *j, bool over) {
    for (uint32_t t = 0; t < j->d->term_count; t++) {
        const struct placement_term *term = &j->d->terms[t];
        if (over && j->skew[t] <= term->max_skew)
            continue;
        append_key(j, term);
        strbuf_appendf(&j->text, ": skew %lld, maxSkew %d", (long long)j->skew[t], term->max_skew);
    }
}

enum { KEPT_SHOWN = 5 };

/* Appends "; kept: c1, c2 and 3 more": the clusters that a hard term would not admit now. */
static int append_kept(struct judging *j) {
    const struct plan *plan = &j->d->plan;
    const uint32_t *kept = ocm_plan_kept(plan);
    uint8_t *there = arena_alloc(j->arena, topology_slots(j->d->view->clusters.topology));
    uint32_t count = 0;
    if (there == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < j->count; i++)
        there[j->slots[i]] = 1;
    for (uint32_t i = 0; i < plan->kept_count; i++) {
        if (there[kept[i]] == 0 || ++count > KEPT_SHOWN)
            continue;
        strbuf_append_str(&j->text, count == 1 ? STR("; kept: ") : STR(", "));
        strbuf_append_str(&j->text, ocm_cluster_name(j->d, kept[i]));
    }
    if (count > KEPT_SHOWN)
        strbuf_appendf(&j->text, " and %u more", count - KEPT_SHOWN);
    return 0;
}

/* Lists the terms whose minDomains a parent does not meet, with the fewest domains that were found.
 * The plan's domains are a tree in pre-order: a parent's domains come right after the parent. */
static void append_too_few(struct judging *j) {
    const struct plan *plan = &j->d->plan;
    for (uint32_t t = 0; t < j->d->term_count; t++) {
        const int32_t wanted = j->d->terms[t].min_domains;
        int32_t found = 0, least = INT32_MAX;
        bool open = t == 0; /* the root has domains of the first term */
        for (uint32_t i = 0; i <= plan->domain_count; i++) {
            const bool end = i == plan->domain_count || plan->domains[i].depth <= t;
            if (!end) {
                found += plan->domains[i].depth == t + 1;
                continue;
            }
            least = open && found < least ? found : least;
            open = i < plan->domain_count && plan->domains[i].depth == t;
            found = 0;
        }
        if (least == INT32_MAX || least >= wanted)
            continue;
        append_key(j, &j->d->terms[t]);
        strbuf_appendf(&j->text, ": %d %s%s, minDomains %d", least,
                       least == 1 ? "domain" : "domains", t > 0 ? " below one parent" : "", wanted);
    }
}

/* Appends "18 of 18 clusters have no label 'regoin'", for terms whose key is missing on all
 * clusters that pass OCM's filters. */
static int append_unknown_keys(struct judging *j) {
    const struct ocm_decision *d = j->d;
    for (uint32_t t = 0; j->passing > 0 && t < d->term_count; t++) {
        const struct placement_term *term = &d->terms[t];
        struct topology_column column;
        bool known = false;
        int r = ocm_term_column(&d->view->clusters, term, j->arena, &column);
        if (r != 0)
            return r;
        if (!steps_take(&j->arena->steps, d->available_count))
            return -E2BIG;
        for (uint32_t i = 0; !known && i < d->available_count; i++)
            known = ocm_passes_filters(d, d->available[i]) &&
                    column.domain_of[d->available[i]] != TOPOLOGY_NONE;
        if (known)
            continue;
        strbuf_appendf(&j->text, "%s%u of %u clusters have no %s '%.*s'", j->text.n > 0 ? "; " : "",
                       j->passing, j->passing, term->is_claim ? "claim" : "label",
                       STR_ARG(term->key));
    }
    return 0;
}

static void append_no_clusters(struct judging *j) {
    const struct ocm_decision *d = j->d;
    if (d->available_count == 0)
        strbuf_append_str(&j->text, d->conditions[CONDITION_SATISFIED].message);
    else if (j->passing == 0)
        strbuf_appendf(&j->text,
                       "nothing is selected: none of the %u clusters that are available passes the "
                       "predicates and taints",
                       d->available_count);
    else
        strbuf_appendf(&j->text, "no cluster is selected, although %u clusters pass", j->passing);
}

static void append_unscheduled(struct judging *j, uint32_t number) {
    const uint32_t left = j->passing - j->d->plan.selected_count;
    const uint32_t unscheduled = j->d->plan.unscheduled;
    strbuf_appendf(&j->text,
                   "%u of %u clusters are not scheduled: DoNotSchedule terms allow none of the %u"
                   " that are left",
                   unscheduled, number, left);
    if (number - j->count > unscheduled)
        strbuf_appendf(&j->text, "; clusters on their way: %u", number - j->count - unscheduled);
    if (j->lacking > 0)
        strbuf_appendf(&j->text, "; %u of %u clusters lack the key of a DoNotSchedule term",
                       j->lacking, j->passing);
}

/* ---- the reason ---- */

/* Are the terms the reason why fewer clusters are selected than the Placement asks for? */
static bool terms_leave_some_out(const struct judging *j) {
    const struct plan *plan = &j->d->plan;
    return plan->unscheduled > 0 && plan->selected_count < j->passing &&
           j->count < plan->selected_count + plan->unscheduled;
}

static int find_reason(struct judging *j, enum ocm_spread_reason *ret) {
    const struct ocm_decision *d = j->d;
    const struct plan *plan = &d->plan;
    *ret = OCM_SPREAD_MISCONFIGURED;
    if (d->outcome != OCM_DECIDED) {
        strbuf_append_str(&j->text, STR("no cluster was selected by these terms"));
        return 0;
    }
    count_passing(j);
    int r = append_unknown_keys(j);
    *ret = OCM_SPREAD_KEY_UNKNOWN;
    if (r != 0 || j->text.n > 0)
        return r;
    const bool left_out = terms_leave_some_out(j);
    if (j->count == 0 && !left_out) {
        const bool asked = !d->placement->has_number || d->placement->number > 0;
        *ret = asked ? OCM_SPREAD_NO_CLUSTERS : OCM_SPREAD_NOTHING_ASKED;
        if (asked)
            append_no_clusters(j);
        else
            strbuf_append_str(&j->text, STR("numberOfClusters is 0: there is nothing to spread"));
        return 0;
    }
    r = measure(j);
    if (r != 0)
        return r;
    append_skews(j, true);
    *ret = OCM_SPREAD_SKEWED;
    if (j->text.n > 0)
        return append_kept(j);
    append_too_few(j);
    *ret = OCM_SPREAD_TOO_FEW_DOMAINS;
    if (j->text.n > 0)
        return 0;
    if (left_out) {
        append_unscheduled(j, plan->selected_count + plan->unscheduled);
        *ret = OCM_SPREAD_UNSCHEDULED;
        return 0;
    }
    append_skews(j, false);
    *ret = d->group_invalid.n > 0 ? OCM_SPREAD_GROUP_INVALID : OCM_SPREAD_EVEN;
    if (*ret == OCM_SPREAD_EVEN)
        strbuf_appendf(&j->text, "; %u %s", j->count, j->count == 1 ? "cluster" : "clusters");
    return 0;
}

int ocm_spread_judge(const struct ocm_decision *d, const uint32_t *slots, uint32_t count,
                     struct arena *arena, struct ocm_spread *ret) {
    struct judging j = {.d = d, .arena = arena, .slots = slots, .count = count};
    struct ocm_spread spread = {.reason = OCM_SPREAD_EVEN};
    int r = find_reason(&j, &spread.reason);
    if (d->group_invalid.n > 0) {
        strbuf_append_str(&j.text, STR("; "));
        strbuf_append_str(&j.text, d->group_invalid);
    }
    spread.condition = (struct ocm_condition){STR("SpreadSatisfied"), statuses[spread.reason],
                                              ocm_spread_reason_names[spread.reason],
                                              arena_str(arena, strbuf_str(&j.text))};
    if (r == 0 && (strbuf_failed(&j.text) || arena_failed(arena)))
        r = -ENOMEM;
    strbuf_done(&j.text);
    if (r == 0)
        *ret = spread;
    return r;
}

int decide_spread(struct deciding *x) {
    const struct plan *plan = &x->d->plan;
    struct ocm_spread spread;
    if (!x->d->has_spread)
        return 0;
    int r = ocm_spread_judge(x->d, plan->selected, plan->selected_count, x->arena, &spread);
    if (r != 0)
        return r;
    x->d->spread = spread;
    return 0;
}
