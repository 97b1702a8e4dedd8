#include "admission/pods/spread_plan.h"

#include "base/limits.h"

#include <errno.h>

const char *spread_reason(enum spread_fate fate) {
    static const char *const words[SPREAD_FATES] = {
        [SPREAD_INJECTED] = "",
        [SPREAD_OWN] = "",
        [SPREAD_RENEWED] = "LabelsChanged",
        [SPREAD_FEWER_DOMAINS] = "OwnTermsAllowFewerDomains",
        [SPREAD_NO_NODE_HAS_KEY] = "NoNodeHasKey",
        [SPREAD_OWN_AFFINITY] = "OwnPodAffinity",
        [SPREAD_OWN_ANTI_AFFINITY] = "OwnPodAntiAffinity",
        [SPREAD_NO_GROUP] = "NoGroup",
        [SPREAD_UNIT_MEMBER] = "UnitMember",
    };
    return words[fate];
}

/* The nodes, as one pod sees them. */
struct terrain {
    const struct pod_question *q;
    struct cache_view *view;
    const uint8_t *flags;     /* per slot; NULL: nothing is known of nodes */
    uint32_t slots, feasible; /* nodes that the pod may use */
};

static bool is_feasible(const struct terrain *t, uint32_t slot) {
    enum { NEEDED = CANDIDATE_KNOWN | CANDIDATE_AFFINITY | CANDIDATE_TAINTS };
    return (t->flags[slot] & NEEDED) == NEEDED;
}

/* A question that costs more than the view's steps is one that nothing is known about. */
static int survey(struct terrain *t) {
    int r = topology_feasibility(&t->view->nodes, &t->q->pod.affinity, t->q->pod.tolerations,
                                 &t->flags);
    if (r == -E2BIG)
        t->flags = NULL;
    if (r != 0)
        return r == -ENOMEM ? r : 0;
    for (uint32_t slot = 0; slot < t->slots; slot++)
        t->feasible += is_feasible(t, slot);
    return 0;
}

static int column_of(const struct terrain *t, struct str key, struct topology_column *ret,
                     bool *ret_known) {
    int r = topology_column(&t->view->nodes, key, ret);
    *ret_known = r == 0;
    return r == -ENOMEM ? r : 0;
}

/* ---- domains of one key ---- */

struct domains {
    uint32_t all, feasible; /* with any node; with one that the pod may use */
};

static int count_domains(const struct terrain *t, const struct topology_column *column,
                         struct domains *ret) {
    enum { ANY = 1, FEASIBLE = 2 };
    uint8_t *seen = arena_array(t->q->head.arena, column->domains, 1);
    *ret = (struct domains){0};
    if (seen == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < t->slots; slot++) {
        uint32_t domain = column->domain_of[slot];
        if (domain == TOPOLOGY_NONE)
            continue;
        uint8_t now = ANY | (is_feasible(t, slot) ? FEASIBLE : 0), before = seen[domain];
        ret->all += (before & ANY) == 0;
        ret->feasible += (now & ~before & FEASIBLE) != 0;
        seen[domain] = before | now;
    }
    return 0;
}

/* ---- the pod's own podAffinity ---- */

/* Numbers the domains in which there are nodes that the pod may use, from 1 on, in `number_of`
 * (zeroed). Returns how many there are. */
static uint32_t number_domains(const struct terrain *t, const struct topology_column *column,
                               uint32_t *number_of) {
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < t->slots; slot++) {
        uint32_t domain = column->domain_of[slot];
        if (domain != TOPOLOGY_NONE && is_feasible(t, slot) && number_of[domain] == 0)
            number_of[domain] = ++count;
    }
    return count;
}

/*
 * With required podAffinity to itself on key `together` a group stays in one of its domains. It can
 * be spread over `spread` only if that one has nodes in every domain of `spread` that counts.
 */
static int is_contradicted(const struct terrain *t, const struct topology_column *together,
                           const struct topology_column *spread, bool *ret) {
    struct arena *arena = t->q->head.arena;
    uint32_t *homes = arena_array(arena, together->domains, sizeof *homes);
    uint32_t *parts = arena_array(arena, spread->domains, sizeof *parts);
    if (homes == NULL || parts == NULL)
        return -ENOMEM;
    uint32_t home_count = number_domains(t, together, homes);
    uint32_t part_count = number_domains(t, spread, parts), pairs = 0;
    uint64_t all_pairs = (uint64_t)home_count * part_count;
    *ret = part_count > 1;
    if (part_count <= 1 || all_pairs > t->feasible) /* a node is in one pair at most */
        return 0;
    uint8_t *seen = arena_array(arena, all_pairs, 1);
    if (seen == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < t->slots; slot++) {
        uint32_t home = together->domain_of[slot], part = spread->domain_of[slot];
        if (home == TOPOLOGY_NONE || part == TOPOLOGY_NONE || !is_feasible(t, slot))
            continue;
        uint8_t *pair = &seen[(uint64_t)(homes[home] - 1) * part_count + (parts[part] - 1)];
        pairs += *pair == 0;
        *pair = 1;
    }
    *ret = pairs < all_pairs;
    return 0;
}

static struct meant_pod own_group(const struct pod_question *q) {
    return (struct meant_pod){.namespace = q->pod.meta.namespace,
                              .namespace_labels = q->namespace_labels,
                              .labels = q->pod.meta.labels};
}

static int affinity_forbids(const struct terrain *t, const struct pod_affinity_term *term,
                            struct str key, bool *ret) {
    struct topology_column together, spread;
    bool known;
    *ret = str_eq(term->topology_key, key);
    if (*ret || t->feasible == 0)
        return 0;
    int r = column_of(t, key, &spread, &known);
    if (r == 0 && known)
        r = column_of(t, term->topology_key, &together, &known);
    return r == 0 && known ? is_contradicted(t, &together, &spread, ret) : r;
}

static int judge_affinity(const struct terrain *t, struct str key, enum spread_fate *ret) {
    const struct pod *pod = &t->q->pod;
    const struct meant_pod own = own_group(t->q);
    bool means = false;
    for (uint32_t i = 0; *ret == SPREAD_INJECTED && i < pod->beside.term_count; i++) {
        const struct pod_affinity_term *term = &pod->beside.terms[i];
        int r = pod_affinity_means(term, &own, t->q->head.arena, &means);
        if (r == 0 && means)
            r = affinity_forbids(t, term, key, &means);
        if (r != 0)
            return r;
        if (means)
            *ret = SPREAD_OWN_AFFINITY;
    }
    for (uint32_t i = 0; *ret == SPREAD_INJECTED && i < pod->apart.term_count; i++) {
        const struct pod_affinity_term *term = &pod->apart.terms[i];
        if (!str_eq(term->topology_key, key))
            continue;
        if (pod_affinity_means(term, &own, t->q->head.arena, &means) != 0)
            return -ENOMEM;
        if (means)
            *ret = SPREAD_OWN_ANTI_AFFINITY;
    }
    return 0;
}

/* ---- one constraint ---- */

static int judge_domains(const struct terrain *t, const struct policy_spread *wanted,
                         enum spread_fate *ret) {
    struct topology_column column;
    struct domains domains;
    bool known;
    int r = column_of(t, wanted->topology_key, &column, &known);
    if (r != 0 || !known)
        return r;
    r = count_domains(t, &column, &domains);
    if (r != 0)
        return r;
    if (domains.all == 0 || (t->feasible > 0 && domains.feasible == 0))
        *ret = SPREAD_NO_NODE_HAS_KEY;
    else if (t->feasible > 0 && domains.feasible < domains.all &&
             (int64_t)domains.feasible < wanted->min_domains)
        *ret = SPREAD_FEWER_DOMAINS;
    return 0;
}

static bool has_own(const struct pod *pod, struct str topology_key) {
    for (uint32_t i = 0; i < pod->constraint_count; i++)
        if (str_eq(pod->constraints[i].topology_key, topology_key))
            return true;
    return false;
}

/* A soft constraint leaves no pod pending. */
static int judge(const struct terrain *t, const struct policy_spread *wanted,
                 enum spread_fate *ret) {
    if (*ret == SPREAD_OWN || !wanted->hard)
        return 0;
    int r = judge_affinity(t, wanted->topology_key, ret);
    if (r == 0 && *ret == SPREAD_INJECTED && t->flags != NULL)
        r = judge_domains(t, wanted, ret);
    return r;
}

static int judge_all(struct terrain *t, const struct policy *policy, enum spread_fate *fates) {
    int r = 0;
    if (t->view != NULL)
        r = survey(t);
    for (uint32_t i = 0; r == 0 && i < policy->spread_count; i++)
        r = judge(t, &policy->spread[i], &fates[i]);
    return r;
}

int spread_plan(const struct pod_question *q, enum spread_fate **ret) {
    const struct policy *policy = q->policy;
    struct cache *cache = q->head.options->cache;
    struct terrain t = {.q = q};
    struct steps steps = {.used = 0};
    struct cache_view view;
    bool hard = false;
    enum spread_fate *fates = arena_array(q->head.arena, policy->spread_count, sizeof *fates);
    if (fates == NULL)
        return -ENOMEM;
    *ret = fates;
    for (uint32_t i = 0; i < policy->spread_count; i++) {
        if (has_own(&q->pod, policy->spread[i].topology_key))
            fates[i] = SPREAD_OWN;
        else
            hard |= policy->spread[i].hard;
    }
    if (!hard)
        return 0;
    if (!cache_ready(cache) || cache_stats(cache).nodes == 0)
        return judge_all(&t, policy, fates);
    cache_view_open(cache, &view);
    view.nodes.asker = hash_str(q->pod.meta.namespace);
    t.view = &view;
    t.slots = topology_slots(view.nodes.topology);
    steps.max = LIMIT_ENGINE_STEPS + (uint64_t)LIMIT_ENGINE_STEPS_A_NODE * t.slots;
    view.nodes.steps = &steps; /* not the review's: they go by the size of the cluster */
    int r = judge_all(&t, policy, fates);
    cache_view_close(&view);
    return r;
}
