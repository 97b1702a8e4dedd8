#include "unit/cache/naive.h"

#include "cache/cache.h"

#include <stdio.h>
#include <string.h>

/* ---- alphabets ---- */

const char *const naive_topology_keys[NAIVE_KEYS] = {"disk", "rack", "zone"};
static const char *const pod_keys[NAIVE_KEYS] = {"app", "canary", "tier"};
enum { DISK, RACK, ZONE };
enum { APP, CANARY, TIER };
static const char *const values[NAIVE_VALUES] = {"", "one", "two"};
enum { EMPTY, ONE, TWO };

static const char *const namespaces[NAIVE_NAMESPACES] = {"default", "web", "kube-system"};

static const struct taint gone = {{"gone", 4}, {"", 0}, {"NoSchedule", 10}};
static const struct taint busy = {{"busy", 4}, {"yes", 3}, {"NoExecute", 9}};
static const struct taint rather_not = {{"busy", 4}, {"yes", 3}, {"PreferNoSchedule", 16}};
enum { NONE, GONE, BUSY, GONE_AND_BUSY, RATHER_NOT };

#define APP_AND_NO_CANARY                                                                          \
    ("{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\",\"values\":[\"one\",\"two\"]},"  \
     "{\"key\":\"canary\",\"operator\":\"DoesNotExist\"}]}")

const char *const naive_selectors[NAIVE_SELECTORS] = {
    "null",
    "{}",
    "{\"matchLabels\":{\"app\":\"one\"}}",
    APP_AND_NO_CANARY,
    "{\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"NotIn\",\"values\":[\"two\"]}]}",
    "{\"matchExpressions\":[{\"key\":\"canary\",\"operator\":\"Exists\"}]}",
    "{\"matchLabels\":{\"tier\":\"\"}}",
};

static bool selects_labels(uint32_t selector, const struct naive_labels *labels) {
    const int8_t *v = labels->value;
    switch (selector) {
    case 0:
        return false;
    case 1:
        return true;
    case 2:
        return v[APP] == ONE;
    case 3:
        return (v[APP] == ONE || v[APP] == TWO) && v[CANARY] < 0;
    case 4:
        return v[TIER] != TWO;
    case 5:
        return v[CANARY] >= 0;
    default:
        return v[TIER] == EMPTY;
    }
}

#define TERMS(terms)                                                                               \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"          \
    "{\"nodeSelectorTerms\":[" terms "]}}},"

#define DISK_ONE                                                                                   \
    "\"nodeSelector\":{\"disk\":\"one\"},"                                                         \
    "\"tolerations\":[{\"key\":\"gone\",\"operator\":\"Exists\"}],"
#define ZONE_ONE_OR_A_DISK                                                                         \
    TERMS("{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"one\"]},"    \
          "{\"key\":\"rack\",\"operator\":\"DoesNotExist\"}]},"                                    \
          "{\"matchExpressions\":[{\"key\":\"disk\",\"operator\":\"Exists\"}]}")                   \
    "\"tolerations\":[{\"key\":\"busy\",\"value\":\"yes\"}],"
#define N1_OR_ANOTHER_ZONE                                                                         \
    TERMS("{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","                      \
          "\"values\":[\"n1\"]}]},"                                                                \
          "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"NotIn\","                       \
          "\"values\":[\"\",\"two\"]}]}")                                                          \
    "\"tolerations\":[{\"operator\":\"Exists\"}],"
#define NO_TERM TERMS("") "\"nodeSelector\":{},"

const char *const naive_specs[NAIVE_FEASIBILITIES] = {
    "", DISK_ONE, ZONE_ONE_OR_A_DISK, N1_OR_ANOTHER_ZONE, NO_TERM,
};

static bool affinity_holds(const struct naive_node *node, uint32_t i, uint32_t spec) {
    const int8_t *v = node->labels.value;
    switch (spec) {
    case 0:
        return true;
    case 1:
        return v[DISK] == ONE;
    case 2:
        return (v[ZONE] == ONE && v[RACK] < 0) || v[DISK] >= 0;
    case 3:
        return i == 1 || (v[ZONE] != EMPTY && v[ZONE] != TWO);
    default:
        return false;
    }
}

static bool tolerates_busy(uint32_t spec) {
    return spec == 2 || spec == 3;
}

static bool tolerated(uint8_t taints, uint32_t spec) {
    bool tolerates_gone = spec == 1 || spec == 3;
    return ((taints != GONE && taints != GONE_AND_BUSY) || tolerates_gone) &&
           ((taints != BUSY && taints != GONE_AND_BUSY) || tolerates_busy(spec));
}

uint8_t naive_flags(const struct naive *m, uint32_t i, uint32_t spec) {
    const struct naive_node *node = &m->nodes[i];
    if (!node->known)
        return 0;
    return (uint8_t)(CANDIDATE_KNOWN | (affinity_holds(node, i, spec) ? CANDIDATE_AFFINITY : 0) |
                     (tolerated(node->taints, spec) ? CANDIDATE_TAINTS : 0) |
                     (node->taints == RATHER_NOT && !tolerates_busy(spec) ? CANDIDATE_AVOIDED : 0));
}

/* ---- resources ---- */

const char *const naive_resource_names[NAIVE_RESOURCES] = {"cpu", "example.com/gpu", "memory",
                                                           "pods"};
static const struct resource small[] = {{{"cpu", 3}, 250}};
static const struct resource large[] = {{{"cpu", 3}, 4000}, {{"memory", 6}, INT64_MAX}};
static const struct resource special[] = {{{"example.com/gpu", 15}, 2}, {{"memory", 6}, 7}};
static const struct resources sets[NAIVE_REQUESTS] = {
    {NULL, 0}, {small, 1}, {large, 2}, {special, 2}};
static const struct host_port ports[] = {{{"0.0.0.0", 7}, {"TCP", 3}, 80}};

static int64_t amount_in(uint8_t set, uint32_t resource) {
    for (uint32_t i = 0; i < sets[set].count; i++)
        if (str_eq(sets[set].items[i].name, str_of(naive_resource_names[resource])))
            return sets[set].items[i].amount;
    return 0;
}

int64_t naive_allocatable(const struct naive *m, uint32_t node, uint32_t resource) {
    return m->nodes[node].known ? amount_in(m->nodes[node].has, resource) : 0;
}

int64_t naive_requested(const struct naive *m, uint32_t node, uint32_t resource,
                        uint32_t *ret_pods) {
    uint64_t sum = 0; /* wraps around, like the sum of the cache */
    *ret_pods = 0;
    for (uint32_t i = 0; i < NAIVE_PODS; i++)
        if (m->pods[i].present && m->pods[i].node == node) {
            sum += (uint64_t)amount_in(m->pods[i].requests, resource);
            ++*ret_pods;
        }
    return (int64_t)sum;
}

/* ---- what happens ---- */

void naive_apply_node(struct naive *m, uint32_t i, const struct naive_node *node) {
    m->nodes[i] = *node;
    m->nodes[i].known = true;
    m->nodes[i].generation = m->generation;
}

void naive_apply_pod(struct naive *m, uint32_t i, const struct naive_pod *pod, bool bound,
                     bool finished) {
    if (bound && !finished) {
        m->pods[i] = *pod;
        m->pods[i].present = true;
        m->pods[i].reserved = false;
        m->pods[i].generation = m->generation;
    } else if (finished || pod->terminating || !m->pods[i].reserved) {
        m->pods[i].present = m->pods[i].reserved = false;
    }
}

void naive_apply_namespace(struct naive *m, uint32_t i) {
    m->namespaces[i] = true;
    m->namespace_generations[i] = m->generation;
}

void naive_apply_workload(struct naive *m, uint32_t i, uint8_t selector) {
    m->workloads[i] = (struct naive_workload){true, m->generation, selector};
}

bool naive_reserve(struct naive *m, uint32_t i, const struct naive_pod *pod, int64_t now_ms) {
    if (!m->nodes[pod->node].known)
        return false;
    if (m->pods[i].present && !m->pods[i].reserved)
        return true;
    m->pods[i] = *pod;
    m->pods[i].present = m->pods[i].reserved = true;
    m->pods[i].expires_ms = now_ms + NAIVE_TTL_MS;
    return true;
}

void naive_release(struct naive *m, uint32_t i) {
    if (m->pods[i].reserved)
        m->pods[i].present = m->pods[i].reserved = false;
}

void naive_expire(struct naive *m, int64_t now_ms) {
    for (uint32_t i = 0; i < NAIVE_PODS; i++)
        if (m->pods[i].reserved && m->pods[i].expires_ms <= now_ms)
            naive_release(m, i);
}

void naive_sync_end(struct naive *m) {
    for (uint32_t i = 0; i < NAIVE_NODES; i++)
        m->nodes[i].known = m->nodes[i].known && m->nodes[i].generation == m->generation;
    for (uint32_t i = 0; i < NAIVE_PODS; i++)
        m->pods[i].present =
            m->pods[i].present && (m->pods[i].reserved || m->pods[i].generation == m->generation);
    for (uint32_t i = 0; i < NAIVE_WORKLOADS; i++)
        m->workloads[i].present =
            m->workloads[i].present && m->workloads[i].generation == m->generation;
    for (uint32_t i = 0; i < NAIVE_NAMESPACES; i++)
        m->namespaces[i] = m->namespaces[i] && m->namespace_generations[i] == m->generation;
}

/* ---- objects ---- */

struct str naive_namespace_name(uint32_t i) {
    return str_of(namespaces[i]);
}

bool naive_pod_has_uid(uint32_t i) {
    return i % 2 == 0;
}

static struct labels labels_of(const struct naive_labels *from, const char *const *keys,
                               struct label *into) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < NAIVE_KEYS; k++)
        if (from->value[k] >= 0)
            into[count++] = (struct label){str_of(keys[k]), str_of(values[from->value[k]])};
    return (struct labels){into, count};
}

void naive_node_object(const struct naive_node *node, uint32_t i, struct naive_object *o) {
    *o = (struct naive_object){.object.kind = OBJECT_NODE};
    struct node *into = &o->object.node;
    (void)snprintf(o->name, sizeof o->name, "n%u", i); /* fits, as do the names below */
    into->meta.name = str_of(o->name);
    into->meta.labels = labels_of(&node->labels, naive_topology_keys, o->labels);
    into->taints = o->taints;
    if (node->taints == GONE || node->taints == GONE_AND_BUSY)
        o->taints[into->taint_count++] = gone;
    if (node->taints == BUSY || node->taints == GONE_AND_BUSY)
        o->taints[into->taint_count++] = busy;
    if (node->taints == RATHER_NOT)
        o->taints[into->taint_count++] = rather_not;
    into->allocatable = sets[node->has];
    into->unschedulable = node->has >= 2;
}

/* Follows from the pod's requests. */
static bool is_of_other_scheduler(const struct naive_pod *pod) {
    return pod->requests == 1;
}

void naive_pod_object(const struct naive_pod *pod, uint32_t i, bool bound, bool finished,
                      struct naive_object *o) {
    *o = (struct naive_object){.object.kind = OBJECT_POD};
    struct pod *into = &o->object.pod;
    (void)snprintf(o->name, sizeof o->name, "n%u", pod->node);
    into->node_name = str_of(bound ? o->name : "");
    into->finished = finished;
    (void)snprintf(o->uid, sizeof o->uid, "pod-%u", naive_pod_has_uid(i) ? i : i / 6);
    into->meta.name = str_of(o->uid);
    if (naive_pod_has_uid(i))
        into->meta.uid = str_of(o->uid);
    into->meta.namespace = naive_namespace_name(pod->namespace);
    into->meta.labels = labels_of(&pod->labels, pod_keys, o->labels);
    into->scheduler = is_of_other_scheduler(pod) ? STR("other") : STR("");
    into->meta.terminating = pod->terminating;
    into->requests.resources = sets[pod->requests];
    into->requests.ports = ports;
    into->requests.port_count = pod->requests == 1;
}

void naive_namespace_object(uint32_t i, struct naive_object *o) {
    *o = (struct naive_object){.object.kind = OBJECT_NAMESPACE};
    o->object.meta.name = naive_namespace_name(i);
}

/* Returns one of nine selectors: always an app, for some also a tier. */
static struct naive_labels workload_labels(uint8_t selector) {
    return (struct naive_labels){{(int8_t)(selector % 3), -1, (int8_t)(selector / 3 - 1)}};
}

void naive_workload_object(uint32_t i, uint8_t selector, struct naive_object *o) {
    static const enum object_kind kinds[] = {OBJECT_SERVICE, OBJECT_REPLICATION_CONTROLLER,
                                             OBJECT_REPLICA_SET, OBJECT_STATEFUL_SET};
    *o = (struct naive_object){.object.kind = kinds[i % 4]};
    struct workload *into = &o->object.workload;
    (void)snprintf(o->name, sizeof o->name, "w%u", i / 12);
    into->meta.name = str_of(o->name);
    into->meta.namespace = naive_namespace_name(i / 4 % 3);
    struct naive_labels labels = workload_labels(selector);
    into->selector.present = true;
    into->selector.match_labels = labels_of(&labels, pod_keys, o->labels);
}

void naive_owned_object(uint32_t namespace, const struct naive_labels *labels, uint32_t owner,
                        struct naive_object *o) {
    static const char *const kinds[] = {"Service", "ReplicationController", "ReplicaSet",
                                        "StatefulSet"};
    *o = (struct naive_object){.object.kind = OBJECT_POD};
    struct object_meta *into = &o->object.meta;
    (void)snprintf(o->name, sizeof o->name, "w%u", owner / 12);
    into->controller_name = str_of(o->name);
    into->controller_kind = str_of(kinds[owner % 4]);
    into->controller_api = owner % 4 == 1 ? STR("v1") : STR("apps/v1");
    into->namespace = naive_namespace_name(namespace);
    into->labels = labels_of(labels, pod_keys, o->labels);
}

/* ---- questions ---- */

static bool selects(const struct naive_workload *workload, const struct naive_labels *labels) {
    struct naive_labels wanted = workload_labels(workload->selector);
    return labels->value[APP] == wanted.value[APP] &&
           (wanted.value[TIER] < 0 || labels->value[TIER] == wanted.value[TIER]);
}

bool naive_default_matches(const struct naive *m, uint32_t namespace,
                           const struct naive_labels *labels, uint32_t owner,
                           const struct naive_labels *other, bool *ret_empty) {
    struct naive_labels merged = {{-1, -1, -1}}; /* of Services, then of a ReplicationController */
    bool matches = true;
    *ret_empty = true;
    for (uint32_t kind = 0; kind < 4; kind++)
        for (uint32_t i = kind; i < NAIVE_WORKLOADS; i += 4) {
            const struct naive_workload *workload = &m->workloads[i];
            if (!workload->present || i / 4 % 3 != namespace ||
                !(kind == 0 ? selects(workload, labels) : i == owner))
                continue;
            *ret_empty = false;
            struct naive_labels own = workload_labels(workload->selector);
            for (uint32_t key = 0; kind < 2 && key < NAIVE_KEYS; key++)
                merged.value[key] = own.value[key] >= 0 ? own.value[key] : merged.value[key];
            matches = matches && (kind < 2 || selects(workload, other));
        }
    for (uint32_t key = 0; key < NAIVE_KEYS; key++)
        matches = matches && (merged.value[key] < 0 || other->value[key] == merged.value[key]);
    return matches;
}

bool naive_counts(const struct naive *m, uint32_t i, uint32_t namespace, uint32_t selector) {
    const struct naive_pod *pod = &m->pods[i];
    return pod->present && !pod->terminating && pod->namespace == namespace &&
           selects_labels(selector, &pod->labels);
}

static bool same_class(const struct naive_pod *a, const struct naive_pod *b) {
    return is_of_other_scheduler(a) == is_of_other_scheduler(b) && a->namespace == b->namespace &&
           a->terminating == b->terminating &&
           memcmp(&a->labels, &b->labels, sizeof a->labels) == 0;
}

struct naive_stats naive_stats(const struct naive *m) {
    struct naive_stats stats = {0};
    for (uint32_t i = 0; i < NAIVE_NODES; i++)
        stats.nodes += m->nodes[i].known;
    for (uint32_t i = 0; i < NAIVE_PODS; i++) {
        const struct naive_pod *pod = &m->pods[i];
        stats.pods += pod->present && !pod->reserved;
        stats.reservations += pod->present && pod->reserved;
        bool first = pod->present;
        for (uint32_t j = 0; first && j < i; j++)
            first = !m->pods[j].present || !same_class(pod, &m->pods[j]);
        stats.classes += first;
    }
    for (uint32_t i = 0; i < NAIVE_WORKLOADS; i++)
        stats.workloads += m->workloads[i].present;
    for (uint32_t i = 0; i < NAIVE_NAMESPACES; i++)
        stats.namespaces += m->namespaces[i];
    return stats;
}
