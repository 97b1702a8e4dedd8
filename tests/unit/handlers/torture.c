#include "unit/handlers/torture.h"

#include "base/file.h"
#include "state/file_source.h"

#include <stdio.h>
#include <unistd.h>

/* ---- what scenarios are made of ---- */

#define META(labels)                                                                               \
    "\"metadata\":{\"name\":\"web\",\"namespace\":\"default\",\"uid\":\"u\",\"labels\":{" labels   \
    "}}"
#define SPREAD(key, when, more)                                                                    \
    "{\"maxSkew\":1,\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"" when                     \
    "\",\"labelSelector\":{\"matchLabels\":{\"foo\":\"\"}}" more "}"
#define HARD "DoNotSchedule"
#define SOFT "ScheduleAnyway"
#define LIST(constraints) "\"topologySpreadConstraints\":[" constraints "]"
#define MOUNTS(claims)                                                                             \
    "\"containers\":[{\"name\":\"c\",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/d\"}]}],"  \
    "\"volumes\":[" claims "]"
#define CLAIM(name) "{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"" name "\"}}"
#define INJECT ",\"fuse.serverful.fluid.io/inject\":\"true\""
#define NEAR                                                                                       \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"         \
    "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"node\",\"operator\":\"In\","         \
    "\"values\":[\"a\",\"b\",\"x\"]}]},{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":"     \
    "\"Exists\"}]}]},\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":5,"          \
    "\"preference\":{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":["     \
    "\"zone2\"]}]}}]}}"

static const char *const pods[TORTURE_PODS] = {
    "{" META("\"foo\":\"\"") ",\"spec\":{}}",
    "{" META("\"foo\":\"\"") ",\"spec\":{" LIST(SPREAD("zone", HARD, "")) "}}",
    "{" META("\"foo\":\"\"") ",\"spec\":{" LIST(
        SPREAD("zone", SOFT, "") "," SPREAD("node", SOFT, "")) "}}",
    "{" META("\"foo\":\"\",\"rev\":\"1\"") ",\"spec\":{" LIST(
        SPREAD("zone", HARD, ",\"matchLabelKeys\":[\"rev\"],\"minDomains\":3")) "," NEAR "}}",
    "{" META("\"fo\\u006f\":\"\",\"a\\n\":\"\\u00e9\"") ",\"spec\":{" LIST(SPREAD(
        "zo\\u006ee", HARD, "") "," SPREAD("node", SOFT, ",\"nodeTaintsPolicy\":\"Honor\"")) "}}",
    "{" META("\"foo\":\"\"" INJECT) ",\"spec\":{" MOUNTS(CLAIM("ds")) "}}",
    "{" META("\"foo\":\"\"" INJECT) ",\"spec\":{" LIST(
        SPREAD("node", HARD, "")) "," NEAR "," MOUNTS(CLAIM("ds") "," CLAIM("efc")) "}}",
    "{" META("\"foo\":\"\"" INJECT) ",\"spec\":{" MOUNTS(CLAIM("unbound")) "}}",
    "{" META("\"foo\":\"\",\"Fluid-Injection\":\"enabled\"") ",\"spec\":{" LIST(
        SPREAD("zone", SOFT, "")) "," MOUNTS(CLAIM("efc") "," CLAIM("nowhere")) "}}",
    "{" META("\"foo\":\"\"") ",\"spec\":{" NEAR "," MOUNTS(CLAIM("efc")) "}}",
    "{" META("\"foo\":\"\"" INJECT) ",\"spec\":{\"nodeName\":\"a\"," MOUNTS(CLAIM("ds")) "}}",
    "{" META(
        "\"foo\":\"\"") ",\"spec\":{\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":"
                        "\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{"
                        "\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"Near\"}]}}]}}",
    "{" META("\"foo\":3") ",\"spec\":{}}",
    "{" META("\"foo\":\"\",\"Fluid-Injection\":\"enabled\"") ",\"spec\":{" MOUNTS(
        CLAIM("efc") "," CLAIM("ds")) "}}",
};

const char *torture_pod(int pod) {
    return pods[pod];
}

#define POLICY(name, more)                                                                         \
    "---\n{apiVersion: evenkeel.io/v1alpha1, kind: TopologyPolicy, metadata: {name: " name         \
    "}, spec: {" more "}}\n"
#define PODS(more) "pods: {" more "}"
#define BOTH                                                                                       \
    "spread: [{topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2}, "              \
    "{topologyKey: node, whenUnsatisfiable: ScheduleAnyway}]"
#define WHERE(mode)                                                                                \
    "locality: {mode: " mode ", tiers: [{topologyKey: kubernetes.io/hostname, weight: 100}, "      \
    "{topologyKey: zone, weight: 25}], keepOthersOffCacheNodes: {mode: Preferred}}"

static const char *const policy_files[] = {
    POLICY("even", PODS(BOTH)),
    POLICY("near", PODS(WHERE("Preferred") ", weights: {spread: 3, locality: 7}")),
    POLICY("low", "priority: -1, " PODS(BOTH)) POLICY(
        "all", PODS(BOTH ", " WHERE("Required")) ", match: {namespaceSelector: {matchLabels: "
                                                 "{kubernetes.io/metadata.name: default}}}"),
};
enum { POLICY_FILES = sizeof policy_files / sizeof policy_files[0] };

#define FLUID(kind, name, more)                                                                    \
    "---\n{apiVersion: data.fluid.io/v1alpha1, kind: " kind ", metadata: {name: " name             \
    ", namespace: default, uid: u-" name "}" more "}\n"
#define VOLUME(name)                                                                               \
    "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name                    \
    ", namespace: default, labels: {fluid.io/s-default-" name ": 'true'}}}\n"
#define IN(zone)                                                                                   \
    "nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [" zone "]}]}]"

static const char *const fluid_objects[] = {
    VOLUME("ds"),
    VOLUME("efc"),
    VOLUME("unbound"),
    FLUID("Dataset", "ds",
          ", status: {phase: Bound, runtimes: [{type: alluxio}], ufsTotal: 2GiB, cacheStates: "
          "{cached: 1GiB}}"),
    FLUID("AlluxioRuntime", "ds",
          ", spec: {fuse: {nodeSelector: {disk: ssd, arch: x}}}, status: {cacheAffinity: "
          "{requiredDuringSchedulingIgnoredDuringExecution: {" IN("zone1") "}}}"),
    FLUID("Dataset", "efc",
          ", status: {phase: Bound, runtimes: [{type: efc}], ufsTotal: 1GiB, cacheStates: "
          "{cached: 1GiB}}"),
    FLUID("EFCRuntime", "efc", ""),
    "---\n{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: efc-worker, "
    "namespace: default}, spec: {template: {spec: {affinity: {nodeAffinity: "
    "{requiredDuringSchedulingIgnoredDuringExecution: {" IN("zone2") "}}}}}}}\n",
    FLUID("Dataset", "unbound", ", status: {phase: NotBound}"),
};

static const char profile_file[] =
    "plugins:\n"
    "  serverful:\n"
    "    withDataset: [RequireNodeWithFuse, NodeAffinityWithCache, MountPropagationInjector, "
    "DatasetUsageInjector]\n"
    "    withoutDataset: [PreferNodesWithoutCache]\n"
    "  serverless: {withDataset: [], withoutDataset: []}\n"
    "pluginConfig:\n"
    "- name: NodeAffinityWithCache\n"
    "  args: |\n"
    "    preferred: [{name: fluid.io/node, weight: 100}, {name: zone, weight: 20}]\n"
    "    required: [fluid.io/node]\n";

/* The settings of a request: policies (0: none), Fluid's objects, and the behaviour of filter. */
static const struct setting {
    int policy;
    bool data, profile;
    enum fluid_compat compat;
    enum reservation_mode reservations;
    bool annotate, defaults; /* constraints for pods that have none */
} settings[TORTURE_SETTINGS] = {
    {0, false, false, FLUID_CORRECT, RESERVATIONS_OFF, false, false},
    {1, true, true, FLUID_CORRECT, RESERVATIONS_CONSERVATIVE, true, false},
    {2, true, true, FLUID_CORRECT, RESERVATIONS_SINGLE_NODE, false, true},
    {3, true, false, FLUID_CORRECT, RESERVATIONS_OFF, true, true},
    {1, true, true, FLUID_HEAD, RESERVATIONS_OFF, false, false},
    {0, true, true, FLUID_LEGACY, RESERVATIONS_CONSERVATIVE, false, false},
};

/* ---- the parts that requests only read: made once ---- */

struct parts {
    char profile[96], paths[POLICY_FILES + 1][96];
    const char *path[POLICY_FILES + 1];
    struct policy_source *policies[POLICY_FILES + 1];
    struct fluid_source *fluid[TORTURE_SETTINGS];
};
static struct parts parts;
static char folder[] = "/tmp/evenkeel-torture-XXXXXX";

static void write_file(const char *path, const char *text) {
    assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
}

static void write_objects(const char *path) {
    struct strbuf text = {0};
    for (size_t i = 0; i < sizeof fluid_objects / sizeof fluid_objects[0]; i++)
        strbuf_appendf(&text, "%s", fluid_objects[i]);
    strbuf_append_char(&text, '\0');
    write_file(path, text.p);
    strbuf_done(&text);
}

static void open_fluid(struct parts *p, int i) {
    const struct setting *s = &settings[i];
    struct err err;
    struct file_source *files;
    struct file_source_result result;
    const struct fluid_source_options options = {
        .profile = s->profile ? p->profile : NULL, .compat = s->compat, .scale_in = true};
    if (!s->data)
        return;
    assert_int_equal(file_source_new(&p->path[POLICY_FILES], 1, NULL, &files, NULL), 0);
    assert_int_equal(fluid_source_new(&options, &p->fluid[i], NULL), 0);
    file_source_follow(files, fluid_source_follower(p->fluid[i]));
    if (file_source_load(files, &result, &err) != 0)
        fail_msg("%s", err.text);
    file_source_free(files);
}

int torture_open(void **state) {
    struct parts *p = &parts;
    struct err err;
    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(p->profile, sizeof p->profile, "%s/profile", folder); /* fits, as all here */
    write_file(p->profile, profile_file);
    for (int i = 0; i <= POLICY_FILES; i++) {
        (void)snprintf(p->paths[i], sizeof p->paths[i], "%s/%d.yaml", folder, i);
        p->path[i] = p->paths[i];
        if (i < POLICY_FILES)
            write_file(p->path[i], policy_files[i]);
    }
    write_objects(p->path[POLICY_FILES]);
    assert_int_equal(policy_source_new(NULL, 0, &p->policies[0], NULL), 0);
    for (int i = 0; i < POLICY_FILES; i++) {
        assert_int_equal(policy_source_new(&p->path[i], 1, &p->policies[i + 1], NULL), 0);
        if (policy_source_load(p->policies[i + 1], &err) != 0)
            fail_msg("%s", err.text);
    }
    for (int i = 0; i < TORTURE_SETTINGS; i++)
        open_fluid(p, i);
    return 0;
}

int torture_close(void **state) {
    struct parts *p = &parts;
    (void)state;
    for (int i = 0; i <= POLICY_FILES; i++) {
        policy_source_free(p->policies[i]);
        (void)unlink(p->path[i]);
    }
    for (int i = 0; i < TORTURE_SETTINGS; i++)
        fluid_source_free(p->fluid[i]);
    (void)unlink(p->profile);
    return rmdir(folder);
}

/* ---- the parts that requests change: made for each ---- */

void torture_world_open(struct torture_world *w, int setting) {
    const struct setting *s = &settings[setting];
    *w = (struct torture_world){0};
    called_init(&w->called);
    cluster_nodes(&w->called.c, "b,+fluid.io/s-default-ds=true,+fluid.io/s-default-efc=true c,!");
    cluster_pods(&w->called.c, "x:foo+rev=1 b:bar");
    cluster_apply_json(&w->called.c, OBJECT_NAMESPACE,
                       "{\"metadata\":{\"name\":\"default\",\"labels\":{"
                       "\"kubernetes.io/metadata.name\":\"default\"}}}");
    cluster_workload(&w->called.c, OBJECT_SERVICE,
                     "{\"metadata\":{\"name\":\"s\",\"namespace\":\"default\"},\"spec\":{"
                     "\"selector\":{\"foo\":\"\"}}}");
    if (s->defaults)
        w->called.c.options.default_constraints =
            cluster_constraints(&w->called.c, "1/zone/nil 2/node/nil,soft",
                                &w->called.c.options.default_constraint_count);
    assert_int_equal(ring_new(8, &w->ring), 0);
    w->called.c.options.locality_weight = 1;
    w->called.x.reservations = s->reservations;
    w->called.x.fluid = parts.fluid[setting];
    w->called.x.policies = parts.policies[s->policy];
    w->called.x.decisions = w->ring;
    w->webhook = (struct webhook){.decisions = w->ring,
                                  .pods = {.known = {.cache = w->called.c.cache,
                                                     .policies = parts.policies[s->policy],
                                                     .fluid = parts.fluid[setting],
                                                     .annotate = s->annotate}},
                                  .placements = {.known = {.policies = parts.policies[s->policy],
                                                           .mode = PLACEMENT_SCORES,
                                                           .inject_scores = true,
                                                           .shards = 4}}};
    w->explain = (struct explain){.extender = &w->called.x, .webhook = &w->webhook};
    assert_int_equal(explain_access_new(NULL, &w->explain.access, NULL), 0);
}

void torture_world_close(struct torture_world *w) {
    explain_access_free(w->explain.access);
    ring_free(w->ring);
    called_done(&w->called);
}
