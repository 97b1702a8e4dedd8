#include "admission/patch_diff.h"

#include "base/json_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DEPTH_MAX = 32,
    REPLACE = 1, /* an answer of compare(): the nearest member around is to be written anew */
};

struct diff {
    struct patch *patch;
    struct str path[DEPTH_MAX];
    uint32_t depth;
    struct err *err;
};

static struct json_reader reader_of(const struct diff *d, struct str text) {
    struct json_reader r;
    json_reader_init(&r, text, d->patch->arena, "document");
    return r;
}

static int wrong(const struct diff *d, int code, const char *why) {
    struct strbuf text = {.max = 256};
    for (uint32_t i = 0; i < d->depth; i++)
        strbuf_appendf(&text, "/%.*s", STR_ARG(d->path[i]));
    int r = err_set(d->err, code, "cannot change '%.*s': %s", STR_ARG(strbuf_str(&text)), why);
    strbuf_done(&text);
    return r;
}

static int put(const struct diff *d, struct str value) {
    return patch_add(d->patch, d->path, d->depth, value, d->err);
}

static int enter(struct diff *d, struct str name) {
    if (d->depth == DEPTH_MAX)
        return wrong(d, -E2BIG, "it is too deep");
    d->path[d->depth++] = name;
    return 0;
}

/* ---- scalars ---- */

static bool same_number(const struct diff *d, struct str a, struct str b) {
    const char *x = arena_cstr(d->patch->arena, a), *y = arena_cstr(d->patch->arena, b);
    return x != NULL && y != NULL && strtod(x, NULL) == strtod(y, NULL);
}

static int compare_scalars(const struct diff *d, enum json_kind kind, struct str before,
                           struct str after) {
    bool same = false;
    if (kind == JSON_STRING) {
        struct json_reader b = reader_of(d, before), a = reader_of(d, after);
        same = str_eq(json_string(&b), json_string(&a));
    } else if (kind == JSON_NUMBER) {
        same = same_number(d, before, after);
    }
    return same ? 0 : REPLACE;
}

/* Are all numbers of this value integers that a double holds? */
static bool numbers_survive(struct str value) {
    static const int64_t most = (int64_t)1 << 53;
    for (size_t i = 0; i < value.n; i++) {
        int64_t number;
        size_t start = i;
        if (value.p[i] == '"') { /* to the end of the string */
            for (i++; i < value.n && value.p[i] != '"'; i++)
                i += value.p[i] == '\\';
        } else if (strchr("-0123456789", value.p[i]) != NULL) {
            while (i + 1 < value.n && strchr("+-.eE0123456789", value.p[i + 1]) != NULL)
                i++;
            if (!str_to_i64((struct str){value.p + start, i + 1 - start}, &number) ||
                number > most || number < -most)
                return false;
        }
    }
    return true;
}

/* ---- containers ---- */

static int compare(struct diff *d, struct str before, struct str after);

/* A member that both have. */
static int compare_member(struct diff *d, struct str before, struct str after) {
    const struct patch_mark mark = patch_mark(d->patch);
    int r = compare(d, before, after);
    if (r != REPLACE)
        return r;
    patch_rewind(d->patch, mark);
    bool is_list = before.n > 0 && before.p[0] == '['; /* of which only a part was changed */
    if (is_list && !numbers_survive(before))
        return wrong(d, -EINVAL, "its numbers would not survive it");
    return put(d, after);
}

/* The value of member `key`: the next one of `next`, where it usually is, or else wherever the
 * object has it. */
static bool find(const struct diff *d, struct json_reader *next, struct str object, struct str key,
                 struct str *ret) {
    struct json_reader r = *next;
    struct str name;
    if (json_member(&r, &name) && str_eq(name, key)) {
        *ret = json_skip(&r);
        *next = r;
        return true;
    }
    r = reader_of(d, object);
    (void)json_object(&r); /* it is one */
    while (json_member(&r, &name)) {
        struct str value = json_skip(&r);
        if (!str_eq(name, key))
            continue;
        *ret = value;
        *next = r;
        return true;
    }
    return false;
}

static int compare_keys(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* The names of an object's members, sorted. */
static const struct str *keys_of(const struct diff *d, struct str object, uint32_t *ret_count) {
    struct json_reader r = reader_of(d, object);
    struct str *keys = NULL, key;
    uint32_t count = 0, cap = 0;
    (void)json_object(&r); /* it is one */
    while (json_member(&r, &key)) {
        (void)json_skip(&r); /* only its name */
        keys = arena_push(d->patch->arena, keys, count, &cap, sizeof *keys);
        if (keys == NULL)
            return NULL;
        keys[count++] = key;
    }
    if (count > 1)
        qsort(keys, count, sizeof *keys, compare_keys);
    *ret_count = count;
    return keys;
}

static bool repeated(const struct str *keys, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        if (str_eq(keys[i - 1], keys[i]))
            return true;
    return false;
}

/* No name twice, and each that was there is there still. */
static int check_members(const struct diff *d, struct str before, struct str after) {
    uint32_t old_count = 0, new_count = 0, at = 0;
    const struct str *old = keys_of(d, before, &old_count);
    const struct str *new = keys_of(d, after, &new_count);
    if (arena_failed(d->patch->arena))
        return err_set(d->err, -ENOMEM, "no memory for a patch");
    if (repeated(old, old_count) || repeated(new, new_count))
        return wrong(d, -EINVAL, "a member is there twice");
    for (uint32_t i = 0; i < new_count && at < old_count; i++)
        at += str_eq(old[at], new[i]);
    return at == old_count ? 0 : wrong(d, -EINVAL, "a member was taken away");
}

static int compare_objects(struct diff *d, struct str before, struct str after) {
    struct json_reader a = reader_of(d, after), b = reader_of(d, before);
    struct str key, old = {0};
    int r = check_members(d, before, after);
    (void)json_object(&a), (void)json_object(&b); /* they are */
    while (r == 0 && json_member(&a, &key)) {
        struct str value = json_skip(&a);
        bool has = find(d, &b, before, key, &old);
        r = enter(d, key);
        if (r == 0)
            r = has ? compare_member(d, old, value) : put(d, value);
        d->depth -= r == 0;
    }
    return r;
}

static int compare_elements(struct diff *d, struct str before, struct str after, uint32_t index) {
    char text[16];
    int length = snprintf(text, sizeof text, "%u", index);
    struct str name = arena_str(d->patch->arena, (struct str){text, (size_t)length});
    int r = enter(d, name);
    if (r == 0)
        r = compare(d, before, after);
    d->depth -= r >= 0;
    return r;
}

static int compare_arrays(struct diff *d, struct str before, struct str after) {
    struct json_reader a = reader_of(d, after), b = reader_of(d, before);
    int r = 0;
    (void)json_array(&a), (void)json_array(&b); /* they are */
    bool more = true;
    for (uint32_t i = 0; r == 0 && json_element(&a); i++) {
        struct str value = json_skip(&a);
        more = more && json_element(&b);
        if (more) {
            r = compare_elements(d, json_skip(&b), value, i);
        } else {
            r = enter(d, STR("-"));
            if (r == 0)
                r = put(d, value);
            d->depth -= r == 0;
        }
    }
    return r == 0 && more && json_element(&b) ? REPLACE : r; /* it became shorter */
}

/* 0: there is no difference any more; REPLACE, or -errno. Recursion ends at DEPTH_MAX. */
static int compare(struct diff *d, struct str before, struct str after) {
    struct json_reader b = reader_of(d, before), a = reader_of(d, after);
    enum json_kind kind = json_peek(&b);
    if (str_eq(before, after)) /* the usual case, however deep it goes */
        return 0;
    if (kind != json_peek(&a))
        return REPLACE;
    if (kind == JSON_OBJECT)
        return compare_objects(d, before, after);
    if (kind == JSON_ARRAY)
        return compare_arrays(d, before, after);
    return compare_scalars(d, kind, before, after);
}

/* Checks a text as a whole, once. */
static int check(const struct diff *d, struct str text, struct str *ret, struct err *err) {
    struct json_reader r = reader_of(d, text);
    *ret = json_skip(&r);
    return json_finish(&r, err);
}

int patch_diff(struct patch *p, struct str edited, struct err *err) {
    struct diff d = {.patch = p, .err = err};
    const struct patch_mark mark = patch_mark(p);
    struct str before, after;
    int r = check(&d, p->document, &before, err);
    if (r == 0)
        r = check(&d, edited, &after, err);
    if (r == 0)
        r = compare(&d, before, after);
    if (r == REPLACE)
        r = wrong(&d, -EINVAL, "it is no object any more");
    if (r == 0 && arena_failed(p->arena))
        r = err_set(err, -ENOMEM, "no memory for a patch");
    if (r != 0)
        patch_rewind(p, mark);
    return r;
}
