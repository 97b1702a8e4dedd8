#include "model/selector_problem.h"

#include <ctype.h>

/* Problems of one requirement: each problem is "path: Invalid value: VALUE: REASON". */
struct problems {
    struct strbuf text;
    uint32_t count;
    bool has_reason; /* the last problem has a reason already */
};

#define NAME_PATTERN "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define LABEL_PATTERN "[a-z0-9]([-a-z0-9]*[a-z0-9])?"

static const char name_rule[] =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '" NAME_PATTERN "')";
static const char value_rule[] =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(" NAME_PATTERN ")?')";
static const char prefix_rule[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '" LABEL_PATTERN "(\\." LABEL_PATTERN ")*')";

enum { NAME_MAX_BYTES = 63, PREFIX_MAX_BYTES = 253 };

/* ---- Go's forms of strings ---- */

/* Is the character at `at` outside ASCII and invisible: a control character, the no-break space or
 * the soft hyphen? */
static bool is_unseen(struct str s, size_t at) {
    if ((unsigned char)s.p[at] != 0xc2)
        return false;
    const unsigned char next = (unsigned char)s.p[at + 1];
    return next <= 0xa0 || next == 0xad;
}

static void put_quoted(struct strbuf *out, struct str s) {
    static const char letters[] = "abtnvfr"; /* for characters 7 to 13 */
    strbuf_append_char(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        const unsigned char c = (unsigned char)s.p[i];
        const size_t wide = c < 0x80 ? 0 : str_utf8_length((struct str){s.p + i, s.n - i});
        if (c == '"' || c == '\\')
            strbuf_appendf(out, "\\%c", c);
        else if (c >= 7 && c <= 13)
            strbuf_appendf(out, "\\%c", letters[c - 7]);
        else if (c < 0x20 || c == 0x7f || (c >= 0x80 && wide == 0))
            strbuf_appendf(out, "\\x%02x", c);
        else if (is_unseen(s, i))
            strbuf_appendf(out, "\\u%04x", (unsigned char)s.p[i + 1]);
        else
            strbuf_append(out, s.p + i, wide > 0 ? wide : 1);
        i += wide > 0 ? wide - 1 : 0;
    }
    strbuf_append_char(out, '"');
}

/* Appends a string as Go's JSON encoder writes it for web pages. */
static void put_json(struct strbuf *out, struct str s) {
    strbuf_append_char(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        const unsigned char c = (unsigned char)s.p[i];
        const char *letter = c == 0 ? NULL : strchr("\bb\ff\nn\rr\tt\"\"\\\\", c);
        if (letter != NULL && (c < 0x20 || c == '"' || c == '\\'))
            strbuf_appendf(out, "\\%c", letter[1]);
        else if (c < 0x20 || c == '<' || c == '>' || c == '&')
            strbuf_appendf(out, "\\u%04x", c);
        else
            strbuf_append_char(out, (char)c);
    }
    strbuf_append_char(out, '"');
}

/* ---- problems ---- */

static void begin(struct problems *p) {
    strbuf_append_str(&p->text, p->count++ > 0 ? STR(", ") : STR(""));
    p->has_reason = false;
}

static void reason(struct problems *p, const char *part, const char *text) {
    strbuf_append_str(&p->text, p->has_reason ? STR("; ") : STR(": "));
    strbuf_append_str(&p->text, str_of(part));
    strbuf_append_str(&p->text, str_of(text));
    p->has_reason = true;
}

static void too_long(struct problems *p, const char *part, int most) {
    reason(p, part, "must be no more than ");
    strbuf_appendf(&p->text, "%d characters", most);
}

static bool is_name(struct str s) {
    if (s.n == 0 || !isalnum((unsigned char)s.p[0]) || !isalnum((unsigned char)s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!isalnum((unsigned char)s.p[i]) && strchr("-_.", s.p[i] == '\0' ? ' ' : s.p[i]) == NULL)
            return false;
    return true;
}

/* Is the text a list of lower-case DNS labels with dots between them? */
static bool is_subdomain(struct str s) {
    for (size_t i = 0; i < s.n; i++) {
        const char c = s.p[i];
        const bool edge = i == 0 || i + 1 == s.n || s.p[i - 1] == '.' || s.p[i + 1] == '.';
        const bool alnum = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!alnum && (edge || (c != '-' && c != '.')))
            return false;
    }
    return s.n > 0;
}

static void check_key(struct problems *p, struct str key) {
    const size_t slash = str_find(key, '/');
    const bool has_prefix = slash != SIZE_MAX;
    const struct str prefix = {key.p, has_prefix ? slash : 0};
    const struct str name = has_prefix ? (struct str){key.p + slash + 1, key.n - slash - 1} : key;
    if (label_key_valid(key))
        return;
    begin(p);
    strbuf_append_str(&p->text, STR("key: Invalid value: "));
    put_quoted(&p->text, key);
    if (has_prefix && str_find(name, '/') != SIZE_MAX) {
        reason(p, "a qualified name ", name_rule);
        strbuf_append_str(&p->text, STR(" with an optional DNS subdomain prefix and '/' (e.g. "
                                        "'example.com/MyName')"));
        return;
    }
    if (has_prefix && prefix.n == 0)
        reason(p, "prefix part ", "must be non-empty");
    if (prefix.n > PREFIX_MAX_BYTES)
        too_long(p, "prefix part ", PREFIX_MAX_BYTES);
    if (prefix.n > 0 && !is_subdomain(prefix))
        reason(p, "prefix part ", prefix_rule);
    if (name.n == 0)
        reason(p, "name part ", "must be non-empty");
    if (name.n > NAME_MAX_BYTES)
        too_long(p, "name part ", NAME_MAX_BYTES);
    if (!is_name(name))
        reason(p, "name part ", name_rule);
}

static void check_value(struct problems *p, struct str key, struct str value, uint32_t i) {
    if (label_value_valid(value))
        return;
    begin(p);
    strbuf_appendf(&p->text, "values[%u][", i);
    strbuf_append_str(&p->text, key);
    strbuf_append_str(&p->text, STR("]: Invalid value: "));
    put_quoted(&p->text, value);
    if (value.n > NAME_MAX_BYTES)
        too_long(p, "", NAME_MAX_BYTES);
    if (!is_name(value))
        reason(p, "", value_rule);
}

/* Checks the number of values. */
static void check_values(struct problems *p, const struct label_expression *e) {
    const bool list = str_eq(e->op, STR("In")) || str_eq(e->op, STR("NotIn"));
    if (list == (e->value_count > 0))
        return;
    begin(p);
    strbuf_append_str(&p->text, STR("values: Invalid value: "));
    for (uint32_t i = 0; i < e->value_count; i++) {
        strbuf_append_char(&p->text, i == 0 ? '[' : ',');
        put_json(&p->text, e->values[i]);
    }
    strbuf_append_str(&p->text, e->value_count > 0 ? STR("]") : STR("null"));
    reason(p, "",
           list ? "for 'in', 'notin' operators, values set can't be empty"
                : "values set must be empty for exists and does not exist");
}

static bool is_operator(struct str op) {
    return str_eq(op, STR("In")) || str_eq(op, STR("NotIn")) || str_eq(op, STR("Exists")) ||
           str_eq(op, STR("DoesNotExist"));
}

/* ---- requirements ---- */

static struct str problem_of(const struct label_expression *e, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf whole = {0};
    struct problems p = {.text = {.max = SELECTOR_PROBLEM_BYTES}};
    struct str text;
    if (!is_operator(e->op)) {
        put_quoted(&p.text, e->op);
        strbuf_append_str(&p.text, STR(" is not a valid label selector operator"));
    } else {
        check_key(&p, e->key);
        check_values(&p, e);
        for (uint32_t i = 0; i < e->value_count; i++)
            check_value(&p, e->key, e->values[i], i);
    }
    if (p.count > 1) {
        strbuf_append_char(&whole, '[');
        strbuf_append_str(&whole, strbuf_str(&p.text));
        strbuf_append_char(&whole, ']');
        text = arena_str(arena, strbuf_str(&whole));
    } else {
        text = arena_str(arena, strbuf_str(&p.text));
    }
    arena->failed = arena->failed || p.text.no_memory || whole.no_memory;
    strbuf_done(&p.text);
    return text;
}

struct str selector_problem_equals(struct str key, struct str value, struct arena *arena) {
    const struct label_expression e = {key, STR("In"), &value, 1};
    return label_key_valid(key) && label_value_valid(value) ? STR("") : problem_of(&e, arena);
}

struct str selector_problem(const struct label_selector *selector, struct arena *arena) {
    struct str text = {0};
    for (uint32_t i = 0; text.n == 0 && i < selector->match_labels.count; i++)
        text = selector_problem_equals(selector->match_labels.items[i].key,
                                       selector->match_labels.items[i].value, arena);
    for (uint32_t i = 0; text.n == 0 && i < selector->expression_count; i++)
        text = problem_of(&selector->expressions[i], arena);
    return text;
}
