#include "policy/match.h"

#include "model/fixed_pod.h"
#include "model/names.h"
#include "model/workload.h"

#include <errno.h>

#define NAME_LABEL STR(NAMESPACE_NAME_LABEL)

/* Finds a label of a namespace. Every namespace has its name as a label, though files may leave it
 * out. */
static bool lookup(const void *ctx, struct str key, struct str *ret_value) {
    const struct policy_namespace *namespace = ctx;
    if (labels_lookup(&namespace->labels, key, ret_value))
        return true;
    *ret_value = namespace->name;
    return str_eq(key, NAME_LABEL);
}

static uint64_t namespace_bits(const struct policy_namespace *namespace) {
    const struct label name = {NAME_LABEL, namespace->name};
    return policy_label_bits(&namespace->labels) | policy_label_bits(&(struct labels){&name, 1});
}

int policy_namespace_find(struct cache *cache, struct str name, struct arena *arena,
                          struct policy_namespace *ret) {
    struct cache_view view;
    *ret = (struct policy_namespace){.name = name};
    cache_view_open(cache, &view);
    int r = cache_namespace_labels(&view, name, arena, &ret->labels);
    cache_view_close(&view);
    ret->known = r == 0;
    return r == -ENOMEM ? r : 0;
}

int policy_namespace_of_fleet(const struct fleet_view *view, struct str name, struct arena *arena,
                              struct policy_namespace *ret) {
    struct label_set_ref ref;
    *ret = (struct policy_namespace){.name = name};
    if (!fleet_namespace(view, name, &ref))
        return 0;
    struct label *labels = arena_array(arena, ref.set->count, sizeof *labels);
    if (labels == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < ref.set->count; i++)
        labels[i] = label_set_at(ref.strings, ref.set, i);
    ret->labels = (struct labels){labels, ref.set->count};
    ret->known = true;
    return 0;
}

static bool opts_out(const struct labels *labels) {
    struct str value;
    return labels_lookup(labels, STR(INJECT_LABEL), &value) && str_eq(value, STR("disabled"));
}

struct str policy_opt_out(const struct policy_namespace *namespace, const struct labels *pod) {
    if (opts_out(pod))
        return STR("a pod with the label " INJECT_LABEL ": disabled");
    if (namespace->known && opts_out(&namespace->labels))
        return STR("a pod of a namespace with the label " INJECT_LABEL ": disabled");
    return STR("");
}

/* The parts of a pod, or of several equal pods, that policies match. */
struct subject {
    const struct labels *labels;
    struct workload_name controller;
    struct str scheduler; /* schedulerName */
};

static struct policy_owner owner_of(const struct workload_name *workload) {
    return (struct policy_owner){workload->type.group, workload->type.kind};
}

static bool choose(struct policy_list policies, const struct policy_namespace *namespace,
                   const struct subject *pod, enum policy_purpose purpose,
                   struct policy_choice *ret) {
    const struct workload_name top = workload_of(pod->controller, labels_lookup, pod->labels);
    const struct policy_question question = {
        .namespace_lookup = namespace->known ? lookup : NULL,
        .namespace_labels = namespace,
        .namespace_bits = namespace->known ? namespace_bits(namespace) : 0,
        .object_labels = pod->labels,
        .owners = {owner_of(&pod->controller), owner_of(&top)},
        .owner_count = 2, /* both may be the same */
        .scheduler = purpose == POLICY_TO_SCORE ? STR("") : scheduler_of(pod->scheduler),
        .opts_out = !str_empty(policy_opt_out(namespace, pod->labels)),
        .any_scheduler = purpose == POLICY_TO_VALIDATE || purpose == POLICY_TO_FORESEE};
    *ret = (struct policy_choice){.enforced = {NULL}};
    if (purpose != POLICY_TO_VALIDATE && controller_chooses_node(pod->controller.type))
        return true;
    return policy_match(policies.items, policies.count, &question, ret);
}

bool policy_of_pod(struct policy_list policies, const struct policy_namespace *namespace,
                   const struct pod *pod, enum policy_purpose purpose, struct policy_choice *ret) {
    const struct subject subject = {&pod->meta.labels, controller_of(&pod->meta), pod->scheduler};
    return choose(policies, namespace, &subject, purpose, ret);
}

bool policy_of_group(struct policy_list policies, const struct cache_group *group,
                     struct policy_choice *ret) {
    const struct policy_namespace namespace = {.name = group->namespace,
                                               .labels = group->namespace_labels,
                                               .known = group->namespace_known};
    const struct subject subject = {&group->labels, group->controller, group->scheduler};
    *ret = (struct policy_choice){.enforced = {NULL}};
    return group->controller_known && group->labels_known &&
           choose(policies, &namespace, &subject, POLICY_TO_CHANGE, ret);
}

/* ---- Placements ---- */

/* The labels of a namespace; perhaps only its name is known. */
struct placement_namespace {
    const struct policy_namespace *namespace;
    bool *missing; /* set when a match needs a label that is not known */
};

static bool placement_lookup(const void *ctx, struct str key, struct str *ret_value) {
    const struct placement_namespace *of = ctx;
    if (!of->namespace->known && !str_eq(key, NAME_LABEL))
        *of->missing = true;
    return lookup(of->namespace, key, ret_value);
}

bool policy_of_placement(struct policy_list policies, const struct policy_namespace *namespace,
                         const struct object_meta *placement, struct policy_choice *ret) {
    const struct workload_name controller = placement_controller_of(placement);
    bool missing = false;
    const struct placement_namespace labels = {namespace, &missing};
    const struct policy_question question = {.target = POLICY_FOR_PLACEMENTS,
                                             .namespace_lookup = placement_lookup,
                                             .namespace_labels = &labels,
                                             .namespace_bits =
                                                 namespace->known ? namespace_bits(namespace) : 0,
                                             .object_labels = &placement->labels,
                                             .owners = {owner_of(&controller)},
                                             .owner_count = 1};
    bool known = policy_match(policies.items, policies.count, &question, ret) && !missing;
    if (!known)
        *ret = (struct policy_choice){.enforced = {NULL}};
    return known;
}

struct str policy_placement_keys(const struct policy *policy, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf keys = {0};
    for (uint32_t i = 0; i < policy->placement_term_count; i++) {
        strbuf_append_str(&keys, i > 0 ? STR(", ") : STR(""));
        strbuf_append_str(&keys, policy->placement_terms[i].key);
    }
    return arena_str(arena, strbuf_str(&keys));
}

struct str policy_placement_audit(const struct policy *policy, struct arena *arena) {
    const struct str keys = policy_placement_keys(policy, arena);
    return arena_printf(arena, "policy '%.*s' (Audit) would spread by %.*s", STR_ARG(policy->name),
                        STR_ARG(keys));
}

int policy_terms_of_placement(struct policy_list policies, const struct policy_namespace *namespace,
                              const struct object_meta *placement, struct arena *arena,
                              struct ocm_policy_terms *ret) {
    struct policy_choice choice;
    *ret = (struct ocm_policy_terms){.items = NULL};
    const bool is_known = policy_of_placement(policies, namespace, placement, &choice);
    const struct policy *audited = choice.audited[POLICY_PLACEMENTS];
    const struct policy *enforced = choice.enforced[POLICY_PLACEMENTS];
    if (!is_known)
        ret->warning = arena_printf(
            arena,
            "namespace '%.*s' is not known: its labels decide which policy spreads its Placements",
            STR_ARG(placement->namespace));
    else if (audited != NULL) /* this policy comes before the enforced one */
        ret->warning = policy_placement_audit(audited, arena);
    else if (enforced != NULL)
        *ret = (struct ocm_policy_terms){enforced->placement_terms, enforced->placement_term_count,
                                         enforced->name, STR("")};
    return arena_failed(arena) ? -ENOMEM : 0;
}

int policy_terms_in_fleet(const struct fleet_view *view, struct policy_list policies,
                          const struct object_meta *placement, struct arena *arena,
                          struct ocm_policy_terms *ret) {
    struct policy_namespace namespace;
    *ret = (struct ocm_policy_terms){0};
    if (policies.count == 0)
        return 0;
    int r = policy_namespace_of_fleet(view, placement->namespace, arena, &namespace);
    if (r != 0)
        return r;
    return policy_terms_of_placement(policies, &namespace, placement, arena, ret);
}
