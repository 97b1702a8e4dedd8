/*
 * The group of a pod: the pods that an injected constraint counts. It is found by, in this order,
 *   - the labels that the policy groups by;
 *   - the selector of the pod's controller, if the cache keeps it, or it has been read from the
 *     controller's scale subresource;
 *   - the labels that the pod has in common with living pods of the same controller: labels that
 *     tell siblings apart are so learned and need not be known;
 *   - the pod's labels but those that are known to tell pods apart.
 * Labels of revisions are no part of it; matchLabelKeys names them, so that every rollout is spread
 * by itself (upstream: KEP-3243). Servers before 1.27 drop that field and count all revisions.
 *
 * Of a unit of several pods (units.h) the first one has a group, which is the first pods of all
 * units. The others are left alone: what keeps them near their first is not for a policy that
 * spreads to undo.
 */
#pragma once

#include "admission/pods/pods.h"
#include "model/pod_units.h"

enum group_source {
    GROUP_NONE,     /* no label makes a group */
    GROUP_MEMBER,   /* the pod is not the first one of its unit */
    GROUP_GANG,     /* its unit has no first pod */
    GROUP_POLICY,   /* says by which labels */
    GROUP_SELECTOR, /* of the controller */
    GROUP_SIBLINGS,
    GROUP_LABELS,
};

struct pod_group {
    enum group_source source; /* nothing else but `unit` says anything with the first three */
    struct label_selector selector;
    const struct str *revision_keys;
    uint32_t revision_key_count;
    struct unit_membership unit;
};

/* Are there pods to be counted? */
static inline bool pod_group_is_found(const struct pod_group *group) {
    return group->source >= GROUP_POLICY;
}

/* The pod has a policy. Strings are the pod's, or in the question's arena. 0, -E2BIG (no steps
 * left) or -ENOMEM. */
int pod_group_find(const struct pod_question *q, struct pod_group *ret) MUST_CHECK;
/* The first and the last of these ways alone, for who has only the labels; see
 * pod_group_is_found(). 0, -E2BIG or -ENOMEM. */
int pod_group_of_labels(const struct labels *pod, const struct policy_group_by *by,
                        struct arena *arena, struct pod_group *ret) MUST_CHECK;

/* Appends labelSelector and matchLabelKeys to an object that is being written. */
void pod_group_write(const struct pod_group *group, struct json_writer *w);
/* What it takes to write it, about, and the number of its parts. */
struct cost pod_group_cost(const struct pod_group *group);
