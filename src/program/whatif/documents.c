#include "whatif/documents.h"

#include "base/file.h"
#include "base/json_reader.h"
#include "base/limits.h"
#include "model/names.h"

#include <errno.h>

struct gathering {
    struct arena *arena;
    struct documents *to;
    uint32_t cap;
};

static int add(struct gathering *g, struct str text, struct err *err) {
    struct str *items = arena_push(g->arena, g->to->items, g->to->count, &g->cap, sizeof *items);
    if (items == NULL)
        return err_set(err, -ENOMEM, "no memory for its objects");
    g->to->items = items;
    items[g->to->count++] = text;
    return 0;
}

/* Adds an object, or the items of a List. */
static int add_document(struct gathering *g, struct str text, struct err *err) {
    struct json_reader r;
    struct str key;
    json_reader_init(&r, text, g->arena, "object");
    if (json_peek(&r) != JSON_OBJECT ||
        !str_has_suffix(json_peek_member(&r, STR("kind")), STR(LIST_KIND)))
        return add(g, text, err);
    int e = 0;
    if (json_object(&r))
        while (e == 0 && json_member(&r, &key))
            if (str_eq(key, STR("items")) && json_array(&r))
                while (e == 0 && json_element(&r))
                    e = add(g, json_skip(&r), err);
    return e == 0 ? json_check(&r, err) : e;
}

/* Keeps the wanted ones of several objects. */
static int choose(struct documents *d, const char *expected, yaml_wanted_fn *wanted,
                  struct arena *arena, struct err *err) {
    const uint32_t all = d->count;
    if (all == 1)
        return 0;
    d->count = 0;
    for (uint32_t i = 0; i < all; i++)
        if (wanted(d->items[i], arena))
            d->items[d->count++] = d->items[i];
    if (d->count > 0)
        return 0;
    return err_set(err, -EINVAL, "%u objects, and none of them is a %s", all, expected);
}

int documents_read(const char *path, const char *what, const char *expected, yaml_wanted_fn *wanted,
                   struct arena *arena, struct documents *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf bytes = {0};
    struct gathering g = {.arena = arena, .to = ret};
    *ret = (struct documents){.count = 0};
    int r = file_read(path, LIMIT_CONFIG_BYTES, &bytes, err);
    if (r != 0)
        return r;
    r = yaml_to_json(strbuf_str(&bytes), true, arena, &ret->json, err);
    for (size_t i = 0; r == 0 && i < ret->json.document_count; i++)
        r = add_document(&g, ret->json.documents[i], err);
    if (r == 0)
        r = choose(ret, expected, wanted, arena, err);
    return r == 0 ? 0 : err_wrap(err, "%s '%s'", what, path);
}

int documents_complain(const struct documents *d, struct str text, const char *path,
                       const char *what, struct err *err) {
    yaml_say_line(&d->json, text, err);
    return err_wrap(err, "%s '%s'", what, path);
}
