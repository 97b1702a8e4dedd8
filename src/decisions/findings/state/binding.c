#include "findings/state/binding.h"

#include "base/json_fields.h"
#include "base/sorted.h"
#include "findings/state/keys.h"
#include "findings/terms.h"

#include <errno.h>
#include <stdio.h>

#define PLACEMENT "spec.placement"
#define CONSTRAINTS PLACEMENT ".spreadConstraints"

enum { PATH_BYTES = 200 };

static const char *const field_names[] = {[SPREAD_PROVIDER] = "provider",
                                          [SPREAD_REGION] = "region",
                                          [SPREAD_ZONE] = "zone",
                                          [SPREAD_LABEL] = NULL,
                                          [SPREAD_CLUSTER] = "cluster"};

/* ---- the answer ---- */

static const struct json_field target_fields[] = {
    JSON_TEXT("name", struct target_cluster, name),
    JSON_INTEGER("replicas", struct target_cluster, replicas, 0, INT32_MAX, .absent = 0),
};
static const struct json_field answer_fields[] = {
    JSON_TEXT("trigger", struct binding_answer, trigger),
    JSON_LIST("clusters", struct binding_answer, clusters, cluster_count, UINT32_MAX,
              target_fields),
};

int binding_answer_read(struct str json, struct arena *arena, struct binding_answer *ret,
                        struct err *err) {
    struct json_reader r;
    *ret = (struct binding_answer){.clusters = NULL};
    json_reader_init(&r, json, arena, "answer");
    json_fields(&r, &JSON_ROWS(answer_fields), ret);
    return json_finish(&r, err);
}

/* ---- spread constraints ---- */

static void check_groups(const struct cluster_spread *s, const struct karmada_options *options,
                         struct str path, struct findings *f) {
    char at[PATH_BYTES];
    if (s->max > 0 && s->min > s->max)
        findings_add(f, FINDING_INVALID, path, STR("Raise maxGroups, or lower minGroups"),
                     "Karmada's webhook refuses minGroups %lld above maxGroups %lld",
                     (long long)s->min, (long long)s->max);
    if (s->max != 0 || options->max_unset_is_unlimited)
        return;
    (void)snprintf(at, sizeof at, "%.*s.maxGroups", STR_ARG(path));
    findings_add(f, FINDING_MAX_GROUPS_UNSET, str_of(at),
                 STR("Write maxGroups; karmada.maxGroupsUnset: Unlimited makes it no limit"),
                 "maxGroups is not set: Karmada reads it as 0 groups");
}

static void check_spread(const struct cluster_placement *p, uint32_t i,
                         const struct karmada_options *options, struct findings *f) {
    const struct cluster_spread *s = &p->spread[i];
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, CONSTRAINTS "[%u]", i);
    check_groups(s, options, str_of(path), f);
    if (s->has_both)
        findings_add(f, FINDING_INVALID, str_of(path), STR("Remove one of them"),
                     "Karmada's webhook refuses spreadByField together with spreadByLabel");
    /* Karmada refuses a second constraint of a field, but accepts any number of constraints by
     * label. */
    for (uint32_t j = 0; s->field != SPREAD_LABEL && j < i; j++)
        if (s->field == p->spread[j].field) {
            findings_add(f, FINDING_INVALID, str_of(path), STR("Remove one of them"),
                         "Karmada's webhook refuses a second constraint by %s",
                         field_names[s->field]);
            return;
        }
}

static void check_spreads(const struct cluster_placement *p, const struct karmada_options *options,
                          struct findings *f) {
    const struct replica_scheduling *r = &p->replicas;
    bool by_field = false, by_cluster = false;
    for (uint32_t i = 0; i < p->spread_count && steps_take(&f->arena->steps, i + 1); i++) {
        check_spread(p, i, options, f);
        by_field = by_field || p->spread[i].field != SPREAD_LABEL;
        by_cluster = by_cluster || p->spread[i].field == SPREAD_CLUSTER;
    }
    if (by_field && !by_cluster)
        findings_add(f, FINDING_INVALID, STR(CONSTRAINTS),
                     STR("Add a constraint with spreadByField: cluster"),
                     "Karmada's webhook wants one of the constraints to be by cluster");
    if (p->spread_count > 0 && r->division == DIVISION_STATIC &&
        (!r->has_weights || r->weight_count > 0) && !options->static_keeps_spread)
        findings_add(f, FINDING_PASSED_OVER, STR(CONSTRAINTS),
                     STR("Divide by dynamicWeight; karmada.staticWeightsKeepSpread: true keeps "
                         "them in Evenkeel's answer"),
                     "Karmada passes over spread constraints beside static weights");
}

/* ---- rules that Karmada ignores ---- */

static bool has_workload_affinity(struct str placement, struct arena *arena) {
    struct json_reader r;
    struct str value = {0};
    static const struct json_field fields[] = {
        {.name = {"workloadAffinity", 16}, .kind = JSON_KIND_RAW}};
    json_reader_init(&r, placement, arena, "placement");
    json_fields(&r, &JSON_ROWS(fields), &value);
    return !str_empty(value) && !str_eq(value, STR("null"));
}

static void check_rules(const struct binding *b, struct str trigger, struct findings *f) {
    if (b->spec.placement_text.p != NULL && has_workload_affinity(b->spec.placement_text, f->arena))
        findings_add(f, FINDING_PASSED_OVER, STR(PLACEMENT ".workloadAffinity"),
                     STR("Use cluster affinities, which are judged"),
                     "workloadAffinity is not judged: Karmada's gate for it is off by default");
    if (b->spec.component_count > 1)
        findings_add(f, FINDING_PASSED_OVER, STR("spec.components"),
                     STR("Ask for sets by simulate --lines, step estimate"),
                     "a cluster's room for all components together is not judged: Karmada's gate "
                     "MultiplePodTemplatesScheduling is off by default");
    if (str_eq(trigger, STR("None")))
        findings_add(f, FINDING_NOT_SCHEDULED, STR(""),
                     STR("Change its placement or replicas, or set rescheduleTriggeredAt"),
                     "Karmada leaves this binding as it is (trigger None): the answer is what "
                     "scheduling it now would give");
}

void findings_of_binding(const struct binding *binding, const struct karmada_options *options,
                         const struct binding_answer *answer, struct findings *f) {
    const struct cluster_placement *p = &binding->spec.placement;
    check_spreads(p, options, f);
    check_rules(binding, answer->trigger, f);
    findings_of_tolerations(p->tolerations, TOLERATIONS_OF_BINDINGS,
                            STR(PLACEMENT ".clusterTolerations"), f);
}

/* ---- together with the clusters ---- */

static void check_names(const struct karmada_view *v, const struct cluster_affinity *a,
                        struct str path, struct findings *f) {
    char at[PATH_BYTES];
    (void)snprintf(at, sizeof at, "%.*s.clusterNames", STR_ARG(path));
    for (uint32_t i = 0; i < a->name_count && steps_take(&f->arena->steps, 1); i++)
        if (topology_find(&v->clusters, a->names[i]) == TOPOLOGY_NONE)
            findings_add(f, FINDING_NAME_UNKNOWN, str_of(at), STR("Name a cluster of the state"),
                         "there is no cluster '%.*s'", STR_ARG(a->names[i]));
}

/* A label that no cluster has is a mistake only if the answer is empty: otherwise the term may be
 * there for a day on which the clusters of other terms have no room. */
static int check_affinity(struct karmada_view *v, const struct cluster_affinity *a,
                          const struct binding_answer *answer, struct str path,
                          struct findings *f) {
    char at[PATH_BYTES];
    struct str missing;
    check_names(v, a, path, f);
    if (answer->cluster_count > 0)
        return 0;
    const int r = key_missing(&v->clusters, &a->label_selector, &missing);
    if (r != 0 || str_empty(missing))
        return r;
    (void)snprintf(at, sizeof at, "%.*s.labelSelector", STR_ARG(path));
    findings_add_unknown_label(&v->clusters, missing, str_of(at), f);
    return 0;
}

static int check_affinities(struct karmada_view *v, const struct cluster_placement *p,
                            const struct binding_answer *answer, struct findings *f) {
    char path[PATH_BYTES];
    int r = 0;
    if (p->has_affinity)
        r = check_affinity(v, &p->affinity, answer, STR(PLACEMENT ".clusterAffinity"), f);
    for (uint32_t i = 0; r == 0 && i < p->affinity_count; i++) {
        (void)snprintf(path, sizeof path, PLACEMENT ".clusterAffinities[%u]", i);
        r = check_affinity(v, &p->affinities[i].affinity, answer, str_of(path), f);
    }
    return r;
}

static int check_key(struct karmada_view *v, const struct cluster_spread *s, uint32_t i,
                     struct findings *f) {
    char path[PATH_BYTES], key[64] = "";
    struct key_use use;
    if (s->field == SPREAD_CLUSTER)
        return 0;
    (void)snprintf(path, sizeof path, CONSTRAINTS "[%u].%s", i,
                   s->field == SPREAD_LABEL ? "spreadByLabel" : "spreadByField");
    if (s->field != SPREAD_LABEL)
        (void)snprintf(key, sizeof key, FIELD_PREFIX "%s", field_names[s->field]);
    const int r =
        key_use_find(&v->clusters, s->field == SPREAD_LABEL ? s->label : str_of(key), &use);
    if (r != 0 || use.domains > 0)
        return r;
    if (s->field == SPREAD_LABEL)
        findings_add_unknown_label(&v->clusters, s->label, str_of(path), f);
    else
        findings_add(f, FINDING_KEY_UNKNOWN, str_of(path),
                     STR("Set this field of the Clusters, or spread by another"),
                     "no cluster has spec.%s: nothing can be selected", field_names[s->field]);
    return 0;
}

static struct str target_name(const void *items, size_t i) {
    return ((const struct target_cluster *)items)[i].name;
}

/* Returns the cluster's item in the answer, which is sorted by name; NULL: the cluster gets
 * nothing. */
static const struct target_cluster *find_target(const struct binding_answer *answer,
                                                struct str name) {
    bool found;
    const size_t at =
        sorted_place(answer->clusters, answer->cluster_count, target_name, name, &found);
    return found ? &answer->clusters[at] : NULL;
}

static void say_kept(const struct target_cluster *before, const struct target_cluster *after,
                     char *text, size_t size) {
    if (after->replicas > before->replicas)
        (void)snprintf(text, size, "gets %d replicas instead of %d", after->replicas,
                       before->replicas);
    else if (after->replicas > 0)
        (void)snprintf(text, size, "keeps %d of %d replicas", after->replicas, before->replicas);
    else
        (void)snprintf(text, size, "keeps the object"); /* it has no replicas */
}

/* Finds clusters that stay in the answer although the binding does not tolerate their taints.
 * upstream: the filter TaintToleration passes clusters that the binding already has. */
static void check_failed(const struct karmada_view *v, const struct binding_spec *spec,
                         const struct binding_answer *answer, struct findings *f) {
    char path[PATH_BYTES], kept[64];
    for (uint32_t i = 0; i < spec->cluster_count && steps_take(&f->arena->steps, 1); i++) {
        const struct target_cluster *before = &spec->clusters[i];
        const struct target_cluster *after = find_target(answer, before->name);
        const uint32_t slot = topology_find(&v->clusters, before->name);
        const struct karmada_cluster *c = slot != TOPOLOGY_NONE ? karmada_member(v, slot) : NULL;
        if (c == NULL || after == NULL ||
            taints_tolerated(c->taints, c->taint_count, spec->placement.tolerations))
            continue;
        (void)snprintf(path, sizeof path, "spec.clusters[%u]", i);
        say_kept(before, after, kept, sizeof kept);
        findings_add(f, FINDING_KEEPS_FAILED, str_of(path),
                     STR("Let Karmada's taint manager evict it, or remove it from spec.clusters"),
                     "the cluster '%.*s' has a taint that the binding does not tolerate, and %s: "
                     "Karmada's scheduler does not filter clusters that a binding has",
                     STR_ARG(before->name), kept);
    }
}

int findings_of_karmada(struct informer *clusters, const struct binding *binding,
                        const struct binding_answer *answer, struct findings *f) {
    const struct binding_spec *spec = &binding->spec;
    struct karmada_view v;
    int r = 0;
    karmada_view_open(clusters, &v);
    v.clusters.steps = &f->arena->steps;
    if (topology_stats(v.clusters.topology).candidates > 0) {
        check_failed(&v, spec, answer, f);
        r = check_affinities(&v, &spec->placement, answer, f);
        for (uint32_t i = 0; r == 0 && i < spec->placement.spread_count; i++)
            r = check_key(&v, &spec->placement.spread[i], i, f);
    }
    karmada_view_close(&v);
    return r;
}
