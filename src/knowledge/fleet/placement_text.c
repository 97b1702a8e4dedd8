#include "fleet/placement_text.h"

#include "base/arena.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/limits.h"
#include "model/names.h"
#include "model/object.h"

#include <errno.h>
#include <stdlib.h>

/* Appends a value of a well-formed text without blanks. */
static void append_value(struct strbuf *out, struct str value) {
    bool in_string = false;
    size_t from = 0;
    for (size_t i = 0; i < value.n; i++) {
        const char c = value.p[i];
        if (in_string && c == '\\') {
            i++; /* an escaped character never ends the string */
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

/* Begins a member whose name needs no escapes. */
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
            /* the raw name, with its escapes */
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
            }
        }
    strbuf_append_char(out, '}');
}

static void put_object(struct json_reader *r, struct strbuf *out) {
    static const char *const names[] = {"apiVersion", "kind", "spec", NULL};
    bool first = true;
    struct str key;
    strbuf_append_char(out, '{');
    if (json_object(r))
        while (!strbuf_failed(out) && json_member(r, &key)) {
            if (str_eq(key, STR("metadata"))) {
                put_name(out, &first, key);
                put_metadata(r, out);
            } else if (is_one_of(key, names)) {
                put_name(out, &first, key);
                append_value(out, json_skip(r));
            }
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

static void put_conditions(struct json_reader *r, struct strbuf *out) {
    struct str key;
    strbuf_clear(out);
    if (json_object(r))
        while (json_member(r, &key)) {
            const struct str value = json_skip(r);
            if (!str_eq(key, STR("conditions")))
                continue;
            strbuf_clear(out);
            strbuf_append_str(out, STR("{\"conditions\":"));
            append_value(out, value);
            strbuf_append_char(out, '}');
        }
}

/* Moves the text to *ret, shrunk to its length. */
static int take_text(struct strbuf *out, bool failed, struct str *ret) {
    *ret = (struct str){0};
    if (!failed && out->n == 0)
        return 0;
    char *p = failed ? NULL : realloc(out->p, out->n);
    if (p == NULL) {
        strbuf_done(out);
        return -ENOMEM;
    }
    *ret = (struct str){p, out->n};
    return 0;
}

static int write_text(struct str json, size_t max,
                      void (*put)(struct json_reader *r, struct strbuf *out), struct str *ret) {
    struct strbuf out = {.max = max};
    struct arena arena;
    struct json_reader reader;
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    json_reader_init(&reader, json, &arena, PLACEMENT_KIND);
    put(&reader, &out);
    const bool too_long = strbuf_failed(&out) && !out.no_memory;
    const bool failed = json_failed(&reader) || arena_failed(&arena) || strbuf_failed(&out);
    arena_done(&arena);
    const int r = take_text(&out, failed, ret);
    return too_long ? -E2BIG : r;
}

int placement_text(struct str json, struct str *ret) {
    return write_text(json, LIMIT_PLACEMENT_TEXT, put_object, ret);
}

bool placement_text_is_long(struct str json) {
    struct str text = {0};
    const int r = json.n > LIMIT_PLACEMENT_TEXT ? placement_text(json, &text) : 0;
    free((void *)(uintptr_t)text.p);
    return r == -E2BIG;
}

int placement_status_text(struct str json, struct str *ret) {
    return write_text(json, 0, put_status, ret);
}

int placement_conditions_text(struct str status, struct str *ret, bool *ret_cut) {
    int r = status.n > 0 ? write_text(status, 0, put_conditions, ret) : 0;
    *ret_cut = r == 0 && ret->n > LIMIT_PLACEMENT_OUTLINE;
    if (*ret_cut) {
        free((void *)(uintptr_t)ret->p);
        *ret = (struct str){0};
    }
    return r;
}

/* ---- outlines ---- */

enum { OUTLINE_VALUE = 320 }; /* bytes of a key or of a value; longer ones are left out */

static void put_annotation(struct json_writer *w, const struct placement *p, struct str key) {
    struct str value;
    if (labels_lookup(&p->annotations, key, &value) && value.n <= OUTLINE_VALUE)
        json_put_member(w, key, value);
}

struct labels placement_outline_labels(const struct placement *p) {
    const struct labels *labels = &p->meta.labels;
    size_t bytes = 0;
    for (uint32_t i = 0; i < labels->count; i++)
        bytes += labels->items[i].key.n + labels->items[i].value.n;
    return bytes <= LIMIT_PLACEMENT_OUTLINE ? *labels : (struct labels){0};
}

static void put_labels(struct json_writer *w, const struct labels *labels) {
    if (labels->count == 0)
        return;
    json_key(w, STR("labels"));
    json_begin_object(w);
    for (uint32_t i = 0; i < labels->count; i++)
        json_put_member(w, labels->items[i].key, labels->items[i].value);
    json_end_object(w);
}

static void put_outlined_metadata(struct json_writer *w, const struct placement *p) {
    const struct labels labels = placement_outline_labels(p);
    json_key(w, STR("metadata"));
    json_begin_object(w);
    json_put_member(w, STR("name"), p->meta.name);
    json_put_member(w, STR("namespace"), p->meta.namespace);
    json_put_member(w, STR("uid"), p->meta.uid);
    if (p->meta.terminating)
        json_put_member(w, STR("deletionTimestamp"), STR("1970-01-01T00:00:00Z"));
    put_labels(w, &labels);
    json_key(w, STR("annotations"));
    json_begin_object(w);
    put_annotation(w, p, STR(PLACEMENT_MODE_ANNOTATION));
    put_annotation(w, p, STR(PLACEMENT_DISABLE_ANNOTATION));
    put_annotation(w, p, STR(PLACEMENT_DISABLED_ANNOTATION));
    put_annotation(w, p, STR(PLACEMENT_INJECTED_ANNOTATION));
    json_end_object(w);
    json_end_object(w);
}

static void put_first_term(struct json_writer *w, const struct placement *p) {
    json_key(w, STR("spreadPolicy"));
    json_begin_object(w);
    json_key(w, STR("spreadConstraints"));
    json_begin_array(w);
    json_begin_object(w);
    json_put_member(w, STR("topologyKey"), p->terms[0].key);
    json_put_member(w, STR("topologyKeyType"), p->terms[0].is_claim ? STR("Claim") : STR("Label"));
    json_end_object(w);
    json_end_array(w);
    json_end_object(w);
}

int placement_outline(const struct placement *p, struct str *ret) {
    struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    json_begin_object(&w);
    json_put_member(&w, STR("apiVersion"), STR(OCM_GROUP "/v1beta1"));
    json_put_member(&w, STR("kind"), STR(PLACEMENT_KIND));
    put_outlined_metadata(&w, p);
    json_key(&w, STR("spec"));
    json_begin_object(&w);
    if (p->term_count > 0 && p->terms[0].key.n <= OUTLINE_VALUE)
        put_first_term(&w, p);
    json_end_object(&w);
    json_end_object(&w);
    return take_text(&out, strbuf_failed(&out), ret);
}
