#include "findings/affinity.h"

#include "base/dns_name.h"
#include "findings/label_keys.h"
#include "findings/words.h"

#include <stdio.h>

/* Room for a path within a pod. */
enum { PATH_BYTES = 256 };

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static const char *const node_operators[] = {"In", "NotIn", "Exists", "DoesNotExist",
                                             "Gt", "Lt",    NULL};
static const char *const field_operators[] = {"In", "NotIn", NULL};
static const char *const label_operators[] = {"In", "NotIn", "Exists", "DoesNotExist", NULL};

/* ---- requirements ---- */

/* Checks an item of matchExpressions; `path` is the path of the item. */
static void check_expression(const struct label_expression *e, bool of_nodes, struct str path,
                             struct findings *f) {
    char at[PATH_BYTES];
    struct requirement q;
    struct err err;
    (void)snprintf(at, sizeof at, "%.*s.operator", STR_ARG(path));
    if (!findings_of_word(e->op, of_nodes ? node_operators : label_operators,
                          of_nodes ? "operator of a node selector" : "operator of a label selector",
                          str_of(at), f))
        return;
    if (requirement_check(e, of_nodes, &q, &err) != 0)
        findings_add(f, FINDING_INVALID, path, STR("Write a label key, and values that fit"),
                     "an API server or kube-scheduler refuses it: %s", err.text);
}

/* Checks an item of matchFields. upstream: ValidateNodeFieldSelectorRequirement */
static void check_field(const struct label_expression *e, struct str path, struct findings *f) {
    char at[PATH_BYTES];
    (void)snprintf(at, sizeof at, "%.*s.operator", STR_ARG(path));
    (void)findings_of_word(e->op, field_operators, "operator of a field selector", str_of(at), f);
    (void)snprintf(at, sizeof at, "%.*s.key", STR_ARG(path));
    if (!str_eq(e->key, STR("metadata.name")))
        findings_add(f, FINDING_INVALID, str_of(at), STR("Write metadata.name"),
                     "an API server refuses the field '%.*s'", STR_ARG(e->key));
    (void)snprintf(at, sizeof at, "%.*s.values", STR_ARG(path));
    if (e->value_count != 1)
        findings_add(f, FINDING_INVALID, str_of(at), STR("Write the name of one node"),
                     "an API server takes exactly one value of a field, not %u", e->value_count);
    else if (!dns_subdomain_valid(e->values[0]))
        findings_add(f, FINDING_INVALID, str_of(at), STR("Write the name of one node"),
                     "an API server refuses '%.*s': no node can have this name",
                     STR_ARG(e->values[0]));
}

static void check_list(const struct label_expression *items, uint32_t count, struct str path,
                       void (*check)(const struct label_expression *, struct str,
                                     struct findings *),
                       struct findings *f) {
    char at[PATH_BYTES];
    for (uint32_t i = 0; i < count && steps_take(&f->arena->steps, 1 + items[i].value_count); i++) {
        (void)snprintf(at, sizeof at, "%.*s[%u]", STR_ARG(path), i);
        check(&items[i], str_of(at), f);
    }
}

static void check_node_expression(const struct label_expression *e, struct str path,
                                  struct findings *f) {
    check_expression(e, true, path, f);
}

static void check_pod_expression(const struct label_expression *e, struct str path,
                                 struct findings *f) {
    check_expression(e, false, path, f);
}

/* ---- nodeAffinity ---- */

static void check_node_term(const struct node_selector_term *term, struct str path,
                            struct findings *f) {
    char at[PATH_BYTES];
    (void)snprintf(at, sizeof at, "%.*s.matchExpressions", STR_ARG(path));
    if (term->written != NULL)
        check_list(term->written, term->expression_count, str_of(at), check_node_expression, f);
    (void)snprintf(at, sizeof at, "%.*s.matchFields", STR_ARG(path));
    if (term->written_fields != NULL)
        check_list(term->written_fields, term->field_count, str_of(at), check_field, f);
}

static void check_weight(int64_t weight, struct str path, struct findings *f) {
    char at[PATH_BYTES];
    (void)snprintf(at, sizeof at, "%.*s.weight", STR_ARG(path));
    if (weight < 1 || weight > 100)
        findings_add(f, FINDING_INVALID, str_of(at), STR("Write a weight from 1 to 100"),
                     "an API server refuses the weight %lld", (long long)weight);
}

static void check_nodes(const struct node_affinity *affinity, struct str path, struct findings *f) {
    char at[PATH_BYTES], inner[PATH_BYTES];
    (void)snprintf(at, sizeof at, "%.*s." REQUIRED ".nodeSelectorTerms", STR_ARG(path));
    if (affinity->required && affinity->term_count == 0)
        findings_add(f, FINDING_INVALID, str_of(at), STR("Add a term, or remove " REQUIRED),
                     "an API server refuses a node selector without terms");
    for (uint32_t i = 0; i < affinity->term_count && steps_take(&f->arena->steps, 1); i++) {
        (void)snprintf(inner, sizeof inner, "%s[%u]", at, i);
        check_node_term(&affinity->terms[i], str_of(inner), f);
    }
    for (uint32_t i = 0; i < affinity->preferred_count && steps_take(&f->arena->steps, 1); i++) {
        (void)snprintf(at, sizeof at, "%.*s." PREFERRED "[%u]", STR_ARG(path), i);
        check_weight(affinity->preferred[i].weight, str_of(at), f);
        (void)snprintf(inner, sizeof inner, "%s.preference", at);
        check_node_term(&affinity->preferred[i].term, str_of(inner), f);
    }
}

/* ---- podAffinity, podAntiAffinity ---- */

static void check_labels(struct labels labels, struct str path, struct findings *f) {
    char at[PATH_BYTES];
    (void)snprintf(at, sizeof at, "%.*s.matchLabels", STR_ARG(path));
    for (uint32_t i = 0; i < labels.count && steps_take(&f->arena->steps, 1); i++)
        if (!label_key_valid(labels.items[i].key) || !label_value_valid(labels.items[i].value))
            findings_add(f, FINDING_INVALID, str_of(at), STR("Write labels that a pod can have"),
                         "an API server refuses the label '%.*s: %.*s'",
                         STR_ARG(labels.items[i].key), STR_ARG(labels.items[i].value));
}

static void check_selector(const struct label_selector *s, struct str path, struct findings *f) {
    char at[PATH_BYTES];
    check_labels(s->match_labels, path, f);
    (void)snprintf(at, sizeof at, "%.*s.matchExpressions", STR_ARG(path));
    check_list(s->expressions, s->expression_count, str_of(at), check_pod_expression, f);
}

static void check_topology_key(struct str key, struct str path, struct findings *f) {
    char at[PATH_BYTES];
    (void)snprintf(at, sizeof at, "%.*s.topologyKey", STR_ARG(path));
    if (str_empty(key))
        findings_add(f, FINDING_INVALID, str_of(at),
                     STR("Write a label of nodes, such as kubernetes.io/hostname"),
                     "an API server refuses a term without a topologyKey");
    else if (!label_key_valid(key))
        findings_add(f, FINDING_INVALID, str_of(at),
                     STR("Write a label of nodes, such as kubernetes.io/hostname"),
                     "an API server refuses '%.*s': it is no label key", STR_ARG(key));
}

static void check_pod_term(const struct pod_affinity_term *term, const struct labels *pod,
                           struct str path, struct findings *f) {
    const struct keyed_selector keyed = {&term->pods, pod, term->match_keys, term->match_key_count};
    char at[PATH_BYTES];
    check_topology_key(term->topology_key, path, f);
    (void)snprintf(at, sizeof at, "%.*s.labelSelector", STR_ARG(path));
    check_selector(&term->pods, str_of(at), f);
    (void)snprintf(at, sizeof at, "%.*s.namespaceSelector", STR_ARG(path));
    check_selector(&term->by_labels, str_of(at), f);
    findings_of_label_keys(&keyed, path, f);
}

static void check_pods(const struct pod_affinity *affinity, const struct labels *pod,
                       struct str path, struct findings *f) {
    char at[PATH_BYTES], inner[PATH_BYTES];
    for (uint32_t i = 0; i < affinity->term_count && steps_take(&f->arena->steps, 1); i++) {
        (void)snprintf(at, sizeof at, "%.*s." REQUIRED "[%u]", STR_ARG(path), i);
        check_pod_term(&affinity->terms[i], pod, str_of(at), f);
    }
    for (uint32_t i = 0; i < affinity->preferred_count && steps_take(&f->arena->steps, 1); i++) {
        (void)snprintf(at, sizeof at, "%.*s." PREFERRED "[%u]", STR_ARG(path), i);
        check_weight(affinity->preferred[i].weight, str_of(at), f);
        (void)snprintf(inner, sizeof inner, "%s.podAffinityTerm", at);
        check_pod_term(&affinity->preferred[i], pod, str_of(inner), f);
    }
}

void findings_of_affinity(const struct pod *pod, struct str spec, struct findings *f) {
    char at[PATH_BYTES];
    (void)snprintf(at, sizeof at, "%.*s.affinity.nodeAffinity", STR_ARG(spec));
    check_nodes(&pod->affinity, str_of(at), f);
    (void)snprintf(at, sizeof at, "%.*s.affinity.podAffinity", STR_ARG(spec));
    check_pods(&pod->beside, &pod->meta.labels, str_of(at), f);
    (void)snprintf(at, sizeof at, "%.*s.affinity.podAntiAffinity", STR_ARG(spec));
    check_pods(&pod->apart, &pod->meta.labels, str_of(at), f);
}
