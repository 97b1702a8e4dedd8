/*
 * Objects as text, for commands that need more of an object than the cache keeps: from the
 * configuration's state files, or pods, volumes, claims and policies from its API server, listed
 * once. They stay in memory until cluster_objects_done().
 */
#pragma once

#include "config/configuration.h"
#include "model/object.h"
#include "yaml/manifests.h"

struct cluster_objects {
    struct manifests files;
    struct strbuf *pages; /* owned; the lists that an API server sent */
    uint32_t count, cap;
};

/* Returns 0 or -errno; always call cluster_objects_done(). Except for pods, a kind that does not
 * exist, or that the user may not list, has no objects; the latter is logged. */
int cluster_objects_read(const struct configuration *c, struct cluster_objects *ret,
                         struct err *err) MUST_CHECK;
/* Calls objects_walk() over all objects. The objects' texts outlive the walk. */
int cluster_objects_walk(const struct cluster_objects *objects, object_read_fn *read, void *ctx,
                         struct err *err) MUST_CHECK;
void cluster_objects_done(struct cluster_objects *objects);
