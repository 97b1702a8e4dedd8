/*
 * Edits the gates. Predicates are ORed, so each predicate needs a gate. A Placement without
 * predicates gets a predicate with only the gate; we remove it when it is no longer needed or the
 * user adds predicates.
 */
#include "admission/placements/edits.h"

#include <errno.h>
#include <stdio.h>

static const struct str spec = {"spec", 4}, predicates = {"predicates", 10},
                        selector = {"requiredClusterSelector", 23}, cel = {"celSelector", 11},
                        expressions = {"celExpressions", 14}, last = {"-", 1};

/* At most one change for each predicate. */
struct changes {
    struct arena *arena;
    struct patch_change *items;
    uint32_t count;
};

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for its predicates");
}

/* ---- the list ---- */

/* Did we make this predicate? If we did, it has only our gates. */
static bool is_made(const struct wanted *wanted, const struct shape_predicate *p) {
    return wanted->kept.made_predicates && p->is_bare && p->ours > 0;
}

static uint32_t count_made(const struct wanted *wanted, const struct placement_shape *s) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->predicate_count; i++)
        count += is_made(wanted, &s->predicates[i]);
    return count;
}

/* Returns the user's own predicates, byte for byte. */
static struct str keep_theirs(const struct wanted *wanted, const struct placement_shape *s,
                              struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    json_begin_array(&w);
    for (uint32_t i = 0; i < s->predicate_count; i++)
        if (!is_made(wanted, &s->predicates[i]))
            json_put_raw(&w, s->predicates[i].text);
    json_end_array(&w);
    return arena_str(arena, strbuf_failed(&out) ? STR("") : strbuf_str(&out));
}

static int put_only_gate(struct patch *patch, struct str gate, struct err *err) {
    static const struct str path[] = {{"spec", 4}, {"predicates", 10}};
    const struct str value = arena_printf(
        patch->arena,
        "[{\"requiredClusterSelector\":{\"celSelector\":{\"celExpressions\":[%.*s]}}}]",
        STR_ARG(gate));
    return str_empty(value) ? no_memory(err) : patch_add(patch, path, 2, value, err);
}

/* Removes the predicate that we made if it is not wanted or not alone. Sets *s to the remaining
 * predicates. */
static int drop_made(const struct placement_question *q, const struct wanted *wanted,
                     struct patch *patch, struct placement_shape *s, struct err *err) {
    static const struct str path[] = {{"spec", 4}, {"predicates", 10}};
    const uint32_t made = count_made(wanted, s);
    int r;
    if (made == 0)
        return 0;
    if (made == s->predicate_count) {
        const struct patch_change change = {PATCH_REMOVE, path, 2, {0}};
        r = patch_apply(patch, &change, 1, err);
    } else {
        const struct str theirs = keep_theirs(wanted, s, q->head.arena);
        r = str_empty(theirs) ? no_memory(err) : patch_add(patch, path, 2, theirs, err);
    }
    return r == 0 ? placement_shape(patch->document, q->head.arena, s, err) : r;
}

/* ---- one predicate ---- */

static void add_change(struct changes *c, enum patch_op op, uint32_t index, uint32_t depth,
                       struct str value) {
    enum { DEEPEST = 6 };
    struct str *path = arena_array(c->arena, DEEPEST, sizeof *path);
    const struct str number = arena_printf(c->arena, "%u", index);
    if (path == NULL)
        return; /* the arena has failed */
    const struct str names[DEEPEST] = {spec, predicates, number, selector, cel, expressions};
    memcpy(path, names, sizeof names);
    c->items[c->count++] = (struct patch_change){op, path, depth, value};
}

/* Returns the user's expressions, and the gate if there is one. */
static struct str write_expressions(const struct shape_predicate *p, struct str gate,
                                    struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    json_begin_array(&w);
    for (uint32_t i = 0; i < p->expression_count; i++)
        if (!p->expressions[i].is_ours)
            json_put_raw(&w, p->expressions[i].text);
    if (!str_empty(gate))
        json_put_raw(&w, gate);
    json_end_array(&w);
    return arena_str(arena, strbuf_failed(&out) ? STR("") : strbuf_str(&out));
}

static void add_gate(struct changes *c, uint32_t index, struct str gate) {
    struct str *path = arena_array(c->arena, 7, sizeof *path);
    const struct str number = arena_printf(c->arena, "%u", index);
    if (path == NULL)
        return; /* the arena has failed */
    const struct str names[] = {spec, predicates, number, selector, cel, expressions, last};
    memcpy(path, names, sizeof names);
    c->items[c->count++] = (struct patch_change){PATCH_ADD, path, 7, gate};
}

static bool has_exactly(const struct shape_predicate *p, struct injected_key key) {
    for (uint32_t i = 0; i < p->expression_count; i++)
        if (p->expressions[i].is_ours)
            return p->ours == 1 && injected_key_eq(p->expressions[i].key, key);
    return false;
}

static void gate_one(const struct wanted *wanted, const struct shape_predicate *p, uint32_t index,
                     struct str gate, struct changes *c) {
    enum { AT_SELECTOR = 5, AT_EXPRESSIONS = 6 };
    if (wanted->gate && p->ours == 0)
        add_gate(c, index, gate);
    else if (wanted->gate && !has_exactly(p, wanted->note.key))
        add_change(c, PATCH_ADD, index, AT_EXPRESSIONS, write_expressions(p, gate, c->arena));
    else if (!wanted->gate && p->ours > 0 && p->ours < p->expression_count)
        add_change(c, PATCH_ADD, index, AT_EXPRESSIONS, write_expressions(p, STR(""), c->arena));
    else if (!wanted->gate && p->ours > 0)
        add_change(c, PATCH_REMOVE, index, p->cel_is_alone ? AT_SELECTOR : AT_EXPRESSIONS, STR(""));
}

/* ---- all predicates ---- */

static int edit_each(const struct placement_question *q, const struct wanted *wanted,
                     const struct placement_shape *s, struct str gate, struct patch *patch,
                     struct err *err) {
    struct changes c = {.arena = q->head.arena,
                        .items = arena_array(q->head.arena, s->predicate_count, sizeof *c.items)};
    if (s->predicate_count == 0)
        return 0;
    if (c.items == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < s->predicate_count; i++)
        gate_one(wanted, &s->predicates[i], i, gate, &c);
    return arena_failed(q->head.arena) ? no_memory(err) : patch_apply(patch, c.items, c.count, err);
}

int edit_predicates(const struct placement_question *q, struct wanted *wanted, struct patch *patch,
                    struct err *err) {
    struct placement_shape s = q->shape;
    const struct str gate = gate_json(wanted->note.key, q->head.arena);
    if (str_empty(gate))
        return no_memory(err);
    const uint32_t made = count_made(wanted, &s);
    wanted->note.made_predicates = wanted->gate && made == s.predicate_count;
    if (wanted->note.made_predicates)
        return s.predicate_count == 1 && has_exactly(&s.predicates[0], wanted->note.key)
                   ? 0
                   : put_only_gate(patch, gate, err);
    int r = drop_made(q, wanted, patch, &s, err);
    return r == 0 ? edit_each(q, wanted, &s, gate, patch, err) : r;
}
