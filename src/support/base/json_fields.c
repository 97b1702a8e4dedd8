#include "base/json_fields.h"

#include "base/suggest.h"
#include "base/timestamp.h"

/* ---- words ---- */

static void refuse_word(struct json_reader *r, struct str word, const char *const *words,
                        uint32_t count) {
    struct suggestion near = suggestion_for(word);
    struct strbuf list = {.max = 200}; /* a longer list is cut */
    for (uint32_t i = 0; i < count && words[i][0] != '\0'; i++) {
        suggestion_offer(&near, words[i]);
        strbuf_appendf(&list, "%s%s", i > 0 ? ", " : "", words[i]);
    }
    if (near.best != NULL)
        json_fail(r, "'%.*s': did you mean '%s'?", STR_ARG(word), near.best);
    else
        json_fail(r, "'%.*s' is not one of %.*s", STR_ARG(word), STR_ARG(strbuf_str(&list)));
    strbuf_done(&list);
}

uint32_t json_word(struct json_reader *r, const char *const *words, uint32_t count,
                   uint32_t absent) {
    if (json_null(r))
        return absent;
    const struct str word = json_string(r);
    for (uint32_t i = 0; i < count; i++)
        if (str_eq(word, str_of(words[i])))
            return i;
    if (!json_failed(r))
        refuse_word(r, word, words, count);
    return absent;
}

/* ---- times ---- */

bool json_time(struct json_reader *r, int64_t *ret_ms) {
    if (json_null(r))
        return false;
    const struct str text = json_string(r);
    if (json_failed(r))
        return false;
    if (!timestamp_parse(text, ret_ms))
        json_fail(r, "'%.*s' is not a time such as 2026-01-02T03:04:05Z", STR_ARG(text));
    return !json_failed(r);
}

/* ---- rows ---- */

static void store_integer(void *at, size_t size, int64_t value) {
    if (size == sizeof(int64_t))
        *(int64_t *)at = value;
    else if (size == sizeof(int32_t))
        *(int32_t *)at = (int32_t)value;
    else
        *(bool *)at = value != 0;
}

/* Fills a new item with the values for missing members. */
static void preset(const struct json_rows *rows, char *item) {
    for (size_t i = 0; i < rows->count; i++)
        if (rows->fields[i].absent != 0)
            store_integer(item + rows->fields[i].at, rows->fields[i].size, rows->fields[i].absent);
}

static void read_item(struct json_reader *r, const struct json_field *field, char *item) {
    if (field->read != NULL) {
        field->read(r, item);
        return;
    }
    preset(&field->rows, item);
    json_fields(r, &field->rows, item);
}

/* Reads the items of a row's list. Returns NULL if there are no items, or after an error. */
static void *read_items(struct json_reader *r, const struct json_field *list, uint32_t *ret_count) {
    char *items = NULL;
    uint32_t count = 0, cap = 0;
    *ret_count = 0;
    if (!json_array(r))
        return NULL;
    while (json_element(r)) {
        if (count == list->most) {
            json_fail(r, "more than %u items", list->most);
            return NULL;
        }
        items = arena_push(r->arena, items, count, &cap, list->item_size);
        if (items == NULL)
            return NULL; /* the arena has failed */
        read_item(r, list, items + count * list->item_size);
        count++;
    }
    *ret_count = count;
    return items;
}

void *json_array_of(struct json_reader *r, size_t item_size, uint32_t limit, json_read_fn *item,
                    uint32_t *ret_count) {
    const struct json_field list = {.item_size = item_size, .most = limit, .read = item};
    return read_items(r, &list, ret_count);
}

static void read_field(struct json_reader *r, const struct json_field *field, char *into) {
    void *at = into + field->at;
    const struct str *texts;
    void *items;
    if (field->given > 0)
        *(bool *)(into + field->given - 1) = json_peek(r) != JSON_NULL;
    switch (field->kind) {
    case JSON_KIND_TEXT:
        *(struct str *)at = json_string(r);
        break;
    case JSON_KIND_FLAG:
        *(bool *)at = json_bool(r);
        break;
    case JSON_KIND_INTEGER:
        store_integer(at, field->size,
                      json_null(r) ? field->absent : json_integer(r, field->min, field->max));
        break;
    case JSON_KIND_WORD:
        store_integer(at, field->size,
                      json_word(r, field->words, field->word_count, (uint32_t)field->absent));
        break;
    case JSON_KIND_TIME:
        (void)json_time(r, at); /* null changes nothing */
        break;
    case JSON_KIND_TEXTS:
        texts = json_string_array(r, field->most, (uint32_t *)(into + field->count_at));
        memcpy(at, &texts, sizeof texts); /* most members are declared as pointers to const texts */
        break;
    case JSON_KIND_OBJECT:
        json_fields(r, &field->rows, at);
        break;
    case JSON_KIND_LIST:
        items = read_items(r, field, (uint32_t *)(into + field->count_at));
        memcpy(at, &items, sizeof items); /* a pointer of any type */
        break;
    case JSON_KIND_RAW:
        *(struct str *)at = json_skip(r);
        break;
    case JSON_KIND_CALL:
        field->read(r, at);
        break;
    case JSON_KIND_REFUSED:
        json_fail(r, "%s", field->refusal);
        break;
    }
}

void json_fields(struct json_reader *r, const struct json_rows *rows, void *into) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        size_t i = 0;
        while (i < rows->count && rows->fields[i].name.p != NULL &&
               !str_eq(key, rows->fields[i].name))
            i++;
        if (i < rows->count)
            read_field(r, &rows->fields[i], into);
    }
}
