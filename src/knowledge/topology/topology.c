/*
 * A topology's life, and its views.
 */
#include "base/limits.h"
#include "topology/internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

static void keep(struct topology *t) {
    t->columns_kept = (struct lru){
        .pool = &t->columns,
        .entry_offset = offsetof(struct column_record, entry),
        .limits = {.count = t->options.max_columns, .bytes = t->options.max_column_bytes},
        .free = column_free,
        .context = t};
    t->feasibilities_kept = (struct lru){.pool = &t->feasibilities,
                                         .entry_offset = offsetof(struct feasibility_record, entry),
                                         .limits = {.count = t->options.max_feasibilities,
                                                    .bytes = t->options.max_feasibility_bytes,
                                                    .steps = t->options.max_update_steps},
                                         .free = feasibility_free,
                                         .context = t};
    t->trees_kept =
        (struct lru){.pool = &t->trees,
                     .entry_offset = offsetof(struct tree_record, entry),
                     .limits = {.count = LIMIT_TREES, .bytes = t->options.max_tree_bytes},
                     .free = tree_free,
                     .context = t};
    lru_init(&t->trees_kept);
    lru_init(&t->columns_kept);
    lru_init(&t->feasibilities_kept);
}

int topology_new(const struct topology_options *options, struct topology **ret, struct err *err) {
    struct topology *t = calloc(1, sizeof *t);
    if (t == NULL)
        return err_set(err, -ENOMEM, "no memory for a topology");
    t->options = *options;
    t->strings = options->strings;
    if (t->options.max_columns == 0)
        t->options.max_columns = LIMIT_COLUMNS;
    if (t->options.max_feasibilities == 0)
        t->options.max_feasibilities = LIMIT_FEASIBILITIES;
    if (t->options.max_update_steps == 0)
        t->options.max_update_steps = LIMIT_UPDATE_STEPS;
    pool_init(&t->candidates, sizeof(struct candidate_record));
    pool_init(&t->columns, sizeof(struct column_record));
    pool_init(&t->feasibilities, sizeof(struct feasibility_record));
    pool_init(&t->trees, sizeof(struct tree_record));
    keep(t);
    *ret = t;
    return 0;
}

void topology_free(struct topology *t) {
    if (t == NULL)
        return;
    for (POOL_EACH(&t->feasibilities, id))
        feasibility_free(t, id);
    for (POOL_EACH(&t->columns, id))
        column_free(t, id);
    for (POOL_EACH(&t->trees, id))
        tree_free(t, id);
    for (POOL_EACH(&t->candidates, slot)) {
        struct candidate_record *candidate = pool_at(&t->candidates, slot);
        label_set_free(t->strings, &candidate->labels);
        intern_unref(t->strings, candidate->name);
        free(candidate->taints);
    }
    lru_done(&t->feasibilities_kept);
    lru_done(&t->columns_kept);
    lru_done(&t->trees_kept);
    pool_done(&t->feasibilities);
    pool_done(&t->columns);
    pool_done(&t->trees);
    pool_done(&t->candidates);
    hashmap_done(&t->feasibility_index);
    hashmap_done(&t->index);
    name_table_done(&t->known_names);
    name_order_done(&t->order);
    free(t);
}

struct topology_stats topology_stats(const struct topology *t) {
    return (struct topology_stats){.candidates = t->known_names.count,
                                   .columns = t->columns.count,
                                   .feasibilities = t->feasibilities.count,
                                   .trees = t->trees.count,
                                   .tree_bytes = t->trees_kept.all.cost.bytes,
                                   .trees_refused = t->trees_kept.refused,
                                   .column_bytes = t->columns_kept.all.cost.bytes,
                                   .feasibility_bytes = t->feasibilities_kept.all.cost.bytes,
                                   .columns_refused = t->columns_kept.refused,
                                   .feasibilities_refused = t->feasibilities_kept.refused};
}

uint64_t topology_kept_bytes(const struct topology *t) {
    enum { IN_INDEXES = 10 + 2 * sizeof(struct name_entry) };
    return t->candidates.count * (sizeof(struct candidate_record) + IN_INDEXES) + t->taint_bytes;
}

void topology_forget(struct topology *t, uint64_t tick) {
    lru_forget(&t->columns_kept, tick);
    lru_forget(&t->feasibilities_kept, tick);
    lru_forget(&t->trees_kept, tick);
}

uint64_t topology_tick(const struct topology *t) {
    return atomic_load_explicit(&t->tick, memory_order_relaxed);
}

uint64_t topology_changes(const struct topology *t) {
    return t->changes;
}

uint64_t topology_work(const struct topology *t) {
    return t->work + t->columns_kept.work + t->feasibilities_kept.work + t->trees_kept.work;
}

/* ---- views ---- */

void topology_view_open(struct topology *t, struct topology_view *ret) {
    *ret = (struct topology_view){
        .topology = t, .tick = atomic_fetch_add_explicit(&t->tick, 1, memory_order_relaxed) + 1};
}

bool topology_publish(struct topology_view *v) {
    struct built_column *column = v->columns;
    struct built_feasibility *feasibility = v->feasibilities;
    struct built_tree *tree = v->trees;
    if (column != NULL) {
        v->columns = column->next;
        column_publish(v->topology, column, v);
        built_column_free(column);
    } else if (feasibility != NULL) {
        v->feasibilities = feasibility->next;
        feasibility_publish(v->topology, feasibility, v);
        built_feasibility_free(feasibility);
    } else if (tree != NULL) {
        v->trees = tree->next;
        tree_publish(v->topology, tree, v);
        built_tree_free(tree);
    } else if (v->order != NULL) {
        name_order_publish(v->topology, v->order);
        built_order_free(v->order);
        v->order = NULL;
    }
    return v->columns != NULL || v->feasibilities != NULL || v->trees != NULL || v->order != NULL;
}

void topology_view_close(struct topology_view *v) {
    while (v->columns != NULL) {
        struct built_column *next = v->columns->next;
        built_column_free(v->columns);
        v->columns = next;
    }
    while (v->feasibilities != NULL) {
        struct built_feasibility *next = v->feasibilities->next;
        built_feasibility_free(v->feasibilities);
        v->feasibilities = next;
    }
    while (v->trees != NULL) {
        struct built_tree *next = v->trees->next;
        built_tree_free(v->trees);
        v->trees = next;
    }
    if (v->order != NULL)
        built_order_free(v->order);
    v->order = NULL;
    v->topology = NULL;
}
