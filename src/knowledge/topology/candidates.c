/*
 * Candidates and their slots. Every per-slot array (of columns, of feasibilities, and the owner's)
 * has room for topology_cap() slots.
 */
#include "base/hash.h"
#include "base/limits.h"
#include "base/name_hash.h"
#include "topology/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct candidate_record *at(const struct topology *t, uint32_t slot) {
    return pool_at(&t->candidates, slot);
}

/* ---- slots ---- */

static bool name_equal(const void *ctx, uint32_t id, const void *key) {
    const struct str *name = key;
    return str_eq(at(ctx, id)->text, *name);
}

static uint32_t find_known(const struct topology *t, struct str name) {
    return name_table_find(&t->known_names, name_hash(name_hash_key(), name));
}

/* Nearly all names are known; known names are found without reading them. */
uint32_t topology_slot(const struct topology *t, struct str name) {
    uint32_t slot = find_known(t, name);
    return slot != NAME_NONE ? slot : hashmap_find(&t->index, hash_str(name), name_equal, t, &name);
}

/* Makes room in every per-slot array: doubles small ones, and adds half to large ones, because each
 * counter and column has such an array. This happens some dozen times in a cluster's life, and then
 * all built parts are forgotten: to copy them would take many times a writer's time. */
static int grow(struct topology *t) {
    uint32_t to = t->cap == 0 ? 64 : t->cap < 1024 ? t->cap * 2 : (t->cap + t->cap / 2) & ~63u;
    if (t->options.grow != NULL && t->options.grow(t->options.owner, to) != 0)
        return -ENOMEM;
    for (POOL_EACH(&t->columns, id))
        column_free(t, id);
    for (POOL_EACH(&t->feasibilities, id))
        feasibility_free(t, id);
    for (POOL_EACH(&t->trees, id))
        tree_free(t, id);
    t->cap = to;
    t->changes++;
    t->moves++;
    return 0;
}

uint32_t topology_slot_make(struct topology *t, struct str name) {
    uint32_t slot = topology_slot(t, name);
    if (slot != TOPOLOGY_NONE)
        return slot;
    if ((t->candidates.count == t->cap && grow(t) != 0) || hashmap_reserve(&t->index) != 0)
        return TOPOLOGY_NONE;
    uint32_t name_id = intern_ref(t->strings, name);
    if (name_id == INTERN_NONE)
        return TOPOLOGY_NONE;
    slot = pool_take(&t->candidates);
    if (slot == POOL_NONE) {
        intern_unref(t->strings, name_id);
        return TOPOLOGY_NONE;
    }
    at(t, slot)->name = name_id;
    at(t, slot)->text = intern_str(t->strings, name_id);
    hashmap_insert(&t->index, hash_str(name), slot);
    return slot;
}

void topology_settle(struct topology *t, uint32_t slot) {
    const struct candidate_record *candidate = at(t, slot);
    if (topology_is_known(t, slot) || candidate->holders > 0)
        return;
    if (t->options.freed != NULL)
        t->options.freed(t->options.owner, slot);
    t->slot_epoch++;
    hashmap_remove(&t->index, hash_str(candidate->text), slot);
    intern_unref(t->strings, candidate->name);
    pool_give(&t->candidates, slot);
}

void topology_hold(struct topology *t, uint32_t slot) {
    at(t, slot)->holders++;
}

void topology_unhold(struct topology *t, uint32_t slot) {
    at(t, slot)->holders--;
}

/* ---- taints: one block holds the array and its strings ---- */

static struct str put(char **at, struct str s) {
    char *to = *at;
    if (s.n > 0)
        memcpy(to, s.p, s.n);
    *at += s.n;
    return (struct str){to, s.n};
}

static size_t bytes_of_taints(const struct taint *taints, uint32_t count) {
    size_t bytes = count * sizeof *taints;
    for (uint32_t i = 0; i < count; i++)
        bytes += taints[i].key.n + taints[i].value.n + taints[i].effect.n;
    return bytes;
}

static int taints_make(const struct candidate *candidate, struct taint **ret) {
    *ret = NULL;
    if (candidate->taint_count == 0)
        return 0;
    struct taint *taints = malloc(bytes_of_taints(candidate->taints, candidate->taint_count));
    if (taints == NULL)
        return -ENOMEM;
    char *at = (char *)(taints + candidate->taint_count);
    for (uint32_t i = 0; i < candidate->taint_count; i++)
        taints[i] =
            (struct taint){put(&at, candidate->taints[i].key), put(&at, candidate->taints[i].value),
                           put(&at, candidate->taints[i].effect)};
    *ret = taints;
    return 0;
}

/* Replaces the record's taints; takes the new ones over. */
static void set_taints(struct topology *t, struct candidate_record *record, struct taint *taints,
                       uint32_t count) {
    t->taint_bytes -= bytes_of_taints(record->taints, record->taint_count);
    free(record->taints);
    record->taints = taints;
    record->taint_count = count;
    t->taint_bytes += bytes_of_taints(taints, count);
}

static bool taints_are(const struct candidate_record *record, const struct candidate *candidate) {
    if (record->taint_count != candidate->taint_count)
        return false;
    for (uint32_t i = 0; i < candidate->taint_count; i++)
        if (!str_eq(record->taints[i].key, candidate->taints[i].key) ||
            !str_eq(record->taints[i].value, candidate->taints[i].value) ||
            !str_eq(record->taints[i].effect, candidate->taints[i].effect))
            return false;
    return true;
}

/* ---- candidates ---- */

/* Updates everything derived from a candidate's labels, taints or existence after a change. */
static void changed(struct topology *t, uint32_t slot) {
    for (POOL_EACH(&t->columns, id))
        column_place(t, pool_at(&t->columns, id), slot);
    feasibility_update(t, slot);
    t->changes++;
    t->work += 1 + t->columns.count;
}

/* The caller has reserved room for one more name. */
static void set_known(struct topology *t, uint32_t slot, bool known) {
    const bool was_known = topology_is_known(t, slot);
    struct hash128 name = name_hash(name_hash_key(), at(t, slot)->text);
    if (known && !was_known)
        name_table_put(&t->known_names, name, slot);
    else if (!known && was_known)
        name_table_take(&t->known_names, name);
    (known ? pool_show : pool_hide)(&t->candidates, slot);
}

static int replace(struct topology *t, uint32_t slot, const struct candidate *candidate) {
    struct candidate_record *record = at(t, slot);
    const bool stays =
        topology_is_known(t, slot) && label_set_is(t->strings, &record->labels, candidate->labels);
    struct label_set labels;
    struct taint *taints;
    for (POOL_EACH(&t->columns, id))
        if (column_reserve(pool_at(&t->columns, id)) != 0)
            return -ENOMEM;
    if (name_table_reserve(&t->known_names) != 0 || taints_make(candidate, &taints) != 0)
        return -ENOMEM;
    if (label_set_make(t->strings, candidate->labels, &labels) != 0) {
        free(taints);
        return -ENOMEM;
    }
    label_set_free(t->strings, &record->labels);
    record->labels = labels;
    set_taints(t, record, taints, candidate->taint_count);
    set_known(t, slot, true);
    t->moves += !stays;
    changed(t, slot);
    return 0;
}

int topology_apply(struct topology *t, const struct candidate *candidate) {
    uint32_t slot = topology_slot_make(t, candidate->name);
    if (slot == TOPOLOGY_NONE)
        return -ENOMEM;
    const struct candidate_record *record = at(t, slot);
    if (topology_is_known(t, slot)) {
        pool_show(&t->candidates, slot);
        if (label_set_is(t->strings, &record->labels, candidate->labels) &&
            taints_are(record, candidate))
            return 0;
    }
    int r = replace(t, slot, candidate);
    topology_settle(t, slot);
    return r;
}

void topology_drop(struct topology *t, uint32_t slot) {
    struct candidate_record *record = at(t, slot);
    label_set_free(t->strings, &record->labels);
    set_taints(t, record, NULL, 0);
    set_known(t, slot, false);
    t->moves++;
    changed(t, slot);
    topology_settle(t, slot);
}

void topology_remove(struct topology *t, struct str name) {
    uint32_t slot = topology_slot(t, name);
    if (slot != TOPOLOGY_NONE)
        topology_drop(t, slot);
}

struct pool *topology_records(struct topology *t) {
    return &t->candidates;
}

/* ---- reading ---- */

bool topology_is_known(const struct topology *t, uint32_t slot) {
    return pool_is_known(&t->candidates, slot);
}

uint32_t topology_slots(const struct topology *t) {
    return t->candidates.end;
}

uint32_t topology_cap(const struct topology *t) {
    return t->cap;
}

uint64_t topology_slot_epoch(const struct topology *t) {
    return t->slot_epoch;
}

struct str topology_name(const struct topology *t, uint32_t slot) {
    return at(t, slot)->text;
}

bool topology_label(const struct topology *t, uint32_t slot, struct str key,
                    struct str *ret_value) {
    const struct label_set_ref labels = {t->strings, &at(t, slot)->labels};
    return label_set_lookup(&labels, key, ret_value);
}

uint32_t topology_labels_of(const struct topology *t, uint32_t slot, struct str prefix,
                            struct label *ret, uint32_t max) {
    const struct label_set *set = &at(t, slot)->labels;
    uint32_t count = 0;
    for (uint32_t i = label_set_first(t->strings, set, prefix); i < set->count; i++) {
        const struct label label = label_set_at(t->strings, set, i);
        if (!str_has_prefix(label.key, prefix))
            break;
        if (count < max)
            ret[count] = label;
        count++;
    }
    return count;
}

int topology_describe(const struct topology *t, uint32_t slot, struct arena *arena,
                      struct candidate *ret) {
    const struct candidate_record *record = at(t, slot);
    struct label *labels = arena_array(arena, record->labels.count, sizeof *labels);
    struct taint *taints = arena_array(arena, record->taint_count, sizeof *taints);
    for (uint32_t i = 0; labels != NULL && i < record->labels.count; i++) {
        const struct label label = label_set_at(t->strings, &record->labels, i);
        labels[i] = (struct label){arena_str(arena, label.key), arena_str(arena, label.value)};
    }
    for (uint32_t i = 0; taints != NULL && i < record->taint_count; i++)
        taints[i] = (struct taint){arena_str(arena, record->taints[i].key),
                                   arena_str(arena, record->taints[i].value),
                                   arena_str(arena, record->taints[i].effect)};
    *ret = (struct candidate){.name = arena_str(arena, record->text),
                              .labels = {labels, record->labels.count},
                              .taints = taints,
                              .taint_count = record->taint_count};
    return arena_failed(arena) ? -ENOMEM : 0;
}

uint32_t topology_find(const struct topology_view *v, struct str name) {
    return find_known(v->topology, name);
}

void topology_find_all(const struct topology_view *v, const struct str *names, uint32_t count,
                       uint32_t *ret_slots) {
    enum { BATCH = 16 }; /* lookups whose memory is fetched at the same time */
    const struct name_table *known = &v->topology->known_names;
    const struct name_hash_key *key = name_hash_key();
    struct hash128 hashes[BATCH];
    for (uint32_t from = 0; from < count; from += BATCH) {
        uint32_t n = count - from < BATCH ? count - from : BATCH;
        for (uint32_t i = 0; i < n; i++) {
            hashes[i] = name_hash(key, names[from + i]);
            name_table_prefetch(known, hashes[i]);
        }
        for (uint32_t i = 0; i < n; i++)
            ret_slots[from + i] = name_table_find(known, hashes[i]);
    }
}

/* ---- places ---- */

static int by_value(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool has(const uint32_t *ids, uint32_t count, uint32_t id) {
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

int topology_places(const struct topology_view *v, struct label label, struct str key,
                    struct arena *arena, struct str **ret, uint32_t *ret_count) {
    const struct topology *t = v->topology;
    uint32_t label_key = intern_find(t->strings, label.key),
             value = intern_find(t->strings, label.value), topology = intern_find(t->strings, key);
    uint32_t found[LIMIT_PLACES], count = 0;
    *ret = NULL;
    *ret_count = 0;
    if (label_key == INTERN_NONE || value == INTERN_NONE || topology == INTERN_NONE)
        return 0;
    for (KNOWN_EACH(t, slot)) {
        const struct candidate_record *candidate = at(t, slot);
        if (label_set_value(t->strings, &candidate->labels, label_key) != value)
            continue;
        uint32_t place = label_set_value(t->strings, &candidate->labels, topology);
        if (place == INTERN_NONE || has(found, count, place))
            continue;
        if (count == LIMIT_PLACES)
            return -E2BIG;
        found[count++] = place;
    }
    struct str *places = arena_array(arena, count, sizeof *places);
    for (uint32_t i = 0; places != NULL && i < count; i++)
        places[i] = arena_str(arena, intern_str(t->strings, found[i]));
    if (places == NULL || arena_failed(arena))
        return -ENOMEM;
    qsort(places, count, sizeof *places, by_value);
    *ret = places;
    *ret_count = count;
    return 0;
}
