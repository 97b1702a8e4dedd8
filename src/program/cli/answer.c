#include "cli/answer.h"

#include "base/limits.h"
#include "base/sorted.h"
#include "base/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A line shows at most NAMES_SHOWN names. Up to FEW members are searched one by one. */
enum { NAMES_SHOWN = 10, FEW = 16 };

/* ---- reading ---- */

static bool is_container(const struct value *v) {
    return v->kind == JSON_OBJECT || v->kind == JSON_ARRAY;
}

/* Reads the next value, but only the beginning of a container. Returns NULL if memory runs out. */
static struct value *add(struct answer *a, struct value *up, struct str label,
                         struct json_reader *r) {
    struct value *v = arena_alloc(a->arena, sizeof *v);
    if (v == NULL)
        return NULL;
    *v = (struct value){.of = a, .up = up, .kind = json_peek(r), .label = label};
    if (up != NULL)
        v->at = up->count;
    if (v->kind == JSON_STRING)
        v->text = json_string(r);
    else if (v->kind == JSON_NUMBER)
        v->text = json_number_text(r);
    else if (v->kind == JSON_BOOL)
        v->text = json_bool(r) ? STR("true") : STR("false");
    else if (v->kind == JSON_OBJECT)
        (void)json_object(r); /* errors stay in r */
    else if (v->kind == JSON_ARRAY)
        (void)json_array(r);
    else
        (void)json_skip(r);
    if (up == NULL)
        return v;
    if (up->kind == JSON_ARRAY && v->kind == JSON_STRING)
        v->label = v->text;
    *(up->first == NULL ? &up->first : &up->last->next) = v;
    up->last = v;
    up->count++;
    return v;
}

static struct str label_of(const void *labels, size_t i) {
    return ((struct value *const *)labels)[i]->label;
}

/* If labels are equal, the last member is sorted first: it is the member that counts, as in other
 * readers of JSON. */
static int by_label(const void *a, const void *b) {
    const struct value *x = *(struct value *const *)a, *y = *(struct value *const *)b;
    const int order = str_cmp(x->label, y->label);
    return order != 0 ? order : (x->at < y->at) - (x->at > y->at);
}

/* Call when all members of a container have been read: sets its label, and sorts its members. */
static void end_container(struct value *v) {
    if (v->kind == JSON_OBJECT && v->up != NULL && v->up->kind == JSON_ARRAY)
        v->label = value_member(v, STR("name"))->text;
    if (v->count <= FEW || (v->labels = arena_array(v->of->arena, v->count, sizeof v)) == NULL)
        return; /* the members are searched one by one */
    for (struct value *item = v->first; item != NULL; item = item->next)
        v->labels[item->at] = item;
    qsort(v->labels, v->count, sizeof v, by_label);
}

static void read_all(struct answer *a, struct json_reader *r) {
    struct value *at = a->root = add(a, NULL, STR(""), r);
    while (at != NULL) {
        struct str key = STR("");
        const bool more = at->kind == JSON_OBJECT  ? json_member(r, &key)
                          : at->kind == JSON_ARRAY ? json_element(r)
                                                   : false;
        struct value *child = more ? add(a, at, key, r) : NULL;
        if (more && child == NULL)
            return;
        if (!more) {
            end_container(at);
            at = at->up;
        } else if (is_container(child)) {
            at = child;
        }
    }
}

int answer_read(struct answer *ret, struct str json, struct arena *arena, struct err *err) {
    struct json_reader r;
    *ret = (struct answer){.arena = arena, .missing = {.of = ret, .kind = JSON_NULL}};
    json_reader_init(&r, json, arena, "answer");
    if (json_peek(&r) != JSON_OBJECT)
        json_fail(&r, "expected an object");
    else
        read_all(ret, &r);
    return json_finish(&r, err);
}

int answer_check(const struct answer *a, const struct strbuf *out, struct err *err) {
    if (a->error.code != 0)
        return err_set(err, a->error.code, "%s", a->error.text);
    if (arena_failed(a->arena) || strbuf_failed(out))
        return err_set(err, -ENOMEM, "no memory for the answer");
    return 0;
}

/* ---- values ---- */

/* Writes the path of a value: "decisions[3].number". */
static void put_path(const struct value *v, struct strbuf *out) {
    const struct value *path[LIMIT_JSON_DEPTH];
    uint32_t depth = 0;
    for (; v->up != NULL && depth < LIMIT_JSON_DEPTH; v = v->up)
        path[depth++] = v;
    while (depth-- > 0) {
        v = path[depth];
        if (v->up->kind == JSON_ARRAY)
            strbuf_appendf(out, "[%u]", v->at);
        else
            strbuf_appendf(out, ".%.*s", STR_ARG(v->label));
    }
}

static const struct value *refuse(const struct value *v, const char *expected) {
    CLEANUP(strbuf_done) struct strbuf path = {.max = 400}; /* a longer path is cut */
    if (v->of->error.code != 0)
        return &v->of->missing;
    put_path(v, &path);
    (void)err_set(&v->of->error, -EINVAL, "answer%.*s is not %s", STR_ARG(strbuf_str(&path)),
                  expected);
    return &v->of->missing;
}

const struct value *value_member(const struct value *v, struct str name) {
    if (!is_container(v))
        return v->kind == JSON_NULL ? &v->of->missing : refuse(v, "an object");
    if (v->labels != NULL) {
        bool found;
        const size_t at = sorted_place(v->labels, v->count, label_of, name, &found);
        return found ? v->labels[at] : &v->of->missing;
    }
    const struct value *last = &v->of->missing;
    for (const struct value *item = v->first; item != NULL; item = item->next)
        if (str_eq(item->label, name))
            last = item;
    return last;
}

/* Returns the value at which a path begins, and moves *path behind '^' and '<'. */
static const struct value *begin_path(const struct value *v, struct str *path) {
    for (; path->n > 0 && (path->p[0] == '^' || path->p[0] == '<'); path->p++, path->n--)
        v = path->p[0] == '^' ? v->of->root : v->up != NULL ? v->up : &v->of->missing;
    return v;
}

static const struct value *walk(const struct value *item, struct str path) {
    const struct value *v = begin_path(item, &path);
    while (path.n > 0) {
        const size_t dot = str_find(path, '.');
        const struct str name = {path.p, dot < path.n ? dot : path.n};
        v = value_member(v, str_eq(name, STR("@")) ? item->label : name);
        path = dot < path.n ? (struct str){path.p + dot + 1, path.n - dot - 1} : STR("");
    }
    return v;
}

const struct value *value_at(const struct value *v, const char *path) {
    return walk(v, str_of(path));
}

const struct value *value_as(const struct value *v, const char *path, enum json_kind kind) {
    static const char *const names[] = {
        [JSON_BOOL] = "true or false", [JSON_ARRAY] = "a list", [JSON_OBJECT] = "an object"};
    const struct value *list = value_at(v, path);
    return list->kind == kind || list->kind == JSON_NULL ? list : refuse(list, names[kind]);
}

struct str value_text(const struct value *v) {
    if (v->kind != JSON_STRING && v->kind != JSON_NULL)
        (void)refuse(v, "a text"); /* the answer has the error */
    return v->kind == JSON_STRING ? v->text : STR("");
}

int64_t value_number(const struct value *v) {
    int64_t number = 0;
    if (v->kind != JSON_NULL && (v->kind != JSON_NUMBER || !str_to_i64(v->text, &number)))
        (void)refuse(v, "a whole number"); /* the answer has the error */
    return number;
}

static struct str number_text(const struct value *v) {
    (void)value_number(v); /* an error stays in the answer */
    return v->kind == JSON_NUMBER ? v->text : STR("");
}

int64_t value_count(const struct value *v) {
    const int64_t number = value_number(v);
    if (number < 0)
        (void)refuse(v, "0 or more"); /* likewise */
    return number < 0 ? 0 : number;
}

void value_expect(const struct value *v, const struct value_kind *kinds, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (kinds[i].kind == JSON_NUMBER)
            (void)value_count(value_at(v, kinds[i].path)); /* errors stay in the answer */
        else
            (void)value_as(v, kinds[i].path, kinds[i].kind);
}

bool value_holds(const struct value *v) {
    return v->kind == JSON_BOOL     ? str_eq(v->text, STR("true"))
           : v->kind == JSON_NUMBER ? value_number(v) != 0
           : v->kind == JSON_STRING ? v->text.n > 0
                                    : v->count > 0;
}

/* ---- forms ---- */

/* A form that is being filled. */
struct filling {
    const struct value *item;
    struct strbuf *out;
    bool is_cell;
};

static void put(const struct filling *f, struct str text) {
    if (f->is_cell)
        strbuf_append_str(f->out, text);
    else
        table_text(text, f->out);
}

static bool put_names(const struct filling *f, const struct value *list, uint32_t most) {
    list = value_as(list, "", JSON_ARRAY);
    for (const struct value *item = list->first; item != NULL && item->at < most;
         item = item->next) {
        strbuf_append_str(f->out, item->at > 0 ? STR(", ") : STR(""));
        put(f, value_text(item));
    }
    if (list->count > most)
        strbuf_appendf(f->out, " and %u more", list->count - most);
    return list->kind != JSON_NULL;
}

/* Appends the value of a reference, which stands between braces in a template. Returns false if the
 * value is absent. */
static bool put_reference(const struct filling *f, struct str reference) {
    const char sigil = reference.n > 0 ? reference.p[0] : ' ';
    const bool is_text = memchr("#0?!~+,;", sigil, 8) == NULL;
    struct str path = is_text ? reference : (struct str){reference.p + 1, reference.n - 1};
    const size_t equals = str_find(path, '=');
    const struct str word =
        equals < path.n ? (struct str){path.p + equals + 1, path.n - equals - 1} : STR("");
    path.n = equals < path.n ? equals : path.n;
    struct str rest = path;
    const struct value *around = begin_path(f->item, &rest);
    const bool is_label = str_eq(rest, STR("@"));
    const struct value *v = is_label ? around : walk(f->item, path);
    if (word.n > 0)
        return str_eq(v->text, word);
    if (sigil == '?' || sigil == '!')
        return value_holds(v) == (sigil == '?');
    if (sigil == ',' || sigil == ';')
        return put_names(f, v, sigil == ',' ? NAMES_SHOWN : UINT32_MAX);
    if (sigil == '+')
        strbuf_appendf(f->out, "%u", v->count);
    const bool is_number = sigil == '#' || sigil == '0';
    struct str text = sigil == '+' ? STR("")
                      : is_label   ? v->label
                      : is_number  ? number_text(v)
                                   : value_text(v);
    if (sigil == '0' && text.n == 0)
        text = STR("0");
    put(f, text);
    return text.n > 0 || sigil == '~' || sigil == '+';
}

/* Fills the part of the form before the next bracket or '|', and moves *form there. Returns false
 * if a value in this part is absent. */
static bool put_run(const struct filling *f, const char **form) {
    bool present = true;
    while (**form != '\0' && strchr("[|]", **form) == NULL) {
        const size_t n = strcspn(*form, *form[0] == '{' ? "}" : "{[|]");
        if (*form[0] != '{') {
            strbuf_append(f->out, *form, n);
            *form += n;
            continue;
        }
        present = put_reference(f, (struct str){*form + 1, n - 1}) && present;
        *form += n + 1;
    }
    return present;
}

static bool put_form(const struct filling *f, const char *form) {
    bool present = true;
    while (*form != '\0') {
        present = put_run(f, &form) && present;
        for (bool done = false; *form == '[' || *form == '|';) {
            const size_t before = f->out->n;
            form++;
            const bool all = put_run(f, &form);
            if (done || !all)
                f->out->n = before;
            done = done || all;
        }
        if (*form == ']')
            form++;
    }
    return present;
}

void value_say(const struct value *v, const char *form, struct strbuf *out) {
    const struct filling f = {.item = v, .out = out};
    (void)put_form(&f, form); /* an absent value leaves out only itself */
}

struct str value_cell(const struct value *v, const char *form) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct filling f = {.item = v, .out = &text, .is_cell = true};
    return put_form(&f, form) ? arena_str(v->of->arena, strbuf_str(&text)) : STR("");
}

struct str value_join(const struct value *list, const char *form, const char *between) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    for (const struct value *item = list->first; item != NULL; item = item->next) {
        const struct filling f = {.item = item, .out = &text, .is_cell = true};
        strbuf_append_str(&text, item != list->first ? str_of(between) : STR(""));
        (void)put_form(&f, form); /* likewise */
    }
    return arena_str(list->of->arena, strbuf_str(&text));
}

void value_say_each(const struct value *list, const char *form, uint32_t most, struct strbuf *out) {
    for (const struct value *item = list->first; item != NULL && item->at < most; item = item->next)
        value_say(item, form, out);
}

/* Prints the findings that an answer has (findings/findings.h). */
static void say_findings(const struct value *root, struct strbuf *out) {
    value_say_each(value_at(root, "findings"), "note: [{path}: ]{message}[. {remedy}]\n",
                   LIMIT_FINDINGS, out);
    value_say(root, "[note: and {#findingsOmitted} more findings; -o json has none of them\n]",
              out);
}

int answer_print(struct str json, answer_print_fn *print, const void *ctx, struct strbuf *out,
                 struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    struct answer a;
    arena_init(&arena, LIMIT_ANSWER_BYTES);
    int r = answer_read(&a, json, &arena, err);
    if (r != 0)
        return r;
    a.ctx = ctx;
    print(a.root, out);
    say_findings(a.root, out);
    return answer_check(&a, out, err);
}

/* Names in `why` may have control characters. */
int answer_fail(const char *command, const char *why) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    table_text(str_of(why), &text);
    (void)fprintf(stderr, "evenkeel %s: %.*s\n", command, STR_ARG(strbuf_str(&text)));
    return EXIT_FAILURE; /* a failed write to stderr cannot be reported */
}

int answer_put_out(const char *command, const struct strbuf *out) {
    if (strbuf_failed(out))
        return answer_fail(command, "no memory for the answer");
    if (fwrite(out->p, 1, out->n, stdout) != out->n || fflush(stdout) != 0)
        return answer_fail(command, "cannot write to standard output");
    return EXIT_SUCCESS;
}

int answer_write(const char *command, struct strbuf *json, answer_print_fn *print, const void *ctx,
                 const char *note) {
    CLEANUP(strbuf_done) struct strbuf out = {.max = LIMIT_ANSWER_BYTES};
    struct err err;
    if (print == NULL) {
        strbuf_append_char(json, '\n');
        return answer_put_out(command, json);
    }
    if (strbuf_failed(json))
        return answer_fail(command, "no memory for the answer");
    if (answer_print(strbuf_str(json), print, ctx, &out, &err) != 0)
        return answer_fail(command, err.text);
    strbuf_append_str(&out, str_of(note));
    return answer_put_out(command, &out);
}
