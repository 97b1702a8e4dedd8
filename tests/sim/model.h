/*
 * What the cache must hold, kept the naive way: the objects that were told, and whether the listing
 * under way has told them.
 *
 * A pod is known by its UID, so an old and a new one of the same name may be there at once; all
 * else is known by its name.
 */
#pragma once

#include "sim/things.h"

enum { MODEL_ENTRIES = 256 };

struct model_entry {
    uint32_t slot;
    bool listed; /* by the listing under way */
    bool fresh;  /* by none that has ended */
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

/* A full listing begins; it ends: what it did not tell is gone. Returns how many went. */
void model_sync_begin(struct model *m, enum object_kind kind);
uint32_t model_sync_end(struct model *m, enum object_kind kind);
/* It has no end: what no other has told is gone. */
void model_sync_abort(struct model *m, enum object_kind kind);
/* False: more objects than there is room for, which cannot be. */
bool model_apply(struct model *m, enum object_kind kind, uint32_t slot, const struct thing *thing);
void model_remove(struct model *m, enum object_kind kind, uint32_t slot, const struct thing *thing);
