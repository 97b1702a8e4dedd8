/*
 * A fleet that always has what the API server has.
 */
#include "fleet/internal.h"
#include "sim/hub/world.h"

#include <stdlib.h>

void truth_changed(void *ctx, enum fleet_kind kind, const struct change *change) {
    struct world *w = ctx;
    const struct informer_kind *row = &fleet_store.kinds[kind];
    struct informer *informer = fleet_informer(w->truth);
    struct informer_object object = {
        .kind = kind, .arena = &w->arena, .json = str_of(change->json)};
    struct json_reader r;
    struct err err = {0};
    int failed;
    arena_reset(&w->arena);
    json_reader_init(&r, object.json, &w->arena, "object");
    if (change->gone) {
        failed = object_key_decode(object.json, &w->arena, &object.meta, &err);
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
}

bool truth_decide(struct world *w, const struct wish *wish, bool with_terms, struct truth *ret) {
    const struct ocm_question q = {.placement = &ret->placement,
                                   .now_ms = w->wall_ms + world_now(w)};
    struct json_reader r;
    struct err err = {0};
    memset(ret, 0, sizeof *ret);
    arena_reset(&w->arena);
    fleet_view_open(w->truth, &ret->view);
    json_reader_init(&r, fleet_placement_json(&ret->view, STR(NAMESPACE), str_of(wish->name)),
                     &w->arena, "Placement");
    placement_decode(&r, &ret->placement);
    if (!with_terms)
        ret->placement.term_count = 0;
    if (json_finish(&r, &err) == 0 && ocm_decide(&ret->view, &q, &w->arena, &ret->d, &err) == 0)
        return ret->d.outcome == OCM_DECIDED;
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
