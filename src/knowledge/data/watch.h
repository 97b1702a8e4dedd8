/*
 * Keeps Fluid's objects the same as those of an API server: an informer of the kinds that tell
 * where a pod's data is. Kinds that are not installed have no objects, which is no error.
 *
 * Where there is no dataset nothing can be said of any claim, so what else there is is watched from
 * the first Dataset on, and StatefulSets from the first EFCRuntime on, for only its workers are
 * looked up. `eager` watches all but those from the beginning: upstream's webhook denies pods whose
 * claims it does not know.
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
    struct clock *clock;        /* NULL: the real one */
    uint64_t seed;              /* of jitter */
    bool eager;
};

/* Begins at once. Registers metrics per resource. 0, -ENOMEM. */
int fluid_watch_start(const struct fluid_watch_options *options, struct fluid_watch **ret,
                      struct err *err) MUST_CHECK;
/* When this returns, the objects are not written to any more. Any thread but the client's. NULL is
 * fine. */
void fluid_watch_free(struct fluid_watch *w);

/* Has each kind that is watched been read once, or found not to be installed, or has it at least
 * been tried? Waiting longer would not help then. Any thread. */
bool fluid_watch_listed(struct fluid_watch *w);
/* The same without those that have only been tried: nothing is missing. Any thread. */
bool fluid_watch_synced(struct fluid_watch *w);
