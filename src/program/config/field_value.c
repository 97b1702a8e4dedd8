/*
 * The single values of a typed table: sets struct members from text, and describes them for people.
 * fields.c has objects and documents.
 */
#include "base/duration.h"
#include "base/suggest.h"
#include "config/fields.h"

#include <assert.h>
#include <errno.h>

static const int64_t ns_per_ms = 1000 * 1000;

/* ---- members ---- */

/* Numbers of every type are written to and read from the struct as bytes. */
static void put_number(size_t offset, size_t size, void *object, int64_t value) {
    char *member = (char *)object + offset;
    uint32_t narrow = (uint32_t)value;
    bool flag = value != 0;
    assert(size == sizeof value || size == sizeof narrow || size == sizeof flag);
    if (size == sizeof value)
        memcpy(member, &value, sizeof value);
    else if (size == sizeof narrow)
        memcpy(member, &narrow, sizeof narrow);
    else
        memcpy(member, &flag, sizeof flag);
}

static void put_pointer(const struct field *f, void *object, const void *pointer) {
    assert(f->size == sizeof pointer);
    memcpy((char *)object + f->offset, &pointer, sizeof pointer);
}

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory");
}

/* ---- one type each ---- */

static int set_number(const struct field *f, struct str text, void *object, struct err *err) {
    int64_t value;
    if (!str_to_i64(text, &value))
        return err_set(err, -EINVAL, "'%.*s' is not a whole number", STR_ARG(text));
    if (value < f->min || value > f->max)
        return err_set(err, -EINVAL, "%lld is not between %lld and %lld", (long long)value,
                       (long long)f->min, (long long)f->max);
    put_number(f->offset, f->size, object, value);
    return 0;
}

static int set_bool(const struct field *f, struct str text, void *object, struct err *err) {
    if (!str_eq(text, STR("true")) && !str_eq(text, STR("false")))
        return err_set(err, -EINVAL, "'%.*s' is neither true nor false", STR_ARG(text));
    put_number(f->offset, f->size, object, str_eq(text, STR("true")));
    return 0;
}

static int set_duration(const struct field *f, struct str text, void *object, struct err *err) {
    int64_t ns;
    struct err why = {0};
    if (duration_parse(text, &ns, &why) != 0)
        return err_set(err, -EINVAL, "'%.*s' is not a duration such as 500ms or 1m30s: %s",
                       STR_ARG(text), why.text);
    if (ns % ns_per_ms != 0)
        return err_set(err, -EINVAL, "'%.*s' is finer than a millisecond", STR_ARG(text));
    if (ns / ns_per_ms < f->min || ns / ns_per_ms > f->max) {
        CLEANUP(strbuf_done) struct strbuf range = {.max = 100};
        field_describe_range(f, &range);
        return err_set(err, -EINVAL, "%.*s is not in the range %.*s", STR_ARG(text),
                       STR_ARG(strbuf_str(&range)));
    }
    put_number(f->offset, f->size, object, ns / ns_per_ms);
    return 0;
}

static int set_choice(const struct field *f, struct str text, void *object, struct err *err) {
    struct suggestion near = suggestion_for(text);
    for (const struct field_choice *c = f->choices; c->word != NULL; c++) {
        if (str_eq(text, str_of(c->word))) {
            put_number(f->offset, f->size, object, c->value);
            return 0;
        }
        suggestion_offer(&near, c->word);
    }
    CLEANUP(strbuf_done) struct strbuf words = {.max = 400};
    field_describe_type(f, &words);
    return err_set(err, -EINVAL, "'%.*s' is not %.*s%s%s%s", STR_ARG(text),
                   STR_ARG(strbuf_str(&words)), near.best != NULL ? "; did you mean " : "",
                   near.best != NULL ? near.best : "", near.best != NULL ? "?" : "");
}

static int check_text(const struct field *f, struct str text, struct err *err) {
    if (str_find(text, '\0') != SIZE_MAX)
        return err_set(err, -EINVAL, "it contains a NUL character");
    if (f->valid != NULL && !f->valid(text))
        return err_set(err, -EINVAL, "'%.*s' is not a valid %s%s%s", STR_ARG(text), f->noun,
                       f->form != NULL ? ": " : "", f->form != NULL ? f->form : "");
    return 0;
}

static int set_cstr(const struct field *f, struct str text, struct arena *arena, void *object,
                    struct err *err) {
    bool unset = text.n == 0 && f->initial_text == NULL;
    int r = unset ? 0 : check_text(f, text, err);
    if (r != 0)
        return r;
    const char *copy = unset ? NULL : arena_cstr(arena, text);
    if (copy == NULL && !unset)
        return no_memory(err);
    put_pointer(f, object, copy);
    return 0;
}

static int set_str(const struct field *f, struct str text, struct arena *arena, void *object,
                   struct err *err) {
    int r = check_text(f, text, err);
    if (r != 0)
        return r;
    struct str copy = arena_str(arena, text);
    if (arena_failed(arena))
        return no_memory(err);
    memcpy((char *)object + f->offset, &copy, sizeof copy);
    return 0;
}

/* ---- lists of texts ---- */

static size_t get_count(const struct field *f, const void *object) {
    const char *member = (const char *)object + f->count_offset;
    size_t wide = 0;
    uint32_t narrow = 0;
    if (f->count_size == sizeof wide)
        memcpy(&wide, member, sizeof wide);
    else
        memcpy(&narrow, member, sizeof narrow);
    return wide + narrow;
}

/* Returns the list with room for one more item. The number of items that have room is always a
 * power of two. */
static void *longer_list(const struct field *f, size_t count, size_t item_size, struct arena *arena,
                         const void *object) {
    void *before;
    memcpy(&before, (const char *)object + f->offset, sizeof before);
    if ((count & (count - 1)) != 0 && count > 0)
        return before;
    char *list = arena_array(arena, count > 0 ? 2 * count : 1, item_size);
    if (list != NULL && count > 0)
        memcpy(list, before, count * item_size);
    return list;
}

static int add_item(const struct field *f, struct str text, struct arena *arena, void *object,
                    struct err *err) {
    size_t count = get_count(f, object), most = f->max > 0 ? (size_t)f->max : FIELD_LIST_MAX;
    bool is_cstr = f->type == FIELD_CSTRS;
    if (text.n == 0)
        return err_set(err, -EINVAL, "it is empty");
    if (count >= most)
        return err_set(err, -EINVAL, "more than %zu items", most);
    int r = check_text(f, text, err);
    if (r != 0)
        return r;
    char *list =
        longer_list(f, count, is_cstr ? sizeof(char *) : sizeof(struct str), arena, object);
    const char *copy = arena_cstr(arena, text);
    if (arena_failed(arena))
        return no_memory(err);
    struct str item = {copy, text.n};
    if (is_cstr)
        memcpy(list + count * sizeof copy, &copy, sizeof copy);
    else
        memcpy(list + count * sizeof item, &item, sizeof item);
    put_pointer(f, object, list);
    put_number(f->count_offset, f->count_size, object, (int64_t)count + 1);
    return 0;
}

/* ---- all types ---- */

int field_set_text(const struct field *f, struct str text, bool clear_list, struct arena *arena,
                   void *object, struct err *err) {
    switch (f->type) {
    case FIELD_CSTR:
        return set_cstr(f, text, arena, object, err);
    case FIELD_STR:
        return set_str(f, text, arena, object, err);
    case FIELD_BOOL:
        return set_bool(f, text, object, err);
    case FIELD_NUMBER:
        return set_number(f, text, object, err);
    case FIELD_DURATION:
        return set_duration(f, text, object, err);
    case FIELD_CHOICE:
        return set_choice(f, text, object, err);
    case FIELD_CSTRS:
    case FIELD_STRS:
        if (clear_list)
            put_number(f->count_offset, f->count_size, object, 0);
        return add_item(f, text, arena, object, err);
    case FIELD_LABELS:
    case FIELD_OBJECT:
    case FIELD_OBJECTS:
    case FIELD_CUSTOM:
    case FIELD_ANY:
    case FIELD_REFUSED:
        break;
    }
    return err_set(err, -EINVAL, "it cannot be written as one text");
}

static const char *initial_word(const struct field *f) {
    for (const struct field_choice *c = f->choices; c->word != NULL; c++)
        if (c->value == f->initial)
            return c->word;
    return "";
}

void fields_set_defaults(const struct field_table *t, struct arena *arena, void *object) {
    for (size_t i = 0; i < t->count; i++) {
        const struct field *f = &t->fields[i];
        if (f->type == FIELD_CSTR)
            put_pointer(f, object,
                        f->initial_text != NULL ? arena_cstr(arena, str_of(f->initial_text))
                                                : NULL);
        else if (f->type == FIELD_BOOL || f->type == FIELD_NUMBER || f->type == FIELD_DURATION ||
                 f->type == FIELD_CHOICE)
            put_number(f->offset, f->size, object, f->initial);
        else if (f->type == FIELD_OBJECT)
            fields_set_defaults(f->table, arena, (char *)object + f->offset);
    }
}

/* ---- for people ---- */

void field_describe_type(const struct field *f, struct strbuf *out) {
    static const char *const names[] = {
        [FIELD_CSTR] = "text",
        [FIELD_STR] = "text",
        [FIELD_BOOL] = "boolean",
        [FIELD_NUMBER] = "integer",
        [FIELD_DURATION] = "duration",
        [FIELD_CHOICE] = "one of ",
        [FIELD_LABELS] = "labels",
        [FIELD_CSTRS] = "list of texts",
        [FIELD_STRS] = "list of texts",
        [FIELD_OBJECT] = "object",
        [FIELD_OBJECTS] = "list of objects",
        [FIELD_CUSTOM] = "object",
        [FIELD_ANY] = "anything",
        [FIELD_REFUSED] = "",
    };
    bool list = f->type == FIELD_CSTRS || f->type == FIELD_STRS;
    if (f->noun != NULL)
        strbuf_appendf(out, "%s%s%s", list ? "list of " : "", f->noun, list ? "s" : "");
    else
        strbuf_appendf(out, "%s", names[f->type]);
    if (f->type == FIELD_CHOICE)
        for (const struct field_choice *c = f->choices; c->word != NULL; c++)
            strbuf_appendf(out, "%s%s", c == f->choices ? "" : ", ",
                           c->word[0] != '\0' ? c->word : "\"\"");
}

void field_describe_range(const struct field *f, struct strbuf *out) {
    if (f->type == FIELD_NUMBER) {
        strbuf_appendf(out, "%lld to %lld", (long long)f->min, (long long)f->max);
    } else if (f->type == FIELD_DURATION) {
        duration_format_ms(f->min, out);
        strbuf_appendf(out, " to ");
        duration_format_ms(f->max, out);
    } else if (f->type == FIELD_OBJECTS && f->max > 0) {
        strbuf_appendf(out, "%s%lld", f->min > 0 ? "1 to " : "at most ", (long long)f->max);
    }
}

void field_describe_default(const struct field *f, struct strbuf *out) {
    if (f->required)
        return;
    if (f->type == FIELD_CSTR && f->initial_text != NULL)
        strbuf_appendf(out, "%s", f->initial_text);
    else if (f->type == FIELD_BOOL)
        strbuf_appendf(out, "%s", f->initial != 0 ? "true" : "false");
    else if (f->type == FIELD_NUMBER)
        strbuf_appendf(out, "%lld", (long long)f->initial);
    else if (f->type == FIELD_DURATION)
        duration_format_ms(f->initial, out);
    else if (f->type == FIELD_CHOICE)
        strbuf_appendf(out, "%s", initial_word(f));
}
