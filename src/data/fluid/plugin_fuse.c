/*
 * RequireNodeWithFuse: a pod runs only where the FUSE clients of its datasets can.
 *
 * Upstream requires the FUSE node selector of every dataset's runtime, because the client starts
 * with the pod. The original design, whose name was RequireNodesWithFuse, requires that the client
 * has run on the node: that is the label fluid.io/f-. An option gives upstream's name the design's
 * meaning too.
 *
 * A selector is one conjunct of one term. Upstream's merge ORs those of different datasets; in
 * FLUID_CORRECT the pod needs them all.
 */
#include "data/fluid/affinity.h"

#include <errno.h>

/* The node selector as one term, its keys sorted: maps have no order. */
static int selector_conjunct(const struct fluid_dataset *d, cJSON *conjuncts) {
    CLEANUP(doc_free) cJSON *term = cJSON_CreateObject();
    const char *last = "";
    for (;;) { /* selection by the next larger key: selectors are short */
        const cJSON *entry, *next = NULL;
        cJSON_ArrayForEach(entry, d->fuse_selector) {
            if (cJSON_IsString(entry) && strcmp(entry->string, last) > 0 &&
                (next == NULL || strcmp(entry->string, next->string) < 0))
                next = entry;
        }
        if (next == NULL)
            break;
        if (term == NULL || affinity_term_add(term, affinity_requirement(next->string, "In",
                                                                         next->valuestring)) != 0)
            return -ENOMEM;
        last = next->string;
    }
    if (last[0] == '\0')
        return 0; /* nothing that a node could carry */
    cJSON *ready = term;
    term = NULL;
    return affinity_conjunct_add(conjuncts, ready);
}

static int label_conjunct(struct fluid_edit *e, const struct fluid_dataset *d, cJSON *conjuncts) {
    const char *key = fluid_dataset_label(e, FLUID_LABEL_FUSE, d);
    if (key == NULL)
        return -ENOMEM;
    if (key[0] == '\0')
        return 0;
    return affinity_conjunct_of(conjuncts, affinity_requirement(key, "In", "true"));
}

static int require_fuse(struct fluid_edit *e, bool by_label, struct err *err) {
    CLEANUP(doc_free) cJSON *conjuncts = cJSON_CreateArray();
    int r = conjuncts == NULL ? -ENOMEM : 0;
    for (size_t i = 0; r == 0 && i < e->datasets->count; i++) {
        const struct fluid_dataset *d = &e->datasets->items[i];
        if (by_label)
            r = label_conjunct(e, d, conjuncts);
        else if (d->fuse_selector != NULL)
            r = selector_conjunct(d, conjuncts);
    }
    if (r != 0)
        return err_set(err, r, "cannot require nodes with FUSE: out of memory");
    return affinity_require(e, conjuncts, e->compat, err);
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
