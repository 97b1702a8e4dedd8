#include "candidates/list.h"

#include "candidates/nodes.h"
#include "fleet/fleet.h"
#include "fleet/karmada.h"

#include <errno.h>
#include <stdlib.h>

struct candidate_list {
    struct informer *nodes;             /* owned; NULL: clusters */
    struct fleet *fleet;                /* owned, like the next; NULL: nodes */
    struct informer *karmada;           /* read from files only */
    struct file_follower *followers[2]; /* of clusters; borrowed; NULL before the first load */
};

int candidate_list_new(const struct candidate_kind *kind, struct candidate_list **ret,
                       struct err *err) {
    struct candidate_list *l = calloc(1, sizeof *l);
    if (l == NULL)
        return err_set(err, -ENOMEM, "no memory for %s", kind->name);
    int r;
    if (kind->row == KIND_NODE) {
        r = informer_new(&node_store, NULL, &l->nodes, err);
    } else {
        r = fleet_new(&l->fleet, err);
        if (r == 0)
            r = informer_new(&karmada_store, NULL, &l->karmada, err);
    }
    if (r == 0)
        *ret = l;
    else
        candidate_list_free(l);
    return r;
}

void candidate_list_free(struct candidate_list *l) {
    if (l == NULL)
        return;
    informer_free(l->nodes);
    informer_free(l->karmada);
    fleet_free(l->fleet);
    free(l);
}

int candidate_list_load(struct candidate_list *l, const char *const *paths, size_t count,
                        struct err *err) {
    struct file_source *files = NULL;
    struct file_source_result result;
    if (l->nodes != NULL)
        return informer_load(l->nodes, paths, count, err);
    int r = file_source_new(paths, count, NULL, &files, err);
    if (r != 0)
        return r;
    if (l->followers[0] == NULL) {
        l->followers[0] = informer_follower(fleet_informer(l->fleet));
        l->followers[1] = informer_follower(l->karmada);
    }
    file_source_follow(files, l->followers[0]);
    file_source_follow(files, l->followers[1]);
    r = file_source_load(files, &result, err);
    file_source_free(files);
    return r;
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

/* Returns a place for one more candidate, or NULL without memory. */
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

static int add_karmada(struct listing *l, const struct candidate_list *list) {
    struct karmada_view view;
    karmada_view_open(list->karmada, &view);
    int r = add_known(l, view.clusters.topology, KIND_KARMADA_CLUSTER);
    karmada_view_close(&view);
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
        if (r == 0)
            r = add_karmada(&listing, l);
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
