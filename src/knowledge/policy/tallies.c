#include "policy/tallies.h"

#include "base/limits.h"
#include "base/mutex.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    char *name; /* owned */
    struct policy_tally tally;
    uint32_t evaded; /* bits: has grown since policy_tallies_take_evaded() */
};

struct policy_tallies {
    struct mutex mutex;    /* guards the rest */
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

/* Returns the place of a name, or where it would be. */
static uint32_t entry_at(const struct policy_tallies *t, struct str name, bool *ret_found) {
    uint32_t low = 0, high = t->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (str_cmp(str_of(t->entries[middle].name), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_found = low < t->count && str_eq(str_of(t->entries[low].name), name);
    return low;
}

/* Returns NULL without room. */
static struct entry *insert(struct policy_tallies *t, uint32_t at, struct str name) {
    if (t->count == LIMIT_POLICIES)
        return NULL;
    if (t->count == t->cap) {
        uint32_t cap = t->cap == 0 ? 16 : 2 * t->cap;
        struct entry *grown = reallocarray(t->entries, cap, sizeof *grown);
        if (grown == NULL)
            return NULL;
        t->entries = grown;
        t->cap = cap;
    }
    char *copy = malloc(name.n + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, name.p, name.n);
    copy[name.n] = '\0';
    memmove(t->entries + at + 1, t->entries + at, (t->count - at) * sizeof *t->entries);
    t->entries[at] = (struct entry){.name = copy};
    t->count++;
    return &t->entries[at];
}

void policy_tallies_add(struct policy_tallies *t, struct str name, const struct policy_tally *add) {
    bool found;
    mutex_lock(&t->mutex);
    uint32_t at = entry_at(t, name, &found);
    struct entry *entry = found ? &t->entries[at] : insert(t, at, name);
    if (entry != NULL) {
        entry->tally.injected += add->injected;
        entry->tally.softened += add->softened;
        for (int i = 0; i < POLICY_SKIPS; i++)
            entry->tally.skipped[i] += add->skipped[i];
        for (int i = 0; i < POLICY_EVASIONS; i++)
            if (add->evaded[i] > 0) {
                entry->tally.evaded[i] += add->evaded[i];
                entry->evaded |= 1u << i;
            }
    }
    mutex_unlock(&t->mutex);
}

struct policy_tally policy_tallies_of(struct policy_tallies *t, struct str name) {
    struct policy_tally tally = {0};
    bool found;
    mutex_lock(&t->mutex);
    uint32_t at = entry_at(t, name, &found);
    if (found)
        tally = t->entries[at].tally;
    mutex_unlock(&t->mutex);
    return tally;
}

uint32_t policy_tallies_take_evaded(struct policy_tallies *t, struct str name) {
    uint32_t evaded = 0;
    bool found;
    mutex_lock(&t->mutex);
    uint32_t at = entry_at(t, name, &found);
    if (found) {
        evaded = t->entries[at].evaded;
        t->entries[at].evaded = 0;
    }
    mutex_unlock(&t->mutex);
    return evaded;
}
