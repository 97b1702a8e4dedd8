#include "admit/policy_choice.h"

#include <errno.h>

/* Every namespace has its name as a label, files may leave it out. */
static bool lookup(const void *ctx, struct str key, struct str *ret_value) {
    const struct policy_namespace *namespace = ctx;
    if (labels_lookup(&namespace->labels, key, ret_value))
        return true;
    *ret_value = namespace->name;
    return str_eq(key, STR("kubernetes.io/metadata.name"));
}

int policy_namespace_find(struct cache *cache, struct str name, struct arena *arena,
                          struct policy_namespace *ret) {
    struct cache_view view;
    *ret = (struct policy_namespace){.name = name};
    cache_view_open(cache, false, &view);
    int r = cache_namespace_labels(&view, name, arena, &ret->labels);
    cache_view_close(&view);
    ret->known = r == 0;
    return r == -ENOMEM ? r : 0;
}

const struct policy *policy_choose(const struct policy *policies, uint32_t count,
                                   const struct policy_namespace *namespace,
                                   const struct labels *pod, bool *ret_unknown) {
    const struct policy_question question = {.target = POLICY_POD,
                                             .namespace_lookup = namespace->known ? lookup : NULL,
                                             .namespace_labels = namespace,
                                             .object_labels = pod};
    return policy_match(policies, count, &question, ret_unknown);
}
