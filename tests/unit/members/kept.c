#include "unit/members/kept.h"

struct arena kept_arena;

int kept_setup(void **state) {
    struct informer *i = NULL;
    arena_init(&kept_arena, 64u << 20);
    assert_int_equal(informer_new(&member_store, NULL, &i, NULL), 0);
    *state = i;
    return 0;
}

int kept_teardown(void **state) {
    informer_free(*state);
    arena_done(&kept_arena);
    return 0;
}

int kept_try(struct informer *i, uint32_t kind, const char *json, struct err *err) {
    const struct informer_kind *row = &member_store.kinds[kind];
    struct informer_object object = {.kind = kind, .json = str_of(json), .arena = &kept_arena};
    struct json_reader r;
    json_reader_init(&r, object.json, &kept_arena, "object");
    row->decode(&r, &object);
    if (json_finish(&r, err) != 0)
        fail_msg("%s: %s", json, err->text);
    const int result = row->apply(informer_write(i), &object, err);
    informer_write_done(i);
    return result;
}

void kept_give(struct informer *i, uint32_t kind, const char *json) {
    struct err err = {0};
    assert_int_equal(kept_try(i, kind, json, &err), 0);
}

void kept_take(struct informer *i, uint32_t kind, const char *namespace, const char *name) {
    const struct informer_object gone = {
        .kind = kind, .meta = {.namespace = str_of(namespace), .name = str_of(name)}};
    assert_int_equal(member_store.kinds[kind].remove(informer_write(i), &gone, NULL), 0);
    informer_write_done(i);
}
