/*
 * A unit is several pods that are one replica of something: a leader and its workers, the hosts of
 * a slice, the pods of a Job in a JobSet, a gang. Its pods work together, so we spread units and
 * not pods: only the first pod of a unit gets constraints and is counted. A unit whose pods are not
 * numbered has no first pod, and is not spread.
 *
 * Units are recognized by labels that pods have at their creation, before any other webhook sees
 * them: LeaderWorkerSet's webhook, which numbers workers, may be called later than ours.
 */
#pragma once

#include "model/labels.h"
#include "model/policy.h"

enum unit_place {
    UNIT_NONE,   /* in no unit */
    UNIT_FIRST,  /* the first pod of a unit */
    UNIT_MEMBER, /* another pod of a unit */
    UNIT_GANG,   /* a pod of a unit without a first pod */
};

enum { UNIT_NUMBERS = 2 };

struct unit_membership {
    enum unit_place place;
    struct str name; /* the label key whose value names the unit, or only marks its pods */
    /* The labels of first pods, sorted by key; only for UNIT_FIRST. */
    struct label first[UNIT_NUMBERS];
    uint32_t first_count;
};

/* Returns the pod's unit. The result is UNIT_NONE also if the policy counts each pod by itself, or
 * groups by a key of the unit. `annotations` may be NULL: not known. O(known units) look-ups. */
struct unit_membership pod_unit_of(const struct labels *pod, const struct labels *annotations,
                                   const struct policy_group_by *by);

/* Do the annotations show that the controller keeps the unit in one domain of a topology key? (The
 * controller's webhook writes the podAffinity, perhaps later than our webhook runs.) */
bool pod_unit_is_together(const struct labels *annotations);

/* Returns the key that marks the pods of the unit. */
struct str pod_unit_mark(const struct unit_membership *unit);

/* A controller that makes units, known by the prefix of the key that marks their pods. */
struct pod_unit_maker {
    struct str prefix, group, kind; /* `group` and `kind` of the pod's owner; empty kind: any kind
                                     */
    struct str behind;              /* the API group of the object that makes the unit; "": none */
};
/* Returns the maker of the unit; NULL if the maker is not known. Static. */
const struct pod_unit_maker *pod_unit_maker(const struct unit_membership *unit);
