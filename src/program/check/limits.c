#include "check/limits.h"

#include <stdio.h>

static void check_defaults(const struct engine_options *engine, struct check_report *out) {
    char path[64];
    for (uint32_t i = 0; !engine->system_defaults && i < engine->default_constraint_count; i++) {
        if (!engine->default_constraints[i].hard)
            continue;
        (void)snprintf(path, sizeof path, "spread.defaultConstraints[%u]", i); /* fits */
        check_report_add(
            out, SEVERITY_INFO, 0, path,
            "write it into kube-scheduler's configuration, too: profiles[].pluginConfig, "
            "PodTopologySpread, defaultingType: List",
            "it is hard, and kube-scheduler evicts no pod to make room under a constraint "
            "that only Evenkeel knows");
    }
}

/* Appends the inclusion policies. A node that one term does not count is not counted for any
 * term. */
static void append_policies(const struct ordered_rule *rule, struct strbuf *out) {
    bool honor_affinity = false, honor_taints = false;
    for (uint32_t t = 0; t < rule->term_count; t++) {
        honor_affinity = honor_affinity || rule->terms[t].honor_affinity;
        honor_taints = honor_taints || rule->terms[t].honor_taints;
    }
    strbuf_appendf(out, "%s%s", honor_affinity ? "" : ", nodeAffinityPolicy: Ignore",
                   honor_taints ? ", nodeTaintsPolicy: Honor" : "");
}

/* Returns the selector. It is not {} for all pods, because {} selects no pod in kube-scheduler 1.27
 * to 1.37. */
static const char *selector_of(const struct ordered_rule *rule) {
    return rule->pods.count > 0 ? "the podSelector"
                                : "{matchExpressions: [{key: no-such-label, operator: "
                                  "DoesNotExist}]}";
}

/* Appends the native constraint that equals a hard first term. See test_ordered_native.c. */
static void append_native(const struct ordered_rule *rule, struct strbuf *out) {
    const struct spread_constraint *first = &rule->terms[0];
    const char *before = " if all nodes with that label also have ";
    strbuf_appendf(out,
                   "let the rule's pods carry the constraint {topologyKey: %.*s, maxSkew: %lld, "
                   "whenUnsatisfiable: DoNotSchedule, labelSelector: %s",
                   STR_ARG(first->topology_key), (long long)first->max_skew, selector_of(rule));
    for (uint32_t i = 0; i < rule->match_label_key_count; i++)
        strbuf_appendf(out, "%s%.*s%s", i == 0 ? ", matchLabelKeys: [" : ", ",
                       STR_ARG(rule->match_label_keys[i]),
                       i + 1 == rule->match_label_key_count ? "]" : "");
    append_policies(rule, out);
    strbuf_appendf(out, "}, which equals the rule's first term");
    for (uint32_t t = 1; t < rule->term_count; t++)
        if (rule->terms[t].hard) {
            strbuf_appendf(out, "%s%.*s", before, STR_ARG(rule->terms[t].topology_key));
            before = " and ";
        }
}

static void check_rule(const struct ordered_rule *rule, uint32_t index, struct check_report *out) {
    CLEANUP(strbuf_done) struct strbuf advice = {.max = LIMIT_CONFIG_BYTES};
    char path[64];
    bool hard = false;
    for (uint32_t t = 0; t < rule->term_count; t++)
        hard = hard || rule->terms[t].hard;
    if (!hard)
        return;
    if (rule->terms[0].hard)
        append_native(rule, &advice);
    else
        strbuf_appendf(&advice, "no native constraint equals a hard term below a soft term");
    strbuf_append_char(&advice, '\0');
    (void)snprintf(path, sizeof path, "orderedSpread.rules[%u]", index); /* fits */
    check_report_add(
        out, SEVERITY_INFO, 0, path, strbuf_failed(&advice) ? "" : advice.p,
        "it has hard terms, and kube-scheduler evicts no pod to make room under terms that "
        "only Evenkeel knows");
}

void limits_check(const struct configuration *c, struct check_report *out) {
    check_defaults(&c->engine, out);
    for (uint32_t i = 0; i < c->engine.ordered_rule_count; i++)
        check_rule(&c->engine.ordered_rules[i], i, out);
}
