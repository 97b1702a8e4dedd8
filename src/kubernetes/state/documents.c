#include "state/documents.h"

#include "base/file.h"
#include "base/json_fields.h"
#include "base/limits.h"
#include "model/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

struct gathering {
    struct document document; /* all members but the text */
    struct arena *arena;
    struct documents *to;
    uint32_t cap;
};

static int add(struct gathering *g, struct str text, struct err *err) {
    struct document *items =
        arena_push(g->arena, g->to->items, g->to->count, &g->cap, sizeof *items);
    if (items == NULL)
        return err_set(err, -ENOMEM, "no memory for its objects");
    g->to->items = items;
    items[g->to->count] = g->document;
    items[g->to->count++].text = text;
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

/* Keeps only the wanted objects, if there are several objects. */
static int keep_wanted(struct documents *d, const struct document_kind *kind, struct arena *arena,
                       struct err *err) {
    const uint32_t all = d->count;
    if (all == 1)
        return 0;
    d->count = 0;
    for (uint32_t i = 0; i < all; i++)
        if (kind->wanted(d->items[i].text, arena)) {
            d->items[i].has_others = true;
            d->items[d->count++] = d->items[i];
        }
    if (d->count > 0)
        return 0;
    return err_set(err, -EINVAL, "%u documents, and none of them is a %s", all, kind->expected);
}

int documents_read(const char *path, const struct document_kind *kind, struct arena *arena,
                   struct documents *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf bytes = {0};
    struct yaml_json *json = arena_alloc(arena, sizeof *json);
    struct gathering g = {
        .document = {.json = json, .kind = kind, .path = path}, .arena = arena, .to = ret};
    *ret = (struct documents){.count = 0};
    if (json == NULL)
        return err_set(err, -ENOMEM, "no memory for '%s'", path);
    int r = file_read(path, LIMIT_CONFIG_BYTES, &bytes, err);
    if (r != 0)
        return r;
    r = yaml_to_json(strbuf_str(&bytes), true, arena, json, err);
    for (size_t i = 0; r == 0 && i < json->document_count; i++)
        r = add_document(&g, json->documents[i], err);
    if (r == 0 && ret->count == 0)
        r = err_set(err, -EINVAL, "0 documents; expected one %s", kind->expected);
    if (r == 0)
        r = keep_wanted(ret, kind, arena, err);
    return r == 0 ? 0 : err_wrap(err, "%s '%s'", kind->what, path);
}

int document_read_only(const char *path, const struct document_kind *kind, struct arena *arena,
                       struct document *ret, struct err *err) {
    struct documents documents;
    const int r = documents_read(path, kind, arena, &documents, err);
    if (r != 0)
        return r;
    if (documents.count > 1)
        return err_set(err, -EINVAL,
                       "%s '%s': %u documents, and more than one of them is a %s: give a file with "
                       "one",
                       kind->what, path, documents.count, kind->expected);
    *ret = documents.items[0];
    return 0;
}

/* ---- names ---- */

struct object_name {
    struct str namespace, kind, name;
};

/* Returns the parts of the name that can be read: a user may also name an object with mistakes. */
static struct object_name name_of(struct str text, struct arena *arena) {
    static const struct json_field in_metadata[] = {
        JSON_TEXT("name", struct object_name, name),
        JSON_TEXT("namespace", struct object_name, namespace),
    };
    static const struct json_field fields[] = {
        JSON_TEXT("kind", struct object_name, kind),
        JSON_WITHIN("metadata", in_metadata),
    };
    struct object_name ret = {.kind = STR(""), .namespace = STR(""), .name = STR("")};
    struct json_reader r;
    json_reader_init(&r, text, arena, "object");
    json_fields(&r, &JSON_ROWS(fields), &ret);
    if (str_empty(ret.namespace))
        ret.namespace = STR("default");
    return ret;
}

struct str document_name(const struct document *d, struct arena *arena) {
    const struct object_name n = name_of(d->text, arena);
    return arena_printf(arena, "%.*s/%.*s/%.*s", STR_ARG(n.namespace), STR_ARG(n.kind),
                        STR_ARG(n.name));
}

/* Cuts the first part from a name. Returns false if the name has only one part. */
static bool cut_part(struct str *name, struct str *ret) {
    const size_t slash = str_find(*name, '/');
    if (slash == SIZE_MAX)
        return false;
    *ret = (struct str){name->p, slash};
    *name = (struct str){name->p + slash + 1, name->n - slash - 1};
    return true;
}

static bool is_named(const struct object_name *n, struct str name) {
    struct str first, second;
    if (!cut_part(&name, &first))
        return str_eq(name, n->name);
    if (!cut_part(&name, &second))
        return str_eq(name, n->name) &&
               (str_eq(first, n->namespace) || str_eq_nocase(n->kind, first));
    return str_eq(name, n->name) && str_eq(first, n->namespace) && str_eq_nocase(n->kind, second);
}

void documents_keep_named(struct documents *d, const char *name, struct arena *arena) {
    const uint32_t all = d->count;
    d->count = 0;
    for (uint32_t i = 0; i < all; i++) {
        const struct object_name n = name_of(d->items[i].text, arena);
        if (is_named(&n, str_of(name)))
            d->items[d->count++] = d->items[i];
    }
}

int documents_choose(struct documents *d, const char *name, struct arena *arena, struct err *err) {
    const struct document first = d->items[0];
    const uint32_t all = d->count;
    documents_keep_named(d, name, arena);
    if (d->count > 0)
        return 0;
    const struct str known = document_name(&first, arena);
    return err_set(err, -EINVAL, "%s '%s': no %s is named '%s'; it has %.*s%s", first.kind->what,
                   first.path, first.kind->expected, name, STR_ARG(known),
                   all > 1 ? " and others" : "");
}

/* ---- errors ---- */

/* Appends the line where the document begins, unless the error names a line. */
static void say_beginning(const struct document *d, struct err *err) {
    const uintptr_t at = (uintptr_t)d->text.p - (uintptr_t)d->json->text.p;
    if (err == NULL || !d->has_others || at >= d->json->text.n ||
        strstr(err->text, "at line ") != NULL)
        return;
    const uint32_t line = yaml_line_of(d->json, at);
    const size_t n = strlen(err->text);
    if (line > 0)
        (void)snprintf(err->text + n, sizeof err->text - n, ", at line %u", line); /* may be cut */
}

int document_complain(const struct document *d, struct err *err) {
    yaml_say_line(d->json, d->text, err);
    say_beginning(d, err);
    return err_wrap(err, "%s '%s'", d->kind->what, d->path);
}
