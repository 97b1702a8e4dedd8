#include "data/fluid/affinity.h"

#include "data/fluid/terms.h"

#include <errno.h>
#include <stdlib.h>

/* ---- requirements and terms ---- */

cJSON *affinity_requirement(const char *key, const char *op, const char *value) {
    CLEANUP(doc_free) cJSON *made = cJSON_CreateObject();
    cJSON *values;
    if (made == NULL || doc_set(made, "key", cJSON_CreateString(key)) != 0 ||
        doc_set(made, "operator", cJSON_CreateString(op)) != 0)
        return NULL;
    if (value != NULL && (doc_need_array(made, "values", &values, NULL) != 0 ||
                          doc_push(values, cJSON_CreateString(value)) != 0))
        return NULL;
    cJSON *ready = made;
    made = NULL;
    return ready;
}

static bool is_empty(const cJSON *term) {
    return cJSON_GetArraySize(doc_array(term, "matchExpressions")) == 0 &&
           cJSON_GetArraySize(doc_array(term, "matchFields")) == 0;
}

int affinity_term_add(cJSON *term, cJSON *requirement) {
    cJSON *list;
    struct steps no_limit = {0}; /* it is a term of ours */
    if (requirement != NULL &&
        terms_have(doc_array(term, "matchExpressions"), requirement, &no_limit)) {
        cJSON_Delete(requirement);
        return 0;
    }
    if (requirement == NULL || doc_need_array(term, "matchExpressions", &list, NULL) != 0) {
        cJSON_Delete(requirement);
        return -ENOMEM;
    }
    return doc_push(list, requirement);
}

int affinity_conjunct_add(cJSON *conjuncts, cJSON *term) {
    CLEANUP(doc_free) cJSON *conjunct = cJSON_CreateArray();
    if (conjunct == NULL) {
        cJSON_Delete(term);
        return -ENOMEM;
    }
    if (doc_push(conjunct, term) != 0)
        return -ENOMEM;
    cJSON *ready = conjunct;
    conjunct = NULL;
    return doc_push(conjuncts, ready);
}

int affinity_conjunct_of(cJSON *conjuncts, cJSON *requirement) {
    CLEANUP(doc_free) cJSON *term = cJSON_CreateObject();
    if (affinity_term_add(term, requirement) != 0)
        return -ENOMEM;
    cJSON *ready = term;
    term = NULL;
    return affinity_conjunct_add(conjuncts, ready);
}

/* Appends copies of one list of `from` to that of `to`; unless `unique` is NULL, which counts the
 * steps, only those that are not there. */
static int append_list(cJSON *to, const cJSON *from, const char *name, struct steps *unique) {
    cJSON *list;
    const cJSON *items = doc_array(from, name), *item;
    if (cJSON_GetArraySize(items) == 0)
        return 0;
    if (doc_need_array(to, name, &list, NULL) != 0)
        return -ENOMEM;
    cJSON_ArrayForEach(item, items) {
        if (!(unique != NULL && terms_have(list, item, unique)) &&
            doc_push(list, cJSON_Duplicate(item, true)) != 0)
            return -ENOMEM;
    }
    return 0;
}

/* `a AND b`; unless `unique` is NULL, without a requirement that is there twice. NULL when out of
 * memory. Owned by the caller. */
static cJSON *conjunction(const cJSON *a, const cJSON *b, struct steps *unique) {
    cJSON *term = cJSON_Duplicate(a, true);
    if (term == NULL || append_list(term, b, "matchExpressions", unique) != 0 ||
        append_list(term, b, "matchFields", unique) != 0) {
        cJSON_Delete(term);
        return NULL;
    }
    return term;
}

/* Terms of a product, each of them once. */
struct product {
    cJSON *terms;
    struct term_set set;
    struct steps *steps;
};

/* Appends `a AND b`, unless it is there. 0 or -ENOMEM. */
static int multiply(struct product *p, const cJSON *a, const cJSON *b) {
    CLEANUP(doc_free) cJSON *term = conjunction(a, b, p->steps);
    bool is_new;
    if (term == NULL || term_set_add(&p->set, term, p->steps, &is_new) != 0)
        return -ENOMEM;
    if (!is_new)
        return 0;
    cJSON *ready = term;
    term = NULL;
    return doc_push(p->terms, ready);
}

/* ---- what a pod has ---- */

const cJSON *affinity_of(const cJSON *pod) {
    return doc_object(doc_object(doc_object(pod, "spec"), "affinity"), "nodeAffinity");
}

const cJSON *affinity_required_terms(const cJSON *node_affinity) {
    return doc_array(doc_object(node_affinity, AFFINITY_REQUIRED), "nodeSelectorTerms");
}

const cJSON *affinity_preferred_terms(const cJSON *node_affinity) {
    return doc_array(node_affinity, AFFINITY_PREFERRED);
}

static int need_affinity(struct fluid_edit *e, cJSON **ret, struct err *err) {
    cJSON *spec, *affinity;
    int r = doc_need_object(e->pod, "spec", &spec, err);
    if (r == 0)
        r = doc_need_object(spec, "affinity", &affinity, err);
    return r == 0 ? doc_need_object(affinity, "nodeAffinity", ret, err) : r;
}

/* Puts a list of terms (taken) in place of the required ones. */
static int set_required(struct fluid_edit *e, cJSON *terms, struct err *err) {
    cJSON *affinity, *required;
    int r = terms == NULL ? -ENOMEM : need_affinity(e, &affinity, err);
    if (r == 0)
        r = doc_need_object(affinity, AFFINITY_REQUIRED, &required, err);
    if (r != 0) {
        cJSON_Delete(terms);
        return r == -ENOMEM ? err_set(err, r, "cannot add node affinity: out of memory") : r;
    }
    if (doc_set(required, "nodeSelectorTerms", terms) != 0)
        return err_set(err, -ENOMEM, "cannot add node affinity: out of memory");
    return 0;
}

/* ---- the correct merge ---- */

static bool implies_one(const cJSON *term, const cJSON *alternatives, struct steps *steps) {
    const cJSON *alternative;
    cJSON_ArrayForEach(alternative, alternatives) {
        if (terms_imply(term, alternative, steps))
            return true;
    }
    return false;
}

static int multiply_by_all(struct product *p, const cJSON *term, const cJSON *alternatives) {
    const cJSON *alternative;
    cJSON_ArrayForEach(alternative, alternatives) {
        if (!steps_spent(p->steps) && multiply(p, term, alternative) != 0)
            return -ENOMEM;
    }
    return 0;
}

/* Appends what one of the pod's terms becomes. Terms that stay as they are may be equal: they are
 * the user's. 0 or -ENOMEM. */
static int multiply_term(struct product *p, const cJSON *term, const cJSON *alternatives) {
    bool is_new;
    if (is_empty(term) || implies_one(term, alternatives, p->steps)) {
        int r = term_set_add(&p->set, term, p->steps, &is_new);
        return r == 0 ? doc_push(p->terms, cJSON_Duplicate(term, true)) : r;
    }
    return multiply_by_all(p, term, alternatives);
}

/* NULL when out of memory; what it returns once the budget is spent is of no use. */
static cJSON *product(const cJSON *terms, const cJSON *alternatives, struct steps *steps) {
    CLEANUP(doc_free) cJSON *nothing = cJSON_CreateObject();
    struct product p = {.terms = cJSON_CreateArray(), .steps = steps};
    const cJSON *term;
    int r = p.terms == NULL || nothing == NULL ? -ENOMEM : 0;
    if (r == 0 && terms == NULL)
        r = multiply_by_all(&p, nothing, alternatives);
    cJSON_ArrayForEach(term, terms) {
        if (r == 0 && !steps_spent(steps))
            r = multiply_term(&p, term, alternatives);
    }
    term_set_done(&p.set);
    if (r == 0)
        return p.terms;
    cJSON_Delete(p.terms);
    return NULL;
}

static int require_correctly(struct fluid_edit *e, const cJSON *alternatives, struct err *err) {
    const cJSON *required = doc_object(affinity_of(e->pod), AFFINITY_REQUIRED);
    const cJSON *terms = affinity_required_terms(affinity_of(e->pod));
    if (cJSON_GetArraySize(alternatives) == 0 ||
        (required != NULL && cJSON_GetArraySize(terms) == 0))
        return 0;
    cJSON *merged = product(terms, alternatives, &e->steps);
    int count = cJSON_GetArraySize(merged);
    if (steps_spent(&e->steps)) {
        cJSON_Delete(merged);
        return fluid_too_much(err);
    }
    if (count > AFFINITY_TERMS_MAX && count > cJSON_GetArraySize(terms)) {
        cJSON_Delete(merged);
        return err_set(err, -E2BIG, "cannot add node affinity: %d required terms, at most %d",
                       count, AFFINITY_TERMS_MAX);
    }
    if (cJSON_Compare(merged, terms, true)) { /* so that nothing is edited for nothing */
        cJSON_Delete(merged);
        return 0;
    }
    return set_required(e, merged, err);
}

/* ---- as Fluid does it ---- */

static cJSON *flatten(const cJSON *conjuncts) {
    CLEANUP(doc_free) cJSON *all = cJSON_CreateArray();
    const cJSON *conjunct, *term;
    if (all == NULL)
        return NULL;
    cJSON_ArrayForEach(conjunct, conjuncts) {
        cJSON_ArrayForEach(term, conjunct) {
            if (doc_push(all, cJSON_Duplicate(term, true)) != 0)
                return NULL;
        }
    }
    cJSON *ready = all;
    all = NULL;
    return ready;
}

/* All requirements into the first term; fields are forgotten. */
static cJSON *merge_legacy(const cJSON *terms, const cJSON *injected) {
    cJSON *merged = cJSON_Duplicate(terms, true), *first = cJSON_GetArrayItem(merged, 0);
    const cJSON *term;
    cJSON_ArrayForEach(term, injected) {
        if (first == NULL || append_list(first, term, "matchExpressions", NULL) != 0) {
            cJSON_Delete(merged);
            return NULL;
        }
    }
    return merged;
}

/* The product of the terms that are not empty; where a side has only empty ones, the other. */
static cJSON *merge_head(const cJSON *terms, const cJSON *injected) {
    CLEANUP(doc_free) cJSON *out = cJSON_CreateArray();
    CLEANUP(doc_free) cJSON *nothing = cJSON_CreateObject();
    const cJSON *a, *b;
    bool user = false, ours = false;
    cJSON_ArrayForEach(a, terms) user = user || !is_empty(a);
    cJSON_ArrayForEach(b, injected) ours = ours || !is_empty(b);
    if (out == NULL || nothing == NULL)
        return NULL;
    if (!ours)
        return cJSON_Duplicate(terms, true);
    cJSON_ArrayForEach(a, terms) {
        if (user && is_empty(a))
            continue;
        cJSON_ArrayForEach(b, injected) {
            if (!is_empty(b) && doc_push(out, conjunction(user ? a : nothing, b, NULL)) != 0)
                return NULL;
        }
        if (!user)
            break;
    }
    cJSON *ready = out;
    out = NULL;
    return ready;
}

static int require_as_fluid(struct fluid_edit *e, const cJSON *conjuncts, enum fluid_compat compat,
                            struct err *err) {
    CLEANUP(doc_free) cJSON *injected = flatten(conjuncts);
    const cJSON *terms = affinity_required_terms(affinity_of(e->pod));
    if (injected == NULL)
        return err_set(err, -ENOMEM, "cannot add node affinity: out of memory");
    if (cJSON_GetArraySize(injected) == 0)
        return 0;
    if (cJSON_GetArraySize(terms) == 0)
        return set_required(e, cJSON_Duplicate(injected, true), err);
    return set_required(
        e, compat == FLUID_LEGACY ? merge_legacy(terms, injected) : merge_head(terms, injected),
        err);
}

int affinity_require(struct fluid_edit *e, const cJSON *conjuncts, enum fluid_compat compat,
                     struct err *err) {
    const cJSON *conjunct;
    if (compat != FLUID_CORRECT)
        return require_as_fluid(e, conjuncts, compat, err);
    cJSON_ArrayForEach(conjunct, conjuncts) {
        int r = require_correctly(e, conjunct, err);
        if (r != 0)
            return r;
    }
    return 0;
}

/* ---- preferences ---- */

static bool has_preference(const cJSON *preferred, const cJSON *requirement, struct steps *steps) {
    const cJSON *item;
    cJSON_ArrayForEach(item, preferred) {
        if (!steps_take(steps, 1))
            return false;
        const cJSON *term = doc_object(item, "preference");
        const cJSON *expressions = doc_array(term, "matchExpressions");
        if (cJSON_GetArraySize(expressions) == 1 &&
            cJSON_GetArraySize(doc_array(term, "matchFields")) == 0 &&
            terms_same_requirement(cJSON_GetArrayItem(expressions, 0), requirement, steps))
            return true;
    }
    return false;
}

int affinity_prefer(struct fluid_edit *e, int32_t weight, cJSON *requirement, struct err *err) {
    CLEANUP(doc_free) cJSON *owned = requirement;
    CLEANUP(doc_free) cJSON *item = cJSON_CreateObject();
    cJSON *affinity, *list, *preference;
    if (e->compat == FLUID_CORRECT) {
        weight = weight > 100 ? 100 : weight;
        if (weight < 1 ||
            has_preference(affinity_preferred_terms(affinity_of(e->pod)), requirement, &e->steps))
            return 0;
        if (steps_spent(&e->steps))
            return fluid_too_much(err);
    }
    int r = need_affinity(e, &affinity, err);
    if (r == 0)
        r = doc_need_array(affinity, AFFINITY_PREFERRED, &list, err);
    if (r != 0)
        return r;
    bool made = owned != NULL && item != NULL &&
                doc_set(item, "weight", cJSON_CreateNumber(weight)) == 0 &&
                doc_need_object(item, "preference", &preference, NULL) == 0;
    if (made) {
        made = affinity_term_add(preference, owned) == 0;
        owned = NULL;
    }
    if (made) {
        made = doc_push(list, item) == 0;
        item = NULL;
    }
    return made ? 0 : err_set(err, -ENOMEM, "cannot add node affinity: out of memory");
}
