/*
 * Locality: the nearer to the bytes that a pod mounts, the better. No API object says how many
 * bytes of a dataset a node holds, so they are estimated: what is cached of the dataset, split
 * among the nodes with a worker as their quotas are. A worker is known by its pod, or by the node's
 * label; a worker without a quota counts as the average one. (specs of Fluid: node label
 * s-h-<type>-t-...)
 *
 * A node's score is, over all datasets weighted by size, the share of the bytes on the node itself
 * times 100, of the other bytes of its zone times 25, of the other bytes of its region times 10. So
 * it needs none of the dataset's own ideas of topology. The best candidate is normalised to 100.
 *
 * It judges no node: what a hard constraint forbids is never asked about here.
 */
#include "engine/algorithm.h"

#include "model/quantity.h"

#include <errno.h>
#include <math.h>

/* From near to far; the node itself comes first, and has no key. */
static const struct tier {
    struct str key;
    double weight;
} tiers[] = {
    {{NULL, 0}, 100},
    {{"topology.kubernetes.io/zone", 27}, 25},
    {{"topology.kubernetes.io/region", 29}, 10},
};
enum { TIERS = sizeof tiers / sizeof tiers[0], RAW_MAX = 1000 };

static const struct str worker_pod_label = {"fluid.io/dataset", 16};

struct locality {
    struct evaluation *e;
    uint32_t slots;
    struct topology_column columns[TIERS]; /* of the tiers but the first */
    double *held;                          /* [slots] the present dataset's bytes, in any unit */
    double *scores;                        /* [slots] */
};

/* Per domain of a column of quotas: the bytes. NULL: no memory. */
static double *read_quotas(const struct locality *l, const struct topology_column *column) {
    double *quotas = arena_array(l->e->arena, column->domains, sizeof *quotas);
    for (uint32_t d = 0; quotas != NULL && d < column->domains; d++)
        quotas[d] = (double)quantity_bytes(topology_value(&l->e->view->nodes, column, d));
    return quotas;
}

/* Fills `held` with quotas, 0 where there is no worker; returns their sum. */
static double hold(struct locality *l, const uint32_t *workers, const struct topology_column *label,
                   const struct topology_column *quota, const double *quotas) {
    double sum = 0;
    uint32_t known = 0, unknown = 0;
    for (uint32_t slot = 0; slot < l->slots; slot++) {
        uint32_t domain = quota->domain_of[slot];
        bool here = workers[slot] > 0 || label->domain_of[slot] != TOPOLOGY_NONE;
        double bytes = domain != TOPOLOGY_NONE ? quotas[domain] : -1;
        l->held[slot] = here && topology_is_known(l->e->view->nodes.topology, slot) ? bytes : 0;
        sum += l->held[slot] > 0 ? l->held[slot] : 0;
        known += l->held[slot] > 0;
        unknown += l->held[slot] < 0;
    }
    double average = known > 0 ? sum / known : 1;
    for (uint32_t slot = 0; slot < l->slots; slot++)
        if (l->held[slot] < 0)
            l->held[slot] = average;
    return sum + average * unknown;
}

/* Where the workers of a dataset are. 0 and their sum, or -errno. */
static int find(struct locality *l, const struct mounted_dataset *d, double *ret_sum) {
    const struct requirement worker = {
        .key = worker_pod_label, .op = SELECTOR_IN, .values = &d->id, .value_count = 1};
    const struct selector selector = {.items = &worker, .count = 1};
    struct topology_column label, quota;
    const uint32_t *workers;
    int r = cache_counter(l->e->view, d->namespace, &selector, &workers);
    if (r == 0)
        r = topology_column(&l->e->view->nodes, d->worker_label, &label);
    if (r == 0)
        r = topology_column(&l->e->view->nodes, d->quota_label, &quota);
    if (r != 0)
        return r;
    const double *quotas = read_quotas(l, &quota);
    if (quotas == NULL)
        return -ENOMEM;
    *ret_sum = hold(l, workers, &label, &quota, quotas);
    return 0;
}

/* Adds, for every node, importance times weight times the share that is in its domain of the tier
 * and in no nearer one. */
static int add_tier(struct locality *l, size_t t, double per_byte) {
    const struct topology_column *column = &l->columns[t];
    double *inside = arena_array(l->e->arena, column->domains, sizeof *inside);
    if (inside == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < l->slots; slot++)
        if (column->domain_of[slot] != TOPOLOGY_NONE)
            inside[column->domain_of[slot]] += l->held[slot];
    double gain = (tiers[t].weight - (t + 1 < TIERS ? tiers[t + 1].weight : 0)) * per_byte;
    for (uint32_t slot = 0; slot < l->slots; slot++)
        if (column->domain_of[slot] != TOPOLOGY_NONE)
            l->scores[slot] += gain * inside[column->domain_of[slot]];
    return 0;
}

/*
 * w0*L + w1*(Z-L) + w2*(R-Z) is (w0-w1)*L + (w1-w2)*Z + w2*R, so that tiers can be added up one by
 * one. A node without a zone gains nothing by it, and one without a region nothing by that.
 */
static int add_dataset(struct locality *l, const struct mounted_dataset *d, double importance) {
    enum { PASSES = 1 + 2 * TIERS }; /* over all nodes */
    double sum;
    int r = evaluation_take(l->e, (uint64_t)PASSES * l->slots);
    if (r == 0)
        r = find(l, d, &sum);
    if (r != 0 || sum <= 0)
        return r;
    double share = d->size > 0 && d->cached >= 0 ? fmin((double)d->cached / (double)d->size, 1) : 1;
    double per_byte = importance * share / sum;
    double gain = (tiers[0].weight - tiers[1].weight) * per_byte;
    for (uint32_t slot = 0; slot < l->slots; slot++)
        l->scores[slot] += gain * l->held[slot];
    for (size_t t = 1; r == 0 && t < TIERS; t++)
        r = add_tier(l, t, per_byte);
    return r;
}

/* What one whose size is not known counts for: as much as the average of the others. */
static double usual_size(const struct pod *pod) {
    double sum = 0;
    uint32_t known = 0;
    for (uint32_t i = 0; i < pod->dataset_count; i++) {
        sum += pod->datasets[i].size > 0 ? (double)pod->datasets[i].size : 0;
        known += pod->datasets[i].size > 0;
    }
    return known > 0 ? sum / known : 1;
}

static int locality_open(struct evaluation *e, struct locality *l) {
    *l = (struct locality){.e = e, .slots = topology_slots(e->view->nodes.topology)};
    l->held = arena_array(e->arena, l->slots, sizeof *l->held);
    l->scores = arena_array(e->arena, l->slots, sizeof *l->scores);
    int r = l->held == NULL || l->scores == NULL ? -ENOMEM : 0;
    for (size_t t = 1; r == 0 && t < TIERS; t++)
        r = topology_column(&e->view->nodes, tiers[t].key, &l->columns[t]);
    return r;
}

static int locality_score(struct evaluation *e, int64_t *raw, int64_t *normalized,
                          struct err *err) {
    const struct pod *pod = e->pod;
    struct locality l;
    double total = 0, usual = usual_size(pod);
    int64_t best = 0;
    (void)err; /* only memory runs out, which the engine says */
    if (pod->dataset_count == 0 || e->count == 0)
        return ALGORITHM_SKIP;
    int r = locality_open(e, &l);
    for (uint32_t i = 0; r == 0 && i < pod->dataset_count; i++) {
        const struct mounted_dataset *d = &pod->datasets[i];
        double importance = d->size > 0 ? (double)d->size : usual;
        total += importance;
        r = add_dataset(&l, d, importance);
    }
    if (r != 0)
        return r;
    for (uint32_t i = 0; i < e->count; i++) {
        double score = e->slots[i] != TOPOLOGY_NONE ? l.scores[e->slots[i]] / total : 0;
        raw[i] = (int64_t)round(score * RAW_MAX / tiers[0].weight);
        best = raw[i] > best ? raw[i] : best;
    }
    for (uint32_t i = 0; best > 0 && i < e->count; i++)
        normalized[i] = raw[i] * ENGINE_MAX_NORMALIZED / best;
    return best > 0 ? 0 : ALGORITHM_SKIP;
}

/* It has nothing to say about which nodes a pod may use. */
static uint32_t locality_weight(const struct engine_options *options) {
    return options->locality_weight;
}

const struct algorithm locality_algorithm = {
    .name = "locality",
    .score = locality_score,
    .weight = locality_weight,
};
