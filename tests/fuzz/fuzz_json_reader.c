/*
 * Any bytes into the JSON reader. Skipping and reading must agree on what a document is; what was
 * read is written out again, and reading that must give the very same bytes.
 */
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "fuzz/fuzz.h"

static const size_t ARENA_BYTES = 64u << 20;

static bool skips(struct str text) {
    struct arena arena;
    struct json_reader r;
    arena_init(&arena, ARENA_BYTES);
    json_reader_init(&r, text, &arena, "Doc");
    struct str value = json_skip(&r);
    bool good = json_finish(&r, NULL) == 0;
    require(!good || str_eq(str_trim(text), value));
    arena_done(&arena);
    return good;
}

static void copy_value(struct json_reader *r, struct json_writer *w) {
    struct str key, text;
    switch (json_peek(r)) {
    case JSON_NULL:
        require(json_null(r) || json_failed(r));
        json_put_null(w);
        break;
    case JSON_BOOL:
        json_put_bool(w, json_bool(r));
        break;
    case JSON_NUMBER:
        text = json_number_text(r);
        json_put_raw(w, text);
        break;
    case JSON_ARRAY:
        json_begin_array(w);
        if (json_array(r))
            while (json_element(r))
                copy_value(r, w);
        json_end_array(w);
        break;
    case JSON_OBJECT:
        json_begin_object(w);
        if (json_object(r))
            while (json_member(r, &key)) {
                json_key(w, key);
                copy_value(r, w);
            }
        json_end_object(w);
        break;
    case JSON_STRING:
    case JSON_NOTHING:
        json_put_string(w, json_string(r));
        break;
    }
}

/* Reads a document and appends it to out, without blanks and needless escapes. */
static bool copies(struct str text, struct strbuf *out) {
    struct arena arena;
    struct json_reader r;
    struct err err = {0};
    struct json_writer w = {.out = out};
    arena_init(&arena, ARENA_BYTES);
    json_reader_init(&r, text, &arena, "Doc");
    copy_value(&r, &w);
    int code = json_finish(&r, &err);
    require((code == 0) == (err.code == 0) && (code == 0 || err.text[0] != '\0'));
    require(json_offset(&r) <= text.n);
    arena_done(&arena);
    return code == 0;
}

static int try_input(const uint8_t *bytes, size_t n) {
    struct str text = {(const char *)bytes, n};
    struct strbuf first = {0}, second = {0};
    bool good = copies(text, &first);
    require(good == skips(text));
    if (good) {
        require(copies(strbuf_str(&first), &second));
        require(str_eq(strbuf_str(&first), strbuf_str(&second)));
        require(skips(strbuf_str(&first)));
    }
    strbuf_done(&first);
    strbuf_done(&second);
    return 0;
}
