/*
 * Scores nodes by their own properties: free resources, taints, labels that the pod prefers,
 * images.
 */
#include "engine/in_tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* upstream: plugins/helper DefaultNormalizeScore() */
static void normalize(int64_t *scores, uint32_t count, bool reverse) {
    int64_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = scores[i] > most ? scores[i] : most;
    for (uint32_t i = 0; i < count; i++) {
        int64_t score = most == 0 ? 0 : ENGINE_MAX_NORMALIZED * scores[i] / most;
        scores[i] = reverse ? ENGINE_MAX_NORMALIZED - score : score;
    }
}

/* ---- cpu and memory ---- */

static const struct str resource_names[FILLED] = {
    [FILLED_CPU] = {"cpu", 3}, [FILLED_MEMORY] = {"memory", 6}};

int score_resources_fit(struct evaluation *e, int64_t *scores, struct err *err) {
    (void)err;
    if (evaluation_take(e, (uint64_t)e->count * FILLED * 2) != 0)
        return -E2BIG;
    for (uint32_t i = 0; i < e->count; i++) {
        int64_t sum = 0, weights = 0;
        for (int r = 0; e->slots[i] != TOPOLOGY_NONE && r < FILLED; r++) {
            int64_t has = cache_node_resource(e->view, e->slots[i], resource_names[r]).allocatable;
            int64_t asked = (int64_t)((uint64_t)cache_node(e->view, e->slots[i]).filled[r] +
                                      (uint64_t)e->pod->requests.filled[r]);
            if (has == 0)
                continue;
            weights++;
            if (asked <= has) /* wraps around as upstream's does */
                sum += (int64_t)((uint64_t)(has - asked) * ENGINE_MAX_NORMALIZED) / has;
        }
        scores[i] = weights > 0 ? sum / weights : 0;
    }
    return 0;
}

static int64_t request_of(const struct pod *pod, struct str name) {
    for (uint32_t i = 0; i < pod->requests.resources.count; i++)
        if (str_eq(pod->requests.resources.items[i].name, name))
            return pod->requests.resources.items[i].amount;
    return 0;
}

/* Returns how equal the used fractions are: upstream's balancedResourceScore() of two resources. */
static int64_t evenness(const int64_t asked[static FILLED], const int64_t has[static FILLED]) {
    double fractions[FILLED], deviation = 0;
    int known = 0;
    for (int r = 0; r < FILLED; r++)
        if (has[r] != 0) {
            double fraction = (double)asked[r] / (double)has[r];
            fractions[known++] = fraction > 1 ? 1 : fraction;
        }
    if (known == 2)
        deviation = fabs((fractions[0] - fractions[1]) / 2);
    return (int64_t)((1 - deviation) * ENGINE_MAX_NORMALIZED);
}

int score_balanced_allocation(struct evaluation *e, int64_t *scores, struct err *err) {
    enum { HALF = ENGINE_MAX_NORMALIZED / 2 };
    const int64_t wanted[FILLED] = {request_of(e->pod, resource_names[FILLED_CPU]),
                                    request_of(e->pod, resource_names[FILLED_MEMORY])};
    (void)err;
    if (wanted[FILLED_CPU] == 0 && wanted[FILLED_MEMORY] == 0)
        return ALGORITHM_SKIP;
    if (evaluation_take(e, (uint64_t)e->count * FILLED * 2) != 0)
        return -E2BIG;
    for (uint32_t i = 0; i < e->count; i++) {
        int64_t has[FILLED] = {0}, before[FILLED] = {0}, after[FILLED] = {0};
        for (int r = 0; e->slots[i] != TOPOLOGY_NONE && r < FILLED; r++) {
            const struct cache_resource of =
                cache_node_resource(e->view, e->slots[i], resource_names[r]);
            has[r] = of.allocatable;
            before[r] = of.requested;
            after[r] = (int64_t)((uint64_t)of.requested + (uint64_t)wanted[r]);
        }
        scores[i] = HALF + (HALF + evenness(after, has) - evenness(before, has)) / 2;
    }
    return 0;
}

/* ---- taints ---- */

int score_taints(struct evaluation *e, int64_t *scores, struct err *err) {
    const uint8_t *flags;
    (void)err;
    int r = topology_feasible(&e->view->nodes, &e->feasibility, &flags);
    for (uint32_t i = 0; r == 0 && i < e->count; i++) {
        uint32_t slot = e->slots[i];
        struct candidate node;
        if (slot == TOPOLOGY_NONE || (flags[slot] & CANDIDATE_AVOIDED) == 0)
            continue;
        r = topology_describe(e->view->nodes.topology, slot, e->arena, &node);
        for (uint32_t t = 0; r == 0 && t < node.taint_count; t++) {
            r = evaluation_take(e, 1 + e->pod->tolerations.count);
            scores[i] += taints_avoided(&node.taints[t], 1, e->pod->tolerations);
        }
    }
    normalize(scores, e->count, true);
    return r;
}

/* ---- preferred labels ---- */

struct labelled {
    const struct topology *topology;
    uint32_t slot;
};

static bool lookup_label(const void *ctx, struct str key, struct str *ret_value) {
    const struct labelled *node = ctx;
    return topology_label(node->topology, node->slot, key, ret_value);
}

static int add_preference(struct evaluation *e, const struct preferred_term *preferred,
                          int64_t *scores) {
    const struct node_affinity alone = {
        .required = true, .terms = &preferred->term, .term_count = 1};
    uint64_t steps = node_affinity_cost(&alone).steps;
    if (evaluation_take(e, e->count * (1 + steps)) != 0)
        return -E2BIG;
    for (uint32_t i = 0; i < e->count; i++) {
        const struct labelled node = {e->view->nodes.topology, e->slots[i]};
        if (node.slot != TOPOLOGY_NONE &&
            node_affinity_matches(&alone, topology_name(node.topology, node.slot), lookup_label,
                                  &node))
            scores[i] += preferred->weight;
    }
    return 0;
}

static int add_preferences(struct evaluation *e, const struct node_affinity *affinity,
                           const char *where, int64_t *scores, struct err *err) {
    int r = 0;
    for (uint32_t p = 0; r == 0 && p < affinity->preferred_count; p++) {
        const struct preferred_term *preferred = &affinity->preferred[p];
        if (preferred->weight == 0)
            continue;
        if (preferred->term.invalid)
            return err_set(err, -EINVAL, "%s: preference %u does not parse", where, p);
        r = add_preference(e, preferred, scores);
    }
    return r;
}

int score_node_affinity(struct evaluation *e, int64_t *scores, struct err *err) {
    static const struct node_affinity none = {.required = false};
    const struct node_affinity *own = &e->pod->affinity, *added = e->options->added_affinity != NULL
                                                                      ? e->options->added_affinity
                                                                      : &none;
    if (own->preferred_count == 0 && added->preferred_count == 0)
        return ALGORITHM_SKIP;
    int r = add_preferences(e, added, "addedAffinity", scores, err);
    if (r == 0)
        r = add_preferences(e, own, "spec.affinity.nodeAffinity", scores, err);
    if (r == 0)
        normalize(scores, e->count, false);
    return r;
}

/* ---- images ---- */

/* An image of the pod: the score of a node that has it. */
struct wanted_image {
    uint32_t id;
    int64_t score;
};

static int compare_images(const void *a, const void *b) {
    const struct wanted_image *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Returns the images that some node has, by id. NULL if memory ran out. */
static struct wanted_image *wanted_images(const struct evaluation *e, uint32_t *ret_count) {
    struct wanted_image *wanted = arena_array(e->arena, e->pod->image_count, sizeof *wanted);
    double everywhere = (double)topology_stats(e->view->nodes.topology).candidates;
    struct cache_image image;
    *ret_count = 0;
    for (uint32_t i = 0; wanted != NULL && i < e->pod->image_count; i++)
        if (cache_image_find(e->view, e->pod->images[i], &image))
            wanted[(*ret_count)++] = (struct wanted_image){
                image.id, (int64_t)((double)image.size * ((double)image.nodes / everywhere))};
    if (*ret_count > 0)
        qsort(wanted, *ret_count, sizeof *wanted, compare_images);
    return wanted;
}

/* Sums the scores of the images on one node. Both lists are sorted by id. */
static int64_t images_here(const struct evaluation *e, uint32_t slot,
                           const struct wanted_image *wanted, uint32_t count, uint64_t *steps) {
    struct cache_node_images here = cache_node_images(e->view, slot);
    uint32_t i = 0;
    int64_t sum = 0;
    for (; i < count && cache_next_image(&here); ++*steps) {
        for (; i < count && wanted[i].id < here.id; i++)
            ;
        for (; i < count && wanted[i].id == here.id; i++)
            sum += wanted[i].score;
    }
    *steps += i;
    return sum;
}

static int add_images(struct evaluation *e, int64_t *scores) {
    uint32_t count;
    if (evaluation_take(e, e->pod->image_count + e->count) != 0)
        return -E2BIG;
    const struct wanted_image *wanted = wanted_images(e, &count);
    if (wanted == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; count > 0 && i < e->count; i++) {
        uint64_t steps = 0;
        if (e->slots[i] != TOPOLOGY_NONE)
            scores[i] = images_here(e, e->slots[i], wanted, count, &steps);
        if (evaluation_take(e, steps) != 0)
            return -E2BIG;
    }
    return 0;
}

int score_images(struct evaluation *e, int64_t *scores, struct err *err) {
    const int64_t least = INT64_C(23) << 20, most = (INT64_C(1000) << 20) * e->pod->containers;
    (void)err;
    int r = e->pod->image_count == 0 ? 0 : add_images(e, scores);
    if (r != 0)
        return r;
    for (uint32_t i = 0; i < e->count; i++) {
        int64_t score = scores[i] < least ? least : scores[i] > most ? most : scores[i];
        scores[i] = most == least ? 0 : ENGINE_MAX_NORMALIZED * (score - least) / (most - least);
    }
    return 0;
}
