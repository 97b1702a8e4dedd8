/* The pod that a workload's controller would make, as Kubernetes' controllers do: a Deployment's
 * ReplicaSet selects what the Deployment does and pod-template-hash, which its pods have as a
 * label; a CronJob's template is that of its jobTemplate. */
#include "whatif/pod_file.h"

#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>

struct fixture {
    struct arena arena;
    struct pod_file file;
    struct err err;
};

static int read(struct fixture *f, const char *json) {
    arena_init(&f->arena, 1 << 20);
    return pod_file_read(str_of(json), &f->arena, &f->file, &f->err);
}

#define TEMPLATE                                                                                   \
    "\"template\":{\"metadata\":{\"labels\":{\"app\":\"web\"},\"annotations\":{\"a\":\"b\"}},"     \
    "\"spec\":{\"nodeSelector\":{\"x\":\"y\"}}}"
#define META "\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\",\"uid\":\"u\"}"
#define POD(labels, owner, uid)                                                                    \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-simulated\","            \
    "\"namespace\":\"shop\",\"labels\":{\"app\":\"web\"" labels "},\"annotations\":{\"a\":\"b\"}," \
    "\"ownerReferences\":[{" owner ",\"uid\":\"" uid "\",\"controller\":true}]},"                  \
    "\"spec\":{\"nodeSelector\":{\"x\":\"y\"}}}"

static void test_deployment(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(read(&f, "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"," META
                              ",\"spec\":{\"replicas\":6,\"selector\":{\"matchLabels\":{\"app\":"
                              "\"web\"}}," TEMPLATE "}}"),
                     0);
    assert_int_equal(f.file.replicas, 6);
    assert_str(f.file.pod, POD(",\"pod-template-hash\":\"simulated\"",
                               "\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":"
                               "\"web-simulated\"",
                               "web-simulated"));
    assert_str(f.file.owner,
               "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"metadata\":{\"name\":"
               "\"web-simulated\",\"namespace\":\"shop\"},\"spec\":{\"selector\":{\"matchLabels\":"
               "{\"app\":\"web\",\"pod-template-hash\":\"simulated\"}}}}");
    arena_done(&f.arena);
}

static void test_stateful_set(void **state) {
    (void)state;
    static const char json[] =
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\"," META ",\"spec\":{" TEMPLATE "}}";
    struct fixture f;
    assert_int_equal(read(&f, json), 0);
    assert_int_equal(f.file.replicas, 1); /* which is what the API server fills in */
    assert_str(
        f.file.pod,
        POD(",\"apps.kubernetes.io/pod-index\":\"0\",\"controller-revision-hash\":\"simulated\","
            "\"statefulset.kubernetes.io/pod-name\":\"web-simulated\"",
            "\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"web\"", "u"));
    assert_str(f.file.owner, json);
    arena_done(&f.arena);
}

#define JOB_LABELS(name, uid)                                                                      \
    ",\"batch.kubernetes.io/controller-uid\":\"" uid "\",\"batch.kubernetes.io/job-name\":\"" name \
    "\",\"controller-uid\":\"" uid "\",\"job-name\":\"" name "\""
#define JOB_OWNER(name) "\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"" name "\""

/* The API server gives a Job's template these labels, if the Job has no selector of its own. */
static void test_jobs(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(read(&f, "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\"," META
                              ",\"spec\":{\"parallelism\":3," TEMPLATE "}}"),
                     0);
    assert_int_equal(f.file.replicas, 3);
    assert_str(f.file.pod, POD(JOB_LABELS("web", "u"), JOB_OWNER("web"), "u"));
    assert_str(f.file.owner, "");
    arena_done(&f.arena);
    assert_int_equal(read(&f, "{\"apiVersion\":\"batch/v1\",\"kind\":\"CronJob\"," META
                              ",\"spec\":{\"jobTemplate\":{\"spec\":{\"parallelism\":2," TEMPLATE
                              "}}}}"),
                     0);
    assert_int_equal(f.file.replicas, 2);
    /* upstream: pkg/controller/cronjob getJobName(): the CronJob's name and the minute */
    assert_str(f.file.pod, POD(JOB_LABELS("web-29000000", "web-29000000"),
                               JOB_OWNER("web-29000000"), "web-29000000"));
    arena_done(&f.arena);
}

static void test_a_job_read_from_a_server_has_its_labels(void **state) {
    (void)state;
    static const char json[] =
        "{\"kind\":\"Job\",\"metadata\":{\"name\":\"j\",\"uid\":\"u\"},\"spec\":{\"template\":{"
        "\"metadata\":{\"labels\":{\"batch.kubernetes.io/"
        "controller-uid\":\"u\",\"job-name\":\"j\"}},"
        "\"spec\":{}}}}";
    static const char wanted[] =
        "\"labels\":{\"batch.kubernetes.io/controller-uid\":\"u\",\"job-name\":\"j\","
        "\"batch.kubernetes.io/job-name\":\"j\",\"controller-uid\":\"u\"}";
    struct fixture f;
    assert_int_equal(read(&f, json), 0);
    assert_non_null(memmem(f.file.pod.p, f.file.pod.n, wanted, sizeof wanted - 1));
    arena_done(&f.arena);
}

/* As many at once as it has completions, at most. */
static void test_completions(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        int64_t replicas;
    } rows[] = {
        {"\"parallelism\":10,\"completions\":3,", 3},
        {"\"parallelism\":2,\"completions\":3,", 2},
        {"\"completions\":3,", 1},
        {"\"completions\":null,\"parallelism\":4,", 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char json[512];
        struct fixture f;
        (void)snprintf(json, sizeof json, "{\"kind\":\"Job\",\"spec\":{%s" TEMPLATE "}}",
                       rows[i].spec);
        assert_int_equal(read(&f, json), 0);
        assert_int_equal(f.file.replicas, rows[i].replicas);
        arena_done(&f.arena);
    }
}

static void test_a_pod_stays_as_it_is(void **state) {
    (void)state;
    static const char json[] = "{\"kind\":\"Pod\",\"spec\":{" TEMPLATE "}}";
    struct fixture f;
    assert_int_equal(read(&f, json), 0);
    assert_str(f.file.pod, json);
    assert_int_equal(f.file.replicas, 0);
    arena_done(&f.arena);
}

static void test_empty_labels_and_none(void **state) {
    (void)state;
    struct fixture f;
    static const char wanted[] = "\"labels\":{\"pod-template-hash\":\"simulated\"}";
    assert_int_equal(read(&f, "{\"kind\":\"Deployment\",\"metadata\":null,\"spec\":{\"template\":"
                              "{\"metadata\":{\"labels\":{ }},\"spec\":{}}}}"),
                     0);
    assert_non_null(memmem(f.file.pod.p, f.file.pod.n, wanted, sizeof wanted - 1));
    arena_done(&f.arena);
    assert_int_equal(read(&f, "{\"kind\":\"Deployment\",\"spec\":{\"template\":{\"spec\":{}}}}"),
                     0);
    assert_non_null(memmem(f.file.pod.p, f.file.pod.n, wanted, sizeof wanted - 1));
    arena_done(&f.arena);
}

static void test_a_daemon_set(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(read(&f, "{\"kind\":\"DaemonSet\",\"metadata\":{\"name\":\"agent\"},\"spec\":{"
                              "\"template\":{\"spec\":{\"hostNetwork\":true}}}}"),
                     0);
    assert_true(str_eq(f.file.daemon_set.kind, STR("DaemonSet")));
    assert_true(str_eq(f.file.daemon_set.namespace, STR("default")));
    assert_true(str_eq(f.file.daemon_set.name, STR("agent")));
    assert_true(f.file.host_network);
    assert_int_equal(f.file.replicas, 0);
    arena_done(&f.arena);
}

static void test_what_is_none(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "{}",
        "[]",
        "{\"kind\":\"ConfigMap\"}",
        "{\"kind\":\"Deployment\",\"spec\":{\"template\":{}}}",
        "{\"kind\":\"Deployment\",\"spec\":7}",
        "{\"kind\":\"Deployment\",\"spec\":{\"replicas\":-1," TEMPLATE "}}",
        "{\"kind\":\"Deployment\",\"spec\":{\"replicas\":\"x\"," TEMPLATE "}}",
        "{\"kind\":\"Job\",\"spec\":{\"completions\":\"x\"," TEMPLATE "}}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct fixture f;
        assert_int_equal(read(&f, wrong[i]), -EINVAL);
        arena_done(&f.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deployment),
        cmocka_unit_test(test_stateful_set),
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_a_job_read_from_a_server_has_its_labels),
        cmocka_unit_test(test_completions),
        cmocka_unit_test(test_a_pod_stays_as_it_is),
        cmocka_unit_test(test_empty_labels_and_none),
        cmocka_unit_test(test_a_daemon_set),
        cmocka_unit_test(test_what_is_none),
    };
    return cmocka_run_group_tests_name("pod_file", tests, NULL, NULL);
}
