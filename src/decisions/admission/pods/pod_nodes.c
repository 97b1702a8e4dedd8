#include "admission/pods/pod_nodes.h"

#include "admission/pods/other_pods.h"
#include "volumes/store.h"

#include <errno.h>

/* ---- the question ---- */

/* Returns the pod's tolerations, plus tolerations of passing taints. */
static int tolerate_passing_taints(const struct tolerations *own, struct arena *arena,
                                   struct tolerations *ret) {
    struct toleration *items =
        arena_array(arena, (size_t)own->count + PASSING_TAINTS, sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    if (own->count > 0)
        memcpy(items, own->items, own->count * sizeof *items);
    memcpy(items + own->count, passing_taint_tolerations, sizeof passing_taint_tolerations);
    *ret = (struct tolerations){items, own->count + PASSING_TAINTS};
    return steps_take(&arena->steps, own->count) ? 0 : -E2BIG;
}

static int ask_volumes(const struct pod_question *q, struct pod_nodes_question *ret) {
    const struct node_affinity *affinities;
    uint32_t count;
    int r = volume_affinities(pod_options(q)->volumes, q->pod.meta.namespace, q->pod.claims,
                              q->pod.claim_count, q->head.arena, &affinities, &count);
    if (r != 0)
        return r;
    ret->volumes = arena_array(q->head.arena, count, sizeof *ret->volumes);
    for (uint32_t i = 0; ret->volumes != NULL && r == 0 && i < count; i++)
        r = feasibility_question_init(&ret->volumes[i], &affinities[i], (struct tolerations){0});
    ret->volume_count = count;
    return ret->volumes == NULL ? -ENOMEM : r;
}

/* Ignores a selector that does not parse: the API server refuses the pod. */
static int ask_others(const struct pod_question *q, struct pod_nodes_question *ret) {
    ret->pod = (struct meant_pod){.namespace = q->pod.meta.namespace,
                                  .namespace_labels = q->namespace_labels,
                                  .labels = q->pod.meta.labels};
    int r = pod_terms_add(&ret->away, POD_APART, &ret->own->from_others, q->pod.meta.namespace,
                          q->head.arena, NULL);
    ret->from_others = ret->away.count;
    if (r == 0)
        r = pod_terms_add(&ret->away, POD_APART, &ret->own->from_group, q->pod.meta.namespace,
                          q->head.arena, NULL);
    return r == -EINVAL ? 0 : r;
}

int pod_nodes_ask(const struct pod_question *q, const struct own_terms *own,
                  struct pod_nodes_question *ret) {
    struct tolerations tolerations;
    *ret = (struct pod_nodes_question){.own = own};
    int r = tolerate_passing_taints(&q->pod.tolerations, q->head.arena, &tolerations);
    if (r == 0)
        r = feasibility_question_init(&ret->terms, &q->pod.affinity, tolerations);
    if (r == 0)
        r = ask_others(q, ret);
    return r == 0 ? ask_volumes(q, ret) : r;
}

/* ---- nodes ---- */

static int take(const struct pod_nodes *n, uint64_t times) {
    return steps_take(n->view->nodes.steps, times * n->slots) ? 0 : -E2BIG;
}

static int mark_volumes(const struct pod_nodes_question *question, struct pod_nodes *n) {
    for (uint32_t i = 0; i < question->volume_count; i++) {
        const uint8_t *flags;
        int r = topology_feasible(&n->view->nodes, &question->volumes[i], &flags);
        if (r == 0)
            r = take(n, 1);
        if (r != 0)
            return r;
        for (uint32_t slot = 0; slot < n->slots; slot++)
            if ((flags[slot] & CANDIDATE_AFFINITY) == 0)
                n->may[slot] &= (uint8_t)~NODE_BY_VOLUMES;
    }
    return 0;
}

static uint8_t marks_of(uint8_t flags) {
    uint8_t marks = NODE_BY_VOLUMES | NODE_BY_OTHERS | NODE_HAS_KEYS;
    if ((flags & CANDIDATE_KNOWN) == 0)
        return marks;
    if ((flags & CANDIDATE_AFFINITY) != 0)
        marks |= NODE_BY_AFFINITY;
    if ((flags & CANDIDATE_TAINTS) != 0)
        marks |= NODE_BY_TAINTS;
    if ((marks & NODE_BY_AFFINITY) != 0 && (marks & NODE_BY_TAINTS) != 0)
        marks |= NODE_BY_TERMS;
    return marks;
}

static int mark_others(const struct pod_nodes_question *question, struct pod_nodes *n) {
    const bool *kept_away;
    int r = other_pods_keep_away(question, n->view, n->arena, &kept_away);
    for (uint32_t slot = 0; r == 0 && kept_away != NULL && slot < n->slots; slot++)
        if (kept_away[slot])
            n->may[slot] &= (uint8_t)~NODE_BY_OTHERS;
    return r;
}

int pod_nodes_survey(const struct pod_nodes_question *question, struct cache_view *view,
                     struct arena *arena, struct pod_nodes *ret) {
    const uint8_t *flags;
    *ret = (struct pod_nodes){
        .view = view, .arena = arena, .slots = topology_slots(view->nodes.topology)};
    ret->may = arena_array(arena, ret->slots, 1);
    int r = ret->may == NULL ? -ENOMEM : topology_feasible(&view->nodes, &question->terms, &flags);
    if (r == 0)
        r = take(ret, 2);
    if (r != 0)
        return r;
    for (uint32_t slot = 0; slot < ret->slots; slot++)
        ret->may[slot] = marks_of(flags[slot]);
    r = mark_volumes(question, ret);
    if (r == 0)
        r = mark_others(question, ret);
    for (uint32_t slot = 0; slot < ret->slots; slot++) {
        ret->by_terms += (ret->may[slot] & NODE_BY_TERMS) != 0;
        ret->usable += (ret->may[slot] & NODE_USABLE) == NODE_USABLE;
    }
    return r;
}

static bool has(const struct pod_nodes *n, uint32_t slot, uint8_t marks) {
    return (n->may[slot] & marks) == marks;
}

static int column_of(const struct pod_nodes *n, struct str key, struct topology_column *ret) {
    int r = topology_column(&n->view->nodes, key, ret);
    return r == 0 ? take(n, 1) : r;
}

/* ---- domains ---- */

int pod_nodes_domains(const struct pod_nodes *n, struct str key, uint8_t marks, uint32_t *ret) {
    struct topology_column column;
    *ret = 0;
    int r = column_of(n, key, &column);
    if (r != 0)
        return r;
    bool *seen = arena_array(n->arena, column.domains, sizeof *seen);
    if (seen == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < n->slots; slot++) {
        uint32_t domain = column.domain_of[slot];
        if (domain == TOPOLOGY_NONE || !has(n, slot, marks))
            continue;
        *ret += !seen[domain];
        seen[domain] = true;
    }
    return 0;
}

int pod_nodes_lack(const struct pod_nodes *n, struct str key, uint8_t marks, uint32_t *ret) {
    struct topology_column column;
    *ret = 0;
    int r = column_of(n, key, &column);
    for (uint32_t slot = 0; r == 0 && slot < n->slots; slot++)
        *ret += column.domain_of[slot] == TOPOLOGY_NONE && has(n, slot, marks);
    return r;
}

int pod_nodes_require(struct pod_nodes *n, struct str key) {
    struct topology_column column;
    int r = column_of(n, key, &column);
    for (uint32_t slot = 0; r == 0 && slot < n->slots; slot++)
        if (column.domain_of[slot] == TOPOLOGY_NONE)
            n->may[slot] &= (uint8_t)~NODE_HAS_KEYS;
    return r;
}

/* Numbers the domains that have nodes allowed by the pod's terms, from 1 on, in `number_of`
 * (zeroed). Returns the number of these domains. */
static uint32_t number_domains(const struct pod_nodes *n, const struct topology_column *column,
                               uint32_t *number_of) {
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < n->slots; slot++) {
        uint32_t domain = column->domain_of[slot];
        if (domain != TOPOLOGY_NONE && has(n, slot, NODE_BY_TERMS) && number_of[domain] == 0)
            number_of[domain] = ++count;
    }
    return count;
}

static int lacks_a_pair(const struct pod_nodes *n, const struct topology_column *together,
                        const struct topology_column *spread, bool *ret) {
    uint32_t *homes = arena_array(n->arena, together->domains, sizeof *homes);
    uint32_t *parts = arena_array(n->arena, spread->domains, sizeof *parts);
    if (homes == NULL || parts == NULL)
        return -ENOMEM;
    uint32_t home_count = number_domains(n, together, homes);
    uint32_t part_count = number_domains(n, spread, parts), pairs = 0;
    uint64_t all_pairs = (uint64_t)home_count * part_count;
    *ret = part_count > 0;
    if (part_count == 0 || all_pairs > n->by_terms) /* a node is in one pair at most */
        return 0;
    bool *seen = arena_array(n->arena, all_pairs, sizeof *seen);
    if (seen == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < n->slots; slot++) {
        uint32_t home = together->domain_of[slot], part = spread->domain_of[slot];
        if (home == TOPOLOGY_NONE || part == TOPOLOGY_NONE || !has(n, slot, NODE_BY_TERMS))
            continue;
        bool *pair = &seen[(uint64_t)(homes[home] - 1) * part_count + (parts[part] - 1)];
        pairs += !*pair;
        *pair = true;
    }
    *ret = pairs < all_pairs;
    return 0;
}

int pod_nodes_contradict(const struct pod_nodes *n, struct str together, struct str spread,
                         bool *ret) {
    struct topology_column together_column, spread_column;
    *ret = false;
    int r = column_of(n, together, &together_column);
    if (r == 0)
        r = column_of(n, spread, &spread_column);
    if (r == 0)
        r = take(n, 1); /* three walks over the nodes in all */
    return r == 0 ? lacks_a_pair(n, &together_column, &spread_column, ret) : r;
}

int pod_nodes_encloses(const struct pod_nodes *n, struct str whole, struct str part, bool *ret) {
    struct topology_column outer, inner;
    *ret = false;
    int r = column_of(n, whole, &outer);
    if (r == 0)
        r = column_of(n, part, &inner);
    if (r != 0)
        return r;
    enum { NOT_SEEN, IN_ONE, IN_SEVERAL };
    uint8_t *seen = arena_array(n->arena, inner.domains, sizeof *seen);
    uint32_t *home = arena_array(n->arena, inner.domains, sizeof *home);
    if (seen == NULL || home == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < n->slots; slot++) {
        uint32_t domain = inner.domain_of[slot];
        if (domain == TOPOLOGY_NONE || !has(n, slot, NODE_BY_TERMS))
            continue;
        bool alone = outer.domain_of[slot] != TOPOLOGY_NONE &&
                     (seen[domain] == NOT_SEEN || home[domain] == outer.domain_of[slot]);
        seen[domain] = alone && seen[domain] != IN_SEVERAL ? IN_ONE : IN_SEVERAL;
        home[domain] = outer.domain_of[slot];
    }
    for (uint32_t domain = 0; !*ret && domain < inner.domains; domain++)
        *ret = seen[domain] == IN_ONE;
    return 0;
}

int pod_nodes_loss(const struct pod_nodes *n, struct str from, struct str key,
                   struct domain_loss *ret) {
    enum { REACHED = 1, KEPT = 2 };
    struct topology_column outer, inner;
    *ret = (struct domain_loss){.kept = 0};
    int r = column_of(n, from, &outer);
    if (r == 0)
        r = column_of(n, key, &inner);
    if (r != 0)
        return r;
    uint8_t *seen = arena_array(n->arena, outer.domains, sizeof *seen);
    bool *other = arena_array(n->arena, inner.domains, sizeof *other);
    if (seen == NULL || other == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < n->slots; slot++) {
        uint32_t domain = outer.domain_of[slot], within = inner.domain_of[slot];
        if (domain == TOPOLOGY_NONE || !has(n, slot, NODE_BY_TERMS | NODE_HAS_KEYS))
            continue;
        ret->reached += (seen[domain] & REACHED) == 0;
        seen[domain] |= REACHED;
        if (within == TOPOLOGY_NONE)
            continue;
        ret->kept += (seen[domain] & KEPT) == 0;
        seen[domain] |= KEPT;
        ret->others += !other[within];
        other[within] = true;
    }
    return 0;
}
