#include "model/selector_problem.h"
#include "ocm/internal.h"

/* ---- compiling ---- */

/* Compiles a selector. Returns 0, with *ret_problem "" or upstream's text, or -E2BIG or -ENOMEM. */
static int compile(const struct label_selector *from, struct arena *arena, struct selector *ret,
                   struct str *ret_problem) {
    int r = selector_compile(from, (struct labels){0}, arena, ret, NULL);
    *ret_problem = STR("");
    if (r != -EINVAL)
        return r;
    *ret_problem = selector_problem(from, arena);
    return arena_failed(arena) ? -ENOMEM : 0;
}

int match_compile(const struct placement_selector *from, struct arena *arena, struct selector *ret,
                  struct str *ret_problem) {
    struct selector labels, claims;
    if (!steps_take(&arena->steps,
                    label_selector_steps(&from->labels) + label_selector_steps(&from->claims)))
        return -E2BIG;
    int r = compile(&from->labels, arena, &labels, ret_problem);
    if (r == 0 && ret_problem->n == 0)
        r = compile(&from->claims, arena, &claims, ret_problem);
    if (r != 0 || ret_problem->n > 0)
        return r;
    struct requirement *items =
        arena_array(arena, (size_t)labels.count + claims.count, sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < labels.count; i++)
        items[i] = labels.items[i];
    for (uint32_t i = 0; i < claims.count; i++) {
        items[labels.count + i] = claims.items[i];
        items[labels.count + i].key = claim_key(claims.items[i].key, arena);
    }
    *ret = (struct selector){.items = items, .count = labels.count + claims.count};
    return arena_failed(arena) ? -ENOMEM : 0;
}

/* ---- matching ---- */

static int make_room(struct deciding *x, uint32_t domains) {
    if (domains <= x->domain_cap)
        return 0;
    x->domain_cap = domains * 2;
    x->of_domain = arena_array_unset(x->arena, x->domain_cap, sizeof *x->of_domain);
    return x->of_domain == NULL ? -ENOMEM : 0;
}

static bool holds(const struct deciding *x, const struct requirement *q,
                  const struct topology_column *column, uint32_t domain) {
    if (domain == TOPOLOGY_NONE)
        return requirement_matches(q, NULL);
    const struct str value = topology_value(&x->view->clusters, column, domain);
    return requirement_matches(q, &value);
}

/* Matches each domain once; if there are fewer slots than domains, matches the domain of each
 * slot. */
static int match_requirement(struct deciding *x, const struct requirement *q, const uint32_t *slots,
                             uint32_t count) {
    struct topology_column column;
    int r = topology_column(&x->view->clusters, q->key, &column);
    if (r == 0)
        r = deciding_steps(x, 1 + (uint64_t)count / 4 +
                                  requirement_cost(q).steps *
                                      (count < column.domains ? count : column.domains));
    if (r == 0)
        r = make_room(x, column.domains);
    if (r != 0)
        return r;
    if (count < column.domains) {
        for (uint32_t i = 0; i < count; i++)
            x->holds[i] = holds(x, q, &column, column.domain_of[slots[i]]);
        return 0;
    }
    const bool without = requirement_matches(q, NULL);
    for (uint32_t domain = 0; domain < column.domains; domain++)
        x->of_domain[domain] =
            topology_domain_used(&column, domain) && holds(x, q, &column, domain);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t domain = column.domain_of[slots[i]];
        x->holds[i] = domain == TOPOLOGY_NONE ? without : x->of_domain[domain];
    }
    return 0;
}

int match_slots(struct deciding *x, const struct selector *s, const uint32_t *slots, uint32_t count,
                uint8_t *flags, uint32_t *causes) {
    if (s->nothing)
        memset(flags, 0, count);
    for (uint32_t q = 0; !s->nothing && q < s->count; q++) {
        int r = match_requirement(x, &s->items[q], slots, count);
        if (r != 0)
            return r;
        for (uint32_t i = 0; i < count; i++) {
            if (causes != NULL && flags[i] != 0 && x->holds[i] == 0)
                causes[i] = q;
            flags[i] &= x->holds[i];
        }
    }
    return 0;
}
