/*
 * One Lease as an API server stores it, in memory: versions, conflicts, uids, writes that change
 * nothing, an update that creates. It also refuses requests that an API server would refuse.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct lease_store {
    bool exists;
    uint64_t version, uid;
    uint64_t label;     /* number of the label that another writer set; 0: none yet */
    struct strbuf spec; /* the spec as it was sent */
    unsigned writes, conflicts;
};
void lease_store_done(struct lease_store *s);

/* Answers a request: replaces `answer`, and returns the HTTP status. */
int lease_store_call(struct lease_store *s, const char *method, const char *path, struct str body,
                     struct strbuf *answer);
/* Another client writes: it changes a label and the version, but not the spec. */
void lease_store_label(struct lease_store *s);
/* Another client writes the spec. */
void lease_store_set(struct lease_store *s, const char *spec);
void lease_store_delete(struct lease_store *s);
/* Returns a member of the spec as JSON text ("\"me\"", "3"), or "" if it is missing. */
struct str lease_store_spec(const struct lease_store *s, const char *member);
