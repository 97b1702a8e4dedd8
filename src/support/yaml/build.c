#include "yaml/build.h"

#include "base/hash.h"

#include <assert.h>
#include <errno.h>

#define NO_ANCHOR UINT32_MAX

/*
 * The buffer's maximum is the arena's free room, but at most a document's limit: a text that would
 * not fit in the end is refused before memory is spent on it.
 */
void yaml_build_init(struct yaml_build *b, bool with_marks, struct arena *arena) {
    size_t left = arena->max - arena->total;
    *b = (struct yaml_build){.arena = arena, .with_marks = with_marks};
    b->out.max = left > LIMIT_YAML_BYTES ? LIMIT_YAML_BYTES : left > 0 ? left : 1;
    b->writer = (struct json_writer){.out = &b->out};
}

void yaml_build_done(struct yaml_build *b) {
    strbuf_done(&b->out);
    hashmap_done(&b->key_index);
    hashmap_done(&b->anchor_index);
}

/* ---- memory ---- */

static int no_memory(const struct yaml_build *b, struct err *err) {
    return err_set(err, -ENOMEM, "too large to convert within %zu bytes of memory", b->arena->max);
}

/*
 * Was everything written? A buffer fails at its maximum or without memory, and does not show which.
 * If it is at least half full, we assume that it has reached its maximum.
 */
static int check_written(const struct yaml_build *b, struct err *err) {
    if (!strbuf_failed(&b->out))
        return 0;
    if (b->out.max == LIMIT_YAML_BYTES && b->out.n >= b->out.max / 2)
        return err_set(err, -E2BIG, "longer than %u bytes as JSON, aliases written out",
                       LIMIT_YAML_BYTES);
    return no_memory(b, err);
}

/* Returns where the next value will start: after the comma that the writer puts in front. */
static uint32_t next_offset(const struct yaml_build *b) {
    return (uint32_t)(b->out.n + b->writer.comma);
}

static int add_mark(struct yaml_build *b, uint32_t line, struct err *err) {
    if (!b->with_marks)
        return 0;
    struct yaml_mark *marks =
        arena_push(b->arena, b->marks, b->mark_count, &b->mark_cap, sizeof *marks);
    if (marks == NULL)
        return no_memory(b, err);
    b->marks = marks;
    b->marks[b->mark_count++] = (struct yaml_mark){next_offset(b), line};
    return 0;
}

/* ---- anchors ---- */

static bool anchor_has_name(const void *ctx, uint32_t id, const void *key) {
    const struct yaml_anchor *anchors = ctx;
    return str_eq(anchors[id].name, *(const struct str *)key);
}

static uint32_t find_anchor(const struct yaml_build *b, struct str name) {
    return hashmap_find(&b->anchor_index, hash_str(name), anchor_has_name, b->anchors, &name);
}

/* The value that starts here gets this name; an older value of the same name is forgotten. */
static int begin_anchor(struct yaml_build *b, struct str name, uint32_t *ret_anchor,
                        struct err *err) {
    *ret_anchor = NO_ANCHOR;
    if (str_empty(name))
        return 0;
    uint32_t id = find_anchor(b, name);
    if (id == HASHMAP_NONE) {
        struct yaml_anchor *anchors =
            arena_push(b->arena, b->anchors, b->anchor_count, &b->anchor_cap, sizeof *anchors);
        struct str copy = arena_str(b->arena, name);
        if (anchors == NULL || arena_failed(b->arena) || hashmap_reserve(&b->anchor_index) != 0)
            return no_memory(b, err);
        b->anchors = anchors;
        id = b->anchor_count++;
        b->anchors[id].name = copy;
        hashmap_insert(&b->anchor_index, hash_str(copy), id);
    }
    struct yaml_anchor *anchor = &b->anchors[id];
    *anchor = (struct yaml_anchor){.name = anchor->name, .begin = next_offset(b)};
    *ret_anchor = id;
    return 0;
}

/* The value that started at `begin` is complete. A value inside it may have taken its name. */
static void finish_anchor(struct yaml_build *b, uint32_t id, uint32_t begin, uint32_t height) {
    if (id == NO_ANCHOR || b->anchors[id].begin != begin)
        return;
    b->anchors[id].end = (uint32_t)b->out.n;
    b->anchors[id].height = height;
    b->anchors[id].finished = true;
}

/* ---- keys ---- */

struct key_question {
    struct str json;
    uint32_t depth;
};

static bool key_is(const void *ctx, uint32_t id, const void *key) {
    const struct yaml_build *b = ctx;
    const struct key_question *q = key;
    struct str json = {b->out.p + b->keys[id].begin, b->keys[id].length};
    return b->keys[id].depth == q->depth && str_eq(json, q->json);
}

/* Remembers the key whose JSON text was just written from `begin` on. */
static int add_key(struct yaml_build *b, uint32_t begin, struct err *err) {
    struct key_question q = {{b->out.p + begin, b->out.n - begin}, b->depth};
    uint64_t hash = hash_mix(hash_str(q.json), b->depth);
    if (hashmap_find(&b->key_index, hash, key_is, b, &q) != HASHMAP_NONE) {
        struct str unquoted = {q.json.p + 1, q.json.n - 2};
        return err_set(err, -EINVAL, "duplicate key '%.*s'", STR_ARG(unquoted));
    }
    struct yaml_key *keys = arena_push(b->arena, b->keys, b->key_count, &b->key_cap, sizeof *keys);
    if (keys == NULL || hashmap_reserve(&b->key_index) != 0)
        return no_memory(b, err);
    b->keys = keys;
    b->keys[b->key_count] = (struct yaml_key){
        .hash = hash, .begin = begin, .length = (uint32_t)q.json.n, .depth = b->depth};
    hashmap_insert(&b->key_index, hash, b->key_count++);
    return 0;
}

static void forget_keys(struct yaml_build *b, uint32_t floor) {
    while (b->key_count > floor) {
        b->key_count--;
        hashmap_remove(&b->key_index, b->keys[b->key_count].hash, b->key_count);
    }
}

/* A key is written as a string value and then made a key. */
static int finish_key(struct yaml_build *b, uint32_t begin, struct err *err) {
    int r = check_written(b, err);
    if (r == 0)
        r = add_key(b, begin, err);
    if (r != 0)
        return r;
    strbuf_append_char(&b->out, ':');
    b->writer.comma = false;
    b->frames[b->depth - 1].wants_key = false;
    return check_written(b, err);
}

int yaml_build_key(struct yaml_build *b, struct str key, struct yaml_value_site site,
                   struct err *err) {
    assert(yaml_build_wants_key(b));
    if (str_find(key, '\0') != SIZE_MAX)
        return err_set(err, -EINVAL, "NUL in a key");
    uint32_t begin = next_offset(b), anchor;
    int r = add_mark(b, site.line, err);
    if (r == 0)
        r = begin_anchor(b, site.anchor, &anchor, err);
    if (r != 0)
        return r;
    json_put_string(&b->writer, key);
    finish_anchor(b, anchor, begin, 0);
    return finish_key(b, begin, err);
}

/* ---- values ---- */

/* Ends a value of `height` levels: updates the container around it. */
static int value_done(struct yaml_build *b, uint32_t height, struct err *err) {
    if (b->depth > 0) {
        struct yaml_frame *frame = &b->frames[b->depth - 1];
        frame->wants_key = frame->is_object;
        if (frame->height < height)
            frame->height = height;
    }
    return check_written(b, err);
}

static int put_scalar(struct yaml_build *b, struct str text, bool is_json,
                      struct yaml_value_site site, struct err *err) {
    uint32_t begin = next_offset(b), anchor;
    int r = add_mark(b, site.line, err);
    if (r == 0)
        r = begin_anchor(b, site.anchor, &anchor, err);
    if (r != 0)
        return r;
    if (is_json)
        json_put_raw(&b->writer, text);
    else
        json_put_string(&b->writer, text);
    finish_anchor(b, anchor, begin, 0);
    return value_done(b, 0, err);
}

int yaml_build_string(struct yaml_build *b, struct str text, struct yaml_value_site site,
                      struct err *err) {
    return put_scalar(b, text, false, site, err);
}

int yaml_build_literal(struct yaml_build *b, struct str json, struct yaml_value_site site,
                       struct err *err) {
    return put_scalar(b, json, true, site, err);
}

static int too_deep(struct err *err) {
    return err_set(err, -E2BIG, "nested deeper than %d levels", LIMIT_JSON_DEPTH);
}

int yaml_build_open(struct yaml_build *b, bool is_object, struct yaml_value_site site,
                    struct err *err) {
    if (yaml_build_wants_key(b))
        return err_set(err, -EINVAL, "a key must be a scalar");
    if (b->depth == LIMIT_JSON_DEPTH)
        return too_deep(err);
    struct yaml_frame *frame = &b->frames[b->depth];
    *frame = (struct yaml_frame){.is_object = is_object,
                                 .wants_key = is_object,
                                 .key_floor = b->key_count,
                                 .begin = next_offset(b)};
    int r = add_mark(b, site.line, err);
    if (r == 0)
        r = begin_anchor(b, site.anchor, &frame->anchor, err);
    if (r != 0)
        return r;
    b->depth++;
    if (is_object)
        json_begin_object(&b->writer);
    else
        json_begin_array(&b->writer);
    return check_written(b, err);
}

int yaml_build_close(struct yaml_build *b, struct err *err) {
    assert(b->depth > 0);
    const struct yaml_frame *frame = &b->frames[--b->depth];
    if (frame->is_object)
        json_end_object(&b->writer);
    else
        json_end_array(&b->writer);
    forget_keys(b, frame->key_floor);
    finish_anchor(b, frame->anchor, frame->begin, frame->height + 1);
    return value_done(b, frame->height + 1, err);
}

int yaml_build_alias(struct yaml_build *b, struct str name, uint32_t line, struct err *err) {
    uint32_t id = find_anchor(b, name), begin = next_offset(b);
    if (id == HASHMAP_NONE)
        return err_set(err, -EINVAL, "no value has the anchor '&%.*s'", STR_ARG(name));
    const struct yaml_anchor *anchor = &b->anchors[id];
    if (!anchor->finished)
        return err_set(err, -EINVAL, "alias '*%.*s' stands inside the value it names",
                       STR_ARG(name));
    if (b->depth + anchor->height > LIMIT_JSON_DEPTH)
        return too_deep(err);
    bool is_key = yaml_build_wants_key(b);
    if (is_key && b->out.p[anchor->begin] != '"')
        return err_set(err, -EINVAL, "alias '*%.*s' is a key, but does not name a string",
                       STR_ARG(name));
    int r = add_mark(b, line, err);
    if (r != 0)
        return r;
    size_t length = anchor->end - anchor->begin;
    /* Make room first: the bytes to copy are in the same buffer, which must not move during the
     * copy. */
    if (strbuf_reserve(&b->out, length + 1) == NULL)
        return check_written(b, err);
    json_put_raw(&b->writer, (struct str){b->out.p + anchor->begin, length});
    return is_key ? finish_key(b, begin, err) : value_done(b, anchor->height, err);
}

/* ---- documents ---- */

void yaml_build_document(struct yaml_build *b) {
    hashmap_done(&b->anchor_index);
    b->anchor_count = 0;
    b->writer.comma = false;
    if (b->out.n > b->document_begin)
        strbuf_append_char(&b->out, '\n');
    b->document_begin = (uint32_t)b->out.n;
}

int yaml_build_document_end(struct yaml_build *b, struct err *err) {
    if (b->out.n == b->document_begin)
        return check_written(b, err);
    struct yaml_span *documents =
        arena_push(b->arena, b->documents, b->document_count, &b->document_cap, sizeof *documents);
    if (documents == NULL)
        return no_memory(b, err);
    b->documents = documents;
    b->documents[b->document_count++] = (struct yaml_span){b->document_begin, (uint32_t)b->out.n};
    return check_written(b, err);
}
