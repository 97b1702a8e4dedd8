#include "hub/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { NO_GROUP = UINT32_MAX, NO_ITEM = UINT32_MAX };

/* An object that exists. */
struct existing {
    const struct fleet_decision *decision;
    uint32_t number; /* <n> of its name; 0: another name, or foreign */
    uint32_t group;  /* NO_GROUP: none of its clusters is selected */
    bool wanted;
    uint32_t next; /* next spare object with the same group's labels; NO_ITEM: the end */
};

struct laying {
    const struct layout_question *q;
    struct arena *arena;
    struct existing *items; /* [count], by number, 0 first */
    uint32_t count;
    uint32_t *group_of; /* [slots]: the cluster's group + 1; 0: it has no group */
    uint8_t *seated;    /* [slots]: the cluster has a place in an object */
    uint8_t *used; /* [used_count]: 1: an object has the number; long enough for all new objects */
    uint32_t used_count, next_number;
    uint32_t *spares;    /* [groups]: the first spare object with the group's labels */
    uint32_t next_spare; /* all spare objects before it are wanted */
    struct layout_object *objects;
    uint32_t object_count, object_cap;
};

/* ---- names ---- */

static const struct str infix = {"-decision-", 10};

/* Returns the number in `<placement>-decision-<n>`, without leading zeros; 0: another name. */
static uint32_t number_in(struct str placement, struct str name) {
    int64_t number;
    if (!str_has_prefix(name, placement))
        return 0;
    const struct str rest = {name.p + placement.n, name.n - placement.n};
    if (!str_has_prefix(rest, infix))
        return 0;
    const struct str digits = {rest.p + infix.n, rest.n - infix.n};
    if (digits.n == 0 || digits.p[0] < '1' || digits.p[0] > '9' || !str_to_i64(digits, &number) ||
        number >= UINT32_MAX)
        return 0;
    return (uint32_t)number;
}

static struct str name_of(struct laying *l, uint32_t number) {
    char digits[16];
    const int n = snprintf(digits, sizeof digits, "%u", number);
    const struct str placement = l->q->placement;
    char *text = arena_alloc(l->arena, placement.n + infix.n + (size_t)n);
    if (text == NULL)
        return STR("");
    memcpy(text, placement.p, placement.n);
    memcpy(text + placement.n, infix.p, infix.n);
    memcpy(text + placement.n + infix.n, digits, (size_t)n);
    return (struct str){text, placement.n + infix.n + (size_t)n};
}

bool layout_is_foreign(const struct fleet_decision *d, struct str owner_uid) {
    return d->owner_uid.n > 0 && !str_eq(d->owner_uid, owner_uid);
}

/* May the object be adopted without the label? Labelled objects are laid out already. */
static bool is_free(const struct laying *l, const struct fleet_decision *d) {
    return !str_eq(d->placement, l->q->placement) && !layout_is_foreign(d, l->q->owner_uid);
}

/* Takes the next free name. An object that has this name already, without the label, is adopted. */
static void name_next(struct laying *l, struct layout_object *object) {
    do {
        while (l->next_number < l->used_count && l->used[l->next_number] != 0)
            l->next_number++;
        object->name = name_of(l, l->next_number++);
        object->existing = l->q->find != NULL ? l->q->find(l->q->ctx, object->name) : NULL;
    } while (object->existing != NULL && !is_free(l, object->existing));
}

/* ---- groups of what exists ---- */

static bool label_is(const struct laying *l, const struct fleet_decision *d, uint32_t group) {
    int64_t index;
    return str_to_i64(d->group_index, &index) && index == group &&
           str_eq(d->group_name, l->q->groups[group].name);
}

/* Returns the group that has most of the object's clusters; of groups with the same number, the
 * group that the object's labels name, or else the first. `counts` is [groups], all 0 before and
 * after. */
static uint32_t group_of_most(const struct laying *l, const struct fleet_decision *d,
                              uint32_t *counts) {
    uint32_t best = NO_GROUP;
    for (uint32_t i = 0; i < d->slot_count; i++) {
        const uint32_t group = l->group_of[d->slots[i]];
        if (group == 0)
            continue;
        const uint32_t count = ++counts[group - 1], g = group - 1;
        const uint32_t most = best == NO_GROUP ? 0 : counts[best];
        const bool first =
            best != NO_GROUP && !label_is(l, d, best) && (label_is(l, d, g) || g < best);
        if (count > most || (count == most && first))
            best = g;
    }
    for (uint32_t i = 0; i < d->slot_count; i++)
        if (l->group_of[d->slots[i]] != 0)
            counts[l->group_of[d->slots[i]] - 1] = 0;
    return best;
}

static int by_number(const void *a, const void *b) {
    const struct existing *left = a, *right = b;
    if (left->number != right->number)
        return left->number < right->number ? -1 : 1;
    return str_cmp(left->decision->name, right->decision->name);
}

/* Returns a limit for the number of new objects: one for each cluster, and one for each group. */
static uint32_t most_new(const struct layout_question *q) {
    uint32_t count = q->group_count;
    for (uint32_t g = 0; g < q->group_count; g++)
        count += q->groups[g].count;
    return count;
}

static bool is_spare(const struct existing *e) {
    return e->number > 0 && e->group == NO_GROUP && !e->wanted;
}

/* Lists the spare objects by the group in their labels, in order. */
static int find_spares(struct laying *l) {
    int64_t index;
    l->spares = arena_array_unset(l->arena, l->q->group_count, sizeof *l->spares);
    if (l->spares == NULL)
        return -ENOMEM;
    for (uint32_t g = 0; g < l->q->group_count; g++)
        l->spares[g] = NO_ITEM;
    for (uint32_t i = l->count; i-- > 0;) {
        struct existing *e = &l->items[i];
        if (!is_spare(e) || !str_to_i64(e->decision->group_index, &index) || index < 0 ||
            index >= l->q->group_count || !label_is(l, e->decision, (uint32_t)index))
            continue;
        e->next = l->spares[index];
        l->spares[index] = i;
    }
    return 0;
}

static int find_existing(struct laying *l) {
    uint32_t *counts = arena_array(l->arena, l->q->group_count, sizeof *counts), i = 0;
    for (const struct fleet_decision *d = l->q->existing; d != NULL; d = d->next)
        l->count++;
    l->items = arena_array(l->arena, l->count, sizeof *l->items);
    l->used_count = l->count + most_new(l->q) + 1;
    l->used = arena_alloc(l->arena, l->used_count);
    l->next_number = 1;
    if (counts == NULL || l->items == NULL || l->used == NULL)
        return -ENOMEM;
    for (const struct fleet_decision *d = l->q->existing; d != NULL; d = d->next, i++) {
        const uint32_t number = number_in(l->q->placement, d->name);
        const bool usable = number > 0 && !layout_is_foreign(d, l->q->owner_uid);
        l->items[i] =
            (struct existing){d, usable ? number : 0,
                              usable ? group_of_most(l, d, counts) : NO_GROUP, false, NO_ITEM};
        if (number > 0 && number < l->used_count)
            l->used[number] = 1;
    }
    if (l->count > 1)
        qsort(l->items, l->count, sizeof *l->items, by_number);
    return find_spares(l);
}

/* ---- places ---- */

static struct layout_object *add_object(struct laying *l, uint32_t group) {
    struct layout_object *objects =
        arena_push(l->arena, l->objects, l->object_count, &l->object_cap, sizeof *objects);
    uint32_t *slots = arena_array_unset(l->arena, OCM_DECISION_CLUSTERS, sizeof *slots);
    if (objects == NULL || slots == NULL)
        return NULL;
    l->objects = objects;
    objects[l->object_count] = (struct layout_object){.group = group, .slots = slots};
    return &objects[l->object_count++];
}

static void seat(struct laying *l, struct layout_object *object, uint32_t slot) {
    object->slots[object->count++] = slot;
    l->seated[slot] = 1;
}

/* Keeps an object and its clusters. A cluster that is in two objects stays in the first. */
static int keep_object(struct laying *l, struct existing *e) {
    struct layout_object *object = add_object(l, e->group);
    if (object == NULL)
        return -ENOMEM;
    const struct fleet_decision *d = e->decision;
    object->existing = d;
    object->name = d->name;
    e->wanted = true;
    for (uint32_t i = 0; i < d->slot_count && object->count < OCM_DECISION_CLUSTERS; i++)
        if (l->group_of[d->slots[i]] == e->group + 1 && l->seated[d->slots[i]] == 0)
            seat(l, object, d->slots[i]);
    return 0;
}

static struct existing *take_spare(struct laying *l, uint32_t group) {
    uint32_t *own = &l->spares[group];
    while (*own != NO_ITEM && !is_spare(&l->items[*own]))
        *own = l->items[*own].next;
    while (l->next_spare < l->count && !is_spare(&l->items[l->next_spare]))
        l->next_spare++;
    const uint32_t at = *own != NO_ITEM ? *own : l->next_spare;
    return at < l->count ? &l->items[at] : NULL;
}

/* Adds an object: an existing one without selected clusters, if possible with the group's labels,
 * so that one write replaces its clusters; otherwise a new one. */
static struct layout_object *add_spare(struct laying *l, uint32_t group) {
    struct layout_object *object = add_object(l, group);
    struct existing *found = take_spare(l, group);
    if (object == NULL)
        return NULL;
    if (found == NULL) {
        name_next(l, object);
        return object;
    }
    object->name = found->decision->name;
    object->existing = found->decision;
    found->wanted = true;
    return object;
}

/* Puts the group's clusters without a place into free places, then into more objects. */
static int fill_group(struct laying *l, uint32_t group, uint32_t first) {
    const struct ocm_group *g = &l->q->groups[group];
    uint32_t at = first;
    for (uint32_t i = 0; i < g->count; i++) {
        if (l->seated[g->slots[i]] != 0)
            continue;
        while (at < l->object_count && l->objects[at].count == OCM_DECISION_CLUSTERS)
            at++;
        if (at == l->object_count && add_spare(l, group) == NULL)
            return -ENOMEM;
        seat(l, &l->objects[at], g->slots[i]);
    }
    return 0;
}

/* Gives up objects that have no cluster of the group left. */
static void drop_empty(struct laying *l, uint32_t first) {
    uint32_t kept = first;
    for (uint32_t i = first; i < l->object_count; i++)
        if (l->objects[i].count > 0)
            l->objects[kept++] = l->objects[i];
    l->object_count = kept;
}

static int by_group(const void *a, const void *b) {
    const struct existing *const *left = a, *const *right = b;
    if ((*left)->group != (*right)->group)
        return (*left)->group < (*right)->group ? -1 : 1;
    return by_number(*left, *right);
}

static int lay_groups(struct laying *l) {
    struct existing **sorted = arena_array(l->arena, l->count, sizeof *sorted);
    uint32_t at = 0;
    int r = sorted == NULL ? -ENOMEM : 0;
    for (uint32_t i = 0; r == 0 && i < l->count; i++)
        sorted[i] = &l->items[i];
    if (r == 0 && l->count > 1)
        qsort(sorted, l->count, sizeof *sorted, by_group);
    for (uint32_t g = 0; r == 0 && g < l->q->group_count; g++) {
        const uint32_t first = l->object_count;
        while (r == 0 && at < l->count && sorted[at]->group == g)
            r = keep_object(l, sorted[at++]);
        if (r == 0)
            r = fill_group(l, g, first);
        drop_empty(l, first);
        if (r == 0 && l->object_count == first && add_spare(l, g) == NULL)
            r = -ENOMEM;
    }
    return r;
}

static int by_name(const void *a, const void *b) {
    const struct fleet_decision *const *left = a, *const *right = b;
    return str_cmp((*left)->name, (*right)->name);
}

static int find_unwanted(struct laying *l, struct layout *ret) {
    const struct fleet_decision **kept = arena_array(l->arena, l->object_count, sizeof *kept);
    const struct fleet_decision **unwanted = arena_array(l->arena, l->count, sizeof *unwanted);
    uint32_t count = 0, at = 0;
    if (kept == NULL || unwanted == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < l->object_count; i++)
        if (l->objects[i].existing != NULL &&
            str_eq(l->objects[i].existing->placement, l->q->placement))
            kept[count++] = l->objects[i].existing;
    if (count > 1)
        qsort(kept, count, sizeof *kept, by_name);
    for (const struct fleet_decision *d = l->q->existing; d != NULL; d = d->next)
        if (at < count && kept[at] == d) /* both lists are sorted by name */
            at++;
        else if (!layout_is_foreign(d, l->q->owner_uid))
            unwanted[ret->unwanted_count++] = d;
    ret->unwanted = unwanted;
    return 0;
}

int layout_make(const struct layout_question *q, struct arena *arena, struct layout *ret) {
    struct laying l = {.q = q,
                       .arena = arena,
                       .group_of = arena_array(arena, q->slots, sizeof *l.group_of),
                       .seated = arena_alloc(arena, q->slots)};
    *ret = (struct layout){0};
    if (l.group_of == NULL || l.seated == NULL)
        return -ENOMEM;
    for (uint32_t g = 0; g < q->group_count; g++)
        for (uint32_t i = 0; i < q->groups[g].count; i++)
            l.group_of[q->groups[g].slots[i]] = g + 1;
    int r = find_existing(&l);
    if (r == 0)
        r = lay_groups(&l);
    if (r == 0)
        r = find_unwanted(&l, ret);
    ret->objects = l.objects;
    ret->count = l.object_count;
    return r == 0 && arena_failed(arena) ? -ENOMEM : r;
}
