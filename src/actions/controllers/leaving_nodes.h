/*
 * Labels the nodes that workers of datasets are leaving (data/fluid/leaving.h). The webhook writes
 * a term for this label into pods, which keeps them off these nodes with any scheduler. The leader
 * writes, if there is one. It checks nodes every second, and writes to a node at most every few
 * seconds.
 *
 * It writes by server-side apply, with its own field manager: it applies the whole set of these
 * labels that a node should have, and the API server removes labels that were applied before and
 * are missing now. The API server knows our labels from managedFields, also after a restart and for
 * a dataset that is gone. A label that somebody else has set stays: the controller tries once to
 * remove it, and when this has no effect, it tries again only after some minutes.
 *
 * It writes nothing until all objects of Fluid are listed: a node would lose the label of a dataset
 * that is not known yet, or cannot be read.
 *
 * RBAC: patch on nodes. This right does not allow the creation of a node, so apply cannot bring
 * back a node that was just deleted.
 *
 * Metric: evenkeel_leaving_nodes.
 *
 * Threads: everything happens on the client's thread.
 */
#pragma once

#include "cache/cache.h"
#include "data/live.h"
#include "kube/client/io.h"
#include "kube/election/elector.h"
#include "kube/write/writer.h"

struct leaving_nodes_controller;

struct leaving_nodes_options {
    struct fluid_live *objects;   /* borrowed until leaving_nodes_free() */
    bool (*is_synced)(void *ctx); /* are all objects listed? */
    void *ctx;
    struct cache *cache; /* has the nodes; borrowed likewise, as the members below */
    struct kube_client *client;
    struct writer *writer;         /* the writer of that client */
    const struct elector *elector; /* the leader writes; NULL: every replica */
    struct clock *clock;           /* NULL: the real clock */
    const struct kube_io *io;      /* NULL: the real functions */
};

/* Starts at once. Returns 0 or -ENOMEM. */
int leaving_nodes_start(const struct leaving_nodes_options *options,
                        struct leaving_nodes_controller **ret, struct err *err) MUST_CHECK;
/* When this returns, no write is under way; labels stay. Any thread. NULL is fine. */
void leaving_nodes_free(struct leaving_nodes_controller *r);
