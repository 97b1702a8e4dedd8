#include "karmada/assumed.h"

#include "base/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct str cluster_name(const void *items, size_t i) {
    return ((const struct karmada_assumed_cluster *)items)[i].name;
}

static struct str target_name(const void *items, size_t i) {
    return ((const struct target_cluster *)items)[i].name;
}

static int by_name(const void *a, const void *b) {
    return str_cmp(((const struct target_cluster *)a)->name,
                   ((const struct target_cluster *)b)->name);
}

/* Finds the cluster, or adds it. Returns NULL without memory or steps. */
static struct karmada_assumed_cluster *cluster_of(struct karmada_assumed *a, struct str name) {
    bool found;
    const size_t at = sorted_place(a->clusters, a->count, cluster_name, name, &found);
    if (found)
        return &a->clusters[at];
    struct karmada_assumed_cluster *clusters =
        arena_push(a->arena, a->clusters, a->count, &a->cap, sizeof *clusters);
    if (clusters == NULL || !steps_take_bytes(&a->arena->steps, (a->count - at) * sizeof *clusters))
        return NULL;
    a->clusters = clusters;
    memmove(&clusters[at + 1], &clusters[at], (a->count - at) * sizeof *clusters);
    a->count++;
    clusters[at] = (struct karmada_assumed_cluster){.name = arena_str(a->arena, name)};
    return &clusters[at];
}

static int add_set(struct karmada_assumed *a, struct str cluster, const struct binding *b,
                   const struct component *components, uint32_t count) {
    struct karmada_assumed_cluster *c = cluster_of(a, cluster);
    struct component_set *sets =
        c == NULL ? NULL : arena_push(a->arena, c->sets, c->count, &c->cap, sizeof *sets);
    if (sets == NULL)
        return arena_failed(a->arena) ? -ENOMEM : -E2BIG;
    c->sets = sets;
    int r = component_set_init(&sets[c->count], components, count, a->arena);
    sets[c->count].namespace = b->meta.namespace;
    const struct component_set both[] = {c->total, sets[c->count]};
    if (r == 0)
        r = component_sets_sum(both, 2, a->arena, &c->total);
    c->count += r == 0;
    return r;
}

static int add_replicas(struct karmada_assumed *a, struct str cluster, const struct binding *b,
                        int32_t replicas) {
    struct component *one = arena_alloc(a->arena, sizeof *one);
    if (one == NULL)
        return -ENOMEM;
    *one = (struct component){.replicas = replicas, .requirements = b->spec.requirements};
    return add_set(a, cluster, b, one, 1);
}

/* Copies spec.clusters, sorted by name. */
static int sort_today(const struct binding_spec *spec, struct arena *arena,
                      struct target_cluster **ret) {
    *ret = arena_array(arena, spec->cluster_count, sizeof **ret);
    if (*ret == NULL)
        return -ENOMEM;
    if (!steps_take_sort(&arena->steps, spec->cluster_count))
        return -E2BIG;
    if (spec->cluster_count > 0)
        memcpy(*ret, spec->clusters, spec->cluster_count * sizeof **ret);
    if (spec->cluster_count > 1)
        qsort(*ret, spec->cluster_count, sizeof **ret, by_name);
    return 0;
}

int karmada_assume(struct karmada_assumed *a, const struct binding *binding,
                   const struct karmada_assignment *assignment, struct err *err) {
    const struct binding_spec *spec = &binding->spec;
    struct target_cluster *today;
    int r = sort_today(spec, a->arena, &today);
    for (uint32_t i = 0; r == 0 && i < assignment->count; i++) {
        const struct target_cluster *target = &assignment->clusters[i];
        bool found;
        const size_t at =
            sorted_place(today, spec->cluster_count, target_name, target->name, &found);
        const int32_t had = found ? today[at].replicas : 0;
        if (!steps_take(&a->arena->steps, 1))
            r = -E2BIG;
        else if (spec->component_count > 1)
            r = found ? 0
                      : add_set(a, target->name, binding, spec->components, spec->component_count);
        else if (target->replicas > had)
            r = add_replicas(a, target->name, binding, target->replicas - had);
    }
    if (r == -E2BIG)
        return err_set(err, r, "more clusters than there is time for");
    return r == 0 ? 0 : err_set(err, r, "no memory for assumed workloads");
}

const struct karmada_assumed_cluster *karmada_assumed_of(const struct karmada_assumed *a,
                                                         struct str cluster) {
    bool found = false;
    size_t at = 0;
    if (a != NULL)
        at = sorted_place(a->clusters, a->count, cluster_name, cluster, &found);
    return found ? &a->clusters[at] : NULL;
}
