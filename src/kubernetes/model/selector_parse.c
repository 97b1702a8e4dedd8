/*
 * Parses selector strings of list and watch requests. A word is a run of characters other than
 * blanks and operator characters. `in` and `notin` are operators only where an operator must stand,
 * so `in` and `notin` may also be keys.
 */
#include "model/selector.h"

#include <errno.h>
#include <stdlib.h>

struct parser {
    struct str rest;
    struct arena *arena;
};

static bool is_special(char c) {
    return c != '\0' && strchr("=!(),<> \t\r\n", c) != NULL;
}

/* Returns the next word without consuming it; the word is empty before an operator and at the end.
 */
static struct str word(struct parser *p) {
    p->rest = str_trim(p->rest);
    size_t n = 0;
    while (n < p->rest.n && !is_special(p->rest.p[n]))
        n++;
    return (struct str){p->rest.p, n};
}

static struct str take_word(struct parser *p) {
    struct str w = word(p);
    p->rest = (struct str){p->rest.p + w.n, p->rest.n - w.n};
    return w;
}

static bool take(struct parser *p, struct str token) {
    p->rest = str_trim(p->rest);
    if (!str_has_prefix(p->rest, token))
        return false;
    p->rest = (struct str){p->rest.p + token.n, p->rest.n - token.n};
    return true;
}

/* Reads "(v, v, ...)"; nothing between two commas means the empty value. */
static int value_list(struct parser *p, struct label_expression *e, struct err *err) {
    struct str *values = NULL;
    uint32_t count = 0, cap = 0;
    if (!take(p, STR("(")))
        return err_set(err, -EINVAL, "expected '(' after '%.*s'", STR_ARG(e->key));
    do {
        if (count == LIMIT_SELECTOR_VALUES)
            return err_set(err, -EINVAL, "more than %d values", LIMIT_SELECTOR_VALUES);
        values = arena_push(p->arena, values, count, &cap, sizeof *values);
        if (values == NULL)
            return err_set(err, -ENOMEM, "no memory for a selector");
        values[count++] = take_word(p);
    } while (take(p, STR(",")));
    if (!take(p, STR(")")))
        return err_set(err, -EINVAL, "expected ')' after the values of '%.*s'", STR_ARG(e->key));
    e->values = values;
    e->value_count = count;
    return 0;
}

static int one_value(struct parser *p, struct label_expression *e, struct err *err) {
    struct str *value = arena_alloc(p->arena, sizeof *value);
    if (value == NULL)
        return err_set(err, -ENOMEM, "no memory for a selector");
    *value = take_word(p);
    e->values = value;
    e->value_count = 1;
    return 0;
}

static int expression(struct parser *p, struct label_expression *e, struct err *err) {
    static const struct {
        struct str token, op;
    } operators[] = {
        {{"==", 2}, {"In", 2}}, {{"=", 1}, {"In", 2}}, {{"!=", 2}, {"NotIn", 5}},
        {{">", 1}, {"Gt", 2}},  {{"<", 1}, {"Lt", 2}},
    };
    bool negated = take(p, STR("!"));
    e->key = take_word(p);
    if (e->key.n == 0)
        return err_set(err, -EINVAL, "expected a label key before '%.*s'", STR_ARG(p->rest));
    e->op = negated ? STR("DoesNotExist") : STR("Exists");
    if (negated)
        return 0;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (take(p, operators[i].token)) {
            e->op = operators[i].op;
            return one_value(p, e, err);
        }
    bool in = str_eq(word(p), STR("in")), notin = str_eq(word(p), STR("notin"));
    if (!in && !notin)
        return 0;
    (void)take_word(p); /* the operator just seen */
    e->op = in ? STR("In") : STR("NotIn");
    return value_list(p, e, err);
}

int selector_parse(struct str text, struct arena *arena, struct selector *ret, struct err *err) {
    struct parser p = {text, arena};
    struct requirement *items = NULL;
    uint32_t count = 0, cap = 0;
    bool more = str_trim(text).n > 0;
    while (more) {
        struct label_expression e = {0};
        if (count == LIMIT_SELECTOR_REQUIREMENTS)
            return err_set(err, -EINVAL, "more than %d requirements", LIMIT_SELECTOR_REQUIREMENTS);
        items = arena_push(arena, items, count, &cap, sizeof *items);
        if (items == NULL)
            return err_set(err, -ENOMEM, "no memory for a selector");
        int r = expression(&p, &e, err);
        if (r == 0)
            r = requirement_compile(&e, true, arena, &items[count++], err);
        if (r != 0)
            return err_wrap(err, "cannot parse selector '%.*s'", STR_ARG(text));
        more = take(&p, STR(","));
    }
    p.rest = str_trim(p.rest);
    if (p.rest.n > 0)
        return err_set(err, -EINVAL, "cannot parse selector '%.*s': unexpected '%.*s'",
                       STR_ARG(text), STR_ARG(p.rest));
    selector_canonicalize(items, count, ret);
    return 0;
}
