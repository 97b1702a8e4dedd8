#include "data/fluid/affinity.h"

#include <errno.h>

const struct str affinity_true = {"true", 4};

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "cannot add node affinity: out of memory");
}

/* ---- requirements of plugins ---- */

struct label_expression affinity_requirement(const char *key, const char *op,
                                             const struct str *value) {
    return (struct label_expression){str_of(key), str_of(op), value, value != NULL};
}

static int make_requirement(const struct label_expression *is, struct fluid_requirement *ret) {
    struct steps no_limit = {0}; /* a plugin's requirement, not a user's, needs no budget */
    ret->is = *is;
    return terms_hash_requirement(is, false, &no_limit, &ret->hash);
}

int affinity_alternative_add(struct fluid_alternative *alternative,
                             const struct label_expression *requirement, struct arena *arena) {
    struct fluid_requirement made;
    if (make_requirement(requirement, &made) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < alternative->count; i++)
        if (hash128_equal(alternative->items[i].hash, made.hash))
            return 0;
    struct fluid_requirement *grown =
        arena_push(arena, alternative->items, alternative->count, &alternative->cap, sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    alternative->items = grown;
    alternative->items[alternative->count++] = made;
    return 0;
}

int affinity_conjunct_add(struct fluid_conjunct *conjunct,
                          const struct fluid_alternative *alternative, struct arena *arena) {
    struct fluid_alternative *grown =
        arena_push(arena, conjunct->items, conjunct->count, &conjunct->cap, sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    conjunct->items = grown;
    conjunct->items[conjunct->count++] = *alternative;
    return 0;
}

int affinity_conjuncts_add(struct fluid_conjuncts *conjuncts, const struct fluid_conjunct *conjunct,
                           struct arena *arena) {
    struct fluid_conjunct *grown =
        arena_push(arena, conjuncts->items, conjuncts->count, &conjuncts->cap, sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    conjuncts->items = grown;
    conjuncts->items[conjuncts->count++] = *conjunct;
    return 0;
}

int affinity_conjuncts_of(struct fluid_conjuncts *conjuncts,
                          const struct label_expression *requirement, struct arena *arena) {
    struct fluid_alternative alternative = {.count = 0};
    struct fluid_conjunct conjunct = {.count = 0};
    int r = affinity_alternative_add(&alternative, requirement, arena);
    if (r == 0)
        r = affinity_conjunct_add(&conjunct, &alternative, arena);
    return r == 0 ? affinity_conjuncts_add(conjuncts, &conjunct, arena) : r;
}

/* ---- terms ---- */

int affinity_begin(struct fluid_edit *e) {
    const struct written_affinity *own = &e->details->affinity;
    struct fluid_term *terms = arena_array(e->arena, own->term_count, sizeof *terms);
    if (terms == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < own->term_count; i++)
        terms[i].own = &own->terms[i];
    e->edits.terms = terms;
    e->edits.term_count = own->term_count;
    return 0;
}

static uint32_t own_count(const struct fluid_term *term) {
    return term->own == NULL ? 0 : term->own->expression_count + term->own->field_count;
}

static bool is_empty(const struct fluid_term *term) {
    return own_count(term) + term->added_count == 0;
}

/* Returns in *ret the term with `more` requirements at its end. Returns 0 or -ENOMEM. */
static int extend(const struct fluid_term *term, const struct fluid_requirement *more,
                  uint32_t count, struct arena *arena, struct fluid_term *ret) {
    struct fluid_requirement *added = arena_array(arena, term->added_count + count, sizeof *added);
    if (added == NULL)
        return -ENOMEM;
    if (term->added_count > 0)
        memcpy(added, term->added, term->added_count * sizeof *added);
    if (count > 0)
        memcpy(added + term->added_count, more, count * sizeof *added);
    *ret = (struct fluid_term){
        .own = term->own, .added = added, .added_count = term->added_count + count};
    return 0;
}

/* Computes the hashes of a term. Returns 0 or -ENOMEM. */
static int hash_term(struct fluid_term *term, struct steps *steps, struct arena *arena) {
    static const struct written_term nothing;
    struct requirement_hashes own;
    if (term->hashes.items != NULL)
        return 0;
    if (terms_hash(term->own != NULL ? term->own : &nothing, steps, arena, &own) != 0)
        return -ENOMEM;
    uint32_t count = own.count + term->added_count;
    struct hash128 *items =
        term->added_count == 0 ? own.items : arena_array(arena, count, sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    if (items != own.items && own.count > 0)
        memcpy(items, own.items, own.count * sizeof *items);
    for (uint32_t i = 0; i < term->added_count; i++)
        items[own.count + i] = term->added[i].hash;
    term->hashes = (struct requirement_hashes){items, count};
    return 0;
}

static void set_required(struct fluid_edit *e, struct fluid_term *terms, uint32_t count) {
    e->edits.requires = true;
    e->edits.terms = terms;
    e->edits.term_count = count;
}

/* ---- the correct merge ---- */

/* The terms of a product, without repeated terms. */
struct product {
    struct fluid_term *terms;
    uint32_t count, cap;
    struct term_set set;
    struct steps *steps;
    struct arena *arena;
    bool is_changed; /* the product differs from the old terms */
};

static int append(struct product *p, const struct fluid_term *term) {
    struct fluid_term *grown = arena_push(p->arena, p->terms, p->count, &p->cap, sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    p->terms = grown;
    p->terms[p->count++] = *term;
    return 0;
}

/* Returns `a AND b` in *ret, without repeated requirements. Returns 0 or -ENOMEM. */
static int conjunction(struct product *p, const struct fluid_term *a,
                       const struct fluid_alternative *b, struct fluid_term *ret) {
    struct fluid_requirement *more = arena_array(p->arena, b->count, sizeof *more);
    uint32_t count = 0;
    if (more == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < b->count; i++)
        if (!terms_have(&a->hashes, b->items[i].hash, p->steps))
            more[count++] = b->items[i];
    return extend(a, more, count, p->arena, ret);
}

/* Appends `a AND b`, unless the product already has that term. Returns 0 or -ENOMEM. */
static int multiply(struct product *p, const struct fluid_term *a,
                    const struct fluid_alternative *b) {
    struct fluid_term term;
    bool is_new;
    if (conjunction(p, a, b, &term) != 0)
        return -ENOMEM;
    struct hash128 *items =
        arena_array(p->arena, a->hashes.count + term.added_count, sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    uint32_t before = a->hashes.count, more = term.added_count - a->added_count;
    if (before > 0)
        memcpy(items, a->hashes.items, before * sizeof *items);
    for (uint32_t i = 0; i < more; i++)
        items[before + i] = term.added[a->added_count + i].hash;
    term.hashes = (struct requirement_hashes){items, before + more};
    if (term_set_add(&p->set, &term.hashes, p->steps, &is_new) != 0)
        return -ENOMEM;
    return is_new ? append(p, &term) : 0;
}

static int multiply_by_all(struct product *p, const struct fluid_term *term,
                           const struct fluid_conjunct *conjunct) {
    p->is_changed = true;
    for (uint32_t i = 0; i < conjunct->count; i++)
        if (!steps_spent(p->steps) && multiply(p, term, &conjunct->items[i]) != 0)
            return -ENOMEM;
    return 0;
}

static bool implies(const struct fluid_term *term, const struct fluid_alternative *alternative,
                    struct steps *steps) {
    for (uint32_t i = 0; i < alternative->count; i++)
        if (!terms_have(&term->hashes, alternative->items[i].hash, steps))
            return false;
    return true;
}

static bool implies_one(const struct fluid_term *term, const struct fluid_conjunct *conjunct,
                        struct steps *steps) {
    for (uint32_t i = 0; i < conjunct->count; i++)
        if (implies(term, &conjunct->items[i], steps))
            return true;
    return false;
}

/* Appends one of the pod's terms, multiplied by the conjunct where needed. Unchanged terms may be
 * equal: the user wrote them. Returns 0 or -ENOMEM. */
static int multiply_term(struct product *p, struct fluid_term *term,
                         const struct fluid_conjunct *conjunct) {
    bool is_new;
    if (hash_term(term, p->steps, p->arena) != 0)
        return -ENOMEM;
    if (!is_empty(term) && !implies_one(term, conjunct, p->steps))
        return multiply_by_all(p, term, conjunct);
    int r = term_set_add(&p->set, &term->hashes, p->steps, &is_new);
    return r == 0 ? append(p, term) : r;
}

static bool is_required(const struct fluid_edit *e) {
    return e->details->affinity.required || e->edits.requires;
}

/* Multiplies all terms. Do not use `p` after the budget is spent. Returns 0 or -ENOMEM. */
static int multiply_terms(struct fluid_edit *e, const struct fluid_conjunct *conjunct,
                          struct product *p) {
    struct fluid_term nothing = {.own = NULL};
    int r = 0;
    if (!is_required(e)) {
        r = hash_term(&nothing, p->steps, p->arena);
        return r == 0 ? multiply_by_all(p, &nothing, conjunct) : r;
    }
    for (uint32_t i = 0; r == 0 && i < e->edits.term_count && !steps_spent(p->steps); i++)
        r = multiply_term(p, &e->edits.terms[i], conjunct);
    return r;
}

static int require_correctly(struct fluid_edit *e, const struct fluid_conjunct *conjunct,
                             struct err *err) {
    struct product p = {.steps = e->steps, .arena = e->arena};
    if (conjunct->count == 0 || (is_required(e) && e->edits.term_count == 0))
        return 0;
    int r = multiply_terms(e, conjunct, &p);
    term_set_done(&p.set);
    if (r != 0)
        return no_memory(err);
    if (steps_spent(e->steps))
        return fluid_too_much(err);
    if (p.count > AFFINITY_TERMS_MAX && p.count > e->edits.term_count)
        return err_set(err, -E2BIG, "cannot add node affinity: %u required terms, at most %d",
                       p.count, AFFINITY_TERMS_MAX);
    if (p.is_changed)
        set_required(e, p.terms, p.count);
    return 0;
}

/* ---- merging like Fluid ---- */

static struct fluid_conjunct flatten(const struct fluid_conjuncts *conjuncts, struct arena *arena) {
    struct fluid_conjunct all = {.count = 0};
    for (uint32_t i = 0; i < conjuncts->count; i++)
        for (uint32_t k = 0; k < conjuncts->items[i].count; k++)
            if (affinity_conjunct_add(&all, &conjuncts->items[i].items[k], arena) != 0)
                break; /* the caller checks the arena */
    return all;
}

/* Adds all requirements to the first term. */
static int merge_legacy(struct fluid_edit *e, const struct fluid_conjunct *injected) {
    struct fluid_term *merged = arena_array(e->arena, e->edits.term_count, sizeof *merged);
    if (merged == NULL)
        return -ENOMEM;
    memcpy(merged, e->edits.terms, e->edits.term_count * sizeof *merged);
    for (uint32_t i = 0; i < injected->count; i++) {
        const struct fluid_alternative *more = &injected->items[i];
        if (extend(&merged[0], more->items, more->count, e->arena, &merged[0]) != 0)
            return -ENOMEM;
    }
    set_required(e, merged, e->edits.term_count);
    return 0;
}

/* Requires the product of `terms` and the alternatives of `injected` that are not empty. */
static int merge_each(struct fluid_edit *e, const struct fluid_term *terms, uint32_t count,
                      const struct fluid_conjunct *injected) {
    struct product p = {.arena = e->arena};
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < injected->count; k++) {
            const struct fluid_alternative *more = &injected->items[k];
            struct fluid_term term;
            if (more->count > 0 &&
                (extend(&terms[i], more->items, more->count, e->arena, &term) != 0 ||
                 append(&p, &term) != 0))
                return -ENOMEM;
        }
    set_required(e, p.terms, p.count);
    return 0;
}

/* Requires the product of the terms that are not empty; if one side has no such term, only the
 * other side. */
static int merge_head(struct fluid_edit *e, const struct fluid_conjunct *injected) {
    static const struct fluid_term nothing;
    struct fluid_term *user = arena_array(e->arena, e->edits.term_count, sizeof *user);
    uint32_t user_count = 0, ours = 0;
    if (user == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < e->edits.term_count; i++)
        if (!is_empty(&e->edits.terms[i]))
            user[user_count++] = e->edits.terms[i];
    for (uint32_t i = 0; i < injected->count; i++)
        ours += injected->items[i].count > 0;
    if (ours == 0)
        return 0;
    return user_count > 0 ? merge_each(e, user, user_count, injected)
                          : merge_each(e, &nothing, 1, injected);
}

/* For a pod without terms: requires the alternatives as they are, empty alternatives too. */
static int set_injected(struct fluid_edit *e, const struct fluid_conjunct *injected) {
    struct fluid_term *terms = arena_array(e->arena, injected->count, sizeof *terms);
    if (terms == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < injected->count; i++)
        terms[i] = (struct fluid_term){.added = injected->items[i].items,
                                       .added_count = injected->items[i].count};
    set_required(e, terms, injected->count);
    return 0;
}

static int require_as_fluid(struct fluid_edit *e, const struct fluid_conjuncts *conjuncts,
                            enum fluid_compat compat, struct err *err) {
    struct fluid_conjunct injected = flatten(conjuncts, e->arena);
    int r = arena_failed(e->arena) ? -ENOMEM : 0;
    if (r == 0 && injected.count == 0)
        return 0;
    if (r == 0 && e->edits.term_count == 0)
        r = set_injected(e, &injected);
    else if (r == 0)
        r = compat == FLUID_LEGACY ? merge_legacy(e, &injected) : merge_head(e, &injected);
    return r == 0 ? 0 : no_memory(err);
}

int affinity_require(struct fluid_edit *e, const struct fluid_conjuncts *conjuncts,
                     enum fluid_compat compat, struct err *err) {
    int r = 0;
    if (compat != FLUID_CORRECT)
        return require_as_fluid(e, conjuncts, compat, err);
    for (uint32_t i = 0; r == 0 && i < conjuncts->count; i++)
        r = require_correctly(e, &conjuncts->items[i], err);
    return r;
}

/* ---- preferences ---- */

/* Sets *ret: is `wanted` the only requirement of this term of the pod? Returns 0 or -ENOMEM. */
static int is_all(const struct written_term *term, const struct fluid_requirement *wanted,
                  struct steps *steps, bool *ret) {
    struct hash128 hash;
    *ret = false;
    if (!steps_take(steps, 1) || term->expression_count != 1 || term->field_count != 0 ||
        !str_eq(term->expressions[0].key, wanted->is.key))
        return 0;
    int r = terms_hash_requirement(&term->expressions[0], false, steps, &hash);
    *ret = r == 0 && hash128_equal(hash, wanted->hash);
    return r;
}

/* Sets *ret: does the pod prefer `wanted` already? Returns 0 or -ENOMEM. */
static int has_preference(struct fluid_edit *e, const struct fluid_requirement *wanted, bool *ret) {
    const struct written_affinity *own = &e->details->affinity;
    int r = 0;
    *ret = false;
    for (uint32_t i = 0; r == 0 && !*ret && i < own->preference_count; i++)
        r = is_all(&own->preferences[i], wanted, e->steps, ret);
    for (uint32_t i = 0; r == 0 && !*ret && i < e->edits.preference_count; i++)
        *ret = hash128_equal(e->edits.preferences[i].requirement.hash, wanted->hash);
    return r;
}

static int add_preference(struct fluid_edit *e, const struct fluid_preference *preference) {
    struct fluid_edits *edits = &e->edits;
    struct fluid_preference *grown =
        arena_push(e->arena, edits->preferences, edits->preference_count, &edits->preference_cap,
                   sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    edits->preferences = grown;
    edits->preferences[edits->preference_count++] = *preference;
    return 0;
}

int affinity_prefer(struct fluid_edit *e, int32_t weight,
                    const struct label_expression *requirement, struct err *err) {
    struct fluid_preference preference = {.weight = weight};
    bool is_there = false;
    int r = make_requirement(requirement, &preference.requirement);
    if (e->compat == FLUID_CORRECT) {
        preference.weight = weight > 100 ? 100 : weight;
        if (r == 0)
            r = has_preference(e, &preference.requirement, &is_there);
        if (r == 0 && (weight < 1 || is_there))
            return 0;
        if (r == 0 && steps_spent(e->steps))
            return fluid_too_much(err);
    }
    if (r == 0)
        r = add_preference(e, &preference);
    return r == 0 ? 0 : no_memory(err);
}
