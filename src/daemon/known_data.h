/*
 * Where data is, which every door works by: Fluid's objects, those of the state files or, with an
 * API server as the source, those of watches.
 *
 * Threads: all calls but known_data_listed() belong to the main thread.
 */
#pragma once

#include "base/err.h"
#include "config/configuration.h"
#include "kube/client/client.h"

struct file_follower;
struct fluid_source;
struct known_data;

/*
 * Begins to watch. `client` NULL: there is no API server, and known_data_follower() brings what
 * is known; otherwise it is borrowed until known_data_stop(). *ret is NULL where nothing is to be
 * known, and otherwise set also after a failure, for the caller to stop and free. NULL is fine in
 * all other calls.
 */
int known_data_start(const struct configuration *c, struct kube_client *client,
                     struct known_data **ret, struct err *err) MUST_CHECK;
/* Takes objects out of state files (cache/file_source.h). Borrowed until known_data_free(). */
struct file_follower *known_data_follower(struct known_data *d);
/* NULL: nothing is known of data. Borrowed until known_data_free(). */
struct fluid_source *known_data_source(const struct known_data *d);
/* Has every kind of the API server been listed, or has it at least been tried? Any thread. */
bool known_data_listed(const struct known_data *d);
/* About once a second: has the profile's file changed? With an API server it has been read again
 * then; otherwise the state files must be read anew. */
bool known_data_poll(struct known_data *d);
/* SIGHUP: the profile's file is read at once, unless it is read with the state files. */
void known_data_reload(struct known_data *d);
/* What is known stays as it is, and may still be looked at by requests that are ending. */
void known_data_stop(struct known_data *d);
void known_data_free(struct known_data *d);
