/*
 * Ordered spread: constraints by importance, region first, then zone within the region. Domains are
 * prefixes of the ordered keys, and a domain is compared with its siblings under the same parent
 * only, so equal zone names in two regions differ and a region is filled evenly before its zones
 * are looked at.
 *
 * Filter: a hard term rejects a node whose domain, with the pod added, would hold more than maxSkew
 * pods above the emptiest sibling. Score: each term gives 0 (fullest sibling) to 63 (emptiest), 6
 * bits a term, the first term highest. Assumed pods count in parts; scores compare counts only with
 * each other, so the tree then counts in parts of a pod.
 *
 * Domains come from the nodes that pass the terms' inclusion policies. A node without a term's key
 * is rejected when the term is hard; under a soft term it is a domain of its own, or, as the rule
 * has it, worse than every other node (upstream: PodTopologySpread's score ignores such nodes).
 * After Open Cluster Management's enhancement 70 (spread policy).
 */
#include "engine/spread.h"
#include "topology/prefix_tree.h"

#include <errno.h>

enum { TERM_BITS = 6, TERM_MAX = 63 };

struct term {
    const struct spread_constraint *constraint;
    struct topology_column column;
    uint8_t missing_reason, skew_reason, flight_reason;
};

struct ordered_state {
    struct term terms[ENGINE_MAX_ORDERED_TERMS];
    uint32_t term_count;
    uint8_t required_flags;
    bool all_keys;
    const uint8_t *feasible;
    const uint32_t *counts;
    const int64_t *assumed; /* in parts of CACHE_POD; NULL: none, or the filter asks */
    struct selector group;
    struct prefix_tree tree;
};

/* ---- which rule, which group ---- */

static bool rule_fits(const struct ordered_rule *rule, const struct object_meta *pod) {
    bool in_namespace = rule->namespace_count == 0;
    for (uint32_t i = 0; i < rule->namespace_count; i++)
        in_namespace = in_namespace || str_eq(rule->namespaces[i], pod->namespace);
    return in_namespace && selector_matches(&rule->pods, labels_lookup, &pod->labels);
}

const struct ordered_rule *engine_ordered_rule(const struct engine_options *options,
                                               const struct object_meta *pod) {
    for (uint32_t i = 0; i < options->ordered_rule_count; i++)
        if (rule_fits(&options->ordered_rules[i], pod))
            return &options->ordered_rules[i];
    return options->policy_rule;
}

/* The rule's selector AND the pod's own values of matchLabelKeys. */
static int group_selector(const struct ordered_rule *rule, const struct evaluation *e,
                          struct selector *ret) {
    struct labels own;
    struct selector narrow;
    int r = labels_of_keys(rule->match_label_keys, rule->match_label_key_count,
                           &e->pod->meta.labels, e->arena, &own);
    if (r == 0)
        r = selector_compile(&(struct label_selector){.present = true}, own, e->arena, &narrow,
                             NULL);
    if (r != 0)
        return r;
    uint32_t count = rule->pods.count + narrow.count;
    struct requirement *items = arena_array(e->arena, count, sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        items[i] = i < rule->pods.count ? rule->pods.items[i] : narrow.items[i - rule->pods.count];
    selector_canonicalize(items, count, ret);
    return 0;
}

/* ---- the tree ---- */

/* A node's domain under one term; nodes without the key share one of their own. */
static uint32_t domain_of(const struct term *term, uint32_t slot) {
    uint32_t domain = term->column.domain_of[slot];
    if (domain != TOPOLOGY_NONE)
        return domain;
    return term->column.empty != TOPOLOGY_NONE ? term->column.empty : term->column.domains;
}

/* *ret_term: the first hard term whose key the node lacks; or, `any`, the first term. */
static bool lacks_key(const struct ordered_state *s, uint32_t slot, bool any, uint32_t *ret_term) {
    for (uint32_t t = 0; t < s->term_count; t++)
        if ((any || s->terms[t].constraint->hard) &&
            s->terms[t].column.domain_of[slot] == TOPOLOGY_NONE) {
            *ret_term = t;
            return true;
        }
    return false;
}

static bool counted(const struct ordered_state *s, uint32_t slot) {
    uint32_t term;
    return (s->feasible[slot] & s->required_flags) == s->required_flags &&
           !lacks_key(s, slot, s->all_keys, &term);
}

static int64_t count_at(const struct ordered_state *s, uint32_t slot) {
    return s->assumed == NULL ? s->counts[slot] : s->counts[slot] * CACHE_POD + s->assumed[slot];
}

static int fill_tree(const struct evaluation *e, struct ordered_state *s) {
    uint32_t slots = topology_slots(e->view->nodes.topology);
    int r = prefix_tree_init(&s->tree, e->arena, slots / 4);
    for (uint32_t slot = 0; r == 0 && slot < slots; slot++) {
        if (!counted(s, slot))
            continue;
        uint32_t prefix = PREFIX_ROOT;
        for (uint32_t t = 0; t < s->term_count && prefix != PREFIX_NONE; t++)
            prefix = prefix_make(&s->tree, prefix, domain_of(&s->terms[t], slot));
        if (prefix == PREFIX_NONE)
            return -ENOMEM;
        prefix_add(&s->tree, prefix, count_at(s, slot));
    }
    prefix_tree_settle(&s->tree);
    return r;
}

struct flight_marks {
    struct ordered_state *state;
    uint32_t mark; /* of the flight that is looked at: it counts once in a domain */
};

static void mark_path(struct flight_marks *marks, uint32_t slot) {
    struct ordered_state *s = marks->state;
    uint32_t prefix = PREFIX_ROOT;
    for (uint32_t t = 0; t < s->term_count; t++) {
        prefix = prefix_find(&s->tree, prefix, domain_of(&s->terms[t], slot));
        if (prefix == PREFIX_NONE)
            return;
        struct prefix *item = &s->tree.items[prefix];
        item->in_flight += item->mark != marks->mark;
        item->mark = marks->mark;
    }
}

static void mark_flight(void *ctx, const struct flight_nodes *nodes, uint32_t words) {
    struct flight_marks *marks = ctx;
    marks->mark++;
    for (uint32_t word = 0; word < words; word++)
        for (uint64_t left = nodes[word].passed | nodes[word].unclear; left != 0;
             left &= left - 1) {
            uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (counted(marks->state, slot))
                mark_path(marks, slot);
        }
}

static void count_flights(const struct evaluation *e, struct ordered_state *s) {
    const struct flight_question question = {e->pod->meta.namespace, &s->group, &e->pod->meta};
    struct flight_marks marks = {s, 0};
    if (e->options->count_flights)
        cache_flights(e->view, &question, mark_flight, &marks);
}

static int terms_ready(struct evaluation *e, const struct ordered_rule *rule,
                       struct ordered_state *s) {
    for (uint32_t t = 0; t < rule->term_count; t++) {
        struct term *term = &s->terms[t];
        term->constraint = &rule->terms[t];
        struct str key = term->constraint->topology_key;
        int r = topology_column(&e->view->nodes, key, &term->column);
        if (r != 0)
            return r;
        term->missing_reason = reason_add(e, "no label ", key, " to spread over");
        term->skew_reason = reason_add(e, "over maxSkew on ", key, " (ordered)");
        if (e->options->count_flights)
            term->flight_reason = reason_add(e, FLIGHT_REASON, key, " (ordered)");
        s->required_flags |= inclusion_flags(term->constraint);
        struct applied_constraint *noted = applied_add(e, term->constraint, CONSTRAINT_OF_RULE);
        if (noted == NULL)
            return -ENOMEM;
        noted->rule = rule->name;
        noted->selector = &s->group;
    }
    s->term_count = rule->term_count;
    s->all_keys = rule->all_keys;
    return 0;
}

static int open_state(struct evaluation *e, bool with_assumed, struct ordered_state **ret) {
    const struct ordered_rule *rule = engine_ordered_rule(e->options, &e->pod->meta);
    if (rule == NULL)
        return ALGORITHM_SKIP;
    struct ordered_state *s = arena_alloc(e->arena, sizeof *s);
    if (s == NULL)
        return -ENOMEM;
    int r = terms_ready(e, rule, s);
    if (r == 0)
        r = group_selector(rule, e, &s->group);
    if (r == 0)
        r = cache_counter_assumed(e->view, e->pod->meta.namespace, &s->group, &s->counts,
                                  &s->assumed);
    if (!with_assumed)
        s->assumed = NULL;
    e->assumed = e->assumed || s->assumed != NULL;
    if (r == 0)
        r = topology_feasibility(&e->view->nodes, &e->pod->affinity, e->pod->tolerations,
                                 &s->feasible);
    if (r == 0)
        r = fill_tree(e, s);
    if (r == 0)
        *ret = s;
    return r;
}

/* ---- filter ---- */

static int ordered_prefilter(struct evaluation *e, void **ret_state, struct err *err) {
    struct ordered_state *s;
    (void)err; /* the configuration was checked when it was read: only memory can fail here */
    int r = open_state(e, false, &s);
    if (r != 0)
        return r;
    bool hard = false;
    for (uint32_t t = 0; t < s->term_count; t++)
        hard = hard || s->terms[t].constraint->hard;
    if (hard)
        count_flights(e, s);
    else
        e->applied_count -= s->term_count; /* soft terms drop no node */
    *ret_state = s;
    return hard ? 0 : ALGORITHM_SKIP;
}

static struct judgement ordered_filter(const struct evaluation *e, void *state, uint32_t slot) {
    const struct ordered_state *s = state;
    uint32_t prefix = PREFIX_ROOT, missing;
    (void)e;
    if (lacks_key(s, slot, false, &missing))
        return (struct judgement){VERDICT_UNRESOLVABLE, s->terms[missing].missing_reason};
    for (uint32_t t = 0; t < s->term_count; t++) {
        const struct prefix *parent = &s->tree.items[prefix];
        prefix = prefix_find(&s->tree, prefix, domain_of(&s->terms[t], slot));
        if (prefix == PREFIX_NONE) /* no feasible node there: nothing to compare with */
            break;
        const struct spread_constraint *constraint = s->terms[t].constraint;
        int64_t skew = s->tree.items[prefix].count + 1 - parent->least;
        if (constraint->hard && skew > constraint->max_skew)
            return (struct judgement){VERDICT_UNSCHEDULABLE, s->terms[t].skew_reason};
        if (constraint->hard && skew + s->tree.items[prefix].in_flight > constraint->max_skew)
            return (struct judgement){VERDICT_UNRESOLVABLE, s->terms[t].flight_reason};
    }
    return (struct judgement){VERDICT_PASS, 0};
}

static void change_pod(const struct evaluation *e, struct ordered_state *s,
                       const struct cache_pod *pod, int64_t by) {
    if (!counted(s, pod->slot) ||
        !cache_pod_counts(e->view, pod, e->pod->meta.namespace, &s->group))
        return;
    uint32_t prefix = PREFIX_ROOT;
    for (uint32_t t = 0; t < s->term_count; t++)
        prefix = prefix_find(&s->tree, prefix, domain_of(&s->terms[t], pod->slot));
    prefix_add(&s->tree, prefix, by);
    prefix_tree_settle(&s->tree);
}

static void ordered_remove(const struct evaluation *e, void *state, const struct cache_pod *pod) {
    change_pod(e, state, pod, -1);
}

static void ordered_restore(const struct evaluation *e, void *state, const struct cache_pod *pod) {
    change_pod(e, state, pod, 1);
}

/* ---- score ---- */

static int64_t raw_score(const struct ordered_state *s, uint32_t slot) {
    uint32_t prefix = PREFIX_ROOT, missing;
    int64_t raw = 0;
    if (s->all_keys && lacks_key(s, slot, true, &missing))
        return -1;
    for (uint32_t t = 0; t < s->term_count; t++) {
        const struct prefix *parent = NULL;
        if (prefix != PREFIX_NONE) {
            parent = &s->tree.items[prefix];
            prefix = prefix_find(&s->tree, prefix, domain_of(&s->terms[t], slot));
        }
        int64_t part = 0;
        if (prefix != PREFIX_NONE && parent->most > parent->least)
            part = TERM_MAX * (parent->most - s->tree.items[prefix].count) /
                   (parent->most - parent->least);
        raw = raw << TERM_BITS | part;
    }
    return raw;
}

static int ordered_score(struct evaluation *e, int64_t *raw, int64_t *normalized, struct err *err) {
    struct ordered_state *s;
    (void)err; /* as in ordered_prefilter() */
    if (e->count == 0)
        return ALGORITHM_SKIP;
    int r = open_state(e, true, &s);
    if (r != 0)
        return r;
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->slots[i] == TOPOLOGY_NONE)
            continue;
        raw[i] = raw_score(s, e->slots[i]);
        least = raw[i] < least ? raw[i] : least;
        most = raw[i] > most ? raw[i] : most;
    }
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->slots[i] == TOPOLOGY_NONE)
            normalized[i] = 0;
        else if (most == least)
            normalized[i] = ENGINE_MAX_NORMALIZED;
        else
            normalized[i] = ENGINE_MAX_NORMALIZED * (raw[i] - least) / (most - least);
    }
    return 0;
}

static uint32_t ordered_weight(const struct engine_options *options) {
    return options->ordered_weight;
}

const struct algorithm ordered_spread_algorithm = {
    .name = "ordered_spread",
    .plugin = "OrderedSpread",
    .prefilter = ordered_prefilter,
    .filter = ordered_filter,
    .remove_pod = ordered_remove,
    .restore_pod = ordered_restore,
    .score = ordered_score,
    .weight = ordered_weight,
};
