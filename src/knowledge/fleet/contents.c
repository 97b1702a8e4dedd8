/*
 * The life of a fleet's contents, lists of records, and the sorted lists.
 */
#include "fleet/internal.h"

#include "base/limits.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- slots ---- */

static int grow(void *owner, uint32_t cap) {
    struct fleet_contents *c = owner;
    const uint32_t from = topology_cap(c->clusters);
    struct fleet_cluster *clusters = realloc(c->cluster_of, cap * sizeof *clusters);
    if (clusters == NULL)
        return -ENOMEM;
    c->cluster_of = clusters;
    memset(clusters + from, 0, (cap - from) * sizeof *clusters);
    uint32_t *decided = realloc(c->decided, cap * sizeof *decided);
    if (decided == NULL)
        return -ENOMEM;
    c->decided = decided;
    memset(decided + from, 0, (cap - from) * sizeof *decided);
    return 0;
}

static void freed(void *owner, uint32_t slot) {
    struct fleet_contents *c = owner;
    contents_cluster_empty(c, &c->cluster_of[slot]);
}

/* ---- life ---- */

int contents_new(void **ret, struct err *err) {
    static _Atomic uint64_t serial;
    struct fleet_contents *c = calloc(1, sizeof *c);
    if (c == NULL)
        return err_set(err, -ENOMEM, "no memory for a fleet");
    c->serial = atomic_fetch_add(&serial, 1) + 1;
    pool_init(&c->namespaces, sizeof(struct namespace_record));
    pool_init(&c->sets, sizeof(struct set_record));
    pool_init(&c->bindings, sizeof(struct binding_record));
    pool_init(&c->placements, sizeof(struct placement_record));
    pool_init(&c->decisions, sizeof(struct decision_record));
    pool_init(&c->resources, sizeof(struct fleet_scores));
    pool_init(&c->scores, sizeof(struct score_record));
    pool_init(&c->strangers, sizeof(struct stranger_record));
    pool_init(&c->mentions, sizeof(struct mention));
    c->charged_max = LIMIT_HUB_BYTES;
    c->sets_with_selector = c->unsorted_namespaces = c->unsorted_placements = FLEET_NONE;
    const struct topology_options options = {
        .strings = &c->strings, .owner = c, .grow = grow, .freed = freed};
    int r = topology_new(&options, &c->clusters, err);
    if (r == 0)
        *ret = c;
    else
        free(c);
    return r;
}

static void free_records(struct fleet_contents *c) {
    for (POOL_EACH(&c->scores, id))
        free(score_at(c, id)->items);
    for (POOL_EACH(&c->decisions, id))
        contents_decision_empty(decision_at(c, id));
    for (POOL_EACH(&c->placements, id))
        contents_placement_empty(c, placement_at(c, id));
    for (POOL_EACH(&c->sets, id))
        arena_done(&set_at(c, id)->arena);
    for (POOL_EACH(&c->namespaces, id)) {
        free(namespace_at(c, id)->sets);
        label_set_free(&c->strings, &namespace_at(c, id)->labels);
    }
    for (uint32_t slot = 0; slot < topology_cap(c->clusters); slot++)
        contents_cluster_empty(c, &c->cluster_of[slot]);
}

void contents_free(void *contents) {
    struct fleet_contents *c = contents;
    if (c == NULL)
        return;
    free_records(c);
    struct pool *pools[] = {&c->namespaces, &c->sets,      &c->bindings,
                            &c->placements, &c->decisions, &c->resources,
                            &c->scores,     &c->strangers, &c->mentions};
    struct hashmap *indexes[] = {&c->namespace_index, &c->set_index,      &c->binding_index,
                                 &c->placement_index, &c->decision_index, &c->resource_index,
                                 &c->score_index,     &c->stranger_index};
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++)
        pool_done(pools[i]);
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++)
        hashmap_done(indexes[i]);
    topology_free(c->clusters);
    free(c->cluster_of);
    free(c->decided);
    free(c->strange);
    free(c->sorting);
    intern_done(&c->strings);
    free(c);
}

struct fleet_stats contents_stats(const struct fleet_contents *c) {
    struct fleet_stats stats = {.clusters = topology_stats(c->clusters).candidates,
                                .sets = 0,
                                .bindings = c->bindings.count,
                                .decisions = c->decisions.count,
                                .scores = c->scores.count,
                                .strings = c->strings.count - c->strings.free_count};
    for (POOL_EACH(&c->sets, id))
        stats.sets += pool_is_known(&c->sets, id);
    for (POOL_EACH(&c->namespaces, id))
        stats.namespaces += pool_is_known(&c->namespaces, id);
    for (POOL_EACH(&c->placements, id))
        stats.placements += pool_is_known(&c->placements, id);
    stats.records = c->namespaces.count + c->sets.count + c->bindings.count + c->placements.count +
                    c->decisions.count + c->resources.count + c->scores.count + c->strangers.count;
    return stats;
}

/* ---- lists ---- */

static struct links *links_of(const struct list *l, uint32_t id) {
    return (struct links *)(void *)((char *)pool_at(l->pool, id) + l->offset);
}

void list_put(const struct list *l, uint32_t id) {
    *links_of(l, id) = (struct links){.next = *l->head, .previous = FLEET_NONE};
    if (*l->head != FLEET_NONE)
        links_of(l, *l->head)->previous = id;
    *l->head = id;
}

void list_take(const struct list *l, uint32_t id) {
    const struct links links = *links_of(l, id);
    if (links.next != FLEET_NONE)
        links_of(l, links.next)->previous = links.previous;
    if (links.previous != FLEET_NONE)
        links_of(l, links.previous)->next = links.next;
    else
        *l->head = links.next;
}

/* ---- order ---- */

static int by_text(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int by_name(const void *a, const void *b) {
    const struct fleet_decision *const *left = a, *const *right = b;
    return str_cmp((*left)->name, (*right)->name);
}

static void sort_bindings(struct fleet_contents *c, struct namespace_record *n) {
    uint32_t count = 0;
    for (uint32_t id = n->bindings; id != FLEET_NONE; id = binding_at(c, id)->in_namespace.next)
        n->sets[count++] = intern_str(&c->strings, set_at(c, binding_at(c, id)->set)->name);
    if (count > 1)
        qsort(n->sets, count, sizeof *n->sets, by_text);
}

static void sort_decisions(struct fleet_contents *c, struct placement_record *p) {
    uint32_t count = 0;
    for (uint32_t id = p->decisions; id != FLEET_NONE; id = decision_at(c, id)->of_placement.next)
        c->sorting[count++] = &decision_at(c, id)->decision;
    if (count > 1)
        qsort(c->sorting, count, sizeof *c->sorting, by_name);
    p->first = NULL;
    for (uint32_t i = count; i > 0; i--) {
        c->sorting[i - 1]->next = p->first;
        p->first = c->sorting[i - 1];
    }
}

bool contents_unsorted(const struct fleet_contents *c) {
    return c->unsorted_namespaces != FLEET_NONE || c->unsorted_placements != FLEET_NONE;
}

/* Frees empty records only here, because until now they are in the list. */
void contents_sort(struct fleet_contents *c) {
    while (c->unsorted_placements != FLEET_NONE) {
        const uint32_t id = c->unsorted_placements;
        struct placement_record *p = placement_at(c, id);
        c->unsorted_placements = p->next_unsorted;
        p->unsorted = false;
        sort_decisions(c, p);
        contents_placement_settle(c, id);
    }
    while (c->unsorted_namespaces != FLEET_NONE) {
        const uint32_t id = c->unsorted_namespaces;
        struct namespace_record *n = namespace_at(c, id);
        c->unsorted_namespaces = n->next_unsorted;
        n->unsorted = false;
        sort_bindings(c, n);
        contents_namespace_settle(c, id);
    }
}
