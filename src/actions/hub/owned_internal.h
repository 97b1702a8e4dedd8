/*
 * The steps of a look at a Placement; only files of this folder include it. All int functions
 * return 0 or -errno and set round.err.
 */
#pragma once

#include "hub/owned.h"
#include "model/kinds.h"

enum owned_doubt {
    DOUBT_NONE,
    DOUBT_WAIT,   /* write nothing before the last write is seen */
    DOUBT_OBJECT, /* write only the object of the last write */
};

/* The hub as a round has found it. */
struct round_findings {
    struct placement placement;
    struct fleet_placement_state state;
    bool disabled, marked; /* OCM's annotation is "true"; we have set it */
    bool has_ours;         /* has any mark that mode Scores adds */
    bool scores_off;       /* the Placement asks for mode Scores, which is off here */
    struct ocm_policy_terms policy;
    const struct fleet_decision *existing;
    struct ocm_spread spread; /* judged on the decisions on the hub, not on the plan */
    uint32_t slots;
    uint8_t *fits; /* [slots]: the cluster passes OCM's own filters */
    enum owned_doubt doubt;
    /* Mode Scores. */
    struct injected injected;  /* the Placement's annotation */
    const uint32_t *decisions; /* clusters that OCM has decided; d.current has our last decision */
    uint32_t decision_count;
};

/* Mode Scores: the clusters that a plan keeps, and those that it leaves out. */
struct round_scores {
    const uint8_t *members; /* [slots]: clusters that keep their place; NULL: OCM uses no items
                               yet */
    uint8_t *without;       /* [slots]: refused, and left out */
    uint32_t *refused_at;   /* [slots]: index in o->refused, from 1; NULL: nothing is refused */
    bool at_once;           /* all moves begin: we decided nothing before */
};

/* The clusters that are selected now, counted on the first call of find_now(). */
struct round_now {
    uint8_t *has;                  /* [slots]; NULL: not yet */
    struct plan_counts *counts;    /* holds these clusters between calls */
    int64_t skew[PLACEMENT_TERMS]; /* by term */
    int failed;                    /* -ENOMEM or -E2BIG from a count, which fails the round */
};

/* The chosen clusters, which may be a step on the way to the plan. */
struct round_target {
    const uint32_t *slots;
    uint32_t count;
    bool is_final; /* these are the plan's clusters */
    const struct ocm_group *groups;
    uint32_t group_count;
};

/* One look at a Placement: the question, what is there, the plan, the step to it, the write. */
struct placement_round {
    struct owned *o;
    const struct owned_question *q;
    struct arena *arena;
    struct owned_answer *ret;
    struct err *err;

    struct round_findings is;
    struct ocm_decision d; /* the plan */
    struct round_scores scores;
    struct round_now now;
    struct round_target target;
};

/* ---- owned.c ---- */

extern const struct str owned_spread_condition;
/* Sets x->is.doubt from the last write's progress. */
void owned_look_for_last(struct placement_round *x);
/* Returns [slots]: marks the clusters in this Placement's PlacementDecisions. We do not move
 * clusters that are only in objects of another controller (*ret_foreign: there are such
 * objects), for example of an earlier Placement of the same name. In the arena; NULL: no memory. */
const uint8_t *owned_find_own(struct placement_round *x, bool *ret_foreign);
int owned_decide(struct placement_round *x) MUST_CHECK;
/* Sets has_lost if a cluster no longer fits. */
void owned_note_lost(struct placement_round *x);
/* Looks again after this time at the latest. */
void owned_wake_in(struct placement_round *x, int64_t ms);
/* Counts how often somebody removes what we have set. `is_set`: it is there now; `was_set`: assume
 * that it was there if that is not known. Returns true if it must not be put back. */
bool owned_note_undone(struct placement_round *x, bool is_set, bool was_set);
bool owned_hub_is_empty(const struct placement_round *x);
/* Returns why the Placement cannot be decided, for owned_answer.kept. */
const char *owned_why_kept(const struct placement_round *x);
/* Returns the condition for owned_why_kept(). */
struct ocm_condition owned_kept_condition(const struct placement_round *x);
bool owned_name_is_too_long(const struct placement_round *x);
/* Returns the condition for the decisions on the hub, with a note if moves wait. Call it after
 * owned_choose(). */
struct ocm_condition owned_spread_now(struct placement_round *x);
/* Writes a condition that the status contradicts. During the first second other writes go first;
 * then it is x->ret->write. */
int owned_mend_condition(struct placement_round *x,
                         const struct ocm_condition *condition) MUST_CHECK;

/* ---- scored.c ---- */

/* Looks at a Placement in mode Scores. */
int scored_look(struct placement_round *x) MUST_CHECK;
/* Removes the marks of mode Scores from another Placement. *ret_done: no mark is left. */
int scored_leave(struct placement_round *x, bool *ret_done) MUST_CHECK;
/* ---- scored_refused.c ---- */

/* Leaves out, for `for_ms`, a cluster whose score cannot be written; the next time for twice as
 * long. Returns false without memory: then the cluster takes part. */
bool scored_refuse(struct owned *o, struct str cluster, uint64_t inputs, int64_t now_ms,
                   int64_t for_ms);
void scored_done(struct owned *o);
/* Leaves out a cluster that OCM does not select. Returns false without memory. */
bool scored_refuse_slot(struct placement_round *x, uint32_t slot);
/* Sets x->scores.without and .refused_at for refused clusters whose time is not over. `has`:
 * clusters with the Placement's item. */
int scored_leave_out(struct placement_round *x, const uint8_t *has) MUST_CHECK;
/* Marks refused clusters that the plan has again: they will be tried. */
void scored_find_due(struct placement_round *x);
/* Does OCM select a cluster that is left out here? Other selected clusters do not count. */
bool scored_takes_refused(const struct placement_round *x);
/* Returns the condition that names the first clusters that are left out. */
struct ocm_condition scored_refused_condition(struct placement_round *x);

/* ---- scored_order.c ---- */

/* The items that are there, and the items to add and to remove, by the slots of their clusters. */
struct scored_changes {
    struct placement_round *x;
    const uint8_t *has; /* [slots] */
    uint32_t has_count;
    uint32_t *add, *remove; /* `add` in the order of the plan; `remove` by slot */
    uint32_t add_count, remove_count;
    /* [slots]: clusters whose item OCM may not have seen come or go; NULL: it has seen all. */
    const uint8_t *unseen;
    uint32_t unseen_adds; /* number of these clusters that have an item */
};
/* Chooses the next change; there is at least one. *ret is TOPOLOGY_NONE if OCM must see other
 * changes first. */
int scored_next_of_hard(const struct scored_changes *c, uint32_t *ret) MUST_CHECK;

/* ---- scored_write.c ---- */

/* Removes items from an AddOnPlacementScore. */
struct score_removal {
    bool (*goes)(const void *ctx, struct str resource, struct str item);
    const void *ctx;
};
int scored_write_removal(struct placement_round *x, const struct fleet_score_object *object,
                         const struct score_removal *removal) MUST_CHECK;
/* Adds or removes the item of this cluster. */
int scored_write_item(struct placement_round *x, uint32_t slot, bool there) MUST_CHECK;
/* Writes to the Placement the marks of mode Scores that are in the document. */
int scored_write_injection(struct placement_round *x, struct str document) MUST_CHECK;

/* ---- owned_target.c ---- */

/* Sets target and groups. */
int owned_choose(struct placement_round *x) MUST_CHECK;
/* May a write change the present clusters to these? Yes, if it adds no cluster to a domain that
 * is then above a hard term, and worsens no hard term's skew that is above maxSkew. Sets
 * now.failed if that cannot be counted. */
bool owned_terms_hold(struct placement_round *x, const uint8_t *selected);
/* Is this selected cluster in a domain that is above a hard term? Returns true and sets
 * now.failed if that cannot be counted. */
bool owned_is_above(struct placement_round *x, const uint8_t *selected, uint32_t slot);
/* May a write change the present clusters to these by owned_terms_hold(), and without removing a
 * fitting cluster if fewer clusters than planned would be left? For struct layout_progress: its
 * ctx is the look. */
bool owned_holds(void *ctx, const uint8_t *selected);
/* `alike` of struct layout_progress: all clusters that do not fit are alike, and so are the
 * fitting clusters of each domain. */
const uint32_t *owned_alike(void *ctx);
/* How often owned_holds() may be called without spending more than half of the steps left. */
uint32_t owned_tries(const struct placement_round *x);
/* Is a term in force hard? Known before owned_decide(), too. */
bool owned_has_hard_terms(const struct placement_round *x);

/* ---- owned_write.c ---- */

void owned_write_annotations(struct placement_round *x, bool disable);
/* Writes nothing if the status is right. */
int owned_write_status(struct placement_round *x, const struct status_wanted *wanted) MUST_CHECK;
/* Returns the first object whose reasons are out of date, or NULL. *ret_wanted: hash of the right
 * reasons of all objects. Apart from reasons all objects must be right. */
int owned_find_reasons(struct placement_round *x, const struct layout *layout,
                       const struct layout_object **ret, uint64_t *ret_wanted) MUST_CHECK;
/* `doubtful`: the clusters that the object surely holds if its last write is in doubt; or NULL. */
int owned_write_decision(struct placement_round *x, const struct layout_write *write,
                         const struct layout_doubt *doubtful) MUST_CHECK;

/* Makes the path of an object ("": of the kind in the namespace). False: a name fits no path. */
bool owned_put_path(struct arena *arena, enum kind_row row, struct str namespace, struct str name,
                    struct owned_write *w);
/* Appends the name and a NUL. */
void owned_put_name(struct strbuf *names, struct str name);
