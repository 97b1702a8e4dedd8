/*
 * AddOnPlacementScores that the API server refuses to write, with 403 or 422. All Placements that
 * want an item in such an object share one time before which none of them tries again; each denial
 * doubles the time. Not thread-safe.
 */
#pragma once

#include "base/hashmap.h"
#include "base/pool.h"
#include "base/str.h"

enum {
    DENIAL_MS = 10000, /* the wait after the first denial; each denial doubles it */
    DENIAL_MAX_MS = 600000
};

struct denied_objects {
    struct pool objects;
    struct hashmap index;
};

void denied_objects_init(struct denied_objects *d);
void denied_objects_done(struct denied_objects *d);

static inline bool is_denial(int status) {
    return status == 403 || status == 422;
}

/* Notes that a write of the object, "CLUSTER/RESOURCE", was denied. Further denials while the
 * object must not be written do not count: those writes began earlier. Without memory or room
 * the object is not kept. */
void denied_objects_add(struct denied_objects *d, struct str object, int64_t now_ms);
/* Notes that a write of the object has succeeded. */
void denied_objects_remove(struct denied_objects *d, struct str object);
/* Returns how long the object must not be written; 0: it may be tried. */
int64_t denied_objects_left_ms(const struct denied_objects *d, struct str object, int64_t now_ms);
