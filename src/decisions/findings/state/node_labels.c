#include "findings/state/node_labels.h"

#include "base/suggest.h"
#include "findings/state/keys.h"

#include <errno.h>
#include <stdio.h>

enum { PATH_BYTES = 240, TEXT_BYTES = 120, REMEDY_BYTES = 200 };

/* The question about one pod. */
struct asked {
    struct topology_view *v;
    struct findings *f;
    const struct node_affinity *affinity;
    char terms[PATH_BYTES]; /* the path of the required node affinity */
};

/* ---- one requirement ---- */

/* The values of a key on the nodes. */
struct values {
    struct topology_column column;
    bool any;   /* some node has the key */
    bool match; /* some value meets the requirement */
};

/* Compares each value of the nodes once with the requirement, which has sorted values. */
static int find_values(struct topology_view *v, const struct requirement *q, struct values *ret) {
    const uint64_t steps = requirement_cost(q).steps;
    *ret = (struct values){.any = false};
    const int r = topology_column(v, q->key, &ret->column);
    for (uint32_t i = 0; r == 0 && i < ret->column.domains && !ret->match; i++) {
        if (!steps_take(v->steps, 1 + steps))
            return -E2BIG;
        if (!topology_domain_used(&ret->column, i))
            continue;
        const struct str value = topology_value(v, &ret->column, i);
        ret->any = true;
        ret->match = requirement_matches(q, &value);
    }
    return r;
}

/* Returns the value of a node that is nearest to `typed`; "": none is near. Compares the first
 * values only. */
static struct str nearest_value(struct topology_view *v, const struct values *values,
                                struct str typed) {
    enum { COMPARED = 256, VALUE_BYTES = 64 }; /* a label's value has at most 63 bytes */
    struct suggestion near = suggestion_for(typed);
    struct str best = STR("");
    for (uint32_t i = 0; i < values->column.domains && i < COMPARED; i++) {
        char text[VALUE_BYTES];
        const unsigned before = near.best != NULL ? near.distance : UINT32_MAX;
        if (!steps_take(v->steps, SUGGESTION_STEPS))
            break;
        const struct str value = topology_value(v, &values->column, i);
        (void)snprintf(text, sizeof text, "%.*s", STR_ARG(value));
        suggestion_offer(&near, text);
        if (near.best != NULL && near.distance < before)
            best = value;
    }
    return best;
}

static void say_some_values(struct topology_view *v, const struct values *values,
                            struct strbuf *out) {
    enum { SAID = 4 };
    uint32_t said = 0;
    strbuf_append_str(out, STR("Write a value that nodes have: "));
    for (uint32_t i = 0; i < values->column.domains && said <= SAID; i++) {
        const struct str value = topology_value(v, &values->column, i);
        if (str_empty(value))
            continue;
        if (said < SAID)
            strbuf_appendf(out, "%s%.*s", said > 0 ? ", " : "", STR_ARG(value));
        else
            strbuf_append_str(out, STR(" and others"));
        said++;
    }
}

static void add_unknown(const struct asked *a, const struct requirement *q,
                        const struct values *values, struct str path) {
    const struct str typed = q->op == SELECTOR_IN ? q->values[0] : STR("");
    const struct str near =
        values->any ? nearest_value(a->v, values, typed) : key_near(a->v, q->key, a->f->arena);
    CLEANUP(strbuf_done) struct strbuf label = {.max = 2 * TEXT_BYTES};
    CLEANUP(strbuf_done) struct strbuf meant = {.max = REMEDY_BYTES};
    CLEANUP(strbuf_done) struct strbuf remedy = {.max = 2 * REMEDY_BYTES};
    strbuf_appendf(&label, "%.*s", STR_ARG(str_cut(q->key, TEXT_BYTES)));
    if (values->any && q->op == SELECTOR_IN)
        strbuf_appendf(&label, ": %.*s", STR_ARG(str_cut(typed, TEXT_BYTES / 2)));
    if (values->any && q->value_count > 1)
        strbuf_append_str(&label, STR(" or another value"));
    if (!str_empty(near)) {
        strbuf_appendf(&meant, "; the nearest is '%.*s'", STR_ARG(str_cut(near, TEXT_BYTES)));
        strbuf_appendf(&remedy, "Write %.*s", STR_ARG(near));
    } else if (values->any)
        say_some_values(a->v, values, &remedy);
    else
        strbuf_append_str(&remedy, STR("Use a label that nodes have, or label the nodes"));
    findings_add(a->f, FINDING_LABEL_UNKNOWN, path, strbuf_str(&remedy),
                 "no node has the label '%.*s': the pod fits no node%.*s", (int)label.n, label.p,
                 (int)meant.n, meant.p);
}

/* Sets *ret_found if it adds a finding. */
static int check_requirement(const struct asked *a, const struct requirement *q, struct str path,
                             bool *ret_found) {
    struct values values;
    if (q->op == SELECTOR_NOT_IN || q->op == SELECTOR_DOES_NOT_EXIST)
        return 0; /* a node without the key meets it */
    const int r = find_values(a->v, q, &values);
    if (r != 0 || values.match)
        return r;
    add_unknown(a, q, &values, path);
    *ret_found = true;
    return 0;
}

/* ---- nodeSelector ---- */

static int check_selector(const struct asked *a, struct str spec) {
    const struct labels *labels = &a->affinity->node_selector;
    char path[PATH_BYTES];
    bool found = false;
    int r = 0;
    (void)snprintf(path, sizeof path, "%.*s.nodeSelector", STR_ARG(spec));
    for (uint32_t i = 0; r == 0 && i < labels->count; i++) {
        const struct requirement q = {.key = labels->items[i].key,
                                      .op = SELECTOR_IN,
                                      .values = &labels->items[i].value,
                                      .value_count = 1};
        r = check_requirement(a, &q, str_of(path), &found);
    }
    if (r == 0 && !found)
        findings_add(a->f, FINDING_LABEL_UNKNOWN, str_of(path),
                     STR("Leave out a label, or label a node"),
                     "nodes have each of these labels, but no node has all of them: the pod fits "
                     "no node");
    return r;
}

/* ---- required node affinity ---- */

static void check_name(const struct asked *a, const struct requirement *q, struct str path,
                       bool *ret_found) {
    if (q->op != SELECTOR_IN || !str_eq(q->key, STR("metadata.name")) ||
        topology_find(a->v, q->values[0]) != TOPOLOGY_NONE)
        return;
    findings_add(a->f, FINDING_NAME_UNKNOWN, path, STR("Write the name of a node"),
                 "no node has the name '%.*s': the pod fits no node",
                 STR_ARG(str_cut(q->values[0], TEXT_BYTES)));
    *ret_found = true;
}

static int check_term(const struct asked *a, uint32_t at, bool *ret_found) {
    const struct node_selector_term *term = &a->affinity->terms[at];
    char path[PATH_BYTES + 60];
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < term->expression_count; i++) {
        (void)snprintf(path, sizeof path, "%s.nodeSelectorTerms[%u].matchExpressions[%u]", a->terms,
                       at, i);
        r = check_requirement(a, &term->expressions[i], str_of(path), ret_found);
    }
    for (uint32_t i = 0; r == 0 && i < term->field_count; i++) {
        (void)snprintf(path, sizeof path, "%s.nodeSelectorTerms[%u].matchFields[%u]", a->terms, at,
                       i);
        check_name(a, &term->fields[i], str_of(path), ret_found);
    }
    return r;
}

/* An API server refuses a term that does not parse, and names the mistake. */
static int check_terms(const struct asked *a) {
    bool found = false;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < a->affinity->term_count; i++)
        if (a->affinity->terms[i].invalid)
            found = true;
        else
            r = check_term(a, i, &found);
    if (r == 0 && !found)
        findings_add(a->f, FINDING_LABEL_UNKNOWN, str_of(a->terms),
                     STR("Leave out a requirement, or label a node"),
                     "no term matches a node: the pod fits no node");
    return r;
}

/* ---- both ---- */

/* Is there a node that matches? Tolerations do not matter, but with the pod's tolerations the view
 * may have the answer already. */
static int find_match(struct topology_view *v, const struct node_affinity *affinity,
                      struct tolerations tolerations, bool *ret) {
    const uint8_t *flags;
    const int r = topology_feasibility(v, affinity, tolerations, &flags);
    *ret = false;
    for (uint32_t slot = 0; r == 0 && slot < topology_slots(v->topology) && !*ret; slot++)
        *ret = (flags[slot] & CANDIDATE_AFFINITY) != 0;
    return r;
}

int findings_of_node_labels(struct topology_view *v, const struct pod *pod, struct str spec,
                            struct findings *f) {
    const struct node_affinity selector = {.node_selector = pod->affinity.node_selector};
    const struct node_affinity required = {.required = pod->affinity.required,
                                           .terms = pod->affinity.terms,
                                           .term_count = pod->affinity.term_count};
    struct asked a = {.v = v, .f = f, .affinity = &pod->affinity};
    bool both = true, by_selector = true, by_terms = true;
    int r = 0;
    if (pod->affinity.required || pod->affinity.node_selector.count > 0)
        r = find_match(v, &pod->affinity, pod->tolerations, &both);
    if (r != 0 || both)
        return r;
    (void)snprintf(a.terms, sizeof a.terms,
                   "%.*s.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
                   STR_ARG(spec));
    r = find_match(v, &selector, pod->tolerations, &by_selector);
    if (r == 0)
        r = find_match(v, &required, pod->tolerations, &by_terms);
    if (r == 0 && !by_selector)
        r = check_selector(&a, spec);
    if (r == 0 && !by_terms)
        r = check_terms(&a);
    if (r == 0 && by_selector && by_terms) {
        (void)snprintf(a.terms, sizeof a.terms, "%.*s.affinity", STR_ARG(spec));
        findings_add(f, FINDING_LABEL_UNKNOWN, str_of(a.terms),
                     STR("Leave out one of them, or label a node"),
                     "nodes match nodeSelector, and nodes match the node affinity, but no node "
                     "matches both: the pod fits no node");
    }
    return r;
}

const struct finding *findings_find_node_labels(const struct findings *f) {
    for (uint32_t i = 0; i < f->count; i++)
        if (f->items[i].code == FINDING_LABEL_UNKNOWN || f->items[i].code == FINDING_NAME_UNKNOWN)
            return &f->items[i];
    return NULL;
}
