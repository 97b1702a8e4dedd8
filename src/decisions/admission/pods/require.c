#include "admission/pods/require.h"

#include "admission/pods/group.h"
#include "admission/pods/spread_plan.h"
#include "admission/pods/spread_written.h"
#include "base/limits.h"
#include "model/fixed_pod.h"
#include "model/names.h"
#include "model/pod_keys.h"
#include "model/workload.h"
#include "owners/chain.h"
#include "owners/owners.h"

#include <errno.h>

_Static_assert((int)EVASIONS <= (int)POLICY_EVASIONS, "an evasion is a reason");

enum {
    DENIED = 403,
    PIECE_STEPS = 25000, /* steps of a search among living pods before writers get their turn */
    MANY_LABELS = 1000, /* an honest pod has fewer; more labels are an attack on a review's steps */
};

const struct policy_evasion_row pod_evasions[POLICY_EVASIONS] = {
    [EVASION_NONE] = {NULL, NULL, false},
    [EVASION_TOO_MANY_STEPS] = {"TooManySteps", "pods take more steps than a review may take",
                                true},
    [EVASION_CONSTRAINT_WEAKER] = {"ConstraintWeaker",
                                   "pods have a constraint of their own that asks for less", true},
    [EVASION_CONSTRAINT_NARROWER] =
        {"ConstraintNarrower",
         "pods have a constraint of their own that does not count their group", true},
    [EVASION_MIRROR] = {"NotOfKubelet",
                        "pods have the annotation or the controller of mirror pods, and no kubelet "
                        "created them",
                        true},
    [EVASION_DAEMON_SET] = {"NotOfDaemonSet", "pods name a DaemonSet that did not create them",
                            true},
    [EVASION_NODE_CHOSEN] = {"NodeChosen", "pods name their node themselves", true},
    [EVASION_SCHEDULER] = {"OtherScheduler", "pods name a scheduler that the policy does not list",
                           true},
    [EVASION_UNIT] =
        {"NotFirstOfUnit",
         "pods say that they are of a unit, but no controller of such units created them", true},
    [EVASION_NO_GROUP] = {"NoGroup", "pods lack the labels that make a group", true},
    [EVASION_GROUP_OF_ONE] = {"GroupOfOne", "pods have a label that makes each a group by itself",
                              true},
    [EVASION_POD_AFFINITY] = {"OwnPodAffinity",
                              "pods want to be together where the policy spreads them", true},
    [EVASION_NODE_TERMS] = {"TooFewDomainsNamed", "pods name fewer domains than minDomains", true},
    [EVASION_NOT_INJECTED] = {"NotInjected",
                              "a constraint was not injected, or was taken out by somebody else",
                              false},
};

const char *evasion_reason(enum evasion evasion) {
    return evasion == EVASION_NONE ? "" : pod_evasions[evasion].name;
}

/* The creator of the pod, as the API server names it. */
enum creator {
    CREATOR_UNKNOWN,
    CREATOR_ASKED, /* the pod exists: its creator was checked at its creation */
    CREATOR_KUBELET,
    CREATOR_CONTROLLER, /* a controller of kube-controller-manager, for the pod's owner */
    CREATOR_ACCOUNT,    /* another service account: an operator, or anybody */
    CREATOR_OTHER,
};

/* A pod under review. */
struct judged {
    const struct pod_question *q; /* q->policy gives the pod its spread */
    enum creator creator;
    struct pod_group group;
    const enum spread_fate *bare; /* fates without its own constraints; NULL: not yet known */
    struct spread_written written;
    enum evasion evasion;
    struct str why; /* the reason, as the end of a sentence for the user */
};

#define FIND(j, what, ...)                                                                         \
    ((j)->evasion = (what), (j)->why = arena_printf((j)->q->head.arena, __VA_ARGS__), 0)

/* ---- its creator and its node ---- */

static enum creator creator_of(const struct pod_question *q) {
    const struct object_meta *meta = &q->pod.meta;
    const struct str user = q->head.review->user;
    if (q->is_updated)
        return CREATOR_ASKED;
    if (str_empty(user))
        return CREATOR_UNKNOWN;
    if (str_has_prefix(user, STR("system:node:")))
        return CREATOR_KUBELET;
    if (is_pod_controller(user, controller_of(meta).type))
        return CREATOR_CONTROLLER;
    return str_has_prefix(user, STR("system:serviceaccount:")) ? CREATOR_ACCOUNT : CREATOR_OTHER;
}

/* Only the controller of DaemonSets chooses nodes; all others copy a template that somebody wrote.
 * For a pod with gates the creator was checked at its creation. */
static bool is_of_daemon_set(const struct judged *j) {
    bool believed =
        j->creator == CREATOR_CONTROLLER ||
        (j->creator == CREATOR_ASKED && is_daemon_set(controller_of(&j->q->old.meta).type));
    return believed && is_daemon_set(controller_of(&j->q->pod.meta).type);
}

/* Judges every pod that already has its place. Sets *ret_done if nothing more is to be judged. No
 * mirror pod has gates, because it is on its node. */
static int judge_fixed(struct judged *j, bool *ret_done) {
    const struct pod *pod = &j->q->pod;
    const struct str user = j->q->head.review->user;
    const struct object_type controller = controller_of(&pod->meta).type;
    const char *did = j->creator == CREATOR_ASKED ? "changed" : "created";
    *ret_done = j->creator == CREATOR_KUBELET ||
                !str_empty(pod_fixed_because(pod, &j->q->details.annotations));
    if (!*ret_done || j->creator == CREATOR_KUBELET || j->creator == CREATOR_UNKNOWN)
        return 0;
    if (pod_is_mirror(&j->q->details.annotations))
        return FIND(j, EVASION_MIRROR,
                    "the annotation kubernetes.io/config.mirror is for kubelets, and '%.*s' is not "
                    "a kubelet",
                    STR_ARG(user));
    if (is_node(controller))
        return FIND(j, EVASION_MIRROR,
                    "it names Node '%.*s' as its controller, as kubelets do in mirror pods, and "
                    "'%.*s' is not a kubelet; take the owner reference out of the pod",
                    STR_ARG(pod->meta.controller_name), STR_ARG(user));
    if (is_of_daemon_set(j))
        return 0;
    if (is_daemon_set(controller))
        return FIND(j, EVASION_DAEMON_SET,
                    "it names DaemonSet '%.*s' as its controller, and was not created by the "
                    "controller of DaemonSets but %s by '%.*s'; create the DaemonSet and let its "
                    "controller create the pods, or take the owner reference out of the pod",
                    STR_ARG(pod->meta.controller_name), did, STR_ARG(user));
    return FIND(j, EVASION_NODE_CHOSEN,
                "only DaemonSets choose nodes; remove spec.nodeName, and node affinity that names "
                "a node, from the pod or its template; or exclude the pod by the policy's "
                "spec.match.exclude; it was %s by '%.*s'",
                did, STR_ARG(user));
}

static int judge_scheduler(struct judged *j) {
    struct str scheduler = j->q->pod.scheduler;
    if (str_empty(scheduler) || policy_has_scheduler(j->q->policy, scheduler))
        return 0;
    return FIND(j, EVASION_SCHEDULER,
                "its schedulerName is '%.*s', which is not among the policy's "
                "spec.pods.schedulerNames",
                STR_ARG(scheduler));
}

/* ---- its group ---- */

static struct owner_ref controller_ref(const struct judged *j) {
    const struct object_meta *meta = &j->q->pod.meta;
    return (struct owner_ref){meta->namespace, meta->controller_api, meta->controller_kind,
                              meta->controller_name};
}

/* A search among the policy's living pods: does any pod have some of the group's labels but not
 * all, and does any pod have all of them? */
struct neighbours {
    const struct policy *policy;
    const struct labels *group;
    uint64_t policy_steps; /* steps to match the policy's selector with one pod */
    struct steps steps;
    struct arena *arena; /* the review's arena */
    /* found: */
    struct label shared; /* the first shared label, in the arena; without a key: no pod shares a
                            label */
    bool several;        /* the group has another pod */
};

/* All of the policy's pods have the labels of its selector, so a shared label of the selector does
 * not prove a group. */
static bool is_asked_for(const struct policy *policy, struct str key) {
    for (uint32_t i = 0; i < policy->objects.count; i++)
        if (str_eq(policy->objects.items[i].key, key))
            return true;
    return false;
}

enum { LOOK_UP = 4 }; /* steps of finding a label among many, by its key */

/* Takes the steps of looking up one label and judging it. */
static bool take_label(struct neighbours *n) {
    return steps_take(&n->steps, LOOK_UP + n->policy->objects.count);
}

static void note_shared(struct neighbours *n, const struct label *label) {
    if (str_empty(n->shared.key) && !is_asked_for(n->policy, label->key))
        n->shared =
            (struct label){arena_str(n->arena, label->key), arena_str(n->arena, label->value)};
}

/* For another pod with fewer labels than the group: notes the first label of the group that it has.
 */
static int compare_shorter(struct neighbours *n, const struct label_set_ref *other) {
    struct str value;
    for (uint32_t i = 0; i < other->set->count && str_empty(n->shared.key); i++) {
        const struct label label = label_set_at(other->strings, other->set, i);
        if (!take_label(n))
            return -E2BIG;
        if (labels_lookup(n->group, label.key, &value) && str_eq(value, label.value))
            note_shared(n, &label);
    }
    return 0;
}

/* The reviewed pod and the others may have many labels: looks up the labels of the shorter list in
 * the longer list, until the result is known. Returns 0, or -E2BIG: the steps are spent. */
static int compare(struct neighbours *n, const struct label_set_ref *other) {
    struct str value;
    bool all = true;
    if (!steps_take(&n->steps, n->policy_steps))
        return -E2BIG;
    if (!selector_matches(&n->policy->objects, label_set_lookup, other))
        return 0;
    if (other->set->count < n->group->count)
        return compare_shorter(n, other);
    for (uint32_t i = 0; i < n->group->count && (all || str_empty(n->shared.key)); i++) {
        const struct label *label = &n->group->items[i];
        if (!take_label(n))
            return -E2BIG;
        if (label_set_lookup(other, label->key, &value) && str_eq(value, label->value))
            note_shared(n, label);
        else
            all = false;
    }
    n->several = all;
    return 0;
}

/* Compares the pods of the namespace. 0, or -E2BIG: they are too many to compare. */
static int look_around(const struct judged *j, struct neighbours *n) {
    struct cache *cache = pod_options(j->q)->cache;
    struct cache_view view;
    struct label_set_ref labels;
    uint64_t pause = PIECE_STEPS;
    uint32_t at = 0;
    int r = 1;
    cache_view_open(cache, &view);
    while (r > 0 && !n->several) {
        if (n->steps.used > pause) {
            cache_view_close(&view);
            cache_view_open(cache, &view);
            pause = n->steps.used + PIECE_STEPS;
        }
        view.nodes.steps = &n->steps;
        r = cache_labels_next(&view, j->q->pod.meta.namespace, &at, &labels);
        if (r > 0 && compare(n, &labels) != 0)
            r = -E2BIG;
    }
    cache_view_close(&view);
    return r < 0 ? r : 0;
}

/* Did a controller create the pod? The creator's name must confirm the owner reference, which
 * anybody may write. */
static bool is_controlled(const struct judged *j) {
    const struct owner_ref ref = controller_ref(j);
    return !str_empty(ref.kind) &&
           (j->creator == CREATOR_UNKNOWN || j->creator == CREATOR_CONTROLLER ||
            (j->creator == CREATOR_ACCOUNT && owner_is_custom(&ref)));
}

/* Pods without a controller choose their group by their labels. A pod with a unique label evades
 * only if it shares another label with pods of the policy. */
static int judge_company(struct judged *j) {
    struct cache *cache = pod_options(j->q)->cache;
    struct neighbours around = {.policy = j->q->policy,
                                .group = &j->group.selector.match_labels,
                                .policy_steps = selector_cost(&j->q->policy->objects).steps,
                                .steps = {.max = LIMIT_COMPANY_STEPS},
                                .arena = j->q->head.arena};
    if (j->group.source != GROUP_LABELS || is_controlled(j) || !cache_ready(cache) ||
        cache_age_ms(cache) > LIMIT_KUBE_STALE_MS)
        return 0;
    if (look_around(j, &around) != 0) /* too many pods, or too many labels of its own? */
        return around.group->count > MANY_LABELS ? -E2BIG : 0;
    if (around.several || str_empty(around.shared.key))
        return 0;
    return FIND(j, EVASION_GROUP_OF_ONE,
                "no controller created it, and its labels make it a group by itself, beside pods "
                "with the label '%.*s=%.*s'; have a controller create it, or name the labels of a "
                "group in the policy's spec.pods.groupBy.labels",
                STR_ARG(around.shared.key), STR_ARG(around.shared.value));
}

/* Anybody may create a StatefulSet or a Job with such labels, or name an owner that does not exist.
 * Is the owner, or an owner of it, an object of this API group? Owners that cannot be read do not
 * count. */
static enum owner_unit find_behind(const struct judged *j, struct str behind) {
    const struct pod_options *options = pod_options(j->q);
    const struct owner_ref ref = controller_ref(j);
    struct str group;
    if (options->owners == NULL)
        return OWNER_UNIT_UNREAD;
    enum owner_unit found = owners_unit(options->owners, &ref, j->q->head.arena, &group);
    if (found == OWNER_UNIT_UNKNOWN && options->owner_wanted != NULL)
        *options->owner_wanted = (struct owner_wanted){ref, .unit = true};
    return found == OWNER_UNIT_MADE && !str_eq(group, behind) ? OWNER_UNIT_NONE : found;
}

/* For a custom kind not known to make units: does the owner exist, and does it have a scale
 * subresource with a selector? */
static enum owner_unit find_scale(const struct judged *j) {
    const struct pod_options *options = pod_options(j->q);
    const struct owner_ref ref = controller_ref(j);
    struct str selector;
    if (options->owners == NULL)
        return OWNER_UNIT_UNREAD;
    switch (owners_selector(options->owners, &ref, j->q->head.arena, &selector)) {
    case OWNER_SELECTS:
        return OWNER_UNIT_MADE;
    case OWNER_SELECTS_NOTHING:
        return OWNER_UNIT_UNREAD;
    case OWNER_UNKNOWN:
        break;
    }
    if (options->owner_wanted != NULL)
        *options->owner_wanted = (struct owner_wanted){ref, .unit = false};
    return OWNER_UNIT_UNKNOWN;
}

/* Could the pod belong to the unit that it claims, judged by its creator and its owner? Anybody may
 * write labels and annotations, also into templates. So known units need their own controller, and
 * other units an owner of a custom kind; both owners must exist. A policy's own unit is believed by
 * its label alone. */
static enum owner_unit find_maker(const struct judged *j) {
    const struct object_meta *meta = &j->q->pod.meta;
    const struct str group = api_group(meta->controller_api);
    const struct pod_unit_maker *maker = pod_unit_maker(&j->group.unit);
    const struct owner_ref ref = controller_ref(j);
    bool custom = owner_is_custom(&ref);
    if (j->creator == CREATOR_UNKNOWN)
        return OWNER_UNIT_MADE;
    if (j->creator != CREATOR_CONTROLLER && j->creator != CREATOR_ASKED &&
        !(j->creator == CREATOR_ACCOUNT && custom))
        return OWNER_UNIT_NONE;
    if (maker != NULL && (!str_eq(group, maker->group) ||
                          (!str_empty(maker->kind) && !str_eq(meta->controller_kind, maker->kind))))
        return OWNER_UNIT_NONE;
    if (maker != NULL && !str_empty(maker->behind))
        return find_behind(j, maker->behind);
    if (custom)
        return owner_chain_ends(&ref) ? find_behind(j, group) : find_scale(j);
    return maker != NULL || (j->group.source != GROUP_GANG &&
                             !str_eq(meta->controller_kind, STR(REPLICA_SET_KIND)))
               ? OWNER_UNIT_MADE
               : OWNER_UNIT_NONE;
}

/* Is the pod's claim about its unit true? */
static int judge_unit(struct judged *j, bool is_member) {
    const struct str mark = pod_unit_mark(&j->group.unit);
    const char *which = is_member ? "not the first pod of its unit" : "the first pod of a unit";
    enum owner_unit found = find_maker(j);
    if (found == OWNER_UNIT_MADE)
        return 0;
    if (found == OWNER_UNIT_NONE)
        return FIND(j, EVASION_UNIT,
                    "its '%.*s' says that it is %s, and no controller of such units created it",
                    STR_ARG(mark), which);
    return FIND(j, EVASION_UNIT,
                "its '%.*s' says that it is %s, and the owner of its %.*s '%.*s' could not be "
                "read: see webhook.fluid.readFor, and which kinds may be read; with groupBy.unit "
                "Pod its unit does not count",
                STR_ARG(mark), which, STR_ARG(j->q->pod.meta.controller_kind),
                STR_ARG(j->q->pod.meta.controller_name));
}

static int judge_group(struct judged *j, bool *ret_done) {
    *ret_done = false;
    int r = pod_group_find(j->q, &j->group);
    if (r != 0)
        return r;
    if (j->group.source == GROUP_NONE)
        return FIND(j, EVASION_NO_GROUP, "it lacks the labels that make a group to be spread");
    bool is_member = !pod_group_is_found(&j->group);
    *ret_done = is_member;
    r = is_member || j->group.unit.place == UNIT_FIRST ? judge_unit(j, is_member) : 0;
    if (r != 0 || is_member || j->evasion != EVASION_NONE || j->creator == CREATOR_ASKED)
        return r; /* an existing pod would find itself among the other pods */
    return judge_company(j);
}

/* ---- its own terms ---- */

/* Returns the number of values of the key that the term allows; UINT64_MAX: any number. */
static uint64_t values_of(const struct node_selector_term *term, struct str key) {
    uint64_t values = UINT64_MAX;
    for (uint32_t i = 0; i < term->expression_count; i++) {
        const struct requirement *q = &term->expressions[i];
        uint64_t left = q->op == SELECTOR_IN               ? q->value_count
                        : q->op == SELECTOR_DOES_NOT_EXIST ? 0
                                                           : UINT64_MAX;
        if (str_eq(q->key, key) && left < values)
            values = left;
    }
    return values;
}

/* Returns the most domains of the key that the pod's own terms can name, in any cluster. */
static uint64_t domains_named(const struct node_affinity *affinity, struct str key) {
    uint64_t sum = 0;
    struct str value;
    if (labels_lookup(&affinity->node_selector, key, &value))
        return 1;
    for (uint32_t i = 0; i < affinity->term_count; i++) {
        uint64_t values = values_of(&affinity->terms[i], key);
        if (values == UINT64_MAX)
            return UINT64_MAX;
        sum += values;
    }
    return affinity->required && affinity->term_count > 0 ? sum : UINT64_MAX;
}

static uint64_t count_expressions(const struct node_affinity *affinity) {
    uint64_t count = 1 + affinity->node_selector.count;
    for (uint32_t i = 0; i < affinity->term_count; i++)
        count += 1 + affinity->terms[i].expression_count;
    return count;
}

static int judge_terms(struct judged *j) {
    const struct policy *policy = j->q->policy;
    const struct node_affinity *affinity = &j->q->pod.affinity;
    if (!steps_take(&j->q->head.arena->steps, count_expressions(affinity) * policy->spread_count))
        return -E2BIG;
    for (uint32_t i = 0; i < policy->spread_count; i++) {
        const struct policy_spread *s = &policy->spread[i];
        uint64_t wanted = s->min_domains > 1 ? (uint64_t)s->min_domains : 1;
        uint64_t named = s->hard ? domains_named(affinity, s->topology_key) : UINT64_MAX;
        if (named < wanted)
            return FIND(j, EVASION_NODE_TERMS,
                        "its nodeSelector or required node affinity names %llu domains of '%.*s', "
                        "and the policy wants %llu",
                        (unsigned long long)named, STR_ARG(s->topology_key),
                        (unsigned long long)wanted);
    }
    return 0;
}

/* ---- its constraints ---- */

static bool is_strong(const struct spread_constraint *c, const struct policy_spread *s) {
    if (!s->hard)
        return c->hard || c->max_skew <= s->max_skew;
    return c->hard && c->max_skew <= s->max_skew && c->min_domains >= s->min_domains;
}

/* Is this a label of the group, or of a revision of it? */
static bool is_of_group(const struct judged *j, struct str key) {
    return label_selector_has_key(&j->group.selector, key) ||
           is_revision_key(&j->q->pod.meta.labels, key);
}

/* Does the constraint count the pod itself, and select by no label outside its group? A group
 * learned from siblings may differ for the next pod, so no pod is blamed by it. */
static int judge_selector(const struct judged *j, const struct spread_constraint *c,
                          bool *ret_good) {
    const struct labels *labels = &j->q->pod.meta.labels;
    const struct label_selector *s = &c->selector;
    struct arena *arena = j->q->head.arena;
    struct selector selector;
    uint64_t keys = 1 + j->group.selector.match_labels.count + j->group.selector.expression_count;
    uint64_t own = s->match_labels.count + s->expression_count + c->match_label_key_count;
    *ret_good = false;
    if (!steps_take(&arena->steps, own * keys + label_selector_steps(s)))
        return -E2BIG;
    int r = selector_compile(s, (struct labels){0}, arena, &selector, NULL);
    if (r != 0 || selector.nothing || !selector_matches(&selector, labels_lookup, labels))
        return r == -ENOMEM ? r : 0;
    bool sure = j->group.source == GROUP_POLICY || j->group.source == GROUP_SELECTOR;
    bool good = true;
    for (uint32_t i = 0; sure && good && i < s->match_labels.count; i++)
        good = is_of_group(j, s->match_labels.items[i].key);
    for (uint32_t i = 0; sure && good && i < s->expression_count; i++)
        good = is_of_group(j, s->expressions[i].key);
    for (uint32_t i = 0; sure && good && i < c->match_label_key_count; i++)
        good = is_of_group(j, c->match_label_keys[i]);
    *ret_good = good;
    return 0;
}

/* Plans the policy's constraints for the pod without its own constraints on their keys. */
static int plan_bare(struct judged *j) {
    struct arena *arena = j->q->head.arena;
    const struct policy *policy = j->q->policy;
    const struct pod *pod = &j->q->pod;
    struct pod_question bare = *j->q;
    enum spread_fate *fates;
    uint32_t count = 0;
    struct spread_constraint *kept = arena_array(arena, pod->constraint_count, sizeof *kept);
    if (j->bare != NULL)
        return 0;
    if (kept == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < pod->constraint_count; i++) {
        bool wanted = false;
        for (uint32_t k = 0; k < policy->spread_count; k++)
            wanted =
                wanted || str_eq(policy->spread[k].topology_key, pod->constraints[i].topology_key);
        if (!wanted)
            kept[count++] = pod->constraints[i];
    }
    bare.pod.constraints = kept;
    bare.pod.constraint_count = count;
    int r = spread_plan(&bare, &fates, NULL);
    j->bare = r == 0 ? fates : NULL;
    return r;
}

static int read_written(struct judged *j) {
    return j->written.arena != NULL
               ? 0
               : spread_written_read(j->q->head.review->object, j->q->head.arena, &j->written);
}

/* The best of the pod's constraints on the policy's key. */
struct standing {
    bool present, strong, good; /* good: one constraint is both strong and counts the group */
    const struct spread_constraint *weak, *narrow; /* the last of each kind */
};

static int find_standing(const struct judged *j, const struct policy_spread *s,
                         struct standing *ret) {
    const struct pod *pod = &j->q->pod;
    *ret = (struct standing){.present = false};
    for (uint32_t i = 0; i < pod->constraint_count && !ret->good; i++) {
        const struct spread_constraint *c = &pod->constraints[i];
        if (!str_eq(c->topology_key, s->topology_key))
            continue;
        ret->present = true;
        if (!is_strong(c, s)) {
            ret->weak = c;
            continue;
        }
        int r = judge_selector(j, c, &ret->good);
        if (r != 0)
            return r;
        ret->strong = true;
        ret->narrow = c;
    }
    return 0;
}

/* Blames the author's constraint if the policy's constraint would have been added unchanged. */
static int blame_author(struct judged *j, const struct policy_spread *s,
                        const struct standing *found) {
    if (found->strong)
        return FIND(j, EVASION_CONSTRAINT_NARROWER,
                    "its constraint on '%.*s' does not count the pods of its group",
                    STR_ARG(s->topology_key));
    const struct spread_constraint *c = found->weak;
    return FIND(j, EVASION_CONSTRAINT_WEAKER,
                "its constraint on '%.*s' has maxSkew %d, minDomains %d and %s, and the policy "
                "wants maxSkew %d, minDomains %d and %s",
                STR_ARG(s->topology_key), (int)c->max_skew, (int)c->min_domains,
                c->hard ? "DoNotSchedule" : "ScheduleAnyway", (int)s->max_skew,
                s->min_domains > 1 ? (int)s->min_domains : 1,
                s->hard ? "DoNotSchedule" : "ScheduleAnyway");
}

static int judge_constraint(struct judged *j, uint32_t i, bool *ret_missing) {
    const struct policy_spread *s = &j->q->policy->spread[i];
    struct standing found;
    int r = find_standing(j, s, &found);
    if (r != 0 || found.good)
        return r;
    r = plan_bare(j);
    if (r != 0)
        return r;
    const enum spread_form form = spread_form(j->bare[i]);
    if (j->bare[i] == SPREAD_OWN_AFFINITY)
        return FIND(j, EVASION_POD_AFFINITY,
                    "its required podAffinity keeps its group together where the policy spreads it "
                    "over '%.*s'",
                    STR_ARG(s->topology_key));
    if (!found.present) {
        *ret_missing = *ret_missing || form != SPREAD_NOT;
        return 0;
    }
    r = read_written(j);
    if (r != 0 || form != SPREAD_WHOLE || !spread_written_has(&j->written, s->topology_key))
        return r; /* the constraint would be softened, or is not the author's */
    return blame_author(j, s, &found);
}

/* Judges a pod without the constraint: repeats the mutating review, which may have given up. */
static int judge_missing(struct judged *j) {
    const struct pod_question *q = j->q;
    struct pod_options options = *pod_options(q);
    struct review_answer answer;
    struct patch patch;
    options.spread = options.audited = NULL;
    options.evasion = NULL;
    options.missing = NULL;
    options.owner_wanted = NULL;
    options.head.plugins = NULL;
    (void)admit_object(&admitted_pods, &options.head, q->head.review, q->head.arena, &patch,
                       &answer);
    if (answer.gave_up) /* never true for a pod that exists */
        return FIND(j, EVASION_TOO_MANY_STEPS,
                    "its review takes more than %u steps; it needs fewer labels, terms, values, "
                    "preferences, constraints or mounts",
                    LIMIT_REVIEW_STEPS);
    return FIND(
        j, EVASION_NOT_INJECTED,
        "a constraint of the policy is missing from the pod; the pod is admitted without it");
}

static int judge_constraints(struct judged *j) {
    const struct policy *policy = j->q->policy;
    bool missing = false;
    int r = 0;
    if (!steps_take(&j->q->head.arena->steps,
                    2 * (uint64_t)policy->spread_count * (1 + j->q->pod.constraint_count)))
        return -E2BIG;
    for (uint32_t i = 0; r == 0 && i < policy->spread_count && j->evasion == EVASION_NONE; i++)
        r = judge_constraint(j, i, &missing);
    return r == 0 && missing && j->evasion == EVASION_NONE ? judge_missing(j) : r;
}

/* ---- the plugin ---- */

static int judge(struct judged *j) {
    bool done;
    int r = judge_fixed(j, &done);
    if (r == 0 && !done && j->evasion == EVASION_NONE)
        r = judge_scheduler(j);
    if (r == 0 && !done && j->evasion == EVASION_NONE)
        r = judge_group(j, &done);
    if (r == 0 && !done && j->evasion == EVASION_NONE)
        r = judge_terms(j);
    if (r == 0 && !done && j->evasion == EVASION_NONE)
        r = judge_constraints(j);
    return r;
}

static int answer(const struct judged *j, struct admission_outcome *ret, struct err *err) {
    struct arena *arena = j->q->head.arena;
    const struct policy *policy = j->q->policy;
    struct pod_evasion *found = pod_options(j->q)->evasion;
    if (found != NULL)
        *found = (struct pod_evasion){policy->name, policy->mode, j->evasion};
    if (j->evasion == EVASION_NONE)
        return 0;
    struct str text =
        arena_printf(arena, "policy '%.*s', mode Require: %.*s (%s)", STR_ARG(policy->name),
                     (int)j->why.n, j->why.p, evasion_reason(j->evasion));
    if (policy->mode != POLICY_REQUIRE) {
        ret->note = str_of(evasion_reason(j->evasion));
    } else if (pod_evasions[j->evasion].denies) {
        ret->refused = DENIED;
        ret->cause = arena_printf(arena, "evenkeel: %.*s", (int)text.n, text.p);
    } else {
        struct str *warning = arena_alloc(arena, sizeof *warning);
        if (warning != NULL)
            *warning = text;
        ret->warnings = warning;
        ret->warning_count = warning != NULL;
    }
    return arena_failed(arena) ? err_set(err, -ENOMEM, "no memory to validate a pod") : 0;
}

/* Runs with a step budget of its own, so that its cost is not added to the review's. */
static int run(const struct admission_question *question, struct patch *patch,
               struct admission_outcome *ret, struct err *err) {
    const struct pod_question *q = pod_question(question);
    struct arena *arena = question->arena;
    (void)patch; /* nothing is changed */
    if (q->policy == NULL || q->policy->spread_count == 0)
        return 0;
    struct judged j = {.q = q, .creator = creator_of(q)};
    const struct steps own = arena->steps;
    arena->steps = (struct steps){.max = LIMIT_REVIEW_STEPS};
    int r = judge(&j);
    bool spent = r == -E2BIG || steps_spent(&arena->steps);
    arena->steps = own;
    if (r == -ENOMEM || arena_failed(arena))
        return err_set(err, -ENOMEM, "no memory to validate a pod");
    if (spent && j.evasion == EVASION_NONE)
        (void)FIND(&j, EVASION_TOO_MANY_STEPS,
                   "to validate it takes more than %u steps; it needs fewer labels, terms, values "
                   "or constraints",
                   LIMIT_REVIEW_STEPS);
    return answer(&j, ret, err);
}

const struct admission_plugin pod_plugin_require = {.name = "require", .run = run};
