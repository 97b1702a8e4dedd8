#include "karmada/schedule.h"

#include "karmada/texts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int out_of_steps(struct err *err) {
    return err_set(err, -E2BIG, "more clusters, taints and tolerations than there is time for");
}

static int out_of_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory to filter clusters");
}

/* ---- preparation for all clusters ---- */

struct filtering {
    const struct karmada_question *q;
    const struct cluster_placement *placement;
    karmada_api api;
    struct texts targets, evicted; /* names in spec.clusters; in gracefulEvictionTasks */
    const int32_t *replicas;       /* [targets.count]: replicas of the first entry with that name */
    const struct affinity_term *term; /* the term of clusterAffinities in force */
    bool is_workload;
    struct str untolerated; /* the last reason that was made, and its taint */
    const struct taint *of_taint;
    struct arena *arena;
};

static int note_targets(struct filtering *f) {
    const struct binding_spec *spec = f->q->spec;
    int32_t *replicas = arena_array(f->arena, spec->cluster_count, sizeof *replicas);
    if (replicas == NULL || texts_init(&f->targets, spec->cluster_count, f->arena) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < spec->cluster_count; i++) {
        const uint32_t before = f->targets.count;
        const uint32_t at = texts_put(&f->targets, spec->clusters[i].name);
        if (at == before)
            replicas[at] = spec->clusters[i].replicas;
    }
    f->replicas = replicas;
    return 0;
}

static int prepare(struct filtering *f, struct err *err) {
    const struct binding_spec *spec = f->q->spec;
    if (!steps_take(&f->arena->steps, (uint64_t)spec->cluster_count + spec->eviction_count +
                                          spec->placement.affinity_count))
        return out_of_steps(err);
    if (note_targets(f) != 0 || texts_init(&f->evicted, spec->eviction_count, f->arena) != 0)
        return out_of_memory(err);
    for (uint32_t i = 0; i < spec->eviction_count; i++)
        (void)texts_put(&f->evicted, spec->evictions[i].from); /* the result is not used */
    f->api = karmada_api_of_object(spec->resource_api, spec->resource_kind);
    f->term = karmada_term(f->placement, f->q->status->observed_affinity);
    f->is_workload = binding_is_workload(spec);
    return 0;
}

const struct affinity_term *karmada_term(const struct cluster_placement *placement,
                                         struct str name) {
    if (placement->has_affinity)
        return NULL;
    for (uint32_t i = 0; i < placement->affinity_count; i++)
        if (str_eq(placement->affinities[i].affinity.name, name))
            return &placement->affinities[i];
    return NULL;
}

/* ---- the filters ---- */

/* A cluster. `target` is its number among the targets, if the binding has the cluster today. */
struct subject {
    const struct karmada_cluster *cluster;
    struct cluster_traits traits;
    uint32_t target;
};

/* Returns false if the filter refuses the cluster; *ret_reason is the reason. */
typedef bool filter_fn(struct filtering *f, const struct subject *s, struct str *ret_reason);

static bool serves_api(struct filtering *f, const struct subject *s, struct str *ret_reason) {
    *ret_reason = STR("cluster(s) did not have the API resource");
    return s->target != TEXTS_NONE || karmada_cluster_serves(s->cluster, f->api);
}

static struct str untolerated(const struct taint *taint, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_append_str(&text, STR("cluster(s) had untolerated taint {"));
    taint_print(taint, &text);
    strbuf_append_char(&text, '}');
    if (strbuf_failed(&text))
        arena->failed = true;
    return arena_str(arena, strbuf_str(&text));
}

static bool same_taint(const struct taint *a, const struct taint *b) {
    return str_eq(a->key, b->key) && str_eq(a->value, b->value) && str_eq(a->effect, b->effect);
}

static bool tolerates(struct filtering *f, const struct subject *s, struct str *ret_reason) {
    const struct tolerations tolerations = f->placement->tolerations;
    const struct taint *taints = s->cluster->taints;
    if (s->target != TEXTS_NONE)
        return true;
    for (uint32_t i = 0; i < s->cluster->taint_count; i++) {
        if (!steps_take(&f->arena->steps, 1 + (uint64_t)tolerations.count))
            return true; /* the caller checks the steps */
        if (taints_tolerated(&taints[i], 1, tolerations))
            continue;
        /* clusters usually have the same taints */
        if (f->of_taint == NULL || !same_taint(f->of_taint, &taints[i])) {
            f->of_taint = &taints[i];
            f->untolerated = untolerated(&taints[i], f->arena);
        }
        *ret_reason = f->untolerated;
        return false;
    }
    return true;
}

static bool matches_affinity(struct filtering *f, const struct subject *s, struct str *ret_reason) {
    struct steps *steps = &f->arena->steps;
    *ret_reason = STR("cluster(s) did not match the placement cluster affinity constraint");
    if (f->placement->has_affinity)
        return cluster_affinity_matches(&f->placement->affinity, &s->traits, steps);
    if (f->term == NULL || cluster_affinity_matches(&f->term->affinity, &s->traits, steps))
        return true;
    for (uint32_t i = 0; f->is_workload && i < f->term->overflow_count; i++)
        if (steps_spent(steps) ||
            cluster_affinity_matches(&f->term->overflow[i], &s->traits, steps))
            return true;
    return false;
}

/* With missingTopology Default, a cluster without a value gets a default value. */
static bool has_topology(struct filtering *f, const struct subject *s, struct str *ret_reason) {
    bool has = true;
    if (f->q->options->missing == MISSING_DEFAULT)
        return true;
    for (uint32_t i = 0; has && i < f->placement->spread_count; i++) {
        const enum spread_field field = f->placement->spread[i].field;
        if (field == SPREAD_PROVIDER) {
            *ret_reason = STR("cluster(s) did not have provider property");
            has = !str_empty(s->traits.provider);
        } else if (field == SPREAD_REGION) {
            *ret_reason = STR("cluster(s) did not have region property");
            has = !str_empty(s->traits.region);
        } else if (field == SPREAD_ZONE) {
            *ret_reason = STR("cluster(s) did not have zones property");
            has = s->traits.zone_count > 0;
        }
    }
    return steps_take(&f->arena->steps, f->placement->spread_count) && has;
}

static bool stays(struct filtering *f, const struct subject *s, struct str *ret_reason) {
    *ret_reason = STR("cluster(s) is in the process of eviction");
    return texts_find(&f->evicted, s->traits.name) == TEXTS_NONE;
}

static filter_fn *const filters[] = {
    [PLUGIN_API_ENABLEMENT] = serves_api,
    [PLUGIN_TAINT_TOLERATION] = tolerates,
    [PLUGIN_CLUSTER_AFFINITY] = matches_affinity,
    [PLUGIN_SPREAD_CONSTRAINT] = has_topology,
    [PLUGIN_CLUSTER_EVICTION] = stays,
};
enum { FILTERS = sizeof filters / sizeof filters[0] };

static struct karmada_verdict filter_one(struct filtering *f, const struct subject *s) {
    struct karmada_verdict verdict = {.pass = CLUSTER_PASSES};
    if (s->cluster->meta.terminating)
        return (struct karmada_verdict){.pass = CLUSTER_DELETING,
                                        .reason = STR("cluster is being deleted")};
    for (uint32_t plugin = 0; plugin < FILTERS; plugin++)
        if ((f->q->options->plugins & 1u << plugin) != 0 &&
            !filters[plugin](f, s, &verdict.reason)) {
            verdict.pass = CLUSTER_REFUSED;
            verdict.plugin = (enum karmada_plugin)plugin;
            return verdict;
        }
    verdict.reason = (struct str){0};
    return verdict;
}

/* upstream: getClusterOverflowOrder() */
static int32_t overflow_order(const struct filtering *f, const struct subject *s) {
    enum { NONE = 1000 };
    if (f->placement->has_affinity || f->placement->affinity_count == 0)
        return 0;
    if (f->term == NULL)
        return NONE;
    if (cluster_affinity_matches(&f->term->affinity, &s->traits, &f->arena->steps))
        return 0;
    for (uint32_t i = 0; i < f->term->overflow_count && !steps_spent(&f->arena->steps); i++)
        if (cluster_affinity_matches(&f->term->overflow[i], &s->traits, &f->arena->steps))
            return (int32_t)i + 1;
    return NONE;
}

static struct subject subject_of(const struct filtering *f, const struct karmada_cluster *cluster) {
    return (struct subject){.cluster = cluster,
                            .traits = {.name = cluster->meta.name,
                                       .provider = cluster->provider,
                                       .region = cluster->region,
                                       .zones = cluster->zones,
                                       .zone_count = cluster->zone_count,
                                       .labels = cluster->meta.labels},
                            .target = texts_find(&f->targets, cluster->meta.name)};
}

static void add_candidate(const struct filtering *f, const struct subject *s, uint32_t cluster,
                          struct karmada_filtered *out) {
    out->candidates[out->count] = (struct karmada_candidate){
        .cluster = s->traits,
        .previous = s->target == TEXTS_NONE ? 0 : f->replicas[s->target],
        .overflow_order = overflow_order(f, s),
    };
    out->clusters[out->count] = cluster;
    out->is_target[out->count] = s->target != TEXTS_NONE;
    out->count++;
}

int karmada_filter(const struct karmada_question *q, struct arena *arena,
                   struct karmada_filtered *ret, struct err *err) {
    struct filtering f = {.q = q, .placement = &q->spec->placement, .arena = arena};
    struct karmada_filtered out = {
        .verdicts = arena_array_unset(arena, q->cluster_count, sizeof *out.verdicts),
        .candidates = arena_array_unset(arena, q->cluster_count, sizeof *out.candidates),
        .clusters = arena_array_unset(arena, q->cluster_count, sizeof *out.clusters),
        .is_target = arena_array_unset(arena, q->cluster_count, sizeof *out.is_target),
    };
    if (out.verdicts == NULL || out.candidates == NULL || out.clusters == NULL ||
        out.is_target == NULL)
        return out_of_memory(err);
    const int r = prepare(&f, err);
    if (r != 0)
        return r;
    for (uint32_t i = 0; i < q->cluster_count; i++) {
        const struct subject s = subject_of(&f, q->clusters[i]);
        out.verdicts[i] = filter_one(&f, &s);
        if (out.verdicts[i].pass == CLUSTER_PASSES)
            add_candidate(&f, &s, i, &out);
        if (!steps_take(&arena->steps, 1))
            return out_of_steps(err);
    }
    *ret = out;
    return arena_failed(arena) ? out_of_memory(err) : 0;
}

/* ---- the text for "no cluster fits" ---- */

struct counted_reason {
    char text[16]; /* "<count> " */
    int n;
    struct str reason;
};

/* Sorts as strings, like upstream. */
static int by_text(const void *a, const void *b) {
    const struct counted_reason *left = a, *right = b;
    const int common = left->n < right->n ? left->n : right->n;
    const int order = memcmp(left->text, right->text, (size_t)common);
    if (order != 0)
        return order;
    return str_cmp(left->reason, right->reason); /* equal counts: both texts end with a blank */
}

static uint32_t count_reasons(const struct karmada_filtered *filtered, uint32_t cluster_count,
                              struct texts *reasons, uint32_t *counts) {
    uint32_t refused = 0;
    for (uint32_t i = 0; i < cluster_count; i++)
        if (filtered->verdicts[i].pass == CLUSTER_REFUSED) {
            counts[texts_put(reasons, filtered->verdicts[i].reason)]++;
            refused++;
        }
    return refused;
}

static struct str join(const struct counted_reason *items, uint32_t count, uint32_t clusters,
                       struct arena *arena) {
    size_t n = 64;
    for (uint32_t i = 0; i < count; i++)
        n += (size_t)items[i].n + items[i].reason.n + 2;
    struct strbuf text = {.p = arena_alloc(arena, n), .cap = n, .max = n};
    if (text.p == NULL)
        return (struct str){0};
    strbuf_appendf(&text, "0/%u clusters are available: ", clusters);
    for (uint32_t i = 0; i < count; i++) {
        strbuf_append(&text, ", ", i > 0 ? 2 : 0);
        strbuf_append(&text, items[i].text, (size_t)items[i].n);
        strbuf_append_str(&text, items[i].reason);
    }
    strbuf_append_str(&text, count == 0 ? STR("no cluster exists.") : STR("."));
    return strbuf_str(&text);
}

struct str karmada_fit_error(const struct karmada_filtered *filtered, uint32_t cluster_count,
                             struct arena *arena) {
    struct texts reasons;
    uint32_t *counts = arena_array(arena, cluster_count, sizeof *counts);
    if (counts == NULL || texts_init(&reasons, cluster_count, arena) != 0)
        return (struct str){0};
    (void)count_reasons(filtered, cluster_count, &reasons, counts);
    struct counted_reason *items = arena_array(arena, reasons.count, sizeof *items);
    if (items == NULL || !steps_take_sort(&arena->steps, reasons.count))
        return (struct str){0};
    for (uint32_t i = 0; i < reasons.count; i++) {
        items[i].n = snprintf(items[i].text, sizeof items[i].text, "%u ", counts[i]);
        items[i].reason = reasons.items[i];
    }
    if (reasons.count > 1)
        qsort(items, reasons.count, sizeof *items, by_text);
    return join(items, reasons.count, cluster_count, arena);
}
