/*
 * ManagedClusters: the data that the topology lacks.
 */
#include "fleet/internal.h"

#include <errno.h>
#include <stdlib.h>

/* Returns the size of the one block that holds taints and their strings. */
static size_t bytes_of_taints(const struct cluster_taint *taints, uint32_t count) {
    size_t bytes = count * sizeof *taints;
    for (uint32_t i = 0; i < count; i++) {
        const struct taint *t = &taints[i].taint;
        bytes += t->key.n + t->value.n + t->effect.n;
    }
    return bytes;
}

void contents_cluster_empty(struct fleet_contents *c, struct fleet_cluster *cluster) {
    c->taint_bytes -= bytes_of_taints(cluster->taints, cluster->taint_count);
    free((void *)(uintptr_t)cluster->taints);
    *cluster = (struct fleet_cluster){0};
}

static struct str put(char **at, struct str s) {
    char *p = *at;
    if (s.n > 0)
        memcpy(p, s.p, s.n);
    *at += s.n;
    return (struct str){p, s.n};
}

static int copy_taints(const struct managed_cluster *cluster, const struct cluster_taint **ret) {
    *ret = NULL;
    if (cluster->taint_count == 0)
        return 0;
    struct cluster_taint *taints = malloc(bytes_of_taints(cluster->taints, cluster->taint_count));
    if (taints == NULL)
        return -ENOMEM;
    char *at = (char *)(taints + cluster->taint_count);
    for (uint32_t i = 0; i < cluster->taint_count; i++) {
        const struct taint *t = &cluster->taints[i].taint;
        taints[i] = (struct cluster_taint){
            .taint = {put(&at, t->key), put(&at, t->value), put(&at, t->effect)},
            .added_ms = cluster->taints[i].added_ms};
    }
    *ret = taints;
    return 0;
}

static uint64_t mix_str(uint64_t hash, struct str s) {
    return hash_mix(hash, hash_str(s));
}

static uint64_t mix_amount(uint64_t hash, struct cluster_amount a) {
    return a.given ? hash_mix(hash, hash_bytes(&a.value, sizeof a.value)) : hash_mix(hash, 1);
}

static uint64_t inputs_of(const struct managed_cluster *cluster) {
    uint64_t h = hash_mix(1 + cluster->meta.terminating + 2u * cluster->accepted,
                          hash_mix(cluster->properties.count, cluster->taint_count));
    for (uint32_t i = 0; i < cluster->properties.count; i++)
        h = mix_str(mix_str(h, cluster->properties.items[i].key),
                    cluster->properties.items[i].value);
    for (uint32_t i = 0; i < cluster->taint_count; i++) {
        const struct taint *t = &cluster->taints[i].taint;
        h = mix_str(mix_str(mix_str(h, t->key), t->value), t->effect);
        h = hash_mix(h, (uint64_t)cluster->taints[i].added_ms);
    }
    h = mix_amount(mix_amount(h, cluster->cpu_allocatable), cluster->cpu_capacity);
    return mix_amount(mix_amount(h, cluster->memory_allocatable), cluster->memory_capacity);
}

bool contents_cluster_is(const struct fleet_contents *c, const struct informer_object *object) {
    const struct managed_cluster *cluster = object->decoded;
    const uint32_t slot = topology_slot(c->clusters, cluster->meta.name);
    return slot != TOPOLOGY_NONE && topology_is_known(c->clusters, slot) &&
           c->cluster_of[slot].inputs == inputs_of(cluster);
}

int contents_cluster_apply(struct fleet_contents *c, const struct informer_object *object) {
    const struct managed_cluster *cluster = object->decoded;
    const struct candidate candidate = {.name = cluster->meta.name, .labels = cluster->properties};
    const struct cluster_taint *taints;
    const uint32_t before = topology_slot(c->clusters, candidate.name);
    const bool was_known = before != TOPOLOGY_NONE && topology_is_known(c->clusters, before);
    if (copy_taints(cluster, &taints) != 0)
        return -ENOMEM;
    if (topology_apply(c->clusters, &candidate) != 0) {
        free((void *)(uintptr_t)taints);
        return -ENOMEM;
    }
    struct fleet_cluster *into = &c->cluster_of[topology_slot(c->clusters, candidate.name)];
    contents_cluster_empty(c, into);
    c->taint_bytes += bytes_of_taints(taints, cluster->taint_count);
    *into = (struct fleet_cluster){.taints = taints,
                                   .taint_count = cluster->taint_count,
                                   .cpu_allocatable = cluster->cpu_allocatable,
                                   .cpu_capacity = cluster->cpu_capacity,
                                   .memory_allocatable = cluster->memory_allocatable,
                                   .memory_capacity = cluster->memory_capacity,
                                   .terminating = cluster->meta.terminating,
                                   .accepted = cluster->accepted,
                                   .inputs = inputs_of(cluster)};
    if (!was_known)
        contents_decisions_meet(c, topology_slot(c->clusters, candidate.name));
    return 0;
}

const struct fleet_cluster *fleet_cluster(const struct fleet_view *v, uint32_t slot) {
    static const struct fleet_cluster unknown;
    const struct fleet_contents *c = v->contents;
    return topology_is_known(c->clusters, slot) ? &c->cluster_of[slot] : &unknown;
}

const uint32_t *fleet_decided(const struct fleet_view *v) {
    return v->contents->decided;
}
