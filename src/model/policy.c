#include "model/policy.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what cannot work ---- */

static struct str sentence(struct arena *arena, const char *fmt, ...) PRINTF_LIKE(2, 3);
static struct str sentence(struct arena *arena, const char *fmt, ...) {
    char text[ERR_TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args); /* truncation is fine: it is for people */
    va_end(args);
    return arena_str(arena, str_of(text));
}

static struct str spread_problem(const struct policy *policy, uint32_t at, struct arena *arena) {
    const struct policy_spread *s = &policy->spread[at];
    if (!label_key_valid(s->topology_key))
        return sentence(arena, "spec.spread[%u]: '%.*s' is not a label key, so no node has it", at,
                        STR_ARG(s->topology_key));
    if (!s->hard && s->min_domains > 0)
        return sentence(arena, "spec.spread[%u]: minDomains needs whenUnsatisfiable: DoNotSchedule",
                        at);
    for (uint32_t i = 0; i < at; i++)
        if (policy->spread[i].hard == s->hard &&
            str_eq(policy->spread[i].topology_key, s->topology_key))
            return sentence(arena,
                            "spec.spread[%u]: topologyKey '%.*s' with the same whenUnsatisfiable "
                            "is there already",
                            at, STR_ARG(s->topology_key));
    return (struct str){0};
}

static struct str tier_problem(const struct policy *policy, uint32_t at, struct arena *arena) {
    const struct policy_tier *tier = &policy->tiers[at];
    if (!label_key_valid(tier->topology_key))
        return sentence(arena,
                        "spec.locality.tiers[%u]: '%.*s' is not a label key, so no node has it", at,
                        STR_ARG(tier->topology_key));
    for (uint32_t i = 0; i < at; i++)
        if (str_eq(policy->tiers[i].topology_key, tier->topology_key))
            return sentence(arena, "spec.locality.tiers[%u]: topologyKey '%.*s' is there already",
                            at, STR_ARG(tier->topology_key));
    return (struct str){0};
}

/* Does any value (NULL: none at all) of the key of requirement `at` meet all that is asked of it?
 */
static bool meets_all(const struct selector *s, uint32_t at, const struct str *value) {
    for (uint32_t i = 0; i < s->count; i++)
        if (str_eq(s->items[i].key, s->items[at].key) && !requirement_matches(&s->items[i], value))
            return false;
    return true;
}

/* Of the values that In lists, is there one left? And does nobody ask for a key that must not be?
 */
static bool can_be_met(const struct selector *s, uint32_t at) {
    const struct requirement *q = &s->items[at];
    for (uint32_t i = 0; q->op == SELECTOR_IN && i < q->value_count; i++)
        if (meets_all(s, at, &q->values[i]))
            return true;
    return q->op != SELECTOR_IN && (q->op != SELECTOR_DOES_NOT_EXIST || meets_all(s, at, NULL));
}

static struct str selector_problem(const struct selector *s, const char *field,
                                   struct arena *arena) {
    for (uint32_t i = 0; i < s->count; i++)
        if (!can_be_met(s, i))
            return sentence(arena, "%s: no object can be what is asked of label '%.*s'", field,
                            STR_ARG(s->items[i].key));
    return (struct str){0};
}

struct str policy_problem(const struct policy *policy, struct arena *arena) {
    struct str problem = {0};
    if (policy->targets == 0)
        return STR("spec.targets is empty: the policy is for nothing");
    if (policy->spread_count == 0 && policy->locality == POLICY_LOCALITY_OFF)
        return STR("neither spec.spread nor spec.locality asks for anything");
    problem = selector_problem(&policy->namespaces, "spec.namespaceSelector", arena);
    if (str_empty(problem))
        problem = selector_problem(&policy->objects, "spec.objectSelector", arena);
    for (uint32_t i = 0; str_empty(problem) && i < policy->spread_count; i++)
        problem = spread_problem(policy, i, arena);
    for (uint32_t i = 0; str_empty(problem) && i < policy->tier_count; i++)
        problem = tier_problem(policy, i, arena);
    return problem;
}

/* ---- which one ---- */

static int compare(const void *a, const void *b) {
    const struct policy *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return str_cmp(x->name, y->name);
}

void policies_sort(struct policy *policies, uint32_t count) {
    if (count > 1)
        qsort(policies, count, sizeof *policies, compare);
}

static uint64_t bits_of(struct str key, struct str value) {
    uint64_t hash = hash_mix(hash_str(key), hash_str(value));
    return (uint64_t)1 << (hash & 63) | (uint64_t)1 << (hash >> 6 & 63);
}

uint64_t policy_label_bits(const struct labels *labels) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < labels->count; i++)
        bits |= bits_of(labels->items[i].key, labels->items[i].value);
    return bits;
}

/* Of the labels that it cannot do without. */
static uint64_t selector_bits(const struct selector *s) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->items[i].op == SELECTOR_IN && s->items[i].value_count == 1)
            bits |= bits_of(s->items[i].key, s->items[i].values[0]);
    return bits;
}

void policy_set_bits(struct policy *policy) {
    policy->namespace_bits = selector_bits(&policy->namespaces);
    policy->object_bits = selector_bits(&policy->objects);
}

static bool selects_all(const struct selector *s) {
    return !s->nothing && s->count == 0;
}

const struct policy *policy_match(const struct policy *policies, uint32_t count,
                                  const struct policy_question *question, bool *ret_unknown) {
    enum { FEW = 16 }; /* as soon matched as the labels are hashed */
    uint64_t object = UINT64_MAX, namespace = UINT64_MAX;
    if (count > FEW) {
        object = policy_label_bits(question->object_labels);
        namespace = question->namespace_bits != 0 ? question->namespace_bits : UINT64_MAX;
    }
    *ret_unknown = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct policy *p = &policies[i];
        if ((p->object_bits & ~object) != 0 || (p->namespace_bits & ~namespace) != 0)
            continue;
        if ((p->targets & question->target) == 0 || !str_empty(p->problem) ||
            !selector_matches(&p->objects, labels_lookup, question->object_labels))
            continue;
        if (selects_all(&p->namespaces))
            return p;
        if (question->namespace_lookup == NULL) {
            *ret_unknown = true;
            return NULL;
        }
        if (selector_matches(&p->namespaces, question->namespace_lookup,
                             question->namespace_labels))
            return p;
    }
    return NULL;
}
