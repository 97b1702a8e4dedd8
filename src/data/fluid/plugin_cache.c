/*
 * NodeAffinityWithCache: tiered locality. A pod goes near the data of its datasets: to nodes where
 * a cache worker runs (tier fluid.io/node), where the FUSE client has run (fluid.io/fuse), or that
 * share a label, such as the zone, with the place the workers are bound to (any other tier; the
 * place is the runtime's status.cacheAffinity). Each tier has a weight; pod label
 * fluid.io/dataset.<claim>.sched: "required" asks for the required tiers instead.
 *
 * Who says something about locality wins: a pod whose own node affinity or node selector names a
 * tier's key is left alone.
 *
 * FLUID_CORRECT differs from upstream in what those rules mean:
 * - the required tiers of a dataset are AND-ed, as Fluid's manual says, and keys that stand
 * together in a term of cacheAffinity stay together;
 * - what the pod says is what it said when it came, in its node selector too, and by the label of
 *   a dataset too: that dataset is left alone;
 * - a tier that no node can fulfil (the workers of a ThinRuntime are not labelled) is left out.
 */
#include "data/fluid/affinity.h"
#include "data/fluid/tiers.h"

#include <errno.h>

/* ---- tiers ---- */

static const struct fluid_tier *preferred_tier(const struct fluid_tiers *tiers, const char *name) {
    for (uint32_t i = 0; i < tiers->preferred_count; i++)
        if (strcmp(tiers->preferred[i].name, name) == 0)
            return &tiers->preferred[i];
    return NULL;
}

static bool is_required_tier(const struct fluid_tiers *tiers, const char *name) {
    for (uint32_t i = 0; i < tiers->required_count; i++)
        if (strcmp(tiers->required[i], name) == 0)
            return true;
    return false;
}

static bool is_built_in(const char *name) {
    return strcmp(name, FLUID_TIER_NODE) == 0 || strcmp(name, FLUID_TIER_FUSE) == 0;
}

/* ---- what the pod says itself ---- */

typedef bool key_fn(const void *ctx, const char *key);

/* These functions say yes as well when the budget is spent: callers look at it then. */
static bool term_names(const cJSON *term, key_fn *matches, const void *ctx, struct steps *steps) {
    const cJSON *item;
    if (!steps_take(steps, 1))
        return true;
    cJSON_ArrayForEach(item, doc_array(term, "matchExpressions")) {
        if (!steps_take(steps, 1) || matches(ctx, doc_string(item, "key")))
            return true;
    }
    return false;
}

static bool preferred_names(const cJSON *affinity, key_fn *matches, const void *ctx,
                            struct steps *steps) {
    const cJSON *item;
    cJSON_ArrayForEach(item, affinity_preferred_terms(affinity)) {
        if (term_names(doc_object(item, "preference"), matches, ctx, steps))
            return true;
    }
    return false;
}

static bool required_names(const cJSON *affinity, key_fn *matches, const void *ctx,
                           struct steps *steps) {
    const cJSON *term;
    cJSON_ArrayForEach(term, affinity_required_terms(affinity)) {
        if (term_names(term, matches, ctx, steps))
            return true;
    }
    return false;
}

static bool selector_names(const cJSON *pod, key_fn *matches, const void *ctx,
                           struct steps *steps) {
    const cJSON *entry;
    cJSON_ArrayForEach(entry, doc_object(doc_object(pod, "spec"), "nodeSelector")) {
        if (!steps_take(steps, 1) || matches(ctx, entry->string))
            return true;
    }
    return false;
}

static bool is_tier_key(const void *ctx, const char *key) {
    const struct fluid_tiers *tiers = ctx;
    return preferred_tier(tiers, key) != NULL || is_required_tier(tiers, key);
}

bool fluid_names_tier(struct fluid_edit *e, const struct fluid_tiers *tiers) {
    const cJSON *affinity = e->compat == FLUID_CORRECT ? e->given : affinity_of(e->pod);
    if (preferred_names(affinity, is_tier_key, tiers, &e->steps) ||
        required_names(affinity, is_tier_key, tiers, &e->steps))
        return true;
    /* upstream looks at the selector only where there are required terms, or no affinity at all */
    if (e->compat != FLUID_CORRECT && affinity != NULL &&
        doc_object(affinity, AFFINITY_REQUIRED) == NULL)
        return false;
    return selector_names(e->pod, is_tier_key, tiers, &e->steps);
}

/* A dataset with the labels that nodes carry for it. */
struct target {
    const struct fluid_dataset *dataset;
    const char *node_label, *fuse_label; /* "" when it cannot be used */
};

static bool is_target_label(const void *ctx, const char *key) {
    const struct target *t = ctx;
    return key[0] != '\0' && (strcmp(key, t->node_label) == 0 || strcmp(key, t->fuse_label) == 0);
}

static bool pod_names_dataset(struct fluid_edit *e, const struct target *t) {
    return preferred_names(e->given, is_target_label, t, &e->steps) ||
           required_names(e->given, is_target_label, t, &e->steps) ||
           selector_names(e->pod, is_target_label, t, &e->steps);
}

/* Pod label fluid.io/dataset.<claim>.sched: "required". */
static bool is_required(struct fluid_edit *e, const struct fluid_dataset *d) {
    const cJSON *labels = doc_object(doc_object(e->pod, "metadata"), "labels"), *label;
    struct str prefix = STR("fluid.io/dataset."), suffix = STR(".sched");
    cJSON_ArrayForEach(label, labels) {
        struct str key = str_of(label->string);
        if (!steps_take(&e->steps, 1))
            return true;
        if (key.n < prefix.n + suffix.n || !str_has_prefix(key, prefix) ||
            !str_has_suffix(key, suffix) || !cJSON_IsString(label))
            continue;
        struct str claim = {key.p + prefix.n, key.n - prefix.n - suffix.n};
        if (str_eq(claim, str_of(d->claim)) && strcmp(label->valuestring, "required") == 0)
            return true;
    }
    return false;
}

/* ---- required ---- */

/* As upstream: every tier a term of its own, in one list. */
static int require_any_tier(const struct fluid_tiers *tiers, const struct target *t,
                            cJSON *conjuncts) {
    const cJSON *cached, *item;
    if (is_required_tier(tiers, FLUID_TIER_NODE) &&
        affinity_conjunct_of(conjuncts, affinity_requirement(t->node_label, "In", "true")) != 0)
        return -ENOMEM;
    if (is_required_tier(tiers, FLUID_TIER_FUSE) &&
        affinity_conjunct_of(conjuncts, affinity_requirement(t->fuse_label, "In", "true")) != 0)
        return -ENOMEM;
    cJSON_ArrayForEach(cached, t->dataset->cache_terms) {
        cJSON_ArrayForEach(item, doc_array(cached, "matchExpressions")) {
            if (is_required_tier(tiers, doc_string(item, "key")) &&
                affinity_conjunct_of(conjuncts, cJSON_Duplicate(item, true)) != 0)
                return -ENOMEM;
        }
    }
    return 0;
}

/* The requirements of one term of cacheAffinity whose keys are required tiers, added to `term`.
 * `ret_all`: every such tier was there. */
static int add_tiers(const struct fluid_tiers *tiers, const cJSON *cached, cJSON *term,
                     bool *ret_all) {
    const cJSON *item;
    *ret_all = true;
    for (uint32_t i = 0; i < tiers->required_count; i++) {
        bool found = is_built_in(tiers->required[i]);
        cJSON_ArrayForEach(item, doc_array(cached, "matchExpressions")) {
            if (strcmp(doc_string(item, "key"), tiers->required[i]) != 0)
                continue;
            found = true;
            if (affinity_term_add(term, cJSON_Duplicate(item, true)) != 0)
                return -ENOMEM;
        }
        *ret_all = *ret_all && found;
    }
    return 0;
}

/* The alternatives: `base` with the required tiers of each term of cacheAffinity. One alternative
 * that is `base` alone makes the others pointless. */
static int tier_alternatives(struct fluid_edit *e, const struct fluid_tiers *tiers,
                             const struct target *t, const cJSON *base, cJSON *alternatives) {
    bool complete = true, open = cJSON_GetArraySize(t->dataset->cache_terms) == 0;
    const cJSON *cached;
    for (uint32_t i = 0; open && i < tiers->required_count; i++)
        complete = complete && is_built_in(tiers->required[i]);
    cJSON_ArrayForEach(cached, t->dataset->cache_terms) {
        bool all;
        cJSON *term = cJSON_Duplicate(base, true);
        if (term == NULL || add_tiers(tiers, cached, term, &all) != 0) {
            cJSON_Delete(term);
            return -ENOMEM;
        }
        complete = complete && all;
        open = open || cJSON_Compare(term, base, true);
        if (doc_push(alternatives, term) != 0)
            return -ENOMEM;
    }
    if (!complete)
        fluid_note(e, "dataset of claim '%s': not every required tier is known for its workers",
                   t->dataset->claim);
    if (!open)
        return 0;
    while (cJSON_GetArraySize(alternatives) > 0)
        cJSON_DeleteItemFromArray(alternatives, 0);
    return base->child == NULL ? 0 : doc_push(alternatives, cJSON_Duplicate(base, true));
}

static int require_all_tiers(struct fluid_edit *e, const struct fluid_tiers *tiers,
                             const struct target *t, cJSON *conjuncts) {
    CLEANUP(doc_free) cJSON *base = cJSON_CreateObject();
    CLEANUP(doc_free) cJSON *alternatives = cJSON_CreateArray();
    if (base == NULL || alternatives == NULL)
        return -ENOMEM;
    if (is_required_tier(tiers, FLUID_TIER_NODE) && t->node_label[0] != '\0' &&
        affinity_term_add(base, affinity_requirement(t->node_label, "In", "true")) != 0)
        return -ENOMEM;
    if (is_required_tier(tiers, FLUID_TIER_FUSE) && t->fuse_label[0] != '\0' &&
        affinity_term_add(base, affinity_requirement(t->fuse_label, "In", "true")) != 0)
        return -ENOMEM;
    if (tier_alternatives(e, tiers, t, base, alternatives) != 0)
        return -ENOMEM;
    cJSON *ready = alternatives;
    alternatives = NULL;
    return doc_push(conjuncts, ready);
}

/* ---- preferred ---- */

static int prefer_label(struct fluid_edit *e, const struct fluid_tier *tier, const char *label,
                        struct err *err) {
    if (tier == NULL || label[0] == '\0')
        return 0;
    return affinity_prefer(e, tier->weight, affinity_requirement(label, "In", "true"), err);
}

static int prefer_tiers(struct fluid_edit *e, const struct fluid_tiers *tiers,
                        const struct target *t, struct err *err) {
    const cJSON *cached, *item;
    int r = prefer_label(e, preferred_tier(tiers, FLUID_TIER_NODE), t->node_label, err);
    if (r == 0)
        r = prefer_label(e, preferred_tier(tiers, FLUID_TIER_FUSE), t->fuse_label, err);
    cJSON_ArrayForEach(cached, t->dataset->cache_terms) {
        cJSON_ArrayForEach(item, doc_array(cached, "matchExpressions")) {
            const struct fluid_tier *tier = preferred_tier(tiers, doc_string(item, "key"));
            if (r == 0 && tier != NULL)
                r = affinity_prefer(e, tier->weight, cJSON_Duplicate(item, true), err);
        }
    }
    return r;
}

/* ---- the plugin ---- */

static int find_target(struct fluid_edit *e, const struct fluid_dataset *d, struct target *ret) {
    struct target t = {d, fluid_dataset_label(e, FLUID_LABEL_COMMON, d),
                       fluid_dataset_label(e, FLUID_LABEL_FUSE, d)};
    if (t.node_label == NULL || t.fuse_label == NULL)
        return -ENOMEM;
    if (e->compat == FLUID_CORRECT && d->unlabelled) {
        t.node_label = "";
        fluid_note(e, "dataset of claim '%s': a ThinRuntime labels no nodes", d->claim);
    }
    *ret = t;
    return 0;
}

/* Required terms first, for all datasets together; then the preferences. */
int fluid_add_locality(struct fluid_edit *e, const struct fluid_tiers *tiers, bool required,
                       struct err *err) {
    CLEANUP(doc_free) cJSON *conjuncts = cJSON_CreateArray();
    int r = conjuncts == NULL ? -ENOMEM : 0;
    for (size_t i = 0; r == 0 && i < e->datasets->count; i++) {
        const struct fluid_dataset *d = &e->datasets->items[i];
        struct target t;
        r = find_target(e, d, &t);
        if (r != 0 || (e->compat == FLUID_CORRECT && pod_names_dataset(e, &t)))
            continue;
        bool must = required || is_required(e, d);
        if (steps_spent(&e->steps))
            break;
        if (required || !must)
            r = prefer_tiers(e, tiers, &t, err);
        if (r == 0 && must && e->compat == FLUID_CORRECT)
            r = require_all_tiers(e, tiers, &t, conjuncts);
        else if (r == 0 && must)
            r = require_any_tier(tiers, &t, conjuncts);
    }
    if (r == -ENOMEM)
        return err_set(err, r, "cannot add locality: out of memory");
    if (r == 0 && steps_spent(&e->steps))
        return fluid_too_much(err);
    return r == 0 ? affinity_require(e, conjuncts, e->compat, err) : r;
}

static int run(struct fluid_edit *e, const struct fluid_tiers *tiers, bool *ret_stop,
               struct err *err) {
    *ret_stop = false;
    if (e->datasets->count == 0 || (tiers->preferred_count == 0 && tiers->required_count == 0))
        return 0;
    bool names_tier = fluid_names_tier(e, tiers);
    if (steps_spent(&e->steps))
        return fluid_too_much(err);
    if (names_tier) {
        fluid_note(e, "the pod says itself where it belongs: its locality is left alone");
        return 0;
    }
    return fluid_add_locality(e, tiers, false, err);
}

static int node_affinity_with_cache(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    return run(e, &e->profile->tiers, ret_stop, err);
}

static int prefer_nodes_with_cache(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    return run(e, &e->profile->design_tiers, ret_stop, err);
}

const struct fluid_plugin fluid_node_affinity_with_cache = {
    .name = "NodeAffinityWithCache",
    .places = true,
    .mutate = node_affinity_with_cache,
};

const struct fluid_plugin fluid_prefer_nodes_with_cache = {
    .name = "PreferNodesWithCache",
    .places = true,
    .mutate = prefer_nodes_with_cache,
};
