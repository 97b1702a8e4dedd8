#include "model/affinity.h"

enum { TERMS_SHOWN = 3, REQUIREMENTS_SHOWN = 4, VALUES_SHOWN = 5 };

static const char *const operators[] = {
    [SELECTOR_IN] = "in",      [SELECTOR_NOT_IN] = "not in",
    [SELECTOR_EXISTS] = "set", [SELECTOR_DOES_NOT_EXIST] = "not set",
    [SELECTOR_GT] = ">",       [SELECTOR_LT] = "<",
};

static void print_requirement(const struct requirement *q, struct strbuf *out) {
    strbuf_appendf(out, "%.*s %s", STR_ARG(q->key), operators[q->op]);
    if (q->op == SELECTOR_GT || q->op == SELECTOR_LT)
        strbuf_appendf(out, " %lld", (long long)q->bound);
    for (uint32_t i = 0; i < q->value_count && i < VALUES_SHOWN; i++)
        strbuf_appendf(out, "%s%.*s", i == 0 ? " (" : ", ", STR_ARG(q->values[i]));
    if (q->value_count > 0)
        strbuf_append_str(out, q->value_count > VALUES_SHOWN ? STR(", ...)") : STR(")"));
}

static void print_requirements(const struct requirement *items, uint32_t count, const char *before,
                               struct strbuf *out) {
    for (uint32_t i = 0; i < count && i < REQUIREMENTS_SHOWN; i++) {
        strbuf_append_str(out, str_of(i == 0 ? before : " and "));
        print_requirement(&items[i], out);
    }
    if (count > REQUIREMENTS_SHOWN)
        strbuf_append_str(out, STR(" and more"));
}

void node_affinity_print(const struct node_affinity *affinity, uint32_t terms, struct strbuf *out) {
    for (uint32_t i = 0; i < terms && i < affinity->term_count && i < TERMS_SHOWN; i++) {
        const struct node_selector_term *term = &affinity->terms[i];
        strbuf_append_str(out, i > 0 ? STR(" or ") : STR(""));
        if (term->invalid || term->expression_count + term->field_count == 0)
            strbuf_append_str(out, STR("a term that no node matches"));
        print_requirements(term->expressions, term->expression_count, "", out);
        print_requirements(term->fields, term->field_count,
                           term->expression_count > 0 ? " and " : "", out);
    }
    if (affinity->term_count > TERMS_SHOWN && terms > TERMS_SHOWN)
        strbuf_append_str(out, STR(" or others"));
}
