/*
 * A Placement that Evenkeel spreads: what its annotations and terms ask for, what is decided, and
 * which single write comes next on the hub. Asked again after each write, and whenever something
 * changes; everything is made from what the hub has then, so a process that has just begun goes on
 * where another has ended.
 *
 * In mode Scores OCM's controller decides, and is told what by scores: hub/scored.c. In mode Owner
 * Evenkeel decides in its place:
 *
 *   wanted by annotation or configuration, and it has spread terms
 *     -> OCM's disable annotation (and ours, to know that we set it)
 *     -> PlacementDecisions, object by object (hub/layout.h)
 *     -> status of the Placement (hub/placement_status.h)
 *   not wanted any more -> our condition goes, then the annotations that we set: OCM goes on
 *
 * Whoever takes OCM's annotation away sees it put back three times an hour, and then no more: OCM
 * goes on, a condition says so, and it stays so until somebody sets the annotation.
 *
 * What cannot be decided changes no decision: a predicate with CEL, which nobody here evaluates, a
 * ManagedClusterSet that does not compile, a Placement that is misconfigured. A condition says so.
 *
 * Pure but for what it keeps in struct owned: no clock is read, nothing is sent.
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
    OWNED_STATUS,    /* of the Placement */
    OWNED_DECISION,  /* a PlacementDecision */
    OWNED_SCORE,     /* an AddOnPlacementScore */
    OWNED_INJECTION, /* what tells OCM to heed it, in the Placement */
};

/* Texts are owned by whoever has it: owned_write_done(). An item of an AddOnPlacementScore has no
 * verb, path and body before its turn comes: others' items may come and go until then, and what is
 * wanted of one object goes in one write (scored_make_write()). */
struct owned_write {
    enum owned_what what;
    enum write_verb verb;
    struct strbuf path, body;
    struct strbuf item;     /* with OWNED_SCORE; empty: the write is made already */
    bool comes;             /* the item does, or it goes */
    struct strbuf object;   /* name of the PlacementDecision; of a score CLUSTER/RESOURCE */
    struct strbuf version;  /* that the object has before the write; empty: there is none */
    struct strbuf contents; /* clusters that the PlacementDecision holds whether or not the write
                               takes place, each with a NUL behind it */
};
void owned_write_done(struct owned_write *w);

/* ---- what is kept of a Placement ---- */

/* How far the last write is. */
enum owned_progress {
    OWNED_IDLE,
    OWNED_UNDER_WAY, /* taken by the writer */
    OWNED_ANSWERED,  /* well: the watch will show it */
    OWNED_UNKNOWN,   /* there was no answer: it may have taken place */
};

/* OCM's disable annotation, as it was seen last. */
enum owned_disabling {
    DISABLING_UNKNOWN,
    DISABLING_SET,
    DISABLING_UNDONE, /* somebody has taken it away */
};

/* A cluster that OCM does not select though it was asked to, or whose score cannot be written. */
struct owned_refused {
    struct strbuf name;
    bool unwritable;  /* that OCM selects it for other reasons does not end the refusal */
    bool is_due;      /* its time is over, and the plan has it again: it will be tried */
    uint64_t inputs;  /* of the cluster then: another number, and it is forgotten */
    int64_t until_ms; /* then it is tried again */
    uint32_t times;   /* that it was refused: twice as long each time */
};

struct owned {
    uint64_t uid; /* of the Placement that the rest is about: a hash; 0: not seen yet */
    enum owned_disabling disabling; /* of OCM's annotation, or in mode Scores of our prioritizer */
    uint32_t undone; /* how often it was taken away since undone_ms, which is an hour ago at most
                        unless it is put back no more */
    int64_t undone_ms;
    struct moves moves;
    bool warned;        /* of a key that is unknown */
    bool warned_number; /* of a negative number of clusters */
    uint64_t reasons;   /* that are wanted, and not there, since reasons_ms; a hash; 0: none are */
    int64_t reasons_ms;
    bool waits, denied; /* moves wait; the status denies what is true: since then */
    int64_t waits_since_ms, denied_since_ms;
    uint64_t
        said; /* the message of SpreadSatisfied that alone was new at said_ms; a hash; 0: none */
    int64_t said_ms;
    bool has_target;
    struct strbuf target; /* clusters that it is on the way to, each with a NUL behind it */
    enum owned_progress progress;
    struct owned_write last; /* without path and body */
    int64_t last_ms;         /* when it was taken, or answered */
    /* Mode Scores. */
    bool asks;         /* OCM has all scores, and its decisions are not what they ask for */
    int64_t asked_ms;  /* since when */
    uint64_t versions; /* of its decisions, when the last write was wanted: a hash */
    uint64_t inputs;   /* of the cluster that it is about */
    bool behind;       /* OCM's status lags behind its decisions, since behind_ms */
    int64_t behind_ms;
    struct owned_refused *refused; /* owned */
    uint32_t refused_count, refused_cap;
};
void owned_done(struct owned *o);

/* ---- a look ---- */

struct owned_settings {
    enum placement_mode mode; /* of Placements without annotation */
    bool without_scores;      /* mode Scores leaves a Placement to OCM */
    struct move_limits moves;
    uint32_t shards;                      /* of scores */
    int64_t refused_after_ms, refused_ms; /* when a cluster counts as refused, and for how long */
};

struct owned_question {
    struct fleet_view *view;
    struct policy_list policies; /* sorted */
    struct str namespace, name;
    int64_t wall_ms; /* since 1970 */
    int64_t now_ms;  /* of a clock that does not jump */
    const struct owned_settings *settings;
    /* Of OCM's answers to scores, of any Placement: the slowest, and when the last was seen. */
    int64_t slowest_ms, answered_ms;
    /* Returns for how long nobody is to write this AddOnPlacementScore; NULL: any may be tried. */
    int64_t (*denied_ms)(void *ctx, struct str object);
    void *ctx;
};

enum owned_mode {
    OWNED_GONE,   /* there is no such Placement: nothing need be kept */
    OWNED_OTHERS, /* OCM's, or somebody else's */
    OWNED_OURS,
    OWNED_LEAVING, /* OCM is to go on */
    OWNED_SCORED,  /* OCM decides by our scores */
};

enum owned_result {
    OWNED_NOT_DECIDED, /* it did not come so far */
    OWNED_DECIDED,
    OWNED_KEPT,   /* decisions stay, for it cannot be decided */
    OWNED_FAILED, /* no memory, or too much work */
};

enum owned_reason { MOVED_INFEASIBLE, MOVED_SIZE, MOVED_SPREAD, MOVED_SCORE, MOVED_REASONS };
extern const char *const owned_reason_names[MOVED_REASONS];

/* What a Placement waits for that has moves to make. */
enum owned_wait {
    OWNED_WAITS_NOT,
    OWNED_WAITS_SETTLE, /* settle_ms: what is wanted must stay the same for so long */
    OWNED_WAITS_MINUTE, /* per_minute: others have begun in the last minute */
};

/* Clusters of the moves that begin. In the arena. */
struct owned_moves {
    const struct str *added, *removed;
    uint32_t added_count, removed_count;
};

struct owned_answer {
    enum owned_mode mode;
    enum owned_result result;
    bool own_terms;        /* the terms are the Placement's, not a policy's */
    bool has_lost;         /* it has clusters that do not fit any more */
    bool skewed;           /* SpreadSatisfied is False, or is to be */
    bool plan_skewed;      /* it will be when all moves are made */
    uint32_t waiting;      /* voluntary moves that wait */
    enum owned_wait waits; /* what these wait for ... */
    int64_t waits_ms;      /* ... and how long; INT64_MAX: that is not known */
    uint32_t moves;        /* that begin with this look */
    struct owned_moves begun;
    enum owned_reason why; /* of these */
    bool first;            /* they are its first decision */
    bool undone;           /* from now on OCM's annotation is not put back any more */
    bool left_undone;      /* it is not put back: OCM decides */
    bool leaves_none;      /* after them no cluster is left */
    struct str warning;    /* KeyUnknown, or a number that crashes OCM, from now on: its sentence;
                              arena; "": nothing is new */
    bool crashes;          /* the warning is of that number */
    const char *kept;      /* with OWNED_KEPT: why, one word; static */
    struct str uid;        /* the Placement's; arena */
    struct str note;       /* for people, about the moves that begin, or `undone`; arena */
    int64_t wake_ms;       /* when to look again, from now on; INT64_MAX: when something changes */
    bool write_is_out;     /* the last write is under way, or not seen */
    /* In mode Scores, or where anything of that is left in the Placement: whose items are its own;
     * and the key that it names, whose items OCM may heed still. */
    struct injected_key key, noted_key;
    bool has_key, has_noted_key;
    int64_t answered_ms; /* OCM has answered to scores, so long after it had them all; 0: it has not
                            now */
    uint32_t refused;    /* clusters that are left out, because OCM does not select them */
    struct owned_write write; /* the next; the caller's */
};

/* 0, -E2BIG (arena->steps are spent), -EINVAL (the Placement or its status cannot be read) or
 * -ENOMEM, with a sentence; then `mode` is set if it was found out. */
int owned_look(struct owned *o, const struct owned_question *q, struct arena *arena,
               struct owned_answer *ret, struct err *err) MUST_CHECK;

/* An item that is wanted of an AddOnPlacementScore, to come or to go. */
struct score_wish {
    struct str item;
    bool comes;
};
/* Makes the write of an object, "CLUSTER/RESOURCE", as it is in this view, with all wishes, which
 * are sorted: verb, path, body and version of `to`. One that is not there is created first, without
 * items. False: there is nothing to be written, or no memory. */
bool scored_make_write(const struct fleet_view *v, struct str object, struct score_wish *wishes,
                       uint32_t count, struct owned_write *to);

/* The writer takes the write: path and body are the caller's then. */
void owned_taken(struct owned *o, struct owned_write *w, int64_t now_ms);
/* It has ended: well, without effect, or nobody knows. */
void owned_ended(struct owned *o, enum write_end end, int status, int64_t now_ms);
