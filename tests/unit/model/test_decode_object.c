/*
 * object_decode() on what a watch sends: objects as an API server writes them, with everything that
 * does not matter here, and the four ways to fail. What each kind is taken for is
 * test_objects.c's.
 */
#include "model/object.h"
#include "unit/model/decoding.h"

#include <errno.h>

#define MANAGED                                                                                    \
    "\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"generation\":3,\"managedFields\":[{"         \
    "\"manager\":\"kubelet\",\"operation\":\"Update\",\"fieldsV1\":{\"f:status\":{\"f:x\":{}}}}]"

static void decode(const char *json, enum object_kind kind, enum pod_detail detail,
                   struct object *ret) {
    struct err err;
    if (object_decode(str_of(json), kind, detail, &decoding_arena, ret, &err) != 0)
        fail_msg("%s", err.text);
}

static const char pod[] =
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-1\",\"generateName\":"
    "\"web-\",\"namespace\":\"shop\",\"uid\":\"u-1\",\"resourceVersion\":\"12\",\"labels\":{"
    "\"app\":\"web\",\"caf\\u00e9\":\"\\u00fc\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\","
    "\"kind\":\"ReplicaSet\",\"name\":\"web\",\"uid\":\"u-0\",\"controller\":true}]," MANAGED "},"
    "\"spec\":{\"volumes\":[],\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{"
    "\"cpu\":\"1\"}}}],\"nodeName\":\"node-a\",\"nodeSelector\":{\"disk\":\"ssd\"},"
    "\"tolerations\":[{\"operator\":\"Exists\"}],\"topologySpreadConstraints\":[{\"maxSkew\":1,"
    "\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]},\"status\":{\"phase\":"
    "\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}";

static void check_pod(const struct object *o) {
    struct str value;
    assert_int_equal(o->kind, OBJECT_POD);
    assert_str(o->meta.name, "web-1");
    assert_str(o->meta.namespace, "shop");
    assert_str(o->meta.uid, "u-1");
    assert_str(o->meta.controller_kind, "ReplicaSet");
    assert_true(labels_lookup(&o->meta.labels, STR("caf\xc3\xa9"), &value));
    assert_str(value, "\xc3\xbc");
    assert_false(o->meta.terminating);
    assert_str(o->pod.node_name, "node-a");
    assert_false(o->pod.finished);
}

static void a_pod_for_counting(void **state) {
    (void)state;
    struct object o;
    decode(pod, OBJECT_POD, POD_RUNNING, &o);
    check_pod(&o);
    assert_int_equal(o.pod.constraint_count, 0);
    assert_int_equal(o.pod.tolerations.count, 1);
}

static void a_pod_for_placing(void **state) {
    (void)state;
    struct object o;
    decode(pod, OBJECT_POD, POD_WHOLE, &o);
    check_pod(&o);
    assert_int_equal(o.pod.constraint_count, 1);
    assert_int_equal(o.pod.tolerations.count, 1);
}

/* What is only for placing a pod may be wrong: such a pod counts where it is all the same. */
static void a_pod_with_a_wrong_constraint(void **state) {
    (void)state;
    static const char json[] = "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"nodeName\":\"n\","
                               "\"topologySpreadConstraints\":[{\"maxSkew\":\"one\"}]}}";
    struct object o;
    struct err err;
    decode(json, OBJECT_POD, POD_RUNNING, &o);
    assert_str(o.pod.node_name, "n");
    assert_int_equal(object_decode(str_of(json), OBJECT_POD, POD_WHOLE, &decoding_arena, &o, &err),
                     -EINVAL);
    assert_contains(err.text, "object.spec.topologySpreadConstraints[0].maxSkew: ");
}

static void a_node(void **state) {
    (void)state;
    struct object o;
    struct str value;
    decode("{\"kind\":\"Node\",\"metadata\":{\"name\":\"node-a\",\"uid\":\"n-1\",\"labels\":{"
           "\"topology.kubernetes.io/zone\":\"z\"}," MANAGED "},\"spec\":{\"podCIDR\":"
           "\"10.0.0.0/24\",\"taints\":[{\"key\":\"gone\",\"effect\":\"NoSchedule\"}]},\"status\":"
           "{\"capacity\":{\"cpu\":\"4\"},\"images\":[{\"names\":[\"a\",\"b\"],\"sizeBytes\":7}]}}",
           OBJECT_NODE, POD_RUNNING, &o);
    assert_str(o.meta.name, "node-a");
    assert_true(labels_lookup(&o.meta.labels, STR("topology.kubernetes.io/zone"), &value));
    assert_str(value, "z");
    assert_int_equal(o.node.taint_count, 1);
}

static void a_namespace(void **state) {
    (void)state;
    struct object o;
    decode("{\"kind\":\"Namespace\",\"metadata\":{\"name\":\"shop\",\"deletionTimestamp\":"
           "\"2026-01-01T00:00:00Z\"," MANAGED "},\"spec\":{\"finalizers\":[\"kubernetes\"]},"
           "\"status\":{\"phase\":\"Terminating\"}}",
           OBJECT_NAMESPACE, POD_RUNNING, &o);
    assert_int_equal(o.kind, OBJECT_NAMESPACE);
    assert_str(o.meta.name, "shop");
    assert_true(o.meta.terminating);
}

/* A map for Services, a LabelSelector for those of apps. */
static void workloads(void **state) {
    (void)state;
    struct object o;
    decode(
        "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"selector\":{\"app\":\"web\"},\"ports\":[]}}",
        OBJECT_SERVICE, POD_RUNNING, &o);
    assert_true(o.workload.selector.present);
    decode(
        "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"replicas\":2,\"selector\":{\"matchLabels\":"
        "{\"app\":\"web\"}},\"template\":{\"spec\":{\"containers\":[]}}}}",
        OBJECT_STATEFUL_SET, POD_RUNNING, &o);
    assert_true(o.workload.selector.present);
    decode("{\"metadata\":{\"name\":\"web\"},\"spec\":{\"ports\":[]}}", OBJECT_SERVICE, POD_RUNNING,
           &o);
    assert_false(o.workload.selector.present);
}

static void null_is_absent(void **state) {
    (void)state;
    struct object o;
    struct err err;
    decode("{\"metadata\":{\"name\":\"a\",\"labels\":null},\"spec\":null,\"status\":null}",
           OBJECT_POD, POD_WHOLE, &o);
    assert_str(o.pod.node_name, "");
    assert_int_equal(
        object_decode(STR("{\"metadata\":null}"), OBJECT_POD, POD_WHOLE, &decoding_arena, &o, &err),
        -EINVAL);
    assert_contains(err.text, "no metadata.name");
    assert_int_equal(object_decode(STR("null"), OBJECT_NODE, POD_WHOLE, &decoding_arena, &o, &err),
                     -EINVAL);
}

/* The arena's maximum is a limit of one object, which alone is passed over: a watch that took it
 * for memory that the machine lacks would list everybody's again, for ever. */
static void more_than_an_object_may_take(void **state) {
    (void)state;
    struct object o = {.kind = OBJECT_STATEFUL_SET};
    struct object_meta meta;
    struct arena small;
    struct err err;
    arena_init(&small, 16);
    assert_int_equal(object_decode(str_of(pod), OBJECT_POD, POD_WHOLE, &small, &o, &err), -EFBIG);
    assert_int_equal(o.kind, OBJECT_STATEFUL_SET);
    assert_contains(err.text, "shop/web-1");
    arena_reset(&small);
    assert_int_equal(
        object_key_decode(STR("{\"metadata\":{\"name\":\"\\u00fc\"}}"), &small, &meta, &err),
        -EFBIG);
    arena_done(&small);
}

/* What malloc() cannot give concerns everyone. */
static void too_little_memory(void **state) {
    (void)state;
    struct object o;
    struct arena refused;
    struct err err;
    arena_init(&refused, SIZE_MAX);
    refused.failed = true;
    assert_int_equal(object_decode(str_of(pod), OBJECT_POD, POD_WHOLE, &refused, &o, &err),
                     -ENOMEM);
    arena_done(&refused);
}

static void cut_anywhere(void **state) {
    (void)state;
    for (size_t n = 0; n < sizeof pod - 1; n++) {
        struct object o = {.kind = OBJECT_STATEFUL_SET};
        char *copy = malloc(n > 0 ? n : 1); /* so that reading behind the end is seen */
        assert_non_null(copy);
        memcpy(copy, pod, n);
        assert_int_equal(
            object_decode((struct str){copy, n}, OBJECT_POD, POD_WHOLE, &decoding_arena, &o, NULL),
            -EINVAL);
        assert_int_equal(o.kind, OBJECT_STATEFUL_SET);
        arena_reset(&decoding_arena);
        free(copy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(a_pod_for_counting),
        DECODING_TEST(a_pod_for_placing),
        DECODING_TEST(a_pod_with_a_wrong_constraint),
        DECODING_TEST(a_node),
        DECODING_TEST(a_namespace),
        DECODING_TEST(workloads),
        DECODING_TEST(null_is_absent),
        DECODING_TEST(more_than_an_object_may_take),
        DECODING_TEST(too_little_memory),
        DECODING_TEST(cut_anywhere),
    };
    return cmocka_run_group_tests_name("decode_object", tests, NULL, NULL);
}
