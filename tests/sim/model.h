/*
 * A naive model of the cache's contents: the objects that the cache received, and whether the
 * present listing has shown them.
 *
 * A pod is known by its UID, so an old and a new pod with the same name may exist at once; all
 * other objects are known by their names.
 */
#pragma once

#include "sim/things.h"

enum { MODEL_ENTRIES = 256 };

struct model_entry {
    uint32_t slot;
    bool listed; /* the present listing has shown it */
    bool fresh;  /* no complete listing has shown it */
    struct thing thing;
};

struct model_kind {
    struct model_entry entries[MODEL_ENTRIES];
    uint32_t count;
    bool synced, syncing;
};

struct model {
    struct model_kind kinds[OBJECT_KINDS];
};

/* Begins and ends a full listing. At its end, objects that it has not shown are removed; returns
 * their number. */
void model_sync_begin(struct model *m, enum object_kind kind);
uint32_t model_sync_end(struct model *m, enum object_kind kind);
/* Ends an incomplete listing: removes objects that no complete listing has shown. */
void model_sync_abort(struct model *m, enum object_kind kind);
/* Returns false if there is no room for the object, which cannot happen. */
bool model_apply(struct model *m, enum object_kind kind, uint32_t slot, const struct thing *thing);
void model_remove(struct model *m, enum object_kind kind, uint32_t slot, const struct thing *thing);
