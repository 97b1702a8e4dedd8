/*
 * The steps of a look at a Placement; only files of this folder include it. All return 0 or -errno
 * with a sentence in looking.err.
 */
#pragma once

#include "hub/owned.h"
#include "model/kinds.h"

enum owned_doubt {
    DOUBT_NONE,
    DOUBT_WAIT,   /* nothing may be written before the last write is seen */
    DOUBT_OBJECT, /* only the object of the last write */
};

struct looking {
    struct owned *o;
    const struct owned_question *q;
    struct arena *arena;
    struct owned_answer *ret;
    struct err *err;

    struct placement placement;
    struct fleet_placement_state state;
    bool disabled, marked; /* OCM's annotation is "true"; we have set it */
    bool has_ours;         /* anything that mode Scores adds, by its form */
    bool scores_off;       /* the Placement asks for mode Scores, which is off here */
    struct ocm_policy_terms policy;
    struct ocm_decision d;
    struct ocm_spread spread; /* of what the hub has decided; not of the plan */
    const struct fleet_decision *existing;
    uint32_t slots;
    enum owned_doubt doubt;

    uint8_t *fits; /* [slots]: passes OCM's own filters */
    /* Mode Scores. */
    const uint8_t
        *members;         /* [slots]: who has an item, once OCM heeds them; NULL: who is decided */
    uint8_t *without;     /* [slots]: is refused, and left out */
    uint32_t *refused_at; /* [slots]: where it is in o->refused, from 1; NULL: nothing is refused */
    bool at_once;         /* nothing was decided by us before: all moves begin */
    const uint32_t *decisions; /* OCM's; d.current is what was decided here before */
    uint32_t decision_count;
    struct injected injected; /* what the Placement's annotation says */
    /* Of what is there, once it was asked for. */
    uint8_t *has;                      /* [slots]; NULL: not yet */
    struct plan_counts *now;           /* between calls, of these */
    int64_t skew_now[PLACEMENT_TERMS]; /* by term */
    int failed;                        /* -ENOMEM or -E2BIG, of a count: so does the look */
    /* What is decided, at last or for the time being. */
    const uint32_t *target;
    uint32_t target_count;
    bool is_final; /* it is what was decided */
    const struct ocm_group *groups;
    uint32_t group_count;
};

/* ---- owned.c ---- */

extern const struct str owned_spread_condition;
/* Sets doubt. */
void owned_look_for_last(struct looking *x);
int owned_decide(struct looking *x) MUST_CHECK;
/* Looks whether what it has fits still. */
void owned_note_lost(struct looking *x);
/* Looks again, at the latest so long from now. */
void owned_wake_in(struct looking *x, int64_t ms);
/* Counts how often what we have set is taken away. `is_set` now; `was_set`: where nobody knows what
 * was before. Returns whether it is not to be put back. */
bool owned_note_undone(struct looking *x, bool is_set, bool was_set);
bool owned_hub_is_empty(const struct looking *x);
/* Of one that cannot be decided, for owned_answer.kept. */
const char *owned_why_kept(const struct looking *x);
/* The condition of that word. */
struct ocm_condition owned_kept_condition(const struct looking *x);
bool owned_name_is_too_long(const struct looking *x);
/* The condition of what the hub has decided, and whether moves are to come. After
 * owned_choose(). */
struct ocm_condition owned_spread_now(struct looking *x);
/* A condition that the status denies is written when nothing else is; after a second it goes
 * first, and then x->ret->write is it. */
int owned_mend_condition(struct looking *x, const struct ocm_condition *condition) MUST_CHECK;

/* ---- scored.c ---- */

/* A Placement in mode Scores. */
int scored_look(struct looking *x) MUST_CHECK;
/* One that is not, and has something of that. *ret_done: there is nothing left of it. */
int scored_leave(struct looking *x, bool *ret_done) MUST_CHECK;
/* Leaves out a cluster whose score cannot be written for so long, and for twice as long the next
 * time. Returns false without memory: then the cluster takes part. */
bool scored_refuse(struct owned *o, struct str cluster, uint64_t inputs, int64_t now_ms,
                   int64_t for_ms);
void scored_done(struct owned *o);

/* ---- scored_order.c ---- */

/* Which items are there, and which are to come and to go. Slots. */
struct scored_changes {
    struct looking *x;
    const uint8_t *has; /* [slots] */
    uint32_t has_count;
    uint32_t *add, *remove; /* in the order of the plan; by slot */
    uint32_t add_count, remove_count;
    /* [slots]: clusters whose item OCM may not have seen come or go; NULL: it has seen all. */
    const uint8_t *unseen;
    uint32_t unseen_adds; /* how many of them have an item */
};
/* The one that comes or goes next; there is one. TOPOLOGY_NONE: OCM has to see others first. */
int scored_next_of_hard(const struct scored_changes *c, uint32_t *ret) MUST_CHECK;

/* ---- scored_write.c ---- */

/* Takes away items of an AddOnPlacementScore. */
struct score_removal {
    bool (*goes)(const void *ctx, struct str resource, struct str item);
    const void *ctx;
};
int scored_write_removal(struct looking *x, const struct fleet_score_object *object,
                         const struct score_removal *removal) MUST_CHECK;
/* The item of this cluster, to be there or not. */
int scored_write_item(struct looking *x, uint32_t slot, bool there) MUST_CHECK;
/* What of ours the Placement should have, from the document that says so. */
int scored_write_injection(struct looking *x, struct str document) MUST_CHECK;

/* ---- owned_target.c ---- */

/* Sets target and groups. */
int owned_choose(struct looking *x) MUST_CHECK;
/* May a write make these of what is there now? It adds none to a domain that is then above a hard
 * term, and makes no hard term's skew worse that is above maxSkew. Where that cannot be counted,
 * looking.failed is set. */
bool owned_terms_hold(struct looking *x, const uint8_t *selected);
/* Is this one of the selected clusters in a domain that is above a hard term? Where that cannot be
 * counted, it is, and looking.failed is set. */
bool owned_is_above(struct looking *x, const uint8_t *selected, uint32_t slot);
/* And takes none that fits where fewer than are decided would be left. For struct layout_progress:
 * its ctx is the look. */
bool owned_holds(void *ctx, const uint8_t *selected);
/* For layout_progress, too. Clusters that do not fit are alike; so are those of one domain that
 * fit. */
const uint32_t *owned_alike(void *ctx);
/* How often owned_holds() may be called without spending more than half of the steps left. */
uint32_t owned_tries(const struct looking *x);
bool owned_has_hard_terms(const struct looking *x);

/* ---- owned_write.c ---- */

void owned_write_annotations(struct looking *x, bool disable);
/* Nothing, if the status is right. */
int owned_write_status(struct looking *x, const struct status_wanted *wanted) MUST_CHECK;
/* The first object whose reasons are not those that would be written now; NULL: there is none.
 * *ret_wanted: a hash of all that would be. Objects are as they are to be but for that. */
int owned_find_reasons(struct looking *x, const struct layout *layout,
                       const struct layout_object **ret, uint64_t *ret_wanted) MUST_CHECK;
/* `doubtful`: what the object surely holds by now, if its last write is in doubt; NULL: it is not.
 */
int owned_write_decision(struct looking *x, const struct layout_write *write,
                         const struct layout_doubt *doubtful) MUST_CHECK;

/* "": all objects of the kind in the namespace. False: a name cannot be part of a path. */
bool owned_put_path(struct arena *arena, enum kind_row row, struct str namespace, struct str name,
                    struct owned_write *w);
/* Names with a NUL behind each. */
void owned_put_name(struct strbuf *names, struct str name);
