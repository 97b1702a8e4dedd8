/*
 * Ordered spread of pods: constraints by importance, region first, then zone within the region
 * (topology/ordered_domains.h; what is over maxSkew: topology/rounds.h).
 *
 * Filter: a hard term rejects a node whose domain, with the pod added, would hold more than maxSkew
 * pods above the emptiest sibling. Score: the score of the domains (ordered_domains_score()).
 * Assumed pods count in parts. Scores only compare counts with each other, so the tree then counts
 * all pods in parts.
 *
 * Domains come from the nodes that pass the terms' inclusion policies. A node without a term's key
 * is rejected when the term is hard; under a soft term it is a domain of its own or, with all_keys,
 * worse than every other node (upstream: PodTopologySpread's score ignores such nodes).
 */
#include "engine/counted.h"
#include "engine/priority.h"
#include "engine/spread.h"
#include "topology/rounds.h"

#include <errno.h>

_Static_assert(ENGINE_MAX_ORDERED_TERMS <= (int)ORDERED_TERMS, "a rule has a tree");

struct term_reasons {
    uint8_t missing, skew, flight;
};

struct ordered_state {
    struct ordered_term terms[ENGINE_MAX_ORDERED_TERMS];
    struct term_reasons reasons[ENGINE_MAX_ORDERED_TERMS];
    struct ordered_domains domains;
    uint8_t required_flags;
    bool all_keys;
    const uint8_t *feasible;
    uint8_t common; /* marks that all known nodes have */
    const uint32_t *counts;
    const int64_t *assumed; /* parts of pods per slot, a whole pod is CACHE_POD; NULL: none, and in
                               the filter */
    struct selector group;
};

/* ---- the rule and its group ---- */

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

/* Does a candidate have the column's key? Unknown candidates do not count. */
static bool is_in_use(const struct evaluation *e, const struct topology_column *column) {
    bool known = false;
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->slots[i] == TOPOLOGY_NONE)
            continue;
        if (column->domain_of[e->slots[i]] != TOPOLOGY_NONE)
            return true;
        known = true;
    }
    return !known;
}

/* Drops keys that no candidate has: with such a key all candidates would be the worst, and would
 * have no order. */
static int drop_idle_terms(struct evaluation *e, const struct ordered_rule *rule) {
    struct ordered_rule *own = arena_alloc(e->arena, sizeof *own);
    struct spread_constraint *terms = arena_array(e->arena, rule->term_count, sizeof *terms);
    if (own == NULL || terms == NULL)
        return -ENOMEM;
    int r = evaluation_take(e, (uint64_t)e->count * rule->term_count);
    *own = *rule;
    own->terms = terms;
    own->term_count = 0;
    for (uint32_t t = 0; r == 0 && t < rule->term_count; t++) {
        struct topology_column column;
        r = topology_column(&e->view->nodes, rule->terms[t].topology_key, &column);
        if (r == 0 && is_in_use(e, &column))
            terms[own->term_count++] = rule->terms[t];
    }
    e->rule = own->term_count > 1 ? own : NULL;
    return r;
}

int ordered_rule_of_scores(struct evaluation *e) {
    bool scores = e->options->ordered_weight > 0 && e->count > 0;
    e->rule = scores ? engine_ordered_rule(e->options, &e->pod->meta) : NULL;
    return e->rule != NULL && e->rule->all_keys ? drop_idle_terms(e, e->rule) : 0;
}

/* Makes the selector of the group: the rule's selector AND the pod's values of matchLabelKeys. */
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

static bool counted(const struct ordered_state *s, uint32_t slot) {
    uint32_t term;
    return (s->feasible[slot] & s->required_flags) == s->required_flags &&
           !ordered_domains_lack(&s->domains, slot, s->all_keys, &term);
}

/* Is every known node counted in? */
static bool all_count(const struct ordered_state *s) {
    return (s->required_flags & ~s->common) == 0 &&
           ordered_domains_lack_none(&s->domains, s->all_keys);
}

static void include_nodes(struct ordered_state *s, uint32_t slots) {
    if (all_count(s)) {
        ordered_domains_include_all(&s->domains);
        return;
    }
    for (uint32_t slot = 0; slot < slots; slot++)
        if (counted(s, slot))
            ordered_domains_include(&s->domains, slot);
}

static void add_pods(struct ordered_state *s, uint32_t slots) {
    const int64_t pod = s->assumed == NULL ? 1 : CACHE_POD;
    struct counted walk = {.counts = s->counts, .slots = slots};
    for (uint32_t slot; counted_next(&walk, &slot);)
        if (counted(s, slot))
            ordered_domains_add(&s->domains, slot, s->counts[slot] * pod);
    for (uint32_t slot = 0; s->assumed != NULL && slot < slots; slot++)
        if (s->assumed[slot] != 0 && counted(s, slot))
            ordered_domains_add(&s->domains, slot, s->assumed[slot]);
}

static int fill_domains(struct evaluation *e, struct ordered_state *s) {
    const uint32_t slots = topology_slots(e->view->nodes.topology);
    int r = ordered_domains_init(&s->domains, &e->view->nodes, e->arena);
    if (r != 0)
        return r;
    include_nodes(s, slots);
    add_pods(s, slots);
    ordered_domains_settle(&s->domains);
    return 0;
}

struct flight_marks {
    const struct evaluation *e;
    struct ordered_state *state;
    uint32_t
        *leaf_of;  /* [slots]: PREFIX_NONE where nothing counts; NULL: no flight was found yet */
    uint32_t mark; /* mark of the present flight, which counts once in a domain */
};

/* Finds the prefixes of the nodes, once for all flights. Returns 0, -E2BIG or -ENOMEM. */
static int find_leaves(struct flight_marks *m) {
    struct ordered_state *s = m->state;
    uint32_t slots = topology_slots(m->e->view->nodes.topology);
    if (evaluation_take(m->e, (uint64_t)slots * s->domains.term_count) != 0)
        return -E2BIG;
    m->leaf_of = arena_array(m->e->arena, slots, sizeof *m->leaf_of);
    if (m->leaf_of == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < slots; slot++)
        m->leaf_of[slot] = counted(s, slot) ? ordered_domains_leaf(&s->domains, slot) : PREFIX_NONE;
    return 0;
}

/* Marks the path from a leaf up to the first prefix marked by the flight. Returns its length. */
static uint32_t mark_path(const struct flight_marks *m, uint32_t prefix) {
    const uint32_t *parents = m->state->domains.tree.parents;
    struct ordered_count *items = m->state->domains.items;
    uint32_t marked = 0;
    for (; prefix != PREFIX_ROOT && items[prefix].mark != m->mark; prefix = parents[prefix]) {
        items[prefix].in_flight++;
        items[prefix].mark = m->mark;
        marked++;
    }
    return marked;
}

static int mark_flight(void *ctx, const struct flight_nodes *nodes, uint32_t words) {
    struct flight_marks *m = ctx;
    uint64_t steps = words;
    int r = m->leaf_of == NULL ? find_leaves(m) : 0;
    m->mark++;
    for (uint32_t word = 0; r == 0 && word < words; word++)
        for (uint64_t left = nodes[word].passed | nodes[word].unclear; left != 0;
             left &= left - 1) {
            uint32_t leaf = m->leaf_of[word * 64 + (uint32_t)__builtin_ctzll(left)];
            steps += 1 + (leaf == PREFIX_NONE ? 0 : mark_path(m, leaf));
        }
    return r == 0 ? evaluation_take(m->e, steps) : r;
}

static int count_flights(const struct evaluation *e, struct ordered_state *s) {
    const struct flight_question question = {e->pod->meta.namespace, &s->group, &e->pod->meta};
    struct flight_marks marks = {.e = e, .state = s};
    return e->options->count_flights ? cache_flights(e->view, &question, mark_flight, &marks) : 0;
}

static int term_ready(struct evaluation *e, const struct ordered_rule *rule, uint32_t t,
                      struct ordered_state *s) {
    const struct spread_constraint *constraint = &rule->terms[t];
    struct str key = constraint->topology_key;
    s->terms[t].hard = constraint->hard;
    s->terms[t].max_skew = constraint->max_skew;
    int r = topology_column(&e->view->nodes, key, &s->terms[t].column);
    if (r != 0)
        return r;
    s->reasons[t].missing = reason_add(e, "no label ", key, " to spread over");
    s->reasons[t].skew = reason_add(e, "over maxSkew on ", key, " (ordered)");
    if (e->options->count_flights)
        s->reasons[t].flight = reason_add(e, FLIGHT_REASON, key, " (ordered)");
    s->required_flags |= inclusion_flags(constraint);
    struct applied_constraint *noted = applied_add(e, constraint, CONSTRAINT_OF_RULE);
    if (noted == NULL)
        return -ENOMEM;
    noted->rule = rule->name;
    noted->selector = &s->group;
    return 0;
}

static int terms_ready(struct evaluation *e, const struct ordered_rule *rule,
                       struct ordered_state *s) {
    int r = 0;
    for (uint32_t t = 0; r == 0 && t < rule->term_count; t++)
        r = term_ready(e, rule, t, s);
    s->domains.terms = s->terms;
    s->domains.term_count = rule->term_count;
    s->all_keys = rule->all_keys;
    return r;
}

/* Takes the steps for the tree, and for judging or scoring every candidate. */
static int take_steps(struct evaluation *e, const struct ordered_state *s) {
    uint64_t terms = s->domains.term_count, slots = topology_slots(e->view->nodes.topology);
    e->node_steps = terms;
    e->pod_steps = 2 * (terms + selector_cost(&s->group).steps);
    return evaluation_take(e, (slots + e->count) * terms);
}

static int open_state(struct evaluation *e, const struct ordered_rule *rule, bool with_assumed,
                      struct ordered_state **ret) {
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
        r = topology_feasible_common(&e->view->nodes, &e->feasibility, &s->feasible, &s->common);
    if (r == 0)
        r = take_steps(e, s);
    if (r == 0)
        r = fill_domains(e, s);
    if (r == 0)
        *ret = s;
    return r;
}

/* ---- filter ---- */

/* Does the rule have a hard term? Soft terms refuse no node. */
static bool has_hard_term(const struct ordered_rule *rule) {
    bool hard = false;
    for (uint32_t t = 0; t < rule->term_count; t++)
        hard = hard || rule->terms[t].hard;
    return hard;
}

static int ordered_prefilter(struct evaluation *e, void **ret_state, struct err *err) {
    struct ordered_state *s;
    (void)err; /* the configuration was checked when it was read: only memory can fail here */
    const struct ordered_rule *rule = engine_ordered_rule(e->options, &e->pod->meta);
    if (rule == NULL || !has_hard_term(rule))
        return ALGORITHM_SKIP;
    int r = open_state(e, rule, false, &s);
    if (r != 0)
        return r;
    *ret_state = s;
    return count_flights(e, s);
}

static struct filter_status ordered_filter(const struct evaluation *e, void *state, uint32_t slot) {
    const struct ordered_state *s = state;
    const struct ordered_count *items = s->domains.items, *parent = &items[PREFIX_ROOT];
    uint32_t path[ORDERED_TERMS], missing;
    (void)e;
    if (ordered_domains_lack(&s->domains, slot, false, &missing))
        return (struct filter_status){VERDICT_UNRESOLVABLE, s->reasons[missing].missing};
    ordered_domains_path(&s->domains, slot, path);
    for (uint32_t t = 0; t < s->domains.term_count; t++) {
        if (path[t] == PREFIX_NONE) /* no feasible node there, so nothing to compare with */
            break;
        const struct ordered_count *own = &items[path[t]];
        const int64_t over = rounds_over(&s->terms[t], parent, own->count);
        if (s->terms[t].hard && over > 0)
            return (struct filter_status){VERDICT_UNSCHEDULABLE, s->reasons[t].skew};
        if (s->terms[t].hard && over + own->in_flight > 0)
            return (struct filter_status){VERDICT_UNRESOLVABLE, s->reasons[t].flight};
        parent = own;
    }
    return (struct filter_status){VERDICT_PASS, 0};
}

/* ---- the domains, for explaining ---- */

enum { PATH_BYTES = 64 * ENGINE_MAX_ORDERED_TERMS }; /* values are no longer than 63 */

/* Returns "eu/eu-1": the values of the terms up to `last` on this node. */
static struct str path_of(const struct evaluation *e, const struct ordered_state *s, uint32_t last,
                          uint32_t slot) {
    CLEANUP(strbuf_done) struct strbuf path = {.max = PATH_BYTES};
    for (uint32_t t = 0; t <= last; t++) {
        const struct topology_column *column = &s->terms[t].column;
        uint32_t domain = column->domain_of[slot];
        if (t > 0)
            strbuf_append_char(&path, '/');
        if (domain != TOPOLOGY_NONE)
            strbuf_append_str(&path, topology_value(&e->view->nodes, column, domain));
    }
    return arena_str(e->arena, strbuf_str(&path));
}

/* Returns the node's prefix under the terms up to `last`, or PREFIX_NONE; sets *ret_allowed if
 * every hard term among them allows one more pod. */
static uint32_t prefix_of(const struct ordered_state *s, uint32_t last, uint32_t slot,
                          bool *ret_allowed) {
    const struct ordered_count *items = s->domains.items, *parent = &items[PREFIX_ROOT];
    uint32_t path[ORDERED_TERMS];
    ordered_domains_path(&s->domains, slot, path);
    *ret_allowed = true;
    for (uint32_t t = 0; t <= last && path[t] != PREFIX_NONE; t++) {
        const struct ordered_count *own = &items[path[t]];
        const int64_t over = rounds_over(&s->terms[t], parent, own->count + own->in_flight);
        *ret_allowed = *ret_allowed && (!s->terms[t].hard || over <= 0);
        parent = own;
    }
    return path[last];
}

static int ordered_domains_of(const struct evaluation *e, void *state, uint32_t constraint,
                              struct domain_sheet *ret) {
    const struct ordered_state *s = state;
    uint32_t slots = topology_slots(e->view->nodes.topology), prefixes = s->domains.tree.count;
    uint32_t *index = arena_array(e->arena, prefixes, sizeof *index); /* item + 1; 0: none */
    ret->items = arena_array(e->arena, prefixes, sizeof *ret->items);
    if (index == NULL || ret->items == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < slots; slot++) {
        bool allowed;
        uint32_t missing, prefix;
        if (!topology_is_known(e->view->nodes.topology, slot) ||
            ordered_domains_lack(&s->domains, slot, false, &missing))
            continue;
        prefix = prefix_of(s, constraint, slot, &allowed);
        if (prefix == PREFIX_NONE)
            continue;
        if (index[prefix] == 0) {
            ret->items[ret->count++] =
                (struct domain_report){.name = path_of(e, s, constraint, slot),
                                       .pods = s->domains.items[prefix].count,
                                       .counts = true,
                                       .allowed = allowed};
            index[prefix] = ret->count;
        }
        ret->of[slot] = index[prefix] - 1;
    }
    return 0;
}

static void change_pod(const struct evaluation *e, struct ordered_state *s,
                       const struct cache_pod *pod, int64_t by) {
    if (!counted(s, pod->slot) ||
        !cache_pod_counts(e->view, pod, e->pod->meta.namespace, &s->group))
        return;
    ordered_domains_change(&s->domains, ordered_domains_leaf(&s->domains, pod->slot), by);
}

static void ordered_remove(const struct evaluation *e, void *state, const struct cache_pod *pod) {
    change_pod(e, state, pod, -1);
}

static void ordered_restore(const struct evaluation *e, void *state, const struct cache_pod *pod) {
    change_pod(e, state, pod, 1);
}

/* ---- score ---- */

/* The score of the candidates below a leaf of the tree. It is computed once: a division takes
 * longer than a look-up. */
struct leaf_score {
    int64_t raw;
    int32_t normalized;
    bool known;
};

enum { LACKING = -1 }; /* raw score of a node without a key, if the rule scores it worst */

static bool is_worst(const struct ordered_state *s, uint32_t slot) {
    uint32_t missing;
    return s->all_keys && ordered_domains_lack(&s->domains, slot, true, &missing);
}

/* Returns the leaf's score, or `worst`. */
static struct leaf_score *score_of(const struct ordered_state *s, struct leaf_score *leaves,
                                   struct leaf_score *worst, uint32_t slot) {
    if (is_worst(s, slot))
        return worst;
    struct leaf_score *leaf = &leaves[s->domains.tree.leaf_of[slot]];
    if (!leaf->known)
        leaf->raw = ordered_domains_score(&s->domains, slot);
    return leaf;
}

/* Maps the lowest raw score to 0 and the highest to 100. Scores between them keep their distances,
 * but two scores share a step only if there are not enough steps: the first key has the highest
 * bits of a raw score, so by distance alone the later keys would be lost. `worst` never shares its
 * step. */
static int normalize(struct arena *arena, struct leaf_score *leaves, uint32_t leaf_count,
                     struct leaf_score *worst) {
    const uint32_t most = leaf_count + 1;
    int64_t *scores = arena_array(arena, most, sizeof *scores);
    int32_t *steps = arena_array(arena, most, sizeof *steps);
    struct leaf_score **known = arena_array(arena, most, sizeof *known);
    int64_t least = INT64_MAX, best = INT64_MIN;
    uint32_t count = 0;
    if (scores == NULL || steps == NULL || known == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < most; i++) {
        struct leaf_score *leaf = i < leaf_count ? &leaves[i] : worst;
        if (!leaf->known)
            continue;
        known[count] = leaf;
        scores[count++] = leaf->raw;
        least = leaf->raw < least ? leaf->raw : least;
        best = leaf->raw > best ? leaf->raw : best;
    }
    for (uint32_t i = 0; i < count; i++)
        scores[i] -= least;
    if (best > least)
        priorities_of(scores, count, best - least, ENGINE_MAX_NORMALIZED, steps);
    for (uint32_t i = 0; i < count; i++) {
        const bool shares = worst->known && known[i] != worst && steps[i] == 0;
        known[i]->normalized = best > least ? steps[i] + shares : ENGINE_MAX_NORMALIZED;
    }
    return 0;
}

static int ordered_score(struct evaluation *e, int64_t *raw, int64_t *normalized, struct err *err) {
    struct ordered_state *s;
    (void)err; /* as in ordered_prefilter() */
    if (e->count == 0)
        return ALGORITHM_SKIP;
    int r = open_state(e, e->rule, true, &s);
    if (r != 0)
        return r;
    const uint32_t leaf_count = s->domains.tree.count;
    struct leaf_score worst = {.raw = LACKING};
    struct leaf_score *leaves = arena_array(e->arena, leaf_count, sizeof *leaves);
    if (leaves == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->slots[i] == TOPOLOGY_NONE)
            continue;
        struct leaf_score *leaf = score_of(s, leaves, &worst, e->slots[i]);
        leaf->known = true;
        raw[i] = leaf->raw;
    }
    r = normalize(e->arena, leaves, leaf_count, &worst);
    for (uint32_t i = 0; r == 0 && i < e->count; i++)
        normalized[i] =
            e->slots[i] == TOPOLOGY_NONE ? 0 : score_of(s, leaves, &worst, e->slots[i])->normalized;
    return r;
}

static uint32_t ordered_weight(const struct engine_options *options) {
    return options->ordered_weight;
}

const struct algorithm ordered_spread_algorithm = {
    .name = "ordered_spread",
    .plugin = "OrderedSpread",
    .prefilter = ordered_prefilter,
    .filter = ordered_filter,
    .domains = ordered_domains_of,
    .remove_pod = ordered_remove,
    .restore_pod = ordered_restore,
    .score = ordered_score,
    .weight = ordered_weight,
};
