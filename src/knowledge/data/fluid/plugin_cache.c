/*
 * NodeAffinityWithCache: tiered locality. A pod goes near the data of its datasets: to nodes where
 * a cache worker runs (tier fluid.io/node), where the FUSE client has run (fluid.io/fuse), or that
 * share a label, for example the zone, with the place of the workers (any other tier; the place is
 * the runtime's status.cacheAffinity). Each tier has a weight; pod label
 * fluid.io/dataset.<claim>.sched: "required" asks for the required tiers instead.
 *
 * The pod's own rules win: if its node affinity or selector names a tier's key, the plugin does
 * not change it.
 *
 * FLUID_CORRECT differs from upstream:
 * - the required tiers of a dataset are AND-ed, as in Fluid's manual, and keys of one term of
 *   cacheAffinity stay together;
 * - only the pod's original rules count, not edits of other plugins. Its node selector always
 *   counts, and if the pod names a label of a dataset, that dataset gets no edits;
 * - a tier that no node can fulfil (the workers of a ThinRuntime are not labelled) is left out.
 */
#include "data/fluid/affinity.h"
#include "data/fluid/tiers.h"
#include "model/fluid.h"

#include <errno.h>
#include <stdio.h>

/* ---- tiers ---- */

static const struct fluid_tier *preferred_tier(const struct fluid_tiers *tiers, struct str name) {
    for (uint32_t i = 0; i < tiers->preferred_count; i++)
        if (str_eq(str_of(tiers->preferred[i].name), name))
            return &tiers->preferred[i];
    return NULL;
}

static bool is_required_tier(const struct fluid_tiers *tiers, struct str name) {
    for (uint32_t i = 0; i < tiers->required_count; i++)
        if (str_eq(str_of(tiers->required[i]), name))
            return true;
    return false;
}

static bool is_built_in(const char *name) {
    return strcmp(name, FLUID_TIER_NODE) == 0 || strcmp(name, FLUID_TIER_FUSE) == 0;
}

/* ---- the pod's own rules ---- */

typedef bool key_fn(const void *ctx, struct str key);

/* These functions also return true if the budget is spent: callers must check it then. */
static bool term_names(const struct written_term *term, key_fn *matches, const void *ctx,
                       struct steps *steps) {
    if (!steps_take(steps, 1))
        return true;
    for (uint32_t i = 0; i < term->expression_count; i++)
        if (!steps_take(steps, 1) || matches(ctx, term->expressions[i].key))
            return true;
    return false;
}

static bool terms_name(const struct written_term *terms, uint32_t count, key_fn *matches,
                       const void *ctx, struct steps *steps) {
    for (uint32_t i = 0; i < count; i++)
        if (term_names(&terms[i], matches, ctx, steps))
            return true;
    return false;
}

/* Do the edits of earlier plugins name a key that matches? */
static bool edits_name(const struct fluid_edits *edits, key_fn *matches, const void *ctx,
                       struct steps *steps) {
    for (uint32_t i = 0; i < edits->preference_count; i++)
        if (!steps_take(steps, 1) || matches(ctx, edits->preferences[i].requirement.is.key))
            return true;
    for (uint32_t i = 0; i < edits->term_count; i++)
        for (uint32_t k = 0; k < edits->terms[i].added_count; k++)
            if (!steps_take(steps, 1) || matches(ctx, edits->terms[i].added[k].is.key))
                return true;
    return false;
}

/* Does the pod's original node affinity name a key that matches? */
static bool affinity_names(const struct fluid_edit *e, key_fn *matches, const void *ctx,
                           struct steps *steps) {
    const struct written_affinity *a = &e->details->affinity;
    return terms_name(a->preferences, a->preference_count, matches, ctx, steps) ||
           terms_name(a->terms, a->term_count, matches, ctx, steps);
}

static bool selector_names(const struct pod *pod, key_fn *matches, const void *ctx,
                           struct steps *steps) {
    const struct labels *selector = &pod->affinity.node_selector;
    for (uint32_t i = 0; i < selector->count; i++)
        if (!steps_take(steps, 1) || matches(ctx, selector->items[i].key))
            return true;
    return false;
}

static bool is_tier_key(const void *ctx, struct str key) {
    const struct fluid_tiers *tiers = ctx;
    return preferred_tier(tiers, key) != NULL || is_required_tier(tiers, key);
}

bool fluid_names_tier(struct fluid_edit *e, const struct fluid_tiers *tiers) {
    const struct fluid_edits *edits = &e->edits;
    const struct written_affinity *own = &e->details->affinity;
    if (affinity_names(e, is_tier_key, tiers, e->steps))
        return true;
    if (e->compat != FLUID_CORRECT) {
        bool has_required = own->required || edits->requires;
        if (edits_name(edits, is_tier_key, tiers, e->steps))
            return true;
        /* upstream reads the selector only of pods with required terms, or without any affinity */
        if (!has_required && (own->present || edits->preference_count > 0))
            return false;
    }
    return selector_names(e->pod, is_tier_key, tiers, e->steps);
}

/* A dataset with its labels on nodes, and the places of its workers. */
struct target {
    const struct fluid_dataset *dataset;
    const char *node_label, *fuse_label; /* keys of labels; "": a key cannot be used */
    struct fluid_places places;
};

static bool is_target_label(const void *ctx, struct str key) {
    const struct target *t = ctx;
    return !str_empty(key) &&
           (str_eq(key, str_of(t->node_label)) || str_eq(key, str_of(t->fuse_label)));
}

static bool pod_names_dataset(struct fluid_edit *e, const struct target *t) {
    return affinity_names(e, is_target_label, t, e->steps) ||
           selector_names(e->pod, is_target_label, t, e->steps);
}

/* Does the pod have the label fluid.io/dataset.<claim>.sched: "required"? */
static bool is_required(const struct fluid_edit *e, const struct fluid_dataset *d) {
    char key[320];
    int n = snprintf(key, sizeof key, FLUID_LABEL_SCHED_FORMAT, d->claim);
    return n > 0 && (size_t)n < sizeof key && /* no label has a longer key */
           str_eq(fluid_value(&e->pod->meta.labels, key), STR("required"));
}

/* ---- required ---- */

static int require_label(const char *label, struct fluid_conjuncts *conjuncts,
                         struct arena *arena) {
    const struct label_expression in = affinity_requirement(label, "In", &affinity_true);
    return affinity_conjuncts_of(conjuncts, &in, arena);
}

/* Requires any of the tiers, as upstream does: each tier is a term of its own. */
static int require_any_tier(struct fluid_edit *e, const struct fluid_tiers *tiers,
                            const struct target *t, struct fluid_conjuncts *conjuncts) {
    int r = 0;
    if (is_required_tier(tiers, STR(FLUID_TIER_NODE)))
        r = require_label(t->node_label, conjuncts, e->arena);
    if (r == 0 && is_required_tier(tiers, STR(FLUID_TIER_FUSE)))
        r = require_label(t->fuse_label, conjuncts, e->arena);
    for (uint32_t i = 0; i < t->places.count; i++)
        for (uint32_t k = 0; r == 0 && k < t->places.items[i].count; k++) {
            const struct label_expression *item = &t->places.items[i].items[k];
            if (is_required_tier(tiers, item->key))
                r = affinity_conjuncts_of(conjuncts, item, e->arena);
        }
    return r;
}

/* Adds the place's requirements on keys of required tiers to `to`. Sets *ret_all: does the place
 * have a requirement on each of these keys? */
static int add_tiers(const struct fluid_tiers *tiers, const struct fluid_place *place,
                     struct arena *arena, struct fluid_alternative *to, bool *ret_all) {
    *ret_all = true;
    for (uint32_t i = 0; i < tiers->required_count; i++) {
        bool found = is_built_in(tiers->required[i]);
        for (uint32_t k = 0; k < place->count; k++) {
            if (!str_eq(place->items[k].key, str_of(tiers->required[i])))
                continue;
            found = true;
            if (affinity_alternative_add(to, &place->items[k], arena) != 0)
                return -ENOMEM;
        }
        *ret_all = *ret_all && found;
    }
    return 0;
}

static int copy_alternative(const struct fluid_alternative *from, struct arena *arena,
                            struct fluid_alternative *ret) {
    *ret = (struct fluid_alternative){arena_array(arena, from->count, sizeof *ret->items),
                                      from->count, from->count};
    if (ret->items == NULL)
        return -ENOMEM;
    if (from->count > 0)
        memcpy(ret->items, from->items, from->count * sizeof *ret->items);
    return 0;
}

/* Makes an alternative of `base` and the required tiers of each place. If one alternative is only
 * `base`, the other alternatives have no effect and are dropped. */
static int tier_alternatives(struct fluid_edit *e, const struct fluid_tiers *tiers,
                             const struct target *t, const struct fluid_alternative *base,
                             struct fluid_conjunct *alternatives) {
    bool complete = true, open = t->places.count == 0;
    for (uint32_t i = 0; open && i < tiers->required_count; i++)
        complete = complete && is_built_in(tiers->required[i]);
    for (uint32_t i = 0; i < t->places.count; i++) {
        struct fluid_alternative near;
        bool all;
        if (copy_alternative(base, e->arena, &near) != 0 ||
            add_tiers(tiers, &t->places.items[i], e->arena, &near, &all) != 0 ||
            affinity_conjunct_add(alternatives, &near, e->arena) != 0)
            return -ENOMEM;
        complete = complete && all;
        open = open || near.count == base->count;
    }
    if (!complete)
        fluid_note(e, "dataset of claim '%s': not every required tier is known for its workers",
                   t->dataset->claim);
    if (!open)
        return 0;
    alternatives->count = 0;
    return base->count == 0 ? 0 : affinity_conjunct_add(alternatives, base, e->arena);
}

static int require_all_tiers(struct fluid_edit *e, const struct fluid_tiers *tiers,
                             const struct target *t, struct fluid_conjuncts *conjuncts) {
    struct fluid_alternative base = {.count = 0};
    struct fluid_conjunct alternatives = {.count = 0};
    const struct label_expression node = affinity_requirement(t->node_label, "In", &affinity_true),
                                  fuse = affinity_requirement(t->fuse_label, "In", &affinity_true);
    int r = 0;
    if (is_required_tier(tiers, STR(FLUID_TIER_NODE)) && t->node_label[0] != '\0')
        r = affinity_alternative_add(&base, &node, e->arena);
    if (r == 0 && is_required_tier(tiers, STR(FLUID_TIER_FUSE)) && t->fuse_label[0] != '\0')
        r = affinity_alternative_add(&base, &fuse, e->arena);
    if (r == 0)
        r = tier_alternatives(e, tiers, t, &base, &alternatives);
    return r == 0 ? affinity_conjuncts_add(conjuncts, &alternatives, e->arena) : r;
}

/* ---- preferred ---- */

static int prefer_label(struct fluid_edit *e, const struct fluid_tier *tier, const char *label,
                        struct err *err) {
    if (tier == NULL || label[0] == '\0')
        return 0;
    const struct label_expression in = affinity_requirement(label, "In", &affinity_true);
    return affinity_prefer(e, tier->weight, &in, err);
}

static int prefer_tiers(struct fluid_edit *e, const struct fluid_tiers *tiers,
                        const struct target *t, struct err *err) {
    int r = prefer_label(e, preferred_tier(tiers, STR(FLUID_TIER_NODE)), t->node_label, err);
    if (r == 0)
        r = prefer_label(e, preferred_tier(tiers, STR(FLUID_TIER_FUSE)), t->fuse_label, err);
    for (uint32_t i = 0; i < t->places.count; i++)
        for (uint32_t k = 0; r == 0 && k < t->places.items[i].count; k++) {
            const struct label_expression *item = &t->places.items[i].items[k];
            const struct fluid_tier *tier = preferred_tier(tiers, item->key);
            if (tier != NULL)
                r = affinity_prefer(e, tier->weight, item, err);
        }
    return r;
}

/* ---- places of a dataset ---- */

static int read_values(const cJSON *list, struct arena *arena, struct label_expression *ret) {
    const cJSON *value;
    struct str *values = arena_array(arena, (size_t)cJSON_GetArraySize(list), sizeof *values);
    if (values == NULL)
        return -ENOMEM;
    ret->values = values;
    cJSON_ArrayForEach(value, list) {
        if (cJSON_IsString(value))
            values[ret->value_count++] = str_of(value->valuestring);
    }
    return 0;
}

/* Reads the requirements on labels of a nodeSelectorTerm. */
static int read_place(const cJSON *term, struct arena *arena, struct fluid_place *ret) {
    const cJSON *list = doc_array(term, "matchExpressions"), *item;
    struct label_expression *items =
        arena_array(arena, (size_t)cJSON_GetArraySize(list), sizeof *items);
    *ret = (struct fluid_place){.items = items};
    if (items == NULL)
        return -ENOMEM;
    cJSON_ArrayForEach(item, list) {
        struct label_expression *to = &items[ret->count++];
        to->key = str_of(doc_string(item, "key"));
        to->op = str_of(doc_string(item, "operator"));
        if (read_values(doc_array(item, "values"), arena, to) != 0)
            return -ENOMEM;
    }
    return 0;
}

static int read_places(const cJSON *terms, struct arena *arena, struct fluid_places *ret) {
    const cJSON *term;
    struct fluid_place *items =
        arena_array(arena, (size_t)cJSON_GetArraySize(terms), sizeof *items);
    *ret = (struct fluid_places){.items = items};
    if (items == NULL)
        return -ENOMEM;
    cJSON_ArrayForEach(term, terms) {
        if (read_place(term, arena, &items[ret->count++]) != 0)
            return -ENOMEM;
    }
    return 0;
}

/* ---- the plugin ---- */

static int find_target(struct fluid_edit *e, const struct fluid_dataset *d,
                       const struct fluid_places *places, struct target *ret) {
    struct target t = {.dataset = d,
                       .node_label = fluid_dataset_label(e, FLUID_LABEL_COMMON, d),
                       .fuse_label = fluid_dataset_label(e, FLUID_LABEL_FUSE, d)};
    if (t.node_label == NULL || t.fuse_label == NULL)
        return -ENOMEM;
    if (e->compat == FLUID_CORRECT && d->unlabelled) {
        t.node_label = "";
        fluid_note(e, "dataset of claim '%s': a ThinRuntime labels no nodes", d->claim);
    }
    if (places != NULL)
        t.places = *places;
    else if (read_places(d->cache_terms, e->arena, &t.places) != 0)
        return -ENOMEM;
    *ret = t;
    return 0;
}

/* Adds required terms for all datasets together, then the preferences. */
int fluid_add_locality(struct fluid_edit *e, const struct fluid_tiers *tiers,
                       const struct fluid_places *places, bool required, struct err *err) {
    struct fluid_conjuncts conjuncts = {.count = 0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < e->datasets->count; i++) {
        const struct fluid_dataset *d = &e->datasets->items[i];
        struct target t;
        r = find_target(e, d, places, &t);
        if (r != 0 || (e->compat == FLUID_CORRECT && pod_names_dataset(e, &t)))
            continue;
        bool must = required || is_required(e, d);
        if (steps_spent(e->steps))
            break;
        if (required || !must)
            r = prefer_tiers(e, tiers, &t, err);
        if (r == 0 && must && e->compat == FLUID_CORRECT)
            r = require_all_tiers(e, tiers, &t, &conjuncts);
        else if (r == 0 && must)
            r = require_any_tier(e, tiers, &t, &conjuncts);
    }
    if (r == -ENOMEM)
        return err_set(err, r, "cannot add locality: out of memory");
    if (r == 0 && steps_spent(e->steps))
        return fluid_too_much(err);
    return r == 0 ? affinity_require(e, &conjuncts, e->compat, err) : r;
}

static int run(struct fluid_edit *e, const struct fluid_tiers *tiers, bool *ret_stop,
               struct err *err) {
    *ret_stop = false;
    if (e->datasets->count == 0 || (tiers->preferred_count == 0 && tiers->required_count == 0))
        return 0;
    bool names_tier = fluid_names_tier(e, tiers);
    if (steps_spent(e->steps))
        return fluid_too_much(err);
    if (names_tier) {
        fluid_note(e, "the pod has terms of its own on a key of locality: no locality is added");
        return 0;
    }
    return fluid_add_locality(e, tiers, NULL, false, err);
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
