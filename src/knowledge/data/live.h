/*
 * Fluid's objects as an API server's watches tell them: one store (data/fluid/store.h) that many
 * read and one changes, object by object.
 *
 * A read-write lock guards it, writers preferred. A reader holds it for as long as one pod takes
 * (some 100 us) because what it finds in the store it borrows; a writer holds it for the exchange
 * of one document, made of the text before. Copies of the store, one per change, would make readers
 * independent of that, for memory and time that grow with the cluster.
 *
 * Threads: any; one of them writes at a time.
 */
#pragma once

#include "base/err.h"
#include "data/fluid/store.h"

#include <stdbool.h>

struct fluid_live;

/* 0 or -ENOMEM; free takes NULL. */
int fluid_live_new(struct fluid_live **ret, struct err *err) MUST_CHECK;
void fluid_live_free(struct fluid_live *l);

/* The store, always the same one. To be read only while it is held, and by whoever holds it. */
const struct fluid_store *fluid_live_store(const struct fluid_live *l);
/* It stands still until the same thread calls fluid_live_release(). Not twice in one thread. */
void fluid_live_hold(struct fluid_live *l);
void fluid_live_release(struct fluid_live *l);
/* How many objects there are. No lock. */
size_t fluid_live_count(const struct fluid_live *l);

/*
 * Takes over an object of this kind, given as JSON. One that cannot be kept (-EINVAL, -EFBIG) is
 * unknown from then on, rather than known as it was before; -ENOMEM changes nothing. Of
 * StatefulSets only workers of runtimes are kept.
 */
int fluid_live_apply(struct fluid_live *l, enum fluid_kind kind, struct str object,
                     struct err *err) MUST_CHECK;
void fluid_live_remove(struct fluid_live *l, struct fluid_key key);

/* For listings of a kind (base/pool.h), between the lock and the unlock. */
void fluid_live_lock(struct fluid_live *l);
void fluid_live_unlock(struct fluid_live *l);
struct pool *fluid_live_records(struct fluid_live *l, enum fluid_kind kind);
void fluid_live_drop(struct fluid_live *l, enum fluid_kind kind, uint32_t id);
