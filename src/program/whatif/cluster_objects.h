/*
 * Objects as text, for commands that need more of them than the cache keeps: those of the state
 * files that the configuration names, or pods, volumes, claims and policies of its API server,
 * listed once. They stay in memory until they are done with.
 */
#pragma once

#include "config/configuration.h"
#include "model/object.h"
#include "yaml/manifests.h"

struct cluster_objects {
    struct manifests files;
    struct strbuf *pages; /* owned; lists of an API server */
    uint32_t count, cap;
};

/* 0 or -errno; cluster_objects_done() in any case. A kind that the API server does not have, or
 * does not show, but for pods, has no objects; the second is in the log. */
int cluster_objects_read(const struct configuration *c, struct cluster_objects *ret,
                         struct err *err) MUST_CHECK;
/* As objects_walk(), over all of them. What `read` keeps of an object's text stays valid. */
int cluster_objects_walk(const struct cluster_objects *objects, object_read_fn *read, void *ctx,
                         struct err *err) MUST_CHECK;
void cluster_objects_done(struct cluster_objects *objects);
