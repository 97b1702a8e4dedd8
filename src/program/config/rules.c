/*
 * The settings of EvenkeelConfiguration that are lists of objects: default constraints, tiers of
 * locality and the rules of ordered spread. All are strict at every level, label selectors
 * included: a misspelt `matchLabel` would otherwise select every pod.
 */
#include "config/table.h"

#include "base/dns_name.h"
#include "model/selector.h"
#include "model/topology.h"

#define CONSTRAINT(member) FIELD_MEMBER(struct spread_constraint, member)
#define TIER(member) FIELD_MEMBER(struct locality_tier, member)
#define RULE(member) FIELD_MEMBER(struct ordered_rule, member)
#define SELECTOR(member) FIELD_MEMBER(struct label_selector, member)
#define EXPRESSION(member) FIELD_MEMBER(struct label_expression, member)

/* ---- constraints ---- */

static const struct field_choice when_words[] = {
    {"DoNotSchedule", true}, {"ScheduleAnyway", false}, {0}};
static const struct field_choice policy_words[] = {{"Honor", true}, {"Ignore", false}, {0}};

static const char topology_key_help[] = "Label of nodes whose values are the domains.";
static const char when_help[] =
    "`DoNotSchedule`: filter rejects nodes that would exceed maxSkew. `ScheduleAnyway`: only the "
    "scores say so.";
static const char affinity_help[] =
    "Whether nodes that the pod's node affinity excludes are left out of the counts.";
static const char taints_help[] =
    "Whether nodes with taints that the pod does not tolerate are left out of the counts.";

#define ROW_TOPOLOGY_KEY                                                                           \
    {                                                                                              \
        .path = "topologyKey", .type = FIELD_STR, CONSTRAINT(topology_key), .required = true,      \
        .valid = label_key_valid, .noun = "label key", .help = topology_key_help                   \
    }
#define ROW_WHEN                                                                                   \
    {                                                                                              \
        .path = "whenUnsatisfiable", .type = FIELD_CHOICE, CONSTRAINT(hard), .required = true,     \
        .choices = when_words, .help = when_help                                                   \
    }
#define ROW_AFFINITY                                                                               \
    {                                                                                              \
        .path = "nodeAffinityPolicy", .type = FIELD_CHOICE, CONSTRAINT(honor_affinity),            \
        .choices = policy_words, .initial = true, .help = affinity_help                            \
    }
#define ROW_TAINTS                                                                                 \
    {                                                                                              \
        .path = "nodeTaintsPolicy", .type = FIELD_CHOICE, CONSTRAINT(honor_taints),                \
        .choices = policy_words, .initial = false, .help = taints_help                             \
    }

static const struct field default_fields[] = {
    ROW_TOPOLOGY_KEY,
    {.path = "maxSkew",
     .type = FIELD_NUMBER,
     CONSTRAINT(max_skew),
     .required = true,
     .min = 1,
     .max = INT32_MAX,
     .help = "How many more pods a domain may hold than the emptiest one."},
    ROW_WHEN,
    {.path = "minDomains",
     .type = FIELD_NUMBER,
     CONSTRAINT(min_domains),
     .min = 1,
     .max = INT32_MAX,
     .initial = 1,
     .help = "With fewer domains the emptiest one counts as 0. Only with `DoNotSchedule`."},
    ROW_AFFINITY,
    ROW_TAINTS,
    {.path = "labelSelector",
     .type = FIELD_REFUSED,
     .help = "default constraints count the pods of the pod's own Services and owner"},
    {.path = "matchLabelKeys",
     .type = FIELD_REFUSED,
     .help = "default constraints count the pods of the pod's own Services and owner"},
};

/* Refuses a repeated pair of topology key and whenUnsatisfiable, like upstream. */
static void default_finish(struct field_source *s, const char *path, struct str json,
                           void *object) {
    const struct spread_constraint *c = object;
    struct configuration_loading *l = s->ctx;
    if (!c->hard && c->min_domains != 1)
        field_bad_value(s, field_path(s, path, "minDomains"), json,
                        "it needs whenUnsatisfiable: DoNotSchedule");
    for (uint32_t i = 0; i < l->default_count; i++)
        if (str_eq(l->defaults[i]->topology_key, c->topology_key) &&
            l->defaults[i]->hard == c->hard)
            field_bad_value(s, path, json,
                            "topologyKey '%.*s' with the same whenUnsatisfiable is there already",
                            STR_ARG(c->topology_key));
    if (l->default_count < LIMIT_DEFAULT_CONSTRAINTS)
        l->defaults[l->default_count++] = c;
}

const struct field_table configuration_default_table =
    FIELD_TABLE(default_fields, struct spread_constraint, default_finish);

static const struct field term_fields[] = {
    ROW_TOPOLOGY_KEY,
    {.path = "maxSkew",
     .type = FIELD_NUMBER,
     CONSTRAINT(max_skew),
     .min = 1,
     .max = INT32_MAX,
     .initial = 1,
     .help = "How many more pods a domain may hold than the emptiest one under the same parent."},
    ROW_WHEN,
    ROW_AFFINITY,
    ROW_TAINTS,
    {.path = "minDomains", .type = FIELD_REFUSED, .help = "ordered spread has no minDomains"},
    {.path = "labelSelector",
     .type = FIELD_REFUSED,
     .help = "the rule's podSelector says which pods are counted"},
    {.path = "matchLabelKeys", .type = FIELD_REFUSED, .help = "write it beside terms"},
};

static void term_finish(struct field_source *s, const char *path, struct str json, void *object) {
    struct spread_constraint *c = object;
    (void)s, (void)path, (void)json; /* nothing to check */
    c->min_domains = 1;
}

const struct field_table configuration_term_table =
    FIELD_TABLE(term_fields, struct spread_constraint, term_finish);

/* ---- tiers of locality ---- */

static const struct field tier_fields[] = {
    {.path = "topologyKey",
     .type = FIELD_STR,
     TIER(topology_key),
     .required = true,
     .valid = label_key_valid,
     .noun = "label key",
     .help = "Label of nodes whose values are the domains; `kubernetes.io/hostname` is the node."},
    {.path = "weight",
     .type = FIELD_NUMBER,
     TIER(weight),
     .required = true,
     .min = 1,
     .max = 100,
     .help = "The weight of bytes in the same domain, beside the weights of the other tiers."},
};

/* In a policy the weights of tiers may rise: they are weights of preferences, which add up. Here a
 * rise can only be a mistake. */
static void tier_finish(struct field_source *s, const char *path, struct str json, void *object) {
    const struct locality_tier *tier = object;
    struct configuration_loading *l = s->ctx;
    for (uint32_t i = 0; i < l->tier_count; i++)
        if (str_eq(l->tiers[i]->topology_key, tier->topology_key))
            field_bad_value(s, field_path(s, path, "topologyKey"), json, "'%.*s' is there already",
                            STR_ARG(tier->topology_key));
    if (l->tier_count > 0 && tier->weight > l->tiers[l->tier_count - 1]->weight)
        field_bad_value(s, field_path(s, path, "weight"), json,
                        "a tier cannot weigh more than the nearer one before it, %d",
                        (int)l->tiers[l->tier_count - 1]->weight);
    if (l->tier_count < LIMIT_POLICY_TERMS)
        l->tiers[l->tier_count++] = tier;
}

const struct field_table configuration_tier_table =
    FIELD_TABLE(tier_fields, struct locality_tier, tier_finish);

/* ---- label selectors ---- */

static const struct field expression_fields[] = {
    {.path = "key", .type = FIELD_STR, EXPRESSION(key), .required = true},
    {.path = "operator", .type = FIELD_STR, EXPRESSION(op), .required = true},
    {.path = "values",
     .type = FIELD_STRS,
     EXPRESSION(values),
     FIELD_COUNT(struct label_expression, value_count)},
};

static const struct field_table expression_table =
    FIELD_TABLE(expression_fields, struct label_expression, NULL);

static const struct field selector_fields[] = {
    {.path = "matchLabels", .type = FIELD_LABELS, SELECTOR(match_labels)},
    {.path = "matchExpressions",
     .type = FIELD_OBJECTS,
     SELECTOR(expressions),
     FIELD_COUNT(struct label_selector, expression_count),
     .table = &expression_table,
     .max = LIMIT_SELECTOR_REQUIREMENTS},
};

static const struct field_table selector_table =
    FIELD_TABLE(selector_fields, struct label_selector, NULL);

/* Reads podSelector and compiles it. */
static void read_selector(struct field_source *s, const char *path, struct str json, void *object) {
    struct ordered_rule *rule = object;
    struct label_selector selector = {.present = true};
    struct err err;
    uint32_t problems_before = s->problem_count;
    fields_read(s, &selector_table, path, json, &selector);
    if (s->problem_count == problems_before &&
        selector_compile(&selector, (struct labels){0}, s->arena, &rule->pods, &err) != 0)
        field_bad_value(s, path, json, "%s", err.text);
}

/* ---- rules ---- */

static bool name_valid(struct str s) {
    return s.n > 0 && label_value_valid(s);
}

bool configuration_namespace_valid(struct str s) {
    return dns_label_valid(s);
}

static const struct field rule_fields[] = {
    {.path = "name",
     .type = FIELD_STR,
     RULE(name),
     .required = true,
     .valid = name_valid,
     .noun = "name",
     .help = "Shown in reasons; no two rules share one."},
    {.path = "namespaces",
     .type = FIELD_STRS,
     RULE(namespaces),
     FIELD_COUNT(struct ordered_rule, namespace_count),
     .valid = configuration_namespace_valid,
     .noun = "namespace",
     .help = "Namespaces whose pods the rule is for; none: every namespace."},
    {.path = "podSelector",
     .type = FIELD_CUSTOM,
     .read = read_selector,
     .required = true,
     .noun = "label selector",
     .help = "Which pods the rule is for and, within a pod's namespace, which pods are counted "
             "with it. `{}` means all of them."},
    {.path = "matchLabelKeys",
     .type = FIELD_STRS,
     RULE(match_label_keys),
     FIELD_COUNT(struct ordered_rule, match_label_key_count),
     .valid = label_key_valid,
     .noun = "label key",
     .help = "Labels whose values must also be the pod's own, for instance `pod-template-hash`: "
             "each revision is spread by itself."},
    {.path = "terms",
     .type = FIELD_OBJECTS,
     RULE(terms),
     FIELD_COUNT(struct ordered_rule, term_count),
     .table = &configuration_term_table,
     .required = true,
     .min = 1,
     .max = ENGINE_MAX_ORDERED_TERMS,
     .help = "The domains, the most important and widest first: region, then zone, then rack."},
};

static void check_terms(struct field_source *s, const char *path, struct str json,
                        const struct ordered_rule *rule) {
    for (uint32_t i = 0; i < rule->term_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (str_eq(rule->terms[i].topology_key, rule->terms[j].topology_key))
                field_bad_value(s, field_path(s, field_path_at(s, path, i), "topologyKey"), json,
                                "'%.*s' is there already", STR_ARG(rule->terms[i].topology_key));
}

/* upstream: a key may be in labelSelector or in matchLabelKeys, not in both. */
static void check_label_keys(struct field_source *s, const char *path, struct str json,
                             const struct ordered_rule *rule) {
    for (uint32_t i = 0; i < rule->match_label_key_count; i++)
        for (uint32_t j = 0; j < rule->pods.count; j++)
            if (str_eq(rule->match_label_keys[i], rule->pods.items[j].key))
                field_bad_value(s, field_path_at(s, path, i), json,
                                "'%.*s' is in podSelector already",
                                STR_ARG(rule->match_label_keys[i]));
}

static void rule_finish(struct field_source *s, const char *path, struct str json, void *object) {
    const struct ordered_rule *rule = object;
    struct configuration_loading *l = s->ctx;
    check_terms(s, field_path(s, path, "terms"), json, rule);
    check_label_keys(s, field_path(s, path, "matchLabelKeys"), json, rule);
    for (uint32_t i = 0; i < l->rule_count; i++)
        if (str_eq(l->rule_names[i], rule->name))
            field_bad_value(s, field_path(s, path, "name"), json,
                            "'%.*s' is the name of another rule", STR_ARG(rule->name));
    if (l->rule_count < CONFIGURATION_RULES_MAX)
        l->rule_names[l->rule_count++] = rule->name;
}

const struct field_table configuration_rule_table =
    FIELD_TABLE(rule_fields, struct ordered_rule, rule_finish);
