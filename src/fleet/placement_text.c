#include "fleet/placement_text.h"

#include "base/arena.h"
#include "base/json_reader.h"
#include "base/limits.h"
#include "model/names.h"
#include "model/object.h"

#include <errno.h>
#include <stdlib.h>

/* A value as it stands in a good text, without the blanks between its parts. */
static void append_value(struct strbuf *out, struct str value) {
    bool in_string = false;
    size_t from = 0;
    for (size_t i = 0; i < value.n; i++) {
        const char c = value.p[i];
        if (in_string && c == '\\') {
            i++; /* whatever it is, it ends nothing */
        } else if (c == '"') {
            in_string = !in_string;
        } else if (!in_string && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
            strbuf_append(out, value.p + from, i - from);
            from = i + 1;
        }
    }
    strbuf_append(out, value.p + from, value.n - from);
}

static bool is_one_of(struct str key, const char *const *names) {
    while (*names != NULL && !str_eq(key, str_of(*names)))
        names++;
    return *names != NULL;
}

/* A member whose name needs no escapes. */
static void put_name(struct strbuf *out, bool *first, struct str key) {
    if (!*first)
        strbuf_append_char(out, ',');
    *first = false;
    strbuf_append_char(out, '"');
    strbuf_append_str(out, key);
    strbuf_append(out, "\":", 2);
}

static void put_annotations(struct json_reader *r, struct strbuf *out) {
    bool first = true;
    struct str key;
    strbuf_append_char(out, '{');
    if (json_object(r))
        while (json_member(r, &key)) {
            /* as in the text, where it may have escapes */
            const struct str raw = r->depth <= JSON_PATH_LEVELS ? r->keys[r->depth - 1] : key;
            const struct str value = json_skip(r);
            if (str_eq(key, STR(LAST_APPLIED_ANNOTATION)))
                continue;
            put_name(out, &first, raw);
            append_value(out, value);
        }
    strbuf_append_char(out, '}');
}

static void put_metadata(struct json_reader *r, struct strbuf *out) {
    static const char *const names[] = {"name",   "namespace",         "uid",
                                        "labels", "deletionTimestamp", NULL};
    bool first = true;
    struct str key;
    strbuf_append_char(out, '{');
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("annotations"))) {
                put_name(out, &first, key);
                put_annotations(r, out);
            } else if (is_one_of(key, names)) {
                put_name(out, &first, key);
                append_value(out, json_skip(r));
            } else
                (void)json_skip(r); /* a good text */
        }
    strbuf_append_char(out, '}');
}

static void put_object(struct json_reader *r, struct strbuf *out) {
    static const char *const names[] = {"apiVersion", "kind", "spec", NULL};
    bool first = true;
    struct str key;
    strbuf_append_char(out, '{');
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("metadata"))) {
                put_name(out, &first, key);
                put_metadata(r, out);
            } else if (is_one_of(key, names)) {
                put_name(out, &first, key);
                append_value(out, json_skip(r));
            } else
                (void)json_skip(r); /* a good text */
        }
    strbuf_append_char(out, '}');
}

static void put_status(struct json_reader *r, struct strbuf *out) {
    struct str key;
    if (json_object(r))
        while (json_member(r, &key)) {
            const struct str value = json_skip(r);
            if (str_eq(key, STR("status")) && !str_eq(value, STR("null"))) {
                strbuf_clear(out);
                append_value(out, value);
            }
        }
}

static int write_text(struct str json, void (*put)(struct json_reader *r, struct strbuf *out),
                      struct str *ret) {
    struct strbuf out = {0};
    struct arena arena;
    struct json_reader r;
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    json_reader_init(&r, json, &arena, PLACEMENT_KIND);
    put(&r, &out);
    const bool failed = json_failed(&r) || arena_failed(&arena) || strbuf_failed(&out);
    arena_done(&arena);
    *ret = (struct str){0};
    if (!failed && out.n == 0)
        return 0;
    char *p = failed ? NULL : realloc(out.p, out.n); /* no longer than it is */
    if (p == NULL) {
        strbuf_done(&out);
        return -ENOMEM;
    }
    *ret = (struct str){p, out.n};
    return 0;
}

int placement_text(struct str json, struct str *ret) {
    return write_text(json, put_object, ret);
}

int placement_status_text(struct str json, struct str *ret) {
    return write_text(json, put_status, ret);
}
