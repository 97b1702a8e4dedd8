/*
 * Which PlacementDecisions should hold the clusters of a Placement, and which write comes next on
 * the way there. A cluster that is selected keeps its object while its decision group does,
 * whatever comes and goes around it: a cluster that is in no object for a moment loses its
 * workloads. (OCM itself sorts clusters by name and cuts them anew each time: issue ocm#1346.)
 *
 * Objects are called `<placement>-decision-<n>` and hold OCM_DECISION_CLUSTERS clusters at most; on
 * the way there up to LIMIT_DECISION_CLUSTERS, since what comes may be there before what goes.
 * Each is of one decision group. An object that exists stays with the group that most of its
 * clusters are in now; free places are taken by name, then objects of which no cluster is left are
 * used again, then new ones are made, with the smallest numbers that no object has. One that has
 * the name but not the label of the Placement is taken in. What is not needed any more is deleted.
 * A group without clusters (there is one where nothing is selected) has one empty object. Objects
 * of another controller are left as they are, with the label or without it.
 *
 * Writes come one at a time, and each is made from what there is then:
 *   - missing objects, empty, since an API server drops the status of what it creates;
 *   - labels and owner of objects where they are wrong;
 *   - clusters: an object gets what is to be in it, and gives away what is not, but for a cluster
 *     that is selected and not yet in the object where it is going to stay;
 *   - objects that are not wanted are deleted, once that is true of all their clusters.
 * Several objects cannot change at the same moment. With hard terms, writes after which these hold
 * come first, split into single clusters if need be.
 *
 * Pure: slots and names in, names out. Everything is in the arena or borrowed.
 */
#pragma once

#include "fleet/fleet.h"
#include "ocm/decide.h"

struct layout_object {
    const struct fleet_decision *existing; /* NULL: to be created */
    struct str name;
    uint32_t group;  /* number in the question's */
    uint32_t *slots; /* those that stay in their order, then new ones by name */
    uint32_t count;
};

struct layout {
    const struct layout_object *objects; /* by group, then in the order in which they are filled */
    uint32_t count;
    const struct fleet_decision *const *unwanted; /* existing ones, by name */
    uint32_t unwanted_count;
};

struct layout_question {
    struct str placement;           /* its name */
    const struct ocm_group *groups; /* at least one; every slot in one group, once */
    uint32_t group_count;
    const struct fleet_decision *existing; /* a list, by name; NULL: none */
    uint32_t slots;                        /* topology_slots() */
    struct str owner_uid;                  /* the Placement's */
    /* One by its name, whatever its labels are; NULL: there is none. NULL: there are no others. */
    const struct fleet_decision *(*find)(void *ctx, struct str name);
    void *ctx;
};

/* Has it another controller than the Placement with this uid? Then it is left alone. */
bool layout_is_foreign(const struct fleet_decision *d, struct str owner_uid);

/* 0 or -ENOMEM. O(clusters + objects x log(objects)). */
int layout_make(const struct layout_question *q, struct arena *arena,
                struct layout *ret) MUST_CHECK;

/* ---- the next write ---- */

/* An object of which a write may have taken place that the view does not show yet. */
struct layout_doubt {
    struct str name;       /* "": there is none */
    const uint32_t *slots; /* clusters that it holds in either case */
    uint32_t count;
};

enum layout_verb {
    LAYOUT_RIGHT, /* nothing is to be written */
    LAYOUT_CREATE,
    LAYOUT_META,     /* labels and owner */
    LAYOUT_CLUSTERS, /* status.decisions */
    LAYOUT_DELETE,
};

struct layout_write {
    enum layout_verb verb;
    const struct layout_object *object;    /* not with LAYOUT_DELETE */
    const struct fleet_decision *existing; /* not with LAYOUT_CREATE */
    const uint32_t *slots;                 /* with LAYOUT_CLUSTERS: all that it is to hold */
    uint32_t count;
};

struct layout_progress {
    const struct layout_question *question;
    const struct layout *layout;
    struct layout_doubt doubt;
    /* Would hard terms hold (or be violated no more than now) with these clusters? [slots], 1: in
     * some object that is not foreign. NULL: there are none. */
    bool (*holds)(void *ctx, const uint8_t *selected);
    /* Returns [slots], in the arena: for each cluster the first one that hard terms treat the same
     * way. If a change of the first breaks a term, the same change of the cluster breaks it, too.
     * Returns NULL without memory. No function: no two clusters are the same. */
    const uint32_t *(*alike)(void *ctx);
    uint32_t tries; /* holds() may be asked so often about parts of writes; each call takes steps */
    void *ctx;
};

/* 0 or -ENOMEM. */
int layout_next(const struct layout_progress *p, struct arena *arena,
                struct layout_write *ret) MUST_CHECK;
