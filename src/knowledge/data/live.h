/*
 * Fluid's objects from an API server's watches: one store (data/fluid/store.h) with many readers,
 * and one writer that changes one object at a time.
 *
 * A read-write lock guards it; writers are preferred. A reader holds it while it works on one pod
 * (about 100 us) because it borrows documents of the store. A writer holds it to exchange one
 * document, which it has parsed before. With a copy of the store for each change readers would need
 * no lock, but the copies would cost memory and time that grow with the cluster.
 *
 * Threads: any; one of them writes at a time.
 */
#pragma once

#include "base/err.h"
#include "data/fluid/store.h"

#include <stdbool.h>

struct fluid_live;

/* Returns 0 or -ENOMEM; free takes NULL. */
int fluid_live_new(struct fluid_live **ret, struct err *err) MUST_CHECK;
void fluid_live_free(struct fluid_live *l);

/* Returns the store, always the same one. A thread may read it only between fluid_live_hold() and
 * fluid_live_release(). */
const struct fluid_store *fluid_live_store(const struct fluid_live *l);
/* Stops changes until the same thread calls fluid_live_release(). A thread must not hold it twice.
 */
void fluid_live_hold(struct fluid_live *l);
void fluid_live_release(struct fluid_live *l);
/* Returns the number of objects. Needs no lock. */
size_t fluid_live_count(const struct fluid_live *l);

/*
 * Keeps an object of this kind, given as JSON. If it cannot be kept (-EINVAL, -EFBIG), its old
 * version is removed, unless the JSON cannot be parsed; -ENOMEM changes nothing. Keeps only
 * StatefulSets whose names end in "-worker".
 */
int fluid_live_apply(struct fluid_live *l, enum fluid_kind kind, struct str object,
                     struct err *err) MUST_CHECK;
void fluid_live_remove(struct fluid_live *l, struct fluid_key key);

/* For listings of a kind (base/pool.h): use the records only between lock and unlock. */
void fluid_live_lock(struct fluid_live *l);
void fluid_live_unlock(struct fluid_live *l);
struct pool *fluid_live_records(struct fluid_live *l, enum fluid_kind kind);
void fluid_live_drop(struct fluid_live *l, enum fluid_kind kind, uint32_t id);
