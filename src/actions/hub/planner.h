/*
 * Decides the Placements that Evenkeel owns (hub/owned.h), and each again when one of its inputs
 * changes, or at a set time. It has its own thread: a plan takes longer than the thread of watches
 * and Leases may wait. It keeps each Placement's next write until the writer takes it. If the
 * object has changed by then, the Placement is planned again; all items of one AddOnPlacementScore
 * go in one write (hub/planner_take.c).
 *
 *     the fleet's watch -> planner_changed() -> [thread: a view, owned_look()] -> on_ready()
 *     -> planner_next() -> planner_take() -> planner_ended() -> the watch shows what was written
 *
 * Namespaces take turns (base/turns.h), so a Placement waits only for others of its own namespace.
 *
 * Only the leader decides. A new leader knows nothing of the one before: it starts from the objects
 * on the hub.
 *
 * Threads: all calls from any thread. The planner's mutex is taken under the fleet's lock, and
 * never the other way round. Planning does not hold the mutex. Making the write of an
 * AddOnPlacementScore holds it, and so does finding Placements that are due.
 *
 * In mode Scores planner_scored() reports added and removed items; the planner removes the items of
 * Placements that no longer exist (hub/scored_sweep.h).
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
    struct fleet *fleet;            /* borrowed until planner_free(), as the members below */
    struct policy_source *policies; /* NULL: no policies */
    struct owned_settings settings;
    /* Are all inputs of decisions synced? */
    bool (*is_ready)(void *ctx);
    /* planner_next() has a new name. Called on the planner's thread, without a lock. */
    void (*on_ready)(void *ctx);
    void *ctx;
    struct event_recorder *events;     /* NULL: no Events */
    struct placement_history *history; /* NULL: no history */
    struct clock *clock;               /* NULL: the real clock */
    int64_t (*wall_us)(void);          /* NULL: kube_wall_us */
};

/* The reasons of the planner's Events, for the documents. */
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

/* The planner does not lead at first. Returns 0 or -errno. */
int planner_new(const struct planner_options *options, struct planner **ret,
                struct err *err) MUST_CHECK;
/* Ends its thread: on_ready() is not called any more. Call it once. */
void planner_stop(struct planner *p);
/* Call planner_stop() first. NULL is fine. */
void planner_free(struct planner *p);

void planner_lead(struct planner *p, bool leads);

/* The functions for a struct fleet_observer; ctx is the planner. */
void planner_changed(void *ctx, struct str namespace, struct str name);
void planner_changed_all(void *ctx);
void planner_scored(void *ctx, struct str cluster, struct str resource, struct str item);

/* ---- for the writer ---- */

struct planner_offer {
    enum owned_what what; /* the pending write when it was offered */
    bool urgent;          /* the Placement leaves clusters that no longer fit */
};
/* Appends the name, "NAMESPACE/NAME", of the next Placement that has a write to offer. Returns
 * false if no Placement has one. */
bool planner_next(struct planner *p, struct strbuf *ret_name, struct planner_offer *ret);
/* Returns the Placement's pending write; WRITE_NOTHING if none is needed any more. Opens a view of
 * the fleet: the caller must hold none. */
void planner_take(struct planner *p, struct str name, struct write *ret);
/* Reports the result of the write that was taken last. */
void planner_ended(struct planner *p, struct str name, const struct write_result *result);
