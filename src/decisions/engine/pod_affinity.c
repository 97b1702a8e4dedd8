/*
 * Filters by required podAffinity and podAntiAffinity: a node passes if its domains have the pods
 * that the affinity requires, no pod that the anti-affinity excludes, and no pod whose
 * anti-affinity excludes this one. The first pod of a group with affinity to itself may go wherever
 * the keys are. upstream (v1.36.3): plugins/interpodaffinity/filtering.go, which looks at
 * labelSelector alone: an API server has merged matchLabelKeys and mismatchLabelKeys into it.
 */
#include "engine/pod_affinity.h"

#include "cache/neighbours.h"
#include "engine/in_tree.h"

#include <errno.h>
#include <stdlib.h>

/* Pods per domain of one topology key. */
struct key_tables {
    struct topology_column column;
    /* [column.domains]: number of pods that match the pod's terms with this key; for scores
     * `beside` has the sum of all weights */
    int64_t *beside, *apart;
    int64_t *against; /* [column.domains]: number of terms of pods there that match the pod */
};

struct affinity_state {
    struct cache_meant meant;     /* the pod's own terms: affinity first, then anti-affinity */
    uint32_t *key_of;             /* [meant.count]: the key of each term */
    uint32_t beside;              /* number of affinity terms among them */
    struct cache_meaning meaning; /* running pods' terms that match it, marked with keys */
    struct key_tables *keys;
    uint32_t key_count;
    int64_t found, against; /* the sums of all tables `beside` and `against` */
    bool first_may;         /* the pod's own terms match itself: a first pod passes */
    bool *means;            /* [meant.count]: does the term match the present pod? */
    uint8_t beside_reason, apart_reason, against_reason;
};

int pod_affinity_prepare(struct evaluation *e) {
    struct err *err = &e->terms_err;
    struct str namespace = e->pod->meta.namespace;
    int r = pod_terms_add(&e->terms, POD_BESIDE, &e->pod->beside, namespace, e->arena, err);
    if (r == 0)
        r = pod_terms_add(&e->terms, POD_APART, &e->pod->apart, namespace, e->arena, err);
    e->terms_failed = r;
    return r == -ENOMEM ? r : 0;
}

/* ---- the list of keys, each key once ---- */

struct key_use {
    struct str key;
    uint32_t *index; /* set to the key's index */
};

static int compare_uses(const void *a, const void *b) {
    return str_cmp(((const struct key_use *)a)->key, ((const struct key_use *)b)->key);
}

/* Gathers all uses of keys, sorted by key. */
static int gather_uses(const struct evaluation *e, struct affinity_state *s, struct key_use **ret,
                       uint32_t *ret_count) {
    uint32_t count = s->meant.count + s->meaning.count, n = 0;
    struct key_use *uses = arena_array(e->arena, count, sizeof *uses);
    if (uses == NULL)
        return -ENOMEM;
    for (uint32_t t = 0; t < s->meant.count; t++)
        uses[n++] = (struct key_use){s->meant.terms[t].topology_key, &s->key_of[t]};
    for (uint32_t t = 0; t < s->meaning.count; t++)
        uses[n++] =
            (struct key_use){s->meaning.terms[t].term->topology_key, &s->meaning.terms[t].mark};
    if (!steps_take_sort(e->steps, n))
        return -E2BIG;
    if (n > 1)
        qsort(uses, n, sizeof *uses, compare_uses);
    *ret = uses;
    *ret_count = n;
    return 0;
}

static int make_key(const struct evaluation *e, struct affinity_state *s, struct str key) {
    struct key_tables *tables = &s->keys[s->key_count];
    /* finding a column walks the columns that this view has built */
    int r = evaluation_take(e, ++s->key_count);
    if (r == 0)
        r = topology_column(&e->view->nodes, key, &tables->column);
    if (r == 0)
        r = evaluation_take(e, tables->column.domains);
    if (r != 0)
        return r;
    tables->beside = arena_array(e->arena, tables->column.domains, sizeof(int64_t));
    tables->apart = arena_array(e->arena, tables->column.domains, sizeof(int64_t));
    tables->against = arena_array(e->arena, tables->column.domains, sizeof(int64_t));
    return arena_failed(e->arena) ? -ENOMEM : 0;
}

static int make_keys(const struct evaluation *e, struct affinity_state *s) {
    struct key_use *uses;
    uint32_t count;
    int r = gather_uses(e, s, &uses, &count);
    if (r != 0)
        return r;
    s->keys = arena_array(e->arena, count, sizeof *s->keys);
    if (s->keys == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; r == 0 && i < count; i++) {
        if (i == 0 || !str_eq(uses[i].key, uses[i - 1].key))
            r = make_key(e, s, uses[i].key);
        *uses[i].index = s->key_count - 1;
    }
    return r;
}

/* ---- counting ---- */

/* Adds a pod on this node, or removes it. `means` has the pod's terms that match it: a pod counts
 * for affinity if all affinity terms match it, for anti-affinity by each term. */
static void count_meant(struct affinity_state *s, uint32_t slot, const bool *means, int64_t by) {
    bool all = s->beside > 0;
    for (uint32_t t = 0; t < s->beside; t++)
        all = all && means[t];
    for (uint32_t t = 0; t < s->meant.count; t++) {
        struct key_tables *tables = &s->keys[s->key_of[t]];
        uint32_t domain = tables->column.domain_of[slot];
        if (domain == TOPOLOGY_NONE)
            continue;
        if (t >= s->beside)
            tables->apart[domain] += means[t] ? by : 0;
        else if (all) {
            tables->beside[domain] += by;
            s->found += by;
        }
    }
}

static void add_meant(void *ctx, uint32_t slot, const bool *means) {
    count_meant(ctx, slot, means, 1);
}

static void count_meaning(struct affinity_state *s, uint32_t slot, const struct meaning_term *terms,
                          uint32_t count, int64_t by) {
    for (uint32_t t = 0; t < count; t++) {
        struct key_tables *tables = &s->keys[terms[t].mark];
        uint32_t domain = tables->column.domain_of[slot];
        if (domain == TOPOLOGY_NONE)
            continue;
        tables->against[domain] += by;
        s->against += by;
    }
}

static void add_meaning(void *ctx, uint32_t slot, const struct meaning_term *terms,
                        uint32_t count) {
    count_meaning(ctx, slot, terms, count, 1);
}

/* Do all affinity terms of the pod match the pod itself? upstream: podMatchesAllAffinityTerms() */
static bool means_itself(const struct affinity_state *s, const struct meant_pod *pod) {
    const struct labels none = {0};
    for (uint32_t t = 0; t < s->beside; t++) {
        const struct pod_term *term = &s->meant.terms[t];
        bool here = pod_term_names(term, pod->namespace) ||
                    selector_matches(&term->by_labels, labels_lookup, &pod->namespace_labels) ||
                    selector_matches(&term->by_labels, labels_lookup, &none);
        if (!here || !selector_matches(&term->pods, labels_lookup, &pod->labels))
            return false;
    }
    return s->beside > 0;
}

static int open_state(struct evaluation *e, uint32_t kinds, struct affinity_state *s) {
    struct meant_pod pod = {.namespace = e->pod->meta.namespace, .labels = e->pod->meta.labels};
    int r = cache_namespace_labels(e->view, pod.namespace, e->arena, &pod.namespace_labels);
    if (r == 0 || r == -ENOENT)
        r = cache_meant_open(e->view, e->terms.items, e->terms.count, e->arena, &s->meant);
    if (r == 0)
        r = cache_meaning_open(e->view, &pod, kinds, e->arena, &s->meaning);
    if (r != 0)
        return r;
    s->key_of = arena_array(e->arena, s->meant.count, sizeof *s->key_of);
    s->means = arena_array(e->arena, s->meant.count, sizeof *s->means);
    if (s->key_of == NULL || s->means == NULL)
        return -ENOMEM;
    while (s->beside < s->meant.count && s->meant.terms[s->beside].kind == POD_BESIDE)
        s->beside++;
    for (uint32_t t = 0; t < s->beside; t++)
        if (evaluation_take(e, s->meant.terms[t].steps) != 0)
            return -E2BIG;
    s->first_may = means_itself(s, &pod);
    return make_keys(e, s);
}

/* Visits the pods that match. Returns -ENODATA if a term may match pods with labels that are not
 * kept. */
static int visit_meant(const struct evaluation *e, struct affinity_state *s,
                       cache_meant_fn *visit) {
    int r = s->meant.count > 0 ? cache_meant_visit(e->view, &s->meant, e->arena, visit, s) : 0;
    return r == 0 && s->meant.unknown > 0 ? -ENODATA : r;
}

static int affinity_prefilter(struct evaluation *e, void **ret_state, struct err *err) {
    if (e->terms_failed != 0)
        return err_set(err, e->terms_failed, "spec.affinity: %s", e->terms_err.text);
    struct affinity_state *s = arena_alloc(e->arena, sizeof *s);
    int r = s == NULL ? -ENOMEM : open_state(e, 1u << POD_APART, s);
    if (r == 0)
        r = visit_meant(e, s, add_meant);
    if (r == 0)
        r = cache_meaning_visit(e->view, &s->meaning, add_meaning, s);
    if (r != 0)
        return r;
    if (s->meant.count == 0 && s->against == 0)
        return ALGORITHM_SKIP;
    s->beside_reason = reason_add(e, "node(s) didn't match pod affinity rules", STR(""), "");
    s->apart_reason = reason_add(e, "node(s) didn't match pod anti-affinity rules", STR(""), "");
    s->against_reason =
        reason_add(e, "node(s) didn't satisfy existing pods anti-affinity rules", STR(""), "");
    e->node_steps = s->meant.count + s->key_count;
    e->pod_steps = 2 * (s->meant.count + s->meaning.count);
    for (uint32_t t = 0; t < s->meant.count; t++)
        e->pod_steps += 2 * s->meant.terms[t].steps;
    *ret_state = s;
    return 0;
}

/* ---- judging ---- */

/* Does the node have the keys of all affinity terms, and each of these domains a matching pod? */
static bool is_beside(const struct affinity_state *s, uint32_t slot) {
    bool there = true;
    for (uint32_t t = 0; t < s->beside; t++) {
        const struct key_tables *tables = &s->keys[s->key_of[t]];
        uint32_t domain = tables->column.domain_of[slot];
        if (domain == TOPOLOGY_NONE)
            return false;
        there = there && tables->beside[domain] > 0;
    }
    return there || (s->found == 0 && s->first_may);
}

static bool is_apart(const struct affinity_state *s, uint32_t slot) {
    for (uint32_t t = s->beside; t < s->meant.count; t++) {
        const struct key_tables *tables = &s->keys[s->key_of[t]];
        uint32_t domain = tables->column.domain_of[slot];
        if (domain != TOPOLOGY_NONE && tables->apart[domain] > 0)
            return false;
    }
    return true;
}

static bool is_unwanted(const struct affinity_state *s, uint32_t slot) {
    for (uint32_t k = 0; k < s->key_count; k++) {
        uint32_t domain = s->keys[k].column.domain_of[slot];
        if (domain != TOPOLOGY_NONE && s->keys[k].against[domain] > 0)
            return true;
    }
    return false;
}

static struct filter_status affinity_filter(const struct evaluation *e, void *state,
                                            uint32_t slot) {
    const struct affinity_state *s = state;
    (void)e;
    if (!is_beside(s, slot))
        return (struct filter_status){VERDICT_UNRESOLVABLE, s->beside_reason};
    if (!is_apart(s, slot))
        return (struct filter_status){VERDICT_UNSCHEDULABLE, s->apart_reason};
    if (is_unwanted(s, slot))
        return (struct filter_status){VERDICT_UNSCHEDULABLE, s->against_reason};
    return (struct filter_status){VERDICT_PASS, 0};
}

static void change_pod(const struct evaluation *e, struct affinity_state *s,
                       const struct cache_pod *pod, int64_t by) {
    uint32_t count;
    const struct meaning_term *terms = cache_meaning_of(e->view, &s->meaning, pod, &count);
    count_meaning(s, pod->slot, terms, count, by);
    if (s->meant.count > 0 && cache_meant_pod(e->view, &s->meant, pod, s->means))
        count_meant(s, pod->slot, s->means, by);
}

static void affinity_remove(const struct evaluation *e, void *state, const struct cache_pod *pod) {
    change_pod(e, state, pod, -1);
}

static void affinity_restore(const struct evaluation *e, void *state, const struct cache_pod *pod) {
    change_pod(e, state, pod, 1);
}

const struct algorithm pod_affinity_algorithm = {
    .name = "pod_affinity",
    .plugin = "InterPodAffinity",
    .prefilter = affinity_prefilter,
    .filter = affinity_filter,
    .remove_pod = affinity_remove,
    .restore_pod = affinity_restore,
};

/* ---- scores: preferences of the pod and of running pods, required terms of running pods ---- */

static void add_preference(struct affinity_state *s, uint32_t key, uint32_t slot,
                           const struct pod_term *term) {
    const int64_t required = 1; /* upstream: InterPodAffinityArgs hardPodAffinityWeight */
    struct key_tables *tables = &s->keys[key];
    uint32_t domain = tables->column.domain_of[slot];
    if (domain == TOPOLOGY_NONE)
        return;
    int64_t weight = term->kind == POD_BESIDE ? required : term->weight;
    tables->beside[domain] += term->kind == POD_RATHER_APART ? -weight : weight;
    s->found++;
}

static void prefer_meant(void *ctx, uint32_t slot, const bool *means) {
    struct affinity_state *s = ctx;
    for (uint32_t t = 0; t < s->meant.count; t++)
        if (means[t])
            add_preference(s, s->key_of[t], slot, &s->meant.terms[t]);
}

static void prefer_meaning(void *ctx, uint32_t slot, const struct meaning_term *terms,
                           uint32_t count) {
    for (uint32_t t = 0; t < count; t++)
        add_preference(ctx, terms[t].mark, slot, terms[t].term);
}

/* Maps the lowest score to 0 and the highest to 100. */
static void normalize(int64_t *scores, uint32_t count) {
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (uint32_t i = 0; i < count; i++) {
        least = scores[i] < least ? scores[i] : least;
        most = scores[i] > most ? scores[i] : most;
    }
    for (uint32_t i = 0; i < count; i++) {
        double part = (double)(scores[i] - least) / (double)(most - least);
        scores[i] = most == least ? 0 : (int64_t)(ENGINE_MAX_NORMALIZED * part);
    }
}

int score_pod_affinity(struct evaluation *e, int64_t *scores, struct err *err) {
    const uint32_t kinds = 1u << POD_BESIDE | 1u << POD_RATHER_BESIDE | 1u << POD_RATHER_APART;
    if (e->terms_failed != 0)
        return err_set(err, e->terms_failed, "spec.affinity: %s", e->terms_err.text);
    struct affinity_state *s = arena_alloc(e->arena, sizeof *s);
    int r = s == NULL ? -ENOMEM : open_state(e, kinds, s);
    if (r == 0)
        r = visit_meant(e, s, prefer_meant);
    if (r == 0)
        r = cache_meaning_visit(e->view, &s->meaning, prefer_meaning, s);
    if (r == 0)
        r = evaluation_take(e, (uint64_t)e->count * s->key_count);
    if (r != 0)
        return r;
    if (s->found == 0)
        return ALGORITHM_SKIP;
    for (uint32_t i = 0; i < e->count; i++)
        for (uint32_t k = 0; e->slots[i] != TOPOLOGY_NONE && k < s->key_count; k++) {
            uint32_t domain = s->keys[k].column.domain_of[e->slots[i]];
            scores[i] += domain != TOPOLOGY_NONE ? s->keys[k].beside[domain] : 0;
        }
    normalize(scores, e->count);
    return 0;
}
