#include "admission/patch.h"

#include "base/json_reader.h"

#include <errno.h>

void patch_init(struct patch *p, struct str document, struct arena *arena) {
    *p = (struct patch){.arena = arena, .document = document};
}

/* ---- where a path leads ---- */

/* What has to be written, and where. */
struct target {
    size_t begin, end;                    /* bytes of the document that make way */
    enum { REPLACE, MEMBER, ELEMENT } as; /* a value in place of another, or a new last one */
    bool alone;                           /* a new one: nothing stands before it in its container */
    uint32_t there; /* so many parts of the path make the pointer; the rest goes into the value */
};

static struct target replaced(struct str document, struct json_reader *r, uint32_t there) {
    struct str old = json_skip(r);
    size_t begin = (size_t)(old.p - document.p);
    return (struct target){begin, begin + old.n, REPLACE, false, there};
}

/* The reader stands behind the container's last bracket: a new last one goes before it, and before
 * blanks that stand there. */
static struct target appended(const struct json_reader *r, bool is_object, bool alone,
                              uint32_t there) {
    size_t end = json_offset(r) - 1;
    while (end > 0 && strchr(" \t\r\n", r->begin[end - 1]) != NULL)
        end--;
    return (struct target){end, end, is_object ? MEMBER : ELEMENT, alone, there};
}

/* Steps into member `name` of the object that comes next, or over the object when it has none. A
 * repeated name is an error: who reads the document may take either. */
static bool enter_member(struct json_reader *r, struct str name, bool *ret_alone) {
    struct json_reader found;
    struct str key;
    bool has = false;
    *ret_alone = true;
    (void)json_object(r); /* it is one: peeked at */
    while (json_member(r, &key)) {
        *ret_alone = false;
        if (str_eq(key, name)) {
            if (has)
                json_fail(r, "it is there twice");
            has = true;
            found = *r;
        }
        (void)json_skip(r); /* was read well before */
    }
    if (has && !json_failed(r))
        *r = found;
    return has;
}

/* Steps into element number `name` of the array that comes next, or over the array. */
static bool enter_element(struct json_reader *r, struct str name, bool *ret_alone) {
    int64_t index = -1, i = 0;
    if (!str_to_i64(name, &index))
        index = -1;
    (void)json_array(r); /* it is one: peeked at */
    for (; json_element(r); i++) {
        if (i == index)
            return true;
        (void)json_skip(r); /* was read well before */
    }
    *ret_alone = i == 0;
    return false;
}

static int wrong(struct err *err, const struct str *path, uint32_t depth, const char *why) {
    struct strbuf text = {.max = 256};
    for (uint32_t i = 0; i < depth; i++)
        strbuf_appendf(&text, "/%.*s", STR_ARG(path[i]));
    int r = err_set(err, -EINVAL, "cannot add '%.*s': %s", STR_ARG(strbuf_str(&text)), why);
    strbuf_done(&text);
    return r;
}

/* Follows the path as far as it leads. `add` inserts at an index, so no element is ever a target:
 * only what is inside one. */
static int follow(struct json_reader *r, struct str document, const struct str *path,
                  uint32_t depth, struct target *ret, struct err *err) {
    bool in_array = false, alone;
    for (uint32_t i = 0; i < depth; i++) {
        enum json_kind kind = json_peek(r);
        if (kind == JSON_NULL && i > 0 && !in_array) {
            *ret = replaced(document, r, i);
            return json_check(r, err);
        }
        if (kind != JSON_OBJECT && kind != JSON_ARRAY)
            return wrong(err, path, depth, "something without members is in the way");
        in_array = kind == JSON_ARRAY;
        bool has = in_array ? enter_element(r, path[i], &alone) : enter_member(r, path[i], &alone);
        if (json_failed(r))
            return json_check(r, err);
        if (has)
            continue;
        if (in_array && (i + 1 < depth || !str_eq(path[i], STR("-"))))
            return wrong(err, path, depth, "there is no such element");
        *ret = appended(r, !in_array, alone, i + 1);
        return json_check(r, err);
    }
    if (in_array || depth == 0)
        return wrong(err, path, depth, "only members are replaced");
    *ret = replaced(document, r, depth);
    return json_check(r, err);
}

/* ---- the operation ---- */

static void append_pointer(struct strbuf *out, const struct str *path, uint32_t depth) {
    for (uint32_t i = 0; i < depth; i++) {
        strbuf_append_char(out, '/');
        for (size_t c = 0; c < path[i].n; c++)
            if (path[i].p[c] == '~')
                strbuf_append(out, "~0", 2);
            else if (path[i].p[c] == '/')
                strbuf_append(out, "~1", 2);
            else
                strbuf_append_char(out, path[i].p[c]);
    }
}

/* The value inside the parents that are to be made: names[0] is the outermost. */
static void append_nested(struct strbuf *out, const struct str *names, uint32_t count,
                          struct str value) {
    struct json_writer w = {.out = out};
    for (uint32_t i = 0; i < count; i++) {
        if (i + 1 == count && str_eq(names[i], STR("-"))) {
            json_begin_array(&w);
        } else {
            json_begin_object(&w);
            json_key(&w, names[i]);
        }
    }
    json_put_raw(&w, value);
    for (uint32_t i = count; i-- > 0;) {
        if (i + 1 == count && str_eq(names[i], STR("-")))
            json_end_array(&w);
        else
            json_end_object(&w);
    }
}

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for a patch");
}

/* Moves what was built to the arena. */
static int keep(struct patch *p, struct strbuf *text, struct str *ret, struct err *err) {
    *ret = arena_str(p->arena, strbuf_str(text));
    bool failed = strbuf_failed(text) || arena_failed(p->arena);
    strbuf_done(text);
    return failed ? no_memory(err) : 0;
}

static int splice(struct patch *p, const struct target *t, struct str name, struct str value,
                  struct str *ret, struct err *err) {
    struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    strbuf_append(&out, p->document.p, t->begin);
    if (t->as != REPLACE && !t->alone)
        strbuf_append_char(&out, ',');
    if (t->as == MEMBER)
        json_key(&w, name);
    strbuf_append_str(&out, value);
    strbuf_append(&out, p->document.p + t->end, p->document.n - t->end);
    return keep(p, &out, ret, err);
}

static int pointer(struct patch *p, const struct str *path, uint32_t depth, struct str *ret,
                   struct err *err) {
    struct strbuf out = {0};
    append_pointer(&out, path, depth);
    return keep(p, &out, ret, err);
}

static int nested(struct patch *p, const struct str *names, uint32_t count, struct str value,
                  struct str *ret, struct err *err) {
    struct strbuf out = {0};
    append_nested(&out, names, count, value);
    return keep(p, &out, ret, err);
}

int patch_add(struct patch *p, const struct str *path, uint32_t depth, struct str value,
              struct err *err) {
    struct json_reader r;
    struct target t = {0};
    struct patch_operation operation;
    struct str document;
    json_reader_init(&r, p->document, p->arena, "document");
    int failed = follow(&r, p->document, path, depth, &t, err);
    if (failed == 0)
        failed = pointer(p, path, t.there, &operation.path, err);
    if (failed == 0)
        failed = nested(p, path + t.there, depth - t.there, value, &operation.value, err);
    if (failed == 0)
        failed = splice(p, &t, path[t.there - 1], operation.value, &document, err);
    if (failed != 0)
        return failed;
    struct patch_operation *grown =
        arena_push(p->arena, p->operations, p->count, &p->cap, sizeof *grown);
    if (grown == NULL)
        return no_memory(err);
    p->operations = grown;
    p->operations[p->count++] = operation;
    p->document = document;
    return 0;
}

struct patch_mark patch_mark(const struct patch *p) {
    return (struct patch_mark){p->document, p->count};
}

void patch_rewind(struct patch *p, struct patch_mark mark) {
    p->document = mark.document;
    p->count = mark.count;
}

void patch_write(const struct patch *p, struct json_writer *w) {
    json_begin_array(w);
    for (uint32_t i = 0; i < p->count; i++) {
        json_begin_object(w);
        json_put_member(w, STR("op"), STR("add"));
        json_put_member(w, STR("path"), p->operations[i].path);
        json_key(w, STR("value"));
        json_put_raw(w, p->operations[i].value);
        json_end_object(w);
    }
    json_end_array(w);
}
