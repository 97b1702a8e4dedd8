/*
 * RequireNodeWithFuse: a pod runs only on nodes where the FUSE clients of its datasets can run.
 *
 * Upstream requires the FUSE node selector of every dataset's runtime, because the client starts
 * with the pod. The original design called the plugin RequireNodesWithFuse; RequireNodesWithFuse
 * requires that the client has run on the node: label fluid.io/f-. With an option, upstream's name
 * has the meaning of the design, too.
 *
 * A selector is one conjunct with one alternative. Upstream's merge ORs the selectors of different
 * datasets; in FLUID_CORRECT the pod needs all selectors.
 */
#include "data/fluid/affinity.h"
#include "model/fluid.h"

#include <errno.h>
#include <stdlib.h>

static int by_key(const void *a, const void *b) {
    const struct label *x = a, *y = b;
    return str_cmp(x->key, y->key);
}

/* Returns the entries of a node selector, sorted by key: maps have no order. */
static int sort_selector(const cJSON *selector, struct arena *arena, struct labels *ret) {
    const cJSON *entry;
    struct label *items = arena_array(arena, (size_t)cJSON_GetArraySize(selector), sizeof *items);
    uint32_t count = 0;
    if (items == NULL)
        return -ENOMEM;
    cJSON_ArrayForEach(entry, selector) {
        if (cJSON_IsString(entry) && entry->string[0] != '\0')
            items[count++] = (struct label){str_of(entry->string), str_of(entry->valuestring)};
    }
    qsort(items, count, sizeof *items, by_key);
    *ret = (struct labels){items, count};
    return 0;
}

/* Adds the node selector as a conjunct with one alternative. */
static int selector_conjunct(struct fluid_edit *e, const struct fluid_dataset *d,
                             struct fluid_conjuncts *conjuncts) {
    struct labels selector;
    struct fluid_alternative all = {.count = 0};
    struct fluid_conjunct conjunct = {.count = 0};
    int r = sort_selector(d->fuse_selector, e->arena, &selector);
    if (r != 0 || selector.count == 0)
        return r; /* no node can have a label with this key */
    for (uint32_t i = 0; r == 0 && i < selector.count; i++) {
        const struct label_expression in = {selector.items[i].key, STR("In"),
                                            &selector.items[i].value, 1};
        if (i == 0 || !str_eq(selector.items[i - 1].key, selector.items[i].key))
            r = affinity_alternative_add(&all, &in, e->arena);
    }
    if (r == 0)
        r = affinity_conjunct_add(&conjunct, &all, e->arena);
    return r == 0 ? affinity_conjuncts_add(conjuncts, &conjunct, e->arena) : r;
}

static int label_conjunct(struct fluid_edit *e, const struct fluid_dataset *d,
                          struct fluid_conjuncts *conjuncts) {
    const char *key = fluid_dataset_label(e, FLUID_LABEL_FUSE, d);
    if (key == NULL)
        return -ENOMEM;
    if (key[0] == '\0')
        return 0;
    const struct label_expression in = affinity_requirement(key, "In", &affinity_true);
    return affinity_conjuncts_of(conjuncts, &in, e->arena);
}

static int require_fuse(struct fluid_edit *e, bool by_label, struct err *err) {
    struct fluid_conjuncts conjuncts = {.count = 0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < e->datasets->count; i++) {
        const struct fluid_dataset *d = &e->datasets->items[i];
        if (by_label)
            r = label_conjunct(e, d, &conjuncts);
        else if (d->fuse_selector != NULL)
            r = selector_conjunct(e, d, &conjuncts);
    }
    if (r != 0)
        return err_set(err, r, "cannot require nodes with FUSE: out of memory");
    return affinity_require(e, &conjuncts, e->compat, err);
}

static int require_node_with_fuse(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    *ret_stop = false;
    return require_fuse(e, e->original_fuse, err);
}

static int require_nodes_with_fuse(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    *ret_stop = false;
    return require_fuse(e, true, err);
}

const struct fluid_plugin fluid_require_node_with_fuse = {
    .name = "RequireNodeWithFuse",
    .places = true,
    .mutate = require_node_with_fuse,
};

const struct fluid_plugin fluid_require_nodes_with_fuse = {
    .name = "RequireNodesWithFuse",
    .places = true,
    .mutate = require_nodes_with_fuse,
};
