#include "topology/name_table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static uint32_t home(const struct name_table *t, uint64_t a) {
    return (uint32_t)a & (t->cap - 1);
}

static void place(struct name_table *t, struct name_entry entry) {
    uint32_t i = home(t, entry.a);
    while (t->entries[i].slot != NAME_NONE)
        i = (i + 1) & (t->cap - 1);
    t->entries[i] = entry;
}

int name_table_reserve(struct name_table *t) {
    if (t->count < t->cap / 2)
        return 0;
    if (t->cap > UINT32_MAX / 4)
        return -ENOMEM;
    struct name_table grown = {.cap = t->cap == 0 ? 64 : t->cap * 2, .count = t->count};
    grown.entries = malloc(grown.cap * sizeof *grown.entries);
    if (grown.entries == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < grown.cap; i++)
        grown.entries[i] = (struct name_entry){.slot = NAME_NONE};
    for (uint32_t i = 0; i < t->cap; i++)
        if (t->entries[i].slot != NAME_NONE)
            place(&grown, t->entries[i]);
    free(t->entries);
    *t = grown;
    return 0;
}

void name_table_put(struct name_table *t, struct hash128 name, uint32_t slot) {
    assert(t->count < t->cap && slot != NAME_NONE);
    place(t, (struct name_entry){name.a, (uint32_t)name.b, slot});
    t->count++;
}

/* Returns the position of a name that is in the table. */
static uint32_t position(const struct name_table *t, struct hash128 name) {
    uint32_t i = home(t, name.a);
    while (t->entries[i].a != name.a || t->entries[i].b != (uint32_t)name.b ||
           t->entries[i].slot == NAME_NONE) {
        assert(t->entries[i].slot != NAME_NONE);
        i = (i + 1) & (t->cap - 1);
    }
    return i;
}

void name_table_take(struct name_table *t, struct hash128 name) {
    uint32_t mask = t->cap - 1, hole = position(t, name);
    /* close the gap: move a later entry into the hole, unless its home is between the hole and
     * its place */
    for (uint32_t i = (hole + 1) & mask; t->entries[i].slot != NAME_NONE; i = (i + 1) & mask)
        if (((i - home(t, t->entries[i].a)) & mask) >= ((i - hole) & mask)) {
            t->entries[hole] = t->entries[i];
            hole = i;
        }
    t->entries[hole].slot = NAME_NONE;
    t->count--;
}

void name_table_done(struct name_table *t) {
    free(t->entries);
    *t = (struct name_table){0};
}
