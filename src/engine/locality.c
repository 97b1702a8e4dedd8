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
    double *before; /* [slots] scores before the present dataset; NULL: nothing is reported */
};

const struct str dataset_tiers[] = {{"node", 4}, {"zone", 4}, {"region", 6}, {"none", 4}};

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

/* ---- for explaining ---- */

/* The bytes that a node is taken to hold; -1: it is not known how many are cached. */
static int64_t bytes_at(const struct locality *l, const struct mounted_dataset *d, double sum,
                        uint32_t slot) {
    return d->cached < 0 ? -1 : (int64_t)round((double)d->cached * l->held[slot] / sum);
}

static void report_holders(const struct locality *l, double sum, struct dataset_report *report) {
    const struct topology *topology = l->e->view->nodes.topology;
    for (uint32_t slot = 0; slot < l->slots; slot++) {
        if (l->held[slot] <= 0)
            continue;
        report->nodes++;
        if (report->holder_count == DATASET_HOLDERS)
            continue;
        uint32_t at = report->holder_count++;
        report->holders[at].node = arena_str(l->e->arena, topology_name(topology, slot));
        report->holders[at].bytes = bytes_at(l, report->dataset, sum, slot);
    }
}

/* Notes for each candidate that is not nearer yet whether its domain of this tier has bytes. */
static int report_tier(const struct locality *l, size_t t, struct dataset_report *report) {
    const struct topology_column *column = &l->columns[t];
    bool *inside = arena_array(l->e->arena, column->domains, sizeof *inside);
    if (inside == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < l->slots; slot++)
        if (column->domain_of[slot] != TOPOLOGY_NONE && l->held[slot] > 0)
            inside[column->domain_of[slot]] = true;
    for (uint32_t i = 0; i < l->e->count; i++) {
        uint32_t slot = l->e->slots[i];
        uint32_t domain = slot != TOPOLOGY_NONE ? column->domain_of[slot] : TOPOLOGY_NONE;
        if (report->tiers[i] == TIERS && domain != TOPOLOGY_NONE && inside[domain])
            report->tiers[i] = (uint8_t)t;
    }
    return 0;
}

/* `total`: of the importance of all datasets. */
static int report_dataset(struct locality *l, const struct mounted_dataset *d, double importance,
                          double total) {
    struct evaluation *e = l->e;
    if (evaluation_take(e, (uint64_t)(TIERS + 1) * (l->slots + e->count)) != 0)
        return -E2BIG;
    struct dataset_report *report = &e->datasets[e->dataset_count++];
    double sum = 0;
    *report = (struct dataset_report){.dataset = d,
                                      .weight = importance / total,
                                      .tiers = arena_array(e->arena, e->count, 1),
                                      .points = arena_array(e->arena, e->count, sizeof(double))};
    if (report->tiers == NULL || report->points == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < l->slots; slot++)
        sum += l->held[slot];
    report_holders(l, sum, report);
    for (uint32_t i = 0; i < e->count; i++) {
        uint32_t slot = e->slots[i];
        bool known = slot != TOPOLOGY_NONE;
        report->tiers[i] = known && l->held[slot] > 0 ? 0 : TIERS;
        if (known)
            report->points[i] =
                (l->scores[slot] - l->before[slot]) / total * RAW_MAX / tiers[0].weight;
    }
    int r = 0;
    for (size_t t = 1; r == 0 && t < TIERS; t++)
        r = report_tier(l, t, report);
    return r;
}

static int open_reports(struct locality *l) {
    struct evaluation *e = l->e;
    if (!e->options->reports)
        return 0;
    l->before = arena_array(e->arena, l->slots, sizeof *l->before);
    e->datasets = arena_array(e->arena, LIMIT_EXPLAINED_DATASETS, sizeof *e->datasets);
    return l->before == NULL || e->datasets == NULL ? -ENOMEM : 0;
}

/* ---- scoring ---- */

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
    return r == 0 ? open_reports(l) : r;
}

static double importance_of(const struct mounted_dataset *d, double usual) {
    return d->size > 0 ? (double)d->size : usual;
}

/* All datasets, one by one. */
static int add_all(struct locality *l, double usual, double total) {
    const struct pod *pod = l->e->pod;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < pod->dataset_count; i++) {
        const struct mounted_dataset *d = &pod->datasets[i];
        if (l->before != NULL) {
            memcpy(l->before, l->scores, l->slots * sizeof *l->before);
            memset(l->held, 0, l->slots * sizeof *l->held);
        }
        r = add_dataset(l, d, importance_of(d, usual));
        if (r == 0 && l->before != NULL && l->e->dataset_count < LIMIT_EXPLAINED_DATASETS)
            r = report_dataset(l, d, importance_of(d, usual), total);
    }
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
    for (uint32_t i = 0; i < pod->dataset_count; i++)
        total += importance_of(&pod->datasets[i], usual);
    if (r == 0)
        r = add_all(&l, usual, total);
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
