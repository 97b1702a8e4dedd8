/*
 * The reading half of the YAML reader: turns libyaml's events into calls of yaml_build. It builds
 * no tree: JSON is written while the text is read, and an alias copies bytes that are already
 * written.
 *
 * How the bytes get into the arena: they grow in a malloc'd buffer and are copied once, when their
 * number is known. An arena cannot grow an allocation in place, so growing there would leave every
 * smaller size behind; reading the text twice, to know the size first, would cost libyaml's time
 * again, which is a hundred times that of the copy.
 *
 * Text that is already JSON is copied without libyaml, which does not know surrogate pairs
 * ("\ud83d\ude00") and is a hundred times slower. A text that starts like JSON but is not (a YAML
 * flow mapping, or a mistake) goes to libyaml, whose errors name line and column.
 */
#include "yaml/yaml.h"

#include "base/json_reader.h"
#include "yaml/build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define STANDARD_TAG "tag:yaml.org,2002:"

enum { MAX_TAG_DIRECTIVES = 16 };

/* ---- results ---- */

static int too_large(const struct arena *arena, struct err *err) {
    return err_set(err, -ENOMEM, "too large to convert within %zu bytes of memory", arena->max);
}

/* Copies text and documents to the arena. Marks are already in the arena. */
static int hand_over(struct arena *arena, struct str text, const struct yaml_span *spans,
                     uint32_t count, struct yaml_json *ret, struct err *err) {
    struct str copy = arena_str(arena, text);
    struct str *documents = arena_array(arena, count, sizeof *documents);
    if (arena_failed(arena))
        return too_large(arena, err);
    for (uint32_t i = 0; i < count; i++)
        documents[i] = (struct str){copy.p + spans[i].begin, spans[i].end - spans[i].begin};
    *ret = (struct yaml_json){.documents = documents, .document_count = count, .text = copy};
    return 0;
}

size_t yaml_marks_before(const struct yaml_json *doc, size_t json_offset) {
    size_t low = 0, high = doc->mark_count; /* the answer is before `high` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (doc->marks[middle].json_offset <= json_offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t yaml_line_of(const struct yaml_json *doc, size_t json_offset) {
    const size_t marks = yaml_marks_before(doc, json_offset);
    return marks == 0 ? 0 : doc->marks[marks - 1].line;
}

void yaml_say_line(const struct yaml_json *doc, struct str json, struct err *err) {
    static const char mark[] = ", at byte ";
    char *found = NULL;
    int64_t byte;
    for (char *p = err != NULL ? err->text : NULL; p != NULL && (p = strstr(p, mark)) != NULL; p++)
        found = p;
    if (found == NULL)
        return;
    uintptr_t at = (uintptr_t)json.p - (uintptr_t)doc->text.p;
    bool known = at < doc->text.n && str_to_i64(str_of(found + sizeof mark - 1), &byte);
    uint32_t line = known ? yaml_line_of(doc, at + (size_t)byte) : 0;
    *found = '\0';
    if (line > 0)
        (void)snprintf(found, (size_t)(err->text + sizeof err->text - found), ", at line %u", line);
}

/* ---- JSON ---- */

static bool starts_like_json(struct str text) {
    text = str_trim(text);
    return text.n > 0 && (text.p[0] == '{' || text.p[0] == '[');
}

/* Makes one mark for each line. That is enough, because JSON text is copied without changes. */
static int mark_lines(struct arena *arena, struct yaml_json *doc, struct err *err) {
    size_t lines = 1;
    for (size_t i = 0; i < doc->text.n; i++)
        lines += doc->text.p[i] == '\n';
    struct yaml_mark *marks = arena_array(arena, lines, sizeof *marks);
    if (marks == NULL)
        return too_large(arena, err);
    marks[0] = (struct yaml_mark){0, 1};
    uint32_t line = 1;
    for (size_t i = 0; i < doc->text.n; i++) {
        if (doc->text.p[i] == '\n') {
            marks[line] = (struct yaml_mark){(uint32_t)(i + 1), line + 1};
            line++;
        }
    }
    doc->marks = marks;
    doc->mark_count = lines;
    return 0;
}

/* Finds the values of a text that is JSON from end to end. Returns false if it is not, or the arena
 * failed. */
static bool find_json_values(struct str text, struct arena *arena, struct yaml_span **ret_spans,
                             uint32_t *ret_count) {
    struct yaml_span *spans = NULL;
    uint32_t count = 0, cap = 0;
    struct json_reader r;
    json_reader_init(&r, text, arena, "document");
    while (json_peek(&r) != JSON_NOTHING) {
        struct str value = json_skip(&r);
        spans = arena_push(arena, spans, count, &cap, sizeof *spans);
        if (json_failed(&r) || spans == NULL)
            return false;
        uint32_t begin = (uint32_t)(value.p - text.p);
        spans[count++] = (struct yaml_span){begin, begin + (uint32_t)value.n};
    }
    *ret_spans = spans;
    *ret_count = count;
    return r.p == r.end && !arena_failed(arena);
}

static int pass_json_through(struct str text, const struct yaml_span *spans, uint32_t count,
                             bool with_marks, struct arena *arena, struct yaml_json *ret,
                             struct err *err) {
    struct yaml_json doc;
    int r = hand_over(arena, text, spans, count, &doc, err);
    if (r == 0 && with_marks)
        r = mark_lines(arena, &doc, err);
    if (r == 0)
        *ret = doc;
    return r;
}

/* ---- YAML ---- */

static struct str str_of_bytes(const yaml_char_t *p, size_t n) {
    return (struct str){(const char *)p, n};
}

static struct str str_of_word(const yaml_char_t *p) {
    return str_of((const char *)p);
}

static int fail_at(yaml_mark_t mark, struct err *err) {
    return err_wrap(err, "line %zu, column %zu", mark.line + 1, mark.column + 1);
}

/* Reads `word`, a number and `after`. Returns NULL for any other text. */
static const char *number_after(const char *at, const char *word, const char *after,
                                unsigned long *number) {
    size_t n = strlen(word);
    char *end;
    if (strncmp(at, word, n) != 0 || at[n] < '0' || at[n] > '9')
        return NULL;
    *number = strtoul(at + n, &end, 10);
    n = strlen(after);
    return strncmp(end, after, n) == 0 ? end + n : NULL;
}

uint32_t yaml_line_named(const char *error) {
    unsigned long line, column;
    for (const char *at = error; (at = strstr(at, "line ")) != NULL; at++) {
        const char *rest = number_after(at, "line ", ", ", &line);
        if (rest != NULL && number_after(rest, "column ", ": ", &column) != NULL)
            return line <= UINT32_MAX ? (uint32_t)line : 0;
    }
    return 0;
}

/* Reports bytes that are not valid text; for them libyaml gives only an offset. */
static int fail_at_offset(struct str text, size_t offset, int code, const char *problem,
                          struct err *err) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < offset && i < text.n; i++) {
        column = text.p[i] == '\n' ? 1 : column + 1;
        line += text.p[i] == '\n';
    }
    return err_set(err, code, "line %zu, column %zu: %s", line, column, problem);
}

/* Is the mark at a tab that follows only spaces of its line? */
static bool is_tab_in_indent(struct str text, yaml_mark_t mark) {
    size_t begin = 0;
    for (size_t line = 0; line < mark.line && begin < text.n; begin++)
        line += text.p[begin] == '\n';
    size_t i = begin;
    while (i < text.n && text.p[i] == ' ')
        i++;
    return i < text.n && text.p[i] == '\t' && i - begin == mark.column;
}

static int parser_error(const yaml_parser_t *parser, struct str text, struct err *err) {
    if (parser->error == YAML_MEMORY_ERROR)
        return err_set(err, -ENOMEM, "no memory to read YAML");
    const char *problem = parser->problem != NULL ? parser->problem : "malformed YAML";
    if (parser->error == YAML_READER_ERROR)
        return fail_at_offset(text, parser->problem_offset, -EINVAL, problem, err);
    if (is_tab_in_indent(text, parser->problem_mark))
        (void)err_set(err, -EINVAL, "a tab indents the line: write spaces"); /* returned below */
    else
        (void)err_set(err, -EINVAL, "%s%s%s", problem, parser->context != NULL ? ", " : "",
                      parser->context != NULL ? parser->context : ""); /* returned below */
    return fail_at(parser->problem_mark, err);
}

/* Returns the part of a standard tag that names a YAML type ("str" of "!!str"); empty without a
 * tag; returns a foreign tag unchanged. */
static struct str standard_tag(const yaml_char_t *tag) {
    struct str s = str_of_word(tag), prefix = STR(STANDARD_TAG);
    if (str_has_prefix(s, prefix))
        return (struct str){s.p + prefix.n, s.n - prefix.n};
    return s;
}

static bool tag_admits(struct str tag, enum yaml_kind kind) {
    switch (kind) {
    case YAML_NULL:
        return str_eq(tag, STR("null"));
    case YAML_BOOL:
        return str_eq(tag, STR("bool"));
    case YAML_INTEGER:
        return str_eq(tag, STR("int")) || str_eq(tag, STR("float"));
    case YAML_FLOAT:
        return str_eq(tag, STR("float"));
    case YAML_STRING:
    case YAML_NOT_FINITE:
        break;
    }
    return false;
}

static bool tag_is_scalar(struct str tag) {
    return tag_admits(tag, YAML_NULL) || tag_admits(tag, YAML_BOOL) ||
           tag_admits(tag, YAML_INTEGER);
}

/* Handles a scalar that must be resolved: plain without a tag, or with the tag of a number or
 * literal. */
static int literal_event(struct yaml_build *b, struct str text, struct str tag,
                         struct strbuf *scratch, struct yaml_value_site site, struct err *err) {
    struct str json;
    enum yaml_kind kind = yaml_resolve(text, scratch, &json);
    if (strbuf_failed(scratch))
        return err_set(err, -ENOMEM, "no memory to read YAML");
    if (kind == YAML_NOT_FINITE)
        return err_set(err, -EINVAL, "'%.*s' cannot be written in JSON", STR_ARG(text));
    if (!str_empty(tag) && !tag_admits(tag, kind))
        return err_set(err, -EINVAL, "'%.*s' is not of the type that its tag '!!%.*s' names",
                       STR_ARG(text), STR_ARG(tag));
    if (kind == YAML_STRING)
        return yaml_build_string(b, text, site, err);
    return yaml_build_literal(b, json, site, err);
}

static int scalar_event(struct yaml_build *b, const yaml_event_t *event, struct strbuf *scratch,
                        struct yaml_value_site site, struct err *err) {
    struct str text = str_of_bytes(event->data.scalar.value, event->data.scalar.length);
    struct str tag = standard_tag(event->data.scalar.tag);
    bool plain = str_empty(tag) && event->data.scalar.plain_implicit;
    if (str_eq(tag, STR("binary")))
        return err_set(err, -EINVAL, "tag '!!binary' is not supported: write the decoded text");
    if (yaml_build_wants_key(b) && (plain || str_eq(tag, STR("merge"))) && str_eq(text, STR("<<")))
        return yaml_build_merge(b, site.line, err);
    if (yaml_build_wants_key(b))
        return yaml_build_key(b, text, site, err);
    if (plain && b->depth == 0 && str_empty(text))
        return 0; /* an empty document */
    if (plain || tag_is_scalar(tag))
        return literal_event(b, text, tag, scratch, site, err);
    return yaml_build_string(b, text, site, err);
}

static int handle_event(struct yaml_build *b, const yaml_event_t *event, struct strbuf *scratch,
                        struct err *err) {
    struct yaml_value_site site = {.line = (uint32_t)event->start_mark.line + 1};
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        yaml_build_document(b);
        return 0;
    case YAML_DOCUMENT_END_EVENT:
        return yaml_build_document_end(b, err);
    case YAML_ALIAS_EVENT:
        return yaml_build_alias(b, str_of_word(event->data.alias.anchor), site.line, err);
    case YAML_SCALAR_EVENT:
        site.anchor = str_of_word(event->data.scalar.anchor);
        return scalar_event(b, event, scratch, site, err);
    case YAML_SEQUENCE_START_EVENT:
        site.anchor = str_of_word(event->data.sequence_start.anchor);
        return yaml_build_open(b, false, site, err);
    case YAML_MAPPING_START_EVENT:
        site.anchor = str_of_word(event->data.mapping_start.anchor);
        return yaml_build_open(b, true, site, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return yaml_build_close(b, err);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
        break;
    }
    return 0;
}

static int read_events(yaml_parser_t *parser, struct str text, struct yaml_build *b,
                       struct err *err) {
    CLEANUP(strbuf_done) struct strbuf scratch = {.max = LIMIT_YAML_BYTES};
    for (bool ended = false; !ended;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return parser_error(parser, text, err);
        ended = event.type == YAML_STREAM_END_EVENT;
        yaml_mark_t mark = event.start_mark;
        int r = handle_event(b, &event, &scratch, err);
        yaml_event_delete(&event);
        if (r != 0) {
            (void)fail_at(mark, err); /* r says the same, and also when err is NULL */
            return r;
        }
    }
    return 0;
}

static int convert(struct str text, bool with_marks, struct arena *arena, struct yaml_json *ret,
                   struct err *err) {
    CLEANUP(yaml_build_done) struct yaml_build b;
    yaml_build_init(&b, with_marks, arena);
    CLEANUP(yaml_parser_delete) yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return err_set(err, -ENOMEM, "no memory to read YAML");
    /* set explicitly, so that a byte order mark cannot make it UTF-16 */
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
    int r = read_events(&parser, text, &b, err);
    struct yaml_json doc;
    if (r == 0)
        r = hand_over(arena, strbuf_str(&b.out), b.documents, b.document_count, &doc, err);
    if (r != 0)
        return r;
    doc.marks = b.marks;
    doc.mark_count = b.mark_count;
    *ret = doc;
    return 0;
}

/* Is the byte before this one the end of a line, as YAML 1.1 sees it: LF, CR, U+0085, U+2028 or
 * U+2029 (by their last byte)? */
static bool starts_line(const char *text, const char *at) {
    return at == text || strchr("\n\r\x85\xa8\xa9", at[-1]) != NULL;
}

/*
 * libyaml compares every %TAG line of a document with every other %TAG line: a megabyte of such
 * lines takes a quarter of a minute. Only YAML's own tags are admitted, so no document needs more
 * than a few %TAG lines.
 */
static int check_directives(struct str text, struct err *err) {
    const struct str directive = STR("%TAG");
    const char *at = text.p, *end = text.p + text.n;
    for (unsigned count = 0; at < end; at += directive.n) {
        at = memmem(at, (size_t)(end - at), directive.p, directive.n);
        if (at == NULL)
            return 0;
        if (starts_line(text.p, at) && ++count > MAX_TAG_DIRECTIVES)
            return fail_at_offset(text, (size_t)(at - text.p), -E2BIG, "too many %TAG directives",
                                  err);
    }
    return 0;
}

int yaml_skip_mark(struct str *text, struct err *err) {
    if (str_has_prefix(*text, STR("\xef\xbb\xbf")))
        *text = (struct str){text->p + 3, text->n - 3};
    if (str_has_prefix(*text, STR("\xff\xfe")) || str_has_prefix(*text, STR("\xfe\xff")))
        return err_set(err, -EINVAL,
                       "it is UTF-16: save it as UTF-8 (PowerShell: Out-File -Encoding utf8)");
    return 0;
}

/* Returns the line of this number, without its end; "" for 0, or if there is no such line. */
static struct str line_at(struct str text, uint32_t line) {
    size_t end;
    for (; line > 1 && (end = str_find(text, '\n')) != SIZE_MAX; line--)
        text = (struct str){text.p + end + 1, text.n - end - 1};
    end = str_find(text, '\n');
    return line != 1 ? (struct str){0} : (struct str){text.p, end == SIZE_MAX ? text.n : end};
}

/*
 * Names the cause of an error in a Helm chart's template, where YAML's own error helps nobody. The
 * error is in the line of the template, or in the next line if that begins with the template. Text
 * in quotes may have "{{" for others, and is good YAML.
 */
static int say_template(struct str yaml, struct err *err) {
    const struct str begin = STR("{{");
    const uint32_t line = err != NULL ? yaml_line_named(err->text) : 0;
    if (line == 0)
        return -EINVAL;
    const struct str here = line_at(yaml, line), before = line_at(yaml, line - 1);
    const char *found = here.n > 0 ? memmem(here.p, here.n, begin.p, begin.n) : NULL;
    if (found == NULL && before.n > 0 && str_has_prefix(str_trim(before), begin))
        found = memmem(before.p, before.n, begin.p, begin.n);
    return found == NULL
               ? -EINVAL
               : fail_at_offset(yaml, (size_t)(found - yaml.p), -EINVAL,
                                "'{{' begins a template, and it was not rendered: run 'helm "
                                "template' first",
                                err);
}

int yaml_to_json(struct str yaml, bool with_marks, struct arena *arena, struct yaml_json *ret,
                 struct err *err) {
    if (yaml.n > LIMIT_YAML_BYTES)
        return err_set(err, -E2BIG, "longer than %u bytes", LIMIT_YAML_BYTES);
    if (yaml.p == NULL)
        yaml = STR(""); /* the text is empty, and libyaml asserts that the pointer is not NULL */
    int r = yaml_skip_mark(&yaml, err);
    if (r != 0)
        return r;
    struct yaml_span *spans;
    uint32_t count;
    if (starts_like_json(yaml) && find_json_values(yaml, arena, &spans, &count))
        return pass_json_through(yaml, spans, count, with_marks, arena, ret, err);
    if (arena_failed(arena))
        return too_large(arena, err);
    r = check_directives(yaml, err);
    if (r == 0)
        r = convert(yaml, with_marks, arena, ret, err);
    return r == -EINVAL ? say_template(yaml, err) : r;
}

const char *yaml_library_version(void) {
    return yaml_get_version_string();
}
