/*
 * The plugin "require": does the pod, as it will be stored, make what its policy's spread asks for
 * impossible? With mode Require it is denied then, with the reason; with mode Enforce that is only
 * counted. Each reason is the pod's own doing, told from the pod, from who creates it, and in one
 * case (GroupOfOne) from the pods that live beside it. What a cluster lacks or may get again, and
 * what Evenkeel has not done or does not know, is never a reason: such a pod is admitted with a
 * warning.
 *
 * Pods that a kubelet creates are admitted whatever they are: a mirror pod runs already. The API
 * server's word for its creator decides what is believed of any other pod: the controllers of
 * kube-controller-manager name the pod's true owner, and of them only that of DaemonSets chooses
 * nodes; the others copy a template, which anybody may have written. Every other service account is
 * somebody's. Without that word nothing is held against the pod.
 *
 * A pod whose last scheduling gate goes is judged again, as it is then, but for who created it and
 * for the company that it has: both was asked when it was created. Whoever takes the gate away is
 * denied that.
 */
#pragma once

#include "admission/pods/pods.h"
#include "policy/tallies.h"

enum evasion {
    EVASION_NONE,
    EVASION_TOO_MANY_STEPS,      /* its review is given up, so nothing is injected */
    EVASION_CONSTRAINT_WEAKER,   /* its author's constraint on the key asks for less */
    EVASION_CONSTRAINT_NARROWER, /* ... or counts others than its group */
    EVASION_MIRROR,              /* a mirror pod that no kubelet creates */
    EVASION_DAEMON_SET,          /* a pod of a DaemonSet that no controller creates */
    EVASION_NODE_CHOSEN,         /* it names its node, and no controller of DaemonSets made it */
    EVASION_SCHEDULER,           /* the policy does not look after that scheduler */
    EVASION_UNIT,                /* it says that it is of a unit */
    EVASION_NO_GROUP,            /* it lacks the labels that make a group */
    EVASION_GROUP_OF_ONE,        /* a label that nobody else has makes it a group by itself */
    EVASION_POD_AFFINITY,        /* its podAffinity keeps its group together */
    EVASION_NODE_TERMS,          /* its terms name too few domains of the key */
    /* no evasion: a warning */
    EVASION_NOT_INJECTED, /* the constraint is missing, and it is not the pod's doing */
    EVASIONS
};

extern const struct policy_evasion_row pod_evasions[POLICY_EVASIONS];
/* The word for metrics and status: "GroupOfOne"; "" for the first. */
const char *evasion_reason(enum evasion evasion);

/* What was found of a pod; the caller's. */
struct pod_evasion {
    struct str policy; /* borrowed from the set of policies */
    enum policy_mode mode;
    enum evasion evasion;
};
