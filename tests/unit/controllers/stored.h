/*
 * One object as an API server stores it, in memory: versions, conflicts, creation that succeeds
 * once, merge patches, and patches of lists whose items have names. Also sends the events of its
 * watch.
 */
#pragma once

#include "kube/watch/reflector.h"
#include "kube/write/writer.h"
#include "unit/kube/fake_client.h"

#include <cJSON.h>

/* Returns a writer on a fake client; it sends one request at a time, and has the usual limits
 * otherwise. */
struct writer *fake_writer(struct kube_client *client);

struct stored {
    cJSON *object; /* NULL: the object does not exist */
    unsigned version, writes, conflicts;
    int refuse; /* the status of the refusal of each request; 0: none is refused */
};
void stored_done(struct stored *s);
/* Another client changes the object to this JSON (NULL: deletes it). */
void stored_set(struct stored *s, const char *json);
/* Call it after changing the object in place. */
void stored_touch(struct stored *s);
/* Returns the string at a path of names and numbers ("data/tls.crt", "webhooks/0/name"), or "". */
const char *stored_text(const struct stored *s, const char *path);

/* Executes and answers the pending request. */
void stored_serve(struct stored *s, struct kube_client *client);
/* Send what a watch would send: a listing, or an event about the object. */
void stored_list(const struct stored *s, const struct reflector_sink *sink);
void stored_tell(const struct stored *s, const struct reflector_sink *sink);
