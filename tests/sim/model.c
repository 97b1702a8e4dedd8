#include "sim/model.h"

void model_sync_begin(struct model *m, enum object_kind kind) {
    struct model_kind *k = &m->kinds[kind];
    for (uint32_t i = 0; i < k->count; i++)
        k->entries[i].listed = false;
    k->syncing = true;
}

static void drop(struct model_kind *k, uint32_t i) {
    k->entries[i] = k->entries[--k->count];
}

uint32_t model_sync_end(struct model *m, enum object_kind kind) {
    struct model_kind *k = &m->kinds[kind];
    uint32_t gone = 0;
    for (uint32_t i = 0; i < k->count;) {
        if (k->entries[i].listed) {
            k->entries[i++].fresh = false;
        } else {
            drop(k, i);
            gone++;
        }
    }
    k->synced = true;
    k->syncing = false;
    return gone;
}

void model_sync_abort(struct model *m, enum object_kind kind) {
    struct model_kind *k = &m->kinds[kind];
    for (uint32_t i = k->count; i-- > 0;)
        if (k->entries[i].fresh)
            drop(k, i);
    k->syncing = false;
}

static uint32_t find(const struct model_kind *k, enum object_kind kind, uint32_t slot,
                     const struct thing *thing) {
    uint32_t i = 0;
    while (i < k->count &&
           !(k->entries[i].slot == slot &&
             (kind != OBJECT_POD || k->entries[i].thing.incarnation == thing->incarnation)))
        i++;
    return i;
}

bool model_apply(struct model *m, enum object_kind kind, uint32_t slot, const struct thing *thing) {
    if (!thing_held(kind, thing)) {
        model_remove(m, kind, slot, thing);
        return true;
    }
    struct model_kind *k = &m->kinds[kind];
    uint32_t i = find(k, kind, slot, thing);
    if (i == MODEL_ENTRIES)
        return false;
    bool fresh = i == k->count ? k->syncing : k->entries[i].fresh;
    k->entries[i] = (struct model_entry){slot, true, fresh, *thing};
    if (i == k->count)
        k->count++;
    return true;
}

void model_remove(struct model *m, enum object_kind kind, uint32_t slot,
                  const struct thing *thing) {
    struct model_kind *k = &m->kinds[kind];
    uint32_t i = find(k, kind, slot, thing);
    if (i < k->count)
        drop(k, i);
}
