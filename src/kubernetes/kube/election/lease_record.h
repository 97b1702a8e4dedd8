/*
 * The Lease object as lease.c reads and writes it. Only that file includes this one.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"

#include <stdint.h>

/* The record in a Lease. Times stay texts, because they come from another clock. Strings live in
 * the text that was read, or in the arena. */
struct lease_record {
    struct str holder; /* "": nobody */
    struct str acquire_time, renew_time;
    int64_t duration_s; /* 0: not given */
    int64_t transitions;
    struct str uid, version; /* of the object; not written */
};

/* Returns -EINVAL if the text is not a Lease with a resourceVersion, or -ENOMEM. */
int lease_record_read(struct str json, struct arena *arena, struct lease_record *ret,
                      struct err *err) MUST_CHECK;

/* Returns the same hash for two records if no candidate wrote the Lease in between. The object's
 * version does not count: a new label must not keep a dead leader's Lease alive. */
struct hash128 lease_record_hash(const struct lease_record *record);

/*
 * Appends `object` (a Lease that lease_record_read() has accepted) with this record in it: all
 * other members stay as they are, but metadata.managedFields is left out. The resourceVersion
 * stays, so the API server refuses the write if the Lease has changed. The uid stays, so it refuses
 * the write if the Lease was deleted meanwhile (without the uid it would create a new one).
 * Failures stay in the buffer and the arena.
 */
void lease_record_update(struct str object, const struct lease_record *record, struct arena *arena,
                         struct strbuf *out);
/* Appends a new Lease. */
void lease_record_create(struct str namespace, struct str name, const struct lease_record *record,
                         struct strbuf *out);
