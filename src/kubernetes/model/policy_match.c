#include "base/hash.h"
#include "model/fixed_pod.h"
#include "model/policy.h"

#include <stdlib.h>

/* ---- bits and order of policies ---- */

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

/* Returns the bits of the labels that every selected object must have. */
static uint64_t selector_bits(const struct selector *s) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->items[i].op == SELECTOR_IN && s->items[i].value_count == 1)
            bits |= bits_of(s->items[i].key, s->items[i].values[0]);
    return bits;
}

static uint64_t owner_bit(const struct policy_owner *owner) {
    return (uint64_t)1 << (hash_mix(hash_str(owner->group), hash_str(owner->kind)) & 63);
}

static uint64_t owners_bits(const struct policy_owner *owners, uint32_t count) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < count; i++)
        bits |= owner_bit(&owners[i]);
    return bits;
}

void policy_set_bits(struct policy *policy) {
    policy->namespace_bits = selector_bits(&policy->namespaces);
    policy->object_bits = selector_bits(&policy->objects);
    policy->owner_bits = owners_bits(policy->owners, policy->owner_count);
}

bool policy_groups_by(const struct policy_group_by *by, struct str key) {
    for (uint32_t i = 0; i < by->label_count; i++)
        if (str_eq(by->labels[i], key))
            return true;
    return false;
}

bool policy_is_for(const struct policy *policy, enum policy_target target) {
    const struct policy_part_range parts = policy_parts_of(target);
    for (int part = parts.first; part < parts.end; part++)
        if (policy_has(policy, (enum policy_part)part))
            return true;
    return false;
}

/* ---- matching ---- */

struct matching {
    const struct policy_question *question;
    struct policy_part_range parts;     /* the parts to find */
    uint64_t object, namespace, owners; /* bits that the object has */
};

static bool has_owner(const struct policy *p, const struct policy_question *q) {
    for (uint32_t i = 0; i < p->owner_count; i++)
        for (uint32_t j = 0; j < q->owner_count; j++)
            if (str_eq(p->owners[i].kind, q->owners[j].kind) &&
                str_eq(p->owners[i].group, q->owners[j].group))
                return true;
    return p->owner_count == 0;
}

bool policy_has_scheduler(const struct policy *p, struct str scheduler) {
    for (uint32_t i = 0; i < p->scheduler_count; i++)
        if (str_eq(p->schedulers[i], scheduler))
            return true;
    return str_empty(scheduler) ||
           (p->scheduler_count == 0 && str_eq(scheduler, scheduler_of(STR(""))));
}

/* May the policy apply, by opt-out and scheduler? Mode Require ignores an opt-out; if
 * q->any_scheduler is set, also the scheduler. */
static bool is_open(const struct policy *p, const struct policy_question *q) {
    if (p->mode == POLICY_REQUIRE)
        return q->any_scheduler || policy_has_scheduler(p, q->scheduler);
    return !q->opts_out && policy_has_scheduler(p, q->scheduler);
}

/* Checks all conditions but the selectors on the namespace. */
static bool matches_object(const struct matching *m, const struct policy *p) {
    const struct policy_question *q = m->question;
    return (p->object_bits & ~m->object) == 0 && (p->namespace_bits & ~m->namespace) == 0 &&
           (p->owner_bits == 0 || (p->owner_bits & m->owners) != 0) && str_empty(p->problem) &&
           is_open(p, q) && has_owner(p, q) &&
           selector_matches(&p->objects, labels_lookup, q->object_labels) &&
           !(p->excludes_objects &&
             selector_matches(&p->not_objects, labels_lookup, q->object_labels));
}

static bool selects_all(const struct selector *s) {
    return !s->nothing && s->count == 0;
}

/* Returns false if the labels of the namespace are needed and not known. */
static bool matches_namespace(const struct matching *m, const struct policy *p, bool *ret) {
    const struct policy_question *q = m->question;
    *ret = true;
    if (selects_all(&p->namespaces) && !p->excludes_namespaces)
        return true;
    if (q->namespace_lookup == NULL)
        return false;
    *ret = selector_matches(&p->namespaces, q->namespace_lookup, q->namespace_labels) &&
           !(p->excludes_namespaces &&
             selector_matches(&p->not_namespaces, q->namespace_lookup, q->namespace_labels));
    return true;
}

/* Does the policy have a part that no earlier policy has? */
static bool is_wanted(const struct policy *p, struct policy_part_range parts,
                      const struct policy_choice *choice) {
    for (int part = parts.first; part < parts.end; part++)
        if (choice->enforced[part] == NULL && policy_has(p, (enum policy_part)part) &&
            (p->mode != POLICY_AUDIT || choice->audited[part] == NULL))
            return true;
    return false;
}

static void choose(const struct policy *p, struct policy_part_range parts,
                   struct policy_choice *choice) {
    const struct policy **chosen = p->mode == POLICY_AUDIT ? choice->audited : choice->enforced;
    for (int part = parts.first; part < parts.end; part++)
        if (choice->enforced[part] == NULL && chosen[part] == NULL &&
            policy_has(p, (enum policy_part)part))
            chosen[part] = p;
}

static bool is_complete(struct policy_part_range parts, const struct policy_choice *choice) {
    bool complete = true;
    for (int part = parts.first; part < parts.end; part++)
        complete &= choice->enforced[part] != NULL;
    return complete;
}

bool policy_match(const struct policy *policies, uint32_t count,
                  const struct policy_question *question, struct policy_choice *ret) {
    enum { FEW = 16 }; /* matching so few policies takes no longer than hashing the labels */
    struct matching m = {question, policy_parts_of(question->target), UINT64_MAX, UINT64_MAX,
                         owners_bits(question->owners, question->owner_count)};
    struct policy_choice choice = {0};
    bool matches;
    *ret = choice;
    if (count > FEW) {
        m.object = policy_label_bits(question->object_labels);
        m.namespace = question->namespace_bits != 0 ? question->namespace_bits : UINT64_MAX;
    }
    for (uint32_t i = 0; i < count && !is_complete(m.parts, &choice); i++) {
        const struct policy *p = &policies[i];
        if (!matches_object(&m, p) || !is_wanted(p, m.parts, &choice))
            continue;
        if (!matches_namespace(&m, p, &matches))
            return false;
        if (matches)
            choose(p, m.parts, &choice);
    }
    *ret = choice;
    return true;
}
