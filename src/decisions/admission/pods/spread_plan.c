#include "admission/pods/spread_plan.h"

#include "admission/pods/own_terms.h"
#include "admission/pods/pod_nodes.h"
#include "base/limits.h"
#include "model/pod_units.h"

#include <errno.h>

static const struct {
    const char *reason, *excuse;
    enum spread_form form;
} fates_told[SPREAD_FATES] = {
    [SPREAD_INJECTED] = {"", NULL, SPREAD_WHOLE},
    [SPREAD_OWN] = {"", NULL, SPREAD_NOT},
    [SPREAD_RENEWED] = {"LabelsChanged", NULL, SPREAD_WHOLE},
    [SPREAD_TERMS_CHANGED] = {"TermsChanged",
                              "is made a preference: another webhook changed the pod's terms after "
                              "it was added, and the new terms are against it",
                              SPREAD_SOFT},
    [SPREAD_FEWER_DOMAINS] = {"OwnTermsAllowFewerDomains",
                              "is added without minDomains: the pod may use fewer domains",
                              SPREAD_WITHOUT_MIN_DOMAINS},
    [SPREAD_GATED] = {"Gated",
                      "is added without minDomains: the pod has schedulingGates, and whoever "
                      "removes them may leave fewer domains to the pod",
                      SPREAD_WITHOUT_MIN_DOMAINS},
    [SPREAD_TERMS_IGNORED] = {"OwnTermsIgnored",
                              "is added as a preference: with nodeAffinityPolicy or "
                              "nodeTaintsPolicy Ignore, domains that the pod may not use count too",
                              SPREAD_SOFT},
    [SPREAD_VOLUMES] = {"OwnVolumes",
                        "is added as a preference: the pod's volumes are in fewer domains",
                        SPREAD_SOFT},
    [SPREAD_UNIT_TOGETHER] =
        {"UnitTogether",
         "is added as a preference: the pod is the first of a unit that must be in one domain, and "
         "the domain must have room for the other pods of the unit",
         SPREAD_SOFT},
    [SPREAD_OTHERS] = {"AffinityToOtherPods",
                       "is added as a preference: required podAffinity or podAntiAffinity, of the "
                       "pod or of other pods, decides which domains the pod can use",
                       SPREAD_SOFT},
    [SPREAD_CONTRADICTED] = {"HardKeysContradict",
                             "is added as a preference: some nodes that count for a hard "
                             "constraint before it lack its label",
                             SPREAD_SOFT},
    [SPREAD_NO_NODE_HAS_KEY] = {"NoNodeHasKey",
                                "is left out: no node that the pod may use has that label together "
                                "with the labels of its other hard constraints",
                                SPREAD_NOT},
    [SPREAD_OWN_AFFINITY] = {"OwnPodAffinity",
                             "is left out: the pod's own podAffinity keeps its group together",
                             SPREAD_NOT},
    [SPREAD_OWN_ANTI_AFFINITY] = {"OwnPodAntiAffinity",
                                  "is left out: the pod's own podAntiAffinity does more",
                                  SPREAD_NOT},
    [SPREAD_NO_GROUP] = {"NoGroup", NULL, SPREAD_NOT},
    [SPREAD_UNIT_MEMBER] = {"UnitMember", NULL, SPREAD_NOT},
    [SPREAD_GANG] = {"Gang", NULL, SPREAD_NOT},
};

const char *spread_reason(enum spread_fate fate) {
    return fates_told[fate].reason;
}

const char *spread_result(enum spread_fate fate) {
    static const char *const forms[] = {[SPREAD_WHOLE] = "injected",
                                        [SPREAD_WITHOUT_MIN_DOMAINS] = "softened",
                                        [SPREAD_SOFT] = "softened",
                                        [SPREAD_NOT] = "left_out"};
    if (fate == SPREAD_OWN)
        return "own";
    return fate == SPREAD_RENEWED ? "renewed" : forms[spread_form(fate)];
}

const char *spread_excuse(enum spread_fate fate) {
    return fates_told[fate].excuse;
}

enum spread_form spread_form(enum spread_fate fate) {
    return fates_told[fate].form;
}

/* A plan that is being made. */
struct plan {
    const struct pod_question *q;
    const struct policy *policy;
    enum spread_fate *fates;    /* [policy->spread_count] */
    struct spread_reach *reach; /* likewise */
    bool unit_together;         /* the pod is the first of a unit that must be in one domain */
    struct own_terms terms;
    struct pod_nodes *nodes; /* NULL: no node is known */
};

/* Would this constraint, as planned so far, exclude a node? A soft constraint leaves no pod
 * pending. */
static bool is_hard(const struct plan *p, uint32_t i) {
    enum spread_form form = spread_form(p->fates[i]);
    return p->policy->spread[i].hard &&
           (form == SPREAD_WHOLE || form == SPREAD_WITHOUT_MIN_DOMAINS);
}

/* ---- the pod's own terms on other pods ---- */

/* Sets *ret: does any key of these terms have a domain that does not reach all domains to spread
 * over? */
static int contradicts(const struct plan *p, enum own_term kind, struct str key, bool *ret) {
    *ret = own_terms_have(&p->terms, kind, key);
    for (uint32_t i = 0; p->nodes != NULL && !*ret && i < p->terms.keys[kind].count; i++) {
        int r = pod_nodes_contradict(p->nodes, p->terms.keys[kind].items[i], key, ret);
        if (r != 0)
            return r;
    }
    return 0;
}

/* The pod's podAntiAffinity by this key keeps pods of the group apart more than a constraint does.
 * But it has no effect on nodes without the key, which only a constraint excludes. */
static int judge_anti_affinity(struct plan *p, uint32_t i) {
    struct str key = p->policy->spread[i].topology_key;
    uint32_t elsewhere = 0;
    if (!own_terms_have(&p->terms, TERM_APART, key))
        return 0;
    int r = p->nodes == NULL ? 0 : pod_nodes_lack(p->nodes, key, NODE_BY_TERMS, &elsewhere);
    if (r == 0 && elsewhere == 0)
        p->fates[i] = SPREAD_OWN_ANTI_AFFINITY;
    return r;
}

/* Could one pod that this pod must avoid exclude it from a whole domain of the key? */
static int is_kept_from_domains(const struct plan *p, struct str key, bool *ret) {
    *ret = own_terms_have(&p->terms, TERM_FROM_OTHERS, key);
    for (uint32_t i = 0; p->nodes != NULL && !*ret && i < p->terms.keys[TERM_FROM_OTHERS].count;
         i++) {
        int r = pod_nodes_encloses(p->nodes, p->terms.keys[TERM_FROM_OTHERS].items[i], key, ret);
        if (r != 0)
            return r;
    }
    return 0;
}

/* The pod's podAffinity keeps the group together. With one domain this does not contradict the
 * constraint, but may keep the group on a node without the key. */
static int judge_affinity(struct plan *p, uint32_t i) {
    struct str key = p->policy->spread[i].topology_key;
    bool contradicted;
    uint32_t domains = 0;
    int r = contradicts(p, TERM_TOGETHER, key, &contradicted);
    if (r != 0 || !contradicted)
        return r;
    const bool same_key = own_terms_have(&p->terms, TERM_TOGETHER, key);
    if (!same_key)
        r = pod_nodes_domains(p->nodes, key, NODE_BY_TERMS, &domains);
    p->fates[i] = same_key || domains > 1 ? SPREAD_OWN_AFFINITY : SPREAD_OTHERS;
    return r;
}

static int judge_terms(struct plan *p, uint32_t i) {
    struct str key = p->policy->spread[i].topology_key;
    bool contradicted;
    int r = judge_affinity(p, i);
    if (r == 0 && p->fates[i] == SPREAD_INJECTED)
        r = judge_anti_affinity(p, i);
    if (r != 0 || p->fates[i] != SPREAD_INJECTED)
        return r;
    if (p->unit_together) {
        p->fates[i] = SPREAD_UNIT_TOGETHER;
        return 0;
    }
    r = contradicts(p, TERM_WITH_OTHERS, key, &contradicted);
    if (r == 0 && !contradicted)
        r = is_kept_from_domains(p, key, &contradicted);
    if (r == 0 && contradicted)
        p->fates[i] = SPREAD_OTHERS;
    return r;
}

/* ---- domains ---- */

/* A constraint that ignores nodeSelectors or taints makes kube-scheduler count domains that the pod
 * may not use, and that stay at zero pods. */
static int judge_ignored_terms(struct plan *p, uint32_t i) {
    const struct policy_spread *wanted = &p->policy->spread[i];
    const uint8_t counted =
        (uint8_t)((wanted->node_affinity == POLICY_IGNORE ? 0 : NODE_BY_AFFINITY) |
                  (wanted->node_taints == POLICY_IGNORE ? 0 : NODE_BY_TAINTS));
    uint32_t all, allowed;
    if (wanted->node_affinity != POLICY_IGNORE && wanted->node_taints != POLICY_IGNORE)
        return 0;
    int r = pod_nodes_domains(p->nodes, wanted->topology_key, counted, &all);
    if (r == 0)
        r = pod_nodes_domains(p->nodes, wanted->topology_key, NODE_BY_TERMS, &allowed);
    if (r == 0 && allowed > 0 && allowed < all)
        p->fates[i] = SPREAD_TERMS_IGNORED;
    return r;
}

/* kube-scheduler ignores volumes and podAntiAffinity when it looks for the domain with the fewest
 * pods: a domain that the pod cannot use because of these would stay at zero pods. */
static int judge_unseen(struct plan *p, uint32_t i) {
    struct str key = p->policy->spread[i].topology_key;
    uint32_t by_terms, by_volumes = 0, by_all = 0;
    int r = judge_ignored_terms(p, i);
    if (r != 0 || p->fates[i] != SPREAD_INJECTED || p->nodes->usable == 0)
        return r;
    r = pod_nodes_domains(p->nodes, key, NODE_BY_TERMS, &by_terms);
    if (r == 0)
        r = pod_nodes_domains(p->nodes, key, NODE_BY_TERMS | NODE_BY_VOLUMES, &by_volumes);
    if (r == 0)
        r = pod_nodes_domains(p->nodes, key, NODE_USABLE, &by_all);
    if (r == 0 && by_volumes < by_terms)
        p->fates[i] = SPREAD_VOLUMES;
    else if (r == 0 && by_all < by_terms)
        p->fates[i] = SPREAD_OTHERS;
    return r;
}

/* Returns the marks that a node must have so that kube-scheduler counts it for a constraint of the
 * pod. */
static uint8_t marks_counted_by(const struct spread_constraint *c) {
    return (uint8_t)(NODE_HAS_KEYS | (c->honor_affinity ? NODE_BY_AFFINITY : 0) |
                     (c->honor_taints ? NODE_BY_TAINTS : 0));
}

/* Does a node that counts for a hard constraint of the pod's own lack the key? The key would
 * exclude that node from the count, so the constraint might allow what its author refused.
 * Constraints with equal inclusion policies count the same nodes: at most four walks. */
static int changes_own(const struct plan *p, struct str key, bool *ret) {
    const struct pod *pod = &p->q->pod;
    bool looked_at[UINT8_MAX + 1] = {false};
    int r = 0;
    *ret = false;
    for (uint32_t k = 0; r == 0 && !*ret && k < pod->constraint_count; k++) {
        const uint8_t marks = marks_counted_by(&pod->constraints[k]);
        uint32_t lacking = 0;
        if (!pod->constraints[k].hard || looked_at[marks])
            continue;
        looked_at[marks] = true;
        r = pod_nodes_lack(p->nodes, key, marks, &lacking);
        *ret = lacking > 0;
    }
    return r;
}

/* Would the key take too much from a hard constraint, for a policy with mode Require? Here the
 * policy's constraint yields to fewer constraints: otherwise an author could evade the policy by a
 * constraint on a key that each node has, or by tolerations. It yields if a constraint would lose
 * domains to a key as fine as its own or finer, or would keep fewer than its minDomains. */
static int takes_much(const struct plan *p, struct str from, int64_t min_domains, struct str key,
                      bool *ret) {
    struct domain_loss loss;
    *ret = false;
    if (min_domains <= 1 && str_eq(from, TOPOLOGY_KEY_HOSTNAME))
        return 0;
    int r = pod_nodes_loss(p->nodes, from, key, &loss);
    *ret = r == 0 && loss.kept < loss.reached &&
           (loss.kept <= loss.others ||
            ((int64_t)loss.kept < min_domains && (int64_t)loss.reached >= min_domains));
    return r;
}

static int takes_own_domains(const struct plan *p, struct str key, bool *ret) {
    const struct pod *pod = &p->q->pod;
    int r = 0;
    *ret = false;
    for (uint32_t k = 0; r == 0 && !*ret && k < pod->constraint_count; k++) {
        const struct spread_constraint *own = &pod->constraints[k];
        if (own->hard)
            r = takes_much(p, own->topology_key, own->min_domains, key, ret);
    }
    return r;
}

/* Would the key take whole domains from the policy's hard constraints before number i? */
static int takes_domains(const struct plan *p, uint32_t i, bool *ret) {
    const struct policy_spread *spread = p->policy->spread;
    struct str key = spread[i].topology_key;
    int r = 0;
    *ret = false;
    for (uint32_t k = 0; r == 0 && !*ret && k < i; k++) {
        struct domain_loss loss;
        if (!is_hard(p, k))
            continue;
        if (p->policy->mode == POLICY_REQUIRE) {
            r = takes_much(p, spread[k].topology_key, spread[k].min_domains, key, ret);
            continue;
        }
        r = pod_nodes_loss(p->nodes, spread[k].topology_key, key, &loss);
        *ret = r == 0 && loss.kept < loss.reached;
    }
    return r;
}

/* Would the key change the meaning of the hard constraints before number i? */
static int contradicts_earlier(const struct plan *p, uint32_t i, bool *ret) {
    struct str key = p->policy->spread[i].topology_key;
    int r = p->policy->mode == POLICY_REQUIRE ? takes_own_domains(p, key, ret)
                                              : changes_own(p, key, ret);
    return r == 0 && !*ret ? takes_domains(p, i, ret) : r;
}

/* Volumes or other pods may exclude nodes that have the keys of all hard constraints. A domain that
 * loses all such nodes would stay at zero, and a pod that loses all of them would stay Pending. */
static int judge_unseen_with_keys(struct plan *p, uint32_t i, uint32_t by_terms) {
    const uint8_t marks = NODE_HAS_KEYS | NODE_BY_TERMS;
    struct str key = p->policy->spread[i].topology_key;
    uint32_t by_volumes = 0, by_all = 0;
    if (p->nodes->usable == 0)
        return 0;
    int r = pod_nodes_domains(p->nodes, key, marks | NODE_BY_VOLUMES, &by_volumes);
    if (r == 0)
        r = pod_nodes_domains(p->nodes, key, NODE_HAS_KEYS | NODE_USABLE, &by_all);
    if (r == 0 && by_all < by_terms)
        p->fates[i] = by_volumes < by_terms ? SPREAD_VOLUMES : SPREAD_OTHERS;
    return r;
}

/* kube-scheduler needs a node with the keys of all hard constraints. The pod's own keys come first,
 * then the policy's, as long as some node has all of them. */
static int judge_key(struct plan *p, uint32_t i) {
    struct str key = p->policy->spread[i].topology_key;
    uint32_t anywhere, usable = 0;
    int r = pod_nodes_domains(p->nodes, key, NODE_HAS_KEYS, &anywhere);
    if (r == 0)
        r = pod_nodes_domains(p->nodes, key, NODE_HAS_KEYS | NODE_BY_TERMS, &usable);
    if (r != 0)
        return r;
    if (anywhere == 0 || (usable == 0 && p->nodes->by_terms > 0)) {
        p->fates[i] = SPREAD_NO_NODE_HAS_KEY;
        return 0;
    }
    bool yields;
    r = contradicts_earlier(p, i, &yields);
    if (r != 0)
        return r;
    if (yields) {
        p->fates[i] = SPREAD_CONTRADICTED;
        return 0;
    }
    r = judge_unseen_with_keys(p, i, usable);
    if (r != 0 || !is_hard(p, i))
        return r;
    p->reach[i].allowed = p->nodes->by_terms;
    r = pod_nodes_lack(p->nodes, key, NODE_BY_TERMS, &p->reach[i].lacking);
    return r == 0 ? pod_nodes_require(p->nodes, key) : r;
}

static int require_own_keys(const struct plan *p) {
    const struct pod *pod = &p->q->pod;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < pod->constraint_count; i++)
        if (pod->constraints[i].hard)
            r = pod_nodes_require(p->nodes, pod->constraints[i].topology_key);
    return r;
}

static int judge_min_domains(struct plan *p, uint32_t i) {
    const struct policy_spread *wanted = &p->policy->spread[i];
    uint32_t all, usable;
    if (wanted->min_domains <= 1 || p->nodes->by_terms == 0)
        return 0;
    int r = pod_nodes_domains(p->nodes, wanted->topology_key, 0, &all);
    if (r == 0)
        r = pod_nodes_domains(p->nodes, wanted->topology_key, NODE_BY_TERMS | NODE_HAS_KEYS,
                              &usable);
    if (r == 0 && usable < all && (int64_t)usable < wanted->min_domains)
        p->fates[i] = SPREAD_FEWER_DOMAINS;
    return r;
}

/* A gated pod's terms may be tightened after its creation; Kueue adds the nodeSelector of a
 * ResourceFlavor. upstream: KEP-3838, kueue pkg/podset. */
static int judge_gates(struct plan *p, uint32_t i) {
    const struct policy_spread *wanted = &p->policy->spread[i];
    if (wanted->node_affinity == POLICY_IGNORE)
        p->fates[i] = SPREAD_TERMS_IGNORED;
    else if (wanted->min_domains > 1 && p->fates[i] == SPREAD_INJECTED)
        p->fates[i] = SPREAD_GATED;
    return 0;
}

/* ---- the whole plan ---- */

typedef int judge_fn(struct plan *p, uint32_t i);

static int judge_each(struct plan *p, judge_fn *judge) {
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < p->policy->spread_count; i++)
        if (is_hard(p, i))
            r = judge(p, i);
    return r;
}

static int judge_all(struct plan *p) {
    int r = judge_each(p, judge_terms);
    if (r != 0 || p->nodes == NULL)
        return r;
    r = judge_each(p, judge_unseen);
    if (r == 0)
        r = require_own_keys(p);
    if (r == 0)
        r = judge_each(p, judge_key);
    return r == 0 ? judge_each(p, judge_min_domains) : r;
}

/* If a question costs more than the view's steps, the nodes stay unknown. */
static int look_at_nodes(struct plan *p, const struct pod_nodes_question *question) {
    struct cache *cache = pod_options(p->q)->cache;
    struct steps steps = {.used = 0};
    struct pod_nodes nodes;
    struct cache_view view;
    cache_view_open(cache, &view);
    view.nodes.asker = hash_str(p->q->pod.meta.namespace);
    steps.max = LIMIT_ENGINE_STEPS +
                (uint64_t)LIMIT_ENGINE_STEPS_A_NODE * topology_slots(view.nodes.topology);
    view.nodes.steps = &steps; /* not the review's steps: they depend on the cluster's size */
    int r = pod_nodes_survey(question, &view, p->q->head.arena, &nodes);
    p->nodes = r == 0 ? &nodes : NULL;
    if (r == 0)
        r = judge_all(p);
    else if (r == -E2BIG)
        r = judge_each(p, judge_terms);
    cache_view_close(&view);
    p->nodes = NULL;
    return r == -E2BIG ? 0 : r;
}

/* Does the pod have a constraint on the key? Called for each of the policy's constraints, which are
 * few. */
static bool has_own(const struct pod *pod, struct str topology_key) {
    for (uint32_t i = 0; i < pod->constraint_count; i++)
        if (str_eq(pod->constraints[i].topology_key, topology_key))
            return true;
    return false;
}

/* Must the unit be in one domain of any key? Then its other pods, which may come first, cannot
 * follow the pod. It is not known here how many such units fit into a domain. */
static bool is_unit_together(const struct pod_question *q, const struct own_terms *terms) {
    const struct labels *annotations = &q->details.annotations;
    const struct unit_membership unit =
        pod_unit_of(&q->pod.meta.labels, annotations, &q->policy->group_by);
    return unit.place == UNIT_FIRST &&
           (terms->keys[TERM_UNIT].count > 0 || pod_unit_is_together(annotations));
}

static int judge_with_what_is_known(struct plan *p) {
    struct cache *cache = pod_options(p->q)->cache;
    struct pod_nodes_question question;
    if (!cache_ready(cache) || cache_stats(cache).nodes == 0)
        return judge_each(p, judge_terms);
    int r = pod_nodes_ask(p->q, &p->terms, &question);
    return r == 0 ? look_at_nodes(p, &question) : r;
}

int spread_plan(const struct pod_question *q, enum spread_fate **ret,
                struct spread_reach **ret_reach) {
    const struct policy *policy = q->policy;
    struct plan plan = {.q = q, .policy = policy};
    bool hard = false;
    plan.fates = arena_array(q->head.arena, policy->spread_count, sizeof *plan.fates);
    plan.reach = arena_array(q->head.arena, policy->spread_count, sizeof *plan.reach);
    if (plan.fates == NULL || plan.reach == NULL)
        return -ENOMEM;
    *ret = plan.fates;
    if (ret_reach != NULL)
        *ret_reach = plan.reach;
    for (uint32_t i = 0; i < policy->spread_count; i++) {
        if (has_own(&q->pod, policy->spread[i].topology_key))
            plan.fates[i] = SPREAD_OWN;
        hard = hard || is_hard(&plan, i);
    }
    if (!hard)
        return 0;
    int r = own_terms_find(q, &plan.terms);
    if (r != 0)
        return r;
    plan.unit_together = is_unit_together(q, &plan.terms);
    r = judge_with_what_is_known(&plan);
    return r == 0 && q->pod.gated ? judge_each(&plan, judge_gates) : r;
}
