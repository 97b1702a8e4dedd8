#include "model/affinity.h"

#include "base/json_fields.h"

#include <errno.h>

static int field_compile(const struct label_expression *from, struct arena *arena,
                         struct requirement *ret) {
    struct requirement q = {.key = from->key, .value_count = 1};
    if (str_eq(from->op, STR("In")))
        q.op = SELECTOR_IN;
    else if (str_eq(from->op, STR("NotIn")))
        q.op = SELECTOR_NOT_IN;
    else
        return -EINVAL;
    if (from->value_count != 1)
        return -EINVAL;
    struct str *value = arena_alloc(arena, sizeof *value);
    if (value == NULL)
        return -ENOMEM;
    *value = from->values[0];
    q.values = value;
    *ret = q;
    return 0;
}

/* Compiles expressions. If one does not parse, the whole term is invalid, as upstream. */
static const struct requirement *compile_all(const struct label_expression *from, uint32_t count,
                                             bool fields, struct arena *arena,
                                             struct node_selector_term *term) {
    struct requirement *items = arena_array(arena, count, sizeof *items);
    for (uint32_t i = 0; items != NULL && i < count; i++) {
        int failed = fields ? field_compile(&from[i], arena, &items[i])
                            : requirement_compile(&from[i], true, arena, &items[i], NULL);
        if (failed != 0)
            term->invalid = true;
    }
    return items;
}

void node_selector_term_compile(const struct label_expression *from, uint32_t count, bool fields,
                                struct arena *arena, struct node_selector_term *term) {
    const struct requirement *items = compile_all(from, count, fields, arena, term);
    if (items == NULL)
        count = 0; /* the arena has failed */
    *(fields ? &term->fields : &term->expressions) = items;
    *(fields ? &term->field_count : &term->expression_count) = count;
    *(fields ? &term->written_fields : &term->written) = from;
}

static void expressions_decode(struct json_reader *r, bool fields,
                               struct node_selector_term *term) {
    uint32_t count;
    const struct label_expression *from = label_expressions_decode(r, &count);
    if (!json_failed(r) && !arena_failed(r->arena))
        node_selector_term_compile(from, count, fields, r->arena, term);
}

static void term_decode(struct json_reader *r, void *into) {
    struct node_selector_term *term = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("matchExpressions")))
            expressions_decode(r, false, term);
        else if (str_eq(key, STR("matchFields")))
            expressions_decode(r, true, term);
    }
}

void node_selector_decode(struct json_reader *r, struct node_affinity *affinity) {
    struct str key;
    if (!json_object(r))
        return;
    affinity->required = true;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("nodeSelectorTerms")))
            affinity->terms = json_array_of(r, sizeof(struct node_selector_term), UINT32_MAX,
                                            term_decode, &affinity->term_count);
    }
}

/* Reads only member `name` of the next object, by calling `inside`, and skips the other members. */
static void only_member(struct json_reader *r, struct str name,
                        void (*inside)(struct json_reader *, struct node_affinity *),
                        struct node_affinity *affinity) {
    struct str key;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, name))
                inside(r, affinity);
        }
}

static void preferred_decode(struct json_reader *r, void *into) {
    struct preferred_term *preferred = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("weight")))
            preferred->weight = json_integer(r, INT32_MIN, INT32_MAX);
        else if (str_eq(key, STR("preference")))
            term_decode(r, &preferred->term);
    }
}

void node_affinity_decode_all(struct json_reader *r, struct node_affinity *affinity) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("requiredDuringSchedulingIgnoredDuringExecution")))
            node_selector_decode(r, affinity);
        else if (str_eq(key, STR("preferredDuringSchedulingIgnoredDuringExecution")))
            affinity->preferred = json_array_of(r, sizeof *affinity->preferred, UINT32_MAX,
                                                preferred_decode, &affinity->preferred_count);
    }
}

void node_affinity_decode(struct json_reader *r, struct node_affinity *affinity) {
    only_member(r, STR("requiredDuringSchedulingIgnoredDuringExecution"), node_selector_decode,
                affinity);
}

/* For a volume's terms, upstream compares only the labels of a node, and ignores matchFields: so a
 * term that has only matchFields matches every node. */
void volume_affinity_decode(struct json_reader *r, struct node_affinity *affinity) {
    static const struct str no_node[] = {{"-", 1}};
    static const struct requirement any_node[] = {
        {{"metadata.name", sizeof "metadata.name" - 1}, SELECTOR_NOT_IN, no_node, 1, 0}};
    only_member(r, STR("required"), node_selector_decode, affinity);
    struct node_selector_term *terms = arena_array(r->arena, affinity->term_count, sizeof *terms);
    for (uint32_t i = 0; terms != NULL && i < affinity->term_count; i++) {
        terms[i] = affinity->terms[i];
        if (terms[i].field_count == 0)
            continue;
        terms[i].field_count = terms[i].expression_count == 0;
        terms[i].fields = any_node;
    }
    affinity->terms = terms;
}

void affinity_decode(struct json_reader *r, struct node_affinity *affinity) {
    only_member(r, STR("nodeAffinity"), node_affinity_decode, affinity);
}

static bool matches_nothing(const struct node_selector_term *term) {
    return term->invalid || (term->expression_count == 0 && term->field_count == 0);
}

static bool term_matches(const struct node_selector_term *term, struct str node_name,
                         label_lookup_fn *lookup, const void *labels) {
    if (matches_nothing(term))
        return false;
    for (uint32_t i = 0; i < term->expression_count; i++) {
        struct str value;
        bool has = lookup(labels, term->expressions[i].key, &value);
        if (!requirement_matches(&term->expressions[i], has ? &value : NULL))
            return false;
    }
    for (uint32_t i = 0; i < term->field_count; i++) {
        /* a field that nodes do not have counts as the empty string */
        bool is_name = str_eq(term->fields[i].key, STR("metadata.name"));
        struct str value = is_name ? node_name : (struct str){0};
        if (!requirement_matches(&term->fields[i], &value))
            return false;
    }
    return true;
}

bool node_affinity_matches(const struct node_affinity *affinity, struct str node_name,
                           label_lookup_fn *lookup, const void *labels) {
    for (uint32_t i = 0; i < affinity->node_selector.count; i++) {
        struct str value;
        if (!lookup(labels, affinity->node_selector.items[i].key, &value) ||
            !str_eq(value, affinity->node_selector.items[i].value))
            return false;
    }
    if (!affinity->required)
        return true;
    for (uint32_t i = 0; i < affinity->term_count; i++)
        if (term_matches(&affinity->terms[i], node_name, lookup, labels))
            return true;
    return false;
}

/* Returns the name that a node must have for this term; NULL: any name. */
static const struct str *named_node(const struct node_selector_term *term) {
    for (uint32_t i = 0; i < term->field_count; i++)
        if (str_eq(term->fields[i].key, STR("metadata.name")) && term->fields[i].op == SELECTOR_IN)
            return &term->fields[i].values[0]; /* a valid term has exactly one value here */
    return NULL;
}

bool node_affinity_names_node(const struct node_affinity *affinity) {
    const struct str *only = NULL;
    for (uint32_t i = 0; i < affinity->term_count; i++) {
        if (matches_nothing(&affinity->terms[i]))
            continue;
        const struct str *name = named_node(&affinity->terms[i]);
        if (name == NULL || (only != NULL && !str_eq(*name, *only)))
            return false;
        only = name;
    }
    return only != NULL;
}

/* ---- comparing ---- */

/* Are the requirements equal? Takes one step, and one more step for each four values that may be
 * compared. */
static bool same(const struct requirement *a, const struct requirement *b, struct steps *steps) {
    uint32_t values = a->value_count < b->value_count ? a->value_count : b->value_count;
    return steps_take(steps, 1 + values / 4) && requirement_eq(a, b);
}

static bool has_all(const struct requirement *items, uint32_t count,
                    const struct requirement *wanted, uint32_t wanted_count, struct steps *steps) {
    uint32_t at = 0; /* where the search for the next requirement begins */
    for (uint32_t w = 0; w < wanted_count; w++) {
        uint32_t tried = 0;
        while (tried < count && !steps_spent(steps) &&
               !same(&items[(at + tried) % count], &wanted[w], steps))
            tried++;
        if (tried == count || steps_spent(steps))
            return false;
        at = (at + tried) % count;
    }
    return true;
}

static bool term_implies(const struct node_selector_term *now,
                         const struct node_selector_term *before, struct steps *steps) {
    return steps_take(steps, 1) && !matches_nothing(before) &&
           has_all(now->expressions, now->expression_count, before->expressions,
                   before->expression_count, steps) &&
           has_all(now->fields, now->field_count, before->fields, before->field_count, steps);
}

bool node_affinity_implies(const struct node_affinity *now, const struct node_affinity *before,
                           struct steps *steps) {
    uint32_t at = 0; /* the term of `before` at which the search begins */
    if (!before->required || !now->required)
        return !before->required;
    for (uint32_t i = 0; i < now->term_count; i++) {
        uint32_t tried = 0;
        if (matches_nothing(&now->terms[i]))
            continue;
        while (
            tried < before->term_count && !steps_spent(steps) &&
            !term_implies(&now->terms[i], &before->terms[(at + tried) % before->term_count], steps))
            tried++;
        if (tried == before->term_count || steps_spent(steps))
            return false;
        at = (at + tried) % before->term_count;
    }
    return true;
}

bool node_affinity_invalid(const struct node_affinity *affinity) {
    for (uint32_t i = 0; i < affinity->term_count; i++)
        if (affinity->terms[i].invalid)
            return true;
    return false;
}

/* Does a preference with a weight other than 0 not parse? Then kube-scheduler cannot score.
 * upstream: component-helpers NewPreferredSchedulingTerms() */
static bool preference_is_invalid(const struct node_affinity *affinity) {
    for (uint32_t i = 0; i < affinity->preferred_count; i++)
        if (affinity->preferred[i].weight != 0 && affinity->preferred[i].term.invalid)
            return true;
    return false;
}

void added_affinity_decode(struct json_reader *r, struct node_affinity *affinity) {
    node_affinity_decode_all(r, affinity);
    if (!json_failed(r) && (node_affinity_invalid(affinity) || preference_is_invalid(affinity)))
        json_fail(r, "it has a term that does not parse");
}

/* ---- keys and copies ---- */

static void requirements_key(const struct requirement *items, uint32_t count, struct strbuf *out) {
    strbuf_append(out, &count, sizeof count);
    for (uint32_t i = 0; i < count; i++)
        requirement_key(&items[i], out);
}

void node_affinity_key(const struct node_affinity *affinity, struct strbuf *out) {
    strbuf_append(out, &affinity->node_selector.count, sizeof affinity->node_selector.count);
    for (uint32_t i = 0; i < affinity->node_selector.count; i++) {
        key_append(out, affinity->node_selector.items[i].key);
        key_append(out, affinity->node_selector.items[i].value);
    }
    strbuf_append_char(out, affinity->required ? '1' : '0');
    strbuf_append(out, &affinity->term_count, sizeof affinity->term_count);
    for (uint32_t i = 0; i < affinity->term_count; i++) {
        strbuf_append_char(out, affinity->terms[i].invalid ? '1' : '0');
        if (affinity->terms[i].invalid)
            continue;
        requirements_key(affinity->terms[i].expressions, affinity->terms[i].expression_count, out);
        requirements_key(affinity->terms[i].fields, affinity->terms[i].field_count, out);
    }
}

static void add_requirements(struct cost *sum, const struct requirement *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        cost_add(sum, requirement_cost(&items[i]));
}

struct cost node_affinity_cost(const struct node_affinity *affinity) {
    struct cost sum = {1, sizeof *affinity};
    for (uint32_t i = 0; i < affinity->node_selector.count; i++) {
        cost_add(&sum, (struct cost){1, sizeof *affinity->node_selector.items});
        cost_add(&sum, text_cost(affinity->node_selector.items[i].key));
        cost_add(&sum, text_cost(affinity->node_selector.items[i].value));
    }
    for (uint32_t i = 0; i < affinity->term_count; i++) {
        const struct node_selector_term *term = &affinity->terms[i];
        cost_add(&sum, (struct cost){1, sizeof *term});
        if (term->invalid)
            continue;
        add_requirements(&sum, term->expressions, term->expression_count);
        add_requirements(&sum, term->fields, term->field_count);
    }
    return sum;
}

static const struct requirement *requirements_copy(const struct requirement *from, uint32_t count,
                                                   struct arena *arena) {
    struct requirement *items = arena_array(arena, count, sizeof *items);
    for (uint32_t i = 0; items != NULL && i < count; i++)
        if (requirement_copy(&from[i], arena, &items[i]) != 0)
            return NULL;
    return items;
}

int node_affinity_copy(const struct node_affinity *from, struct arena *arena,
                       struct node_affinity *ret) {
    *ret = *from;
    struct label *pairs = arena_array(arena, from->node_selector.count, sizeof *pairs);
    struct node_selector_term *terms = arena_array(arena, from->term_count, sizeof *terms);
    if (pairs == NULL || terms == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->node_selector.count; i++)
        pairs[i] = (struct label){arena_str(arena, from->node_selector.items[i].key),
                                  arena_str(arena, from->node_selector.items[i].value)};
    for (uint32_t i = 0; i < from->term_count; i++) {
        terms[i] = (struct node_selector_term){.invalid = from->terms[i].invalid};
        if (terms[i].invalid)
            continue;
        terms[i].expressions =
            requirements_copy(from->terms[i].expressions, from->terms[i].expression_count, arena);
        terms[i].expression_count = from->terms[i].expression_count;
        terms[i].fields =
            requirements_copy(from->terms[i].fields, from->terms[i].field_count, arena);
        terms[i].field_count = from->terms[i].field_count;
    }
    ret->node_selector.items = pairs;
    ret->terms = terms;
    ret->preferred = NULL; /* matching does not use them */
    ret->preferred_count = 0;
    return arena_failed(arena) ? -ENOMEM : 0;
}
