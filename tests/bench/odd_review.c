#include "bench/odd_review.h"

#include "base/random.h"

#include <stdbool.h>

static uint32_t below(uint64_t *random, uint32_t n) {
    return (uint32_t)random_below(random, n);
}

static bool chance(uint64_t *random, uint32_t of) {
    return below(random, of) == 0;
}

static const char *one_of(uint64_t *random, const char *const *texts, uint32_t count) {
    return texts[below(random, count)];
}
#define ONE_OF(random, ...)                                                                        \
    one_of((random), (const char *const[]){__VA_ARGS__},                                           \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Text that one review in so many has. */
static void sometimes(uint64_t *random, uint32_t of, const char *text, struct strbuf *out) {
    if (chance(random, of))
        strbuf_append_str(out, str_of(text));
}

/* ---- metadata ---- */

static void put_labels(uint64_t *random, struct strbuf *out) {
    strbuf_appendf(out, ",\"labels\":{\"app\":\"%s\"",
                   ONE_OF(random, "web", "train", "a\\\"b", ""));
    sometimes(random, 2, ",\"tier\":\"web\"", out);
    sometimes(random, 2, ",\"pod-template-hash\":\"7d4b9\"", out);
    sometimes(random, 6, ",\"controller-revision-hash\":\"web-5f\"", out);
    sometimes(random, 3, ",\"fuse.serverful.fluid.io/inject\":\"true\"", out);
    sometimes(random, 9, ",\"serverless.fluid.io/inject\":\"true\"", out);
    sometimes(random, 6, ",\"leaderworkerset.sigs.k8s.io/name\":\"set\"", out);
    sometimes(random, 9, ",\"leaderworkerset.sigs.k8s.io/worker-index\":\"1\"", out);
    sometimes(random, 9, ",\"jobset.sigs.k8s.io/jobset-name\":\"set\"", out);
    sometimes(random, 12, ",\"evenkeel.io/inject\":\"disabled\"", out);
    strbuf_append_char(out, '}');
}

static void put_owner(uint64_t *random, struct strbuf *out) {
    static const struct {
        const char *version, *kind;
    } owners[] = {
        {"apps/v1", "ReplicaSet"},
        {"apps/v1", "StatefulSet"},
        {"apps/v1", "DaemonSet"},
        {"batch/v1", "Job"},
        {"v1", "ReplicationController"},
        {"v1", "Node"},
        {"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"},
        {"example.com/v1", "Widget"},
    };
    if (chance(random, 4))
        return;
    uint32_t i = below(random, sizeof owners / sizeof owners[0]);
    strbuf_appendf(out,
                   ",\"ownerReferences\":[{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"name\":"
                   "\"web-%u\",\"uid\":\"o-%u\",\"controller\":%s}]",
                   owners[i].version, owners[i].kind, below(random, 30), below(random, 1000),
                   chance(random, 10) ? "false" : "true");
}

static void put_metadata(uint64_t *random, const char *namespace, struct strbuf *out) {
    strbuf_append_str(out, STR("\"metadata\":{"));
    if (chance(random, 2))
        strbuf_append_str(out, STR("\"generateName\":\"web-7d4b9-\""));
    else
        strbuf_appendf(out, "\"name\":\"web-%u\"", below(random, 100));
    if (chance(random, 2))
        strbuf_appendf(out, ",\"namespace\":\"%s\"", namespace);
    if (!chance(random, 16))
        put_labels(random, out);
    sometimes(random, 6, ",\"annotations\":{\"evenkeel.io/inject\":\"disabled\",\"other\":\"x\"}",
              out);
    put_owner(random, out);
    strbuf_append_char(out, '}');
}

/* ---- spec ---- */

static void put_constraints(uint64_t *random, struct strbuf *out) {
    uint32_t count = chance(random, 2) ? 0 : below(random, 4);
    if (count == 0)
        return;
    strbuf_append_str(out, STR(",\"topologySpreadConstraints\":["));
    for (uint32_t i = 0; i < count; i++)
        strbuf_appendf(
            out, "%s{\"maxSkew\":%u,\"topologyKey\":\"%s\",\"whenUnsatisfiable\":\"%s\"%s%s}",
            i > 0 ? "," : "", 1 + below(random, 3),
            ONE_OF(random, "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
                   "kubernetes.io/hostname", "rack"),
            ONE_OF(random, "DoNotSchedule", "ScheduleAnyway"),
            chance(random, 3) ? "" : ",\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}}",
            chance(random, 5) ? ",\"matchLabelKeys\":[\"pod-template-hash\"]" : "");
    strbuf_append_char(out, ']');
}

static void put_affinity(uint64_t *random, struct strbuf *out) {
    static const char *const affinities[] = {
        ",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"zone-a\"}",
        ",\"nodeSelector\":{\"kubernetes.io/hostname\":\"node-1\"}",
        ",\"nodeName\":\"node-1\"",
        ",\"affinity\":{}",
        (",\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
         "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"topology.kubernetes.io/zone\","
         "\"operator\":\"In\",\"values\":[\"zone-a\",\"zone-b\"]}]}]}}}"),
        (",\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
         "{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
         "\"values\":[\"node-1\"]}]}]}}}"),
        (",\"affinity\":{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":["
         "{\"weight\":7,\"preference\":{\"matchExpressions\":[{\"key\":\"disk\",\"operator\":"
         "\"Exists\"}]}}]}}"),
        (",\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
         "[{\"topologyKey\":\"kubernetes.io/hostname\"}]}}"),
    };
    if (chance(random, 2))
        strbuf_append_str(
            out, str_of(affinities[below(random, sizeof affinities / sizeof affinities[0])]));
}

static void put_volumes(uint64_t *random, struct strbuf *out) {
    if (chance(random, 3))
        return;
    strbuf_append_str(out, STR(",\"volumes\":[{\"name\":\"tmp\",\"emptyDir\":{}}"));
    for (uint32_t i = 0, n = below(random, 3); i < n; i++)
        strbuf_appendf(out, ",{\"name\":\"v%u\",\"persistentVolumeClaim\":{\"claimName\":\"%s\"}}",
                       i, ONE_OF(random, "images", "images", "other", "nothing"));
    strbuf_append_char(out, ']');
}

static void put_spec(uint64_t *random, struct strbuf *out) {
    strbuf_append_str(out, STR(",\"spec\":{\"containers\":[{\"name\":\"web\",\"image\":"
                               "\"example.com/web:1\"}]"));
    put_constraints(random, out);
    put_affinity(random, out);
    put_volumes(random, out);
    sometimes(random, 8, ",\"schedulingGates\":[{\"name\":\"example.com/wait\"}]", out);
    sometimes(random, 8, ",\"tolerations\":[{\"operator\":\"Exists\"}]", out);
    sometimes(random, 8, ",\"schedulerName\":\"other\"", out);
    sometimes(random, 16, ",\"hostNetwork\":true", out);
    strbuf_append_char(out, '}');
}

/* ---- the review ---- */

static void put_object(uint64_t *random, const char *namespace, struct strbuf *out) {
    strbuf_append_char(out, '{');
    put_metadata(random, namespace, out);
    put_spec(random, out);
    strbuf_append_char(out, '}');
}

void odd_review(uint64_t *random, struct strbuf *out) {
    const char *namespace = ONE_OF(random, "shop", "shop", "shop", "team", "kube-system", "nobody");
    const bool update = chance(random, 16);
    strbuf_appendf(
        out,
        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/%s\","
        "\"request\":{\"uid\":\"u-%u\",\"kind\":{\"group\":\"\",\"version\":\"v1\","
        "\"kind\":\"%s\"},\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},"
        "\"namespace\":\"%s\",\"operation\":\"%s\",\"userInfo\":"
        "{\"username\":\"%s\"},\"dryRun\":%s,\"object\":",
        chance(random, 64) ? "v1beta1" : "v1", below(random, 1000000),
        chance(random, 64) ? "Service" : "Pod", namespace, update ? "UPDATE" : "CREATE",
        ONE_OF(random, "admin", "system:serviceaccount:kube-system:daemon-set-controller",
               "system:serviceaccount:kube-system:replicaset-controller"),
        chance(random, 4) ? "true" : "false");
    put_object(random, namespace, out);
    strbuf_append_str(out, STR(",\"oldObject\":"));
    if (update)
        put_object(random, namespace, out);
    else
        strbuf_append_str(out, STR("null"));
    strbuf_append_str(out, chance(random, 64) ? STR("}") : STR("}}"));
}
