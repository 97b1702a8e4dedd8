/*
 * PlacementDecisions: their clusters and Placements, and how often each cluster is decided. A name
 * without a cluster is a stranger (strangers.c) until the cluster comes.
 */
#include "fleet/internal.h"

#include "base/limits.h"

#include <errno.h>
#include <stdlib.h>

/* ---- clusters ---- */

/* The clusters of an object. */
struct listed {
    uint32_t *slots;
    struct fleet_stranger *strangers;
    uint32_t *mentions; /* [stranger_count] */
    uint32_t slot_count, stranger_count;
};

static void release(struct fleet_contents *c, const struct listed *l) {
    c->record_bytes -= l->slot_count * sizeof *l->slots + l->stranger_count * sizeof *l->strangers;
    for (uint32_t i = 0; i < l->slot_count; i++) {
        c->decided[l->slots[i]]--;
        topology_unhold(c->clusters, l->slots[i]);
        topology_settle(c->clusters, l->slots[i]);
    }
    for (uint32_t i = 0; i < l->stranger_count; i++)
        contents_stranger_take(c, l->strangers[i].id, l->mentions[i]);
    free(l->slots);
    free(l->strangers);
    free(l->mentions);
}

static void hold_slot(struct fleet_contents *c, uint32_t slot) {
    topology_hold(c->clusters, slot);
    c->decided[slot]++;
    c->record_bytes += sizeof slot;
}

/* Adds a stranger. `room` is the number of strangers to allocate memory for. */
static int add_stranger(struct fleet_contents *c, const struct fleet_stranger *from,
                        uint32_t decision, uint32_t room, struct listed *l) {
    if (l->strangers == NULL)
        l->strangers = malloc(room * sizeof *l->strangers);
    if (l->mentions == NULL)
        l->mentions = malloc(room * sizeof *l->mentions);
    if (l->strangers == NULL || l->mentions == NULL)
        return -ENOMEM;
    const uint32_t id =
        contents_stranger_add(c, from->name, decision, &l->mentions[l->stranger_count]);
    if (id == FLEET_NONE)
        return -ENOMEM;
    l->strangers[l->stranger_count++] =
        (struct fleet_stranger){contents_stranger_name(c, id), id, from->place};
    c->record_bytes += sizeof *l->strangers;
    return 0;
}

/* Counts the first `count` clusters and holds their slots, for the record `id`. */
static int hold(struct fleet_contents *c, const struct placement_decision *d, uint32_t id,
                uint32_t count, struct listed *ret) {
    struct listed l = {.slots = count > 0 ? malloc(count * sizeof *l.slots) : NULL};
    int r = count > 0 && l.slots == NULL ? -ENOMEM : 0;
    for (uint32_t i = 0; r == 0 && i < count; i++) {
        const uint32_t slot = topology_slot(c->clusters, d->clusters[i]);
        if (slot == TOPOLOGY_NONE) {
            const struct fleet_stranger stranger = {.name = d->clusters[i], .place = i};
            r = add_stranger(c, &stranger, id, count - i, &l);
            continue;
        }
        hold_slot(c, slot);
        l.slots[l.slot_count++] = slot;
    }
    if (r == 0)
        *ret = l;
    else
        release(c, &l);
    return r;
}

/* Replaces the record's list by this list. */
static void set_listed(struct fleet_contents *c, uint32_t id, const struct listed *l) {
    struct decision_record *d = decision_at(c, id);
    const struct listed before = {d->slots, d->strangers, d->mentions, d->decision.slot_count,
                                  d->decision.stranger_count};
    d->slots = l->slots;
    d->strangers = l->strangers;
    d->mentions = l->mentions;
    d->decision.slots = l->slots;
    d->decision.slot_count = l->slot_count;
    d->decision.strangers = l->strangers;
    d->decision.stranger_count = l->stranger_count;
    release(c, &before);
}

void contents_decision_empty(struct decision_record *d) {
    free(d->slots);
    free(d->strangers);
    free(d->mentions);
}

/* Replaces a stranger by its slot wherever the decision lists it. */
static void meet(struct fleet_contents *c, uint32_t id, uint32_t stranger, uint32_t slot) {
    struct decision_record *d = decision_at(c, id);
    const uint32_t count = d->decision.stranger_count;
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct fleet_stranger s = d->strangers[i];
        const uint32_t mention = d->mentions[i];
        if (s.id != stranger) {
            d->mentions[left] = mention;
            d->strangers[left++] = s;
            continue;
        }
        const uint32_t at = s.place - left, after = d->decision.slot_count - at;
        memmove(d->slots + at + 1, d->slots + at, after * sizeof *d->slots);
        d->slots[at] = slot;
        d->decision.slot_count++;
        hold_slot(c, slot);
        c->record_bytes -= sizeof s;
        contents_stranger_take(c, stranger, mention);
    }
    d->decision.stranger_count = left;
}

void contents_decisions_meet(struct fleet_contents *c, uint32_t slot) {
    const struct str name = topology_name(c->clusters, slot);
    const uint32_t stranger = contents_stranger_find(c, name);
    for (uint32_t id; (id = contents_stranger_decision(c, name)) != FLEET_NONE;)
        meet(c, id, stranger, slot);
}

/* ---- records ---- */

static bool is_decision(const void *ctx, uint32_t id, const void *key) {
    const struct decision_record *d = decision_at(ctx, id);
    const struct pair *wanted = key;
    return d->namespace == wanted->a && d->name == wanted->b;
}

uint32_t contents_decision_find(const struct fleet_contents *c, struct str namespace,
                                struct str name) {
    const struct pair key = {intern_find(&c->strings, namespace), intern_find(&c->strings, name)};
    return key.a == INTERN_NONE || key.b == INTERN_NONE
               ? FLEET_NONE
               : hashmap_find(&c->decision_index, pair_hash(key), is_decision, c, &key);
}

static uint32_t make(struct fleet_contents *c, struct str namespace, struct str name) {
    uint32_t id = contents_decision_find(c, namespace, name);
    if (id != FLEET_NONE)
        return id;
    const struct pair key = {intern_ref(&c->strings, namespace), intern_ref(&c->strings, name)};
    const uint32_t payer = contents_payer_join(c, namespace);
    if (key.a == INTERN_NONE || key.b == INTERN_NONE || payer == FLEET_NONE ||
        hashmap_reserve(&c->decision_index) != 0 || (id = pool_take(&c->decisions)) == POOL_NONE) {
        contents_payer_leave(c, payer);
        intern_unref(&c->strings, key.a);
        intern_unref(&c->strings, key.b);
        return FLEET_NONE;
    }
    struct decision_record *d = decision_at(c, id);
    d->payer = payer;
    d->namespace = key.a;
    d->name = key.b;
    d->placement = FLEET_NONE;
    for (int i = 0; i < DECISION_FACTS; i++)
        d->facts[i] = INTERN_NONE;
    d->decision.name = intern_str(&c->strings, key.b);
    hashmap_insert(&c->decision_index, pair_hash(key), id);
    return id;
}

static void unref_facts(struct fleet_contents *c, const uint32_t facts[DECISION_FACTS]) {
    for (int i = 0; i < DECISION_FACTS; i++)
        intern_unref(&c->strings, facts[i]);
}

static int intern_facts(struct fleet_contents *c, const struct object_meta *meta,
                        uint32_t ret[DECISION_FACTS]) {
    struct str texts[DECISION_FACTS] = {
        [FACT_VERSION] = meta->version, [FACT_OWNER] = meta->controller_uid};
    (void)labels_lookup(&meta->labels, STR(PLACEMENT_GROUP_INDEX_LABEL), &texts[FACT_GROUP_INDEX]);
    (void)labels_lookup(&meta->labels, STR(PLACEMENT_GROUP_NAME_LABEL), &texts[FACT_GROUP_NAME]);
    for (int i = 0; i < DECISION_FACTS; i++)
        ret[i] = INTERN_NONE;
    for (int i = 0; i < DECISION_FACTS; i++)
        if (texts[i].n > 0 && (ret[i] = intern_ref(&c->strings, texts[i])) == INTERN_NONE) {
            unref_facts(c, ret);
            return -ENOMEM;
        }
    return 0;
}

static struct str fact(const struct fleet_contents *c, uint32_t id) {
    return id != INTERN_NONE ? intern_str(&c->strings, id) : STR("");
}

/* Takes over the references to interned strings. */
static void set_facts(struct fleet_contents *c, struct decision_record *d,
                      const uint32_t facts[DECISION_FACTS]) {
    unref_facts(c, d->facts);
    memcpy(d->facts, facts, sizeof d->facts);
    d->decision.version = fact(c, facts[FACT_VERSION]);
    d->decision.group_index = fact(c, facts[FACT_GROUP_INDEX]);
    d->decision.group_name = fact(c, facts[FACT_GROUP_NAME]);
    d->decision.owner_uid = fact(c, facts[FACT_OWNER]);
}

static struct list of_placement(const struct fleet_contents *c, uint32_t placement) {
    return (struct list){&c->decisions, offsetof(struct decision_record, of_placement),
                         &placement_at(c, placement)->decisions};
}

static void sort_later(struct fleet_contents *c, uint32_t placement) {
    struct placement_record *p = placement_at(c, placement);
    if (p->unsorted)
        return;
    p->unsorted = true;
    p->next_unsorted = c->unsorted_placements;
    c->unsorted_placements = placement;
}

static void leave_placement(struct fleet_contents *c, uint32_t id) {
    struct decision_record *d = decision_at(c, id);
    if (d->placement == FLEET_NONE)
        return;
    const struct list list = of_placement(c, d->placement);
    list_take(&list, id);
    placement_at(c, d->placement)->decision_count--;
    placement_at(c, d->placement)->too_many -= d->decision.too_large;
    sort_later(c, d->placement);
    d->placement = FLEET_NONE;
    d->decision.placement = STR("");
}

/* Reserves room to sort one more decision of a Placement, so that sorting needs no memory. */
static int reserve_sorting(struct fleet_contents *c, uint32_t placement) {
    const uint32_t count = placement_at(c, placement)->decision_count;
    if (count < c->sorting_cap)
        return 0;
    const uint32_t cap = c->sorting_cap == 0 ? 64 : c->sorting_cap * 2;
    struct fleet_decision **sorting = realloc(c->sorting, cap * sizeof *sorting);
    if (sorting == NULL)
        return -ENOMEM;
    c->sorting = sorting;
    c->sorting_cap = cap;
    return 0;
}

static void join_placement(struct fleet_contents *c, uint32_t id, uint32_t placement) {
    const struct list list = of_placement(c, placement);
    list_put(&list, id);
    placement_at(c, placement)->decision_count++;
    sort_later(c, placement);
    struct decision_record *d = decision_at(c, id);
    placement_at(c, placement)->too_many += d->decision.too_large;
    d->placement = placement;
    d->decision.placement = intern_str(&c->strings, placement_at(c, placement)->name);
}

void contents_decision_forget(struct fleet_contents *c, uint32_t id) {
    struct decision_record *d = decision_at(c, id);
    leave_placement(c, id);
    set_listed(c, id, &(struct listed){.slots = NULL});
    unref_facts(c, d->facts);
    hashmap_remove(&c->decision_index, pair_hash((struct pair){d->namespace, d->name}), id);
    contents_charge(c, d->payer, &d->charged, 0);
    contents_payer_leave(c, d->payer);
    intern_unref(&c->strings, d->namespace);
    intern_unref(&c->strings, d->name);
    pool_give(&c->decisions, id);
}

/* Sets *ret to the record of the Placement that the label names; FLEET_NONE: no label. */
static int placement_of(struct fleet_contents *c, const struct object_meta *meta, uint32_t *ret) {
    struct str name;
    *ret = FLEET_NONE;
    if (!labels_lookup(&meta->labels, STR(PLACEMENT_LABEL), &name) || str_empty(name))
        return 0;
    *ret = contents_placement_make(c, meta->namespace, name);
    return *ret != FLEET_NONE && reserve_sorting(c, *ret) == 0 ? 0 : -ENOMEM;
}

/* Returns the bytes of an object with the first `count` of its clusters. */
static uint64_t bytes_of(const struct fleet_contents *c, const struct placement_decision *decision,
                         uint32_t count) {
    enum { NAME = 96 }; /* bytes of a stranger's name besides its text */
    uint64_t bytes = sizeof(struct decision_record) + decision->meta.name.n;
    for (uint32_t i = 0; i < count; i++)
        bytes +=
            sizeof(uint32_t) + (topology_slot(c->clusters, decision->clusters[i]) == TOPOLOGY_NONE
                                    ? NAME + decision->clusters[i].n
                                    : 0);
    return bytes;
}

/* Returns the number of clusters of the object that are kept: all clusters, or 0. */
static uint32_t count_kept(const struct fleet_contents *c, const struct decision_record *d,
                           const struct placement_decision *decision) {
    const uint32_t count = decision->cluster_count;
    return count <= LIMIT_DECISION_CLUSTERS &&
                   contents_has_room(c, d->payer, d->charged, bytes_of(c, decision, count))
               ? count
               : 0;
}

int contents_decision_apply(struct fleet_contents *c, const struct informer_object *object) {
    const struct placement_decision *decision = object->decoded;
    const struct object_meta *meta = &decision->meta;
    uint32_t placement = FLEET_NONE, facts[DECISION_FACTS];
    struct listed listed;
    const bool is_new = contents_decision_find(c, meta->namespace, meta->name) == FLEET_NONE;
    const int named = intern_facts(c, meta, facts);
    const int r = named == 0 ? placement_of(c, meta, &placement) : named;
    const uint32_t id = r == 0 ? make(c, meta->namespace, meta->name) : FLEET_NONE;
    const uint32_t count = id != FLEET_NONE ? count_kept(c, decision_at(c, id), decision) : 0;
    if (id == FLEET_NONE || hold(c, decision, id, count, &listed) != 0) {
        if (named == 0)
            unref_facts(c, facts);
        if (id != FLEET_NONE && is_new)
            contents_decision_forget(c, id);
        if (placement != FLEET_NONE)
            contents_placement_settle(c, placement);
        return -ENOMEM;
    }
    struct decision_record *d = decision_at(c, id);
    const bool too_large = count < decision->cluster_count;
    if (d->placement != placement || d->decision.too_large != too_large) {
        leave_placement(c, id);
        d->decision.too_large = too_large;
        if (placement != FLEET_NONE)
            join_placement(c, id, placement);
    }
    contents_charge(c, d->payer, &d->charged, bytes_of(c, decision, count));
    set_facts(c, d, facts);
    set_listed(c, id, &listed);
    d->decision.reasons = decision->reasons;
    pool_show(&c->decisions, id);
    return 0;
}

bool contents_decision_is(const struct fleet_contents *c, const struct informer_object *object) {
    const struct placement_decision *decision = object->decoded;
    const uint32_t id = contents_decision_find(c, decision->meta.namespace, decision->meta.name);
    struct str placement = STR("");
    (void)labels_lookup(&decision->meta.labels, STR(PLACEMENT_LABEL), &placement);
    if (id == FLEET_NONE || !str_eq(decision_at(c, id)->decision.placement, placement))
        return false;
    const struct fleet_decision *d = &decision_at(c, id)->decision;
    if (d->slot_count + d->stranger_count != decision->cluster_count)
        return false;
    for (uint32_t i = 0, stranger = 0; i < decision->cluster_count; i++) {
        const bool strange = stranger < d->stranger_count && d->strangers[stranger].place == i;
        const struct str name = strange ? d->strangers[stranger].name
                                        : topology_name(c->clusters, d->slots[i - stranger]);
        if (!str_eq(name, decision->clusters[i]))
            return false;
        stranger += strange;
    }
    return true;
}

const struct fleet_decision *fleet_decision_find(const struct fleet_view *v, struct str namespace,
                                                 struct str name) {
    const uint32_t id = contents_decision_find(v->contents, namespace, name);
    return id != FLEET_NONE ? &decision_at(v->contents, id)->decision : NULL;
}

const struct fleet_decision *fleet_decisions(const struct fleet_view *v, struct str namespace,
                                             struct str placement) {
    const uint32_t id = contents_placement_find(v->contents, namespace, placement);
    return id != FLEET_NONE ? placement_at(v->contents, id)->first : NULL;
}
