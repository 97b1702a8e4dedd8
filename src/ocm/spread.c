/* The condition SpreadSatisfied: how even the clusters of a Placement are by its terms. */
#include "ocm/internal.h"

const struct str ocm_spread_reason_names[OCM_SPREAD_REASONS] = {
    [OCM_SPREAD_MISCONFIGURED] = {"Misconfigured", 13},
    [OCM_SPREAD_SKEWED] = {"Skewed", 6},
    [OCM_SPREAD_TOO_FEW_DOMAINS] = {"TooFewDomains", 13},
    [OCM_SPREAD_UNSCHEDULED] = {"Unscheduled", 11},
    [OCM_SPREAD_EVEN] = {"Even", 4}};

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
