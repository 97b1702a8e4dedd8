#include "config/configuration.h"

#include "base/file.h"
#include "base/json_reader.h"
#include "base/limits.h"
#include "config/table.h"
#include "model/names.h"
#include "yaml/yaml.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

static const char api_version[] = EVENKEEL_API;
static const char kind[] = CONFIGURATION_KIND;

enum {
    ARENA_BYTES = 64 << 20, /* the document, its marks and everything decoded */
    PROBLEMS_MAX = 50,      /* problems of one file that are reported */
};

bool configuration_listens(const char *address) {
    struct str text = str_of(address);
    return !str_empty(text) && !str_eq(text, STR("0"));
}

void configuration_init(struct configuration *c) {
    *c = (struct configuration){.lists_begun = {{0}}};
    arena_init(&c->arena, ARENA_BYTES);
    fields_set_defaults(&configuration_table, &c->arena, c);
    c->extender.limits.body_bytes = LIMIT_HTTP_BODY;
    c->extender.limits.bodies_in_flight = LIMIT_HTTP_BODIES_IN_FLIGHT;
    c->webhook.limits.body_bytes = LIMIT_WEBHOOK_BODY;
    c->webhook.limits.bodies_in_flight = LIMIT_HTTP_BODIES_IN_FLIGHT;
    c->webhook.limits.header_ms = LIMIT_HTTP_HEADER_MS;
    c->webhook.limits.request_ms = LIMIT_HTTP_REQUEST_MS;
    c->webhook.limits.idle_ms = LIMIT_HTTP_IDLE_MS;
}

void configuration_done(struct configuration *c) {
    arena_done(&c->arena);
    *c = (struct configuration){.lists_begun = {{0}}};
}

/* ---- reading a file ---- */

static void tell(struct configuration_loading *l, const struct configuration_problem *problem) {
    if (l->problem_count++ < PROBLEMS_MAX)
        l->found(l->ctx, problem);
}

static bool was_setting(const char *path) {
    return configuration_removed_find(path) != SIZE_MAX;
}

/* Reports a problem of the decoder as text. */
static void on_problem(void *ctx, const struct field_problem *p) {
    char advice[128] = "";
    if (p->kind == FIELD_REMOVED_KEY) {
        struct configuration_loading *l = ctx;
        l->into->removed_lines[configuration_removed_find(p->path)] = p->line;
        return;
    }
    if (p->suggestion != NULL)
        (void)snprintf(advice, sizeof advice, "did you mean '%s'?", p->suggestion); /* fits */
    tell(ctx,
         &(struct configuration_problem){.line = p->line,
                                         .path = p->path,
                                         .text = p->kind == FIELD_UNKNOWN_KEY    ? "unknown key"
                                                 : p->kind == FIELD_REPEATED_KEY ? "repeated key"
                                                                                 : p->text,
                                         .advice = advice,
                                         .is_key = p->kind != FIELD_BAD_VALUE});
}

/* Returns the text of a top-level member; "" if it is missing or no text. */
static struct str top_level_text(struct str json, struct str name, struct arena *arena,
                                 const char **ret_at) {
    struct json_reader r;
    struct str key, found = {0};
    json_reader_init(&r, json, arena, "document");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            struct str value = json_skip(&r);
            if (!str_eq(key, name) || value.n == 0 || value.p[0] != '"')
                continue;
            struct json_reader text;
            json_reader_init(&text, value, arena, "document");
            found = json_string(&text);
            *ret_at = value.p;
        }
    return found;
}

/* Returns false if the value is missing or has another text; then it has reported the problem. */
static bool header_is(struct configuration_loading *l, const struct yaml_json *doc,
                      struct arena *arena, const char *name, const char *wanted) {
    char text[ERR_TEXT_SIZE];
    const char *at = doc->documents[0].p;
    struct str value = top_level_text(doc->documents[0], str_of(name), arena, &at);
    if (str_eq(value, str_of(wanted)))
        return true;
    if (value.n == 0)
        (void)snprintf(text, sizeof text, "expected '%s'", wanted);
    else
        (void)snprintf(text, sizeof text, "expected '%s', found '%.*s'", wanted, STR_ARG(value));
    tell(l, &(struct configuration_problem){
                .line = value.n == 0 ? 0 : yaml_line_of(doc, (size_t)(at - doc->text.p)),
                .path = name,
                .text = text,
                .advice = ""});
    return false;
}

static int read_document(struct configuration *c, struct configuration_loading *l, const char *path,
                         struct yaml_json *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = LIMIT_CONFIG_BYTES + 1};
    struct yaml_json doc;
    int r = file_read(path, LIMIT_CONFIG_BYTES, &text, err);
    if (r != 0)
        return r;
    r = yaml_to_json(strbuf_str(&text), true, &c->arena, &doc, err);
    if (r != 0) {
        (void)err_wrap(err, "%s", path); /* r is the result, also if err is NULL */
        return r;
    }
    if (doc.document_count > 1)
        return err_set(err, -EINVAL, "%s: there is more than one document", path);
    if (doc.document_count == 0)
        return err_set(err, -EINVAL, "%s: it is empty; expected apiVersion: %s and kind: %s", path,
                       api_version, kind);
    bool known = header_is(l, &doc, &c->arena, "kind", kind);
    known = header_is(l, &doc, &c->arena, "apiVersion", api_version) && known;
    *ret = doc;
    return known ? 0 : err_set(err, -EINVAL, "%s: it is no %s", path, kind);
}

int configuration_read_all(struct configuration *c, const char *path,
                           configuration_problem_fn *found, void *ctx, struct err *err) {
    struct configuration_loading l = {.into = c, .found = found, .ctx = ctx};
    struct yaml_json doc;
    int r = read_document(c, &l, path, &doc, err);
    if (r != 0)
        return r;
    struct field_source source = {.arena = &c->arena,
                                  .doc = &doc,
                                  .problem = on_problem,
                                  .ctx = &l,
                                  .is_removed = was_setting};
    fields_read(&source, &configuration_table, "", doc.documents[0], c);
    if (arena_failed(&c->arena))
        return err_set(err, -ENOMEM, "%s: too large for %d bytes of memory", path, ARENA_BYTES);
    if (l.problem_count > 0)
        return err_set(err, -EINVAL, "%s: %u problems", path, l.problem_count);
    return 0;
}

/* The first problem, for callers that want one sentence. */
struct first {
    char text[ERR_TEXT_SIZE];
    uint32_t line;
    uint32_t count;
};

static void keep_first(void *ctx, const struct configuration_problem *p) {
    struct first *first = ctx;
    if (first->count++ > 0)
        return;
    const char *then = p->advice[0] != '\0' ? "; " : "";
    if (p->is_key)
        (void)snprintf(first->text, sizeof first->text, "%s '%s'%s%s", p->text, p->path, then,
                       p->advice); /* may be cut, here and below: people read it */
    else
        (void)snprintf(first->text, sizeof first->text, "%s: %s%s%s", p->path, p->text, then,
                       p->advice);
    first->line = p->line;
}

int configuration_read(struct configuration *c, const char *path, struct err *err) {
    struct first first = {.count = 0};
    int r = configuration_read_all(c, path, keep_first, &first, err);
    if (r == 0 || first.count == 0)
        return r;
    char place[16] = "", more[80] = "";
    if (first.line > 0)
        (void)snprintf(place, sizeof place, "%u:", first.line); /* fits */
    if (first.count > 1)
        (void)snprintf(more, sizeof more, " (%u more: see 'evenkeel check config')",
                       first.count - 1); /* fits */
    return err_set(err, r, "%s:%s %s%s", path, place, first.text, more);
}

/* ---- flags ---- */

static const struct field *find_flag(const char *flag, unsigned *ret_row) {
    for (unsigned i = 0; i < configuration_table.count; i++) {
        const struct field *f = &configuration_table.fields[i];
        if (f->flag != NULL && strcmp(f->flag, flag) == 0) {
            *ret_row = i;
            return f;
        }
    }
    return NULL;
}

static bool is_removed_flag(struct configuration *c, const char *flag) {
    const struct configuration_removed *removed;
    for (size_t i = 0; (removed = configuration_removed_at(i)) != NULL; i++)
        if (removed->flag != NULL && strcmp(removed->flag, flag) == 0)
            return c->removed_flags[i] = true;
    return false;
}

int configuration_set_flag(struct configuration *c, const char *flag, const char *value,
                           struct err *err) {
    unsigned row;
    const struct field *f = find_flag(flag, &row);
    if (f == NULL && is_removed_flag(c, flag))
        return 0;
    if (f == NULL)
        return err_set(err, -ENOENT, "unknown option '--%s'", flag);
    bool begun = field_set_has(&c->lists_begun, row);
    int r = field_set_text(f, str_of(value), !begun, &c->arena, c, err);
    if (r != 0) {
        (void)err_wrap(err, "--%s", flag); /* r is the result, also if err is NULL */
        return r;
    }
    field_set_add(&c->lists_begun, row);
    return 0;
}

/* ---- the table, for people ---- */

static const struct {
    const char *prefix;
    const struct field_table *table;
} sections[] = {
    {"", &configuration_table},
    {"extender.certificates.", &configuration_extender_certificates_table},
    {"webhook.certificates.", &configuration_certificates_table},
    {"spread.defaultConstraints[].", &configuration_default_table},
    {"locality.tiers[].", &configuration_tier_table},
    {"orderedSpread.rules[].", &configuration_rule_table},
    {"orderedSpread.rules[].terms[].", &configuration_term_table},
};

static void describe(void (*write)(const struct field *, struct strbuf *), const struct field *f,
                     char *ret, size_t size) {
    CLEANUP(strbuf_done) struct strbuf out = {.max = 400};
    write(f, &out);
    (void)snprintf(ret, size, "%.*s", STR_ARG(strbuf_str(&out))); /* a test checks that all fit */
}

/* Sets *ret to "ADDRESS" for a field of addresses, "DURATION", "debug|info" for a choice. */
static void name_value(const struct field *f, char *ret, size_t size) {
    size_t n = 0;
    if (f->type == FIELD_CHOICE) {
        ret[0] = '\0';
        for (const struct field_choice *w = f->choices; w->word != NULL && n < size; w++)
            n += (size_t)snprintf(ret + n, size - n, "%s%s", n > 0 ? "|" : "", w->word);
        return;
    }
    const char *noun = f->type == FIELD_NUMBER     ? "n"
                       : f->type == FIELD_DURATION ? "duration"
                       : f->noun != NULL           ? f->noun
                                                   : "text";
    for (; n + 1 < size && noun[n] != '\0'; n++)
        ret[n] = (char)toupper((unsigned char)noun[n]);
    ret[n] = '\0';
}

bool configuration_option_at(size_t index, struct configuration_option *ret) {
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        const struct field_table *t = sections[i].table;
        for (size_t j = 0; j < t->count; j++) {
            const struct field *f = &t->fields[j];
            if (f->type == FIELD_REFUSED || index-- > 0)
                continue;
            *ret = (struct configuration_option){.flag = f->flag,
                                                 .is_switch = f->type == FIELD_BOOL,
                                                 .is_list = f->type == FIELD_CSTRS,
                                                 .required = f->required,
                                                 .help = f->help};
            (void)snprintf(ret->path, sizeof ret->path, "%s%s", sections[i].prefix, f->path);
            describe(field_describe_type, f, ret->type, sizeof ret->type);
            describe(field_describe_range, f, ret->range, sizeof ret->range);
            describe(field_describe_default, f, ret->default_text, sizeof ret->default_text);
            name_value(f, ret->value_name, sizeof ret->value_name);
            return true;
        }
    }
    return false;
}
