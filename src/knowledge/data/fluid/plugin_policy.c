/*
 * PolicyLocality: the tiers of a TopologyPolicy, instead of the profile's.
 *
 * Like NodeAffinityWithCache it adds no preferences if the pod itself names a tier's key. But the
 * pod gets the required tier, too: otherwise one harmless term of its own would switch off the rule
 * of the platform. Unlike NodeAffinityWithCache, a tier's place consists of the nodes that have the
 * dataset's workers now, not only of the nodes in the workers' node affinity: so the zone tier
 * works for workers that may run anywhere. The host tier is the label of the workers itself.
 *
 * Only the last tier, which is the widest, can be required. If its place is not known, no worker is
 * known either, so the pod waits for a node with a worker.
 */
#include "data/fluid/affinity.h"
#include "data/fluid/tiers.h"
#include "model/fluid.h"
#include "model/topology.h"

#include <errno.h>

static bool is_host(const struct fluid_tier *tier) {
    return strcmp(tier->name, TOPOLOGY_NAME_HOSTNAME) == 0;
}

static const char *tier_name(const struct fluid_tier *tier) {
    return is_host(tier) ? FLUID_TIER_NODE : tier->name;
}

/* Makes tiers in the form of NodeAffinityWithCache. They include the host's own key without weight:
 * a pod may name its host itself. Returns 0 or -ENOMEM. */
static int make_tiers(const struct fluid_edit *e, struct fluid_tiers *ret) {
    const struct fluid_locality *l = e->locality;
    const struct fluid_tier host_tier = {TOPOLOGY_NAME_HOSTNAME,
                                         l->host_weight > 0 ? l->host_weight : 100};
    const struct fluid_tier *tiers = l->tier_count > 0 ? l->tiers : &host_tier;
    uint32_t count = l->tier_count > 0 ? l->tier_count : 1;
    *ret = (struct fluid_tiers){
        .preferred = arena_array(e->arena, count + 1, sizeof *ret->preferred),
        .required = arena_array(e->arena, 1, sizeof *ret->required),
        .required_count = 1,
    };
    if (ret->preferred == NULL || ret->required == NULL)
        return -ENOMEM;
    uint32_t preferred = l->required ? count - 1 : count;
    for (uint32_t i = 0; i < preferred; i++)
        ret->preferred[ret->preferred_count++] =
            (struct fluid_tier){tier_name(&tiers[i]), tiers[i].weight};
    ret->preferred[ret->preferred_count++] = (struct fluid_tier){TOPOLOGY_NAME_HOSTNAME, 0};
    ret->required[0] = tier_name(&tiers[count - 1]);
    return 0;
}

/* ---- places of a dataset ---- */

/* The known place of a dataset. */
struct near {
    struct label_expression *items; /* arena; room for every tier */
    uint32_t count;
};

/* Adds "`key` In [values of the nodes with the label]"; adds nothing if there are no values. */
static int place_tier(const struct fluid_edit *e, const char *label, const char *key,
                      struct near *near) {
    struct label_expression in = affinity_requirement(key, "In", NULL);
    int r = e->locality->places(e->locality->ctx, label, key, &in.values, &in.value_count);
    if (r == 0 && in.value_count > 0)
        near->items[near->count++] = in;
    return r;
}

static int place(struct fluid_edit *e, const struct fluid_tiers *tiers,
                 const struct fluid_dataset *d, struct near *near) {
    const char *label = fluid_dataset_label(e, FLUID_LABEL_COMMON, d);
    near->items = arena_array(e->arena, tiers->preferred_count + 1, sizeof *near->items);
    if (label == NULL || near->items == NULL)
        return -ENOMEM;
    if (label[0] == '\0')
        return 0;
    for (uint32_t i = 0; i < tiers->preferred_count; i++)
        if (tiers->preferred[i].weight > 0 &&
            strcmp(tiers->preferred[i].name, FLUID_TIER_NODE) != 0 &&
            place_tier(e, label, tiers->preferred[i].name, near) != 0)
            return -ENOMEM;
    if (e->locality->required && strcmp(tiers->required[0], FLUID_TIER_NODE) != 0)
        return place_tier(e, label, tiers->required[0], near);
    return 0;
}

static bool names(const struct near *near, const char *key) {
    for (uint32_t i = 0; i < near->count; i++)
        if (str_eq(near->items[i].key, str_of(key)))
            return true;
    return false;
}

static int add_dataset(struct fluid_edit *e, const struct fluid_tiers *tiers,
                       struct fluid_dataset *d, struct err *err) {
    static const char *node_tier = FLUID_TIER_NODE;
    const struct fluid_datasets one = {d, 1};
    struct near near = {.count = 0};
    struct fluid_tiers own = *tiers;
    if (place(e, tiers, d, &near) != 0)
        return err_set(err, -ENOMEM, "cannot add locality: out of memory");
    const struct fluid_place there = {near.items, near.count};
    const struct fluid_places places = {&there, near.count > 0};
    if (strcmp(tiers->required[0], FLUID_TIER_NODE) != 0 && !names(&near, tiers->required[0]))
        own.required = &node_tier;
    e->datasets = &one;
    int r = fluid_add_locality(e, &own, &places, e->locality->required, err);
    e->datasets = NULL;
    return r;
}

/* ---- the plugin ---- */

/* Is it a pod that Fluid has created? All these pods have labels of Fluid. A cache worker mounts no
 * dataset, but must run on the nodes with the label. */
static bool is_fluids(const struct fluid_edit *e) {
    const struct labels *labels = &e->pod->meta.labels;
    for (uint32_t i = 0; i < labels->count; i++)
        if (str_has_prefix(labels->items[i].key, STR(FLUID_DOMAIN)))
            return true;
    return false;
}

/* Keeps a pod without a dataset off the nodes that hold a dataset, if the policy wants this. */
static int keep_off(struct fluid_edit *e, struct err *err) {
    if (e->locality->keep_others_off == 0)
        return 0;
    if (!e->locality->requires_others_off)
        return fluid_keep_off_cache_nodes(e, e->locality->keep_others_off, err);
    if (!is_fluids(e))
        return fluid_require_off_cache_nodes(e, err);
    fluid_note(e, "a pod with labels of Fluid is not kept off the nodes that hold a dataset");
    return 0;
}

static int add(struct fluid_edit *e, struct err *err) {
    const struct fluid_datasets *datasets = e->datasets;
    struct fluid_tiers tiers;
    if (datasets->count == 0)
        return keep_off(e, err);
    if (make_tiers(e, &tiers) != 0)
        return err_set(err, -ENOMEM, "cannot add locality: out of memory");
    bool names_tier = fluid_names_tier(e, &tiers);
    if (steps_spent(e->steps))
        return fluid_too_much(err);
    if (names_tier && !e->locality->required) {
        fluid_note(e, "the pod has terms of its own on a key of locality: no locality is added");
        return 0;
    }
    if (names_tier) {
        fluid_note(
            e,
            "the pod has terms of its own on a key of locality: only the required terms are added");
        tiers.preferred_count = 0;
    }
    int r = 0;
    for (size_t i = 0; r == 0 && i < datasets->count; i++)
        r = add_dataset(e, &tiers, &datasets->items[i], err);
    return r;
}

static int policy_locality(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    struct fluid_edit own = *e; /* a policy ignores Fluid's modes */
    *ret_stop = false;
    own.compat = FLUID_CORRECT;
    int r = add(&own, err);
    e->edits = own.edits;
    e->notes = own.notes;
    e->note_count = own.note_count;
    e->note_cap = own.note_cap;
    return r;
}

const struct fluid_plugin fluid_policy_locality = {
    .name = "PolicyLocality",
    .places = true,
    .mutate = policy_locality,
};
