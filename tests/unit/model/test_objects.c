/* Kubernetes objects from JSON, one by one and as documents. */
#include "model/object.h"

#include "unit/model/decoding.h"

#include <errno.h>
#include <stdio.h>

/* ---- single objects ---- */

static struct pod pod(const char *json, enum pod_detail detail) {
    struct json_reader r = decoding_reader(json);
    struct pod decoded;
    pod_decode(&r, detail, &decoded);
    decoding_good(&r);
    return decoded;
}

static struct node node(const char *json) {
    struct json_reader r = decoding_reader(json);
    struct node decoded;
    node_decode(&r, &decoded);
    decoding_good(&r);
    return decoded;
}

static struct workload workload(enum object_kind kind, const char *json) {
    struct json_reader r = decoding_reader(json);
    struct workload decoded;
    workload_decode(&r, kind, &decoded);
    decoding_good(&r);
    return decoded;
}

static const char whole_pod[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\","
    "\"uid\":\"u-1\",\"creationTimestamp\":null,\"labels\":{\"b\":\"2\",\"a\":\"1\"},"
    "\"annotations\":{\"x\":\"y\"},\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\","
    "\"name\":\"n\"},{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"rs\","
    "\"uid\":\"u-2\",\"controller\":true,\"blockOwnerDeletion\":true}],\"managedFields\":[{}]},"
    "\"spec\":{\"containers\":null,\"nodeName\":\"n1\",\"nodeSelector\":{\"disk\":\"ssd\"},"
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
    "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}]}}},"
    "\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}],\"topologySpreadConstraints\":["
    "{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]},"
    "\"status\":{\"phase\":\"Running\",\"conditions\":[]}}";

static void a_pod_is_read_as_far_as_asked(void **state) {
    (void)state;
    for (int detail = POD_RUNNING; detail <= POD_WHOLE; detail++) {
        struct pod p = pod(whole_pod, (enum pod_detail)detail);
        uint32_t more = detail == POD_WHOLE;
        assert_str(p.meta.name, "p");
        assert_str(p.meta.namespace, "ns");
        assert_str(p.meta.uid, "u-1");
        assert_int_equal(p.meta.labels.count, 2);
        assert_str(p.meta.labels.items[0].key, "a");
        assert_str(p.meta.controller_kind, "ReplicaSet");
        assert_str(p.meta.controller_name, "rs");
        assert_str(p.meta.controller_api, "apps/v1");
        assert_false(p.meta.terminating || p.finished);
        assert_str(p.node_name, "n1");
        assert_int_equal(p.affinity.node_selector.count, 1);
        assert_int_equal(p.affinity.term_count, 1);
        assert_int_equal(p.tolerations.count, 1);
        assert_int_equal(p.constraint_count, more);
    }
}

static void phases_that_are_the_end(void **state) {
    (void)state;
    static const struct {
        const char *status;
        bool finished;
    } rows[] = {
        {"{\"phase\":\"Succeeded\"}", true},
        {"{\"phase\":\"Failed\"}", true},
        {"{\"phase\":\"Running\"}", false},
        {"{\"phase\":\"Pending\"}", false},
        {"{\"phase\":\"Unknown\"}", false},
        {"{\"phase\":\"failed\"}", false},
        {"{}", false},
        {"null", false},
        {"{\"phase\":null}", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strbuf json = {0};
        strbuf_appendf(&json, "{\"status\":%s}", rows[i].status);
        strbuf_append(&json, "", 1);
        assert_int_equal(pod(json.p, POD_RUNNING).finished, rows[i].finished);
        strbuf_done(&json);
    }
}

static void what_is_missing_is_empty(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{}",
        "null",
        "{\"metadata\":null,\"spec\":null,\"status\":null}",
        "{\"metadata\":{\"labels\":null,\"ownerReferences\":null,\"deletionTimestamp\":null}}",
        "{\"spec\":{\"nodeName\":null,\"tolerations\":null,\"topologySpreadConstraints\":null}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct pod p = pod(texts[i], POD_WHOLE);
        assert_int_equal(p.meta.name.n + p.meta.uid.n + p.node_name.n, 0);
        assert_str(p.meta.namespace, i == 1 ? "" : "default");
        assert_int_equal(p.meta.labels.count + p.constraint_count + p.tolerations.count, 0);
        assert_false(p.meta.terminating || p.affinity.required);
    }
}

static void a_deletion_timestamp_means_terminating(void **state) {
    (void)state;
    struct pod p =
        pod("{\"metadata\":{\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}", POD_RUNNING);
    assert_true(p.meta.terminating);
}

static void only_a_controller_is_the_owner(void **state) {
    (void)state;
    struct pod p = pod("{\"metadata\":{\"ownerReferences\":[{\"kind\":\"A\",\"name\":\"a\"},"
                       "{\"kind\":\"B\",\"name\":\"b\",\"controller\":false},null]}}",
                       POD_RUNNING);
    assert_int_equal(p.meta.controller_kind.n, 0);
}

static void a_node_has_labels_and_taints(void **state) {
    (void)state;
    struct node n = node("{\"metadata\":{\"name\":\"n\",\"labels\":{\"zone\":\"z\"}},\"spec\":{"
                         "\"podCIDR\":\"10.0.0.0/24\",\"taints\":[{\"key\":\"k\",\"value\":\"v\","
                         "\"effect\":\"NoSchedule\",\"timeAdded\":null}]},\"status\":{\"images\":["
                         "{\"names\":[]}]}}");
    assert_str(n.meta.name, "n");
    assert_int_equal(n.meta.labels.count, 1);
    assert_int_equal(n.taint_count, 1);
    assert_str(n.taints[0].key, "k");
    assert_str(n.taints[0].value, "v");
    assert_str(n.taints[0].effect, "NoSchedule");
    assert_int_equal(node("{\"metadata\":{\"name\":\"n\"},\"spec\":{\"taints\":null}}").taint_count,
                     0);
}

static void workloads_select_with_a_map_or_a_selector(void **state) {
    (void)state;
    static const enum object_kind maps[] = {OBJECT_SERVICE, OBJECT_REPLICATION_CONTROLLER};
    static const enum object_kind selectors[] = {OBJECT_REPLICA_SET, OBJECT_STATEFUL_SET};
    for (size_t i = 0; i < 2; i++) {
        struct workload w = workload(
            maps[i], "{\"metadata\":{\"name\":\"w\"},\"spec\":{\"selector\":{\"a\":\"1\"}}}");
        assert_true(w.selector.present);
        assert_str(w.meta.namespace, "default");
        assert_str(w.selector.match_labels.items[0].key, "a");
        assert_false(workload(maps[i], "{\"spec\":{\"selector\":{}}}").selector.present);
        assert_false(workload(maps[i], "{\"spec\":{\"selector\":null}}").selector.present);
        assert_false(workload(maps[i], "{\"spec\":{}}").selector.present);
        w = workload(selectors[i], "{\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":"
                                   "{\"a\":\"1\"},\"matchExpressions\":[{\"key\":\"b\"}]}}}");
        assert_true(w.selector.present);
        assert_int_equal(w.selector.match_labels.count, 1);
        assert_int_equal(w.selector.expression_count, 1);
        assert_true(workload(selectors[i], "{\"spec\":{\"selector\":{}}}").selector.present);
        assert_false(workload(selectors[i], "{\"spec\":{}}").selector.present);
    }
}

static void wrong_types_are_refused(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"[]", "expected an object, found an array"},
        {"{\"metadata\":[]}", "doc.metadata: expected an object"},
        {"{\"metadata\":{\"name\":1}}", "doc.metadata.name: expected a string"},
        {"{\"metadata\":{\"deletionTimestamp\":5}}", "deletionTimestamp: expected a string"},
        {"{\"metadata\":{\"ownerReferences\":[{\"controller\":\"yes\"}]}}",
         "doc.metadata.ownerReferences[0].controller: expected a boolean"},
        {"{\"spec\":{\"nodeName\":[]}}", "doc.spec.nodeName: expected a string"},
        {"{\"spec\":{\"topologySpreadConstraints\":[{\"maxSkew\":0}]}}",
         "doc.spec.topologySpreadConstraints[0].maxSkew: 0 is not between"},
        {"{\"spec\":{\"topologySpreadConstraints\":[null]}}", "maxSkew is required"},
        {"{\"status\":{\"phase\":1}}", "doc.status.phase: expected a string"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct json_reader r = decoding_reader(wrong[i][0]);
        struct pod decoded;
        pod_decode(&r, POD_WHOLE, &decoded);
        decoding_refused(&r, wrong[i][1]);
    }
}

/* A pod whose constraint is wrong is still a pod that counts. */
static void a_running_pod_is_not_asked_for_the_rest(void **state) {
    (void)state;
    struct pod p = pod("{\"spec\":{\"nodeName\":\"n\",\"topologySpreadConstraints\":5,"
                       "\"volumes\":5}}",
                       POD_RUNNING);
    assert_str(p.node_name, "n");
    p = pod("{\"spec\":{\"volumes\":[{\"emptyDir\":{}},{\"persistentVolumeClaim\":{\"claimName\":"
            "\"data\"}}]}}",
            POD_RUNNING);
    assert_int_equal(p.claim_count, 1);
    assert_str(p.claims[0], "data");
}

/* ---- documents ---- */

struct visited {
    char names[256]; /* "Node/a Pod/p " */
    int fail_after;  /* this many objects; 0: never */
    int count;
};

static int visit(void *ctx, const struct object *object, struct err *err) {
    static const char *const kinds[] = {"Other",   "Node", "Pod", "Namespace",
                                        "Service", "RC",   "RS",  "Set"};
    struct visited *v = ctx;
    size_t n = strlen(v->names);
    (void)snprintf(v->names + n, sizeof v->names - n, "%s/%.*s ", kinds[object->kind],
                   STR_ARG(object->meta.name)); /* cut: the test sees it */
    if (++v->count == v->fail_after)
        return err_set(err, -ENOSPC, "that is enough");
    return 0;
}

static void check_document(const char *json, const char *want) {
    struct visited v = {0};
    struct err err = {0};
    if (objects_read(str_of(json), POD_RUNNING, &decoding_arena, visit, &v, &err) != 0)
        fail_msg("%s", err.text);
    assert_string_equal(v.names, want);
}

#define NAMED(kind, name) "{\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name "\"}}"

static void every_kind_is_visited_in_order(void **state) {
    (void)state;
    check_document(
        "{\"kind\":\"List\",\"items\":[" NAMED("Pod", "p") "," NAMED("Node", "n") "," NAMED(
            "Namespace",
            "ns") "," NAMED("Service", "s") "," NAMED("ReplicationController",
                                                      "rc") "," NAMED("ReplicaSet",
                                                                      "rs") "," NAMED("StatefulSet",
                                                                                      "set") "]}",
        "Pod/p Node/n Namespace/ns Service/s RC/rc RS/rs Set/set ");
    check_document(NAMED("Node", "n"), "Node/n ");
    check_document(NAMED("ConfigMap", "c"), "");
    /* only as far as asked */
    check_document("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"volumes\":5}}",
                   "Pod/p ");
}

static void items_take_the_kind_of_their_list(void **state) {
    (void)state;
    check_document(
        "{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"p\"}}," NAMED("Node", "n") "]}",
        "Pod/p Node/n ");
    check_document("{\"items\":[{\"metadata\":{\"name\":\"s\"}}],\"kind\":\"StatefulSetList\"}",
                   "Set/s ");
    check_document("{\"kind\":\"List\",\"items\":[{\"metadata\":{\"name\":\"p\"}}]}", "");
    check_document("{\"kind\":\"ConfigMapList\",\"items\":[{\"metadata\":{}}]}", "");
}

/* kubectl's order: the items, and after them what they are items of. */
static void a_list_may_say_so_at_its_end(void **state) {
    (void)state;
    check_document("{\"items\":[" NAMED("Node", "a") "," NAMED("Pod", "p") "],\"kind\":\"List\"}",
                   "Node/a Pod/p ");
    check_document(
        "{\"items\":[{\"kind\":\"NodeList\",\"items\":[{\"metadata\":{\"name\":\"a\"}}]}],"
        "\"kind\":\"List\"}",
        "Node/a ");
    check_document(
        "{\"items\":[" NAMED("ConfigMap", "c") "," NAMED("Node", "a") "],"
                                                                      "\"kind\":\"List\"}",
        "Node/a ");
    check_document("{\"kind\":5,\"items\":[" NAMED("Node", "a") "],\"kind\":\"List\"}", "Node/a ");
    check_document(
        "{\"items\":[" NAMED("Pod", "p") ",{\"metadata\":{\"name\":\"a\"}},{\"metadata\":"
                                         "{\"name\":\"b\"}}],\"kind\":\"NodeList\"}",
        "Pod/p Node/a Node/b ");
    check_document("{\"items\":[" NAMED("Pod", "p") ",{\"metadata\":{}}],\"kind\":\"List\"}",
                   "Pod/p ");
    check_document("{\"items\":[" NAMED("Pod", "p") "],\"kind\":5,\"kind\":\"List\"}", "Pod/p ");
    check_document("{\"items\":[],\"kind\":\"List\"}", "");
}

static void what_has_items_need_not_be_a_list(void **state) {
    (void)state;
    check_document("{\"items\":[{\"key\":\"a\"}],\"kind\":\"ConfigMap\"}", "");
    check_document("{\"items\":[{\"kind\":\"Foo\"}],\"kind\":\"ConfigMap\"}", "");
    check_document("{\"items\":[],\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}", "Node/a ");
    check_document("{\"items\":{\"kind\":\"Pod\"},\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}",
                   "Node/a ");
    check_document("{\"items\":null,\"kind\":\"PodList\"}", "");
}

/* `form` with the API in place of each @ and the kind in place of each #. */
static void check_form(const char *form, const char *api, const char *kind, const char *want) {
    struct strbuf json = {0};
    for (; *form != '\0'; form++)
        if (*form == '@' || *form == '#')
            strbuf_append_str(&json, str_of(*form == '@' ? api : kind));
        else
            strbuf_append_char(&json, *form);
    strbuf_append_char(&json, '\0');
    check_document(json.p, want);
    strbuf_done(&json);
}

/* A kind of the same name in another API group is another kind, whatever the version. An object
 * that does not name its group is taken at its word. */
static void a_kind_is_of_a_group(void **state) {
    (void)state;
    static const struct {
        const char *api, *kind, *want;
    } rows[] = {
        {"v1", "Node", "Node/x "},
        {"v1", "Pod", "Pod/x "},
        {"v1", "Namespace", "Namespace/x "},
        {"v1", "Service", "Service/x "},
        {"v1", "ReplicationController", "RC/x "},
        {"apps/v1", "ReplicaSet", "RS/x "},
        {"apps/v1", "StatefulSet", "Set/x "},
        {"apps/v1beta2", "StatefulSet", "Set/x "},
        {"serving.knative.dev/v1", "Service", ""},
        {"apps.kruise.io/v1beta1", "StatefulSet", ""},
        {"v1", "StatefulSet", ""},
        {"v1", "ReplicaSet", ""},
        {"apps/v1", "ReplicationController", ""},
        {"apps/v1", "Pod", ""},
        {"metal3.io/v1", "Node", ""},
        {"example.com/v1", "Namespace", ""},
    };
    static const char *const forms[] = {
        "{\"apiVersion\":\"@\",\"kind\":\"#\",\"metadata\":{\"name\":\"x\"}}",
        "{\"metadata\":{\"name\":\"x\"},\"kind\":\"#\",\"apiVersion\":\"@\"}",
        "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[{\"apiVersion\":\"@\",\"kind\":\"#\","
        "\"metadata\":{\"name\":\"x\"}}]}",
        "{\"apiVersion\":\"v1\",\"items\":[{\"apiVersion\":\"@\",\"kind\":\"#\",\"metadata\":{"
        "\"name\":\"x\"}}],\"kind\":\"List\"}",
        "{\"apiVersion\":\"@\",\"kind\":\"#List\",\"items\":[{\"metadata\":{\"name\":\"x\"}}]}",
        "{\"items\":[{\"metadata\":{\"name\":\"x\"}}],\"kind\":\"#List\",\"apiVersion\":\"@\"}",
        "{\"kind\":\"List\",\"items\":[{\"apiVersion\":\"@\",\"kind\":\"#List\",\"items\":[{"
        "\"metadata\":{\"name\":\"x\"}}]}]}",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++)
            check_form(forms[f], rows[i].api, rows[i].kind, rows[i].want);
}

/* Items that name another kind than the list's, and lists whose kind comes after items that do. */
static void an_item_may_be_of_another_group(void **state) {
    (void)state;
    check_document("{\"apiVersion\":\"v1\",\"kind\":\"ServiceList\",\"items\":[{\"apiVersion\":"
                   "\"serving.knative.dev/v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"k\"}},"
                   "{\"metadata\":{\"name\":\"s\"}}," NAMED("Node", "n") "]}",
                   "Service/s Node/n ");
    check_document("{\"items\":[" NAMED(
                       "Pod", "p") ",{\"metadata\":{\"name\":\"k\"}}],\"kind\":"
                                   "\"ServiceList\",\"apiVersion\":\"serving.knative.dev/v1\"}",
                   "Pod/p ");
    check_document("{\"items\":[{\"apiVersion\":\"serving.knative.dev/v1\",\"kind\":\"Service\","
                   "\"metadata\":{\"name\":\"k\"}}," NAMED("Node", "n") "],\"kind\":\"List\"}",
                   "Node/n ");
}

static void a_kind_may_stand_behind_an_escape(void **state) {
    (void)state;
    check_document(
        "{\"k\\u0069nd\":\"Pod\\u004cist\",\"items\":[{\"metadata\":{\"name\":\"\\u0061\"}},"
        "{\"metadata\":{\"name\":\"\\u0062\"}},{\"kind\":\"N\\u006fde\",\"metadata\":"
        "{\"name\":\"c\"}},{\"metadata\":{\"name\":\"d\"}}]}",
        "Pod/a Pod/b Node/c Pod/d ");
}

static void lists_may_hold_lists(void **state) {
    (void)state;
    check_document("{\"kind\":\"List\",\"items\":[{\"kind\":\"PodList\",\"items\":[{\"metadata\":"
                   "{\"name\":\"p\"}}]},{\"items\":[" NAMED(
                       "Node", "n") "],\"kind\":\"List\"}," NAMED("Node", "m") "]}",
                   "Pod/p Node/n Node/m ");
    /* what only looks like one */
    check_document("{\"kind\":\"List\",\"items\":[{\"kind\":\"AllowList\",\"items\":[" NAMED(
                       "Node", "n") "]}]}",
                   "");
}

static void lists_in_lists_are_limited(void **state) {
    (void)state;
    for (int levels = LIMIT_LIST_LEVELS; levels <= LIMIT_LIST_LEVELS + 1; levels++) {
        CLEANUP(strbuf_done) struct strbuf json = {0};
        struct visited v = {0};
        struct err err = {0};
        for (int i = 0; i < levels; i++)
            strbuf_append_str(&json, STR("{\"kind\":\"List\",\"items\":["));
        strbuf_append_str(&json, STR(NAMED("Node", "a")));
        for (int i = 0; i < levels; i++)
            strbuf_append_str(&json, STR("]}"));
        int r = objects_read(strbuf_str(&json), POD_WHOLE, &decoding_arena, visit, &v, &err);
        assert_int_equal(r, levels == LIMIT_LIST_LEVELS ? 0 : -EINVAL);
        assert_int_equal(v.count, levels == LIMIT_LIST_LEVELS);
        assert_true(r == 0 || strstr(err.text, "lists within lists deeper than 8 levels") != NULL);
    }
}

static void visiting_stops_at_the_first_error(void **state) {
    (void)state;
    static const char json[] = "{\"kind\":\"List\",\"items\":[" NAMED("Node", "a") "," NAMED(
        "Node", "b") "," NAMED("Node", "c") "]}";
    struct visited v = {.fail_after = 2};
    struct err err = {0};
    int r = objects_read(str_of(json), POD_RUNNING, &decoding_arena, visit, &v, &err);
    assert_int_equal(r, -ENOSPC);
    assert_string_equal(err.text, "that is enough");
    assert_string_equal(v.names, "Node/a Node/b ");
}

static void errors_name_the_place(void **state) {
    (void)state;
    static const struct {
        const char *json, *words, *visited;
    } wrong[] = {
        {"", "text ends", ""},
        {"null", "expected a Kubernetes object", ""},
        {"[" NAMED("Node", "a") "]", "expected a Kubernetes object", ""},
        {"{\"metadata\":{\"name\":\"a\"}}", "expected a Kubernetes object", ""},
        {"{\"kind\":5}", "expected a Kubernetes object", ""},
        {NAMED("Node", "a") NAMED("Node", "b"), "a second value", "Node/a "},
        {NAMED("Node", "a") ",", "unexpected text", "Node/a "},
        {"{\"kind\":\"Node\",\"metadata\":{\"name\":\"\"}}", "no metadata.name", ""},
        {"{\"kind\":\"Node\"}", "no metadata.name", ""},
        {"{\"kind\":\"List\",\"items\":[" NAMED("Node", "a") ",{\"kind\":\"Pod\",\"spec\":5}]}",
         "document.items[1].spec: expected an object", "Node/a "},
        {"{\"kind\":\"PodList\",\"items\":[5]}", "document.items[0]: expected an object", ""},
        {"{\"kind\":\"List\",\"items\":{}}", "document.items: expected an array", ""},
        {"{\"items\":[{}]}", "expected a Kubernetes object", ""},
        {"{\"items\":[" NAMED("Node", "a") "]}", "expected a Kubernetes object", "Node/a "},
        {"{\"items\":[" NAMED("Node", "a") "],\"kind\":\"Pod\"}",
         "document.kind: expected the kind of a List, because items come before the kind; found "
         "'Pod'",
         "Node/a "},
        /* the first item says what this is: the rest is read once, and not searched before */
        {"{\"items\":[" NAMED("Node", "a") ",{\"x\":tru}],\"kind\":\"List\"}",
         "document.items[1].x: expected", "Node/a "},
        {"{\"items\":[{\"kind\":\"List\",\"items\":[" NAMED("Node", "a") "]},{\"x\":tru}],"
                                                                         "\"kind\":\"List\"}",
         "document.items[1].x: expected", "Node/a "},
        {"{\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"},\"x\":tru}", "document.x: expected", ""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct visited v = {0};
        struct err err = {0};
        int r = objects_read(str_of(wrong[i].json), POD_WHOLE, &decoding_arena, visit, &v, &err);
        assert_int_equal(r, -EINVAL);
        assert_contains(err.text, wrong[i].words);
        assert_string_equal(v.names, wrong[i].visited);
        decoding_teardown(NULL);
    }
}

/* ---- single objects whose kind is known ---- */

static void an_object_is_what_it_is_taken_for(void **state) {
    (void)state;
    static const char json[] =
        "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"y\"}},\"spec\":"
        "{\"taints\":[{\"key\":\"k\"}],\"nodeName\":\"n\",\"selector\":{\"c\":\"d\"}}}";
    for (int kind = OBJECT_NODE; kind < OBJECT_KINDS; kind++) {
        struct object o;
        struct err err;
        if (object_decode(str_of(json), (enum object_kind)kind, POD_RUNNING, &decoding_arena, &o,
                          &err) != 0)
            fail_msg("%s", err.text);
        assert_int_equal(o.kind, kind);
        assert_str(o.meta.name, "a");
        assert_int_equal(o.meta.labels.count, 1);
        assert_str(o.meta.namespace,
                   kind == OBJECT_NODE || kind == OBJECT_NAMESPACE ? "" : "default");
        if (kind == OBJECT_NODE)
            assert_int_equal(o.node.taint_count, 1);
        else if (kind == OBJECT_POD)
            assert_str(o.pod.node_name, "n");
        else if (kind != OBJECT_NAMESPACE)
            assert_true(o.workload.selector.present);
    }
}

static void an_object_that_cannot_be_decoded(void **state) {
    (void)state;
    static const struct {
        const char *json, *words;
        enum object_kind kind;
    } wrong[] = {
        {"{}", "object: the object that ends here has no metadata.name, at byte 2", OBJECT_NODE},
        {"{\"metadata\":{\"name\":\"\"}}", "no metadata.name", OBJECT_SERVICE},
        {"{\"metadata\":{\"name\":1}}", "object.metadata.name: expected a string", OBJECT_POD},
        {"{\"metadata\":{\"name\":\"a\"}} {}", "a second value", OBJECT_POD},
        {"{\"spec\":tru}", "object.spec: expected", OBJECT_OTHER},
        {"", "text ends", OBJECT_NAMESPACE},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct object o = {.kind = OBJECT_STATEFUL_SET};
        struct err err = {0};
        assert_int_equal(object_decode(str_of(wrong[i].json), wrong[i].kind, POD_WHOLE,
                                       &decoding_arena, &o, &err),
                         -EINVAL);
        assert_contains(err.text, wrong[i].words);
        assert_int_equal(o.kind, OBJECT_STATEFUL_SET); /* untouched */
    }
}

/* ---- memory ---- */

/* Memory is for one object at a time, however many there are. */
static void a_long_list_fits_into_a_small_arena(void **state) {
    (void)state;
    struct strbuf json = {0};
    struct arena small;
    struct err err = {0};
    int seen = 0;
    strbuf_append_str(&json, STR("{\"kind\":\"NodeList\",\"items\":["));
    for (int i = 0; i < 2000; i++)
        strbuf_appendf(&json, "%s{\"metadata\":{\"name\":\"\\u006e%d\",\"labels\":{\"a\":\"1\"}}}",
                       i > 0 ? "," : "", i);
    strbuf_append_str(&json, STR("]}"));
    arena_init(&small, 16 * 1024);
    struct visited v = {0};
    if (objects_read(strbuf_str(&json), POD_WHOLE, &small, visit, &v, &err) != 0)
        fail_msg("%s", err.text);
    seen = v.count;
    arena_done(&small);
    assert_int_equal(seen, 2000);
    arena_init(&small, 64);
    v = (struct visited){0};
    assert_int_equal(objects_read(strbuf_str(&json), POD_WHOLE, &small, visit, &v, &err), -ENOMEM);
    arena_done(&small);
    strbuf_done(&json);
}

/* What was decoded in part is not shown to anybody. */
static void an_object_too_large_is_not_visited(void **state) {
    (void)state;
    static const char json[] =
        "{\"kind\":\"Node\",\"metadata\":{\"name\":\"a\",\"labels\":{\"a\":\"b\"}}}";
    struct visited v = {0};
    struct err err = {0};
    struct arena small;
    arena_init(&small, 64);
    assert_int_equal(objects_read(str_of(json), POD_WHOLE, &small, visit, &v, &err), -ENOMEM);
    assert_int_equal(v.count, 0);
    arena_done(&small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(a_pod_is_read_as_far_as_asked),
        DECODING_TEST(phases_that_are_the_end),
        DECODING_TEST(what_is_missing_is_empty),
        DECODING_TEST(a_deletion_timestamp_means_terminating),
        DECODING_TEST(only_a_controller_is_the_owner),
        DECODING_TEST(a_node_has_labels_and_taints),
        DECODING_TEST(workloads_select_with_a_map_or_a_selector),
        DECODING_TEST(wrong_types_are_refused),
        DECODING_TEST(a_running_pod_is_not_asked_for_the_rest),
        DECODING_TEST(every_kind_is_visited_in_order),
        DECODING_TEST(items_take_the_kind_of_their_list),
        DECODING_TEST(a_list_may_say_so_at_its_end),
        DECODING_TEST(what_has_items_need_not_be_a_list),
        DECODING_TEST(a_kind_is_of_a_group),
        DECODING_TEST(an_item_may_be_of_another_group),
        DECODING_TEST(a_kind_may_stand_behind_an_escape),
        DECODING_TEST(lists_may_hold_lists),
        DECODING_TEST(lists_in_lists_are_limited),
        DECODING_TEST(visiting_stops_at_the_first_error),
        DECODING_TEST(errors_name_the_place),
        DECODING_TEST(an_object_is_what_it_is_taken_for),
        DECODING_TEST(an_object_that_cannot_be_decoded),
        DECODING_TEST(a_long_list_fits_into_a_small_arena),
        DECODING_TEST(an_object_too_large_is_not_visited),
    };
    return cmocka_run_group_tests_name("objects", tests, NULL, NULL);
}
