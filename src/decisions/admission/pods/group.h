/*
 * The group of a pod: the pods that an injected constraint counts. It is found by, in this order,
 *   - the labels that the policy groups by;
 *   - the selector of the pod's controller, if the cache keeps it, or if it has been read from the
 * controller's scale subresource;
 *   - the labels that the pod shares with living pods of the same controller: this excludes labels
 *     of single pods without knowing their keys;
 *   - the pod's labels except the known labels of single pods. The selector has no labels of
 * revisions; matchLabelKeys names them, so that every rollout is spread by itself (upstream:
 * KEP-3243). Servers before 1.27 drop that field and count all revisions.
 *
 * In units of several pods (model/pod_units.h) only the first pod of a unit has a group. This group
 * consists of the first pods of all units. The other pods get no constraint: a spread policy must
 * not pull them away from their first pod.
 */
#pragma once

#include "admission/pods/pods.h"
#include "model/pod_units.h"

enum group_source {
    GROUP_NONE,     /* no label makes a group */
    GROUP_MEMBER,   /* the pod is not the first one of its unit */
    GROUP_GANG,     /* its unit has no first pod */
    GROUP_POLICY,   /* by the labels that the policy names */
    GROUP_SELECTOR, /* by the controller's selector */
    GROUP_SIBLINGS,
    GROUP_LABELS,
};

struct pod_group {
    enum group_source source; /* up to GROUP_GANG, `unit` is the only other valid member */
    struct label_selector selector;
    const struct str *revision_keys;
    uint32_t revision_key_count;
    struct unit_membership unit;
};

/* Does the group have pods to count? */
static inline bool pod_group_is_found(const struct pod_group *group) {
    return group->source >= GROUP_POLICY;
}

/* Finds the group; the pod has a policy. Strings are the pod's, or in the question's arena. Returns
 * 0, -E2BIG (no steps left) or -ENOMEM. */
int pod_group_find(const struct pod_question *q, struct pod_group *ret) MUST_CHECK;
/* Finds the group from the pod's labels alone, so only by GROUP_POLICY or GROUP_LABELS; see
 * pod_group_is_found(). Returns 0, -E2BIG or -ENOMEM. */
int pod_group_of_labels(const struct labels *pod, const struct policy_group_by *by,
                        struct arena *arena, struct pod_group *ret) MUST_CHECK;

/* Appends labelSelector and matchLabelKeys to an object that is being written. */
void pod_group_write(const struct pod_group *group, struct json_writer *w);
/* Returns the approximate cost of pod_group_write(), and the number of the group's parts. */
struct cost pod_group_cost(const struct pod_group *group);
