/*
 * A Placement that Evenkeel spreads: its annotations and terms, the decision, and the single next
 * write on the hub. The planner asks again after each write and each change; every answer is made
 * from the hub's objects as they are then, so a new process goes on where the last one ended.
 *
 * In mode Scores OCM's controller decides, guided by our scores: hub/scored.c. In mode Owner
 * Evenkeel decides in its place:
 *
 *   wanted by annotation or configuration, and it has spread terms
 *     -> OCM's disable annotation (and ours, to know that we set it)
 *     -> PlacementDecisions, object by object (hub/layout.h)
 *     -> status of the Placement (hub/placement_status.h)
 *   not wanted any more -> our condition goes, then the annotations that we set: OCM decides
 *
 * If somebody removes OCM's annotation, it is put back up to three times an hour. Then OCM decides
 * again, with a condition, until somebody sets the annotation.
 *
 * A Placement that cannot be decided keeps its decisions and gets a condition. For example, it is
 * misconfigured, the selector of its ManagedClusterSet does not compile, or in mode Owner it has a
 * CEL predicate, which Evenkeel does not evaluate.
 *
 * Pure except for struct owned: reads no clock, sends nothing.
 *
 * upstream: ocm v1.2.0 pkg/placement/controllers/scheduling scheduling_controller.go, bind(), for
 * the form of what is written; the annotation is PlacementDisableAnnotation.
 */
#pragma once

#include "hub/layout.h"
#include "hub/moves.h"
#include "hub/placement_status.h"
#include "kube/write/writer.h"
#include "model/injected.h"
#include "model/policy.h"

/* ---- a write ---- */

enum owned_what {
    OWNED_NOTHING,
    OWNED_ANNOTATIONS,
    OWNED_STATUS,    /* the status of the Placement */
    OWNED_DECISION,  /* a PlacementDecision */
    OWNED_SCORE,     /* an AddOnPlacementScore */
    OWNED_INJECTION, /* the mark in the Placement that makes OCM heed our scores */
};

/* The holder owns the texts, and frees them with owned_write_done(). An item of an
 * AddOnPlacementScore has no verb, path and body before its turn: other items may come and go
 * until then, and all changes of one object go in one write (scored_make_write()). */
struct owned_write {
    enum owned_what what;
    enum write_verb verb;
    struct strbuf path, body;
    struct strbuf item;     /* with OWNED_SCORE; empty: verb, path and body are set already */
    bool comes;             /* the item is added; false: removed */
    struct strbuf object;   /* name of the PlacementDecision; with OWNED_SCORE CLUSTER/RESOURCE */
    struct strbuf version;  /* the object's resourceVersion before the write; empty: the object is
                               new */
    struct strbuf contents; /* clusters of the PlacementDecision both with and without the write,
                               each followed by a NUL */
};
void owned_write_done(struct owned_write *w);

/* ---- the kept state of a Placement ---- */

/* The state of the last write. */
enum owned_progress {
    OWNED_IDLE,
    OWNED_UNDER_WAY, /* the writer has taken the write */
    OWNED_ANSWERED,  /* done, or in conflict: the watch will show another version */
    OWNED_UNKNOWN,   /* no answer: the write may have taken place */
};

/* OCM's disable annotation, as it was seen last. */
enum owned_disabling {
    DISABLING_UNKNOWN,
    DISABLING_SET,
    DISABLING_UNDONE, /* somebody has removed it */
};

/* A cluster that OCM does not select despite its score, or with a score that cannot be written. */
struct owned_refused {
    struct strbuf name;
    bool unwritable; /* its score cannot be written: OCM's selection does not end the refusal */
    bool is_due; /* its time is over, and the plan has the cluster again: the cluster will be tried
                  */
    uint64_t inputs;  /* hash of the cluster's inputs when refused; new inputs end the refusal */
    int64_t until_ms; /* the time to try the cluster again */
    uint32_t times;   /* number of refusals: each one doubles the wait */
};

struct owned {
    uint64_t uid;                   /* hash of the Placement's uid; 0: the Placement was not seen
                                       yet */
    enum owned_disabling disabling; /* OCM's annotation, or in mode Scores our prioritizer */
    uint32_t undone; /* number of times that somebody removed our mark since undone_ms; starts again
                        after an hour, unless the mark is put back no more */
    int64_t undone_ms;
    struct moves moves;
    bool warned;        /* the warning about an unknown key was given */
    bool warned_number; /* the warning about a negative number of clusters was given */
    uint64_t reasons;   /* hash of the reasons that decisions lack since reasons_ms; 0: they lack no
                           reason */
    int64_t reasons_ms;
    bool waits, denied; /* moves wait; the status contradicts our condition; times: below */
    int64_t waits_since_ms, denied_since_ms;
    uint64_t said; /* hash of SpreadSatisfied's message, if only that changed at said_ms; 0: none */
    int64_t said_ms;
    bool has_target;
    struct strbuf target; /* clusters to which the Placement moves; a NUL after each name */
    enum owned_progress progress;
    struct owned_write last; /* without path and body */
    int64_t last_ms;         /* when the last write was taken or answered */
    /* Mode Scores. */
    bool asks;                /* OCM has scores that its decisions do not show yet */
    int64_t asked_ms;         /* since when OCM has them */
    uint32_t asked_count;     /* decisions with fewer clusters are no answer */
    uint64_t asked_decisions; /* hash of the clusters that OCM had decided before its answer */
    uint64_t versions; /* hash of the versions of OCM's decisions when the last write was wanted */
    uint64_t inputs;   /* hash of the inputs of the last item's cluster */
    bool behind;       /* OCM's status lags behind its decisions, since behind_ms */
    int64_t behind_ms;
    struct owned_refused *refused; /* owned */
    uint32_t refused_count, refused_cap;
};
void owned_done(struct owned *o);

/* ---- a look ---- */

struct owned_settings {
    enum placement_mode mode; /* mode of Placements without the annotation */
    bool without_scores;      /* mode Scores leaves a Placement to OCM */
    struct move_limits moves;
    uint32_t shards;                      /* number of shards of AddOnPlacementScores */
    int64_t refused_after_ms, refused_ms; /* when OCM counts as refusing a cluster; for how long the
                                             cluster is left out */
};

struct owned_question {
    struct fleet_view *view;
    struct policy_list policies; /* sorted */
    struct str namespace, name;
    int64_t wall_ms; /* wall clock, since 1970 */
    int64_t now_ms;  /* time of a clock that does not jump */
    const struct owned_settings *settings;
    /* OCM's answers to scores of all Placements: the slowest one, and the time of the last one. */
    int64_t slowest_ms, answered_ms;
    /* Returns how long this AddOnPlacementScore must not be written; NULL: all may be written. */
    int64_t (*denied_ms)(void *ctx, struct str object);
    void *ctx;
};

enum owned_mode {
    OWNED_GONE,   /* the Placement does not exist: nothing need be kept */
    OWNED_OTHERS, /* OCM or somebody else decides */
    OWNED_OURS,
    OWNED_LEAVING, /* OCM shall decide again */
    OWNED_SCORED,  /* OCM decides by our scores */
};

enum owned_result {
    OWNED_NOT_DECIDED, /* this look made no decision */
    OWNED_DECIDED,
    OWNED_KEPT,   /* the Placement cannot be decided: its decisions stay */
    OWNED_FAILED, /* no memory, or too much work */
};

enum owned_reason { MOVED_INFEASIBLE, MOVED_SIZE, MOVED_SPREAD, MOVED_SCORE, MOVED_REASONS };
extern const char *const owned_reason_names[MOVED_REASONS];

/* The reason why a Placement's moves wait. */
enum owned_wait {
    OWNED_WAITS_NOT,
    OWNED_WAITS_SETTLE, /* settle_ms: the plan must stay the same for so long */
    OWNED_WAITS_MINUTE, /* per_minute: other moves have begun in the last minute */
};

/* The clusters that the beginning moves add and remove. In the arena. */
struct owned_moves {
    const struct str *added, *removed;
    uint32_t added_count, removed_count;
};

struct owned_answer {
    enum owned_mode mode;
    enum owned_result result;
    bool own_terms;        /* the terms are the Placement's, not a policy's */
    bool has_lost;         /* some of its clusters no longer fit */
    bool skewed;           /* SpreadSatisfied is False, or will be */
    bool plan_skewed;      /* SpreadSatisfied is False after all moves */
    uint32_t waiting;      /* voluntary moves that wait */
    enum owned_wait waits; /* the reason why the moves wait ... */
    int64_t waits_ms;      /* ... and how long; INT64_MAX: not known */
    uint32_t moves;        /* number of moves that begin with this look */
    struct owned_moves begun;
    enum owned_reason why; /* the reason of these moves */
    bool first;            /* these moves are its first decision */
    bool undone;           /* from now on OCM's annotation is not put back any more */
    bool left_undone;      /* the annotation is not put back: OCM decides */
    bool leaves_none;      /* after these moves no cluster is left */
    struct str warning; /* a sentence about a new KeyUnknown, or a number that crashes OCM; arena;
                           "": nothing new */
    bool crashes;       /* the warning is about that number */
    const char *kept;   /* with OWNED_KEPT: why, one word; static */
    struct str uid;     /* uid of the Placement; arena */
    struct str note;    /* for people, about the moves that begin, or `undone`; arena */
    int64_t wake_ms;    /* the wait before the next look; INT64_MAX: until something changes */
    bool write_is_out;  /* the last write is under way, or the watch has not shown it */
    /* In mode Scores, or while marks of it are left in the Placement: the key of the Placement's
     * own items, and the key in its annotation, whose items OCM may still heed. */
    struct injected_key key, noted_key;
    bool has_key, has_noted_key;
    int64_t answered_ms;      /* how long after the last score OCM answered; 0: it has not answered
                                 now */
    uint32_t refused;         /* number of clusters left out because OCM refuses them */
    struct owned_write write; /* the next write; the caller owns it */
};

/* Returns 0, -E2BIG (arena->steps are spent), -EINVAL (the Placement or its status cannot be read)
 * or -ENOMEM; after a failure `mode` is set if it is known. */
int owned_look(struct owned *o, const struct owned_question *q, struct arena *arena,
               struct owned_answer *ret, struct err *err) MUST_CHECK;

/* An item of an AddOnPlacementScore to add or to remove. */
struct score_wish {
    struct str item;
    bool comes;
};
/* Fills verb, path, body and version of `to` with one write of the object, "CLUSTER/RESOURCE": all
 * wishes against the object in this view. Sorts the wishes. A missing object is created first,
 * without items. Returns false if nothing is to be written, or without memory. */
bool scored_make_write(const struct fleet_view *v, struct str object, struct score_wish *wishes,
                       uint32_t count, struct owned_write *to);

/* Call it when the writer takes the write. The caller then owns the write's path and body. */
void owned_taken(struct owned *o, struct owned_write *w, int64_t now_ms);
/* Call it when the write has ended: with success, without effect, or unknown. */
void owned_ended(struct owned *o, enum write_end end, int status, int64_t now_ms);
