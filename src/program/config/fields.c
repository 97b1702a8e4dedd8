/*
 * Decodes whole objects by a typed table. The document is valid JSON already (the YAML reader made
 * it), so only keys and values can be wrong. Every value is cut out with json_skip() first and then
 * decoded by a reader of its own, so that a wrong value is reported and decoding goes on.
 *
 * Recursion follows the tables, which are constant, never the document.
 */
#include "config/fields.h"

#include "base/json_reader.h"
#include "base/suggest.h"
#include "model/labels.h"

#include <assert.h>
#include <stdio.h>

/* The state of decoding in one object. */
struct level {
    const struct field_table *table;
    const char *path;        /* path of the object, for problems */
    const char *prefix;      /* the rows' path to this object, "extender.limits", or "" */
    field_set rows_seen;     /* the rows that were seen, of the whole table */
    field_set sections_seen; /* the sections that were seen at this level, each by the number of its
                                first row */
    void *object;
};

/* ---- problems and paths ---- */

static uint32_t line_of(const struct field_source *s, const char *p) {
    return yaml_line_of(s->doc, (size_t)(p - s->doc->text.p));
}

static void report(struct field_source *s, const struct field_problem *problem) {
    s->problem_count += problem->kind != FIELD_REMOVED_KEY;
    s->problem(s->ctx, problem);
}

void field_bad_value(struct field_source *s, const char *path, struct str json, const char *fmt,
                     ...) {
    char text[ERR_TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args); /* may be cut: people read it */
    va_end(args);
    report(s, &(struct field_problem){.kind = FIELD_BAD_VALUE,
                                      .line = json.p != NULL ? line_of(s, json.p) : 0,
                                      .path = path,
                                      .text = text});
}

static const char *make_path(struct field_source *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
static const char *make_path(struct field_source *s, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args); /* fits: the keys of our tables are short */
    va_end(args);
    const char *copy = arena_cstr(s->arena, str_of(text));
    return copy != NULL ? copy : "";
}

const char *field_path(struct field_source *s, const char *a, const char *b) {
    return make_path(s, "%s%s%s", a, a[0] != '\0' && b[0] != '\0' ? "." : "", b);
}

const char *field_path_at(struct field_source *s, const char *a, uint32_t index) {
    return make_path(s, "%s[%u]", a, index);
}

static void key_problem(struct field_source *s, const struct level *l, enum field_problem_kind kind,
                        struct str key, const char *at, const char *suggestion) {
    char name[300];
    (void)snprintf(name, sizeof name, "%.*s", STR_ARG(key)); /* may be cut: people read it */
    report(s, &(struct field_problem){.kind = kind,
                                      .line = line_of(s, at),
                                      .path = field_path(s, l->path, name),
                                      .text = "",
                                      .suggestion = suggestion});
}

/* ---- single values ---- */

/* Returns the first byte, which shows the kind of the value; '\0' if it is empty. */
static char first_byte(struct str json) {
    return json.n > 0 ? json.p[0] : '\0';
}

static const char *kind_name(enum json_kind kind) {
    static const char *const names[] = {"nothing", "null",   "a boolean", "a number",
                                        "a text",  "a list", "an object"};
    return names[kind];
}

static enum json_kind kind_of_type(enum field_type type) {
    switch (type) {
    case FIELD_BOOL:
        return JSON_BOOL;
    case FIELD_NUMBER:
        return JSON_NUMBER;
    case FIELD_CSTRS:
    case FIELD_STRS:
    case FIELD_OBJECTS:
        return JSON_ARRAY;
    case FIELD_LABELS:
    case FIELD_OBJECT:
        return JSON_OBJECT;
    case FIELD_CSTR:
    case FIELD_STR:
    case FIELD_DURATION:
    case FIELD_CHOICE:
    case FIELD_CUSTOM:
    case FIELD_ANY:
    case FIELD_REFUSED:
        break;
    }
    return JSON_STRING;
}

/* YAML turns the words On and Off into booleans, and digits into numbers, unless they are quoted.
 * Sets *ret to the written word; returns false if the choice has no such word. */
static bool scalar_as_word(const struct field *f, enum json_kind kind, struct str json,
                           struct str *ret) {
    if (f->type != FIELD_CHOICE || (kind != JSON_BOOL && kind != JSON_NUMBER))
        return false;
    *ret = kind == JSON_NUMBER ? json : first_byte(json) == 't' ? STR("On") : STR("Off");
    for (const struct field_choice *c = f->choices; c->word != NULL; c++)
        if (str_eq(*ret, str_of(c->word)))
            return true;
    return false;
}

static void set_value(struct field_source *s, const struct field *f, const char *path,
                      struct str json, struct str text, void *object) {
    struct err err;
    if (field_set_text(f, text, false, s->arena, object, &err) != 0)
        field_bad_value(s, path, json, "%s", err.text);
}

/* Reports that a text is expected. Advises quotes if YAML read a number or a boolean. */
static void wants_text(struct field_source *s, const char *path, struct str json,
                       enum json_kind found) {
    bool scalar = found == JSON_NUMBER || found == JSON_BOOL;
    field_bad_value(s, path, json, "expected %s, found %s%s", kind_name(JSON_STRING),
                    kind_name(found), scalar ? "; put it in quotes" : "");
}

/* Reads the value of a row whose type is neither a list nor an object. */
static void read_scalar(struct field_source *s, const struct field *f, const char *path,
                        struct str json, void *object) {
    struct json_reader r;
    struct str text;
    json_reader_init(&r, json, s->arena, "value");
    enum json_kind kind = json_peek(&r), wanted = kind_of_type(f->type);
    if (scalar_as_word(f, kind, json, &text))
        set_value(s, f, path, json, text, object);
    else if (kind == wanted)
        set_value(s, f, path, json, kind == JSON_STRING ? json_string(&r) : json, object);
    else if (f->type == FIELD_CSTR || f->type == FIELD_STR)
        wants_text(s, path, json, kind);
    else
        field_bad_value(s, path, json, "expected %s, found %s",
                        f->type == FIELD_DURATION ? "a duration such as 500ms or 1m30s"
                                                  : kind_name(wanted),
                        kind_name(kind));
}

static void read_texts(struct field_source *s, const struct field *f, const char *path,
                       struct str json, void *object) {
    struct json_reader r;
    uint32_t count = 0;
    int64_t none = 0;
    json_reader_init(&r, json, s->arena, "value");
    memcpy((char *)object + f->count_offset, &none, f->count_size);
    if (!json_array(&r))
        return;
    while (json_element(&r) && count <= FIELD_LIST_MAX) { /* an item too many is reported */
        const char *item_path = field_path_at(s, path, count++);
        struct str value = json_skip(&r);
        struct json_reader item;
        json_reader_init(&item, value, s->arena, "value");
        enum json_kind kind = json_peek(&item);
        if (kind == JSON_STRING)
            set_value(s, f, item_path, value, json_string(&item), object);
        else
            wants_text(s, item_path, value, kind);
    }
}

static void read_labels(struct field_source *s, const struct field *f, const char *path,
                        struct str json, void *object) {
    struct json_reader r;
    struct str key;
    json_reader_init(&r, json, s->arena, "labels");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            struct str value = json_skip(&r);
            if (first_byte(value) != '"') {
                field_bad_value(s, path, value, "the value of label '%.*s' is not a text",
                                STR_ARG(key));
                return;
            }
        }
    json_reader_init(&r, json, s->arena, "labels");
    struct labels labels = labels_decode(&r);
    struct err err;
    if (json_check(&r, &err) != 0)
        field_bad_value(s, path, json, "%s", err.text);
    else
        memcpy((char *)object + f->offset, &labels, sizeof labels);
}

/* ---- objects ---- */

static void read_objects(struct field_source *s, const struct field *f, const char *path,
                         struct str json, void *object) {
    struct json_reader r;
    char *items = NULL;
    uint32_t count = 0, cap = 0;
    json_reader_init(&r, json, s->arena, "value");
    if (!json_array(&r))
        return;
    while (json_element(&r)) {
        struct str value = json_skip(&r);
        if (f->max > 0 && count == f->max) {
            field_bad_value(s, path, value, "more than %u items", count);
            return;
        }
        char *longer = arena_push(s->arena, items, count, &cap, f->table->size);
        if (longer == NULL) /* the caller checks the arena */
            return;
        items = longer;
        char *item = items + count * f->table->size;
        fields_set_defaults(f->table, s->arena, item);
        fields_read(s, f->table, field_path_at(s, path, count), value, item);
        count++;
    }
    if (count < f->min)
        field_bad_value(s, path, json, "it is empty; at least %lld is needed", (long long)f->min);
    assert(f->size == sizeof items && f->count_size == sizeof count);
    memcpy((char *)object + f->offset, &items, sizeof items);
    memcpy((char *)object + f->count_offset, &count, sizeof count);
}

static void read_value(struct field_source *s, const struct field *f, const char *path,
                       struct str json, void *object) {
    struct json_reader r;
    json_reader_init(&r, json, s->arena, "value");
    enum json_kind kind = json_peek(&r), wanted = kind_of_type(f->type);
    if (f->type == FIELD_ANY)
        return;
    if (f->type == FIELD_REFUSED) {
        field_bad_value(s, path, json, "it does not belong here: %s", f->help);
        return;
    }
    if (f->type == FIELD_CUSTOM) {
        f->read(s, path, json, object);
        return;
    }
    if ((wanted == JSON_ARRAY || wanted == JSON_OBJECT) && kind != wanted) {
        field_bad_value(s, path, json, "expected %s, found %s", kind_name(wanted), kind_name(kind));
        return;
    }
    if (f->type == FIELD_OBJECT)
        fields_read(s, f->table, path, json, (char *)object + f->offset);
    else if (f->type == FIELD_OBJECTS)
        read_objects(s, f, path, json, object);
    else if (f->type == FIELD_LABELS)
        read_labels(s, f, path, json, object);
    else if (wanted == JSON_ARRAY)
        read_texts(s, f, path, json, object);
    else
        read_scalar(s, f, path, json, object);
}

/* ---- keys ---- */

/* Returns the rest of a row's path after "prefix."; NULL if the row is in another section. */
static const char *below(const char *path, const char *prefix) {
    size_t n = strlen(prefix);
    if (n == 0)
        return path;
    return strncmp(path, prefix, n) == 0 && path[n] == '.' ? path + n + 1 : NULL;
}

/* Returns the row that `key` names in this section, or the first row of the section `key`. */
static const struct field *find_row(const struct level *l, struct str key, bool *ret_is_section) {
    for (size_t i = 0; i < l->table->count; i++) {
        const char *rest = below(l->table->fields[i].path, l->prefix);
        if (rest == NULL || strncmp(rest, key.p, key.n) != 0)
            continue;
        if (rest[key.n] == '\0' || rest[key.n] == '.') {
            *ret_is_section = rest[key.n] == '.';
            return &l->table->fields[i];
        }
    }
    return NULL;
}

static void unknown_key(struct field_source *s, const struct level *l, struct str key,
                        const char *at) {
    struct suggestion near = suggestion_for(key);
    const char *names[FIELD_TABLE_MAX];
    for (size_t i = 0; i < l->table->count; i++) {
        const char *rest = below(l->table->fields[i].path, l->prefix);
        if (rest == NULL || l->table->fields[i].type == FIELD_REFUSED)
            continue;
        names[i] = arena_cstr(s->arena, (struct str){rest, strcspn(rest, ".")});
        if (names[i] != NULL)
            suggestion_offer(&near, names[i]);
    }
    key_problem(s, l, FIELD_UNKNOWN_KEY, key, at, near.best);
}

static bool was_key(struct field_source *s, const struct level *l, struct str key) {
    const char *name = arena_cstr(s->arena, key);
    return s->is_removed != NULL && name != NULL && s->is_removed(field_path(s, l->path, name));
}

static void read_section(struct field_source *s, struct level *l, struct str json);

static void read_member(struct field_source *s, struct level *l, struct str key, const char *at,
                        struct str value) {
    bool is_section = false;
    bool one_name = str_find(key, '.') == SIZE_MAX; /* a key with dots is no path */
    const struct field *f = one_name ? find_row(l, key, &is_section) : NULL;
    if (f == NULL) {
        if (one_name && was_key(s, l, key))
            key_problem(s, l, FIELD_REMOVED_KEY, key, at, NULL);
        else
            unknown_key(s, l, key, at);
        return;
    }
    const size_t row = (size_t)(f - l->table->fields);
    field_set *seen = is_section ? &l->sections_seen : &l->rows_seen;
    if (field_set_has(seen, row)) {
        key_problem(s, l, FIELD_REPEATED_KEY, key, at, NULL);
        return;
    }
    if (str_eq(value, STR("null"))) /* null counts as a missing key */
        return;
    field_set_add(seen, row);
    char name[128];
    (void)snprintf(name, sizeof name, "%.*s", STR_ARG(key)); /* a key of a table: fits */
    const char *path = field_path(s, l->path, name);
    if (!is_section) {
        read_value(s, f, path, value, l->object);
        return;
    }
    if (first_byte(value) != '{') {
        field_bad_value(s, path, value, "expected an object with keys of its own");
        return;
    }
    struct level inner = *l;
    inner.path = path;
    inner.prefix = field_path(s, l->prefix, name);
    inner.sections_seen = (field_set){{0}};
    read_section(s, &inner, value);
    l->rows_seen = inner.rows_seen; /* has the rows of this level, too */
}

static void read_section(struct field_source *s, struct level *l, struct str json) {
    struct json_reader r;
    struct str key;
    json_reader_init(&r, json, s->arena, "value");
    if (!json_object(&r))
        return;
    while (json_member(&r, &key)) {
        const char *at = r.p - 1; /* the colon, which is on the key's line */
        struct str value = json_skip(&r);
        if (!json_failed(&r))
            read_member(s, l, key, at, value);
    }
}

void fields_read(struct field_source *s, const struct field_table *t, const char *path,
                 struct str json, void *object) {
    assert(t->count <= FIELD_TABLE_MAX);
    struct level l = {.table = t, .path = path, .prefix = "", .object = object};
    uint32_t problems_before = s->problem_count;
    if (first_byte(json) != '{') {
        field_bad_value(s, path, json, "expected an object with keys of its own");
        return;
    }
    read_section(s, &l, json);
    for (size_t i = 0; i < t->count; i++)
        if (t->fields[i].required && !field_set_has(&l.rows_seen, i))
            field_bad_value(s, field_path(s, path, t->fields[i].path), json, "it is required");
    if (t->finish != NULL && s->problem_count == problems_before)
        t->finish(s, path, json, object);
}
