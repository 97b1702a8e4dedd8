/*
 * Labels the nodes that workers of datasets are leaving (data/fluid/leaving.h), so that the term
 * which the webhook writes into pods keeps them off, whichever scheduler places them. By the leader
 * if there is one; a node is looked at every second and written at most every few seconds.
 *
 * Written is by server-side apply, with a field manager of its own: what is applied to a node is
 * the whole set of these labels that it should have, so the API server removes those that were
 * applied before and are not any more. It knows whose they are, from managedFields, also after a
 * restart and for a dataset that has gone. A label that somebody else has set stays: it is written
 * once that it should go, and as nothing comes of that, not again for some minutes.
 *
 * Until all of Fluid's is listed nothing is written: a node would lose its label for what is not
 * known yet, or cannot be read.
 *
 * RBAC: patch on nodes. It does not allow to create one, which apply would do for a node that has
 * just gone.
 *
 * Metric: evenkeel_leaving_nodes.
 *
 * Threads: everything happens on the client's.
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
    bool (*is_synced)(void *ctx); /* is nothing missing of these? */
    void *ctx;
    struct cache *cache; /* of the nodes; borrowed likewise, as what follows */
    struct kube_client *client;
    struct writer *writer;         /* the client's */
    const struct elector *elector; /* who writes; NULL: every replica */
    struct clock *clock;           /* NULL: the real one */
    const struct kube_io *io;      /* NULL: the client's */
};

/* Begins at once. 0 or -ENOMEM. */
int leaving_nodes_start(const struct leaving_nodes_options *options,
                        struct leaving_nodes_controller **ret, struct err *err) MUST_CHECK;
/* When this returns, nothing is being written any more; labels stay. Any thread. NULL is fine. */
void leaving_nodes_free(struct leaving_nodes_controller *r);
