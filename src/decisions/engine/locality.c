/*
 * Scores locality: the nearer a node is to the bytes that a pod mounts, the better. No API object
 * says how many bytes of a dataset a node holds. So they are estimated: the cached bytes of the
 * dataset are split among the nodes with a worker in proportion to the workers' quotas. A worker is
 * known by its pod, or by the node's label; a worker without a quota counts as the average one.
 * (specs of Fluid: node label s-h-<type>-t-...)
 *
 * Bytes on a node that a worker is leaving do not count: a pod that mounts the dataset would come
 * too late to use them, and would keep the worker from leaving. They are not counted elsewhere
 * either.
 *
 * A node's score is a sum over all datasets, weighted by size, and over all tiers: the share of the
 * bytes that are in the node's domain of the tier, but in no domain of an earlier tier, times the
 * tier's weight (by default 100 on the node itself, 25 in its zone, 10 in its region). So the
 * dataset's own topology labels are not needed. The best candidate is normalised to 100.
 *
 * Locality filters no node: nodes that a hard constraint forbids are not scored.
 */
#include "engine/algorithm.h"
#include "model/fluid.h"

#include "model/quantity.h"
#include "model/topology.h"

#include <errno.h>
#include <math.h>

const struct locality_tier engine_default_tiers[ENGINE_DEFAULT_TIERS] = {
    {TOPOLOGY_KEY_HOSTNAME, 100},
    {TOPOLOGY_KEY_ZONE, 25},
    {TOPOLOGY_KEY_REGION, 10},
};

/* Names of the well-known keys for people; other tiers are named by their key. */
static const struct tier_name {
    struct str key, name;
} tier_names[] = {
    {TOPOLOGY_KEY_HOSTNAME, STR("node")},
    {TOPOLOGY_KEY_ZONE, STR("zone")},
    {TOPOLOGY_KEY_REGION, STR("region")},
};

enum { RAW_MAX = 1000 };

static const struct str worker_pod_label = STR(FLUID_LABEL_DATASET);

struct tier {
    struct str key;
    bool is_node;                  /* this is the hostname tier, which has no column */
    struct topology_column column; /* the tier's domains; not used for the hostname tier */
    double gain;                   /* how much the tier's weight exceeds the weights of farther
                                      tiers; at least 0 */
};

struct locality {
    struct evaluation *e;
    uint32_t slots;
    struct tier *tiers; /* tiers, from near to far */
    uint32_t tier_count;
    double nearest;    /* sum of all gains */
    double *held;      /* [slots] the present dataset's counted bytes, in any unit */
    double sum;        /* all bytes of the present dataset, counted or not */
    double *near;      /* [slots] most bytes in the node's domain of any tier so far */
    double *scores;    /* [slots] */
    double *before;    /* [slots] scores without the present dataset; NULL: no report */
    struct str *names; /* [tier_count + 1] names of the tiers, for reports */
};

/* ---- the tiers ---- */

static struct str tier_name(struct str key) {
    for (size_t i = 0; i < sizeof tier_names / sizeof tier_names[0]; i++)
        if (str_eq(tier_names[i].key, key))
            return tier_names[i].name;
    return key;
}

/*
 * w0*L + w1*(Z-L) + w2*(R-Z) is (w0-w1)*L + (w1-w2)*Z + w2*R, so that tiers can be added up one by
 * one. A node without a region forms a region with its zone, and so on: missing labels of far tiers
 * do not reduce near ones. A tier that weighs less than a later one counts as much as that one:
 * nearer is never worse. If a tier's domains do not contain those of the tier before, the larger
 * share of the two counts for both.
 */
static int tiers_open(struct locality *l) {
    const struct engine_options *options = l->e->options;
    const struct locality_tier *from = options->tiers;
    l->tier_count = options->tier_count;
    if (l->tier_count == 0) {
        from = engine_default_tiers;
        l->tier_count = ENGINE_DEFAULT_TIERS;
    }
    l->tiers = arena_array(l->e->arena, l->tier_count, sizeof *l->tiers);
    if (l->tiers == NULL)
        return -ENOMEM;
    int r = 0;
    for (uint32_t t = l->tier_count; r == 0 && t-- > 0;) {
        struct tier *tier = &l->tiers[t];
        tier->key = from[t].topology_key;
        tier->is_node = str_eq(tier->key, TOPOLOGY_KEY_HOSTNAME);
        tier->gain = fmax(from[t].weight - l->nearest, 0);
        l->nearest += tier->gain;
        if (!tier->is_node)
            r = topology_column(&l->e->view->nodes, tier->key, &tier->column);
    }
    return r;
}

/* ---- where a dataset's bytes are ---- */

/* Returns the bytes per domain of a column of quotas. NULL: no memory. */
static double *read_quotas(const struct locality *l, const struct topology_column *column) {
    double *quotas = arena_array(l->e->arena, column->domains, sizeof *quotas);
    for (uint32_t d = 0; quotas != NULL && d < column->domains; d++)
        quotas[d] = (double)quantity_bytes(topology_value(&l->e->view->nodes, column, d));
    return quotas;
}

/* Fills `held` with the workers' quotas, 0 without a worker; returns their sum. */
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

static void leave_out(struct locality *l, const struct mounted_dataset *d) {
    for (uint32_t i = 0; i < d->leaving_count; i++) {
        uint32_t slot = topology_find(&l->e->view->nodes, d->leaving[i].node);
        if (slot != TOPOLOGY_NONE)
            l->held[slot] = 0;
    }
}

/* Finds the nodes of a dataset's workers. Returns 0 or -errno. */
static int find(struct locality *l, const struct mounted_dataset *d) {
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
    l->sum = hold(l, workers, &label, &quota, quotas);
    leave_out(l, d);
    return 0;
}

/* ---- the nodes' scores ---- */

/* Adds to every node the tier's gain times the bytes in the node's domain. */
static int add_tier(struct locality *l, const struct tier *tier, double per_byte) {
    double gain = tier->gain * per_byte;
    const uint32_t *domain_of = tier->column.domain_of;
    if (tier->is_node) {
        for (uint32_t slot = 0; slot < l->slots; slot++) {
            l->near[slot] = fmax(l->near[slot], l->held[slot]);
            l->scores[slot] += gain * l->near[slot];
        }
        return 0;
    }
    double *inside = arena_array(l->e->arena, tier->column.domains, sizeof *inside);
    if (inside == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < l->slots; slot++)
        if (domain_of[slot] != TOPOLOGY_NONE)
            inside[domain_of[slot]] += l->held[slot];
    for (uint32_t slot = 0; slot < l->slots; slot++) {
        if (domain_of[slot] != TOPOLOGY_NONE)
            l->near[slot] = fmax(l->near[slot], inside[domain_of[slot]]);
        l->scores[slot] += gain * l->near[slot];
    }
    return 0;
}

static int add_dataset(struct locality *l, const struct mounted_dataset *d, double importance) {
    uint64_t passes = 1 + 2 * (uint64_t)l->tier_count; /* over all nodes */
    int r = evaluation_take(l->e, passes * l->slots + d->leaving_count);
    l->sum = 0;
    if (r == 0)
        r = find(l, d);
    if (r != 0 || l->sum <= 0)
        return r;
    double share = d->size > 0 && d->cached >= 0 ? fmin((double)d->cached / (double)d->size, 1) : 1;
    double per_byte = importance * share / l->sum;
    memset(l->near, 0, l->slots * sizeof *l->near);
    for (uint32_t t = 0; r == 0 && t < l->tier_count; t++)
        r = add_tier(l, &l->tiers[t], per_byte);
    return r;
}

/* ---- for explaining ---- */

/* Returns the estimated bytes on a node; -1: the cached bytes are unknown. */
static int64_t bytes_at(const struct locality *l, const struct mounted_dataset *d, uint32_t slot) {
    return d->cached < 0 ? -1 : (int64_t)round((double)d->cached * l->held[slot] / l->sum);
}

static void report_holders(const struct locality *l, struct dataset_report *report) {
    const struct topology *topology = l->e->view->nodes.topology;
    for (uint32_t slot = 0; slot < l->slots; slot++) {
        if (l->held[slot] <= 0)
            continue;
        report->nodes++;
        if (report->holder_count == DATASET_HOLDERS)
            continue;
        uint32_t at = report->holder_count++;
        report->holders[at].node = arena_str(l->e->arena, topology_name(topology, slot));
        report->holders[at].bytes = bytes_at(l, report->dataset, slot);
    }
}

/* Does the slot's domain of the tier have bytes? `inside` has an item per domain of the tier. */
static bool has_bytes(const struct locality *l, const struct tier *tier, const bool *inside,
                      uint32_t slot) {
    if (slot == TOPOLOGY_NONE)
        return false;
    if (tier->is_node)
        return l->held[slot] > 0;
    uint32_t domain = tier->column.domain_of[slot];
    return domain != TOPOLOGY_NONE && inside[domain];
}

/* Notes the tier for each candidate without a nearer tier, if its domain of the tier has bytes. */
static int report_tier(const struct locality *l, uint32_t t, struct dataset_report *report) {
    const struct tier *tier = &l->tiers[t];
    bool *inside = NULL;
    if (!tier->is_node) {
        inside = arena_array(l->e->arena, tier->column.domains, sizeof *inside);
        if (inside == NULL)
            return -ENOMEM;
        for (uint32_t slot = 0; slot < l->slots; slot++)
            if (tier->column.domain_of[slot] != TOPOLOGY_NONE && l->held[slot] > 0)
                inside[tier->column.domain_of[slot]] = true;
    }
    for (uint32_t i = 0; i < l->e->count; i++)
        if (report->tiers[i] == l->tier_count && has_bytes(l, tier, inside, l->e->slots[i]))
            report->tiers[i] = (uint8_t)t;
    return 0;
}

/* Notes the candidates that a worker is leaving: two walks over nodes and candidates. */
static int report_leaving(const struct locality *l, struct dataset_report *report) {
    const struct evaluation *e = l->e;
    const struct mounted_dataset *d = report->dataset;
    if (d->leaving_count == 0)
        return 0;
    const struct leaving_node **at = arena_array(e->arena, l->slots, sizeof *at);
    report->leaving = arena_array(e->arena, e->count, sizeof *report->leaving);
    if (at == NULL || report->leaving == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < d->leaving_count; i++) {
        uint32_t slot = topology_find(&e->view->nodes, d->leaving[i].node);
        if (slot != TOPOLOGY_NONE)
            at[slot] = &d->leaving[i];
    }
    for (uint32_t i = 0; i < e->count; i++)
        report->leaving[i] = e->slots[i] != TOPOLOGY_NONE ? at[e->slots[i]] : NULL;
    return 0;
}

/* Reports one dataset. `total` is the sum of the importance of all datasets. */
static int report_dataset(struct locality *l, const struct mounted_dataset *d, double importance,
                          double total) {
    struct evaluation *e = l->e;
    uint64_t walks = (uint64_t)l->tier_count + 1 + (d->leaving_count > 0 ? 1 : 0);
    if (evaluation_take(e, walks * (l->slots + e->count) + d->leaving_count) != 0)
        return -E2BIG;
    struct dataset_report *report = &e->datasets[e->dataset_count++];
    *report = (struct dataset_report){.dataset = d,
                                      .weight = importance / total,
                                      .tier_names = l->names,
                                      .tiers = arena_array(e->arena, e->count, 1),
                                      .points = arena_array(e->arena, e->count, sizeof(double))};
    if (report->tiers == NULL || report->points == NULL)
        return -ENOMEM;
    report_holders(l, report);
    for (uint32_t i = 0; i < e->count; i++) {
        uint32_t slot = e->slots[i];
        report->tiers[i] = (uint8_t)l->tier_count;
        if (slot != TOPOLOGY_NONE)
            report->points[i] = (l->scores[slot] - l->before[slot]) / total * RAW_MAX / l->nearest;
    }
    int r = report_leaving(l, report);
    for (uint32_t t = 0; r == 0 && t < l->tier_count; t++)
        r = report_tier(l, t, report);
    return r;
}

static int open_reports(struct locality *l) {
    struct evaluation *e = l->e;
    if (!e->options->reports)
        return 0;
    l->before = arena_array(e->arena, l->slots, sizeof *l->before);
    l->names = arena_array(e->arena, l->tier_count + 1, sizeof *l->names);
    e->datasets = arena_array(e->arena, LIMIT_EXPLAINED_DATASETS, sizeof *e->datasets);
    if (l->before == NULL || l->names == NULL || e->datasets == NULL)
        return -ENOMEM;
    for (uint32_t t = 0; t < l->tier_count; t++)
        l->names[t] = tier_name(l->tiers[t].key);
    l->names[l->tier_count] = STR("none");
    return 0;
}

/* ---- scoring ---- */

/* Returns the weight of a dataset of unknown size: the average of the others. */
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
    l->near = arena_array(e->arena, l->slots, sizeof *l->near);
    l->scores = arena_array(e->arena, l->slots, sizeof *l->scores);
    int r = l->held == NULL || l->near == NULL || l->scores == NULL ? -ENOMEM : 0;
    if (r == 0)
        r = tiers_open(l);
    return r == 0 ? open_reports(l) : r;
}

static double importance_of(const struct mounted_dataset *d, double usual) {
    return d->size > 0 ? (double)d->size : usual;
}

/* Adds all datasets, one by one. */
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
    (void)err; /* only memory can run out, which the engine reports */
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
        raw[i] = (int64_t)round(score * RAW_MAX / l.nearest);
        best = raw[i] > best ? raw[i] : best;
    }
    for (uint32_t i = 0; best > 0 && i < e->count; i++)
        normalized[i] = raw[i] * ENGINE_MAX_NORMALIZED / best;
    return best > 0 ? 0 : ALGORITHM_SKIP;
}

/* Scores only: locality is no filter. */
static uint32_t locality_weight(const struct engine_options *options) {
    return options->locality_weight;
}

const struct algorithm locality_algorithm = {
    .name = "locality",
    .score = locality_score,
    .weight = locality_weight,
};
