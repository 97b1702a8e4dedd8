/*
 * Chooses the PlacementDecisions that should hold the clusters of a Placement, and the next write
 * on the way there. A selected cluster stays in its object while it stays in its decision group,
 * whichever other clusters come and go: a cluster that is in no object for a moment loses its
 * workloads. (OCM sorts clusters by name and cuts the list again each time: issue ocm#1346.)
 *
 * Objects are called `<placement>-decision-<n>` and hold OCM_DECISION_CLUSTERS clusters at most; on
 * the way there up to LIMIT_DECISION_CLUSTERS, since new clusters may come before old ones go. Each
 * belongs to one decision group. An object that exists stays with the group that most of its
 * clusters are in now; new clusters fill free places in the order of names, then empty objects,
 * then new objects with the smallest free numbers. An object with the Placement's name but not its
 * label is adopted. Objects that are not needed any more are deleted. A group without clusters (the
 * only group if nothing is selected) has one empty object. Objects of another controller stay as
 * they are, labelled or not.
 *
 * Writes come one at a time, and each is made from the objects as they are then:
 *   - missing objects, empty, since an API server drops the status of what it creates;
 *   - labels and owner of objects where they are wrong;
 *   - clusters: an object gets its planned clusters and drops all others, except a selected cluster
 *     that is not yet in its own planned object;
 *   - objects that are not wanted are deleted, once they may drop all their clusters.
 * Several objects cannot change at the same moment. With hard terms, a write after which the terms
 * hold comes first, if need be with only a part of an object's changes.
 *
 * Pure: slots and names in, names out. Everything is in the arena or borrowed.
 */
#pragma once

#include "fleet/fleet.h"
#include "ocm/decide.h"

struct layout_object {
    const struct fleet_decision *existing; /* NULL: to be created */
    struct str name;
    uint32_t group;  /* its index in the question */
    uint32_t *slots; /* first the clusters that stay, in their present order; then new clusters, by
                        name */
    uint32_t count;
};

struct layout {
    const struct layout_object *objects; /* by group, then in the order in which they are filled */
    uint32_t count;
    const struct fleet_decision *const *unwanted; /* existing objects that the layout does not use,
                                                     by name */
    uint32_t unwanted_count;
};

struct layout_question {
    struct str placement;           /* name of the Placement */
    const struct ocm_group *groups; /* at least one group; each slot is in exactly one group */
    uint32_t group_count;
    const struct fleet_decision *existing; /* a list, sorted by name; NULL: none */
    uint32_t slots;                        /* topology_slots() */
    struct str owner_uid;                  /* uid of the Placement */
    /* Finds an object by name, whatever its labels, or returns NULL. No function: finds nothing. */
    const struct fleet_decision *(*find)(void *ctx, struct str name);
    void *ctx;
};

/* Does another controller than the Placement with this uid own the object? Then it must stay. */
bool layout_is_foreign(const struct fleet_decision *d, struct str owner_uid);

/* Returns 0 or -ENOMEM. O(clusters + objects x log(objects)). */
int layout_make(const struct layout_question *q, struct arena *arena,
                struct layout *ret) MUST_CHECK;

/* ---- the next write ---- */

/* An object that a write may have changed, though the view does not show it yet. */
struct layout_doubt {
    struct str name;       /* "": no object */
    const uint32_t *slots; /* clusters that the object holds both with and without the write in
                              doubt */
    uint32_t count;
};

enum layout_verb {
    LAYOUT_RIGHT, /* nothing is left to write */
    LAYOUT_CREATE,
    LAYOUT_META,     /* labels and owner */
    LAYOUT_CLUSTERS, /* status.decisions */
    LAYOUT_DELETE,
};

struct layout_write {
    enum layout_verb verb;
    const struct layout_object *object;    /* not with LAYOUT_DELETE */
    const struct fleet_decision *existing; /* not with LAYOUT_CREATE */
    const uint32_t *slots; /* with LAYOUT_CLUSTERS: all clusters that the object is to hold */
    uint32_t count;
};

struct layout_progress {
    const struct layout_question *question;
    const struct layout *layout;
    struct layout_doubt doubt;
    /* Would hard terms hold (or be violated no more than now) with these clusters? `selected` is
     * [slots]: 1 for a cluster in an object that is not foreign. No function: there are no hard
     * terms. */
    bool (*holds)(void *ctx, const uint8_t *selected);
    /* Returns [slots], in the arena: for each cluster the first cluster that hard terms treat
     * the same way. If adding or removing that first cluster breaks a term, the same change of
     * this cluster breaks the term, too. Returns NULL without memory. No function: no two
     * clusters are alike. */
    const uint32_t *(*alike)(void *ctx);
    uint32_t tries; /* most calls of holds() for parts of writes; each call takes steps */
    void *ctx;
};

/* Returns 0 or -ENOMEM. */
int layout_next(const struct layout_progress *p, struct arena *arena,
                struct layout_write *ret) MUST_CHECK;
