#include "policy/match.h"

#include <errno.h>

#define NAME_LABEL STR("kubernetes.io/metadata.name")

/* Every namespace has its name as a label, files may leave it out. */
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

struct policy_pod policy_pod_of(const struct object_meta *pod) {
    struct policy_pod ret = {.labels = &pod->labels, .owner_count = 1};
    const struct policy_owner direct = {api_group(pod->controller_api), pod->controller_kind};
    struct str hash;
    ret.owners[0] = direct;
    if (str_empty(direct.kind)) {
        ret.owners[0] = (struct policy_owner){{0}, STR("Pod")};
    } else if (str_eq(direct.kind, STR("ReplicaSet")) && str_eq(direct.group, STR("apps"))) {
        if (labels_lookup(&pod->labels, STR("pod-template-hash"), &hash))
            ret.owners[ret.owner_count++] = (struct policy_owner){STR("apps"), STR("Deployment")};
        else if (labels_lookup(&pod->labels, STR("rollouts-pod-template-hash"), &hash))
            ret.owners[ret.owner_count++] =
                (struct policy_owner){STR("argoproj.io"), STR("Rollout")};
    }
    return ret;
}

bool policy_choose(const struct policy *policies, uint32_t count,
                   const struct policy_namespace *namespace, const struct policy_pod *pod,
                   struct policy_choice *ret) {
    struct policy_question question = {.namespace_lookup = namespace->known ? lookup : NULL,
                                       .namespace_labels = namespace,
                                       .namespace_bits =
                                           namespace->known ? namespace_bits(namespace) : 0,
                                       .object_labels = pod->labels,
                                       .owner_count = pod->owner_count,
                                       .scheduler = pod->scheduler,
                                       .opts_out = pod->opts_out,
                                       .any_scheduler = pod->any_scheduler};
    memcpy(question.owners, pod->owners, sizeof question.owners);
    return policy_match(policies, count, &question, ret);
}
