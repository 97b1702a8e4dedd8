#include "yaml/build.h"

#include "base/hash.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define NO_ANCHOR UINT32_MAX
#define MERGE_MEMBER "\"<<\":" /* a merge key in the output, until its object is closed */

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
    yaml_merger_done(&b->merger);
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

/* Returns the offset where the next value will start: after the comma that the writer puts in
 * front. */
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

/* Gives this anchor to the value that starts here; an older value with the same anchor is
 * forgotten. */
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
    uint32_t *begun = arena_push(b->arena, b->begun, b->begun_count, &b->begun_cap, sizeof *begun);
    if (begun == NULL)
        return no_memory(b, err);
    b->begun = begun;
    b->begun[b->begun_count++] = id;
    struct yaml_anchor *anchor = &b->anchors[id];
    *anchor = (struct yaml_anchor){.name = anchor->name, .begin = next_offset(b)};
    *ret_anchor = id;
    return 0;
}

/* Returns the JSON text of an anchor's value, which is finished. */
static struct str anchor_text(const struct yaml_build *b, const struct yaml_anchor *anchor) {
    return anchor->kept.n > 0 ? anchor->kept
                              : (struct str){b->out.p + anchor->begin, anchor->end - anchor->begin};
}

/* Call it when the value that started at `begin` is complete. A value inside it may have the same
 * anchor. */
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

/* Checks that the value of the last merge key can be merged. */
static int check_merge(const struct yaml_build *b, struct err *err) {
    const uint32_t begin = b->merges[b->merge_count - 1] + sizeof MERGE_MEMBER - 1;
    if (strbuf_failed(&b->out) || yaml_can_merge((struct str){b->out.p + begin, b->out.n - begin}))
        return 0;
    return err_set(err, -EINVAL, "a merge key '<<' needs a map, or a list of maps");
}

/* Ends a value of `height` levels: updates the container around it. */
static int value_done(struct yaml_build *b, uint32_t height, struct err *err) {
    if (b->depth > 0) {
        struct yaml_frame *frame = &b->frames[b->depth - 1];
        if (frame->at_merge && check_merge(b, err) != 0)
            return -EINVAL;
        frame->at_merge = false;
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
                                 .merge_floor = b->merge_count,
                                 .begun_floor = b->begun_count,
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

/* ---- merge keys ---- */

int yaml_build_merge(struct yaml_build *b, uint32_t line, struct err *err) {
    assert(yaml_build_wants_key(b));
    uint32_t *merges =
        arena_push(b->arena, b->merges, b->merge_count, &b->merge_cap, sizeof *merges);
    if (merges == NULL)
        return no_memory(b, err);
    b->merges = merges;
    b->merges[b->merge_count++] = next_offset(b);
    const int r = add_mark(b, line, err);
    if (r != 0)
        return r;
    json_put_raw(&b->writer, STR(MERGE_MEMBER));
    b->writer.comma = false;
    b->frames[b->depth - 1].wants_key = false;
    b->frames[b->depth - 1].at_merge = true;
    return check_written(b, err);
}

/* Copies the values that have anchors within the object, because its output is rewritten. */
static int keep_anchors(struct yaml_build *b, const struct yaml_frame *frame, struct err *err) {
    for (uint32_t i = frame->begun_floor; i < b->begun_count; i++) {
        struct yaml_anchor *anchor = &b->anchors[b->begun[i]];
        if (!anchor->finished || anchor->kept.n > 0 || anchor->begin <= frame->begin)
            continue;
        anchor->kept = arena_str(b->arena, anchor_text(b, anchor));
        b->merged += anchor->kept.n;
        if (arena_failed(b->arena))
            return no_memory(b, err);
    }
    return 0;
}

/* Writes a member with its former marks. `from` is the offset where the object's text began. */
static int put_member(struct yaml_build *b, const struct yaml_member *member, uint32_t from,
                      const struct yaml_json *old, struct err *err) {
    const uint32_t begin = from + member->begin, end = from + member->end;
    const uint32_t at = next_offset(b);
    int r = add_mark(b, yaml_line_of(old, begin), err);
    for (size_t i = yaml_marks_before(old, begin); r == 0 && i < old->mark_count; i++) {
        const struct yaml_mark mark = old->marks[i];
        if (mark.json_offset >= end)
            break;
        r = add_mark(b, mark.line, err);
        if (r == 0 && b->with_marks)
            b->marks[b->mark_count - 1].json_offset = at + (mark.json_offset - begin);
    }
    json_put_raw(&b->writer,
                 (struct str){b->merger.text.p + member->begin, member->end - member->begin});
    return r;
}

/* Writes the object's members again; the members of a merge key's value replace the merge key. */
static int rewrite(struct yaml_build *b, const struct yaml_frame *frame, struct err *err) {
    struct yaml_json old = {.marks = NULL};
    const struct yaml_json all = {.marks = b->marks, .mark_count = b->mark_count};
    const size_t first = yaml_marks_before(&all, frame->begin);
    int r = 0;
    if (b->with_marks) {
        old.mark_count = b->mark_count - first;
        old.marks = arena_array_unset(b->arena, old.mark_count, sizeof *old.marks);
        if (old.marks == NULL)
            return no_memory(b, err);
        memcpy(old.marks, b->marks + first, old.mark_count * sizeof *old.marks);
        b->mark_count = (uint32_t)first;
    }
    b->out.n = frame->begin;
    b->writer.comma = false;
    json_begin_object(&b->writer);
    for (uint32_t i = 0; i < b->merger.count && r == 0; i++)
        r = put_member(b, &b->merger.members[i], frame->begin, &old, err);
    json_end_object(&b->writer);
    return r == 0 ? check_written(b, err) : r;
}

/* Replaces the merge keys of the object that was just closed. All copied bytes are counted, because
 * an object inside several objects with merge keys is copied by each of them. */
static int merge_members(struct yaml_build *b, const struct yaml_frame *frame, struct err *err) {
    const struct str object = {b->out.p + frame->begin, b->out.n - frame->begin};
    int r = check_written(b, err);
    if (r == 0)
        r = keep_anchors(b, frame, err);
    if (r != 0)
        return r;
    b->merged += object.n;
    if (b->merged > LIMIT_YAML_BYTES)
        return err_set(err, -E2BIG, "merge keys '<<' copy more than %u bytes", LIMIT_YAML_BYTES);
    strbuf_clear(&b->merger.text);
    strbuf_append_str(&b->merger.text, object);
    for (uint32_t i = frame->merge_floor; i < b->merge_count; i++)
        b->merges[i] -= frame->begin;
    if (strbuf_failed(&b->merger.text) || yaml_merge(&b->merger, b->merges + frame->merge_floor,
                                                     b->merge_count - frame->merge_floor) != 0)
        return err_set(err, -ENOMEM, "no memory to read YAML");
    b->merge_count = frame->merge_floor;
    return rewrite(b, frame, err);
}

/* ---- values, continued: the end of a container ---- */

int yaml_build_close(struct yaml_build *b, struct err *err) {
    assert(b->depth > 0);
    const struct yaml_frame *frame = &b->frames[--b->depth];
    if (frame->is_object)
        json_end_object(&b->writer);
    else
        json_end_array(&b->writer);
    forget_keys(b, frame->key_floor);
    const int r = b->merge_count > frame->merge_floor ? merge_members(b, frame, err) : 0;
    if (r != 0)
        return r;
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
    const struct str text = anchor_text(b, anchor);
    if (b->depth > 0 && b->frames[b->depth - 1].at_merge && text.p[0] != '{')
        return err_set(err, -EINVAL, "a merge key '<<' needs a map, which '*%.*s' does not name",
                       STR_ARG(name));
    if (is_key && text.p[0] != '"')
        return err_set(err, -EINVAL, "alias '*%.*s' is a key, but does not name a string",
                       STR_ARG(name));
    int r = add_mark(b, line, err);
    if (r != 0)
        return r;
    /* Make room first: the bytes to copy may be in the same buffer, which must not move during the
     * copy. */
    if (strbuf_reserve(&b->out, text.n + 1) == NULL)
        return check_written(b, err);
    json_put_raw(&b->writer, anchor_text(b, anchor));
    return is_key ? finish_key(b, begin, err) : value_done(b, anchor->height, err);
}

/* ---- documents ---- */

void yaml_build_document(struct yaml_build *b) {
    hashmap_done(&b->anchor_index);
    b->anchor_count = 0;
    b->begun_count = 0;
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
