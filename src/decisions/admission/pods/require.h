/*
 * The plugin "require": does the pod, as it will be stored, make its policy's spread impossible?
 * Mode Require denies such a pod, with the reason; mode Enforce only counts it. Each reason is
 * caused by the pod, and is found in the pod, in its creator's name, and in one case (GroupOfOne)
 * in the pods beside it. Nodes that a cluster lacks, or faults and gaps of Evenkeel, are never a
 * reason: such a pod is admitted with a warning.
 *
 * All pods that a kubelet creates are admitted: a mirror pod runs already. For other pods the
 * creator's name from the API server decides which parts of the pod are believed. The controllers
 * of kube-controller-manager name the pod's true owner. Only the DaemonSet controller chooses
 * nodes; other controllers copy a template, which anybody may have written. Any other service
 * account may be anybody's. Without a creator's name the pod is not blamed.
 *
 * When the last scheduling gate of a pod is removed, the changed pod is judged again, except for
 * its creator and the pods beside it: both were checked at its creation. A denial keeps the gate on
 * the pod.
 */
#pragma once

#include "admission/pods/pods.h"
#include "policy/tallies.h"

enum evasion {
    EVASION_NONE,
    EVASION_TOO_MANY_STEPS,    /* its review is given up, so no constraint is injected */
    EVASION_CONSTRAINT_WEAKER, /* its author's constraint on the key is weaker than the policy's */
    EVASION_CONSTRAINT_NARROWER, /* its author's constraint on the key does not count the pod's
                                    group */
    EVASION_MIRROR,              /* a mirror pod that no kubelet created */
    EVASION_DAEMON_SET,          /* a pod of a DaemonSet that its controller did not create */
    EVASION_NODE_CHOSEN, /* it names its node, and the DaemonSet controller did not create it */
    EVASION_SCHEDULER,   /* the policy does not list the pod's scheduler */
    EVASION_UNIT, /* it claims to belong to a unit, but its creator or owner does not confirm this
                   */
    EVASION_NO_GROUP,     /* it lacks the labels that make a group */
    EVASION_GROUP_OF_ONE, /* a label that no other pod has makes it a group by itself */
    EVASION_POD_AFFINITY, /* its podAffinity keeps its group together */
    EVASION_NODE_TERMS,   /* its terms name too few domains of the key */
    /* not an evasion: a warning */
    EVASION_NOT_INJECTED, /* the constraint is missing, and not because of the pod */
    EVASIONS
};

extern const struct policy_evasion_row pod_evasions[POLICY_EVASIONS];
/* Returns the word for metrics and status: "GroupOfOne"; "" for EVASION_NONE. */
const char *evasion_reason(enum evasion evasion);

/* The result for a pod; the caller owns it. */
struct pod_evasion {
    struct str policy; /* borrowed from the set of policies */
    enum policy_mode mode;
    enum evasion evasion;
};
