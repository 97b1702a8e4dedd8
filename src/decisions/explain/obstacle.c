#include "explain/obstacle.h"

#include "explain/decision.h"
#include "explain/domains.h"

bool obstacle_is(const struct applied_constraint *a) {
    for (uint32_t i = 0; i < a->report_count; i++)
        if (a->reports[i].allowed && a->reports[i].passed > 0)
            return false;
    return a->constraint->hard && a->reports != NULL;
}

/* Does the policy give this constraint to its pods? */
static bool gives(const struct policy *policy, const struct spread_constraint *c) {
    for (uint32_t i = 0; policy != NULL && i < policy->spread_count; i++) {
        const struct policy_spread *s = &policy->spread[i];
        if (str_eq(s->topology_key, c->topology_key))
            return s->hard == c->hard && s->max_skew == c->max_skew;
    }
    return false;
}

void obstacle_say_origin(const struct applied_constraint *a, const struct policy *policy,
                         struct strbuf *out) {
    static const char *const origins[] = {"the pod", "the defaults", "rule "};
    if (a->origin == CONSTRAINT_OF_POD && gives(policy, a->constraint))
        strbuf_appendf(out, "policy %.*s", STR_ARG(policy->name));
    else
        strbuf_appendf(out, "%s%.*s", origins[a->origin], STR_ARG(a->rule));
}

static bool lacks_domains(const struct applied_constraint *a) {
    return a->origin != CONSTRAINT_OF_RULE && a->domains > 0 &&
           a->domains < a->constraint->min_domains;
}

/* Appends the remedy if nodes of allowed domains are refused for reasons of this kind alone. With
 * Honor, a domain in which the pod may use no node does not count any more; rules have no such
 * field. */
static void say_remedy_of(const char *kind, const struct applied_constraint *a,
                          struct strbuf *out) {
    const bool cordoned = str_eq(str_of(kind), STR("Cordoned"));
    const bool can_honor = a->origin != CONSTRAINT_OF_RULE && !a->constraint->honor_taints;
    if (cordoned || str_eq(str_of(kind), STR("Taint")))
        strbuf_appendf(out, ". %s%s",
                       cordoned ? "Uncordon nodes there" : "Remove the taint, or tolerate it",
                       can_honor ? ", or set nodeTaintsPolicy: Honor" : "");
    else if (str_eq(str_of(kind), STR("Resources")))
        strbuf_append_str(out, STR(". Free room there, or add nodes"));
}

void obstacle_summarize(const struct filter_result *now, const struct applied_constraint *a,
                        const struct policy *policy, struct strbuf *out) {
    CLEANUP(strbuf_done) struct strbuf cause = {.max = 4096}, remedy = {.max = 4096};
    const struct spread_constraint *c = a->constraint;
    const bool is_allowed = a->report_count > 0 && a->reports[0].allowed;
    obstacle_say_origin(a, policy, &cause);
    strbuf_appendf(&cause, " (%.*s, maxSkew %lld) ", STR_ARG(c->topology_key),
                   (long long)c->max_skew);
    if (is_allowed) {
        say_remedy_of(domains_say_only(now, a, &cause), a, &remedy);
    } else if (a->report_count == 0) {
        strbuf_append_str(&cause, STR("needs a label that no node has"));
        strbuf_append_str(&remedy, STR(". Label nodes, or correct topologyKey"));
    } else if (lacks_domains(a)) {
        strbuf_appendf(&cause, "wants minDomains %lld, and only %lld domains have nodes that count",
                       (long long)c->min_domains, (long long)a->domains);
        strbuf_append_str(&remedy, STR(". Lower minDomains, or add domains"));
    } else {
        strbuf_append_str(&cause, STR("allows no domain"));
    }
    const struct str said = strbuf_str(&cause);
    strbuf_append_str(out, decision_first_bytes(said, OBSTACLE_BYTES));
    if (said.n + remedy.n <= OBSTACLE_BYTES)
        strbuf_append_str(out, strbuf_str(&remedy));
}
