/*
 * Pods that are validated: each way out of a policy is admitted with mode Enforce and denied with
 * mode Require, and what a pod cannot help is never held against it.
 */
#include "admission/pods/require.h"

#include "base/limits.h"
#include "cache/internal.h"

#include "owners/memory.h"
#include "unit/cluster_builder.h"

#include <stdio.h>

struct fixture {
    struct cluster c;
    struct policy policy;
    struct owners *owners;
    struct pod_options options;
    struct review review;
    struct pod_evasion found;
    struct patch patch;
    struct review_answer answer;
    enum admission result;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){0};
    cluster_open(&f.c);
    assert_int_equal(owners_new(&f.c.clock.clock, &f.owners, NULL), 0);
    f.options = (struct pod_options){.head.policies = &f.policy,
                                     .head.policy_count = 1,
                                     .cache = f.c.cache,
                                     .owners = f.owners,
                                     .evasion = &f.found};
    f.review = (struct review){.uid = STR("u"),
                               .resource = STR("pods"),
                               .operation = STR("CREATE"),
                               .namespace = STR("shop"),
                               .user = STR("ann")};
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    owners_free(f->owners);
    cluster_close(&f->c);
    return 0;
}

#define SPREAD "\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]"

/* One policy with this mode; `pods` is what its spec.pods has. */
static void policy(struct fixture *f, const char *mode, const char *pods) {
    struct json_reader r;
    struct strbuf text = {0};
    struct err err;
    strbuf_appendf(&text,
                   "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"mode\":\"%s\",\"pods\":{%s}}}", mode,
                   pods);
    struct str json = arena_str(&f->c.arena, strbuf_str(&text));
    strbuf_done(&text);
    json_reader_init(&r, json, &f->c.arena, "policy");
    policy_decode(&r, &f->policy);
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
    assert_str(f->policy.problem, "");
}

static void review_as(struct fixture *f, const struct admitted_kind *kind, struct str pod) {
    f->review.object = pod;
    f->found = (struct pod_evasion){.evasion = EVASION_NONE};
    f->result =
        admit_object(kind, &f->options.head, &f->review, &f->c.arena, &f->patch, &f->answer);
}

static void validate(struct fixture *f, const char *pod) {
    review_as(f, &validated_pods, arena_str(&f->c.arena, str_of(pod)));
    assert_int_equal(f->patch.count, 0);
    assert_int_equal(f->result == ADMISSION_DENIED, !f->answer.allowed);
}

/* As API servers do: first the mutating webhook, then the validating one. */
static void create(struct fixture *f, const char *pod) {
    review_as(f, &admitted_pods, arena_str(&f->c.arena, str_of(pod)));
    review_as(f, &validated_pods, arena_str(&f->c.arena, f->patch.document));
}

static void is_admitted(struct fixture *f, enum evasion evasion) {
    if (!f->answer.allowed)
        fail_msg("denied: %.*s", STR_ARG(f->answer.message));
    assert_string_equal(evasion_reason(f->found.evasion), evasion_reason(evasion));
}

static void is_denied(struct fixture *f, enum evasion evasion, const char *why) {
    assert_string_equal(evasion_reason(f->found.evasion), evasion_reason(evasion));
    assert_false(f->answer.allowed);
    assert_int_equal(f->answer.code, 403);
    assert_contains(arena_cstr(&f->c.arena, f->answer.message), "evenkeel: policy 'p'");
    assert_contains(arena_cstr(&f->c.arena, f->answer.message), why);
}

/* With both modes. */
static void evades(struct fixture *f, const char *pods, const char *pod, enum evasion evasion,
                   const char *why) {
    policy(f, "Enforce", pods);
    create(f, pod);
    is_admitted(f, evasion);
    assert_int_equal(f->answer.warning_count, 0);
    assert_int_equal(f->found.mode, POLICY_ENFORCE);
    policy(f, "Require", pods);
    create(f, pod);
    is_denied(f, evasion, why);
    assert_str(f->found.policy, "p");
}

#define LABELS "\"labels\":{\"app\":\"web\"}"
#define POD(metadata, spec) "{\"metadata\":{" metadata "},\"spec\":{" spec "}}"
#define OWNED(group, kind)                                                                         \
    "\"ownerReferences\":[{\"apiVersion\":\"" group "\",\"kind\":\"" kind                          \
    "\",\"name\":\"o\",\"uid\":\"o\",\"controller\":true}]"
#define CONSTRAINT(more)                                                                           \
    "\"topologySpreadConstraints\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"              \
    "\"DoNotSchedule\"," more "}]"
#define PINNED                                                                                     \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"         \
    "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","     \
    "\"values\":[\"n\"]}]}]}}}"
#define BY_APP "\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}}"

/* ---- pods that do nothing wrong ---- */

static void a_good_pod_is_admitted(void **state) {
    struct fixture *f = *state;
    static const char *const pods[] = {
        POD(LABELS, ""),
        POD(LABELS "," OWNED("apps/v1", "ReplicaSet"), ""),
        POD(LABELS, CONSTRAINT("\"maxSkew\":1," BY_APP)),
        POD(LABELS, "\"schedulerName\":\"default-scheduler\""),
        POD(LABELS, "\"nodeSelector\":{\"disk\":\"ssd\"}"),
        POD(LABELS, "\"nodeSelector\":{\"zone\":\"a\"}"),
    };
    policy(f, "Require", SPREAD);
    for (size_t i = 0; i < sizeof pods / sizeof pods[0]; i++) {
        create(f, pods[i]);
        is_admitted(f, EVASION_NONE);
        assert_int_equal(f->answer.warning_count, 0);
    }
}

static void what_evenkeel_has_not_done_is_no_evasion(void **state) {
    struct fixture *f = *state;
    policy(f, "Require", SPREAD);
    validate(f, POD(LABELS, ""));
    is_admitted(f, EVASION_NOT_INJECTED);
    assert_int_equal(f->answer.warning_count, 1);
    assert_contains(arena_cstr(&f->c.arena, f->answer.warnings[0]), "is missing");
}

static void other_policies_deny_nobody(void **state) {
    struct fixture *f = *state;
    policy(f, "Audit", SPREAD);
    validate(f, POD("", ""));
    is_admitted(f, EVASION_NONE);
    policy(f, "Require", "\"weights\":{\"spread\":1,\"locality\":1}");
    validate(f, POD("", ""));
    is_admitted(f, EVASION_NONE);
    f->options.head.policy_count = 0;
    validate(f, POD("", ""));
    is_admitted(f, EVASION_NONE);
}

static void no_opt_out_is_heeded(void **state) {
    struct fixture *f = *state;
    static const char pod[] =
        POD("\"labels\":{\"app\":\"web\",\"evenkeel.io/inject\":\"disabled\"}", "");
    policy(f, "Enforce", SPREAD);
    review_as(f, &admitted_pods, str_of(pod));
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    create(f, pod);
    is_admitted(f, EVASION_NONE);
    policy(f, "Require", SPREAD);
    review_as(f, &admitted_pods, str_of(pod));
    assert_int_equal(f->result, ADMISSION_PATCHED);
    create(f, pod);
    is_admitted(f, EVASION_NONE);
}

/* ---- ways out ---- */

static void weaker_constraints(void **state) {
    struct fixture *f = *state;
    static const char *const weak[] = {
        CONSTRAINT("\"maxSkew\":2147483647," BY_APP),
        CONSTRAINT("\"maxSkew\":2," BY_APP),
        "\"topologySpreadConstraints\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
        "\"ScheduleAnyway\",\"maxSkew\":1," BY_APP "}]",
    };
    for (size_t i = 0; i < sizeof weak / sizeof weak[0]; i++) {
        char pod[500];
        (void)snprintf(pod, sizeof pod, "{\"metadata\":{" LABELS "},\"spec\":{%s}}", weak[i]);
        evades(f, SPREAD, pod, EVASION_CONSTRAINT_WEAKER, "and the policy wants maxSkew 1");
    }
    /* A preference is evaded by one that prefers nothing. */
    evades(f, "\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}]",
           POD(LABELS, "\"topologySpreadConstraints\":[{\"topologyKey\":\"zone\","
                       "\"whenUnsatisfiable\":\"ScheduleAnyway\",\"maxSkew\":9," BY_APP "}]"),
           EVASION_CONSTRAINT_WEAKER, "maxSkew 9");
}

static void constraints_that_count_others(void **state) {
    struct fixture *f = *state;
    evades(f, SPREAD,
           POD(LABELS, CONSTRAINT("\"maxSkew\":1,\"labelSelector\":{\"matchLabels\":{"
                                  "\"app\":\"other\"}}")),
           EVASION_CONSTRAINT_NARROWER, "does not count");
    evades(f, SPREAD, POD(LABELS, CONSTRAINT("\"maxSkew\":1")), EVASION_CONSTRAINT_NARROWER,
           "does not count");
    evades(f, SPREAD ",\"groupBy\":{\"labels\":[\"app\"]}",
           POD("\"labels\":{\"app\":\"web\",\"me\":\"1\"}",
               CONSTRAINT("\"maxSkew\":1,\"labelSelector\":{\"matchLabels\":{\"app\":\"web\","
                          "\"me\":\"1\"}}")),
           EVASION_CONSTRAINT_NARROWER, "does not count");
    evades(f, SPREAD ",\"groupBy\":{\"labels\":[\"app\"]}",
           POD("\"labels\":{\"app\":\"web\",\"me\":\"1\"}",
               CONSTRAINT("\"maxSkew\":1,\"matchLabelKeys\":[\"me\"]," BY_APP)),
           EVASION_CONSTRAINT_NARROWER, "does not count");
}

/* managedFields: nobody's request had it. */
static void what_another_webhook_has_written_is_not_the_authors(void **state) {
    struct fixture *f = *state;
    policy(f, "Require", SPREAD);
    validate(f, POD(LABELS ",\"managedFields\":[{\"fieldsV1\":{\"f:spec\":{\"f:containers\":{}}}}]",
                    CONSTRAINT("\"maxSkew\":7," BY_APP)));
    is_admitted(f, EVASION_NONE);
    validate(f, POD(LABELS ",\"managedFields\":[{\"fieldsV1\":{\"f:spec\":{"
                           "\"f:topologySpreadConstraints\":{\"k:{\\\"topologyKey\\\":\\\"zone\\\","
                           "\\\"whenUnsatisfiable\\\":\\\"DoNotSchedule\\\"}\":{}}}}}]",
                    CONSTRAINT("\"maxSkew\":7," BY_APP)));
    is_denied(f, EVASION_CONSTRAINT_WEAKER, "maxSkew 7");
}

static void invented_placements(void **state) {
    struct fixture *f = *state;
    static const char mirror[] = POD(
        LABELS ",\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"}", "\"nodeName\":\"n\"");
    static const char daemon[] = POD(LABELS "," OWNED("apps/v1", "DaemonSet"), "");
    static const char of_node[] = POD(LABELS "," OWNED("v1", "Node"), "");
    static const char bound[] = POD(LABELS, "\"nodeName\":\"n\"");
    static const char pinned[] = POD(LABELS, PINNED);
    static const struct {
        const char *pod, *why;
        enum evasion evasion;
    } cases[] = {
        {mirror, "is for kubelets, and 'ann' is not a kubelet", EVASION_MIRROR},
        {daemon, "; create the DaemonSet and let its controller create the pods, or take the owner",
         EVASION_DAEMON_SET},
        {of_node, "it names Node 'o' as its controller", EVASION_MIRROR},
        {bound, "only DaemonSets choose nodes", EVASION_NODE_CHOSEN},
        {pinned, "only DaemonSets choose nodes", EVASION_NODE_CHOSEN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f->review.user = STR("ann");
        evades(f, SPREAD, cases[i].pod, cases[i].evasion, cases[i].why);
        f->review.user = STR("system:serviceaccount:shop:robot");
        validate(f, cases[i].pod);
        assert_false(f->answer.allowed);
        f->review.user = STR("system:node:n"); /* a kubelet */
        validate(f, cases[i].pod);
        is_admitted(f, EVASION_NONE);
        f->review.user = STR(""); /* nobody says who it is */
        validate(f, cases[i].pod);
        is_admitted(f, EVASION_NONE);
    }
}

/* upstream: with --use-service-account-credentials each controller has an account of kube-system,
 * without it all are system:kube-controller-manager. */
static void daemon_sets_place_pods(void **state) {
    struct fixture *f = *state;
    static const char *const users[] = {
        "system:serviceaccount:kube-system:daemon-set-controller",
        "system:kube-controller-manager",
    };
    policy(f, "Require", SPREAD);
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++) {
        f->review.user = str_of(users[i]);
        validate(f, POD(LABELS "," OWNED("apps/v1", "DaemonSet"), ""));
        is_admitted(f, EVASION_NONE);
        validate(f, POD(LABELS "," OWNED("apps/v1", "DaemonSet"), PINNED));
        is_admitted(f, EVASION_NONE);
        validate(f, POD(LABELS "," OWNED("apps/v1", "DaemonSet"), "\"nodeName\":\"n\""));
        is_admitted(f, EVASION_NONE);
        validate(f, POD(LABELS
                        "," OWNED("apps/v1", "DaemonSet") ",\"annotations\":{"
                                                          "\"kubernetes.io/config.mirror\":\"x\"}",
                        ""));
        is_denied(f, EVASION_MIRROR, "is not a kubelet");
    }
}

/* A template that names a node: its controller copies what somebody has written. */
static void templates_choose_no_nodes(void **state) {
    struct fixture *f = *state;
#define TEMPLATES(group, kind)                                                                     \
    POD(LABELS "," OWNED(group, kind), "\"nodeName\":\"n\""),                                      \
        POD(LABELS "," OWNED(group, kind), PINNED)
    static const struct {
        const char *user, *pods[2];
    } cases[] = {
        {"system:serviceaccount:kube-system:replicaset-controller",
         {TEMPLATES("apps/v1", "ReplicaSet")}},
        {"system:serviceaccount:kube-system:job-controller", {TEMPLATES("batch/v1", "Job")}},
        {"system:serviceaccount:kube-system:statefulset-controller",
         {TEMPLATES("apps/v1", "StatefulSet")}},
        {"system:serviceaccount:kube-system:replication-controller",
         {TEMPLATES("v1", "ReplicationController")}},
        {"system:kube-controller-manager", {TEMPLATES("apps/v1", "ReplicaSet")}},
        /* Not of the group that the controller is for, or without an owner. */
        {"system:serviceaccount:kruise-system:kruise-manager",
         {TEMPLATES("apps.kruise.io/v1alpha1", "DaemonSet")}},
        {"system:serviceaccount:kube-system:daemon-set-controller",
         {TEMPLATES("apps.kruise.io/v1alpha1", "DaemonSet")}},
        {"system:serviceaccount:kube-system:daemon-set-controller",
         {POD(LABELS, "\"nodeName\":\"n\""), POD(LABELS, PINNED)}},
    };
    policy(f, "Require", SPREAD);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int k = 0; k < 2; k++) {
            f->review.user = str_of(cases[i].user);
            create(f, cases[i].pods[k]);
            is_denied(f, EVASION_NODE_CHOSEN, "remove spec.nodeName");
        }
}

/* Service accounts are a tenant's, in whichever namespace: theirs is no word for a DaemonSet. */
static void accounts_are_no_controllers(void **state) {
    struct fixture *f = *state;
    static const char *const users[] = {
        "system:serviceaccount:other:robot",
        "system:serviceaccount:other:daemon-set-controller",
        "system:serviceaccount:kube-system:robot",
        "system:serviceaccount:kube-system:daemon-set-controller2",
        "system:serviceaccount:kube-system:my-daemon-set-controller",
        "system:serviceaccount:kube-system:replicaset-controller",
        "system:serviceaccount:kube-system:",
        "system:kube-controller-manager2",
        "system:kube-controller-manage",
    };
    policy(f, "Require", SPREAD);
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++) {
        f->review.user = str_of(users[i]);
        validate(f, POD(LABELS "," OWNED("apps/v1", "DaemonSet"), PINNED));
        is_denied(f, EVASION_DAEMON_SET, users[i]);
        validate(f, POD(LABELS, "\"nodeName\":\"n\""));
        is_denied(f, EVASION_NODE_CHOSEN, users[i]);
    }
}

static void other_schedulers(void **state) {
    struct fixture *f = *state;
    static const char pod[] = POD(LABELS, "\"schedulerName\":\"mine\"");
    policy(f, "Enforce", SPREAD);
    create(f, pod);
    is_admitted(f, EVASION_NONE); /* the policy is not for it */
    policy(f, "Require", SPREAD);
    create(f, pod);
    is_denied(f, EVASION_SCHEDULER, "schedulerName is 'mine'");
    policy(f, "Require", SPREAD ",\"schedulerNames\":[\"mine\"]");
    create(f, pod);
    is_admitted(f, EVASION_NONE);
}

/* Who stands behind the controller "o", as it was read. */
static void stands_behind(struct fixture *f, const char *api, const char *kind, const char *group) {
    const struct owner_ref ref = {STR("shop"), str_of(api), str_of(kind), STR("o")};
    owners_remember(f->owners, OWNER_UNIT, &ref, str_of(group), 1000);
}

static void units(void **state) {
    struct fixture *f = *state;
    static const char worker[] =
        "\"labels\":{\"app\":\"web\",\"leaderworkerset.sigs.k8s.io/name\":\"llm\"},";
    char pod[400];
    (void)snprintf(pod, sizeof pod, "{\"metadata\":{%s%s},\"spec\":{}}", worker,
                   OWNED("apps/v1", "StatefulSet"));
    evades(f, SPREAD, pod, EVASION_UNIT, "not the first pod of its unit");
    f->review.user = STR("system:serviceaccount:kube-system:statefulset-controller");
    create(f, pod);
    is_denied(f, EVASION_UNIT, "the owner of its StatefulSet 'o' could not be read");
    stands_behind(f, "apps/v1", "StatefulSet", "");
    create(f, pod);
    is_denied(f, EVASION_UNIT, "no controller of such units");
    stands_behind(f, "apps/v1", "StatefulSet", "?");
    create(f, pod);
    is_denied(f, EVASION_UNIT, "could not be read");
    stands_behind(f, "apps/v1", "StatefulSet", "jobset.x-k8s.io");
    create(f, pod);
    is_denied(f, EVASION_UNIT, "no controller of such units");
    stands_behind(f, "apps/v1", "StatefulSet", "leaderworkerset.x-k8s.io");
    create(f, pod);
    is_admitted(f, EVASION_NONE);
    f->options.owners = NULL; /* there is no API server */
    create(f, pod);
    is_denied(f, EVASION_UNIT, "could not be read");
    f->options.owners = f->owners;
    (void)snprintf(pod, sizeof pod, "{\"metadata\":{%s%s},\"spec\":{}}", worker,
                   OWNED("apps/v1", "ReplicaSet"));
    create(f, pod);
    is_denied(f, EVASION_UNIT, "no controller of such units");
    (void)snprintf(
        pod, sizeof pod,
        "{\"metadata\":{\"labels\":{\"app\":\"web\",\"ray.io/replica-host-index\":\"1\"},"
        "%s},\"spec\":{}}",
        OWNED("ray.io/v1", "RayCluster"));
    f->review.user = STR("system:serviceaccount:shop:kuberay-operator"); /* beside its clusters */
    stands_behind(f, "ray.io/v1", "RayCluster", "ray.io");
    create(f, pod);
    is_admitted(f, EVASION_NONE);
    stands_behind(f, "ray.io/v1", "RayCluster", ""); /* it is not there */
    create(f, pod);
    is_denied(f, EVASION_UNIT, "no controller of such units");
    stands_behind(f, "ray.io/v1", "RayCluster", "ray.io");
    f->review.user = STR("ann");
    create(f, pod);
    is_denied(f, EVASION_UNIT, "not the first pod of its unit");
}

/* Of the first pod of a unit less is asked: what it says must be true, too. */
static void first_pods(void **state) {
    struct fixture *f = *state;
#define FIRST(labels, owner)                                                                       \
    "{\"metadata\":{\"labels\":{\"app\":\"web\"," labels "}," owner "},\"spec\":{}}"
#define RAY "\"ray.io/replica-host-index\":\"0\""
#define LWS                                                                                        \
    "\"leaderworkerset.sigs.k8s.io/name\":\"llm\","                                                \
    "\"leaderworkerset.sigs.k8s.io/worker-index\":\"0\""
#define JOBSET                                                                                     \
    "\"jobset.sigs.k8s.io/jobset-name\":\"j\",\"batch.kubernetes.io/job-completion-index\":\"0\""
    static const struct {
        const char *pod;
        bool plausible;
    } cases[] = {
        {FIRST(RAY, OWNED("apps/v1", "ReplicaSet")), false},
        {FIRST(RAY, OWNED("apps/v1", "StatefulSet")), false},
        {FIRST(RAY, OWNED("ray.io/v1", "RayCluster")), true},
        {FIRST(LWS, OWNED("apps/v1", "ReplicaSet")), false},
        {FIRST(LWS, OWNED("apps/v1", "StatefulSet")), true},
        {FIRST(JOBSET, OWNED("apps/v1", "StatefulSet")), false},
        {FIRST(JOBSET, OWNED("batch/v1", "Job")), true},
    };
    policy(f, "Require", SPREAD);
    stands_behind(f, "apps/v1", "StatefulSet", "leaderworkerset.x-k8s.io");
    stands_behind(f, "batch/v1", "Job", "jobset.x-k8s.io");
    stands_behind(f, "ray.io/v1", "RayCluster", "ray.io");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool ray = strstr(cases[i].pod, "RayCluster") != NULL;
        f->review.user = str_of(ray ? "system:serviceaccount:kuberay:kuberay-operator"
                                    : "system:kube-controller-manager");
        create(f, cases[i].pod);
        if (cases[i].plausible)
            is_admitted(f, EVASION_NONE);
        else
            is_denied(f, EVASION_UNIT, "the first pod of a unit");
    }
}

/* Labels of a JobSet in a template of somebody's own. What is to be read is said. */
static void units_of_nobody(void **state) {
    struct fixture *f = *state;
    static const char *const labels[] = {
        JOBSET,
        ("\"jobset.sigs.k8s.io/jobset-name\":\"j\",\"batch.kubernetes.io/"
         "job-completion-index\":\"3\""),
        "\"jobset.sigs.k8s.io/jobset-name\":\"j\"",
    };
    struct owner_wanted wanted;
    policy(f, "Require", SPREAD);
    f->review.user = STR("system:serviceaccount:kube-system:job-controller");
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        char pod[400];
        (void)snprintf(pod, sizeof pod,
                       "{\"metadata\":{\"labels\":{\"app\":\"web\",%s}," OWNED(
                           "batch/v1", "Job") "},\"spec\":{}}",
                       labels[i]);
        stands_behind(f, "batch/v1", "Job", "");
        create(f, pod);
        is_denied(f, EVASION_UNIT, "no controller of such units");
        stands_behind(f, "batch/v1", "Job", "jobset.x-k8s.io");
        create(f, pod);
        is_admitted(f, EVASION_NONE);
        f->c.clock.at_ms += 1000;
        wanted = (struct owner_wanted){.unit = false};
        f->options.owner_wanted = &wanted;
        create(f, pod);
        f->options.owner_wanted = NULL;
        assert_str(wanted.ref.namespace, "shop");
        assert_str(wanted.ref.api, "batch/v1");
        assert_str(wanted.ref.kind, "Job");
        assert_str(wanted.ref.name, "o");
        assert_true(wanted.unit);
    }
    /* A Job numbers its pods itself, which a policy may make a unit of. */
    policy(f, "Require", SPREAD ",\"groupBy\":{\"unit\":\"example.com/shard\"}");
    create(f, "{\"metadata\":{\"labels\":{\"app\":\"web\",\"example.com/shard\":\"1\","
              "\"batch.kubernetes.io/job-completion-index\":\"3\"}," OWNED("batch/v1",
                                                                           "Job") "},\"spec\":{}}");
    is_admitted(f, EVASION_NONE);
}

/* Whoever writes a template may give its pods the label of a gang. */
static void gangs(void **state) {
    struct fixture *f = *state;
#define GANG(owner)                                                                                \
    "{\"metadata\":{\"labels\":{\"app\":\"web\",\"scheduling.x-k8s.io/pod-group\":\"g\"}," owner   \
    "},\"spec\":{}}"
    policy(f, "Require", SPREAD);
    f->review.user = STR("system:kube-controller-manager");
    create(f, GANG(OWNED("apps/v1", "StatefulSet")));
    is_denied(f, EVASION_UNIT, "'scheduling.x-k8s.io/pod-group' says");
    create(f, GANG(OWNED("batch/v1", "Job")));
    is_denied(f, EVASION_UNIT, "no controller of such units");
    f->review.user = STR("system:serviceaccount:kubeflow:training-operator");
    create(f, GANG(OWNED("kubeflow.org/v1", "PyTorchJob")));
    is_denied(f, EVASION_UNIT, "its PyTorchJob 'o' could not be read");
    stands_behind(f, "kubeflow.org/v1", "PyTorchJob", "kubeflow.org");
    create(f, GANG(OWNED("kubeflow.org/v1", "PyTorchJob")));
    is_admitted(f, EVASION_NONE);
    policy(f, "Require", SPREAD ",\"groupBy\":{\"unit\":\"Pod\"}");
    create(f, GANG(OWNED("batch/v1", "Job")));
    is_admitted(f, EVASION_NONE);
}

/* Any service account may name an owner that nobody knows: it has to be there, and can be asked
 * only what it selects. */
static void owners_of_custom_kinds(void **state) {
    struct fixture *f = *state;
    static const struct owner_ref widget = {
        {"shop", 4}, {"example.com/v1", 14}, {"Widget", 6}, {"o", 1}};
    const char *pod = GANG(OWNED("example.com/v1", "Widget"));
    struct owner_wanted wanted = {.unit = false};
    policy(f, "Require", SPREAD);
    f->review.user = STR("system:serviceaccount:shop:robot");
    f->options.owner_wanted = &wanted;
    create(f, pod);
    is_denied(f, EVASION_UNIT, "its Widget 'o' could not be read");
    assert_str(wanted.ref.name, "o");
    assert_false(wanted.unit);
    owners_remember(f->owners, OWNER_SELECTOR, &widget, STR(""), 1000); /* in vain */
    wanted = (struct owner_wanted){.unit = false};
    create(f, pod);
    is_denied(f, EVASION_UNIT, "its Widget 'o' could not be read");
    assert_str(wanted.ref.name, "");
    owners_remember(f->owners, OWNER_SELECTOR, &widget, STR("app=web"), 1000);
    create(f, pod);
    is_admitted(f, EVASION_NONE);
    f->options.owners = NULL;
    create(f, pod);
    is_denied(f, EVASION_UNIT, "could not be read");
    f->options.owners = f->owners;
    f->review.user = STR("ann"); /* who is no controller */
    create(f, pod);
    is_denied(f, EVASION_UNIT, "no controller of such units");
    f->review.user = STR("system:serviceaccount:shop:robot");
    /* Its own kind's mark is not just anybody's. */
    create(f, FIRST(RAY, OWNED("example.com/v1", "Widget")));
    is_denied(f, EVASION_UNIT, "no controller of such units");
    f->options.owner_wanted = NULL;
}

static void pods_without_a_group(void **state) {
    struct fixture *f = *state;
    evades(f, SPREAD, POD("", ""), EVASION_NO_GROUP, "lacks the labels");
    evades(f, SPREAD ",\"groupBy\":{\"labels\":[\"team\"]}", POD(LABELS, ""), EVASION_NO_GROUP,
           "lacks the labels");
}

static void sync_all(struct fixture *f) {
    cluster_nodes(&f->c, "a x");
    cache_write_begin(f->c.cache);
    cache_sync_begin(f->c.cache, CACHE_ALL_KINDS);
    cache_sync_end(f->c.cache, CACHE_ALL_KINDS);
    cache_write_end(f->c.cache);
    cluster_nodes(&f->c, "a x");
}

static void a_label_of_its_own(void **state) {
    struct fixture *f = *state;
    static const char unique[] = POD("\"labels\":{\"app\":\"web\",\"me\":\"2\"}", "");
    sync_all(f);
    policy(f, "Require", SPREAD);
    create(f, unique);
    is_admitted(f, EVASION_NONE); /* the first one has nobody to be beside */
    cluster_pods(&f->c, "shop/a:app=web+me=1");
    evades(f, SPREAD, unique, EVASION_GROUP_OF_ONE, "the label 'app=web'");
    create(f, POD("\"labels\":{\"app\":\"web\"}", ""));
    is_admitted(f, EVASION_NONE); /* it counts the other one */
    create(f, POD("\"labels\":{\"app\":\"db\"}", ""));
    is_admitted(f, EVASION_NONE); /* it has nothing in common */
    create(f, POD("\"labels\":{\"app\":\"web\",\"evenkeel.io/inject\":\"disabled\"}", ""));
    is_admitted(f, EVASION_NONE); /* that one is no part of a group */
    policy(f, "Require", SPREAD ",\"groupBy\":{\"labels\":[\"app\"]}");
    create(f, unique);
    is_admitted(f, EVASION_NONE); /* the policy says who counts */
}

/* Who has not created the pod may name any owner in it. */
static void an_owner_of_its_own_is_no_company(void **state) {
    struct fixture *f = *state;
#define UNIQUE(owner) POD("\"labels\":{\"app\":\"web\",\"me\":\"2\"}," owner, "")
    static const struct {
        const char *user, *pod;
        bool denied;
    } cases[] = {
        {"ann", UNIQUE(OWNED("v1", "ConfigMap")), true},
        {"ann", UNIQUE(OWNED("apps/v1", "ReplicaSet")), true},
        {"ann", UNIQUE(OWNED("example.com/v1", "Widget")), true},
        {"system:serviceaccount:shop:robot", UNIQUE(OWNED("apps/v1", "ReplicaSet")), true},
        {"system:serviceaccount:shop:robot", UNIQUE(OWNED("v1", "Pod")), true},
        {"system:serviceaccount:shop:robot", UNIQUE(OWNED("example.com/v1", "Widget")), false},
        {"system:serviceaccount:kube-system:job-controller", UNIQUE(OWNED("apps/v1", "ReplicaSet")),
         true},
        {"system:serviceaccount:kube-system:job-controller", UNIQUE(OWNED("batch/v1", "Job")),
         false},
        {"", UNIQUE(OWNED("v1", "ConfigMap")), false}, /* nobody says who it is */
        {"", POD("\"labels\":{\"app\":\"web\",\"me\":\"2\"}", ""), true},
    };
    sync_all(f);
    cluster_pods(&f->c, "shop/a:app=web+me=1");
    policy(f, "Require", SPREAD);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f->review.user = str_of(cases[i].user);
        create(f, cases[i].pod);
        if (cases[i].denied)
            is_denied(f, EVASION_GROUP_OF_ONE, "the label 'app=web'");
        else
            is_admitted(f, EVASION_NONE);
    }
}

/* Pods of this namespace that have the label app=web, one of their own, and so many others in
 * common. */
static void add_pods(struct fixture *f, const char *namespace, uint32_t pods, uint32_t others) {
    for (uint32_t i = 0; i < pods; i++) {
        CLEANUP(arena_done) struct arena arena;
        arena_init(&arena, 1 << 24);
        struct label *labels = arena_array(&arena, others + 2, sizeof *labels);
        assert_non_null(labels);
        labels[0] = (struct label){STR("app"), STR("web")};
        labels[1] = (struct label){STR("me"), arena_printf(&arena, "%u", i)};
        for (uint32_t k = 0; k < others; k++)
            labels[k + 2] = (struct label){arena_printf(&arena, "more-%06u", k), STR("")};
        struct str name = arena_printf(&arena, "%s-%u", namespace, i);
        cluster_apply(&f->c, &(struct object){.kind = OBJECT_POD,
                                              .pod = {.meta = {.namespace = str_of(namespace),
                                                               .name = name,
                                                               .uid = name,
                                                               .labels = {labels, others + 2}},
                                                      .node_name = STR("a")}});
    }
}

/* Whatever namespaces of others have, a pod is looked for company in its own. */
static void labels_of_other_namespaces(void **state) {
    struct fixture *f = *state;
    sync_all(f);
    add_pods(f, "elsewhere", 25000, 0);
    policy(f, "Require", SPREAD);
    create(f, POD("\"labels\":{\"app\":\"web\",\"me\":\"x\"}", ""));
    is_admitted(f, EVASION_NONE);
    add_pods(f, "shop", 1, 0);
    create(f, POD("\"labels\":{\"app\":\"web\",\"me\":\"x\"}", ""));
    is_denied(f, EVASION_GROUP_OF_ONE, "the label 'app=web'");
}

/* A namespace may have as many sets of labels as its pods have, long ones too. */
static void labels_of_its_own_namespace(void **state) {
    struct fixture *f = *state;
    static const char pod[] = POD("\"labels\":{\"app\":\"web\",\"me\":\"x\"}", "");
    sync_all(f);
    policy(f, "Require", SPREAD);
    add_pods(f, "shop", 21000, 0);
    create(f, pod);
    is_denied(f, EVASION_GROUP_OF_ONE, "the label 'app=web'");
}

/* What others have many labels for is not taken from the review of one that has few. */
static void pods_of_many_labels(void **state) {
    struct fixture *f = *state;
    static const char pod[] = POD("\"labels\":{\"app\":\"web\",\"me\":\"x\"}", "");
    sync_all(f);
    policy(f, "Require", SPREAD);
    add_pods(f, "shop", 20, 90000);
    create(f, pod);
    is_denied(f, EVASION_GROUP_OF_ONE, "the label 'app=web'");
    f->c.cache->options.max_label_bytes = UINT64_MAX; /* all are kept */
    add_pods(f, "shop", 20, 89999);
    create(f, pod);
    is_denied(f, EVASION_GROUP_OF_ONE, "the label 'app=web'");
}

/* What takes many steps for each pod is looked at of so many pods, and with more nobody is denied
 * for want of company. */
static void more_pods_than_can_be_looked_at(void **state) {
    enum { ASKED_FOR = 90 };
    struct fixture *f = *state;
    static const char pod[] = POD("\"labels\":{\"app\":\"web\",\"me\":\"x\"}", "");
    struct strbuf text = {0};
    struct json_reader r;
    sync_all(f);
    strbuf_append_str(&text, STR("{\"metadata\":{\"name\":\"p\"},\"spec\":{\"mode\":\"Require\","
                                 "\"match\":{\"objectSelector\":{\"matchExpressions\":["));
    for (int i = 0; i < ASKED_FOR; i++)
        strbuf_appendf(&text, "%s{\"key\":\"k%d\",\"operator\":\"DoesNotExist\"}", i > 0 ? "," : "",
                       i);
    strbuf_append_str(&text, STR("]}},\"pods\":{" SPREAD "}}}"));
    json_reader_init(&r, arena_str(&f->c.arena, strbuf_str(&text)), &f->c.arena, "policy");
    strbuf_done(&text);
    policy_decode(&r, &f->policy);
    assert_int_equal(json_finish(&r, NULL), 0);
    add_pods(f, "shop", 1000, 0);
    create(f, pod);
    is_denied(f, EVASION_GROUP_OF_ONE, "the label 'app=web'");
    add_pods(f, "shop", 6000, 0);
    create(f, pod);
    is_admitted(f, EVASION_NONE);
}

/* With so many labels, and a last one with the pod's name. */
static const char *pod_of_labels(struct fixture *f, const char *name, uint32_t count,
                                 const char *spec) {
    struct strbuf pod = {0};
    strbuf_appendf(&pod,
                   "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"shop\",\"uid\":\"%s\","
                   "\"labels\":{\"app\":\"web\"",
                   name, name);
    for (uint32_t i = 0; i < count; i++)
        strbuf_appendf(&pod, ",\"more-%06u\":\"\"", i);
    strbuf_appendf(&pod, ",\"zz\":\"%s\"}},\"spec\":{%s}}", name, spec);
    struct str text = arena_str(&f->c.arena, strbuf_str(&pod));
    strbuf_done(&pod);
    return arena_cstr(&f->c.arena, text);
}

/* What many labels of the reviewed pod take is not taken for each pod beside it. */
static void a_pod_of_many_labels(void **state) {
    struct fixture *f = *state;
    sync_all(f);
    policy(f, "Require", SPREAD);
    add_pods(f, "shop", 5000, 0);
    create(f, pod_of_labels(f, "new", 20000, ""));
    is_denied(f, EVASION_GROUP_OF_ONE, "the label 'app=web'");
}

/* Whose own labels are what takes the steps does not get by with that: they are the same as those
 * of others up to the last one. */
static void many_labels_beside_many(void **state) {
    enum { LABELS_EACH = 10000 };
    struct fixture *f = *state;
    char name[8] = "aa";
    sync_all(f);
    policy(f, "Require", SPREAD);
    for (; name[0] <= 'z'; name[0]++)
        cluster_apply_json(&f->c, OBJECT_POD,
                           pod_of_labels(f, name, LABELS_EACH, "\"nodeName\":\"a\""));
    create(f, pod_of_labels(f, "new", LABELS_EACH, ""));
    is_denied(f, EVASION_TOO_MANY_STEPS, "fewer labels");
}

/* What the policy asks of all its pods makes nobody belong together. */
static void labels_that_the_policy_asks_for(void **state) {
    struct fixture *f = *state;
    struct json_reader r;
    sync_all(f);
    cluster_pods(&f->c, "shop/a:app=db+tier=web shop/x:app=web+tier=other");
    json_reader_init(
        &r,
        STR("{\"metadata\":{\"name\":\"p\"},\"spec\":{\"mode\":\"Require\",\"match\":{"
            "\"objectSelector\":{\"matchLabels\":{\"tier\":\"web\"}}},\"pods\":{" SPREAD "}}}"),
        &f->c.arena, "policy");
    policy_decode(&r, &f->policy);
    assert_int_equal(json_finish(&r, NULL), 0);
    create(f, POD("\"labels\":{\"app\":\"web\",\"tier\":\"web\"}", ""));
    is_admitted(f, EVASION_NONE);
    create(f, POD("\"labels\":{\"app\":\"db\",\"tier\":\"web\",\"me\":\"1\"}", ""));
    is_denied(f, EVASION_GROUP_OF_ONE, "'app=db'");
}

static void pods_that_name_too_few_domains(void **state) {
    struct fixture *f = *state;
    static const char three[] =
        "\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\","
        "\"minDomains\":3}]";
#define ZONES(zones)                                                                               \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"         \
    "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\","         \
    "\"values\":[" zones "]}]}]}}}"
    evades(f, three, POD(LABELS, "\"nodeSelector\":{\"zone\":\"a\"}"), EVASION_NODE_TERMS,
           "names 1 domains of 'zone', and the policy wants 3");
    evades(f, three, POD(LABELS, ZONES("\"a\",\"b\"")), EVASION_NODE_TERMS, "names 2 domains");
    create(f, POD(LABELS, ZONES("\"a\",\"b\",\"c\"")));
    is_admitted(f, EVASION_NONE);
    create(f, POD(LABELS, "\"nodeSelector\":{\"gpu\":\"yes\"}")); /* wherever such nodes are */
    is_admitted(f, EVASION_NONE);
}

static void groups_that_want_to_be_together(void **state) {
    struct fixture *f = *state;
    evades(f, SPREAD,
           POD(LABELS, "\"affinity\":{\"podAffinity\":{"
                       "\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":"
                       "\"zone\"," BY_APP "}]}}"),
           EVASION_POD_AFFINITY, "keeps its group together");
}

/* More constraints than may be looked at. */
static void pods_that_take_too_many_steps(void **state) {
    struct fixture *f = *state;
    struct strbuf pod = {0};
    strbuf_append_str(&pod,
                      STR("{\"metadata\":{" LABELS "},\"spec\":{\"topologySpreadConstraints\":["));
    for (int i = 0; i < 90000; i++)
        strbuf_appendf(&pod,
                       "%s{\"maxSkew\":1,\"topologyKey\":\"k%d\",\"whenUnsatisfiable\":"
                       "\"ScheduleAnyway\"}",
                       i > 0 ? "," : "", i);
    strbuf_append_str(&pod, STR("]}}"));
    strbuf_append_char(&pod, '\0');
    policy(f, "Require",
           "\"spread\":[{\"topologyKey\":\"a\",\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"b\",\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"c\",\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"d\",\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"e\",\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"f\",\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"g\",\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"h\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}]");
    create(f, pod.p);
    is_denied(f, EVASION_TOO_MANY_STEPS, "takes more than");
    strbuf_done(&pod);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_good_pod_is_admitted, setup, teardown),
        cmocka_unit_test_setup_teardown(what_evenkeel_has_not_done_is_no_evasion, setup, teardown),
        cmocka_unit_test_setup_teardown(other_policies_deny_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(no_opt_out_is_heeded, setup, teardown),
        cmocka_unit_test_setup_teardown(weaker_constraints, setup, teardown),
        cmocka_unit_test_setup_teardown(constraints_that_count_others, setup, teardown),
        cmocka_unit_test_setup_teardown(what_another_webhook_has_written_is_not_the_authors, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(invented_placements, setup, teardown),
        cmocka_unit_test_setup_teardown(daemon_sets_place_pods, setup, teardown),
        cmocka_unit_test_setup_teardown(templates_choose_no_nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(accounts_are_no_controllers, setup, teardown),
        cmocka_unit_test_setup_teardown(other_schedulers, setup, teardown),
        cmocka_unit_test_setup_teardown(units, setup, teardown),
        cmocka_unit_test_setup_teardown(first_pods, setup, teardown),
        cmocka_unit_test_setup_teardown(units_of_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(gangs, setup, teardown),
        cmocka_unit_test_setup_teardown(owners_of_custom_kinds, setup, teardown),
        cmocka_unit_test_setup_teardown(pods_without_a_group, setup, teardown),
        cmocka_unit_test_setup_teardown(a_label_of_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(an_owner_of_its_own_is_no_company, setup, teardown),
        cmocka_unit_test_setup_teardown(labels_that_the_policy_asks_for, setup, teardown),
        cmocka_unit_test_setup_teardown(labels_of_other_namespaces, setup, teardown),
        cmocka_unit_test_setup_teardown(labels_of_its_own_namespace, setup, teardown),
        cmocka_unit_test_setup_teardown(pods_of_many_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(more_pods_than_can_be_looked_at, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pod_of_many_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(many_labels_beside_many, setup, teardown),
        cmocka_unit_test_setup_teardown(pods_that_name_too_few_domains, setup, teardown),
        cmocka_unit_test_setup_teardown(groups_that_want_to_be_together, setup, teardown),
        cmocka_unit_test_setup_teardown(pods_that_take_too_many_steps, setup, teardown),
    };
    return cmocka_run_group_tests_name("require", tests, NULL, NULL);
}
