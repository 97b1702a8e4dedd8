/*
 * Any bytes into the JSON reader. Skipping and reading must agree on what a document is; what was
 * read is written out again, and reading that must give the very same bytes.
 */
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "fuzz/fuzz.h"

static const size_t ARENA_BYTES = 64u << 20;
enum { STRINGS_MAX = 40 };

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

/* Reads every array of strings at once and one by one: `whole` is the quick way, whose block
 * scanner must not be told from the reader's own loop. */
static void read_strings(struct json_reader *r, bool whole, struct strbuf *out) {
    uint32_t count = 0;
    if (whole) {
        const struct str *items = json_string_array(r, STRINGS_MAX, &count);
        for (uint32_t i = 0; !json_failed(r) && i < count; i++)
            strbuf_appendf(out, "%zu:%.*s,", items[i].n, (int)items[i].n, items[i].p);
    } else if (json_array(r)) {
        while (json_element(r)) {
            if (count++ == STRINGS_MAX) {
                json_fail(r, "more than %u items", (unsigned)STRINGS_MAX);
                break;
            }
            struct str item = json_string(r);
            strbuf_appendf(out, "%zu:%.*s,", item.n, (int)item.n, item.p != NULL ? item.p : "");
        }
    }
}

static void strings_agree(struct str text) {
    struct strbuf read[2] = {{0}, {0}};
    struct err errors[2] = {{0}, {0}};
    size_t offsets[2];
    for (int whole = 0; whole < 2; whole++) {
        struct arena arena;
        struct json_reader r;
        arena_init(&arena, ARENA_BYTES);
        json_reader_init(&r, text, &arena, "Doc");
        read_strings(&r, whole, &read[whole]);
        int finished = json_finish(&r, &errors[whole]);
        require(finished == errors[whole].code);
        offsets[whole] = json_offset(&r);
        arena_done(&arena);
    }
    require(offsets[0] == offsets[1]);
    require(errors[0].code == errors[1].code);
    require(str_eq(str_of(errors[0].text), str_of(errors[1].text)));
    require(errors[0].code != 0 || str_eq(strbuf_str(&read[0]), strbuf_str(&read[1])));
    strbuf_done(&read[0]);
    strbuf_done(&read[1]);
}

/* The same bytes as an array of strings: cut at line ends, and as they are, so that what is odd is
 * at every place of a block. */
static void make_array(struct str bytes, struct strbuf *out) {
    strbuf_append_str(out, STR("[\""));
    for (size_t i = 0; i < bytes.n; i++)
        if (bytes.p[i] == '\n')
            strbuf_append_str(out, STR("\",\""));
        else
            strbuf_append_char(out, bytes.p[i]);
    strbuf_append_str(out, STR("\"]"));
}

static int try_input(const uint8_t *bytes, size_t n) {
    struct str text = {(const char *)bytes, n};
    struct strbuf first = {0}, second = {0};
    bool good = copies(text, &first);
    require(good == skips(text));
    strings_agree(text);
    struct strbuf array = {0};
    make_array(text, &array);
    strings_agree(strbuf_str(&array));
    strbuf_done(&array);
    if (good) {
        require(copies(strbuf_str(&first), &second));
        require(str_eq(strbuf_str(&first), strbuf_str(&second)));
        require(skips(strbuf_str(&first)));
    }
    strbuf_done(&first);
    strbuf_done(&second);
    return 0;
}
