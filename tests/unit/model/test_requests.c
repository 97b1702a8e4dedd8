/*
 * What pods request. Expectations are worked out by hand from component-helpers
 * resource.PodRequests() (v0.36.3) with the features of Kubernetes 1.36 that are on by default, and
 * from kube-scheduler's framework.Resource.
 */
#include "unit/model/decoding.h"

#include "model/object.h"

#include <errno.h>

#define RUNNING "\"metadata\":{\"name\":\"p\"},"
#define STATUS(reason)                                                                             \
    "\"status\":{\"conditions\":[{\"type\":\"Ready\"},{\"type\":\"PodResizePending\","             \
    "\"reason\":\"" reason "\"}],\"containerStatuses\":[{\"name\":\"a\",\"resources\":"            \
    "{\"requests\":{\"cpu\":\"2\"}},\"allocatedResources\":{\"cpu\":\"3\"}}]}"
#define ONE_CPU                                                                                    \
    "\"spec\":{\"containers\":[{\"name\":\"a\",\"resources\":{\"requests\":{\"cpu\":\"5\"}}}]},"

static const struct {
    const char *pod, *placed, *wanted;
} rows[] = {
    {"\"spec\":{}", "", ""},
    /* containers add up exactly, and only the sum is rounded up */
    {"\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"100u\",\"memory\":1}}},"
     "{\"resources\":{\"requests\":{\"cpu\":\"100u\",\"memory\":\"1500m\"}}}]}",
     "cpu=1 memory=3", "cpu=1 memory=3"},
    /* the largest init container counts if it is more than all containers */
    {"\"spec\":{\"initContainers\":[{\"resources\":{\"requests\":{\"cpu\":2,\"memory\":1}}},"
     "{\"resources\":{\"requests\":{\"cpu\":1,\"memory\":9}}}],"
     "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":1,\"memory\":5}}}]}",
     "cpu=2000 memory=9", "cpu=2000 memory=9"},
    /* sidecars run beside what comes after them */
    {"\"spec\":{\"initContainers\":[{\"resources\":{\"requests\":{\"memory\":8}}},"
     "{\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"memory\":4}}},"
     "{\"resources\":{\"requests\":{\"memory\":7}}}],"
     "\"containers\":[{\"resources\":{\"requests\":{\"memory\":5}}}]}",
     "memory=11", "memory=11"},
    /* the pod's own requests replace sums, of cpu, memory and huge pages only; overhead is on top
     */
    {"\"spec\":{\"resources\":{\"requests\":{\"cpu\":\"3\",\"hugepages-2Mi\":\"4Mi\","
     "\"example.com/a\":9}},\"overhead\":{\"cpu\":\"250m\",\"memory\":10},"
     "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"9\",\"memory\":1,"
     "\"example.com/a\":2}}}]}",
     "cpu=3250 example.com/a=2 hugepages-2Mi=4194304 memory=11",
     "cpu=3250 example.com/a=2 hugepages-2Mi=4194304 memory=11"},
    /* what the scheduler does not look at */
    {"\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"storage\":1,\"pods\":2,"
     "\"requests.example.com/a\":3,\"-bad/name\":4,\"attachable-volumes-x\":5,"
     "\"a.kubernetes.io/b\":6},\"limits\":{\"cpu\":1}}}]}",
     "a.kubernetes.io/b=6 attachable-volumes-x=5", "a.kubernetes.io/b=6 attachable-volumes-x=5"},
    /* a resize under way counts with the most of the three, unless the node cannot grant it */
    {ONE_CPU STATUS("Deferred"), "cpu=5000", "cpu=5000"},
    {ONE_CPU STATUS("Infeasible"), "cpu=3000", "cpu=5000"},
    /* a status that does not report resources says nothing */
    {ONE_CPU "\"status\":{\"containerStatuses\":[{\"name\":\"a\",\"allocatedResources\":"
             "{\"cpu\":\"9\"}}]}",
     "cpu=5000", "cpu=5000"},
    /* the last status of a name counts; that of another name does not */
    {ONE_CPU "\"status\":{\"containerStatuses\":[{\"name\":\"a\",\"resources\":{\"requests\":"
             "{\"cpu\":\"9\"}}},{\"name\":\"b\",\"resources\":{\"requests\":{\"cpu\":\"8\"}}}],"
             "\"initContainerStatuses\":[{\"name\":\"a\",\"resources\":{\"requests\":"
             "{\"cpu\":\"7\"}}}]}",
     "cpu=7000", "cpu=5000"},
    /* ordinary init containers are never resized, sidecars are */
    {"\"spec\":{\"initContainers\":[{\"name\":\"i\",\"resources\":{\"requests\":{\"cpu\":1}}},"
     "{\"name\":\"s\",\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"memory\":1}}}]},"
     "\"status\":{\"initContainerStatuses\":[{\"name\":\"i\",\"resources\":{\"requests\":"
     "{\"cpu\":8}}},{\"name\":\"s\",\"resources\":{\"requests\":{\"memory\":8}}}]}",
     "cpu=1000 memory=8", "cpu=1000 memory=1"},
    /* the pod's own requests are resized, too; actuated ones must be reported */
    {"\"spec\":{\"resources\":{\"requests\":{\"cpu\":1}}},"
     "\"status\":{\"resources\":{\"requests\":{\"cpu\":2}},\"allocatedResources\":{\"cpu\":3}}",
     "cpu=3000", "cpu=1000"},
    {"\"spec\":{\"resources\":{\"requests\":{\"cpu\":1}}},"
     "\"status\":{\"allocatedResources\":{\"cpu\":3}}",
     "cpu=1000", "cpu=1000"},
};

static void put(struct strbuf *out, struct resources from) {
    for (uint32_t i = 0; i < from.count; i++)
        strbuf_appendf(out, "%s%.*s=%lld", i > 0 ? " " : "", STR_ARG(from.items[i].name),
                       (long long)from.items[i].amount);
}

static struct object decoded(enum object_kind kind, const char *members, enum pod_detail detail) {
    struct strbuf json = {0};
    struct object object;
    struct err err = {0};
    strbuf_appendf(&json, "{" RUNNING "%s}", members);
    struct str text = arena_str(&decoding_arena, strbuf_str(&json));
    strbuf_done(&json);
    if (object_decode(text, kind, detail, &decoding_arena, &object, &err) != 0)
        fail_msg("%s in %s", err.text, members);
    return object;
}

static void requests_are_upstreams(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int placed = 0; placed <= 1; placed++) {
            struct object o = decoded(OBJECT_POD, rows[i].pod, placed ? POD_RUNNING : POD_WHOLE);
            struct strbuf got = {0};
            put(&got, o.pod.requests.resources);
            assert_str(strbuf_str(&got), placed ? rows[i].placed : rows[i].wanted);
            strbuf_done(&got);
        }
}

/* upstream: scheduler/util GetHostPorts(), framework HostPortInfo.sanitize() */
static void ports_of_the_host(void **state) {
    (void)state;
    struct object o = decoded(
        OBJECT_POD,
        "\"spec\":{\"initContainers\":[{\"ports\":[{\"hostPort\":1}]},{\"restartPolicy\":"
        "\"Always\","
        "\"ports\":[{\"hostPort\":2,\"protocol\":\"UDP\"}]}],\"containers\":[{\"ports\":["
        "{\"containerPort\":80},{\"hostPort\":0},{\"hostPort\":3,\"hostIP\":\"10.0.0.1\"}]}]}",
        POD_WHOLE);
    const struct pod_requests *r = &o.pod.requests;
    assert_int_equal(r->port_count, 2);
    assert_int_equal(r->ports[0].port, 2);
    assert_str(r->ports[0].protocol, "UDP");
    assert_str(r->ports[0].ip, "0.0.0.0");
    assert_int_equal(r->ports[1].port, 3);
    assert_str(r->ports[1].protocol, "TCP");
    assert_str(r->ports[1].ip, "10.0.0.1");
}

static void what_a_node_has(void **state) {
    (void)state;
    struct object o = decoded(OBJECT_NODE,
                              "\"spec\":{\"unschedulable\":true},\"status\":{\"allocatable\":"
                              "{\"cpu\":\"3920m\",\"pods\":\"110\",\"storage\":\"1Ti\","
                              "\"nvidia.com/gpu\":\"8\"},\"capacity\":{\"cpu\":\"4\"}}",
                              POD_RUNNING);
    struct strbuf got = {0};
    put(&got, o.node.allocatable);
    assert_str(strbuf_str(&got), "cpu=3920 nvidia.com/gpu=8 pods=110");
    assert_true(o.node.unschedulable);
    strbuf_done(&got);
}

static void quantities_that_are_none(void **state) {
    (void)state;
    struct object o;
    struct err err = {0};
    struct str json = STR("{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"resources\":"
                          "{\"requests\":{\"cpu\":\"much\"}}}]}}");
    assert_int_equal(object_decode(json, OBJECT_POD, POD_WHOLE, &decoding_arena, &o, &err),
                     -EINVAL);
    assert_contains(err.text, "spec.containers[0].resources.requests.cpu");
}

/* 20,000 containers and statuses, in opposite orders: names are looked up, not compared one by one.
 */
static void many_containers(void **state) {
    (void)state;
    enum { MANY = 20000 };
    struct strbuf json = {0};
    strbuf_append_str(&json, STR("\"spec\":{\"containers\":["));
    for (int i = 0; i < MANY; i++)
        strbuf_appendf(&json, "%s{\"name\":\"c%d\"}", i > 0 ? "," : "", i);
    strbuf_append_str(&json, STR("]},\"status\":{\"containerStatuses\":["));
    for (int i = MANY; i > 0; i--)
        strbuf_appendf(&json, "%s{\"name\":\"c%d\",\"resources\":{\"requests\":{\"cpu\":1}}}",
                       i < MANY ? "," : "", i - 1);
    strbuf_append_str(&json, STR("]}"));
    strbuf_append_char(&json, '\0');
    struct object o = decoded(OBJECT_POD, json.p, POD_RUNNING);
    assert_int_equal(o.pod.requests.resources.count, 1);
    assert_true(o.pod.requests.resources.items[0].amount == 1000 * MANY);
    strbuf_done(&json);
}

/* A sidecar with as many resources as a pod may name, and containers that come after it: their
 * number must not be multiplied with its names. */
static void a_sidecar_before_many_containers(void **state) {
    (void)state;
    enum { NAMES = LIMIT_RESOURCES - 1, MANY = 20000 };
    struct strbuf json = {0};
    struct arena small;
    struct object o;
    struct err err = {0};
    strbuf_append_str(&json, STR("{" RUNNING "\"spec\":{\"initContainers\":[{\"restartPolicy\":"
                                 "\"Always\",\"resources\":{\"requests\":{\"cpu\":1"));
    for (int i = 1; i < NAMES; i++)
        strbuf_appendf(&json, ",\"a/r%03d\":1", i);
    strbuf_append_str(&json, STR("}}}"));
    for (int i = 0; i < MANY; i++)
        strbuf_append_str(&json, STR(",{\"resources\":{\"requests\":{\"cpu\":2,\"z/z\":3}}}"));
    strbuf_append_str(&json, STR("]}}"));
    arena_init(&small, 10 * (json.n + (64 << 10)));
    if (object_decode(strbuf_str(&json), OBJECT_POD, POD_WHOLE, &small, &o, &err) != 0)
        fail_msg("%s", err.text);
    const struct resources got = o.pod.requests.resources;
    assert_int_equal(got.count, NAMES + 1);
    assert_str(got.items[NAMES - 1].name, "cpu"); /* a/r001, ..., cpu, z/z */
    assert_true(got.items[NAMES - 1].amount == 3000);
    assert_true(got.items[NAMES].amount == 3);
    arena_done(&small);
    strbuf_done(&json);
}

/* Names that the scheduler does not look at take no place of those that it does. */
static void names_that_do_not_count(void **state) {
    (void)state;
    struct strbuf json = {0};
    strbuf_append_str(&json, STR("\"spec\":{\"containers\":[{\"resources\":{\"requests\":{"));
    for (int i = 0; i < 2 * LIMIT_RESOURCES; i++)
        strbuf_appendf(&json, "\"a%d\":1,", i);
    strbuf_append_str(&json, STR("\"cpu\":1}}}]}"));
    strbuf_append_char(&json, '\0');
    struct object o = decoded(OBJECT_POD, json.p, POD_WHOLE);
    assert_int_equal(o.pod.requests.resources.count, 1);
    strbuf_done(&json);
}

/* Neither does an extended resource without an amount; cpu and the like have a place anyhow. */
static void names_that_hide_nothing(void **state) {
    static const struct {
        const char *amount;
        uint32_t count;
    } cases[] = {{"0", 4}, {"1", LIMIT_RESOURCES + 3}}; /* beyond the limit the gpu has no place */
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct strbuf json = {0};
        strbuf_append_str(&json, STR("\"spec\":{\"containers\":[{\"resources\":{\"requests\":{"));
        for (int i = 0; i < LIMIT_RESOURCES; i++)
            strbuf_appendf(&json, "\"a/r%d\":\"%s\",", i, cases[k].amount);
        strbuf_append_str(&json,
                          STR("\"x/gpu\":1,\"cpu\":1,\"memory\":2,\"ephemeral-storage\":3}}},"
                              "{\"resources\":{\"requests\":{\"y/y\":0,\"cpu\":1}}}]}"));
        strbuf_append_char(&json, '\0');
        const struct object o = decoded(OBJECT_POD, json.p, POD_WHOLE);
        const struct resources got = o.pod.requests.resources;
        uint32_t native = 0;
        assert_int_equal(got.count, cases[k].count);
        for (uint32_t i = 0; i < got.count; i++)
            native += str_eq(got.items[i].name, STR("cpu"))      ? got.items[i].amount == 2000
                      : str_eq(got.items[i].name, STR("memory")) ? got.items[i].amount == 2
                      : str_eq(got.items[i].name, STR("ephemeral-storage"))
                          ? got.items[i].amount == 3
                          : 0;
        assert_int_equal(native, 3);
        strbuf_done(&json);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(requests_are_upstreams),  DECODING_TEST(ports_of_the_host),
        DECODING_TEST(what_a_node_has),         DECODING_TEST(quantities_that_are_none),
        DECODING_TEST(many_containers),         DECODING_TEST(a_sidecar_before_many_containers),
        DECODING_TEST(names_that_do_not_count), DECODING_TEST(names_that_hide_nothing),
    };
    return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
