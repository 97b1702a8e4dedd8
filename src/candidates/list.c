#include "candidates/list.h"

#include "candidates/nodes.h"
#include "fleet/fleet.h"

#include <errno.h>
#include <stdlib.h>

struct candidate_list {
    struct informer *nodes; /* owned; NULL: clusters */
    struct fleet *fleet;    /* owned; NULL: nodes */
};

int candidate_list_new(const struct candidate_kind *kind, struct candidate_list **ret,
                       struct err *err) {
    struct candidate_list *l = calloc(1, sizeof *l);
    if (l == NULL)
        return err_set(err, -ENOMEM, "no memory for %s", kind->name);
    int r = kind->row == KIND_NODE ? informer_new(&node_store, NULL, &l->nodes, err)
                                   : fleet_new(&l->fleet, err);
    if (r == 0)
        *ret = l;
    else
        free(l);
    return r;
}

void candidate_list_free(struct candidate_list *l) {
    if (l == NULL)
        return;
    informer_free(l->nodes);
    fleet_free(l->fleet);
    free(l);
}

struct informer *candidate_list_informer(const struct candidate_list *l, uint64_t *ret_without) {
    *ret_without = l->fleet != NULL ? FLEET_NOT_WATCHED : 0;
    return l->fleet != NULL ? fleet_informer(l->fleet) : l->nodes;
}

/* ---- describing ---- */

struct listing {
    struct arena *arena;
    struct listed_candidate *items;
    uint32_t count, cap;
};

/* A place for one more; NULL: no memory. */
static struct candidate *add(struct listing *l, enum kind_row kind) {
    struct listed_candidate *items =
        arena_push(l->arena, l->items, l->count, &l->cap, sizeof *items);
    if (items == NULL)
        return NULL;
    l->items = items;
    items[l->count].kind = kind;
    return &items[l->count++].candidate;
}

static int add_known(struct listing *l, const struct topology *t, enum kind_row kind) {
    for (uint32_t slot = 0; slot < topology_slots(t); slot++) {
        struct candidate *candidate = topology_is_known(t, slot) ? add(l, kind) : NULL;
        if (candidate != NULL && topology_describe(t, slot, l->arena, candidate) != 0)
            return -ENOMEM;
    }
    return arena_failed(l->arena) ? -ENOMEM : 0;
}

static void copy_taints(const struct fleet_cluster *cluster, struct arena *arena,
                        struct candidate *ret) {
    struct taint *taints = arena_array(arena, cluster->taint_count, sizeof *taints);
    for (uint32_t i = 0; taints != NULL && i < cluster->taint_count; i++) {
        const struct taint *t = &cluster->taints[i].taint;
        taints[i] = (struct taint){arena_str(arena, t->key), arena_str(arena, t->value),
                                   arena_str(arena, t->effect)};
    }
    ret->taints = taints;
    ret->taint_count = taints != NULL ? cluster->taint_count : 0;
}

static int add_clusters(struct listing *l, const struct fleet_view *v) {
    int r = add_known(l, v->clusters.topology, KIND_MANAGED_CLUSTER);
    for (uint32_t i = 0; r == 0 && i < l->count; i++) {
        struct candidate *candidate = &l->items[i].candidate;
        const uint32_t slot = topology_find(&v->clusters, candidate->name);
        copy_taints(fleet_cluster(v, slot), l->arena, candidate);
    }
    return r;
}

static int by_name(const void *a, const void *b) {
    const struct listed_candidate *left = a, *right = b;
    const int order = str_cmp(left->candidate.name, right->candidate.name);
    return order != 0 ? order : (left->kind > right->kind) - (left->kind < right->kind);
}

int candidate_list_describe(const struct candidate_list *l, struct arena *arena,
                            struct listed_candidate **ret, uint32_t *ret_count) {
    struct listing listing = {.arena = arena};
    struct fleet_view view;
    int r;
    if (l->fleet != NULL) {
        fleet_view_open(l->fleet, &view);
        r = add_clusters(&listing, &view);
        fleet_view_close(&view);
    } else {
        r = add_known(&listing, nodes_of(informer_read(l->nodes)), KIND_NODE);
        informer_read_done(l->nodes);
    }
    if (r != 0 || arena_failed(arena))
        return -ENOMEM;
    if (listing.count > 1)
        qsort(listing.items, listing.count, sizeof *listing.items, by_name);
    *ret = listing.items;
    *ret_count = listing.count;
    return 0;
}
