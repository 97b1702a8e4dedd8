/*
 * Keeps Fluid's objects the same as those of an API server: an informer of the kinds in
 * data/fluid/store.h. Kinds that are not installed have no objects, which is no error.
 *
 * Without a Dataset no other kind is needed, so all other kinds are watched from the first Dataset
 * on. StatefulSets are watched from the first EFCRuntime on: only workers of an EFCRuntime are
 * found by their StatefulSet. `eager` watches all kinds but StatefulSets from the beginning:
 * upstream's webhook denies pods with unknown claims.
 *
 * Threads: the client's thread writes the objects.
 */
#pragma once

#include "data/live.h"
#include "kube/client/client.h"

struct fluid_watch;

struct fluid_watch_options {
    struct fluid_live *objects; /* borrowed until fluid_watch_free() */
    struct kube_client *client; /* borrowed likewise */
    struct clock *clock;        /* NULL: the real clock */
    uint64_t seed;              /* for jitter */
    bool eager;
};

/* Begins at once. Registers metrics per resource. Returns 0 or -ENOMEM. */
int fluid_watch_start(const struct fluid_watch_options *options, struct fluid_watch **ret,
                      struct err *err) MUST_CHECK;
/* After the return, no thread writes to the objects. Call it on any thread except the client's.
 * Takes NULL. */
void fluid_watch_free(struct fluid_watch *w);

/* Has each watched kind been listed, found not to be installed, or at least tried once? If so,
 * further waiting is of no use. Any thread. */
bool fluid_watch_listed(struct fluid_watch *w);
/* Has each watched kind been listed or found not to be installed? Any thread. */
bool fluid_watch_synced(struct fluid_watch *w);
