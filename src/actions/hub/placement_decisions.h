/*
 * Makes the planner's writes (hub/planner.h) for Placements that Evenkeel owns: the Placement's
 * annotations, status and scores, and its PlacementDecisions. Only the leader writes: one write of
 * a Placement at a time, and the next only when the watch has shown the last.
 *
 * RBAC: addonplacementscores get, list, watch, create; addonplacementscores/status patch;
 * placements get, list, watch, patch; placements/status patch; placementdecisions get, list, watch,
 * create, patch, delete; placementdecisions/status patch; placements/finalizers update where the
 * API server checks blockOwnerDeletion.
 *
 * Threads: works on the client's thread and on the planner's.
 */
#pragma once

#include "fleet/fleet.h"
#include "hub/owned.h"
#include "kube/client/io.h"
#include "kube/election/elector.h"
#include "kube/events/events.h"
#include "kube/write/writer.h"
#include "policy/policies.h"

struct placement_decisions;
struct placement_history;

struct placement_decisions_options {
    struct fleet *fleet; /* borrowed until placement_decisions_free(), as the members below */
    struct policy_source *policies; /* NULL: no policies */
    bool (*is_synced)(void *ctx);   /* are the fleet and the policies synced? */
    void *ctx;
    struct kube_client *client;        /* client of the hub's API server */
    struct writer *writer;             /* the writer of that client */
    const struct elector *elector;     /* the leader writes; NULL: every replica */
    struct event_recorder *events;     /* NULL: no Events */
    struct placement_history *history; /* NULL: no history */
    struct owned_settings settings;
    struct clock *clock;      /* NULL: the real clock */
    const struct kube_io *io; /* NULL: the real functions */
};

/* Begins at once, and is the fleet's observer from now on. Returns 0 or -errno. */
int placement_decisions_start(const struct placement_decisions_options *options,
                              struct placement_decisions **ret, struct err *err) MUST_CHECK;
/* When this returns, no write is under way; decisions stay. Any thread but the client's. NULL is
 * fine. */
void placement_decisions_free(struct placement_decisions *d);
