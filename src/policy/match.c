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

const struct policy *policy_choose(const struct policy *policies, uint32_t count,
                                   const struct policy_namespace *namespace,
                                   const struct labels *pod, bool *ret_unknown) {
    const struct policy_question question = {.target = POLICY_POD,
                                             .namespace_lookup = namespace->known ? lookup : NULL,
                                             .namespace_labels = namespace,
                                             .namespace_bits =
                                                 namespace->known ? namespace_bits(namespace) : 0,
                                             .object_labels = pod};
    return policy_match(policies, count, &question, ret_unknown);
}
