#include "unit/base/json_walk.h"

static const size_t ARENA_BYTES = 64u << 20;

int json_walk_skip(struct str text, struct err *err) {
    struct arena arena;
    struct json_reader r;
    arena_init(&arena, ARENA_BYTES);
    json_reader_init(&r, text, &arena, "Doc");
    (void)json_skip(&r); /* other tests compare the skipped text */
    int code = json_finish(&r, err);
    arena_done(&arena);
    return code;
}

void json_walk_value(struct json_reader *r) {
    struct str key;
    switch (json_peek(r)) {
    case JSON_NULL:
        (void)json_null(r); /* values are not used here */
        break;
    case JSON_BOOL:
        (void)json_bool(r);
        break;
    case JSON_NUMBER:
        (void)json_number_text(r);
        break;
    case JSON_ARRAY:
        if (json_array(r))
            while (json_element(r))
                json_walk_value(r);
        break;
    case JSON_OBJECT:
        if (json_object(r))
            while (json_member(r, &key))
                json_walk_value(r);
        break;
    case JSON_STRING:
    case JSON_NOTHING:
        (void)json_string(r);
        break;
    }
}

int json_walk_typed(struct str text, struct err *err) {
    struct arena arena;
    struct json_reader r;
    arena_init(&arena, ARENA_BYTES);
    json_reader_init(&r, text, &arena, "Doc");
    json_walk_value(&r);
    int code = json_finish(&r, err);
    arena_done(&arena);
    return code;
}

/* ---- the reference: each function takes an offset and returns the one behind, or BAD ---- */

static const size_t BAD = SIZE_MAX;

static int at(struct str s, size_t i) {
    return i < s.n ? (unsigned char)s.p[i] : -1;
}

static size_t ref_blanks(struct str s, size_t i) {
    while (at(s, i) == ' ' || at(s, i) == '\t' || at(s, i) == '\r' || at(s, i) == '\n')
        i++;
    return i;
}

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}

static size_t ref_digits(struct str s, size_t i) {
    if (!is_digit(at(s, i)))
        return BAD;
    while (is_digit(at(s, i)))
        i++;
    return i;
}

static size_t ref_number(struct str s, size_t i) {
    if (at(s, i) == '-')
        i++;
    i = at(s, i) == '0' ? i + 1 : ref_digits(s, i);
    if (i != BAD && at(s, i) == '.')
        i = ref_digits(s, i + 1);
    if (i != BAD && (at(s, i) == 'e' || at(s, i) == 'E')) {
        i++;
        if (at(s, i) == '+' || at(s, i) == '-')
            i++;
        i = ref_digits(s, i);
    }
    return i;
}

/* Decodes by arithmetic, then checks whether the value needs this number of bytes. */
static size_t ref_utf8(struct str s, size_t i) {
    int c = at(s, i);
    int more = c < 0x80 ? 0 : c < 0xc0 ? -1 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf8 ? 3 : -1;
    static const long least[] = {0, 0x80, 0x800, 0x10000};
    if (more < 0)
        return BAD;
    long code = more == 0 ? c : c & (0x3f >> more);
    for (int k = 1; k <= more; k++) {
        int next = at(s, i + (size_t)k);
        if (next < 0 || (next & 0xc0) != 0x80)
            return BAD;
        code = code * 64 + (next & 0x3f);
    }
    if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return BAD;
    return i + (size_t)more + 1;
}

static long ref_hex4(struct str s, size_t i) {
    long value = 0;
    for (size_t k = i; k < i + 4; k++) {
        int c = at(s, k);
        const char *digits = "0123456789abcdefABCDEF", *d = c > 0 ? strchr(digits, c) : NULL;
        if (d == NULL)
            return -1;
        value = value * 16 + (d - digits > 15 ? d - digits - 6 : d - digits);
    }
    return value;
}

static size_t ref_string(struct str s, size_t i, bool is_name) {
    if (at(s, i++) != '"')
        return BAD;
    while (at(s, i) != '"') {
        if (at(s, i) < 0x20)
            return BAD;
        if (at(s, i) != '\\') {
            i = ref_utf8(s, i);
        } else if (at(s, i + 1) == 'u') {
            long unit = ref_hex4(s, i + 2);
            i += 6;
            if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff) || (is_name && unit == 0))
                return BAD;
            if (unit >= 0xd800 && unit <= 0xdbff) {
                long low = at(s, i) == '\\' && at(s, i + 1) == 'u' ? ref_hex4(s, i + 2) : -1;
                if (low < 0xdc00 || low > 0xdfff)
                    return BAD;
                i += 6;
            }
        } else if (at(s, i + 1) > 0 && strchr("\"\\/bfnrt", at(s, i + 1)) != NULL) {
            i += 2;
        } else {
            return BAD;
        }
        if (i == BAD)
            return BAD;
    }
    return i + 1;
}

static size_t ref_value(struct str s, size_t i, int depth);

static size_t ref_container(struct str s, size_t i, int depth, bool object) {
    int close = object ? '}' : ']';
    i = ref_blanks(s, i + 1);
    if (at(s, i) == close)
        return i + 1;
    for (;;) {
        if (object) {
            i = ref_string(s, ref_blanks(s, i), true);
            if (i == BAD)
                return BAD;
            i = ref_blanks(s, i);
            if (at(s, i++) != ':')
                return BAD;
        }
        i = ref_value(s, i, depth);
        if (i == BAD)
            return BAD;
        i = ref_blanks(s, i);
        if (at(s, i) == close)
            return i + 1;
        if (at(s, i++) != ',')
            return BAD;
    }
}

static size_t ref_value(struct str s, size_t i, int depth) {
    i = ref_blanks(s, i);
    static const char *const words[] = {"null", "true", "false"};
    for (size_t k = 0; k < 3; k++)
        if (i < s.n && str_has_prefix((struct str){s.p + i, s.n - i}, str_of(words[k])))
            return i + strlen(words[k]);
    switch (at(s, i)) {
    case '"':
        return ref_string(s, i, false);
    case '[':
    case '{':
        return depth == 0 ? BAD : ref_container(s, i, depth - 1, at(s, i) == '{');
    default:
        return ref_number(s, i);
    }
}

bool json_walk_reference(struct str text) {
    size_t i = ref_value(text, 0, LIMIT_JSON_DEPTH);
    return i != BAD && ref_blanks(text, i) == text.n;
}
