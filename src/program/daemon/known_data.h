/*
 * Where data is, for all listeners: Fluid's objects. They come from the state files or, if the
 * source is an API server, from watches. With data.labelLeavingNodes nodes are labelled by them.
 *
 * Threads: all calls but known_data_listed() belong to the main thread.
 */
#pragma once

#include "base/err.h"
#include "config/configuration.h"
#include "kube/client/client.h"

struct cache;
struct elector;
struct file_follower;
struct fluid_source;
struct known_data;
struct writer;

struct known_data_options {
    const struct configuration *configuration;
    struct kube_client *client; /* borrowed until known_data_stop(), as what follows; NULL: there is
                                   no API server, and known_data_follower() takes the objects from
                                   state files */
    struct cache *cache;
    struct writer *writer;         /* the client's */
    const struct elector *elector; /* of controllers */
};

/*
 * Begins to watch. *ret is NULL if the configuration asks
 * for no data; otherwise it is set, also after a failure, and the caller stops and frees it. NULL
 * is fine in all other calls.
 */
int known_data_start(const struct known_data_options *options, struct known_data **ret,
                     struct err *err) MUST_CHECK;
/* Takes objects out of state files (state/file_source.h). Borrowed until known_data_free(). */
struct file_follower *known_data_follower(struct known_data *d);
/* NULL for NULL. Borrowed until known_data_free(). */
struct fluid_source *known_data_source(const struct known_data *d);
/* Has the API server listed every kind, or failed to at least once? Any thread. */
bool known_data_listed(const struct known_data *d);
/* As often as state.pollInterval says: if the profile's file changed, reads it again (with an API
 * server) and returns true. The caller must then read state files again, if they are the source. */
bool known_data_poll(struct known_data *d);
/* SIGHUP: the profile's file is read at once, unless it is read with the state files. */
void known_data_reload(struct known_data *d);
/* The objects stay as they are: requests that are ending may still read them. */
void known_data_stop(struct known_data *d);
void known_data_free(struct known_data *d);
