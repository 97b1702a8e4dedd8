/*
 * Topology spread, exactly as Kubernetes' PodTopologySpread plugin judges and scores it.
 *
 * Filter (hard constraints): every node that carries all keys and passes a constraint's inclusion
 * policies makes its value of the key a domain and adds its matching pods to it. A node passes
 * when, for every constraint, its domain's pods and the pod itself exceed the emptiest domain's by
 * no more than maxSkew. upstream: podtopologyspread/filtering.go.
 *
 * Score (soft constraints): engine/spread_score.c.
 */
#include "engine/spread.h"

#include "engine/counted.h"

#include <errno.h>

struct hard_constraint {
    int64_t *table; /* [column.domains]: matching pods, or NO_DOMAIN */
    int64_t min, domains;
    int64_t *least; /* a tree: place 1 has the minimum, place n the smaller count of 2n and 2n + 1;
                       domain d is at leaves + d; NULL until a pod is removed */
    uint32_t leaves;
    uint32_t *in_flight; /* [column.domains]: number of pods in flight that may land there; NULL: no
                            pod is in flight */
    uint8_t missing_reason, skew_reason, flight_reason;
};

struct spread_state {
    struct ready_constraints ready;
    struct hard_constraint *hard; /* [ready.count] */
};

/* ---- counting ---- */

static void compute_min(const struct ready_constraint *rc, struct hard_constraint *h) {
    int64_t min = INT64_MAX, domains = 0;
    for (uint32_t d = 0; d < rc->column.domains; d++)
        if (h->table[d] != NO_DOMAIN) {
            domains++;
            if (h->table[d] < min)
                min = h->table[d];
        }
    h->min = domains < rc->constraint->min_domains ? 0 : min;
    h->domains = domains;
}

/* Records the domains and their counts, if they are few enough to read: a recorded decision then
 * shows its inputs. */
static void note_counts(const struct evaluation *e, const struct ready_constraint *rc,
                        const struct hard_constraint *h, struct applied_constraint *noted) {
    noted->domains = h->domains;
    noted->least = h->domains > 0 ? h->min : 0;
    if (h->domains == 0 || h->domains > DOMAINS_COUNTED)
        return;
    struct domain_count *counts = arena_array(e->arena, (size_t)h->domains, sizeof *counts);
    if (counts == NULL)
        return; /* the arena has failed */
    uint32_t n = 0;
    for (uint32_t d = 0; d < rc->column.domains; d++)
        if (h->table[d] != NO_DOMAIN)
            counts[n++] = (struct domain_count){
                arena_str(e->arena, topology_value(&e->view->nodes, &rc->column, d)), h->table[d]};
    noted->counts = counts;
    noted->count_count = n;
}

/* Is every known node counted for constraint c? */
static bool all_count(const struct ready_constraints *ready, uint32_t c) {
    return ready->keyed == NULL && (ready->items[c].required_flags & ~ready->common) == 0;
}

/* Is this node counted? */
static bool one_counts(const struct ready_constraints *ready, uint32_t c, uint32_t slot) {
    return node_counts(ready, c, slot) && has_all_keys(ready, slot);
}

/* Sets the table's item to 0 for every domain with a counted node. */
static void find_domains(const struct ready_constraints *ready, uint32_t c, int64_t *table,
                         uint32_t slots) {
    const struct topology_column *column = &ready->items[c].column;
    if (all_count(ready, c)) {
        for (uint32_t d = 0; d < column->domains; d++)
            table[d] = topology_domain_used(column, d) ? 0 : NO_DOMAIN;
        return;
    }
    for (uint32_t slot = 0; slot < slots; slot++)
        if (one_counts(ready, c, slot))
            table[column->domain_of[slot]] = 0;
}

static void add_pods(const struct ready_constraints *ready, uint32_t c, int64_t *table,
                     uint32_t slots) {
    const struct ready_constraint *rc = &ready->items[c];
    struct counted walk = {.counts = rc->counts, .slots = slots};
    for (uint32_t slot; counted_next(&walk, &slot);)
        if (one_counts(ready, c, slot))
            table[rc->column.domain_of[slot]] += rc->counts[slot];
}

static void fill_tables(const struct evaluation *e, struct spread_state *s) {
    const uint32_t slots = topology_slots(e->view->nodes.topology);
    for (uint32_t i = 0; i < s->ready.count; i++) {
        find_domains(&s->ready, i, s->hard[i].table, slots);
        if (s->ready.items[i].counts != NULL)
            add_pods(&s->ready, i, s->hard[i].table, slots);
    }
}

/* ---- flights ---- */

struct flight_marks {
    const struct evaluation *e;
    const struct spread_state *state;
    uint32_t constraint;
    uint32_t *domain_of; /* [slots]: the node's domain; TOPOLOGY_NONE: the node is not counted */
    uint32_t *in_flight, *marks; /* [column.domains] */
    uint32_t mark;               /* mark of the present flight, which counts once in a domain */
};

/* Finds the domains where nodes are counted, once for all flights. Returns 0, -E2BIG or -ENOMEM. */
static int find_flight_domains(struct flight_marks *m) {
    const struct ready_constraints *ready = &m->state->ready;
    const uint32_t *domain_of = ready->items[m->constraint].column.domain_of;
    uint32_t slots = topology_slots(m->e->view->nodes.topology);
    if (evaluation_take(m->e, slots) != 0)
        return -E2BIG;
    m->domain_of = arena_array_unset(m->e->arena, slots, sizeof *m->domain_of);
    if (m->domain_of == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < slots; slot++)
        m->domain_of[slot] =
            one_counts(ready, m->constraint, slot) ? domain_of[slot] : TOPOLOGY_NONE;
    return 0;
}

static int mark_flight(void *ctx, const struct flight_nodes *nodes, uint32_t words) {
    struct flight_marks *m = ctx;
    int64_t unmarked = m->state->hard[m->constraint].domains;
    uint64_t steps = words;
    int r = m->domain_of == NULL ? find_flight_domains(m) : 0;
    m->mark++;
    for (uint32_t word = 0; r == 0 && word < words && unmarked > 0; word++)
        for (uint64_t left = nodes[word].passed | nodes[word].unclear; left != 0;
             left &= left - 1) {
            uint32_t domain = m->domain_of[word * 64 + (uint32_t)__builtin_ctzll(left)];
            steps++;
            if (domain == TOPOLOGY_NONE || m->marks[domain] == m->mark)
                continue;
            m->marks[domain] = m->mark;
            m->in_flight[domain]++;
            unmarked--;
        }
    return r == 0 ? evaluation_take(m->e, steps) : r;
}

static int count_flights(const struct evaluation *e, struct spread_state *s) {
    struct flight_marks marks = {.e = e, .state = s};
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < s->ready.count; i++) {
        const struct ready_constraint *rc = &s->ready.items[i];
        const struct flight_question question = {e->pod->meta.namespace, &rc->selector,
                                                 &e->pod->meta};
        marks.constraint = i;
        marks.domain_of = NULL;
        marks.mark = 0;
        marks.in_flight = arena_array(e->arena, rc->column.domains, sizeof(uint32_t));
        marks.marks = arena_array(e->arena, rc->column.domains, sizeof(uint32_t));
        if (marks.in_flight == NULL || marks.marks == NULL)
            return -ENOMEM;
        if (rc->counts != NULL)
            r = cache_flights(e->view, &question, mark_flight, &marks);
        s->hard[i].in_flight = marks.in_flight;
    }
    return r;
}

/* ---- filter ---- */

/* Takes the steps for the tables, and for judging. */
static int take_steps(struct evaluation *e, const struct ready_constraints *ready) {
    enum { TREE = 16 }; /* levels of a tree of domains */
    uint64_t slots = topology_slots(e->view->nodes.topology);
    e->node_steps = ready->count;
    e->pod_steps = 0;
    for (uint32_t i = 0; i < ready->count; i++)
        e->pod_steps += 2 * (TREE + ready->items[i].selector_steps);
    return evaluation_take(e, slots * ready->count);
}

static int spread_prefilter(struct evaluation *e, void **ret_state, struct err *err) {
    struct spread_state *s = arena_alloc(e->arena, sizeof *s);
    if (s == NULL)
        return -ENOMEM;
    int r = constraints_ready(e, true, &s->ready, err);
    if (r != 0)
        return r;
    s->hard = arena_array(e->arena, s->ready.count, sizeof *s->hard);
    if (s->hard == NULL)
        return -ENOMEM;
    r = take_steps(e, &s->ready);
    if (r != 0)
        return r;
    for (uint32_t i = 0; i < s->ready.count; i++) {
        const struct ready_constraint *rc = &s->ready.items[i];
        struct hard_constraint *h = &s->hard[i];
        struct str key = rc->constraint->topology_key;
        h->table = arena_array(e->arena, rc->column.domains, sizeof *h->table);
        if (h->table == NULL)
            return -ENOMEM;
        for (uint32_t d = 0; d < rc->column.domains; d++)
            h->table[d] = NO_DOMAIN;
        h->missing_reason = reason_add(e, "no label ", key, " to spread over");
        h->skew_reason = reason_add(e, "over maxSkew on ", key, "");
        if (e->options->count_flights)
            h->flight_reason = reason_add(e, FLIGHT_REASON, key, "");
    }
    if (arena_failed(e->arena))
        return -ENOMEM;
    fill_tables(e, s);
    struct applied_constraint *noted = e->applied + e->applied_count - s->ready.count;
    for (uint32_t i = 0; i < s->ready.count; i++) {
        compute_min(&s->ready.items[i], &s->hard[i]);
        note_counts(e, &s->ready.items[i], &s->hard[i], &noted[i]);
    }
    if (arena_failed(e->arena))
        return -ENOMEM;
    *ret_state = s;
    return e->options->count_flights ? count_flights(e, s) : 0;
}

/* Judges a domain's nodes by one constraint. */
static struct filter_status judge_domain(const struct ready_constraint *rc,
                                         const struct hard_constraint *h, uint32_t domain) {
    if (domain == TOPOLOGY_NONE)
        return (struct filter_status){VERDICT_UNRESOLVABLE, h->missing_reason};
    int64_t count = h->table[domain] == NO_DOMAIN ? 0 : h->table[domain];
    int64_t skew = count + rc->self - h->min;
    if (skew > rc->constraint->max_skew)
        return (struct filter_status){VERDICT_UNSCHEDULABLE, h->skew_reason};
    if (h->in_flight != NULL && skew + h->in_flight[domain] > rc->constraint->max_skew)
        return (struct filter_status){VERDICT_UNRESOLVABLE, h->flight_reason};
    return (struct filter_status){VERDICT_PASS, 0};
}

static struct filter_status spread_filter(const struct evaluation *e, void *state, uint32_t slot) {
    const struct spread_state *s = state;
    struct filter_status status = {VERDICT_PASS, 0};
    (void)e;
    for (uint32_t i = 0; i < s->ready.count && status.verdict == VERDICT_PASS; i++) {
        const struct ready_constraint *rc = &s->ready.items[i];
        status = judge_domain(rc, &s->hard[i], rc->column.domain_of[slot]);
    }
    return status;
}

/* Packs verdict and reason into one item of a table, which fits the nearest cache. */
static uint16_t packed(struct filter_status status) {
    return (uint16_t)((uint32_t)status.verdict | (uint32_t)status.reason << 8);
}

/* Judges the candidates that have passed so far by one constraint: each domain once, if there are
 * fewer domains. */
static void judge_by(const struct evaluation *e, const struct ready_constraint *rc,
                     const struct hard_constraint *h, uint16_t *table, uint8_t *verdicts,
                     uint8_t *reasons) {
    const uint32_t *domain_of = rc->column.domain_of;
    uint32_t domains = rc->column.domains <= e->count && table != NULL ? rc->column.domains : 0;
    for (uint32_t d = 0; d < domains; d++)
        table[d] = packed(judge_domain(rc, h, d));
    for (uint32_t i = 0; i < e->count; i++) {
        if (verdicts[i] != VERDICT_PASS)
            continue;
        uint32_t domain = domain_of[e->slots[i]];
        uint16_t status = domain < domains ? table[domain] : packed(judge_domain(rc, h, domain));
        verdicts[i] = (uint8_t)status;
        reasons[i] = (uint8_t)(status >> 8);
    }
}

static void spread_filter_all(const struct evaluation *e, void *state, uint8_t *verdicts,
                              uint8_t *reasons) {
    const struct spread_state *s = state;
    uint16_t *table = arena_array_unset(e->arena, e->count, sizeof *table); /* NULL: no table */
    for (uint32_t i = 0; i < s->ready.count; i++)
        judge_by(e, &s->ready.items[i], &s->hard[i], table, verdicts, reasons);
}

/* ---- the domains, for explaining ---- */

static int spread_domains(const struct evaluation *e, void *state, uint32_t constraint,
                          struct domain_sheet *ret) {
    const struct spread_state *s = state;
    const struct ready_constraint *rc = &s->ready.items[constraint];
    const struct hard_constraint *h = &s->hard[constraint];
    uint32_t slots = topology_slots(e->view->nodes.topology);
    uint32_t *index = arena_array(e->arena, rc->column.domains, sizeof *index); /* item + 1 */
    ret->items = arena_array(e->arena, rc->column.domains, sizeof *ret->items);
    if (index == NULL || ret->items == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t d = rc->column.domain_of[slot];
        if (d == TOPOLOGY_NONE)
            continue;
        if (index[d] == 0) {
            bool counts = h->table[d] != NO_DOMAIN;
            struct str value = topology_value(&e->view->nodes, &rc->column, d);
            ret->items[ret->count++] = (struct domain_report){
                .name = arena_str(e->arena, value),
                .pods = counts ? h->table[d] : 0,
                .counts = counts,
                .allowed = judge_domain(rc, h, d).verdict == VERDICT_PASS,
            };
            index[d] = ret->count;
        }
        ret->of[slot] = index[d] - 1;
    }
    return 0;
}

/* ---- what preemption changes ---- */

static int64_t least_of(const struct hard_constraint *h, uint32_t domain) {
    return h->table[domain] == NO_DOMAIN ? INT64_MAX : h->table[domain];
}

static int64_t lesser(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Returns false if there is no memory. */
static bool plant_tree(const struct evaluation *e, const struct ready_constraint *rc,
                       struct hard_constraint *h) {
    h->leaves = 1;
    while (h->leaves < rc->column.domains)
        h->leaves *= 2;
    h->least = arena_array(e->arena, (size_t)h->leaves * 2, sizeof *h->least);
    if (h->least == NULL)
        return false;
    for (uint32_t d = 0; d < h->leaves; d++)
        h->least[h->leaves + d] = d < rc->column.domains ? least_of(h, d) : INT64_MAX;
    for (uint32_t n = h->leaves - 1; n > 0; n--)
        h->least[n] = lesser(h->least[2 * n], h->least[2 * n + 1]);
    return true;
}

/* Updates the minimum after a domain's count changed, in O(log domains): a preemption may name many
 * nodes, each with pods to take out. */
static void update_min(const struct evaluation *e, const struct ready_constraint *rc,
                       struct hard_constraint *h, uint32_t domain) {
    if (h->least == NULL && !plant_tree(e, rc, h)) {
        compute_min(rc, h);
        return;
    }
    uint32_t n = h->leaves + domain;
    for (h->least[n] = least_of(h, domain), n /= 2; n > 0; n /= 2)
        h->least[n] = lesser(h->least[2 * n], h->least[2 * n + 1]);
    h->min = h->domains < rc->constraint->min_domains ? 0 : h->least[1];
}

static void change_pod(const struct evaluation *e, struct spread_state *s,
                       const struct cache_pod *pod, int64_t by) {
    if (!has_all_keys(&s->ready, pod->slot))
        return;
    for (uint32_t i = 0; i < s->ready.count; i++) {
        const struct ready_constraint *rc = &s->ready.items[i];
        uint32_t domain = rc->column.domain_of[pod->slot];
        if (s->hard[i].table[domain] == NO_DOMAIN || rc->counts == NULL ||
            !node_counts(&s->ready, i, pod->slot) ||
            !cache_pod_counts(e->view, pod, e->pod->meta.namespace, &rc->selector))
            continue;
        s->hard[i].table[domain] += by;
        update_min(e, rc, &s->hard[i], domain);
    }
}

static void spread_remove(const struct evaluation *e, void *state, const struct cache_pod *pod) {
    change_pod(e, state, pod, -1);
}

static void spread_restore(const struct evaluation *e, void *state, const struct cache_pod *pod) {
    change_pod(e, state, pod, 1);
}

static uint32_t spread_weight(const struct engine_options *options) {
    return options->spread_weight;
}

const struct algorithm spread_algorithm = {
    .name = "spread",
    .plugin = "PodTopologySpread",
    .prefilter = spread_prefilter,
    .filter = spread_filter,
    .filter_all = spread_filter_all,
    .domains = spread_domains,
    .remove_pod = spread_remove,
    .restore_pod = spread_restore,
    .score = spread_score,
    .weight = spread_weight,
};
