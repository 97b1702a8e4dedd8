/*
 * A unit is several pods that are one replica of something: a leader and its workers, the hosts of
 * a slice, the pods of a Job in a JobSet, a gang. They work together, so units are spread and not
 * their pods: the first pod of each has the constraints, and is counted. The others have none. A
 * unit whose pods are not numbered has no first pod, and nothing of it is spread.
 *
 * Units are recognized by labels that pods have at their creation, before any other webhook sees
 * them: LeaderWorkerSet's webhook, which numbers workers, may be called later than ours.
 */
#pragma once

#include "model/labels.h"
#include "model/policy.h"

enum unit_place {
    UNIT_NONE,   /* of no unit */
    UNIT_FIRST,  /* the first pod of one */
    UNIT_MEMBER, /* another pod of one */
    UNIT_GANG,   /* one of a unit without a first pod */
};

enum { UNIT_NUMBERS = 2 };

struct unit_membership {
    enum unit_place place;
    struct str name; /* the key that names the unit, or that says that there is one */
    /* The labels of first pods, sorted by key; only for UNIT_FIRST. */
    struct label first[UNIT_NUMBERS];
    uint32_t first_count;
};

/* Returns the pod's unit; UNIT_NONE, too, if the policy counts each pod for itself or groups by a
 * key of the unit. `annotations` may be NULL: not known. O(known units) look-ups. */
struct unit_membership pod_unit_of(const struct labels *pod, const struct labels *annotations,
                                   const struct policy_group_by *by);

/* Do the annotations show that the controller keeps the unit in one domain of some key? The
 * controller's webhook writes the podAffinity, perhaps after ours. */
bool pod_unit_is_together(const struct labels *annotations);

/* Returns the key that marks the pods of the unit. */
struct str pod_unit_mark(const struct unit_membership *unit);

/* A controller that makes units, known by the prefix of the key that marks their pods. */
struct pod_unit_maker {
    struct str prefix, group, kind; /* of the pod's owner; kind empty: any */
    struct str behind;              /* the API group of the object that makes the unit; "": none */
};
/* Returns NULL if the unit's maker is not known. Static. */
const struct pod_unit_maker *pod_unit_maker(const struct unit_membership *unit);
