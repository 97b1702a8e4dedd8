#include "unit/cache/naive_check.h"

#include "cache/internal.h"
#include "topology/internal.h"

#include <stdio.h>

struct check {
    const struct naive *m;
    const struct naive_questions *q;
    struct cluster *c;
    uint64_t *random;
    uint32_t slots[NAIVE_NODES]; /* the slot of each node */
};

static void find_slots(struct check *k) {
    char name[16];
    for (uint32_t i = 0; i < k->q->nodes; i++) {
        (void)snprintf(name, sizeof name, "n%u", i); /* fits */
        k->slots[i] = topology_slot(k->c->cache->nodes, str_of(name));
    }
}

static void check_counter(const struct check *k, struct cache_view *view, uint32_t namespace,
                          uint32_t selector) {
    uint32_t want[2 * NAIVE_NODES] = {0};
    const uint32_t *counts;
    assert_true(topology_slots(view->nodes.topology) <= NAIVE_NODES);
    for (uint32_t i = 0; i < k->q->pods; i++)
        if (naive_counts(k->m, i, namespace, selector)) {
            uint32_t slot = k->slots[k->m->pods[i].node];
            assert_true(slot < topology_slots(view->nodes.topology));
            want[slot]++;
        }
    int r =
        cache_counter(view, naive_namespace_name(namespace), &k->q->selectors[selector], &counts);
    assert_int_equal(r, 0);
    for (uint32_t slot = 0; slot < topology_slots(view->nodes.topology); slot++)
        assert_int_equal(counts[slot], want[slot]);
}

/* Domains with a known node must be in use, and no other domains. */
static void check_domains(const struct check *k, const struct topology_column *column, uint32_t key,
                          const uint32_t domain_of_value[NAIVE_VALUES]) {
    bool everywhere = true;
    uint32_t used = 0;
    for (uint32_t i = 0; i < k->q->nodes; i++)
        if (k->m->nodes[i].known)
            everywhere = everywhere && k->m->nodes[i].labels.value[key] >= 0;
    assert_int_equal(column->everywhere, everywhere);
    for (uint32_t domain = 0; domain < column->domains; domain++)
        used += topology_domain_used(column, domain);
    for (uint32_t v = 0; v < NAIVE_VALUES; v++) {
        if (domain_of_value[v] == TOPOLOGY_NONE)
            continue;
        assert_true(topology_domain_used(column, domain_of_value[v]));
        used--;
    }
    assert_int_equal(used, 0);
}

static void check_column(const struct check *k, struct cache_view *view, uint32_t key) {
    uint32_t domain_of_value[NAIVE_VALUES] = {TOPOLOGY_NONE, TOPOLOGY_NONE, TOPOLOGY_NONE};
    uint32_t labelled = 0;
    struct topology_column column;
    assert_int_equal(topology_column(&view->nodes, str_of(naive_topology_keys[key]), &column), 0);
    for (uint32_t i = 0; i < k->q->nodes; i++) {
        const struct naive_node *node = &k->m->nodes[i];
        int8_t value = node->labels.value[key];
        if (!node->known || value < 0)
            continue;
        uint32_t domain = column.domain_of[k->slots[i]];
        assert_true(domain < column.domains);
        if (domain_of_value[value] == TOPOLOGY_NONE)
            domain_of_value[value] = domain;
        assert_int_equal(domain, domain_of_value[value]);
        labelled++;
    }
    for (uint32_t slot = 0; slot < topology_slots(view->nodes.topology); slot++)
        labelled -= column.domain_of[slot] != TOPOLOGY_NONE;
    assert_int_equal(labelled, 0); /* no other slot has a domain */
    for (uint32_t v = 0; v < NAIVE_VALUES; v++)
        for (uint32_t u = 0; u < v; u++)
            assert_true(domain_of_value[u] == TOPOLOGY_NONE ||
                        domain_of_value[u] != domain_of_value[v]);
    assert_int_equal(column.empty, domain_of_value[0]);
    check_domains(k, &column, key, domain_of_value);
}

/* Returns the prefix `up` levels above a slot's leaf. */
static uint32_t above(const struct topology_tree *tree, uint32_t slot, uint32_t up) {
    uint32_t prefix = tree->leaf_of[slot];
    while (up-- > 0)
        prefix = tree->parents[prefix];
    return prefix;
}

/* Do two nodes share a prefix? They do if their values are equal; a missing value counts as "". */
static bool alike(const struct naive_node *a, const struct naive_node *b, const uint32_t *keys,
                  uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const int8_t of_a = a->labels.value[keys[i]], of_b = b->labels.value[keys[i]];
        if ((of_a < 0 ? 0 : of_a) != (of_b < 0 ? 0 : of_b))
            return false;
    }
    return true;
}

static void check_tree(const struct check *k, struct cache_view *view) {
    struct topology_column columns[NAIVE_KEYS];
    struct topology_tree tree;
    uint32_t keys[NAIVE_KEYS], known = 0;
    const uint32_t count = 1 + unit_below(k->random, NAIVE_KEYS);
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = unit_below(k->random, NAIVE_KEYS);
        assert_int_equal(
            topology_column(&view->nodes, str_of(naive_topology_keys[keys[i]]), &columns[i]), 0);
    }
    assert_int_equal(topology_tree(&view->nodes, columns, count, &tree), 0);
    for (uint32_t i = 0; i < k->q->nodes; i++) {
        const struct naive_node *node = &k->m->nodes[i];
        known += node->known;
        for (uint32_t j = 0; node->known && j < i; j++)
            for (uint32_t up = 0; k->m->nodes[j].known && up < count; up++)
                assert_int_equal(above(&tree, k->slots[i], up) == above(&tree, k->slots[j], up),
                                 alike(node, &k->m->nodes[j], keys, count - up));
    }
    for (uint32_t slot = 0; slot < topology_slots(view->nodes.topology); slot++)
        known -= tree.leaf_of[slot] != PREFIX_NONE;
    assert_int_equal(known, 0);
}

static void check_feasibility(const struct check *k, struct cache_view *view, uint32_t spec) {
    const uint8_t *flags;
    uint8_t common, expected = CANDIDATE_KNOWN | CANDIDATE_AFFINITY | CANDIDATE_TAINTS;
    uint32_t with_flags = 0;
    struct feasibility_question question;
    const struct pod *asker = &k->q->askers[spec];
    assert_int_equal(feasibility_question_init(&question, &asker->affinity, asker->tolerations), 0);
    assert_int_equal(topology_feasible_common(&view->nodes, &question, &flags, &common), 0);
    for (uint32_t i = 0; i < k->q->nodes; i++)
        if (k->m->nodes[i].known) {
            with_flags++;
            assert_int_equal(flags[k->slots[i]], naive_flags(k->m, i, spec));
            expected &= naive_flags(k->m, i, spec);
        }
    for (uint32_t slot = 0; slot < topology_slots(view->nodes.topology); slot++)
        with_flags -= flags[slot] != 0;
    assert_int_equal(with_flags, 0);
    assert_int_equal(common, expected);
}

static void check_pods(const struct check *k, struct cache_view *view) {
    struct naive_object o;
    struct cache_pod found;
    uint32_t selector = unit_below(k->random, NAIVE_SELECTORS),
             namespace = unit_below(k->random, NAIVE_NAMESPACES);
    for (uint32_t i = 0; i < k->q->pods; i++) {
        const struct naive_pod *pod = &k->m->pods[i];
        struct naive_pod any = {.namespace = (uint8_t)(i / 2 % NAIVE_NAMESPACES)};
        naive_pod_object(pod->present ? pod : &any, i, true, false, &o);
        bool known = cache_pod_find(view, &o.object.meta, &found);
        assert_int_equal(known, pod->present);
        if (!known)
            continue;
        assert_int_equal(found.slot, k->slots[pod->node]);
        assert_int_equal(found.terminating, pod->terminating);
        assert_int_equal(found.reserved, pod->reserved);
        assert_int_equal(cache_pod_counts(view, &found, naive_namespace_name(namespace),
                                          &k->q->selectors[selector]),
                         naive_counts(k->m, i, namespace, selector));
    }
}

static void check_nodes(const struct check *k, struct cache_view *view) {
    for (uint32_t i = 0; i < k->q->nodes; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%u", i); /* fits */
        uint32_t slot = topology_find(&view->nodes, str_of(name));
        assert_int_equal(slot != TOPOLOGY_NONE, k->m->nodes[i].known);
        if (slot == TOPOLOGY_NONE)
            continue;
        assert_true(topology_is_known(view->nodes.topology, slot));
        assert_str(topology_name(view->nodes.topology, slot), name);
    }
}

/* Asks for a list of names in random order, some of them unknown: earlier questions must not change
 * the answer. */
static void check_lists(const struct check *k, struct cache_view *view) {
    struct naive_object o[8];
    struct str names[8];
    uint32_t slots[8];
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t node =
            unit_below(k->random, k->q->nodes + 1); /* may be a node that never exists */
        naive_node_object(&k->m->nodes[0], node, &o[i]);
        names[i] = o[i].object.meta.name;
    }
    topology_find_all(&view->nodes, names, 8, slots);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(slots[i], topology_find(&view->nodes, names[i]));
}

static void check_resources(const struct check *k, struct cache_view *view) {
    bool any = false;
    for (uint32_t i = 0; i < k->q->nodes; i++) {
        const struct naive_node *node = &k->m->nodes[i];
        uint32_t pods;
        if (k->slots[i] == TOPOLOGY_NONE)
            continue;
        const struct cache_node got = cache_node(view, k->slots[i]);
        for (uint32_t r = 0; r < NAIVE_RESOURCES; r++) {
            const struct cache_resource amount =
                cache_node_resource(view, k->slots[i], str_of(naive_resource_names[r]));
            assert_true(amount.allocatable == naive_allocatable(k->m, i, r));
            assert_true(amount.requested == naive_requested(k->m, i, r, &pods));
            assert_int_equal(got.pods, pods);
        }
        assert_int_equal(got.unschedulable, node->known && node->has >= 2);
    }
    for (uint32_t i = 0; i < NAIVE_NODES; i++)
        any = any || (k->m->nodes[i].known && k->m->nodes[i].has > 0);
    assert_int_equal(cache_any_allocatable(view), any);
}

/* Checks the nodes where port 80 is in use: pods with the requests of number 1 use it. */
static void check_ports(const struct check *k, struct cache_view *view) {
    static const struct host_port port = {{"10.0.0.1", 8}, {"TCP", 3}, 80};
    const struct pod_requests wanted = {.ports = &port, .port_count = 1};
    uint32_t want[2 * NAIVE_NODES] = {0}, *holders;
    struct arena arena;
    arena_init(&arena, 1u << 20);
    assert_int_equal(cache_port_holders(view, &wanted, &arena, &holders), 0);
    for (uint32_t i = 0; i < k->q->pods; i++)
        if (k->m->pods[i].present && k->m->pods[i].requests == 1)
            want[k->slots[k->m->pods[i].node]]++;
    for (uint32_t slot = 0; slot < topology_slots(view->nodes.topology); slot++)
        assert_int_equal(holders[slot], want[slot]);
    arena_done(&arena);
}

static struct naive_labels any_labels(const struct check *k) {
    struct naive_labels labels;
    for (uint32_t key = 0; key < NAIVE_KEYS; key++)
        labels.value[key] = (int8_t)((int)unit_below(k->random, NAIVE_VALUES + 1) - 1);
    return labels;
}

/* Checks a random pod's default selector by the pods that it matches. */
static void check_default_selector(const struct check *k, struct cache_view *view) {
    struct naive_object o;
    struct arena arena;
    struct selector selector;
    uint32_t namespace = unit_below(k->random, NAIVE_NAMESPACES);
    uint32_t owner = 4 * namespace + unit_below(k->random, 4) + 12 * unit_below(k->random, 2);
    struct naive_labels labels = any_labels(k);
    bool empty;
    arena_init(&arena, 1u << 20);
    naive_owned_object(namespace, &labels, owner, &o);
    int r = cache_default_selector(view, &o.object.meta, &arena, &selector, NULL);
    assert_int_equal(r, 0);
    for (int i = 0; i < 20; i++) {
        struct naive_labels other = any_labels(k);
        bool want = naive_default_matches(k->m, namespace, &labels, owner, &other, &empty);
        naive_owned_object(namespace, &other, owner, &o);
        assert_int_equal(selector.count == 0, empty);
        assert_int_equal(selector_matches(&selector, labels_lookup, &o.object.meta.labels), want);
    }
    arena_done(&arena);
}

static void check_stats(const struct check *k) {
    struct cache_stats got = cache_stats(k->c->cache);
    struct naive_stats want = naive_stats(k->m);
    assert_int_equal(got.nodes, want.nodes);
    assert_int_equal(got.pods, want.pods);
    assert_int_equal(got.classes, want.classes);
    assert_int_equal(got.reservations, want.reservations);
    assert_int_equal(got.workloads, want.workloads);
    assert_int_equal(got.namespaces, want.namespaces);
    assert_true(got.counters <= k->c->cache->options.max_counters);
    assert_true(got.feasibilities <= k->c->cache->options.max_feasibilities);
    assert_true(got.columns <= k->c->cache->options.max_columns);
}

void naive_check(const struct naive *m, const struct naive_questions *q, struct cluster *c,
                 uint64_t *random, uint32_t percent) {
    struct check k = {.m = m, .q = q, .c = c, .random = random};
    struct cache_view view;
    cache_view_open(c->cache, &view);
    find_slots(&k);
    for (uint32_t n = 0; n < NAIVE_NAMESPACES; n++)
        for (uint32_t s = 0; s < NAIVE_SELECTORS; s++)
            if (unit_below(random, 100) < percent)
                check_counter(&k, &view, n, s);
    for (uint32_t key = 0; key < NAIVE_KEYS; key++)
        if (unit_below(random, 100) < percent)
            check_column(&k, &view, key);
    if (unit_below(random, 100) < percent)
        check_tree(&k, &view);
    for (uint32_t e = 0; e < NAIVE_FEASIBILITIES; e++)
        if (unit_below(random, 100) < percent)
            check_feasibility(&k, &view, e);
    if (unit_below(random, 100) < percent)
        check_pods(&k, &view);
    check_nodes(&k, &view);
    check_resources(&k, &view);
    check_ports(&k, &view);
    check_lists(&k, &view);
    check_default_selector(&k, &view);
    cache_view_close(&view);
    check_stats(&k);
}

void naive_questions_open(struct naive_questions *q, struct cluster *c, uint32_t nodes,
                          uint32_t pods) {
    q->nodes = nodes;
    q->pods = pods;
    for (uint32_t s = 0; s < NAIVE_SELECTORS; s++)
        q->selectors[s] = cluster_selector(c, naive_selectors[s]);
    for (uint32_t e = 0; e < NAIVE_FEASIBILITIES; e++)
        q->askers[e] = cluster_pod(c, "", "", naive_specs[e]);
}

/* ---- the end ---- */

static void remove_everything(const struct naive *m, const struct naive_questions *q,
                              struct cluster *c) {
    struct naive_object o;
    for (uint32_t i = 0; i < q->nodes; i++) {
        if (!m->nodes[i].known) /* the node is known only from pods, or not at all */
            continue;
        naive_node_object(&m->nodes[i], i, &o);
        cluster_remove(c, &o.object);
    }
    for (uint32_t i = 0; i < q->pods; i++) {
        struct naive_pod pod = {.namespace = (uint8_t)(i / 2 % NAIVE_NAMESPACES)};
        naive_pod_object(&pod, i, true, false, &o);
        cluster_remove(c, &o.object);
    }
    for (uint32_t i = 0; i < NAIVE_NAMESPACES; i++) {
        naive_namespace_object(i, &o);
        cluster_remove(c, &o.object);
    }
    for (uint32_t i = 0; i < NAIVE_WORKLOADS; i++) {
        naive_workload_object(i, 0, &o);
        cluster_remove(c, &o.object);
    }
}

void naive_check_empties(const struct naive *m, const struct naive_questions *q,
                         struct cluster *c) {
    static const struct naive nothing;
    uint64_t random = 1;
    struct cache *cache = c->cache;
    struct topology *nodes = cache->nodes;
    remove_everything(m, q, c);
    naive_check(&nothing, q, c, &random, 100);
    for (POOL_EACH(&cache->counters, id))
        counter_free(cache, id);
    for (POOL_EACH(&nodes->columns, id))
        column_free(nodes, id);
    for (POOL_EACH(&nodes->feasibilities, id))
        feasibility_free(nodes, id);
    const struct pool *pools[] = {&nodes->candidates, &cache->namespaces, &cache->classes,
                                  &cache->pods, &cache->requests};
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++)
        assert_int_equal(pools[i]->count, 0);
    for (size_t k = 0; k < WORKLOAD_KINDS; k++)
        assert_int_equal(cache->workloads[k].count, 0);
    const struct hashmap *indexes[] = {
        &nodes->index,         &cache->namespace_index,   &cache->class_index,   &cache->pod_index,
        &cache->counter_index, &nodes->feasibility_index, &cache->requests_index};
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++)
        assert_int_equal(indexes[i]->count, 0);
    assert_int_equal(cache->strings.index.count, 0);
}
