#include "base/json_reader.h"

#include "base/plain_run.h"
#include "base/plain_strings.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- errors and levels ---- */

static bool level_is_object(const struct json_reader *r, uint32_t level) {
    return (r->object_bits[level / 64] >> (level % 64) & 1) != 0;
}

static void describe_path(const struct json_reader *r, struct strbuf *path) {
    strbuf_appendf(path, "%s", r->root);
    for (uint32_t i = 0; i < r->depth && i < JSON_PATH_LEVELS; i++) {
        if (!level_is_object(r, i) && r->indexes[i] > 0)
            strbuf_appendf(path, "[%u]", r->indexes[i] - 1);
        else if (level_is_object(r, i) && r->keys[i].p != NULL)
            strbuf_appendf(path, ".%.*s", STR_ARG(r->keys[i]));
    }
}

static int no_memory(const struct json_reader *r, struct err *err) {
    return err_set(err, -ENOMEM, "%s: too large to decode within %zu bytes of memory", r->root,
                   r->arena->max);
}

void json_fail(struct json_reader *r, const char *fmt, ...) {
    if (json_failed(r))
        return;
    if (arena_failed(r->arena)) { /* the full arena is the true cause of all later errors */
        (void)no_memory(r, &r->error);
        return;
    }
    char what[256];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(what, sizeof what, fmt, args); /* truncation is fine: people read it */
    va_end(args);
    char bytes[512]; /* the error shows 200 of them */
    struct strbuf path = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    describe_path(r, &path);
    (void)err_set(&r->error, -EINVAL, "%.*s: %s, at byte %zu", (int)(path.n > 200 ? 200 : path.n),
                  bytes, what, json_offset(r));
}

int json_check(const struct json_reader *r, struct err *err) {
    if (json_failed(r)) {
        if (err != NULL)
            *err = r->error;
        return r->error.code;
    }
    if (arena_failed(r->arena))
        return no_memory(r, err);
    return 0;
}

int json_finish(struct json_reader *r, struct err *err) {
    if (!json_failed(r) && json_peek(r) == JSON_NOTHING && r->p != r->end)
        json_fail(r, "unexpected text after the value");
    else if (!json_failed(r) && r->p != r->end)
        json_fail(r, "a second value after the first");
    else if (!json_failed(r) && r->depth > 0)
        json_fail(r, "the text ends inside a value");
    return json_check(r, err);
}

void json_reader_init(struct json_reader *r, struct str text, struct arena *arena,
                      const char *root) {
    const char *p = text.p != NULL ? text.p : ""; /* C forbids arithmetic on NULL */
    *r = (struct json_reader){.begin = p, .p = p, .end = p + text.n, .arena = arena, .root = root};
}

static bool enter(struct json_reader *r, bool is_object) {
    if (r->depth >= LIMIT_JSON_DEPTH) {
        json_fail(r, "nested deeper than %d levels", LIMIT_JSON_DEPTH);
        return false;
    }
    uint64_t bit = (uint64_t)1 << (r->depth % 64);
    if (is_object)
        r->object_bits[r->depth / 64] |= bit;
    else
        r->object_bits[r->depth / 64] &= ~bit;
    if (r->depth < JSON_PATH_LEVELS) {
        r->keys[r->depth] = (struct str){0};
        r->indexes[r->depth] = 0;
    }
    r->depth++;
    r->first = true;
    r->p++;
    return true;
}

static void leave(struct json_reader *r) {
    r->p++;
    r->depth--;
    r->first = false;
}

/* ---- lexing ---- */

static void skip_blanks(struct json_reader *r) {
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\r' || *r->p == '\t'))
        r->p++;
}

/* Programs write no blanks: usually one comparison is enough. */
static inline void blanks(struct json_reader *r) {
    if (r->p < r->end && (unsigned char)*r->p <= ' ')
        skip_blanks(r);
}

enum json_kind json_peek(struct json_reader *r) {
    static const unsigned char kinds[256] = {
        ['n'] = JSON_NULL,  ['t'] = JSON_BOOL,   ['f'] = JSON_BOOL,   ['"'] = JSON_STRING,
        ['['] = JSON_ARRAY, ['{'] = JSON_OBJECT, ['-'] = JSON_NUMBER, ['0' ... '9'] = JSON_NUMBER,
    }; /* any other byte cannot begin a value: JSON_NOTHING */
    if (json_failed(r))
        return JSON_NOTHING;
    blanks(r);
    return r->p == r->end ? JSON_NOTHING : kinds[(unsigned char)*r->p];
}

static const char *kind_name(enum json_kind kind) {
    static const char *const names[] = {
        [JSON_NOTHING] = "no value", [JSON_NULL] = "null",       [JSON_BOOL] = "a boolean",
        [JSON_NUMBER] = "a number",  [JSON_STRING] = "a string", [JSON_ARRAY] = "an array",
        [JSON_OBJECT] = "an object",
    };
    return names[kind];
}

static void expected(struct json_reader *r, enum json_kind wanted, enum json_kind found) {
    if (found != JSON_NOTHING)
        json_fail(r, "expected %s, found %s", kind_name(wanted), kind_name(found));
    else if (r->p == r->end)
        json_fail(r, "expected %s, but the text ends", kind_name(wanted));
    else if ((unsigned char)*r->p == 0xef)
        json_fail(r, "expected %s, found a byte order mark; send plain UTF-8", kind_name(wanted));
    else
        json_fail(r, "expected %s, found byte 0x%02x", kind_name(wanted), (unsigned char)*r->p);
}

static bool literal(struct json_reader *r, const char *word, size_t n) {
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0) {
        json_fail(r, "expected '%s'", word);
        return false;
    }
    r->p += n;
    return true;
}

static int hex4(const char *p) {
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Reads the code point of the \u escape; r->p points to the 'u'. Reads a second surrogate too, if
 * the first needs one. Moves past them. Returns -1 after an error. */
static int32_t unicode_escape(struct json_reader *r) {
    int unit = r->end - r->p >= 5 ? hex4(r->p + 1) : -1;
    if (unit < 0) {
        json_fail(r, "\\u needs four hexadecimal digits");
        return -1;
    }
    r->p += 5;
    if (unit < 0xd800 || unit > 0xdfff)
        return unit;
    int low = unit <= 0xdbff && r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u'
                  ? hex4(r->p + 2)
                  : -1;
    if (low < 0xdc00 || low > 0xdfff) {
        json_fail(r, "a surrogate escape without its other half");
        return -1;
    }
    r->p += 6;
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

static size_t utf8_encode(int32_t code, char out[4]) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* Decodes the escape at r->p (which points behind the backslash) to out, and moves past it. Returns
 * the number of bytes; 0 after an error. */
static size_t escape(struct json_reader *r, char out[4]) {
    if (r->p == r->end) {
        json_fail(r, "the text ends inside a string");
        return 0;
    }
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *simple = *r->p == '\0' ? NULL : strchr(from, *r->p);
    if (simple != NULL) {
        out[0] = to[simple - from];
        r->p++;
        return 1;
    }
    if (*r->p != 'u') {
        json_fail(r, "unknown escape in a string");
        return 0;
    }
    int32_t code = unicode_escape(r);
    return code < 0 ? 0 : utf8_encode(code, out);
}

/*
 * Moves over the string that starts at r->p, and checks it. Decoded bytes go to `out` unless it is
 * NULL; without escapes they are the bytes of the text. Sets *ret_escapes to true if the string has
 * escapes.
 */
static bool scan_string(struct json_reader *r, char *out, size_t *ret_n, bool *ret_escapes) {
    size_t n = 0;
    r->p++;
    for (;;) {
        const char *run = r->p;
        r->p = plain_run(r->p, r->end);
        size_t run_n = (size_t)(r->p - run);
        if (r->p < r->end && (unsigned char)*r->p >= 0x80) {
            size_t length = str_utf8_length((struct str){r->p, (size_t)(r->end - r->p)});
            if (length == 0) {
                json_fail(r, "invalid UTF-8 in a string");
                return false;
            }
            r->p += length;
            run_n += length;
        }
        if (out != NULL)
            memcpy(out + n, run, run_n);
        n += run_n;
        if (r->p == r->end) {
            json_fail(r, "the text ends inside a string");
            return false;
        }
        if (*r->p == '"') {
            r->p++;
            *ret_n = n;
            return true;
        }
        if ((unsigned char)*r->p < 0x20) {
            json_fail(r, "a raw control character 0x%02x in a string", (unsigned char)*r->p);
            return false;
        }
        if (*r->p == '\\') {
            char bytes[4];
            r->p++;
            size_t length = escape(r, bytes);
            if (length == 0)
                return false;
            if (out != NULL)
                memcpy(out + n, bytes, length);
            n += length;
            *ret_escapes = true;
        }
    }
}

/* Moves over the string at r->p if it is printable ASCII without escapes, as most strings are;
 * otherwise does not move. */
static inline bool plain_string(struct json_reader *r, struct str *ret) {
    const char *from = r->p + 1, *to = plain_run(from, r->end);
    if (to == r->end || *to != '"')
        return false;
    *ret = (struct str){from, (size_t)(to - from)};
    r->p = to + 1;
    return true;
}

/* Reads the string at r->p, which points to its quote. */
static struct str string_here(struct json_reader *r) {
    struct str plain;
    if (plain_string(r, &plain))
        return plain;
    const char *start = r->p;
    size_t n = 0;
    bool escapes = false;
    if (!scan_string(r, NULL, &n, &escapes))
        return (struct str){0};
    if (!escapes)
        return (struct str){start + 1, n};
    char *out = arena_alloc(r->arena, n + 1);
    if (out == NULL) {
        json_fail(r, "no memory");
        return (struct str){0};
    }
    const char *after = r->p;
    r->p = start;
    (void)scan_string(r, out, &n, &escapes); /* the same bytes were scanned just above */
    r->p = after;
    return (struct str){out, n};
}

static size_t digits(struct json_reader *r) {
    const char *from = r->p;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
        r->p++;
    return (size_t)(r->p - from);
}

static bool number_here(struct json_reader *r, struct str *ret_text, bool *ret_whole) {
    const char *from = r->p;
    bool whole = true;
    if (*r->p == '-')
        r->p++;
    const char *first_digit = r->p;
    size_t n = digits(r);
    bool good = n > 0 && (*first_digit != '0' || n == 1);
    if (good && r->p < r->end && *r->p == '.') {
        whole = false;
        r->p++;
        good = digits(r) > 0;
    }
    if (good && r->p < r->end && (*r->p == 'e' || *r->p == 'E')) {
        whole = false;
        r->p++;
        if (r->p < r->end && (*r->p == '+' || *r->p == '-'))
            r->p++;
        good = digits(r) > 0;
    }
    if (!good) {
        json_fail(r, "malformed number");
        return false;
    }
    *ret_text = (struct str){from, (size_t)(r->p - from)};
    *ret_whole = whole;
    return true;
}

/* ---- values ---- */

/* Skips blanks. Is the next value of the wanted kind? If it is not, it must be null, or an error is
 * recorded. */
static bool other_is(struct json_reader *r, enum json_kind wanted) {
    enum json_kind kind = json_peek(r);
    if (kind == wanted)
        return true;
    if (kind == JSON_NULL)
        (void)literal(r, "null", 4); /* a misspelt null is recorded in r */
    else if (!json_failed(r))
        expected(r, wanted, kind);
    return false;
}

/* Is the next value of this kind? A value of this kind always begins with the byte `first`. Null
 * counts as absent and is consumed. */
static inline bool next_begins(struct json_reader *r, enum json_kind wanted, char first) {
    return (!json_failed(r) && r->p < r->end && *r->p == first) || other_is(r, wanted);
}

bool json_object(struct json_reader *r) {
    return next_begins(r, JSON_OBJECT, '{') && enter(r, true);
}

bool json_array(struct json_reader *r) {
    return next_begins(r, JSON_ARRAY, '[') && enter(r, false);
}

/* For members and elements: leaves the container at its closing bracket and returns false,
 * otherwise moves to the next item. */
static bool step(struct json_reader *r, char close) {
    if (json_failed(r))
        return false;
    blanks(r);
    if (r->p < r->end && *r->p == close) {
        leave(r);
        return false;
    }
    if (!r->first) {
        if (r->p == r->end || *r->p != ',') {
            json_fail(r,
                      r->p == r->end ? "the text ends inside %s" : "expected ',' or the end of %s",
                      close == '}' ? "an object" : "an array");
            return false;
        }
        r->p++;
        blanks(r);
    }
    r->first = false;
    return true;
}

/* The path keeps a member's name as in the text: a decoded name may not outlive the arena's next
 * reset. */
static inline void keep_name(struct json_reader *r, struct str raw) {
    if (r->depth <= JSON_PATH_LEVELS)
        r->keys[r->depth - 1] = raw;
}

/* Reads the next member's name in the usual form, `,"name":` without blanks or escapes; otherwise
 * does not move. */
static inline bool plain_member(struct json_reader *r, struct str *ret_key) {
    const char *p = r->p;
    if (r->end - p < 2 || (!r->first && *p++ != ',') || *p != '"')
        return false;
    const char *from = p + 1, *to = plain_run(from, r->end);
    if (r->end - to < 2 || to[0] != '"' || to[1] != ':')
        return false;
    *ret_key = (struct str){from, (size_t)(to - from)};
    keep_name(r, *ret_key);
    r->first = false;
    r->p = to + 2;
    return true;
}

/* Reads the colon after a member name, which is `raw` in the text. */
static bool colon(struct json_reader *r, struct str raw) {
    blanks(r);
    if (r->p == r->end || *r->p != ':') {
        json_fail(r, "expected ':' after member name '%.*s'", STR_ARG(raw));
        return false;
    }
    r->p++;
    keep_name(r, raw);
    return true;
}

/* Reads the member name at r->p and its colon. */
static bool member_name(struct json_reader *r, struct str *ret_key) {
    if (r->p == r->end || *r->p != '"') {
        json_fail(r, r->p == r->end ? "the text ends inside an object"
                                    : "expected a member name in quotes");
        return false;
    }
    const char *quote = r->p;
    struct str key = string_here(r);
    if (json_failed(r) || arena_failed(r->arena))
        return false;
    if (key.p != quote + 1 && str_find(key, '\0') != SIZE_MAX) { /* only an escape can make a NUL */
        json_fail(r, "NUL in a member name");
        return false;
    }
    if (!colon(r, (struct str){quote + 1, (size_t)(r->p - quote - 2)}))
        return false;
    *ret_key = key;
    return true;
}

/* Moves to the next value, which the caller may then read. */
static inline bool begin_value(struct json_reader *r) {
    blanks(r);
    r->value = r->p;
    return true;
}

/* Skips the last member's or element's value if it was not read. */
static inline void pass_over(struct json_reader *r) {
    if (r->p == r->value)
        (void)json_skip(r); /* errors stay in r */
}

bool json_member(struct json_reader *r, struct str *ret_key) {
    pass_over(r);
    if (json_failed(r) || arena_failed(r->arena))
        return false;
    if (r->p < r->end && *r->p == '}') {
        leave(r);
        return false;
    }
    return (plain_member(r, ret_key) || (step(r, '}') && member_name(r, ret_key))) &&
           begin_value(r);
}

bool json_element(struct json_reader *r) {
    pass_over(r);
    if (!step(r, ']'))
        return false;
    if (r->depth <= JSON_PATH_LEVELS)
        r->indexes[r->depth - 1]++;
    return begin_value(r);
}

struct str json_string(struct json_reader *r) {
    return next_begins(r, JSON_STRING, '"') ? string_here(r) : (struct str){0};
}

bool json_bool(struct json_reader *r) {
    if (!other_is(r, JSON_BOOL))
        return false;
    bool value = *r->p == 't';
    return (value ? literal(r, "true", 4) : literal(r, "false", 5)) && value;
}

struct str json_number_text(struct json_reader *r) {
    struct str text = {0};
    bool whole;
    if (other_is(r, JSON_NUMBER))
        (void)number_here(r, &text, &whole); /* an error stays in r */
    return text;
}

int64_t json_integer(struct json_reader *r, int64_t min, int64_t max) {
    struct str text;
    bool whole;
    int64_t value;
    if (!other_is(r, JSON_NUMBER) || !number_here(r, &text, &whole))
        return 0;
    if (!whole || !str_to_i64(text, &value))
        json_fail(r, "expected a whole number, found %.*s", STR_ARG(text));
    else if (value < min || value > max)
        json_fail(r, "%.*s is not between %lld and %lld", STR_ARG(text), (long long)min,
                  (long long)max);
    else
        return value;
    return 0;
}

double json_number(struct json_reader *r) {
    const struct str text = json_number_text(r);
    if (text.n == 0)
        return 0;
    const char *digits = arena_cstr(r->arena, text);
    const double value = digits == NULL ? 0 : strtod(digits, NULL);
    if (!isfinite(value))
        json_fail(r, "%.*s is too large", STR_ARG(text));
    return isfinite(value) ? value : 0;
}

bool json_null(struct json_reader *r) {
    return json_peek(r) == JSON_NULL && literal(r, "null", 4);
}

/* Skips a scalar, or enters a container by its opening bracket. */
static void skip_one(struct json_reader *r) {
    struct str text;
    bool flag;
    size_t n;
    if (r->p < r->end && *r->p == '"' && plain_string(r, &text))
        return;
    enum json_kind kind = json_peek(r);
    switch (kind) {
    case JSON_NULL:
        (void)json_null(r); /* errors stay in r, here and below */
        break;
    case JSON_BOOL:
        (void)json_bool(r);
        break;
    case JSON_NUMBER:
        (void)number_here(r, &text, &flag);
        break;
    case JSON_STRING:
        (void)scan_string(r, NULL, &n, &flag);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        (void)enter(r, kind == JSON_OBJECT);
        break;
    case JSON_NOTHING:
        if (!json_failed(r))
            json_fail(r, r->p == r->end ? "the text ends where a value should be"
                                        : "expected a value");
        break;
    }
}

/* Checks the next member's name but, unlike json_member(), does not decode it, because nobody reads
 * the name. */
static bool skip_name(struct json_reader *r) {
    struct str key;
    if (plain_member(r, &key))
        return true;
    if (!step(r, '}'))
        return false;
    if (r->p == r->end || *r->p != '"') {
        json_fail(r, "expected a member name in quotes");
        return false;
    }
    const char *start = r->p;
    size_t n;
    bool escapes = false;
    if (!scan_string(r, NULL, &n, &escapes))
        return false;
    if (escapes) {
        r->p = start;
        return member_name(r, &key);
    }
    return colon(r, (struct str){start + 1, (size_t)(r->p - start - 2)});
}

struct str json_skip(struct json_reader *r) {
    if (json_peek(r) == JSON_NOTHING && json_failed(r))
        return (struct str){0};
    const char *from = r->p;
    uint32_t floor = r->depth;
    skip_one(r);
    while (r->depth > floor && !json_failed(r))
        if (level_is_object(r, r->depth - 1) ? skip_name(r) : json_element(r))
            skip_one(r);
    return json_failed(r) ? (struct str){0} : (struct str){from, (size_t)(r->p - from)};
}

void json_fail_kind(struct json_reader *r, struct str kind, struct str expected) {
    struct json_reader ahead = *r;
    (void)json_skip(&ahead); /* errors stay in `ahead` */
    if (json_failed(&ahead))
        *r = ahead;
    else
        json_fail(r, "kind is '%.*s'; expected %.*s", STR_ARG(kind), STR_ARG(expected));
}

void json_check_type(struct json_reader *r, struct str api_version, struct str kind) {
    struct str own_kind = json_peek_member(r, STR("kind"));
    struct str own_version = json_peek_member(r, STR("apiVersion"));
    if (json_failed(r))
        return;
    if (own_kind.n > 0 && !str_eq(own_kind, kind))
        json_fail_kind(r, own_kind, kind);
    else if (own_version.n > 0 && !str_eq(own_version, api_version))
        json_fail(r, "apiVersion is '%.*s'; expected %.*s", STR_ARG(own_version),
                  STR_ARG(api_version));
}

struct str json_peek_member(const struct json_reader *r, struct str name) {
    struct json_reader ahead = *r;
    struct str key;
    if (json_peek(&ahead) != JSON_OBJECT || !json_object(&ahead))
        return (struct str){0};
    while (json_member(&ahead, &key)) /* the later, real pass reports a broken document */
        if (str_eq(key, name) && json_peek(&ahead) == JSON_STRING)
            return json_string(&ahead);
    return (struct str){0};
}

/* Reads the next elements as long as they are quick to read, and moves behind the last element
 * read. Returns their number. */
static uint32_t quick_elements(struct json_reader *r, struct str *items, uint32_t room) {
    const char *at = r->p, *after;
    if (!r->first && at < r->end && *at++ != ',')
        return 0;
    if (json_failed(r) || at == r->end || *at != '"')
        return 0;
    uint32_t count = plain_strings(at, r->end, items, room, &after);
    if (count == 0)
        return 0;
    r->p = after;
    r->first = false;
    if (r->depth <= JSON_PATH_LEVELS)
        r->indexes[r->depth - 1] += count;
    return count;
}

struct str *json_string_array(struct json_reader *r, uint32_t limit, uint32_t *ret_count) {
    enum { USUAL_BYTES = 24 }; /* a guess at an element's length, to size the array well */
    *ret_count = 0;
    if (!json_array(r))
        return NULL;
    const char *close =
        memchr(r->p, ']', (size_t)(r->end - r->p)); /* usually the end of this array */
    size_t guess = (size_t)((close != NULL ? close : r->end) - r->p) / USUAL_BYTES + 1;
    uint32_t count = 0, cap = guess < limit ? (uint32_t)guess : limit;
    struct str *items = arena_array_unset(r->arena, cap, sizeof *items);
    while (items != NULL) {
        count += quick_elements(r, items + count, (cap < limit ? cap : limit) - count);
        if (!json_element(r))
            break;
        if (count == limit) {
            json_fail(r, "more than %u items", limit);
            return NULL;
        }
        if (count == cap)
            items = arena_push(r->arena, items, count, &cap, sizeof *items);
        if (items == NULL)
            return NULL;
        if (r->p == r->end || *r->p != '"' || !plain_string(r, &items[count]))
            items[count] = json_string(r);
        count++;
    }
    *ret_count = count;
    return items;
}
