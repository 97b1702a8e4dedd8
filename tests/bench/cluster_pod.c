#include "bench/cluster.h"

enum pod_state { RUNNING, TERMINATING, FINISHED };

/* What the parts of one pod are made of. */
struct parts {
    uint32_t workload;
    uint32_t replica; /* its number, or one that no replica has */
    uint64_t uid;
};

static bool is_stateful(uint32_t workload) {
    return workload % 10 == 9;
}

static unsigned template_hash(uint32_t workload) {
    return (unsigned)cluster_hash(workload + 1000) & 0xffffffu;
}

static void put_labels(const struct parts *p, struct strbuf *out) {
    static const char *const tiers[] = {"frontend", "backend", "data", "batch"};
    strbuf_appendf(out, "{\"app\":\"svc-%03u\",", p->workload);
    if (is_stateful(p->workload))
        strbuf_appendf(out,
                       "\"apps.kubernetes.io/pod-index\":\"%u\",\"controller-revision-hash\":"
                       "\"svc-%03u-%06x\",\"statefulset.kubernetes.io/pod-name\":\"svc-%03u-%u\",",
                       p->replica, p->workload, template_hash(p->workload), p->workload,
                       p->replica);
    else
        strbuf_appendf(out, "\"pod-template-hash\":\"%06x\",", template_hash(p->workload));
    strbuf_appendf(out, "\"team\":\"team-%u\",\"tier\":\"%s\",\"version\":\"v1.%u\"}",
                   p->workload % CLUSTER_NAMESPACES, tiers[p->workload % 4], p->workload % 17);
}

static void put_owner(const struct parts *p, struct strbuf *out) {
    strbuf_appendf(out,
                   "[{\"apiVersion\":\"apps/v1\",\"blockOwnerDeletion\":true,\"controller\":true,"
                   "\"kind\":\"%s\",\"name\":\"svc-%03u",
                   is_stateful(p->workload) ? "StatefulSet" : "ReplicaSet", p->workload);
    if (!is_stateful(p->workload))
        strbuf_appendf(out, "-%06x", template_hash(p->workload));
    strbuf_append_str(out, STR("\",\"uid\":"));
    cluster_put_uid(((uint64_t)2 << 40) + p->workload, out);
    strbuf_append_str(out, STR("}]"));
}

static void put_metadata(const struct parts *p, enum pod_state state, struct strbuf *out) {
    strbuf_append_str(out, STR("{\"creationTimestamp\":\"2025-09-30T10:00:00Z\","));
    if (state == TERMINATING)
        strbuf_append_str(out, STR("\"deletionGracePeriodSeconds\":30,\"deletionTimestamp\":"
                                   "\"2025-10-01T12:00:00Z\","));
    strbuf_append_str(out, STR("\"labels\":"));
    put_labels(p, out);
    if (is_stateful(p->workload))
        strbuf_appendf(out, ",\"name\":\"svc-%03u-%u\",", p->workload, p->replica);
    else
        strbuf_appendf(out, ",\"name\":\"svc-%03u-%06x-%05x\",", p->workload,
                       template_hash(p->workload), (unsigned)cluster_hash(p->uid) & 0xfffff);
    strbuf_appendf(
        out, "\"namespace\":\"team-%u\",\"ownerReferences\":", p->workload % CLUSTER_NAMESPACES);
    put_owner(p, out);
    strbuf_appendf(
        out, ",\"resourceVersion\":\"%u\",\"uid\":", 200000000 + (unsigned)(p->uid & 0xffffff));
    cluster_put_uid(p->uid, out);
    strbuf_append_char(out, '}');
}

static void put_containers(const struct parts *p, struct strbuf *out) {
    strbuf_appendf(out,
                   "\"containers\":[{\"image\":\"registry.example.com/team-%u/svc-%03u:v1.%u\","
                   "\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"250m\",\"memory\":"
                   "\"256Mi\"}}}]",
                   p->workload % CLUSTER_NAMESPACES, p->workload, p->workload % 17);
}

/* ---- bound pods ---- */

/* Replicas take the zones in turn; within a zone, any node. */
static uint32_t node_of(const struct cluster_pods *pods, const struct parts *p) {
    uint32_t zone = (p->replica + p->workload) % CLUSTER_ZONES;
    if (zone >= pods->nodes)
        return p->replica % pods->nodes;
    uint32_t in_zone = (pods->nodes - zone + CLUSTER_ZONES - 1) / CLUSTER_ZONES;
    return zone + CLUSTER_ZONES * (uint32_t)(cluster_hash(p->uid + 17) % in_zone);
}

/* The smaller of two: the first workloads are large, the last ones small. */
static uint32_t workload_of(uint64_t chance) {
    uint32_t a = (uint32_t)(chance % CLUSTER_WORKLOADS);
    uint32_t b = (uint32_t)((chance >> 32) % CLUSTER_WORKLOADS);
    return a < b ? a : b;
}

void cluster_pod(struct cluster_pods *pods, struct strbuf *out) {
    struct parts p = {.uid = ((uint64_t)3 << 40) + pods->next++};
    uint64_t chance = cluster_hash(p.uid);
    p.workload = workload_of(chance);
    enum pod_state state = chance / CLUSTER_WORKLOADS % 100 < 2    ? FINISHED
                           : chance / CLUSTER_WORKLOADS % 100 == 2 ? TERMINATING
                                                                   : RUNNING;
    p.replica = state == RUNNING ? pods->replicas[p.workload]++ : 1000000 + pods->next;
    strbuf_append_str(out, STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":"));
    put_metadata(&p, state, out);
    strbuf_append_str(out, STR(",\"spec\":{"));
    put_containers(&p, out);
    strbuf_append_str(out, STR(",\"nodeName\":\""));
    cluster_node_name(node_of(pods, &p), out);
    strbuf_appendf(out,
                   "\",\"restartPolicy\":\"Always\",\"serviceAccountName\":\"default\"},\"status\":"
                   "{\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":"
                   "\"2025-09-30T10:00:03Z\",\"status\":\"True\",\"type\":\"Ready\"}],"
                   "\"phase\":\"%s\",\"podIP\":\"10.%u.%u.%u\",\"qosClass\":\"Burstable\","
                   "\"startTime\":\"2025-09-30T10:00:01Z\"}}",
                   state == FINISHED ? "Succeeded" : "Running", (unsigned)(chance >> 8 & 0xff),
                   (unsigned)(chance >> 16 & 0xff), (unsigned)(chance >> 24 & 0xff));
}

/* ---- waiting pods ---- */

static void put_constraint(const char *key, bool hard, uint32_t workload, struct strbuf *out) {
    strbuf_appendf(out,
                   "{\"maxSkew\":1,\"topologyKey\":\"%s\",\"whenUnsatisfiable\":\"%s\","
                   "\"labelSelector\":{\"matchLabels\":{\"app\":\"svc-%03u\"}}}",
                   key, hard ? "DoNotSchedule" : "ScheduleAnyway", workload);
}

void cluster_waiting_pod(uint32_t number, struct strbuf *out) {
    /* steps of 30 meet every tenth workload once; none of these ends in 9: no StatefulSets */
    uint32_t k = number % CLUSTER_WAITING_PODS;
    struct parts p = {.workload = k * 30 % CLUSTER_WORKLOADS + k % 9,
                      .uid = ((uint64_t)4 << 40) + number};
    strbuf_append_str(out, STR("{\"metadata\":"));
    put_metadata(&p, RUNNING, out);
    strbuf_append_str(out,
                      STR(",\"spec\":{\"volumes\":[{\"name\":\"kube-api-access\",\"projected\":"
                          "{\"sources\":[{\"serviceAccountToken\":{\"expirationSeconds\":3607,"
                          "\"path\":\"token\"}},{\"configMap\":{\"name\":\"kube-root-ca.crt\","
                          "\"items\":[{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}]}}],"
                          "\"defaultMode\":420}}],"));
    put_containers(&p, out);
    strbuf_append_str(out,
                      STR(",\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":30,"
                          "\"dnsPolicy\":\"ClusterFirst\",\"serviceAccountName\":\"default\","
                          "\"securityContext\":{},\"schedulerName\":\"default-scheduler\","
                          "\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\","
                          "\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":"
                          "300},{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":"
                          "\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],"
                          "\"priority\":0,\"enableServiceLinks\":true,\"preemptionPolicy\":"
                          "\"PreemptLowerPriority\",\"topologySpreadConstraints\":["));
    put_constraint("topology.kubernetes.io/zone", true, p.workload, out);
    strbuf_append_char(out, ',');
    put_constraint("kubernetes.io/hostname", false, p.workload, out);
    strbuf_append_str(out,
                      STR("]},\"status\":{\"phase\":\"Pending\",\"qosClass\":\"Burstable\"}}"));
}
