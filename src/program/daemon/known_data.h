/*
 * The places of data, for all listeners: Fluid's objects. They come from the state files or, if the
 * source is an API server, from watches. With data.labelLeavingNodes a controller labels nodes.
 *
 * Threads: all calls except known_data_listed() belong to the main thread.
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
    /* All members are borrowed until known_data_stop(). `client` is NULL if there is no API server;
     * known_data_follower() then takes the objects from state files. */
    struct kube_client *client;
    struct cache *cache;
    struct writer *writer;         /* the writer of this client */
    const struct elector *elector; /* elects the leader for controllers */
};

/*
 * Starts to watch. *ret is NULL if the configuration uses no data. Otherwise *ret is set, also
 * after a failure, and the caller must stop and free it. The other functions accept NULL.
 */
int known_data_start(const struct known_data_options *options, struct known_data **ret,
                     struct err *err) MUST_CHECK;
/* Returns a follower of state files (state/file_source.h). Borrowed until known_data_free(). */
struct file_follower *known_data_follower(struct known_data *d);
/* Returns NULL for NULL. Borrowed until known_data_free(). */
struct fluid_source *known_data_source(const struct known_data *d);
/* Has the API server listed every kind, or failed at least once to list it? Any thread. */
bool known_data_listed(const struct known_data *d);
/* Call every state.pollInterval. Returns true if the profile's file has changed: if the source is
 * an API server, the file has been read again; if the source are state files, the caller must read
 * them again. */
bool known_data_poll(struct known_data *d);
/* For SIGHUP: reads the profile's file at once, unless it is read with the state files. */
void known_data_reload(struct known_data *d);
/* Stops the watches. The objects stay, because requests that are ending may still read them. */
void known_data_stop(struct known_data *d);
void known_data_free(struct known_data *d);
