#include "admission/patch.h"

#include "base/json_reader.h"
#include "base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void patch_init(struct patch *p, struct str document, struct arena *arena) {
    *p = (struct patch){.arena = arena, .document = document};
}

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for a patch");
}

static int wrong(const struct patch_change *c, uint32_t depth, const char *why, struct err *err) {
    static const char *const words[] = {
        [PATCH_ADD] = "add", [PATCH_REPLACE] = "replace", [PATCH_REMOVE] = "remove"};
    struct strbuf text = {.max = 256};
    for (uint32_t i = 0; i < depth; i++)
        strbuf_appendf(&text, "/%.*s", STR_ARG(c->path[i]));
    int r = err_set(err, -EINVAL, "cannot %s '%.*s': %s", words[c->op], STR_ARG(strbuf_str(&text)),
                    why);
    strbuf_done(&text);
    return r;
}

/* ---- where paths lead ---- */

/* The place in the document for one change. */
struct target {
    size_t begin, end;                              /* bytes of the document that are replaced */
    enum { IN_PLACE, MEMBER, ELEMENT, NOTHING } as; /* NOTHING: values are only removed */
    bool alone;     /* the item is new, and its container is empty */
    uint32_t there; /* number of names in the operation's path; the other names go into its value */
    uint32_t change;
    uint32_t followed; /* number of names of the path found so far */
};

/* One pass over the document for all changes. */
struct walk {
    const struct patch_change *changes;
    struct target *targets; /* one for each change, sorted by path */
    struct json_reader r;
    struct err *err;
};

/* The changes whose paths share the names that lead to one value. They are neighbours. */
struct range {
    uint32_t from, to;
    uint32_t depth; /* depth of the value */
};

static const struct patch_change *change_of(const struct walk *w, uint32_t i) {
    return &w->changes[w->targets[i].change];
}

/* Returns "" for a path that ends above `depth`: it sorts before all others. */
static struct str name_at(const struct walk *w, uint32_t i, uint32_t depth) {
    const struct patch_change *c = change_of(w, i);
    return depth < c->depth ? c->path[depth] : STR("");
}

/* Returns the first change with a name at this depth that is at least `name`; with `above`, that is
 * greater. */
static uint32_t bound(const struct walk *w, struct range in, struct str name, bool above) {
    uint32_t from = in.from, to = in.to;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        int order = str_cmp(name_at(w, middle, in.depth), name);
        if (order < 0 || (above && order == 0))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Returns the changes of a range that lead into the member or element with this name. */
static struct range below(const struct walk *w, struct range in, struct str name) {
    struct range found = {.from = in.from, .to = in.from, .depth = in.depth + 1};
    if (in.to - in.from == 1) { /* the usual case */
        const struct patch_change *c = change_of(w, in.from);
        found.to += in.depth < c->depth && str_eq(c->path[in.depth], name);
        return found;
    }
    found.from = bound(w, in, name, false);
    found.to = bound(w, in, name, true);
    while (found.from < found.to && change_of(w, found.from)->depth <= in.depth)
        found.from++; /* this path ends above and has no name here */
    return found;
}

static size_t skip_blanks(const struct json_reader *r, size_t at) {
    while (r->begin + at < r->end && strchr(" \t\r\n", r->begin[at]) != NULL)
        at++;
    return at;
}

/* Removes an item together with the comma before it; the first item together with the comma after
 * it. `before` is the end of the item before it, or of the bracket. */
static void take_away(const struct walk *w, size_t before, bool is_first, struct target *t) {
    t->as = NOTHING;
    t->begin = before;
    size_t behind = is_first ? skip_blanks(&w->r, t->end) : t->end;
    if (is_first && w->r.begin + behind < w->r.end && w->r.begin[behind] == ',')
        t->end = behind + 1;
}

/* Sets the target of a path that ends here: the value that comes next. */
static int take(struct walk *w, uint32_t i, bool in_array, size_t before, bool is_first) {
    const struct patch_change *c = change_of(w, i);
    struct target *t = &w->targets[i];
    if (c->depth == 0 || (in_array && c->op == PATCH_ADD)) /* an insertion */
        return wrong(c, c->depth, "only members are replaced", w->err);
    (void)json_peek(&w->r); /* skips blanks */
    t->begin = json_offset(&w->r);
    (void)json_skip(&w->r); /* the document has parsed before */
    t->end = json_offset(&w->r);
    t->there = c->depth;
    if (c->op == PATCH_REMOVE)
        take_away(w, before, is_first, t);
    return 0;
}

static int walk_value(struct walk *w, struct range range, bool in_array);

/* Walks into the next item of a container, for the changes in `range`. */
static int walk_item(struct walk *w, struct range range, bool in_array, size_t before,
                     bool is_first) {
    const struct patch_change *c = change_of(w, range.from);
    if (w->targets[range.from].followed >= range.depth)
        return wrong(c, range.depth, "it is there twice", w->err);
    for (uint32_t i = range.from; i < range.to; i++)
        w->targets[i].followed = range.depth;
    if (c->depth > range.depth)
        return walk_value(w, range, in_array);
    if (range.to - range.from > 1)
        return wrong(change_of(w, range.from + 1), change_of(w, range.from + 1)->depth,
                     "another change is in the way", w->err);
    return take(w, range.from, in_array, before, is_first);
}

/* Adds the missing items to a container whose last item ends at `end`. */
static int make_missing(struct walk *w, struct range in, bool in_array, size_t end, bool alone) {
    for (uint32_t i = in.from; i < in.to; i++) {
        const struct patch_change *c = change_of(w, i);
        struct target *t = &w->targets[i];
        bool is_end = in.depth + 1 == c->depth && str_eq(c->path[in.depth], STR("-"));
        if (t->followed > in.depth)
            continue;
        if (in_array && !(c->op == PATCH_ADD && is_end))
            return wrong(c, c->depth, "there is no such element", w->err);
        if (c->op != PATCH_ADD)
            return wrong(c, c->depth, "it is not there", w->err);
        if (!in_array && i > in.from &&
            str_eq(name_at(w, i - 1, in.depth), name_at(w, i, in.depth)))
            return wrong(c, c->depth, "another change is in the way", w->err);
        t->begin = t->end = end;
        t->as = in_array ? ELEMENT : MEMBER;
        t->alone = alone;
        t->there = in.depth + 1;
    }
    return 0;
}

static int walk_object(struct walk *w, struct range range) {
    struct str key;
    bool is_first = true;
    int r = 0;
    (void)json_object(&w->r); /* peeked at before */
    size_t before = json_offset(&w->r);
    while (r == 0 && json_member(&w->r, &key)) {
        struct range inner = below(w, range, key);
        if (inner.from == inner.to)
            (void)json_skip(&w->r); /* the document has parsed before */
        else
            r = walk_item(w, inner, false, before, is_first);
        before = json_offset(&w->r);
        is_first = false;
    }
    return r == 0 ? make_missing(w, range, false, before, is_first) : r;
}

static int walk_array(struct walk *w, struct range range) {
    int r = 0;
    char digits[16];
    (void)json_array(&w->r); /* peeked at before */
    size_t before = json_offset(&w->r);
    uint32_t i = 0;
    for (; r == 0 && json_element(&w->r); i++) {
        int n = snprintf(digits, sizeof digits, "%u", i);
        struct range inner = below(w, range, (struct str){digits, (size_t)n});
        if (inner.from == inner.to)
            (void)json_skip(&w->r); /* the document has parsed before */
        else
            r = walk_item(w, inner, true, before, i == 0);
        before = json_offset(&w->r);
    }
    return r == 0 ? make_missing(w, range, true, before, i == 0) : r;
}

/* A removal shifts indexes and commas, so its container must have no other change. */
static int check_removal(const struct walk *w, struct range in) {
    for (uint32_t i = in.from; i < in.to && in.to - in.from > 1; i++) {
        const struct patch_change *c = change_of(w, i);
        if (c->op == PATCH_REMOVE && c->depth == in.depth + 1)
            return wrong(c, c->depth, "another change is in the way", w->err);
    }
    return 0;
}

/* Reads the value that comes next, for changes within it. Recursion is as deep as their paths. */
static int walk_value(struct walk *w, struct range range, bool in_array) {
    enum json_kind kind = json_peek(&w->r);
    const struct patch_change *c = change_of(w, range.from);
    int r = check_removal(w, range);
    if (r != 0)
        return r;
    if (kind == JSON_OBJECT)
        return walk_object(w, range);
    if (kind == JSON_ARRAY)
        return walk_array(w, range);
    if (kind != JSON_NULL || range.depth == 0 || in_array || c->op != PATCH_ADD)
        return wrong(c, c->depth, "something without members is in the way", w->err);
    for (uint32_t i = range.from; i < range.to; i++) {
        struct target *t =
            &w->targets[i]; /* if several changes replace the value, all but one will be refused */
        t->begin = json_offset(&w->r);
        t->end = t->begin + 4;
        t->there = range.depth;
    }
    (void)json_skip(&w->r); /* the document has parsed before */
    return 0;
}

static int by_path(const void *a, const void *b, void *changes) {
    const struct target *x = a, *y = b;
    const struct patch_change *c = (const struct patch_change *)changes + x->change,
                              *d = (const struct patch_change *)changes + y->change;
    for (uint32_t i = 0; i < c->depth && i < d->depth; i++) {
        int order = str_cmp(c->path[i], d->path[i]);
        if (order != 0)
            return order;
    }
    if (c->depth != d->depth)
        return c->depth < d->depth ? -1 : 1;
    return (x->change > y->change) - (x->change < y->change);
}

/* Finds the places of all changes. Sorts `targets` by path. */
static int locate(struct patch *p, const struct patch_change *changes, uint32_t count,
                  struct target *targets, struct err *err) {
    struct walk w = {.changes = changes, .targets = targets, .err = err};
    json_reader_init(&w.r, p->document, p->arena, "document");
    for (uint32_t i = 0; i < count; i++) {
        targets[i].change = i;
        if (changes[i].depth > PATCH_DEPTH_MAX)
            return err_set(err, -E2BIG, "cannot patch a document so deep");
        if (changes[i].depth == 0)
            return wrong(&changes[i], 0, "only members are replaced", err);
    }
    qsort_r(targets, count, sizeof *targets, by_path, (void *)(uintptr_t)changes);
    int r = walk_value(&w, (struct range){.from = 0, .to = count}, false);
    return r == 0 ? json_check(&w.r, err) : r;
}

/* ---- operations ---- */

/* Moves the text to the arena. */
static int keep(struct patch *p, struct strbuf *text, struct str *ret, struct err *err) {
    *ret = arena_str(p->arena, strbuf_str(text));
    bool failed = strbuf_failed(text) || arena_failed(p->arena);
    strbuf_done(text);
    return failed ? no_memory(err) : 0;
}

static int make_pointer(struct patch *p, const struct str *path, uint32_t depth, struct str *ret,
                        struct err *err) {
    struct strbuf out = {0};
    for (uint32_t i = 0; i < depth; i++) {
        strbuf_append_char(&out, '/');
        for (size_t c = 0; c < path[i].n; c++)
            if (path[i].p[c] == '~')
                strbuf_append(&out, "~0", 2);
            else if (path[i].p[c] == '/')
                strbuf_append(&out, "~1", 2);
            else
                strbuf_append_char(&out, path[i].p[c]);
    }
    return keep(p, &out, ret, err);
}

/* Wraps the value in its missing parents: names[0] is the outermost. */
static int make_value(struct patch *p, const struct str *names, uint32_t count, struct str value,
                      struct str *ret, struct err *err) {
    struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    if (count == 0) {
        *ret = value;
        return 0;
    }
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
    return keep(p, &out, ret, err);
}

static int make_operation(struct patch *p, const struct patch_change *c, const struct target *t,
                          struct patch_operation *ret, struct err *err) {
    ret->op = c->op;
    int r = make_pointer(p, c->path, t->there, &ret->path, err);
    if (r == 0 && c->op != PATCH_REMOVE)
        r = make_value(p, c->path + t->there, c->depth - t->there, c->value, &ret->value, err);
    return r;
}

/* ---- the document ---- */

static int by_place(const void *a, const void *b) {
    const struct target *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->change > y->change) - (x->change < y->change);
}

static void write_target(const struct target *t, bool alone, struct str name, struct str value,
                         struct strbuf *out) {
    struct json_writer w = {.out = out};
    if ((t->as == MEMBER || t->as == ELEMENT) && !alone)
        strbuf_append_char(out, ',');
    if (t->as == MEMBER)
        json_key(&w, name);
    if (t->as != NOTHING)
        strbuf_append_str(out, value);
}

/* Writes the new document; `made` has the operations in the order of the changes. */
static int splice(struct patch *p, const struct patch_change *changes, struct target *targets,
                  const struct patch_operation *made, uint32_t count, struct err *err) {
    struct strbuf out = {0};
    size_t at = 0;
    qsort(targets, count, sizeof *targets, by_place);
    (void)strbuf_reserve(&out, p->document.n + 256); /* failure shows in `out` */
    for (uint32_t i = 0; i < count; i++) {
        const struct target *t = &targets[i];
        const struct patch_change *c = &changes[t->change];
        bool follows = i > 0 && targets[i - 1].begin == t->begin;
        if (t->begin < at) {
            strbuf_done(&out);
            return wrong(c, c->depth, "another change is in the way", err);
        }
        strbuf_append(&out, p->document.p + at, t->begin - at);
        write_target(t, t->alone && !follows, c->path[t->there - 1], made[t->change].value, &out);
        at = t->end;
    }
    strbuf_append(&out, p->document.p + at, p->document.n - at);
    struct str document;
    int r = keep(p, &out, &document, err);
    if (r == 0)
        p->document = document;
    return r;
}

/* Appends the operations to the patch. */
static int note(struct patch *p, const struct patch_operation *made, uint32_t count,
                struct err *err) {
    for (uint32_t i = 0; i < count; i++) {
        p->bytes += made[i].path.n + made[i].value.n;
        if (p->bytes > LIMIT_PATCH_BYTES)
            return err_set(err, -E2BIG, "cannot add more than %u KiB to it",
                           LIMIT_PATCH_BYTES >> 10);
        struct patch_operation *grown =
            arena_push(p->arena, p->operations, p->count + i, &p->cap, sizeof *grown);
        if (grown == NULL)
            return no_memory(err);
        p->operations = grown;
        p->operations[p->count + i] = made[i];
    }
    p->count += count;
    return 0;
}

/* Takes the steps for sorting, finding and writing the changes, and for reading the document. */
static bool take_steps(struct patch *p, const struct patch_change *changes, uint32_t count) {
    enum { STEPS_OF_ONE = 32 };
    size_t bytes = p->document.n;
    for (uint32_t i = 0; i < count; i++)
        bytes += changes[i].value.n;
    return steps_take(&p->arena->steps, (uint64_t)count * STEPS_OF_ONE) &&
           steps_take_bytes(&p->arena->steps, bytes);
}

int patch_apply(struct patch *p, const struct patch_change *changes, uint32_t count,
                struct err *err) {
    if (!take_steps(p, changes, count))
        return err_set(err, -E2BIG, "no steps left to patch it");
    struct target *targets = arena_array(p->arena, count, sizeof *targets);
    struct patch_operation *made = arena_array(p->arena, count, sizeof *made);
    if (count == 0)
        return 0;
    if (targets == NULL || made == NULL)
        return no_memory(err);
    int r = locate(p, changes, count, targets, err);
    for (uint32_t i = 0; r == 0 && i < count; i++) {
        uint32_t change = targets[i].change;
        r = make_operation(p, &changes[change], &targets[i], &made[change], err);
    }
    const struct patch_mark before = patch_mark(p);
    if (r == 0)
        r = note(p, made, count, err);
    if (r == 0)
        r = splice(p, changes, targets, made, count, err);
    if (r != 0)
        patch_rewind(p, before);
    return r;
}

int patch_add(struct patch *p, const struct str *path, uint32_t depth, struct str value,
              struct err *err) {
    const struct patch_change change = {PATCH_ADD, path, depth, value};
    return patch_apply(p, &change, 1, err);
}

struct patch_mark patch_mark(const struct patch *p) {
    return (struct patch_mark){p->document, p->count, p->bytes};
}

void patch_rewind(struct patch *p, struct patch_mark mark) {
    p->document = mark.document;
    p->count = mark.count;
    p->bytes = mark.bytes;
}

void patch_write(const struct patch *p, struct json_writer *w) {
    static const struct str words[] = {
        [PATCH_ADD] = {"add", 3}, [PATCH_REPLACE] = {"replace", 7}, [PATCH_REMOVE] = {"remove", 6}};
    json_begin_array(w);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct patch_operation *o = &p->operations[i];
        json_begin_object(w);
        json_put_member(w, STR("op"), words[o->op]);
        json_put_member(w, STR("path"), o->path);
        if (o->op != PATCH_REMOVE) {
            json_key(w, STR("value"));
            json_put_raw(w, o->value);
        }
        json_end_object(w);
    }
    json_end_array(w);
}
