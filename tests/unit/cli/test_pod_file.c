/* The pod that a workload's controller would make, as Kubernetes' controllers do: a Deployment's
 * ReplicaSet selects what the Deployment does and pod-template-hash, which its pods have as a
 * label; a CronJob's template is that of its jobTemplate. */
#include "cli/pod_file.h"

#include "unit/unit.h"

#include <errno.h>

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
        POD("", "\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"web\"", "u"));
    assert_str(f.file.owner, json);
    arena_done(&f.arena);
}

static void test_jobs(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(read(&f, "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\"," META
                              ",\"spec\":{\"parallelism\":3," TEMPLATE "}}"),
                     0);
    assert_int_equal(f.file.replicas, 3);
    assert_str(f.file.owner, "");
    arena_done(&f.arena);
    assert_int_equal(read(&f, "{\"apiVersion\":\"batch/v1\",\"kind\":\"CronJob\"," META
                              ",\"spec\":{\"jobTemplate\":{\"spec\":{\"parallelism\":2," TEMPLATE
                              "}}}}"),
                     0);
    assert_int_equal(f.file.replicas, 2);
    arena_done(&f.arena);
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

static void test_what_is_none(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "{}",
        "[]",
        "{\"kind\":\"ConfigMap\"}",
        "{\"kind\":\"DaemonSet\",\"spec\":{" TEMPLATE "}}",
        "{\"kind\":\"Deployment\",\"spec\":{\"template\":{}}}",
        "{\"kind\":\"Deployment\",\"spec\":7}",
        "{\"kind\":\"Deployment\",\"spec\":{\"replicas\":-1," TEMPLATE "}}",
        "{\"kind\":\"Deployment\",\"spec\":{\"replicas\":\"x\"," TEMPLATE "}}",
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
        cmocka_unit_test(test_a_pod_stays_as_it_is),
        cmocka_unit_test(test_empty_labels_and_none),
        cmocka_unit_test(test_what_is_none),
    };
    return cmocka_run_group_tests_name("pod_file", tests, NULL, NULL);
}
