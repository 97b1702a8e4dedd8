/*
 * One Lease as an API server keeps it, in memory: versions, conflicts, uids, writes that change
 * nothing, an update that creates. It also refuses what an API server would not take.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct lease_store {
    bool exists;
    uint64_t version, uid, label; /* label: of the other writer; 0: none yet */
    struct strbuf spec;           /* as it was sent */
    unsigned writes, conflicts;
};
void lease_store_done(struct lease_store *s);

/* What the server answers to a request. `answer` is replaced. Returns the HTTP status. */
int lease_store_call(struct lease_store *s, const char *method, const char *path, struct str body,
                     struct strbuf *answer);
/* Somebody else writes: another label, a version on, the record as it was. */
void lease_store_label(struct lease_store *s);
/* Somebody else writes the record. */
void lease_store_set(struct lease_store *s, const char *spec);
void lease_store_delete(struct lease_store *s);
/* A member of the spec as JSON text ("\"me\"", "3"); "" if there is none. */
struct str lease_store_spec(const struct lease_store *s, const char *member);
