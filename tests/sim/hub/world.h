/*
 * A simulated hub: an API server that is hostile now and then, OCM's placement controller, people
 * who change things, and two replicas of Evenkeel's own controller (informer, planner, writer,
 * elector), in virtual time. Everything follows from the seed.
 *
 *     main.c      options, seeds, the table at the end
 *     world.c     what is due next happens; rounds of changes, and of quiet
 *     strand.c    the planner's thread, without a thread
 *     store.c     objects, versions, histories, writes
 *     replica.c   a process: its timers and watches, and what goes wrong with these
 *     calls.c     its requests, and what goes wrong with them
 *     ocm.c       OCM's controller
 *     actors.c    the garbage collector, and namespaces of clusters
 *     changes.c   what people and clusters do; changes_placements.c  ... to Placements
 *     scores.c    AddOnPlacementScores of Evenkeel's: whose items there are
 *     crowd.c     Placements of another namespace, which always want something
 *     fair.c      how long namespace n waits for these
 *     check.c     what must be true after every write, and when all is quiet
 *     check_scores.c  the same of mode Scores
 *
 * A check that fails calls world_fail(), which keeps the first failure; the seed then ends.
 */
#pragma once

#include "base/clock.h"
#include "base/random.h"
#include "hub/placement_decisions.h"
#include "model/injected.h"
#include "ocm/decide.h"
#include "sim/hub/store.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    REPLICAS = 2,
    PLACEMENTS = 5,
    MOST_CROWD = 60, /* Placements of the crowd */
    MOST_CLUSTERS = 5000,
    SHARDS = 4, /* of scores */
    TRACE_LINES = 60,
    TRACE_BYTES = 260,
};

/* ---- what happens, counted over all seeds ---- */

enum happening {
    /* happenings of a request */
    REQUEST_GOOD,
    REQUEST_BUSY,        /* 429 */
    REQUEST_ERROR,       /* 500; the request was not executed */
    REQUEST_DONE_LATE,   /* 504; the request was executed */
    REQUEST_FORBIDDEN,   /* 403 */
    REQUEST_LOST,        /* the request never arrived */
    REQUEST_ANSWER_LOST, /* the request was executed */
    REQUEST_STALE,       /* the request arrives when no client waits for it */
    REQUEST_CONFLICT,    /* a real 409 */
    REQUEST_GONE,        /* a real 404 */
    /* happenings of a watch */
    WATCH_LAGS,
    WATCH_EXPIRED,    /* 410: the kind is listed again */
    LISTING_GIVEN_UP, /* in the middle, and begun again */
    /* happenings of a process */
    REPLICA_PAUSED,
    REPLICA_KILLED,
    LEADER_CHANGED,
    STALE_WRITE_LANDED, /* a write of a replica that does not lead any more */
    /* happenings in the world */
    CLUSTER_ADDED,
    CLUSTER_DELETED,
    CLUSTER_TAINTED,
    CLUSTER_MOVED,
    ZONE_LOST,
    HEARTBEAT,
    SCORE_CHANGED,
    SCORE_ENDS,
    NUMBER_CHANGED,
    TERMS_CHANGED,
    TERMS_REMOVED,
    GROUPS_CHANGED,
    MODE_ON,
    MODE_SCORED,
    MODE_OFF,
    PLACEMENT_DELETED,
    PLACEMENT_MADE,
    ANNOTATION_TAKEN,  /* somebody removes OCM's disable annotation */
    DECISION_DELETED,  /* somebody deletes one of our PlacementDecisions */
    DECISION_REPLACED, /* somebody replaces the clusters of one of our PlacementDecisions */
    LABEL_LOST,
    FOREIGN_MADE,         /* a PlacementDecision of another controller */
    INJECTION_TAKEN,      /* somebody removes our prioritizer */
    SCORE_OBJECT_DELETED, /* somebody deletes one of our score objects */
    ITEM_TAKEN,           /* somebody removes an item of our score object */
    ITEM_THEIRS,          /* somebody adds an item to our score object */
    ITEM_DEAD,      /* somebody adds an item that looks like ours, but belongs to no Placement */
    CROWD_CHANGED,  /* a Placement of the crowd */
    NAMESPACE_LATE, /* a cluster comes, and its namespace does not yet */
    OCM_WROTE,
    OCM_WROTE_OVER, /* OCM writes a Placement for which it was disabled */
    OCM_LAGS,       /* one of OCM's two watches is late */
    OCM_MIXES,      /* scores change while OCM reads them for one decision */
    OCM_PAUSED,
    COLLECTED,
    /* actions of Evenkeel */
    WROTE_DECISION,
    WROTE_STATUS,
    WROTE_ANNOTATIONS,
    CHANGED_OBJECT,  /* a cluster, which was selected all the while */
    BROKE_HARD_TERM, /* for a moment, because no write was found that keeps it */
    MADE_SCORE_OBJECT,
    WROTE_ITEM,
    TOOK_ITEM,
    WROTE_ITEMS, /* of several Placements at once */
    SWEPT,       /* items that belong to no Placement */
    INJECTED,
    GATED,
    TOOK_INJECTION,
    FOUND_REFUSED,  /* a cluster that only a user's CEL keeps out */
    TRIED_AGAIN,    /* such a one */
    BROKE_ITEMS,    /* a hard term, as BROKE_HARD_TERM */
    PLANNED_BEFORE, /* one of the crowd, while one of n waited */
    WRITTEN_BEFORE, /* likewise */
    LARGE_FLEET,
    HAPPENINGS
};
extern const char *const happening_names[HAPPENINGS];

/* ---- the world ---- */

enum namespace { NAMESPACE_NONE, NAMESPACE_THERE, NAMESPACE_GOING };

struct cluster {
    cJSON *object; /* the store's; NULL: there is none */
    int region, zone;
    bool has_zone, tainted;
    bool odd; /* has a label that a user's CEL refuses */
    enum namespace namespace;
    bool late; /* its namespace came after it */
};

/* Kinds of terms; a bit each. */
enum { TERM_REGION_SOFT = 1, TERM_ZONE_SOFT = 2, TERM_ZONE_HARD = 4 };

/* The mode that people choose. */
enum mode { MODE_UNSET, MODE_OWNER, MODE_SCORES, MODE_SWITCHED_OFF, MODES };
struct wish {
    char name[16];
    bool exists;
    bool theirs;   /* never controlled by Evenkeel, which must not write its objects */
    bool handmade; /* likewise, with OCM's annotation of somebody else */
    enum mode mode;
    unsigned terms;
    int number;         /* -1: all */
    unsigned per_group; /* 0: one group */
    bool scored;
    bool bare;                /* its prioritizerPolicy has no configurations */
    bool may_score;           /* mode Scores is asked for, too */
    bool picky;               /* a predicate of its own has CEL; never in mode Owner */
    unsigned taken;           /* how often OCM's annotation was taken away, or our prioritizer */
    uint64_t changed_version; /* of the Placement or its PlacementDecisions, by other than us */
    /* OCM's controller still decides the Placement, as far as it has seen. */
    bool ocm_decides;
    uint64_t ocm_right; /* a sum of all that it has seen when it had nothing to write */
    /* Mode Scores. */
    struct injected_key key; /* of its items */
    uint8_t *items;          /* [clusters]; owned: who has one */
    uint8_t *tried;          /* [clusters]; owned: a refused one that has had one */
    bool was_cut;            /* OCM saw more items than it takes, and took some of them */
    bool opened;   /* OCM is not told all, and has selected others than those that have items */
    bool complete; /* it has had as many items as it asks for, since it was changed */
    bool freed;    /* of a round: somebody has taken what tells OCM */
    bool unfair;   /* what OCM sees was written for another state, until it has answered to all */
    /* The members below are for one round. */
    uint8_t *had_items, *left_out; /* [clusters]; owned: at its beginning */
    uint32_t item_writes;
    uint8_t *held, *missing; /* [clusters]; owned: at its beginning; left out by us since */
    uint32_t writes;         /* ours since the round began */
    uint32_t structure;      /* of them: objects made and labelled, annotations, and their status */
    bool relabelled;         /* one of these since the last status */
    uint32_t changes;        /* clusters that came to or left some object since the last status */
    uint32_t moves;          /* halves of these, before it */
};

struct replica;

struct ocm_controller {
    struct fleet *sees;
    uint32_t seen[FLEET_KINDS]; /* of the store's logs */
    int64_t lags_until_ms[FLEET_KINDS];
};

struct world {
    uint64_t seed, random, steps;
    bool failed, verbose;
    char failure[700];
    char trace[TRACE_LINES][TRACE_BYTES];
    uint64_t traced;
    uint64_t *happened; /* [HAPPENINGS]; borrowed */
    uint64_t digest;    /* of all that happened */

    struct clock_fake clock;
    int64_t wall_ms; /* at time 0 of the clock */
    struct store store;
    struct fleet *truth; /* what the store has */
    struct ocm_controller ocm;
    struct arena arena;  /* of one question */
    struct arena taking; /* of one change */

    unsigned cluster_count, regions, zones; /* zones of a region */
    struct cluster *clusters;               /* [cluster_count]; owned */
    struct wish wishes[PLACEMENTS];
    unsigned wish_count;
    enum placement_mode by_default;
    struct move_limits moves;

    unsigned hostility;         /* of 1000 requests, about; 0: nothing goes wrong */
    uint64_t facts_version;     /* version of the last change of other objects than Placements and
                                   PlacementDecisions, without heartbeats and our scores */
    uint64_t edited_version;    /* of Placements, by people */
    uint32_t going;             /* namespaces that are */
    int64_t scores_end_ms;      /* no score ends after that */
    int64_t last_write_ms;      /* of any replica but to Leases: when it was sent */
    int64_t ocm_ms, collect_ms; /* when these act next */
    int64_t crowd_ms;           /* likewise; INT64_MAX: it rests */
    unsigned crowd_count;       /* Placements that it may have; 0: there is no crowd */
    unsigned leader;            /* number of who led last, + 1; 0 */
    int64_t led_since_ms;
    struct replica *replicas[REPLICAS]; /* NULL: it is dead */
    int64_t revive_ms[REPLICAS];
    bool counted; /* a round in which writes are counted */
};

/* Runs one seed with this number of clusters (0: the seed chooses it). Returns false if it failed.
 */
bool world_run(struct world *w, uint64_t seed, unsigned clusters, unsigned rounds,
               uint64_t happened[HAPPENINGS]);

void world_fail(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void world_trace(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void happen(struct world *w, enum happening what);

static inline int64_t world_now(const struct world *w) {
    return w->clock.at_ms;
}
static inline uint64_t world_below(struct world *w, uint64_t n) {
    return random_below(&w->random, n);
}
static inline int64_t world_between(struct world *w, int64_t from, int64_t to) {
    return from + (int64_t)random_below(&w->random, (uint64_t)(to - from) + 1);
}
static inline bool world_chance(struct world *w, unsigned per_mille) {
    return random_below(&w->random, 1000) < per_mille;
}

#define NAMESPACE "n"
#define CROWD_NAMESPACE "crowd"

/* ---- replica.c ---- */

/* A process's connection to the API server. */
struct kube_client {
    struct world *world;
    struct replica *replica;
    unsigned number; /* of the replica */
};

struct replica *replica_new(struct world *w, unsigned number);
void replica_free(struct replica *r);
/* Returns the time when the replica has something to do. */
int64_t replica_at_ms(struct replica *r);
void replica_step(struct replica *r);
/* Makes the replica's watches silent for a while. */
void replica_lag(struct replica *r);
void replica_pause(struct replica *r, int64_t until_ms);
bool replica_is_paused(const struct replica *r);
bool replica_leads(const struct replica *r);
/* Has the replica seen all objects, and planned since then? */
bool replica_is_fresh(const struct replica *r);
/* ... and is not in the middle of the next plan. */
bool replica_is_idle(const struct replica *r);
/* Is there a Placement in mode Scores whose answer of OCM's it waits for? But for those that OCM
 * may answer otherwise for ever. */
bool replica_asks(const struct replica *r);
/* [clusters]: those that it is on the way to. False: to none. */
bool replica_target(const struct replica *r, const struct wish *wish, uint8_t *ret);
/* [clusters]: those that it leaves out of a Placement, for they are refused. Returns when the first
 * of them is tried again, or was a moment ago; INT64_MAX: there is none. */
int64_t replica_left_out(const struct replica *r, const struct wish *wish, uint8_t *ret);
/* What it counts or keeps of Placements; NULL: nothing. */
const char *replica_keeps(const struct replica *r);
/* Up to this version of the store it has seen all, and planned since; 0: it has not planned. */
uint64_t replica_version(const struct replica *r);

/* ---- calls.c: requests on their way, which outlive who sent them ---- */

void calls_start(struct kube_client *client, struct kube_request *request);
void calls_cancel(struct kube_client *client, struct kube_request *request);
int64_t calls_at_ms(void);
void calls_step(struct world *w);
/* Is a request under way that is not about a Lease? */
bool calls_under_way(void);
void calls_done(void);

/* ---- truth.c ---- */

/* What the store's `changed` calls; ctx is the world. */
void truth_changed(void *ctx, enum fleet_kind kind, const struct change *change);
void truth_take(struct world *w, struct fleet *fleet, enum fleet_kind kind,
                const struct change *change);
/* What is decided of a Placement, with its terms or, as OCM would, without; `without` these
 * clusters
 * ([clusters]; NULL: all take part). Valid until truth_close(); one at a time. False: there is no
 * Placement, nothing is decided, or it failed. */
struct truth {
    struct fleet_view view;
    struct placement placement;
    struct ocm_decision d;
};
bool truth_open(struct world *w, struct fleet *fleet, const struct wish *wish, struct truth *ret);
bool truth_answer(struct world *w, const struct wish *wish, bool with_terms, const uint8_t *without,
                  struct truth *t);
void truth_close(struct truth *t);
/* Returns the cluster of a slot; UINT32_MAX if no cluster ever had it. */
uint32_t truth_cluster(const struct truth *t, uint32_t slot);
uint32_t cluster_number(const char *name);

/* ---- scores.c ---- */

/* An AddOnPlacementScore of ours has changed in the store. */
void items_changed(struct world *w, struct str cluster, struct str resource);
/* It exists, with this uid, from now on. */
void items_begin(struct world *w, struct wish *wish, struct str uid);
/* Whose item it is; NULL: no Placement's that exists. */
struct wish *items_owner(struct world *w, const char *resource, const char *item);
/* The first item of ours that is no Placement's in mode Scores; NULL. */
const char *items_dead(struct world *w, char text[static 80]);
/* What the API server says to a write there, before it looks: 0, or the status of its refusal. */
int items_refuse(const struct world *w, const char *method, const char *path);
/* The text of its key. */
#define ITEM_BYTES 32
const char *item_name(const struct wish *wish, char text[static ITEM_BYTES]);

/* ---- ocm.c ---- */

#define FOREIGN_UID "foreign"

void ocm_step(struct world *w);
/* Ends all delays of OCM's watches. */
void ocm_heal(struct world *w);
bool ocm_is_idle(const struct world *w);

/* ---- actors.c ---- */

void collect_step(struct world *w);
/* Do the actors have nothing left to do? */
bool actors_are_idle(const struct world *w);

/* ---- changes.c ---- */

/* Makes the first objects. */
void changes_begin(struct world *w);
/* Something happens; of one object. */
void changes_step(struct world *w);
void changes_single(struct world *w);
/* A cluster sends its heartbeat. */
void changes_beat(struct world *w);
cJSON *placement_of(const struct world *w, const struct wish *wish);

/* ---- changes_placements.c ---- */

/* What its spec is, but for what is Evenkeel's. */
cJSON *changes_spec_of(const struct wish *wish);
/* Makes the first ones. */
void changes_begin_placement(struct world *w, unsigned i);
void changes_placement(struct world *w);
/* All of them go. */
void changes_end_placements(struct world *w);
void changes_take_annotation(struct world *w);
void changes_take_injection(struct world *w);
/* A Placement, or its PlacementDecisions, are not any more what they were. */
void changes_note(struct world *w, struct wish *wish);

/* ---- crowd.c ---- */

/* Makes it, in some seeds. */
void crowd_begin(struct world *w);
/* It begins to change its Placements, or leaves them as they are. */
void crowd_work(struct world *w, bool works);
void crowd_step(struct world *w);
/* All of them go. */
void crowd_end(struct world *w);
/* All is quiet: it has what it asks for. */
void crowd_check_quiet(struct world *w);

/* ---- fair.c ---- */

struct planner;
/* The planner of the replica of this number. Borrowed. */
void fair_use(struct world *w, unsigned number, const struct planner *p);

/* ---- check.c ---- */

/* A write of ours. */
struct judged {
    struct wish *wish;    /* whose it is; NULL: of none that is known */
    enum fleet_kind kind; /* of the object */
    char name[80];        /* likewise */
    bool fair;            /* it was made of what there is now */
    bool informed;        /* ... but perhaps without what Evenkeel itself has written since */
    bool stale;           /* who sent it does not lead any more */
    uint8_t *before;      /* [clusters]: in some object of the Placement */
    uint32_t objects;     /* likewise: how many there are */
    cJSON *object;        /* before the write; NULL */
    /* Of an AddOnPlacementScore. */
    bool is_score;
    uint32_t cluster;
    uint32_t comes, goes;        /* items of ours: of all, or of the wish */
    uint8_t changed[PLACEMENTS]; /* an item of that wish comes or goes */
    uint32_t unknown;            /* items of none that come */
};
void check_begin_write(struct world *w, const char *path, struct str body, struct judged *ret);
/* `status` of the answer. Frees what the first made. */
void check_end_write(struct world *w, struct judged *j, int status);

/* A round begins now, in which the world stands still. */
void check_begin_round(struct world *w);
/* Somebody else has changed its decisions since: clusters may have been left out by them. */
void check_forget_round(const struct world *w, const struct wish *wish);
/* All is quiet. */
void check_quiet(struct world *w);
/* ... and there is no Placement. */
void check_gone(struct world *w);
void check_done(struct world *w);

/* Is it to be decided by Evenkeel, in mode Owner? */
bool wish_is_ours(const struct world *w, const struct wish *wish);
/* ... or by OCM, by Evenkeel's scores? */
bool wish_is_scored(const struct world *w, const struct wish *wish);
/* Does a user's CEL refuse this cluster? */
bool wish_refuses(const struct world *w, const struct wish *wish, unsigned cluster);

/* For check_scores.c. */
uint32_t check_count_held(const struct world *w, const struct wish *wish, uint8_t *ret);
int check_hard_skew(const struct world *w, const struct wish *wish, const uint8_t *held,
                    const uint8_t *without);
/* May it be selected, whatever key it lacks? */
bool check_is_member(const struct world *w, unsigned cluster);
bool check_fits(const struct world *w, const struct wish *wish, unsigned cluster);
void check_groups(struct world *w, const struct wish *wish, const struct truth *t);
const cJSON *check_condition(const cJSON *placement, const char *type);
uint8_t *check_new_flags(const struct world *w);

/* ---- check_scores.c ---- */

/* A step of OCM's. */
struct ocm_step {
    struct wish *wish;
    bool gated;
    struct injected_key gate;
    uint32_t number, fits; /* as OCM sees it */
    uint8_t *before;       /* [clusters]: decided */
};
void check_begin_ocm(struct world *w, struct ocm_step *step);
void check_end_ocm(struct world *w, struct ocm_step *step);

void check_begin_score(struct world *w, const char *path, struct str body, struct judged *j);
void check_score(struct world *w, struct judged *j, const cJSON *after);
/* What Evenkeel has written of a Placement's spec. */
void check_injection(struct world *w, const struct judged *j, const cJSON *after);
/* Are clusters refused, or taken for it; or were some at the round's beginning? */
bool check_is_refusing(const struct world *w, const struct wish *wish);
void check_scored_round(struct world *w, struct wish *wish);
void check_scored_quiet(struct world *w, struct wish *wish);
/* Of one that is OCM's alone. */
void check_left(struct world *w, const struct wish *wish);
void check_dead_items(struct world *w);
