/*
 * One object as an API server keeps it, in memory: versions, conflicts, creation that succeeds
 * once, merge patches, and patches of lists whose items have names. And a watch of it, by hand.
 */
#pragma once

#include "kube/watch/reflector.h"
#include "kube/write/writer.h"
#include "unit/kube/fake_client.h"

#include <cJSON.h>

/* A writer on a fake client, which has one request at a time; otherwise with the usual limits. */
struct writer *fake_writer(struct kube_client *client);

struct stored {
    cJSON *object; /* NULL: it does not exist */
    unsigned version, writes, conflicts;
    int refuse; /* answer with this status instead; 0: do not */
};
void stored_done(struct stored *s);
/* Somebody else makes it what this JSON says (NULL: deletes it). */
void stored_set(struct stored *s, const char *json);
/* It was changed in place. */
void stored_touch(struct stored *s);
/* The string at a path of names and numbers ("data/tls.crt", "webhooks/0/name"), "" if none. */
const char *stored_text(const struct stored *s, const char *path);

/* The request under way is done and answered. */
void stored_serve(struct stored *s, struct kube_client *client);
/* What a watch tells: a listing, or what became of the object. */
void stored_list(const struct stored *s, const struct reflector_sink *sink);
void stored_tell(const struct stored *s, const struct reflector_sink *sink);
