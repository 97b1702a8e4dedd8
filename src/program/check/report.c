#include "check/report.h"

#include "base/json_writer.h"
#include "base/table.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const severity_names[SEVERITY_COUNT] = {"error", "warning", "info"};

enum { TABLE_WIDTH = 110, PROBLEM_WIDTH = 56 };

void check_report_init(struct check_report *f, struct arena *arena) {
    *f = (struct check_report){.arena = arena};
}

/* Returns the length in bytes of the character at p, by its first byte; 0 if bytes are missing. */
static size_t character_length(const unsigned char *p, size_t left) {
    size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc0 ? 2 : 0;
    if (n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* Returns a copy with '?' for incomplete characters, because a text may have been cut. */
static struct str copy_text(struct arena *arena, const char *text) {
    struct str s = str_of(text);
    char *copy = arena_alloc(arena, s.n);
    if (copy == NULL)
        return (struct str){0};
    for (size_t i = 0; i < s.n;) {
        size_t n = character_length((const unsigned char *)s.p + i, s.n - i);
        if (n == 0)
            copy[i++] = '?';
        for (; n > 0; n--, i++)
            copy[i] = s.p[i];
    }
    return (struct str){copy, s.n};
}

void check_report_add(struct check_report *f, enum severity severity, uint32_t line,
                      const char *path, const char *advice, const char *fmt, ...) {
    char problem[ERR_TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(problem, sizeof problem, fmt, args); /* truncation is fine: people read it */
    va_end(args);
    struct check_row *items = arena_push(f->arena, f->items, f->count, &f->cap, sizeof *items);
    if (items == NULL)
        return; /* check_report_print() reports it */
    f->items = items;
    f->items[f->count++] = (struct check_row){.severity = severity,
                                              .line = line,
                                              .path = copy_text(f->arena, path),
                                              .problem = copy_text(f->arena, problem),
                                              .advice = copy_text(f->arena, advice)};
    f->counts[severity]++;
}

/* ---- printing ---- */

static int compare(const void *a, const void *b) {
    const struct check_row *x = a, *y = b;
    if (x->severity != y->severity)
        return x->severity < y->severity ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    int order = str_cmp(x->path, y->path);
    return order != 0 ? order : str_cmp(x->problem, y->problem);
}

static void sort(struct check_report *f) {
    if (f->count > 1)
        qsort(f->items, f->count, sizeof *f->items, compare);
}

/* Returns the problem, with the advice on the next line. */
static struct str two_lines(struct check_report *f, const struct check_row *finding) {
    if (finding->advice.n == 0)
        return finding->problem;
    size_t n = finding->problem.n + finding->advice.n + 4;
    char *text = arena_alloc(f->arena, n);
    if (text == NULL)
        return finding->problem;
    memcpy(text, finding->problem.p, finding->problem.n);
    memcpy(text + finding->problem.n, "\n-> ", 4);
    memcpy(text + finding->problem.n + 4, finding->advice.p, finding->advice.n);
    return (struct str){text, n};
}

static void print_count(uint32_t n, const char *name, bool first, struct strbuf *out) {
    strbuf_appendf(out, "%s%u %s%s", first ? "" : ", ", n, name, n == 1 ? "" : "s");
}

bool check_report_print(struct check_report *f, const char *file, struct strbuf *out) {
    static const char *const headings[] = {"SEVERITY", "LINE", "FIELD", "PROBLEM"};
    struct table t;
    table_init(&t, headings, 4, f->arena);
    t.width = TABLE_WIDTH;
    t.narrowest = PROBLEM_WIDTH;
    t.right_aligned = 1u << 1;
    sort(f);
    for (uint32_t i = 0; i < f->count; i++) {
        const struct check_row *finding = &f->items[i];
        table_cell(&t, str_of(severity_names[finding->severity]));
        if (finding->line > 0)
            table_number(&t, finding->line);
        else
            table_cell(&t, STR("-"));
        table_cell(&t, finding->path.n > 0 ? finding->path : STR("-"));
        table_cell(&t, two_lines(f, finding));
    }
    if (f->count > 0 && !table_render(&t, out))
        return false;
    strbuf_appendf(out, "%s%s: ", f->count > 0 ? "\n" : "", file);
    bool first = true;
    for (unsigned s = 0; s < SEVERITY_COUNT; s++)
        if (f->counts[s] > 0) {
            print_count(f->counts[s], severity_names[s], first, out);
            first = false;
        }
    strbuf_appendf(out, "%s\n", first ? "nothing to complain about" : "");
    return !strbuf_failed(out) && !arena_failed(f->arena);
}

bool check_report_print_json(struct check_report *f, const char *file, struct strbuf *out) {
    struct json_writer w = {.out = out};
    sort(f);
    json_begin_object(&w);
    json_put_member(&w, STR("file"), copy_text(f->arena, file));
    json_key(&w, STR("errors"));
    json_put_integer(&w, f->counts[SEVERITY_ERROR]);
    json_key(&w, STR("warnings"));
    json_put_integer(&w, f->counts[SEVERITY_WARNING]);
    json_key(&w, STR("infos"));
    json_put_integer(&w, f->counts[SEVERITY_INFO]);
    json_key(&w, STR("findings"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < f->count; i++) {
        const struct check_row *finding = &f->items[i];
        json_begin_object(&w);
        json_put_member(&w, STR("severity"), str_of(severity_names[finding->severity]));
        json_key(&w, STR("line"));
        if (finding->line > 0)
            json_put_integer(&w, finding->line);
        else
            json_put_null(&w);
        json_put_member(&w, STR("field"), finding->path);
        json_put_member(&w, STR("problem"), finding->problem);
        json_put_member(&w, STR("advice"), finding->advice);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    strbuf_append_char(out, '\n');
    return !strbuf_failed(out) && !arena_failed(f->arena);
}
