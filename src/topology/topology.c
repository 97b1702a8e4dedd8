/*
 * A topology's life, and its views.
 */
#include "base/limits.h"
#include "topology/internal.h"

#include <errno.h>
#include <stdlib.h>

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
    pool_init(&t->candidates, sizeof(struct candidate_record));
    pool_init(&t->columns, sizeof(struct column_record));
    pool_init(&t->feasibilities, sizeof(struct feasibility_record));
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
    for (POOL_EACH(&t->candidates, slot)) {
        struct candidate_record *candidate = pool_at(&t->candidates, slot);
        label_set_free(t->strings, &candidate->labels);
        intern_unref(t->strings, candidate->name);
        free(candidate->taints);
    }
    pool_done(&t->feasibilities);
    pool_done(&t->columns);
    pool_done(&t->candidates);
    hashmap_done(&t->feasibility_index);
    hashmap_done(&t->index);
    name_table_done(&t->known_names);
    free(t);
}

struct topology_stats topology_stats(const struct topology *t) {
    return (struct topology_stats){t->known_names.count, t->columns.count, t->feasibilities.count};
}

void topology_view_open(struct topology *t, bool exclusive, struct topology_view *ret) {
    *ret = (struct topology_view){
        .topology = t,
        .exclusive = exclusive,
        .tick = atomic_fetch_add_explicit(&t->tick, 1, memory_order_relaxed) + 1};
}

void topology_view_close(struct topology_view *v) {
    if (v->exclusive) {
        lru_shrink(columns_lru(v->topology));
        lru_shrink(feasibilities_lru(v->topology));
    }
    strbuf_done(&v->key);
    v->topology = NULL;
}
