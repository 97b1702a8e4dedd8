/*
 * Decides the Placements that Evenkeel owns (hub/owned.h) again and again, each when something that
 * it depends on has changed or a time has come, on a thread of its own: a plan takes longer than
 * the thread of watches and Leases may wait. For each Placement the write that comes next is kept
 * until the writer takes it; what was made from an object that has changed meanwhile is planned
 * again then, and all items that are wanted of one AddOnPlacementScore go in one write
 * (hub/planner_take.c).
 *
 *     the fleet's watch -> planner_changed() -> [thread: a view, owned_look()] -> on_ready()
 *     -> planner_next() -> planner_take() -> planner_ended() -> the watch shows what was written
 *
 * Placements are planned in turns of their namespaces (base/turns.h): those of one wait for their
 * own.
 *
 * While it does not lead it decides nothing. A leader that begins knows nothing of the leader
 * before: it starts from what the hub has.
 *
 * Threads: all calls from any thread. The planner's mutex is taken under the fleet's lock, and
 * never the other way round. A look that plans does not hold it; making a write of one
 * AddOnPlacementScore and walking all Placements whose time has come do.
 *
 * In mode Scores it is told of items that came or went (planner_scored()), and sweeps away those of
 * Placements that are no more (hub/score_sweep.h).
 *
 * Metrics: evenkeel_placements{mode,spread}, evenkeel_placements_refused_clusters,
 * evenkeel_placement_plans_total{result}, evenkeel_placement_plan_duration_seconds,
 * evenkeel_placement_moves_total{reason}, evenkeel_placement_moves_waiting,
 * evenkeel_placement_skewed.
 */
#pragma once

#include "base/clock.h"
#include "fleet/fleet.h"
#include "hub/owned.h"
#include "hub/placement_history.h"
#include "kube/events/events.h"
#include "kube/write/writer.h"
#include "policy/policies.h"

struct planner;

struct planner_options {
    struct fleet *fleet;            /* borrowed until planner_free(), as what follows */
    struct policy_source *policies; /* NULL: there are none */
    struct owned_settings settings;
    /* Is everything known that decisions depend on? */
    bool (*is_ready)(void *ctx);
    /* planner_next() has something. On the planner's thread, without a lock. */
    void (*on_ready)(void *ctx);
    void *ctx;
    struct event_recorder *events;     /* NULL: none are written */
    struct placement_history *history; /* NULL: none is kept */
    struct clock *clock;               /* NULL: the real one */
    int64_t (*wall_us)(void);          /* NULL: kube_wall_us */
};

/* The reasons of its Events, for the documents. */
enum planner_reason {
    PLANNER_SPREAD,
    PLANNER_MOVED,
    PLANNER_EMPTIED,
    PLANNER_KEY_UNKNOWN,
    PLANNER_MISCONFIGURED,
    PLANNER_UNDONE,
    PLANNER_REASONS
};
extern const struct event_reason planner_reasons[PLANNER_REASONS];

/* Does not lead at first. 0 or -errno. */
int planner_new(const struct planner_options *options, struct planner **ret,
                struct err *err) MUST_CHECK;
/* Ends its thread: on_ready() is not called any more. Once. */
void planner_stop(struct planner *p);
/* After that. NULL is fine. */
void planner_free(struct planner *p);

void planner_lead(struct planner *p, bool leads);

/* These are what a struct fleet_observer calls; ctx is the planner. */
void planner_changed(void *ctx, struct str namespace, struct str name);
void planner_changed_all(void *ctx);
void planner_scored(void *ctx, struct str cluster, struct str resource, struct str item);

/* ---- for the writer ---- */

struct planner_offer {
    enum owned_what what; /* as it is now */
    bool urgent;          /* the Placement is on its way from clusters that do not fit any more */
};
/* Appends the name of a Placement that has something to be written, "NAMESPACE/NAME", which was not
 * returned before. False: there is none. */
bool planner_next(struct planner *p, struct strbuf *ret_name, struct planner_offer *ret);
/* Returns the Placement's pending write; WRITE_NOTHING if none is needed any more. Opens a view of
 * the fleet: the caller must hold none. */
void planner_take(struct planner *p, struct str name, struct write *ret);
/* How the write that was taken last has ended. */
void planner_ended(struct planner *p, struct str name, const struct write_result *result);
