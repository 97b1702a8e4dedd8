#include "unit/fleet/fleet_builder.h"

#include <errno.h>

void fleet_builder_open(struct fleet_builder *b) {
    void *contents = NULL;
    *b = (struct fleet_builder){.c = NULL};
    assert_int_equal(fleet_store.open(&contents, NULL), 0);
    b->c = contents;
    arena_init(&b->arena, 64u << 20);
}

static void end_view(struct fleet_builder *b) {
    if (b->view.contents != NULL)
        topology_view_close(&b->view.clusters);
    b->view.contents = NULL;
}

void fleet_builder_close(struct fleet_builder *b) {
    end_view(b);
    fleet_store.close(b->c);
    arena_done(&b->arena);
}

int fleet_try(struct fleet_builder *b, enum fleet_kind kind, const char *json) {
    const struct informer_kind *row = &fleet_store.kinds[kind];
    struct informer_object object = {.kind = kind, .arena = &b->arena, .is_stored = true};
    struct json_reader r;
    struct err err;
    end_view(b);
    arena_reset(&b->arena);
    char *text = arena_cstr(&b->arena, str_of(json));
    for (char *p = text; p != NULL && *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    object.json = str_of(text);
    json_reader_init(&r, object.json, &b->arena, "object");
    row->decode(&r, &object);
    int failed = json_finish(&r, &err);
    if (failed == -EINVAL)
        fail_msg("%s", err.text);
    return failed != 0 ? failed : row->apply(b->c, &object, &err);
}

void fleet_give(struct fleet_builder *b, enum fleet_kind kind, const char *json) {
    assert_int_equal(fleet_try(b, kind, json), 0);
}

void fleet_drop(struct fleet_builder *b, enum fleet_kind kind, const char *namespace,
                const char *name) {
    const struct informer_object gone = {
        .kind = kind, .meta = {.namespace = str_of(namespace), .name = str_of(name)}};
    end_view(b);
    assert_int_equal(fleet_store.kinds[kind].remove(b->c, &gone, NULL), 0);
}

const struct fleet_view *fleet_look(struct fleet_builder *b) {
    if (b->view.contents == NULL) {
        contents_sort(b->c);
        b->view.contents = b->c;
        topology_view_open(b->c->clusters, &b->view.clusters);
    }
    return &b->view;
}

uint32_t fleet_slot(struct fleet_builder *b, const char *name) {
    const uint32_t slot = topology_slot(b->c->clusters, str_of(name));
    if (slot == TOPOLOGY_NONE)
        fail_msg("'%s' has no slot", name);
    return slot;
}

void fleet_is_empty(struct fleet_builder *b) {
    (void)fleet_look(b); /* the view sorts the fleet, which frees empty records */
    const struct fleet_stats stats = contents_stats(b->c);
    assert_int_equal(stats.records, 0);
    assert_int_equal(stats.strings, 0);
    assert_int_equal(stats.clusters, 0);
    assert_int_equal(b->c->charged, 0);
    for (uint32_t slot = 0; slot < topology_slots(b->c->clusters); slot++)
        assert_int_equal(b->c->decided[slot], 0);
}
