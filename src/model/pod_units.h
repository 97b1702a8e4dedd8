/*
 * A unit is several pods that are one replica of something: a leader and its workers, the hosts of
 * a slice, the pods of a Job in a JobSet, a gang. They work together, so units are spread and not
 * their pods: the first pod of each has the constraints, and is counted. The others have none. A
 * unit whose pods are not numbered has no first pod, and nothing of it is spread.
 *
 * Which pods are of a unit is known by labels that they have when they are created, before any
 * other webhook has seen them: that of LeaderWorkerSet numbers its workers, and may be asked later
 * than this one.
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

/* The unit that a pod is of, as far as the policy does not take each pod for itself, and does not
 * group by a key of the unit. `annotations` may be NULL: not known. O(known units) look-ups. */
struct unit_membership pod_unit_of(const struct labels *pod, const struct labels *annotations,
                                   const struct policy_group_by *by);

/* Do the pod's annotations say that its controller keeps the unit in one domain of some key? Its
 * webhook writes the podAffinity for it, perhaps later. */
bool pod_unit_is_together(const struct labels *annotations);

/* The key that says that the pod is of a unit. */
struct str pod_unit_mark(const struct unit_membership *unit);

/* Who makes pods of known units, by the beginning of the keys that mark these. */
struct pod_unit_maker {
    struct str prefix, group, kind; /* of the pod's owner; kind empty: any */
    struct str behind;              /* the API group of the object that makes the unit; "": none */
};
/* NULL: the unit is of nobody who is known. Static. */
const struct pod_unit_maker *pod_unit_maker(const struct unit_membership *unit);
