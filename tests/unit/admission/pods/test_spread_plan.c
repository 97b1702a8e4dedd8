/*
 * What becomes of a policy's constraints where the pod's own terms are against them. The cases are
 * those that an audit saw leave pods pending on a real kube-scheduler, and their neighbours that
 * must stay as they are; tests/e2e/kube plays them with the real one.
 */
#include "admission/pods/spread_plan.h"
#include "unit/cluster_builder.h"
#include "volumes/store.h"

#include <stdio.h>

#define HARD(key) "{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"DoNotSchedule\"}"
#define SOFT(key) "{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}"
#define THREE(key)                                                                                 \
    "{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"minDomains\":3}"
#define IN(key, value) "\"nodeSelector\":{\"" key "\":\"" value "\"}"
#define TERM(key, more) "{\"topologyKey\":\"" key "\"" more "}"
#define POD_TERMS(kind, term)                                                                      \
    "\"affinity\":{\"" kind "\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[" term "]}}"
#define IGNORE(key)                                                                                \
    "{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"DoNotSchedule\","                        \
    "\"nodeAffinityPolicy\":\"Ignore\"}"
#define IGNORE_BOTH(key)                                                                           \
    "{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"DoNotSchedule\","                        \
    "\"nodeAffinityPolicy\":\"Ignore\",\"nodeTaintsPolicy\":\"Ignore\"}"
#define IGNORE_TAINTS(key)                                                                         \
    "{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"DoNotSchedule\","                        \
    "\"nodeTaintsPolicy\":\"Ignore\"}"
#define IN_NODES(names)                                                                            \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"         \
    "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"node\",\"operator\":\"In\","         \
    "\"values\":[" names "]}]}]}}}"
/* upstream: kueue pkg/controller/jobs/pod/pod_webhook.go */
#define GATE "\"schedulingGates\":[{\"name\":\"kueue.x-k8s.io/admission\"}]"
/* See make_volumes(). */
#define MOUNTS(claim)                                                                              \
    "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"" claim "\"}}]"
#define LEADER                                                                                     \
    ",\"leaderworkerset.sigs.k8s.io/name\":\"l\",\"leaderworkerset.sigs.k8s.io/group-key\":\"g\"," \
    "\"leaderworkerset.sigs.k8s.io/worker-index\":\"0\""
#define GROUP_KEY(op, more)                                                                        \
    "{\"key\":\"leaderworkerset.sigs.k8s.io/group-key\",\"operator\":\"" op "\"" more "}"
#define EXCLUSIVE(key)                                                                             \
    "\"affinity\":{\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"         \
    "\"topologyKey\":\"" key "\",\"labelSelector\":{\"matchExpressions\":[" GROUP_KEY(             \
        "In", ",\"values\":[\"g\"]") "]}}]},\"podAntiAffinity\":{"                                 \
                                     "\"requiredDuringSchedulingIgnoredDuringExecution\":[{"       \
                                     "\"topologyKey\":\"" key "\","                                \
                                     "\"labelSelector\":{\"matchExpressions\":[" GROUP_KEY(        \
                                         "Exists",                                                 \
                                         "") "," GROUP_KEY("NotIn",                                \
                                                           ",\"values\":[\"g\"]") "]}}]}}"
#define OWN ",\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}}"
#define OTHER ",\"labelSelector\":{\"matchLabels\":{\"app\":\"db\"}}"

/* Nodes a, b in zone1, x, y in zone2, o, p in zone3; see cluster_builder.h. */
#define ZONES "a b x y o p"

static const struct row {
    const char *name, *nodes, *policy, *pod;
    enum spread_fate want;
} rows[] = {
    {"nothing against it", ZONES, THREE("zone"), "", SPREAD_INJECTED},
    {"a misspelt key", ZONES, HARD("zones"), "", SPREAD_NO_NODE_HAS_KEY},
    {"... of a soft constraint", ZONES, SOFT("zones"), "", SPREAD_INJECTED},
    {"no node is known", "", HARD("zones"), "", SPREAD_INJECTED},
    {"a key on other nodes only", "a,-zone x", HARD("zone"), IN("node", "a"),
     SPREAD_NO_NODE_HAS_KEY},
    {"a key on tainted nodes only", "a,! x,-zone", HARD("zone"), "", SPREAD_NO_NODE_HAS_KEY},
    {"... which the pod tolerates", "a,! x,-zone", HARD("zone"),
     "\"tolerations\":[{\"operator\":\"Exists\"}]", SPREAD_INJECTED},
    {"the value of the key is empty", "a,+rack", HARD("rack"), "", SPREAD_INJECTED},
    {"the pod may go nowhere at present", ZONES, THREE("zone"), IN("gpu", "yes"), SPREAD_INJECTED},
    {"... nor has any node the key", ZONES, HARD("zones"), IN("gpu", "yes"),
     SPREAD_NO_NODE_HAS_KEY},

    {"pinned to a zone", ZONES, THREE("zone"), IN("zone", "zone1"), SPREAD_FEWER_DOMAINS},
    {"... without minDomains", ZONES, HARD("zone"), IN("zone", "zone1"), SPREAD_INJECTED},
    {"two zones of three by taints", "a x o,!", THREE("zone"), "", SPREAD_FEWER_DOMAINS},
    {"the cluster has two zones for everybody", "a b x", THREE("zone"), "", SPREAD_INJECTED},
    {"... and the pod may use one of them", "a b x", THREE("zone"), IN("zone", "zone1"),
     SPREAD_FEWER_DOMAINS},
    {"a zone is away", "a x o,!out", THREE("zone"), "", SPREAD_INJECTED},
    {"... and the only one with the key", "a,!out x,-zone", HARD("zone"), "", SPREAD_INJECTED},
    {"Ignore, and pinned to a zone", ZONES, IGNORE("zone"), IN("zone", "zone1"),
     SPREAD_TERMS_IGNORED},
    {"Ignore, and pinned to nodes of every zone", ZONES, IGNORE("zone"),
     "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
     "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"node\",\"operator\":\"In\","
     "\"values\":[\"a\",\"x\",\"o\"]}]}]}}}",
     SPREAD_INJECTED},
    {"its own constraint on a key of other nodes", "a b,-zone,+rack=1", HARD("zone"),
     "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"rack\",\"whenUnsatisfiable\":"
     "\"DoNotSchedule\"}]",
     SPREAD_NO_NODE_HAS_KEY},
    {"... as a preference", "a b,-zone,+rack=1", HARD("zone"),
     "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"rack\",\"whenUnsatisfiable\":"
     "\"ScheduleAnyway\"}]",
     SPREAD_INJECTED},
    {"Ignore, and a zone is tainted", "a b x o,!", IGNORE("zone"), "", SPREAD_INJECTED},
    {"... which counts with Ignore for taints, too", "a b x o,!",
     "{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"nodeAffinityPolicy\":"
     "\"Ignore\",\"nodeTaintsPolicy\":\"Ignore\"}",
     "", SPREAD_TERMS_IGNORED},
    {"Ignore for taints, and a zone is tainted", "a b x o,!", IGNORE_TAINTS("zone"), "",
     SPREAD_TERMS_IGNORED},
    {"... which the pod tolerates", "a b x o,!", IGNORE_TAINTS("zone"),
     "\"tolerations\":[{\"operator\":\"Exists\"}]", SPREAD_INJECTED},
    {"... which is cordoned or lost", "a b x o,!out", IGNORE_TAINTS("zone"), "", SPREAD_INJECTED},
    {"... to which the pod's nodeSelector does not let it", "a b x o,!", IGNORE_TAINTS("zone"),
     IN_NODES("\"a\",\"x\""), SPREAD_INJECTED},
    {"... one node of each zone", "a b,! x y,!", IGNORE_TAINTS("zone"), "", SPREAD_INJECTED},
    {"... where the pod's volume is not", "a b x,!", IGNORE_TAINTS("zone"), MOUNTS("zone1"),
     SPREAD_TERMS_IGNORED},
    {"Ignore for both, two zones by affinity, and the third is tainted", "a b x o,!",
     IGNORE_BOTH("zone"), IN_NODES("\"a\",\"x\""), SPREAD_TERMS_IGNORED},
    {"... which does not count with Honor for taints", "a b x o,!", IGNORE("zone"),
     IN_NODES("\"a\",\"x\""), SPREAD_INJECTED},
    {"Ignore, and the pod may go nowhere at present", ZONES, IGNORE("zone"), IN("gpu", "yes"),
     SPREAD_INJECTED},
    {"as many zones as minDomains, of four", "a x o p,+zone=zone4", THREE("zone"),
     IN_NODES("\"a\",\"x\",\"o\""), SPREAD_INJECTED},
    {"... one fewer", "a x o p,+zone=zone4", THREE("zone"), IN_NODES("\"a\",\"x\""),
     SPREAD_FEWER_DOMAINS},
    {"gated, with a minDomains of one", ZONES,
     "{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"minDomains\":1}", GATE,
     SPREAD_INJECTED},
    {"gated", ZONES, THREE("zone"), GATE, SPREAD_GATED},
    {"... while no node is known", "", THREE("zone"), GATE, SPREAD_GATED},
    {"... without minDomains", ZONES, HARD("zone"), GATE, SPREAD_INJECTED},
    {"... and pinned to a zone", ZONES, THREE("zone"), GATE "," IN("zone", "zone1"),
     SPREAD_FEWER_DOMAINS},
    {"... with Ignore", ZONES, IGNORE("zone"), GATE, SPREAD_TERMS_IGNORED},
    {"... as a preference", ZONES, SOFT("zone"), GATE, SPREAD_INJECTED},
    {"gates that are none", ZONES, THREE("zone"), "\"schedulingGates\":[]", SPREAD_INJECTED},
    {"gates of somebody else", ZONES, THREE("zone"),
     "\"schedulingGates\":[{\"name\":\"example.com/g\"}]", SPREAD_INJECTED},
    {"a volume of one zone", ZONES, HARD("zone"), MOUNTS("zone1"), SPREAD_VOLUMES},
    {"... and a key on nodes of other zones only", "a b x,+rack=1 y,+rack=2", HARD("rack"),
     MOUNTS("zone1"), SPREAD_VOLUMES},
    {"... as a preference", ZONES, SOFT("zone"), MOUNTS("zone1"), SPREAD_INJECTED},
    {"a volume of one zone by its label",
     "a,+" TOPOLOGY_NAME_ZONE "=z1 x,+" TOPOLOGY_NAME_ZONE "=z2", HARD(TOPOLOGY_NAME_ZONE),
     MOUNTS("labelled"), SPREAD_VOLUMES},
    {"... and the cluster has no zones", "a x", HARD("zone"), MOUNTS("labelled"), SPREAD_INJECTED},
    {"... in which the pod must be anyway", ZONES, HARD("zone"),
     IN("zone", "zone1") "," MOUNTS("zone1"), SPREAD_INJECTED},
    {"a volume that may be anywhere", ZONES, HARD("zone"), MOUNTS("anywhere"), SPREAD_INJECTED},
    {"a claim that is not bound", ZONES, HARD("zone"), MOUNTS("unbound"), SPREAD_INJECTED},
    {"a claim that is not known", ZONES, HARD("zone"), MOUNTS("new"), SPREAD_INJECTED},
    {"a volume that can be nowhere", ZONES, HARD("zone"), MOUNTS("gone"), SPREAD_INJECTED},
    {"one node in each zone is enough", ZONES, THREE("zone"),
     "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
     "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"node\",\"operator\":\"In\","
     "\"values\":[\"a\",\"x\",\"o\"]}]}]}}}",
     SPREAD_INJECTED},

    {"together in a zone", ZONES, HARD("zone"), POD_TERMS("podAffinity", TERM("zone", OWN)),
     SPREAD_OWN_AFFINITY},
    {"... while no node is known", "", HARD("zone"), POD_TERMS("podAffinity", TERM("zone", OWN)),
     SPREAD_OWN_AFFINITY},
    {"together on a node, spread over zones", ZONES, HARD("zone"),
     POD_TERMS("podAffinity", TERM("node", OWN)), SPREAD_OWN_AFFINITY},
    {"together in a region of all zones", "a,+r=1 x,+r=1 o,+r=1", HARD("zone"),
     POD_TERMS("podAffinity", TERM("r", OWN)), SPREAD_INJECTED},
    {"together in one of two regions", "a,+r=1 x,+r=1 o,+r=2", HARD("zone"),
     POD_TERMS("podAffinity", TERM("r", OWN)), SPREAD_OWN_AFFINITY},
    {"... that the pod is pinned to", "a,+r=1 x,+r=1 o,+r=2", HARD("zone"),
     IN("r", "1") "," POD_TERMS("podAffinity", TERM("r", OWN)), SPREAD_INJECTED},
    {"two halls that both have racks of every zone", "a,+h=1 x,+h=1 b,+h=2 y,+h=2", HARD("zone"),
     POD_TERMS("podAffinity", TERM("h", OWN)), SPREAD_INJECTED},
    {"beside other pods", ZONES, HARD("zone"), POD_TERMS("podAffinity", TERM("zone", OTHER)),
     SPREAD_OTHERS},
    {"beside other pods in a region of all zones", "a,+r=1 x,+r=1", HARD("zone"),
     POD_TERMS("podAffinity", TERM("r", OTHER)), SPREAD_INJECTED},
    {"beside other pods, as a preference", ZONES, SOFT("zone"),
     POD_TERMS("podAffinity", TERM("zone", OTHER)), SPREAD_INJECTED},
    {"beside no pods", ZONES, HARD("zone"), POD_TERMS("podAffinity", TERM("zone", "")),
     SPREAD_INJECTED},
    {"beside its like in other namespaces", ZONES, HARD("zone"),
     POD_TERMS("podAffinity", TERM("zone", OWN ",\"namespaces\":[\"x\"]")), SPREAD_OTHERS},
    {"... in its own by name", ZONES, HARD("zone"),
     POD_TERMS("podAffinity", TERM("zone", OWN ",\"namespaces\":[\"x\",\"shop\"]")),
     SPREAD_OWN_AFFINITY},
    {"... in all", ZONES, HARD("zone"),
     POD_TERMS("podAffinity", TERM("zone", OWN ",\"namespaceSelector\":{}")), SPREAD_OWN_AFFINITY},
    {"beside those of other revisions", ZONES, HARD("zone"),
     POD_TERMS("podAffinity", TERM("zone", OWN ",\"mismatchLabelKeys\":[\"app\"]")), SPREAD_OTHERS},
    {"the second term", ZONES, HARD("zone"),
     POD_TERMS("podAffinity", TERM("zone", OTHER) "," TERM("zone", OWN)), SPREAD_OWN_AFFINITY},

    {"one a zone", ZONES, HARD("zone"), POD_TERMS("podAntiAffinity", TERM("zone", OWN)),
     SPREAD_OWN_ANTI_AFFINITY},
    {"... and any number on nodes without a zone", "a x b,-zone", HARD("zone"),
     POD_TERMS("podAntiAffinity", TERM("zone", OWN)), SPREAD_INJECTED},
    {"... which the pod may not use", "a x b,-zone", HARD("zone"),
     IN("zone", "zone1") "," POD_TERMS("podAntiAffinity", TERM("zone", OWN)),
     SPREAD_OWN_ANTI_AFFINITY},
    {"one a node", ZONES, HARD("zone"), POD_TERMS("podAntiAffinity", TERM("node", OWN)),
     SPREAD_INJECTED},
    {"none beside others", ZONES, HARD("zone"), POD_TERMS("podAntiAffinity", TERM("zone", OTHER)),
     SPREAD_OTHERS},
    {"none beside others on a node", ZONES, HARD("zone"),
     POD_TERMS("podAntiAffinity", TERM("node", OTHER)), SPREAD_INJECTED},
    {"none beside others in a region", "a,+r=1 x,+r=1 o,+r=2", HARD("zone"),
     POD_TERMS("podAntiAffinity", TERM("r", OTHER)), SPREAD_OTHERS},
    {"... spread over nodes", "a,+r=1 x,+r=1 o,+r=2", HARD("node"),
     POD_TERMS("podAntiAffinity", TERM("r", OTHER)), SPREAD_OTHERS},
    {"... spread over what is larger", "a,+h=1 x,+h=1 b,+h=2 y,+h=2", HARD("h"),
     POD_TERMS("podAntiAffinity", TERM("zone", OTHER)), SPREAD_INJECTED},
    {"together on a node, perhaps on one without a zone", "a b,-zone", HARD("zone"),
     POD_TERMS("podAffinity", TERM("node", OWN)), SPREAD_OTHERS},
    {"together on a node, in the only zone", "a b", HARD("zone"),
     POD_TERMS("podAffinity", TERM("node", OWN)), SPREAD_INJECTED},
    {"beside others, perhaps on the node without a zone", "a b c,-zone", HARD("zone"),
     POD_TERMS("podAffinity", TERM("node", OTHER)), SPREAD_OTHERS},
    {"... where the pod may not go", "a b c,-zone,!", HARD("zone"),
     POD_TERMS("podAffinity", TERM("node", OTHER)), SPREAD_INJECTED},
    {"none beside others in a region, and both zones are in both regions",
     "a,+r=1 b,+r=2 c,+r=2 x,+r=1 y,+r=2 z,+r=2", HARD("zone"),
     POD_TERMS("podAntiAffinity", TERM("r", OTHER)), SPREAD_INJECTED},
    {"none beside others in a region, and a zone is in none", "a,+r=1 b x,+r=1 y,+r=2",
     HARD("zone"), POD_TERMS("podAntiAffinity", TERM("r", OTHER)), SPREAD_INJECTED},
    {"the first of two keys is the one", ZONES, HARD("zone"),
     POD_TERMS("podAntiAffinity", TERM("zone", OTHER) "," TERM("node", OTHER)), SPREAD_OTHERS},
    {"the second of two keys is the one", ZONES, HARD("zone"),
     POD_TERMS("podAntiAffinity", TERM("node", OTHER) "," TERM("zone", OTHER)), SPREAD_OTHERS},
    {"its own constraint", ZONES, HARD("zone"),
     "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
     "\"ScheduleAnyway\"}]",
     SPREAD_OWN},
};

/* Pods of units. upstream: lws pkg/webhooks/pod_webhook.go: SetExclusiveAffinities; jobset
 * pkg/webhooks/pod_mutating_webhook.go: setExclusiveAffinities. */
static const struct unit_row {
    struct row row;
    const char *labels, *annotations; /* beside app=web; NULL: none */
} unit_rows[] = {
    {{"a unit in a zone of its own", ZONES, HARD("zone"), EXCLUSIVE("zone"), SPREAD_UNIT_TOGETHER},
     LEADER,
     NULL},
    {{"... on a node", ZONES, THREE("zone"), EXCLUSIVE("node"), SPREAD_UNIT_TOGETHER},
     LEADER,
     NULL},
    {{"... while no node is known", "", HARD("zone"), EXCLUSIVE("zone"), SPREAD_UNIT_TOGETHER},
     LEADER,
     NULL},
    {{"... as a preference", ZONES, SOFT("zone"), EXCLUSIVE("zone"), SPREAD_INJECTED},
     LEADER,
     NULL},
    {{"... that its webhook has yet to write", ZONES, HARD("zone"), "", SPREAD_UNIT_TOGETHER},
     LEADER,
     "\"leaderworkerset.sigs.k8s.io/exclusive-topology\":\"zone\""},
    {{"... of a Job in a JobSet", ZONES, HARD("zone"), "", SPREAD_UNIT_TOGETHER},
     ",\"jobset.sigs.k8s.io/jobset-name\":\"t\",\"batch.kubernetes.io/job-completion-index\":\"0\"",
     "\"alpha.jobset.sigs.k8s.io/exclusive-topology\":\"rack\""},
    {{"... of no unit", ZONES, HARD("zone"), "", SPREAD_INJECTED},
     "",
     "\"leaderworkerset.sigs.k8s.io/exclusive-topology\":\"zone\""},
    {{"a unit without a place", ZONES, HARD("zone"), "", SPREAD_INJECTED}, LEADER, NULL},
    {{"leaders of all units together", ZONES, HARD("zone"),
      POD_TERMS("podAffinity", TERM("zone", OWN)), SPREAD_OWN_AFFINITY},
     LEADER,
     NULL},
    {{"leaders of all units apart", ZONES, HARD("zone"),
      POD_TERMS("podAntiAffinity", TERM("zone", OWN)), SPREAD_OWN_ANTI_AFFINITY},
     LEADER,
     NULL},
    {{"one of a unit, with its unit", ZONES, HARD("zone"), EXCLUSIVE("zone"), SPREAD_UNIT_MEMBER},
     ",\"leaderworkerset.sigs.k8s.io/name\":\"l\",\"leaderworkerset.sigs.k8s.io/group-key\":\"g\"",
     NULL},
};

static const char *mode = "Enforce";    /* of the policy that is asked about */
static struct str narrow_warning;       /* of nodes that lack a key; in the cluster's arena */
static const struct unit_row *unit_row; /* that is asked about; NULL: none */

/* Claims of the namespace that are bound to a volume of the zone of that name, to one that may be
 * anywhere, to one of a zone that is no more, and to none. */
static struct informer *make_volumes(struct arena *arena) {
    static const char *const objects[][2] = {
        {"PersistentVolumeClaim", "{\"metadata\":{\"name\":\"zone1\",\"namespace\":\"shop\"},"
                                  "\"spec\":{\"volumeName\":\"pv-1\"}}"},
        {"PersistentVolumeClaim", "{\"metadata\":{\"name\":\"new\",\"namespace\":\"other\"},"
                                  "\"spec\":{\"volumeName\":\"pv-1\"}}"},
        {"PersistentVolumeClaim", "{\"metadata\":{\"name\":\"anywhere\",\"namespace\":\"shop\"},"
                                  "\"spec\":{\"volumeName\":\"pv-2\"}}"},
        {"PersistentVolumeClaim", "{\"metadata\":{\"name\":\"gone\",\"namespace\":\"shop\"},"
                                  "\"spec\":{\"volumeName\":\"pv-3\"}}"},
        {"PersistentVolumeClaim", "{\"metadata\":{\"name\":\"unbound\",\"namespace\":\"shop\"},"
                                  "\"spec\":{\"storageClassName\":\"fast\"}}"},
        {"PersistentVolume", "{\"metadata\":{\"name\":\"pv-1\"},\"spec\":{\"nodeAffinity\":{"
                             "\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"
                             "\"zone\",\"operator\":\"In\",\"values\":[\"zone1\"]}]}]}}}}"},
        {"PersistentVolume", "{\"metadata\":{\"name\":\"pv-2\"},\"spec\":{}}"},
        {"PersistentVolume", "{\"metadata\":{\"name\":\"pv-3\"},\"spec\":{\"nodeAffinity\":{"
                             "\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"
                             "\"zone\",\"operator\":\"In\",\"values\":[\"zone9\"]}]}]}}}}"},
        {"PersistentVolumeClaim", "{\"metadata\":{\"name\":\"labelled\",\"namespace\":\"shop\"},"
                                  "\"spec\":{\"volumeName\":\"pv-4\"}}"},
        {"PersistentVolume", "{\"metadata\":{\"name\":\"pv-4\",\"labels\":{\"" TOPOLOGY_NAME_ZONE
                             "\":\"z1\"}},\"spec\":{}}"},
    };
    struct informer *store;
    assert_int_equal(informer_new(&volume_store, NULL, &store, NULL), 0);
    struct file_follower *f = informer_follower(store);
    assert_int_equal(f->begin(f->ctx, NULL), 0);
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        const struct str json = str_of(objects[i][1]);
        struct json_reader reader;
        json_reader_init(&reader, json, arena, "document");
        const struct file_object object = {object_type_of(STR("v1"), str_of(objects[i][0])), json,
                                           arena, &reader};
        assert_int_equal(f->take(f->ctx, &object, NULL), 0);
    }
    assert_int_equal(f->end(f->ctx, NULL), 0);
    return store;
}

/* What becomes of the policy's constraints, and how many warnings there are. */
static struct spread_tally plan_of(struct cluster *c, const struct row *row,
                                   struct patch *ret_patch, uint32_t *ret_warnings) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct json_reader r;
    struct policy policy;
    struct spread_tally tally = {0};
    struct review_answer answer;
    struct informer *volumes = make_volumes(&c->arena);
    struct pod_options options = {.head.policies = &policy,
                                  .head.policy_count = 1,
                                  .cache = c->cache,
                                  .volumes = volumes,
                                  .spread = &tally};
    strbuf_appendf(
        &text,
        "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"mode\":\"%s\",\"pods\":{\"spread\":[%s]}}}",
        mode, row->policy);
    json_reader_init(&r, arena_str(&c->arena, strbuf_str(&text)), &c->arena, "policy");
    policy_decode(&r, &policy);
    assert_int_equal(json_finish(&r, NULL), 0);
    strbuf_clear(&text);
    strbuf_appendf(
        &text, "{\"metadata\":{\"labels\":{\"app\":\"web\"%s},\"annotations\":{%s}},\"spec\":{%s}}",
        unit_row != NULL && unit_row->labels != NULL ? unit_row->labels : "",
        unit_row != NULL && unit_row->annotations != NULL ? unit_row->annotations : "", row->pod);
    const struct review review = {.uid = STR("u"),
                                  .resource = STR("pods"),
                                  .operation = STR("CREATE"),
                                  .namespace = STR("shop"),
                                  .object = arena_str(&c->arena, strbuf_str(&text))};
    (void)admit_object(&admitted_pods, &options.head, &review, &c->arena, ret_patch, &answer);
    informer_free(volumes);
    *ret_warnings = 0;
    for (uint32_t i = 0; i < answer.warning_count; i++) {
        bool narrow =
            memmem(answer.warnings[i].p, answer.warnings[i].n, "keeps the pod from", 18) != NULL;
        if (narrow)
            narrow_warning = answer.warnings[i];
        *ret_warnings += !narrow;
    }
    return tally;
}

static enum spread_fate fate_of(struct cluster *c, const struct row *row) {
    struct patch patch;
    uint32_t warnings;
    const struct spread_tally tally = plan_of(c, row, &patch, &warnings);
    int fate = 0;
    while (fate < SPREAD_FATES && tally.fates[fate] == 0)
        fate++;
    bool is_told = fate > SPREAD_OWN && spread_excuse((enum spread_fate)fate) != NULL;
    assert_int_equal(warnings, is_told);
    assert_int_equal(patch.count > 0, spread_is_injected((enum spread_fate)fate));
    return (enum spread_fate)fate;
}

/* Nothing is concluded before the first listing has ended. */
static void sync(struct cluster *c, void (*step)(struct cache *cache, uint32_t kinds)) {
    cache_write_begin(c->cache);
    step(c->cache, CACHE_ALL_KINDS);
    cache_write_end(c->cache);
}

static void not_before_the_cluster_is_known(void **state) {
    static const struct row row = {"", ZONES, HARD("zones"), "", SPREAD_INJECTED};
    struct cluster c;
    (void)state;
    cluster_open(&c);
    cluster_nodes(&c, row.nodes);
    assert_int_equal(fate_of(&c, &row), row.want);
    cluster_close(&c);
}

static void check_row(const struct row *row) {
    struct cluster c;
    cluster_open(&c);
    sync(&c, cache_sync_begin);
    cluster_nodes(&c, row->nodes);
    sync(&c, cache_sync_end);
    enum spread_fate got = fate_of(&c, row);
    if (got != row->want)
        fail_msg("%s: %d, not %d", row->name, (int)got, (int)row->want);
    cluster_close(&c);
}

static void what_becomes_of_a_constraint(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_row(&rows[i]);
}

static void units_that_are_to_be_together(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof unit_rows / sizeof unit_rows[0]; i++) {
        unit_row = &unit_rows[i];
        check_row(&unit_row->row);
    }
    unit_row = NULL;
}

/* What pods that run have to do with it. */
static void pods_that_run(void **state) {
#define RUNS(name, node, labels, spec)                                                             \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"shop\",\"labels\":{" labels              \
    "}},\"spec\":{\"nodeName\":\"" node "\"" spec "}}"
#define DB "\"app\":\"db\""
#define WEB "\"app\":\"web\""
    static const struct {
        struct row row;
        const char *pods[3];
    } cases[] = {
        {{"away from others' nodes, of which one is in a zone", ZONES, HARD("zone"),
          POD_TERMS("podAntiAffinity", TERM("node", OTHER)), SPREAD_INJECTED},
         {RUNS("1", "a", DB, "")}},
        {{"... all of a zone", ZONES, HARD("zone"),
          POD_TERMS("podAntiAffinity", TERM("node", OTHER)), SPREAD_OTHERS},
         {RUNS("1", "a", DB, ""), RUNS("2", "b", DB, "")}},
        {{"... as a preference", ZONES, SOFT("zone"),
          POD_TERMS("podAntiAffinity", TERM("node", OTHER)), SPREAD_INJECTED},
         {RUNS("1", "a", DB, ""), RUNS("2", "b", DB, "")}},
        {{"... of pods that it does not mean", ZONES, HARD("zone"),
          POD_TERMS("podAntiAffinity", TERM("node", OTHER)), SPREAD_INJECTED},
         {RUNS("1", "a", WEB, ""), RUNS("2", "b", WEB, "")}},
        {{"others keep it from a zone", ZONES, HARD("zone"), "", SPREAD_OTHERS},
         {RUNS("1", "a", DB, "," POD_TERMS("podAntiAffinity", TERM("zone", OWN)))}},
        {{"... from a node", ZONES, HARD("zone"), "", SPREAD_INJECTED},
         {RUNS("1", "a", DB, "," POD_TERMS("podAntiAffinity", TERM("node", OWN)))}},
        {{"... from a node, and it is spread over nodes", ZONES, HARD("node"), "", SPREAD_OTHERS},
         {RUNS("1", "a", DB, "," POD_TERMS("podAntiAffinity", TERM("node", OWN)))}},
        {{"... from where it may not go anyway", ZONES, HARD("zone"), IN("zone", "zone2"),
          SPREAD_INJECTED},
         {RUNS("1", "a", DB, "," POD_TERMS("podAntiAffinity", TERM("zone", OWN)))}},
        {{"... from everywhere", ZONES, HARD("node"), "", SPREAD_INJECTED},
         {RUNS("1", "a", DB, "," POD_TERMS("podAntiAffinity", TERM("zone", OWN))),
          RUNS("2", "x", DB, "," POD_TERMS("podAntiAffinity", TERM("zone", OWN))),
          RUNS("3", "o", DB, "," POD_TERMS("podAntiAffinity", TERM("zone", OWN)))}},
        {{"others keep other pods away", ZONES, HARD("zone"), "", SPREAD_INJECTED},
         {RUNS("1", "a", DB, "," POD_TERMS("podAntiAffinity", TERM("zone", OTHER)))}},
        {{"its like are one a node, and there are some on all of a zone", ZONES, HARD("zone"),
          POD_TERMS("podAntiAffinity", TERM("node", OWN)), SPREAD_INJECTED},
         {RUNS("1", "a", WEB, "," POD_TERMS("podAntiAffinity", TERM("node", OWN))),
          RUNS("2", "b", WEB, "," POD_TERMS("podAntiAffinity", TERM("node", OWN)))}},
        {{"its like are one a node, and others say the same on all of a zone", ZONES, HARD("zone"),
          POD_TERMS("podAntiAffinity", TERM("node", OWN)), SPREAD_OTHERS},
         {RUNS("1", "a", DB, "," POD_TERMS("podAntiAffinity", TERM("node", OWN))),
          RUNS("2", "b", DB, "," POD_TERMS("podAntiAffinity", TERM("node", OWN)))}},
        {{"... and one of its like is on one of the nodes", ZONES, HARD("zone"),
          POD_TERMS("podAntiAffinity", TERM("node", OWN)), SPREAD_INJECTED},
         {RUNS("1", "a", DB, "," POD_TERMS("podAntiAffinity", TERM("node", OWN))),
          RUNS("2", "b", WEB, "")}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cluster c;
        cluster_open(&c);
        sync(&c, cache_sync_begin);
        cluster_nodes(&c, cases[i].row.nodes);
        for (size_t p = 0; p < 3 && cases[i].pods[p] != NULL; p++)
            cluster_apply_json(&c, OBJECT_POD, cases[i].pods[p]);
        sync(&c, cache_sync_end);
        enum spread_fate got = fate_of(&c, &cases[i].row);
        if (got != cases[i].row.want)
            fail_msg("%s: %d, not %d", cases[i].row.name, (int)got, (int)cases[i].row.want);
        cluster_close(&c);
    }
}

static void run_pod_with_terms(struct cluster *c, unsigned number) {
    struct strbuf json = {0};
    strbuf_appendf(&json,
                   "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"other\"},\"spec\":{"
                   "\"nodeName\":\"a\",\"affinity\":{\"podAntiAffinity\":{"
                   "\"requiredDuringSchedulingIgnoredDuringExecution\":[",
                   number);
    for (unsigned t = 0; t < 100; t++)
        strbuf_appendf(&json,
                       "%s{\"topologyKey\":\"zone\",\"namespaceSelector\":{},\"labelSelector\":"
                       "{\"matchLabels\":{\"x\":\"%u-%u\"}}}",
                       t > 0 ? "," : "", number, t);
    strbuf_append_str(&json, STR("]}}}}"));
    strbuf_append_char(&json, '\0');
    assert_false(strbuf_failed(&json));
    cluster_apply_json(c, OBJECT_POD, json.p);
    strbuf_done(&json);
    arena_done(&c->arena); /* the cache has what it needs */
    arena_init(&c->arena, 1 << 26);
}

/* What others write of podAntiAffinity takes none of the steps that the pod's own nodes need: one
 * tenant would otherwise blind everybody's policies. */
static void terms_of_others_spend_nothing_of_ours(void **state) {
    static const struct row keyless = {"", ZONES, HARD("zones"), "", SPREAD_NO_NODE_HAS_KEY};
    static const struct row pinned = {"", ZONES, HARD("zone"), MOUNTS("zone1"), SPREAD_VOLUMES};
    (void)state;
    struct cluster c;
    cluster_open(&c);
    sync(&c, cache_sync_begin);
    cluster_nodes(&c, ZONES);
    for (unsigned i = 0; i < 1200; i++)
        run_pod_with_terms(&c, i);
    sync(&c, cache_sync_end);
    assert_int_equal(fate_of(&c, &keyless), keyless.want);
    assert_int_equal(fate_of(&c, &pinned), pinned.want);
    cluster_close(&c);
}

/* What becomes of the first and of the second constraint of a policy. */
struct two_keys {
    const char *name, *nodes, *policy, *pod, *runs[5];
    enum spread_fate first, second;
};

static void check_two(const struct two_keys *t) {
    const struct row row = {.nodes = t->nodes, .policy = t->policy, .pod = t->pod};
    struct cluster c;
    struct patch patch;
    uint32_t warnings;
    cluster_open(&c);
    sync(&c, cache_sync_begin);
    cluster_nodes(&c, row.nodes);
    for (size_t p = 0; p < sizeof t->runs / sizeof t->runs[0] && t->runs[p] != NULL; p++)
        cluster_apply_json(&c, OBJECT_POD, t->runs[p]);
    sync(&c, cache_sync_end);
    const struct spread_tally tally = plan_of(&c, &row, &patch, &warnings);
    assert_non_null(tally.each);
    if (tally.each[0] != t->first || tally.each[1] != t->second)
        fail_msg("%s: %d and %d, not %d and %d", t->name, (int)tally.each[0], (int)tally.each[1],
                 (int)t->first, (int)t->second);
    assert_int_equal(warnings, (t->first > SPREAD_OWN) + (t->second > SPREAD_OWN));
    cluster_close(&c);
}

/* A node must have the keys of all hard constraints: each by itself there is a node with it. */
static void keys_that_no_node_has_together(void **state) {
#define OWN_CONSTRAINT(key, when)                                                                  \
    "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"" key                         \
    "\",\"whenUnsatisfiable\":\"" when "\"" OWN "}]"
#define HONORS(key, policy)                                                                        \
    "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"" key                         \
    "\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"" policy "\"" OWN "}]"
    static const struct two_keys cases[] = {
        {"on different nodes",
         "a b,-zone,+rack=1",
         HARD("zone") "," HARD("rack"),
         "",
         {0},
         SPREAD_INJECTED,
         SPREAD_NO_NODE_HAS_KEY},
        {"... one as a preference",
         "a b,-zone,+rack=1",
         SOFT("zone") "," HARD("rack"),
         "",
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"on the same nodes",
         "a,+rack=1 b,+rack=1",
         HARD("zone") "," HARD("rack"),
         "",
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"one zone has racks",
         "a,+rack=1 x o",
         THREE("zone") "," HARD("rack"),
         "",
         {0},
         SPREAD_INJECTED,
         SPREAD_CONTRADICTED},
        {"... in which the pod must be",
         "a,+rack=1 x o",
         HARD("zone") "," HARD("rack"),
         IN("zone", "zone1"),
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"... racks come first",
         "a,+rack=1 x o",
         HARD("rack") "," HARD("zone"),
         "",
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"on a node that the pod's volume is not on",
         "a,+rack=1 b,+hall=1 x,+rack=1,+hall=1",
         HARD("rack") "," HARD("hall"),
         MOUNTS("zone1"),
         {0},
         SPREAD_INJECTED,
         SPREAD_VOLUMES},
        {"on a node that another pod keeps to itself",
         "a,+rack=1 b,+hall=1 x,+rack=1,+hall=1",
         HARD("rack") "," HARD("hall"),
         "",
         {RUNS("1", "x", DB, "," POD_TERMS("podAntiAffinity", TERM("node", OWN)))},
         SPREAD_INJECTED,
         SPREAD_OTHERS},
        {"... zones as a preference",
         "a,+rack=1 x o",
         SOFT("zone") "," HARD("rack"),
         "",
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"... zones are the pod's own, and kept",
         "a,+rack=1 x o",
         HARD("zone") "," HARD("rack"),
         OWN_CONSTRAINT("zone", "DoNotSchedule"),
         {0},
         SPREAD_OWN,
         SPREAD_CONTRADICTED},
        {"... zones are the pod's preference",
         "a,+rack=1 x o",
         HARD("zone") "," HARD("rack"),
         OWN_CONSTRAINT("zone", "ScheduleAnyway"),
         {0},
         SPREAD_OWN,
         SPREAD_INJECTED},
        {"every zone has one",
         "a,+rack=1 x,+rack=1 o,+rack=2",
         THREE("zone") "," HARD("rack"),
         "",
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"every zone has one, on some nodes",
         "a,+rack=1 b x,+rack=1 y",
         HARD("zone") "," HARD("rack"),
         "",
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"a node has no zone",
         "a x b,-zone",
         HARD("kubernetes.io/hostname") "," HARD("zone"),
         "",
         {0},
         SPREAD_INJECTED,
         SPREAD_CONTRADICTED},
        {"a rack has no zone",
         "a,+rack=1 b,+rack=2 x,+rack=3 y,-zone,+rack=4",
         HARD("rack") "," HARD("zone"),
         "",
         {0},
         SPREAD_INJECTED,
         SPREAD_CONTRADICTED},
        {"a coarser key, on nodes of two of the three zones that the pod's own asks for",
         "a,+rack=1 x,+rack=1 o",
         HARD("rack") "," HARD("r"),
         "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"minDomains\":3,\"topologyKey\":\"zone\","
         "\"whenUnsatisfiable\":\"DoNotSchedule\"" OWN "}]",
         {0},
         SPREAD_CONTRADICTED,
         SPREAD_NO_NODE_HAS_KEY},
        {"... and it asks for two",
         "a,+rack=1,+r=1 x,+rack=1,+r=1 o,+r=1",
         HARD("rack") "," HARD("r"),
         "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"minDomains\":2,\"topologyKey\":\"zone\","
         "\"whenUnsatisfiable\":\"DoNotSchedule\"" OWN "}]",
         {0},
         SPREAD_CONTRADICTED,
         SPREAD_INJECTED},
        {"... and it asks for four, of which there are three",
         "a,+rack=1,+r=1 x,+rack=1,+r=1 o,+r=1",
         HARD("rack") "," HARD("r"),
         "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"minDomains\":4,\"topologyKey\":\"zone\","
         "\"whenUnsatisfiable\":\"DoNotSchedule\"" OWN "}]",
         {0},
         SPREAD_CONTRADICTED,
         SPREAD_INJECTED},
        {"a zone that the pod's own key leaves out anyway",
         "a,+rack=1,+r=1 x",
         HARD("zone") "," HARD("r"),
         OWN_CONSTRAINT("rack", "DoNotSchedule"),
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"nodes, of which three are asked for, and two have a zone",
         "a x b,-zone",
         THREE("kubernetes.io/hostname") "," HARD("zone"),
         "",
         {0},
         SPREAD_INJECTED,
         SPREAD_CONTRADICTED},
        {"nodes, of which one is asked for, and two have a zone",
         "a x b,-zone",
         "{\"topologyKey\":\"kubernetes.io/hostname\",\"whenUnsatisfiable\":\"DoNotSchedule\","
         "\"minDomains\":1}," HARD("zone"),
         "",
         {0},
         SPREAD_INJECTED,
         SPREAD_CONTRADICTED},
        {"zones are the pod's own, and every zone has a rack, on some nodes",
         "a,+rack=1 b x,+rack=1 y",
         HARD("zone") "," HARD("rack"),
         OWN_CONSTRAINT("zone", "DoNotSchedule"),
         {0},
         SPREAD_OWN,
         SPREAD_CONTRADICTED},
        {"the pod's own is on nodes, of which one has a rack",
         "a,+rack=1 b x y",
         HARD("rack") "," HARD("zone"),
         OWN_CONSTRAINT("kubernetes.io/hostname", "DoNotSchedule"),
         {0},
         SPREAD_CONTRADICTED,
         SPREAD_INJECTED},
        {"... which is a preference",
         "a,+rack=1 b x y",
         HARD("rack") "," HARD("zone"),
         OWN_CONSTRAINT("kubernetes.io/hostname", "ScheduleAnyway"),
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"the pod's own counts a tainted node without the key",
         "a x c,!,-zone",
         HARD("zone") "," SOFT("rack"),
         OWN_CONSTRAINT("kubernetes.io/hostname", "DoNotSchedule"),
         {0},
         SPREAD_CONTRADICTED,
         SPREAD_INJECTED},
        {"... and does not, with Honor",
         "a x c,!,-zone",
         HARD("zone") "," SOFT("rack"),
         HONORS("kubernetes.io/hostname", "nodeTaintsPolicy\":\"Honor"),
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"the pod's own does not count a node of which its nodeSelector keeps it",
         "a x c,-zone,+gpu=no",
         HARD("zone") "," SOFT("rack"),
         IN_NODES("\"a\",\"x\"") "," OWN_CONSTRAINT("kubernetes.io/hostname", "DoNotSchedule"),
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"... and does, with Ignore",
         "a x c,-zone,+gpu=no",
         HARD("zone") "," SOFT("rack"),
         IN_NODES("\"a\",\"x\"") "," HONORS("kubernetes.io/hostname",
                                            "nodeAffinityPolicy\":\"Ignore"),
         {0},
         SPREAD_CONTRADICTED,
         SPREAD_INJECTED},
        {"the second of the pod's own counts what the first does not",
         "a x c,!,-zone",
         HARD("zone") "," SOFT("rack"),
         "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"node\","
         "\"whenUnsatisfiable\":\"DoNotSchedule\",\"nodeTaintsPolicy\":\"Honor\"},"
         "{\"maxSkew\":1,\"topologyKey\":\"kubernetes.io/hostname\","
         "\"whenUnsatisfiable\":\"DoNotSchedule\"}]",
         {0},
         SPREAD_CONTRADICTED,
         SPREAD_INJECTED},
        {"a node without the key has none of the pod's own keys either",
         "a,+rack=1 x,+rack=2 c,-zone",
         HARD("zone") "," SOFT("r"),
         OWN_CONSTRAINT("rack", "DoNotSchedule"),
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"the pod may go nowhere at present",
         "a,+rack=1 x o",
         HARD("zone") "," HARD("rack"),
         IN("gpu", "yes"),
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_two(&cases[i]);
}

/* A hard key leaves the nodes that have it, and its author may not know how few these are. */
static void a_warning_says_how_many_nodes_lack_the_key(void **state) {
#define NARROW(nodes)                                                                              \
    "evenkeel: policy 'p': the constraint on 'rack' keeps the pod from " nodes                     \
    ": they lack that label"
    static const struct {
        struct row row;
        const char *warning;
    } cases[] = {
        {{"one of four has it", "a,+rack=1 b x y", HARD("rack"), "", SPREAD_INJECTED},
         NARROW("3 of the 4 nodes that it may use")},
        {{"all have it", "a,+rack=1 b,+rack=1", HARD("rack"), "", SPREAD_INJECTED}, ""},
        {{"... that the pod may use", "a,+rack=1 b,! x", HARD("rack"), IN("zone", "zone1"),
          SPREAD_INJECTED},
         ""},
        {{"as a preference", "a,+rack=1 b x y", SOFT("rack"), "", SPREAD_INJECTED}, ""},
        {{"beside a volume", "a,+rack=1 b", HARD("rack"), MOUNTS("zone1"), SPREAD_INJECTED},
         NARROW("1 of the 2 nodes that it may use")},
        {{"without minDomains", "a,+rack=1 b,+rack=2 x", THREE("rack"), IN("node", "a"),
          SPREAD_FEWER_DOMAINS},
         ""},
        {{"nothing is known", "", HARD("rack"), "", SPREAD_INJECTED}, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cluster c;
        cluster_open(&c);
        sync(&c, cache_sync_begin);
        cluster_nodes(&c, cases[i].row.nodes);
        sync(&c, cache_sync_end);
        narrow_warning = STR("");
        assert_int_equal(fate_of(&c, &cases[i].row), cases[i].row.want);
        assert_str(narrow_warning, cases[i].warning);
        cluster_close(&c);
    }
}

/* A policy that binds does not yield to what any author can write: a constraint that each node is a
 * domain of, or a toleration of everything. It does where a constraint before it would be left with
 * too few domains. */
static void a_policy_that_binds_yields_to_less(void **state) {
    static const struct two_keys cases[] = {
        {"the pod's own is on nodes, of which one has a rack",
         "a,+rack=1 b x y",
         HARD("rack") "," HARD("zone"),
         OWN_CONSTRAINT("kubernetes.io/hostname", "DoNotSchedule"),
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"... by another name",
         "a b x,-zone",
         HARD("zone") "," SOFT("rack"),
         OWN_CONSTRAINT("node", "DoNotSchedule"),
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"the pod's own is on zones, of which one has racks",
         "a,+rack=1 x o",
         HARD("rack") "," SOFT("zones"),
         OWN_CONSTRAINT("zone", "DoNotSchedule"),
         {0},
         SPREAD_CONTRADICTED,
         SPREAD_INJECTED},
        {"nodes, of which the pod's own asks for three, and two have a zone",
         "a x b,-zone",
         HARD("zone") "," SOFT("rack"),
         "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"minDomains\":3,\"topologyKey\":"
         "\"kubernetes.io/hostname\",\"whenUnsatisfiable\":\"DoNotSchedule\"" OWN "}]",
         {0},
         SPREAD_CONTRADICTED,
         SPREAD_INJECTED},
        {"the policy's own is on nodes, of which one has no zone and is tolerated",
         "a x c,!,-zone",
         HARD("kubernetes.io/hostname") "," HARD("zone"),
         "\"tolerations\":[{\"operator\":\"Exists\"}]",
         {0},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"... and asks for three",
         "a x c,!,-zone",
         THREE("kubernetes.io/hostname") "," HARD("zone"),
         "\"tolerations\":[{\"operator\":\"Exists\"}]",
         {0},
         SPREAD_INJECTED,
         SPREAD_CONTRADICTED},
        {"the policy's own is on zones, of which one has racks",
         "a,+rack=1 x o",
         HARD("zone") "," HARD("rack"),
         "",
         {0},
         SPREAD_INJECTED,
         SPREAD_CONTRADICTED},
    };
    (void)state;
    mode = "Require";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_two(&cases[i]);
    mode = "Enforce";
}

/* A region of one zone, and one of three: where pods are at present decides nothing, or a pod could
 * make its own place. */
static void pods_that_run_make_no_key_yield(void **state) {
#define REGIONS "a,+r=1 x,+r=2 y,+r=2,+zone=zone4 o,+r=2"
    static const struct two_keys cases[] = {
        {"there is room for the region in a full zone only",
         REGIONS,
         HARD("r") "," HARD("zone"),
         "",
         {RUNS("1", "a", WEB, ""), RUNS("2", "x", WEB, ""), RUNS("3", "y", WEB, "")},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
        {"... beside a constraint of the pod's own on nodes",
         REGIONS,
         HARD("r") "," HARD("zone"),
         OWN_CONSTRAINT("kubernetes.io/hostname", "DoNotSchedule"),
         {RUNS("1", "a", WEB, ""), RUNS("2", "x", WEB, ""), RUNS("3", "y", WEB, "")},
         SPREAD_INJECTED,
         SPREAD_INJECTED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_two(&cases[i]);
}

/* Of all nodes only one has racks, and it is tainted: what Kubernetes puts there and takes away
 * says nothing of where the pod may be tomorrow. upstream: k8s.io/api core/v1 well_known_taints.go,
 * k8s.io/cloud-provider/api well_known_taints.go. */
static void taints_that_pass(void **state) {
#define TOLERATES(more) "\"tolerations\":[{" more "}]"
    static const struct {
        const char *taint, *pod;
        enum spread_fate want;
    } cases[] = {
        {"node.kubernetes.io/not-ready", "", SPREAD_INJECTED},
        {"node.kubernetes.io/unreachable", "", SPREAD_INJECTED},
        {"node.kubernetes.io/unschedulable", "", SPREAD_INJECTED},
        {"node.kubernetes.io/memory-pressure", "", SPREAD_INJECTED},
        {"node.kubernetes.io/disk-pressure", "", SPREAD_INJECTED},
        {"node.kubernetes.io/pid-pressure", "", SPREAD_INJECTED},
        {"node.kubernetes.io/network-unavailable", "", SPREAD_INJECTED},
        {"node.kubernetes.io/out-of-service", "", SPREAD_INJECTED},
        {"node.cloudprovider.kubernetes.io/uninitialized", "", SPREAD_INJECTED},
        {"node.cloudprovider.kubernetes.io/shutdown", "", SPREAD_INJECTED},
        {"node.kubernetes.io/not-read", "", SPREAD_NO_NODE_HAS_KEY},
        {"node-role.kubernetes.io/control-plane", "", SPREAD_NO_NODE_HAS_KEY},
        {"gpu", "", SPREAD_NO_NODE_HAS_KEY},
        {"gpu", TOLERATES("\"key\":\"gpu\",\"value\":\"v\""), SPREAD_INJECTED},
        {"gpu", TOLERATES("\"key\":\"gpu\",\"value\":\"w\""), SPREAD_NO_NODE_HAS_KEY},
        {"gpu", TOLERATES("\"key\":\"cpu\",\"operator\":\"Exists\""), SPREAD_NO_NODE_HAS_KEY},
        {"gpu", TOLERATES("\"key\":\"cpu\",\"operator\":\"Exists\"},{\"operator\":\"Exists\""),
         SPREAD_INJECTED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int effect = 0; effect < 2; effect++) {
            const struct row row = {.policy = HARD("rack"), .pod = cases[i].pod};
            char node[300];
            struct cluster c;
            (void)snprintf(node, sizeof node,
                           "{\"metadata\":{\"name\":\"t\",\"labels\":{\"rack\":\"1\"}},\"spec\":{"
                           "\"taints\":[{\"key\":\"%s\",\"value\":\"v\",\"effect\":\"%s\"}]}}",
                           cases[i].taint, effect == 0 ? "NoSchedule" : "NoExecute");
            cluster_open(&c);
            sync(&c, cache_sync_begin);
            cluster_nodes(&c, ZONES);
            cluster_apply_json(&c, OBJECT_NODE, node);
            sync(&c, cache_sync_end);
            if (fate_of(&c, &row) != cases[i].want)
                fail_msg("%s, effect %d: not %d", cases[i].taint, effect, (int)cases[i].want);
            cluster_close(&c);
        }
}

/* What a person and a metric are told of each. */
static void each_fate_is_told(void **state) {
    (void)state;
    for (int i = 0; i < SPREAD_FATES; i++) {
        const enum spread_fate fate = (enum spread_fate)i;
        const enum spread_form form = spread_form(fate);
        assert_non_null(spread_reason(fate));
        assert_int_equal(*spread_reason(fate) == '\0', fate <= SPREAD_OWN);
        for (int k = 0; k < i; k++)
            assert_true(fate <= SPREAD_OWN ||
                        strcmp(spread_reason(fate), spread_reason((enum spread_fate)k)) != 0);
        assert_string_equal(spread_result(fate), fate == SPREAD_OWN        ? "own"
                                                 : fate == SPREAD_RENEWED  ? "renewed"
                                                 : fate == SPREAD_INJECTED ? "injected"
                                                 : form == SPREAD_NOT      ? "left_out"
                                                                           : "softened");
        assert_int_equal(spread_is_injected(fate), form != SPREAD_NOT);
    }
}

/* A question about nodes that costs too much says nothing of them; what the pod's own terms say of
 * its group needs no node. */
static void terms_are_heeded_where_nodes_cost_too_much(void **state) {
#define REQUIRED(what) "\"requiredDuringSchedulingIgnoredDuringExecution\":" what
    enum { TERMS = 10000, NODES = 120 };
    CLEANUP(strbuf_done) struct strbuf pod = {0};
    const struct row keyless = {.policy = HARD("zones"), .pod = ""};
    struct cluster c;
    (void)state;
    strbuf_append_str(
        &pod, STR("\"affinity\":{\"podAffinity\":{" REQUIRED("[" TERM(
                  "zone", OWN) "]") "},\"nodeAffinity\":{" REQUIRED("{\"nodeSelectorTerms\":[")));
    for (int i = 0; i < TERMS; i++)
        strbuf_appendf(&pod, "%s{\"matchExpressions\":[{\"key\":\"k%d\",\"operator\":\"Exists\"}]}",
                       i > 0 ? "," : "", i);
    strbuf_append_str(&pod, STR("]}}}"));
    strbuf_append_char(&pod, '\0');
    const struct row together = {.policy = HARD("zone"), .pod = pod.p};
    cluster_open(&c);
    sync(&c, cache_sync_begin);
    for (int i = 0; i < NODES; i++) {
        char name[20];
        (void)snprintf(name, sizeof name, "a%d", i);
        cluster_nodes(&c, name);
    }
    sync(&c, cache_sync_end);
    assert_int_equal(fate_of(&c, &keyless), SPREAD_NO_NODE_HAS_KEY);
    assert_int_equal(fate_of(&c, &together), SPREAD_OWN_AFFINITY);
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_becomes_of_a_constraint),
                                       cmocka_unit_test(units_that_are_to_be_together),
                                       cmocka_unit_test(pods_that_run),
                                       cmocka_unit_test(terms_of_others_spend_nothing_of_ours),
                                       cmocka_unit_test(keys_that_no_node_has_together),
                                       cmocka_unit_test(a_policy_that_binds_yields_to_less),
                                       cmocka_unit_test(a_warning_says_how_many_nodes_lack_the_key),
                                       cmocka_unit_test(pods_that_run_make_no_key_yield),
                                       cmocka_unit_test(taints_that_pass),
                                       cmocka_unit_test(each_fate_is_told),
                                       cmocka_unit_test(terms_are_heeded_where_nodes_cost_too_much),
                                       cmocka_unit_test(not_before_the_cluster_is_known)};
    return CLUSTER_RUN_TESTS("spread_plan", tests);
}
