#include "policy/tallies.h"

#include "base/limits.h"
#include "base/mutex.h"
#include "base/sorted.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    char *name;      /* owned */
    uint32_t evaded; /* bits of evasions since policy_tallies_take_evaded() */
};

struct policy_tallies {
    struct mutex mutex;    /* guards all other members */
    struct entry *entries; /* owned; sorted by name */
    uint32_t count, cap;
};

struct policy_tallies *policy_tallies_new(void) {
    struct policy_tallies *t = calloc(1, sizeof *t);
    if (t != NULL)
        mutex_init(&t->mutex);
    return t;
}

void policy_tallies_free(struct policy_tallies *t) {
    if (t == NULL)
        return;
    for (uint32_t i = 0; i < t->count; i++)
        free(t->entries[i].name);
    free(t->entries);
    mutex_done(&t->mutex);
    free(t);
}

static struct str entry_name(const void *items, size_t i) {
    return str_of(((const struct entry *)items)[i].name);
}

/* Returns the index of a name, or the index where it must be inserted. */
static size_t entry_at(const struct policy_tallies *t, struct str name, bool *ret_found) {
    return sorted_place(t->entries, t->count, entry_name, name, ret_found);
}

/* Returns NULL if there is no room. */
static struct entry *insert(struct policy_tallies *t, size_t at, struct str name) {
    if (t->count == LIMIT_POLICIES)
        return NULL;
    const struct entry entry = {.name = str_dup(name)};
    if (entry.name != NULL &&
        sorted_insert(&t->entries, &t->count, &t->cap, sizeof entry, at, &entry))
        return &t->entries[at];
    free(entry.name);
    return NULL;
}

void policy_tallies_add(struct policy_tallies *t, struct str name, uint32_t evasion) {
    bool found;
    mutex_lock(&t->mutex);
    size_t at = entry_at(t, name, &found);
    struct entry *entry = found ? &t->entries[at] : insert(t, at, name);
    if (entry != NULL)
        entry->evaded |= 1u << evasion;
    mutex_unlock(&t->mutex);
}

uint32_t policy_tallies_take_evaded(struct policy_tallies *t, struct str name) {
    uint32_t evaded = 0;
    bool found;
    mutex_lock(&t->mutex);
    size_t at = entry_at(t, name, &found);
    if (found) {
        evaded = t->entries[at].evaded;
        t->entries[at].evaded = 0;
    }
    mutex_unlock(&t->mutex);
    return evaded;
}
