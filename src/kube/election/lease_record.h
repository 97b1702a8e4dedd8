/*
 * The Lease object as lease.c reads and writes it. Only that file includes this one.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"

#include <stdint.h>

/* What a Lease says. Times stay the texts they are: they are another clock's. Strings live in the
 * text it was read from, or in the arena. */
struct lease_record {
    struct str holder; /* "": nobody */
    struct str acquire_time, renew_time;
    int64_t duration_s; /* 0: not said */
    int64_t transitions;
    struct str uid, version; /* of the object; not part of what is written */
};

/* -EINVAL when it is not a Lease with a resourceVersion, -ENOMEM. */
int lease_record_read(struct str json, struct arena *arena, struct lease_record *ret,
                      struct err *err) MUST_CHECK;

/* The same for two records exactly when the election wrote nothing in between. The object's version
 * is no part of it: whoever labels a dead leader's Lease must not keep it alive. */
struct hash128 lease_record_hash(const struct lease_record *record);

/*
 * Appends `object` (a Lease that lease_record_read() has accepted) with this record in it: all
 * other members stay as they are, except metadata.managedFields, which goes. The kept
 * resourceVersion makes the API server refuse the write when the Lease has changed, and the kept
 * uid when it was deleted meanwhile; without the uid it would create it anew. Failures are the
 * buffer's and the arena's.
 */
void lease_record_update(struct str object, const struct lease_record *record, struct arena *arena,
                         struct strbuf *out);
/* Appends a new Lease. */
void lease_record_create(struct str namespace, struct str name, const struct lease_record *record,
                         struct strbuf *out);
