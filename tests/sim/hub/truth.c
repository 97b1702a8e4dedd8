/*
 * Fleets: one that always has what the API server has, and what OCM's controller has seen of it.
 */
#include "fleet/internal.h"
#include "sim/hub/world.h"

#include <stdio.h>
#include <stdlib.h>

void truth_take(struct world *w, struct fleet *fleet, enum fleet_kind kind,
                const struct change *change) {
    const struct informer_kind *row = &fleet_store.kinds[kind];
    struct informer *informer = fleet_informer(fleet);
    struct informer_object object = {
        .kind = kind, .arena = &w->taking, .json = str_of(change->json)};
    struct json_reader r;
    struct err err = {0};
    int failed;
    arena_reset(&w->taking);
    json_reader_init(&r, object.json, &w->taking, "object");
    if (change->gone) {
        failed = object_key_decode(object.json, &w->taking, &object.meta, &err);
        void *contents = informer_write(informer);
        failed = failed != 0 ? failed : row->remove(contents, &object, &err);
    } else {
        row->decode(&r, &object);
        failed = json_finish(&r, &err);
        void *contents = informer_write(informer);
        failed = failed != 0 ? failed : row->apply(contents, &object, &err);
    }
    informer_write_done(informer);
    if (failed != 0)
        world_fail(w, "the store has an object that cannot be read: %s", err.text);
    if (kind == FLEET_SCORES && fleet == w->truth)
        items_changed(w, object.meta.namespace, object.meta.name);
}

void truth_changed(void *ctx, enum fleet_kind kind, const struct change *change) {
    struct world *w = ctx;
    truth_take(w, w->truth, kind, change);
}

bool truth_open(struct world *w, struct fleet *fleet, const struct wish *wish, struct truth *ret) {
    struct json_reader r;
    struct err err = {0};
    memset(ret, 0, sizeof *ret);
    arena_reset(&w->arena);
    fleet_view_open(fleet, &ret->view);
    const struct str json = fleet_placement_json(&ret->view, STR(NAMESPACE), str_of(wish->name));
    if (json.n == 0)
        return false;
    json_reader_init(&r, json, &w->arena, "Placement");
    placement_decode(&r, &ret->placement);
    if (json_finish(&r, &err) != 0)
        world_fail(w, "'%s' cannot be read: %s", wish->name, err.text);
    return !w->failed;
}

/* Makes an array by slot from flags by cluster. */
static const uint8_t *by_slot(struct world *w, const struct truth *t, const uint8_t *clusters) {
    uint8_t *slots = arena_alloc(&w->arena, topology_slots(t->view.clusters.topology));
    char name[16];
    for (unsigned i = 0; slots != NULL && i < w->cluster_count; i++) {
        (void)snprintf(name, sizeof name, "c%04u", i);
        const uint32_t slot = clusters[i] != 0
                                  ? topology_slot(t->view.clusters.topology, str_of(name))
                                  : TOPOLOGY_NONE;
        if (slot != TOPOLOGY_NONE)
            slots[slot] = 1;
    }
    return slots;
}

/* [slots]: those that it has: by items in mode Scores; in mode Owner by its own objects, for those
 * of others do not count. */
static const uint8_t *find_members(struct world *w, const struct wish *wish,
                                   const struct truth *t) {
    if (wish_is_scored(w, wish))
        return by_slot(w, t, wish->items);
    uint8_t *held = check_new_flags(w);
    (void)check_count_held(w, wish, held);
    const uint8_t *slots = by_slot(w, t, held);
    free(held);
    return slots;
}

bool truth_answer(struct world *w, const struct wish *wish, bool with_terms, const uint8_t *without,
                  struct truth *t) {
    const struct ocm_question q = {.placement = &t->placement,
                                   .now_ms = w->wall_ms + world_now(w),
                                   .reachable = true,
                                   .members = with_terms ? find_members(w, wish, t) : NULL,
                                   .without = without != NULL ? by_slot(w, t, without) : NULL};
    struct err err = {0};
    if (!with_terms)
        t->placement.term_count = 0;
    if (ocm_decide(&t->view, &q, &w->arena, &t->d, &err) == 0)
        return t->d.outcome == OCM_DECIDED;
    world_fail(w, "'%s' cannot be decided: %s", wish->name, err.text);
    return false;
}

void truth_close(struct truth *t) {
    fleet_view_close(&t->view);
}

uint32_t cluster_number(const char *name) {
    char *end = NULL;
    const unsigned long number = name[0] == 'c' ? strtoul(name + 1, &end, 10) : 0;
    return end != NULL && *end == '\0' ? (uint32_t)number : UINT32_MAX;
}

uint32_t truth_cluster(const struct truth *t, uint32_t slot) {
    char text[16] = "";
    const struct str name = ocm_cluster_name(&t->d, slot);
    memcpy(text, name.p, name.n < sizeof text ? name.n : 0);
    return cluster_number(text);
}
