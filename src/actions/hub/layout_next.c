/*
 * Chooses the next write on the way to a layout.
 */
#include "base/limits.h"
#include "hub/layout.h"

#include <errno.h>
#include <stdlib.h>

struct stepping {
    const struct layout_progress *p;
    struct arena *arena;
    uint32_t *place;  /* [slots]: index of the cluster's object in the layout, + 1; 0: none */
    uint8_t *arrived; /* [slots]: is in that object */
    uint8_t *in;      /* [slots]: is in an object that is not foreign */
    uint32_t *times;  /* [slots]: number of objects that have the cluster and are not foreign */
    uint8_t *marks;   /* [slots]: marks the clusters of one object; all 0 between calls */
    uint8_t *picked;  /* [slots]: its change is part of the write; all 0 between objects */
};

/* ---- the present objects ---- */

static void mark(struct stepping *s, const uint32_t *slots, uint32_t count, uint8_t value) {
    for (uint32_t i = 0; i < count; i++)
        s->marks[slots[i]] = value;
}

/* Notes which clusters are in their planned object. An object in doubt surely has only the clusters
 * of `doubt`. */
static void note_arrived(struct stepping *s, uint32_t i) {
    const struct layout_object *o = &s->p->layout->objects[i];
    const struct layout_doubt *doubt = &s->p->doubt;
    if (o->existing == NULL)
        return;
    const bool doubted = doubt->name.n > 0 && str_eq(doubt->name, o->name);
    if (doubted)
        mark(s, doubt->slots, doubt->count, 1);
    for (uint32_t k = 0; k < o->existing->slot_count; k++) {
        const uint32_t slot = o->existing->slots[k];
        if (s->place[slot] == i + 1 && (!doubted || s->marks[slot] != 0))
            s->arrived[slot] = 1;
    }
    if (doubted)
        mark(s, doubt->slots, doubt->count, 0);
}

static int begin(struct stepping *s) {
    const struct layout_question *q = s->p->question;
    const struct layout *l = s->p->layout;
    s->place = arena_array(s->arena, q->slots, sizeof *s->place);
    s->arrived = arena_alloc(s->arena, q->slots);
    s->in = arena_alloc(s->arena, q->slots);
    s->times = arena_array(s->arena, q->slots, sizeof *s->times);
    s->marks = arena_alloc(s->arena, q->slots);
    if (arena_failed(s->arena))
        return -ENOMEM;
    for (uint32_t i = 0; i < l->count; i++)
        for (uint32_t k = 0; k < l->objects[i].count; k++)
            s->place[l->objects[i].slots[k]] = i + 1;
    for (uint32_t i = 0; i < l->count; i++)
        note_arrived(s, i);
    for (const struct fleet_decision *d = q->existing; d != NULL; d = d->next)
        for (uint32_t i = 0; !layout_is_foreign(d, q->owner_uid) && i < d->slot_count; i++) {
            s->times[d->slots[i]]++;
            s->in[d->slots[i]] = 1;
        }
    return 0;
}

/* ---- one object ---- */

/* May an object that is not the cluster's planned one drop the cluster? */
static bool may_leave(const struct stepping *s, uint32_t slot) {
    return s->place[slot] == 0 || s->arrived[slot] != 0;
}

/* The clusters that an object gets next: no more than the fleet keeps of an object. */
struct contents {
    uint32_t *slots;
    uint32_t count, added, removed;
};

static uint32_t room_of(const struct fleet_decision *d) {
    return d->slot_count < LIMIT_DECISION_CLUSTERS ? LIMIT_DECISION_CLUSTERS - d->slot_count : 0;
}

/* Applies all changes, or only the picked ones. */
static int find_contents(struct stepping *s, const struct layout_object *o, bool all,
                         struct contents *ret) {
    const struct fleet_decision *d = o->existing;
    const uint32_t room = room_of(d);
    *ret = (struct contents){
        .slots = arena_array(s->arena, (size_t)o->count + d->slot_count, sizeof *ret->slots),
        .removed = all ? d->stranger_count : 0};
    if (ret->slots == NULL)
        return -ENOMEM;
    mark(s, d->slots, d->slot_count, 1);
    for (uint32_t i = 0; i < o->count; i++) {
        const bool is_new = s->marks[o->slots[i]] == 0;
        if (is_new && (ret->added == room || !(all || s->picked[o->slots[i]] != 0)))
            continue;
        ret->added += is_new;
        ret->slots[ret->count++] = o->slots[i];
        s->marks[o->slots[i]] = 2; /* it is listed */
    }
    for (uint32_t i = 0; i < d->slot_count; i++) {
        const uint32_t slot = d->slots[i];
        if (s->marks[slot] == 2)
            continue;
        s->marks[slot] = 2;
        if (may_leave(s, slot) && (all || s->picked[slot] != 0))
            ret->removed++;
        else
            ret->slots[ret->count++] = slot;
    }
    mark(s, d->slots, d->slot_count, 0);
    mark(s, o->slots, o->count, 0);
    return 0;
}

/* Do hard terms hold with these clusters in the object instead of its present ones? */
static bool holds_with(struct stepping *s, const struct fleet_decision *d, const uint32_t *slots,
                       uint32_t count) {
    if (s->p->holds == NULL)
        return true;
    mark(s, slots, count, 1);
    for (uint32_t i = 0; i < d->slot_count; i++)
        if (s->marks[d->slots[i]] == 0 && s->times[d->slots[i]] == 1)
            s->in[d->slots[i]] = 0;
    for (uint32_t i = 0; i < count; i++)
        s->in[slots[i]] = 1;
    const bool holds = s->p->holds(s->p->ctx, s->in);
    for (uint32_t i = 0; i < count; i++)
        s->in[slots[i]] = s->times[slots[i]] > 0;
    for (uint32_t i = 0; i < d->slot_count; i++)
        s->in[d->slots[i]] = 1;
    mark(s, slots, count, 0);
    return holds;
}

/* ---- the writes, in their order ---- */

static bool meta_is_right(const struct layout_progress *p, const struct layout_object *o) {
    int64_t index;
    const struct fleet_decision *d = o->existing;
    const struct layout_question *q = p->question;
    return str_to_i64(d->group_index, &index) && index == o->group &&
           str_eq(d->group_name, q->groups[o->group].name) && str_eq(d->placement, q->placement) &&
           str_eq(d->owner_uid, q->owner_uid);
}

static bool find_meta(const struct stepping *s, struct layout_write *ret) {
    const struct layout *l = s->p->layout;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->objects[i].existing == NULL) {
            *ret = (struct layout_write){.verb = LAYOUT_CREATE, .object = &l->objects[i]};
            return true;
        }
    for (uint32_t i = 0; i < l->count; i++)
        if (!meta_is_right(s->p, &l->objects[i])) {
            *ret = (struct layout_write){
                .verb = LAYOUT_META, .object = &l->objects[i], .existing = l->objects[i].existing};
            return true;
        }
    return false;
}

enum { HOLDS = 2, BEST_RANK = 3 };

/* Replaces the best write by a better one: terms that hold come first, then added clusters. */
static void offer(struct stepping *s, const struct layout_write *write, bool adds,
                  struct layout_write *best, int *best_rank) {
    const bool holds = holds_with(s, write->existing, write->slots, write->count);
    const int rank = (holds ? HOLDS : 0) + adds;
    if (rank > *best_rank) {
        *best = *write;
        *best_rank = rank;
    }
}

static int offer_changes(struct stepping *s, const struct layout_object *o, bool all,
                         struct layout_write *best, int *best_rank) {
    struct contents c;
    if (find_contents(s, o, all, &c) != 0)
        return -ENOMEM;
    const struct layout_write write = {LAYOUT_CLUSTERS, o, o->existing, c.slots, c.count};
    if (c.added > 0 || c.removed > 0)
        offer(s, &write, c.added > 0, best, best_rank);
    return 0;
}

static int offer_clusters(struct stepping *s, struct layout_write *best, int *best_rank) {
    const struct layout *l = s->p->layout;
    for (uint32_t i = 0; i < l->count && *best_rank < BEST_RANK; i++)
        if (offer_changes(s, &l->objects[i], true, best, best_rank) != 0)
            return -ENOMEM;
    return 0;
}

/* ---- some of an object's changes ---- */

/* A search, one change after the other, for changes with which hard terms hold. */
struct picking {
    struct stepping *s;
    const uint32_t *alike; /* [slots], see layout_progress.alike; NULL: no two are alike */
    uint32_t *failed; /* [2 * slots], by the kind of a cluster and of its change: number of picked
                         changes when terms did not hold with it, + 1 */
    uint32_t picked, tries;
    uint32_t *changes; /* slots of the clusters to add, then of those to remove */
    uint32_t add_count, count;
    uint32_t room; /* number of clusters that the present object can still take */
};

static int begin_picking(struct picking *k, struct stepping *s) {
    const struct layout_progress *p = s->p;
    const uint32_t slots = p->question->slots;
    *k = (struct picking){.s = s, .tries = p->tries};
    if (p->alike != NULL)
        k->alike = p->alike(p->ctx);
    k->failed = arena_array(s->arena, 2 * (size_t)slots, sizeof *k->failed);
    s->picked = arena_alloc(s->arena, slots);
    return arena_failed(s->arena) || (p->alike != NULL && k->alike == NULL) ? -ENOMEM : 0;
}

static int find_changes(struct picking *k, const struct layout_object *o) {
    struct stepping *s = k->s;
    const struct fleet_decision *d = o->existing;
    k->changes = arena_array(s->arena, (size_t)o->count + d->slot_count, sizeof *k->changes);
    k->add_count = 0;
    k->room = room_of(d);
    if (k->changes == NULL)
        return -ENOMEM;
    mark(s, d->slots, d->slot_count, 1);
    for (uint32_t i = 0; i < o->count; i++)
        if (s->marks[o->slots[i]] == 0)
            k->changes[k->add_count++] = o->slots[i];
    k->count = k->add_count;
    mark(s, o->slots, o->count, 0);
    for (uint32_t i = 0; i < d->slot_count; i++)
        if (s->marks[d->slots[i]] != 0 && may_leave(s, d->slots[i]))
            k->changes[k->count++] = d->slots[i];
    mark(s, d->slots, d->slot_count, 0);
    return 0;
}

/* Picks a change if hard terms hold with it and the picked changes. */
static bool pick(struct picking *k, uint32_t slot, bool adds) {
    struct stepping *s = k->s;
    const uint8_t was = s->in[slot];
    const bool elsewhere = s->times[slot] > 1;
    uint32_t *failed = &k->failed[2 * (size_t)(k->alike != NULL ? k->alike[slot] : slot) + adds];
    if (s->picked[slot] != 0 || (adds && k->room == 0))
        return false;
    if (k->tries == 0 || (!elsewhere && *failed == k->picked + 1))
        return false;
    k->tries--;
    s->in[slot] = adds || elsewhere;
    if (!s->p->holds(s->p->ctx, s->in)) {
        s->in[slot] = was;
        *failed = elsewhere ? *failed : k->picked + 1;
        return false;
    }
    s->picked[slot] = 1;
    k->picked++;
    k->room -= adds;
    return true;
}

/* Offers as many of an object's changes as hard terms allow together. */
static int offer_some(struct picking *k, const struct layout_object *o, struct layout_write *best,
                      int *best_rank) {
    struct stepping *s = k->s;
    if (find_changes(k, o) != 0)
        return -ENOMEM;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < k->count; i++)
            again = pick(k, k->changes[i], i < k->add_count) || again;
    }
    for (uint32_t i = 0; i < k->count; i++)
        s->in[k->changes[i]] = s->times[k->changes[i]] > 0;
    const int r = offer_changes(s, o, false, best, best_rank);
    for (uint32_t i = 0; i < k->count; i++)
        s->picked[k->changes[i]] = 0;
    return r;
}

/* Offers parts of unwanted objects, too: they drop clusters before they are deleted. */
static int offer_parts(struct stepping *s, struct layout_write *best, int *best_rank) {
    const struct layout *l = s->p->layout;
    struct layout_object *unwanted = arena_array(s->arena, l->unwanted_count, sizeof *unwanted);
    struct picking k;
    int r = begin_picking(&k, s);
    for (uint32_t i = 0; r == 0 && i < l->count && *best_rank < HOLDS; i++)
        r = offer_some(&k, &l->objects[i], best, best_rank);
    for (uint32_t i = 0; r == 0 && i < l->unwanted_count && *best_rank < HOLDS; i++) {
        unwanted[i] =
            (struct layout_object){.existing = l->unwanted[i], .name = l->unwanted[i]->name};
        r = offer_some(&k, &unwanted[i], best, best_rank);
    }
    return r;
}

static void offer_deletions(struct stepping *s, struct layout_write *best, int *best_rank) {
    const struct layout *l = s->p->layout;
    for (uint32_t i = 0; i < l->unwanted_count && *best_rank < HOLDS; i++) {
        const struct fleet_decision *d = l->unwanted[i];
        const struct layout_write write = {.verb = LAYOUT_DELETE, .existing = d};
        bool may = true;
        for (uint32_t k = 0; k < d->slot_count; k++)
            may = may && may_leave(s, d->slots[k]);
        if (may)
            offer(s, &write, false, best, best_rank);
    }
}

int layout_next(const struct layout_progress *p, struct arena *arena, struct layout_write *ret) {
    struct stepping s = {.p = p, .arena = arena};
    int rank = -1;
    *ret = (struct layout_write){.verb = LAYOUT_RIGHT};
    int r = begin(&s);
    if (r != 0 || find_meta(&s, ret))
        return r;
    r = offer_clusters(&s, ret, &rank);
    if (r == 0)
        offer_deletions(&s, ret, &rank);
    if (r == 0 && rank >= 0 && rank < HOLDS)
        r = offer_parts(&s, ret, &rank);
    return r;
}
