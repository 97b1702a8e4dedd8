/*
 * /explain, called without a listener: what the extender's and the webhook's handlers recorded is
 * found and told, nobody else may read it, and what-if records nothing.
 */
#include "handlers/explain.h"

#include "base/json_reader.h"
#include "base/log.h"
#include "explain/admission_record.h"
#include "unit/handlers/called.h"

#include <stdio.h>
#include <unistd.h>

enum { KEPT = 8 };

struct fixture {
    struct called called;
    struct ring *ring;
    struct webhook webhook;
    struct explain explain;
    struct http_response response;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){0};
    called_init(&f.called);
    assert_int_equal(ring_new(KEPT, &f.ring), 0);
    f.called.x.decisions = f.ring;
    f.webhook = (struct webhook){.pods.known.cache = f.called.c.cache, .decisions = f.ring};
    assert_int_equal(policy_source_new(NULL, 0, &f.webhook.pods.known.policies, NULL), 0);
    f.explain.extender = &f.called.x;
    assert_int_equal(explain_access_new(NULL, &f.explain.access, NULL), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    strbuf_done(&f->response.text);
    explain_access_free(f->explain.access);
    policy_source_free(f->webhook.pods.known.policies);
    called_done(&f->called);
    ring_free(f->ring);
    return 0;
}

/* ---- asking ---- */

struct asked {
    http_handler_fn *handle;
    const char *path, *query, *body;
    bool from_elsewhere;
    size_t arena_bytes;
};

/* The answer, NUL-terminated. */
static const char *ask_as(struct fixture *f, const struct asked *asked) {
    struct arena arena;
    arena_init(&arena, asked->arena_bytes);
    const struct http_request request = {.path = str_of(asked->path),
                                         .query = str_of(asked->query),
                                         .body = str_of(asked->body),
                                         .arena = &arena,
                                         .is_local = !asked->from_elsewhere};
    strbuf_done(&f->response.text);
    f->response = (struct http_response){0};
    asked->handle(&f->explain, &request, &f->response);
    arena_done(&arena);
    strbuf_append_char(&f->response.text, '\0');
    return f->response.text.p;
}

static const char *get(struct fixture *f, http_handler_fn *handle, const char *path,
                       const char *query) {
    const struct asked asked = {handle, path, query, "", false, 1 << 20};
    return ask_as(f, &asked);
}

static const char *pod(struct fixture *f, const char *name) {
    char path[700];
    (void)snprintf(path, sizeof path, "/explain/pods/%s", name); /* fits */
    return get(f, explain_pod, path, "");
}

static const char *recent(struct fixture *f, const char *query) {
    return get(f, explain_decisions, "/explain", query);
}

static const char *what_if(struct fixture *f, const char *body) {
    const struct asked asked = {explain_what_if, "/explain", "", body, false, 1 << 20};
    return ask_as(f, &asked);
}

static void expect_refused(struct fixture *f, const char *answer, int status, const char *part) {
    assert_contains(answer, part);
    assert_int_equal(f->response.status, status);
}

static int count(const char *text, const char *part) {
    int n = 0;
    while ((text = strstr(text, part)) != NULL) {
        text += strlen(part);
        n++;
    }
    return n;
}

/* Where `part` stands in `text`, which must hold it. */
static size_t position(const char *text, const char *part) {
    assert_contains(text, part);
    return (size_t)(strstr(text, part) - text);
}

/* ---- what the extender records ---- */

#define NODES CALLED_NODES("\"a\",\"b\",\"x\",\"nowhere\"")
#define VICTIMS "{\"Pod\":" CALLED_POD ",\"NodeNameToMetaVictims\":{\"a\":{\"Pods\":[]}}}"

static void every_verb_in_order(void **state) {
    struct fixture *f = *state;
    call_handler(&f->called, extender_filter, NODES);
    call_handler(&f->called, extender_preempt, VICTIMS);
    call_handler(&f->called, extender_prioritize, NODES);
    const char *answer = pod(f, "default/web");
    assert_int_equal(f->response.status, 200);
    assert_string_equal(f->response.content_type, "application/json");
    size_t filter = position(answer, "{\"number\":1,\"verb\":\"filter\",\"result\":\"answered\"");
    size_t preempt = position(answer, "{\"number\":2,\"verb\":\"preempt\",\"result\":\"answered\"");
    size_t prioritize = position(answer, "{\"number\":3,\"verb\":\"prioritize\",\"result\":");
    assert_true(filter < preempt && preempt < prioritize);
    assert_contains(answer, "\"candidates\":4,\"passed\":1,\"dropped\":[");
    assert_contains(answer, "\"evicting its victims makes no room\",\"nodes\":1,\"names\":[\"a\"]");
    assert_contains(answer, "\"scores\":[{\"node\":\"a\",\"priority\":0}");
    assert_contains(answer, "\"made\":3,\"kept\":3,");
    assert_contains(answer, "\"replica\":{\"name\":\"");
    answer = recent(f, "");
    assert_true(position(answer, "\"number\":3,") < position(answer, "\"number\":2,"));
    assert_int_equal(count(answer, "\"number\":"), 3);
}

/* kube-scheduler asks about two of four nodes. */
static void nodes_that_were_not_offered(void **state) {
    struct fixture *f = *state;
    call_handler(&f->called, extender_filter, CALLED_NODES("\"a\",\"x\""));
    assert_contains(pod(f, "default/web"), "\"candidates\":2,\"passed\":1,\"dropped\":[");
    assert_contains(pod(f, "default/web"), "],\"knownNodes\":4}");
}

static void what_is_refused(void **state) {
    struct fixture *f = *state;
    call_handler(&f->called, extender_filter, "{\"NodeNames\":[\"a\"]}"); /* of no pod */
    assert_contains(recent(f, ""), "\"made\":0,\"kept\":0,\"decisions\":[]}");
    call_handler(&f->called, extender_filter,
                 "{\"Pod\":{\"metadata\":{\"name\":\"bad\",\"namespace\":\"default\"},\"spec\":{"
                 "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\","
                 "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchExpressions\":"
                 "[{\"key\":\"k\",\"operator\":\"Near\"}]}}]}},\"NodeNames\":[\"a\"]}");
    assert_contains(pod(f, "default/bad"), "\"verb\":\"filter\",\"result\":\"refused\"");
    assert_contains(f->response.text.p, "\"message\":\"spec.topologySpreadConstraints[0]");
}

static void stale_data(void **state) {
    struct fixture *f = *state;
    f->called.x.stale_after_ms = 100;
    cache_heard(f->called.c.cache, OBJECT_NODE, f->called.c.clock.at_ms);
    f->called.c.clock.at_ms += 500;
    call_handler(&f->called, extender_filter, NODES);
    assert_contains(pod(f, "default/web"), "\"verb\":\"filter\",\"result\":\"no opinion\"");
    assert_contains(f->response.text.p, "\"dataAgeMilliseconds\":500");
    assert_contains(f->response.text.p, "the API server has sent nothing for 0 s");
    assert_contains(what_if(f, "{\"pod\":" CALLED_POD "}"),
                    "\"verb\":\"filter\",\"result\":\"no opinion\"");
}

/* As many as are kept are all found; older ones are gone, and it says how many there were. */
static void the_last_ones(void **state) {
    struct fixture *f = *state;
    char body[1024], name[32];
    for (int i = 1; i <= KEPT + 3; i++) {
        (void)snprintf(body, sizeof body,
                       "{\"Pod\":{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"n\"}},"
                       "\"NodeNames\":[\"a\"]}",
                       i);
        call_handler(&f->called, extender_filter, body);
    }
    for (int i = 1; i <= KEPT + 3; i++) {
        (void)snprintf(name, sizeof name, "n/p%d", i);
        const char *answer = pod(f, name);
        if (i > 3)
            assert_int_equal(count(answer, "\"number\":"), 1);
        else
            expect_refused(f, answer, 404,
                           "this replica has made 11 decisions and keeps 8, the last "
                           "ones of every namespace\n");
    }
    assert_contains(recent(f, ""), "\"made\":11,\"kept\":8,");
    assert_int_equal(count(recent(f, "limit=1000"), "\"number\":"), KEPT);
}

static void pages(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 5; i++)
        call_handler(&f->called, extender_filter, NODES);
    assert_int_equal(count(recent(f, "limit=2"), "\"number\":"), 2);
    assert_contains(f->response.text.p, "\"number\":5");
    assert_int_equal(count(recent(f, "before=3&limit=5"), "\"number\":"), 2);
    assert_contains(f->response.text.p, "\"number\":2");
    get(f, explain_pod, "/explain/pods/default/web", "limit=1");
    assert_contains(f->response.text.p, "\"decisions\":[{\"number\":5");
    assert_int_equal(count(f->response.text.p, "\"number\":"), 1);
    static const char *const bad[] = {"limit=0", "limit=1001", "limit=x", "limit",
                                      "page=2",  "before=0",   "&"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_refused(f, recent(f, bad[i]), 400, "expected limit=1 to 1000, or before=NUMBER");
}

/* ---- admissions ---- */

static void admit(struct fixture *f, const char *metadata, const char *operation) {
    struct arena arena;
    char body[1024];
    struct http_response response = {0};
    (void)snprintf(body, sizeof body,
                   "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
                   "\"request\":{\"uid\":\"1\",\"operation\":\"%s\",\"namespace\":\"default\","
                   "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},"
                   "\"object\":{\"kind\":\"Pod\",\"metadata\":%s,\"spec\":{\"nodeName\":\"a\"}}}}",
                   operation, metadata);
    arena_init(&arena, 1 << 20);
    const struct http_request request = {.body = str_of(body), .arena = &arena};
    webhook_review(&f->webhook, &request, &response);
    assert_int_equal(response.status, 200);
    strbuf_done(&response.text);
    arena_done(&arena);
}

static void an_admission_by_name(void **state) {
    struct fixture *f = *state;
    admit(f, "{\"name\":\"web\"}", "UPDATE");
    admit(f, "{\"name\":\"web\"}", "CREATE");
    const char *answer = pod(f, "default/web");
    assert_contains(answer, "\"number\":1,\"verb\":\"admit\",\"result\":\"unchanged\"");
    assert_contains(answer, "\"name\":\"web\",\"message\":\"a pod that is bound already\"");
    assert_int_equal(count(answer, "\"number\":"), 1);
}

/* An update is of interest when something came of it: of a pod whose gates go. */
static void a_denied_change(void **state) {
    struct fixture *f = *state;
    struct arena arena;
    const struct review review = {.operation = STR("UPDATE"),
                                  .namespace = STR("default"),
                                  .object = STR("{\"metadata\":{\"name\":\"web\"}}")};
    const struct review_answer answer = {.code = 403, .message = STR("no"), .uid = STR("1")};
    const struct admission_record record = {.kind = &validated_pods,
                                            .review = &review,
                                            .answer = &answer,
                                            .result = ADMISSION_DENIED,
                                            .cache = f->called.c.cache};
    arena_init(&arena, 1 << 20);
    admission_record(&record, f->ring, &arena);
    arena_done(&arena);
    const char *told = pod(f, "default/web");
    assert_contains(told, "\"number\":1,\"verb\":\"admit\",\"result\":\"denied\"");
    assert_contains(told, "\"message\":\"no\"");
}

/* Whatever kind was asked about. */
static void a_change_of_another_kind(void **state) {
    struct fixture *f = *state;
    struct arena arena;
    const struct admitted_kind widgets = {.group = STR("example.com"), .kind = STR("Widget")};
    const struct review review = {.operation = STR("CREATE"),
                                  .namespace = STR("default"),
                                  .object = STR("{\"metadata\":{\"name\":\"web\"}}")};
    const struct review_answer answer = {.uid = STR("1")};
    const struct admission_record record = {
        .kind = &widgets, .review = &review, .answer = &answer, .result = ADMISSION_PATCHED};
    arena_init(&arena, 1 << 20);
    admission_record(&record, f->ring, &arena);
    arena_done(&arena);
    assert_null(strstr(pod(f, "default/web"), "\"verb\":\"admit\""));
    assert_contains(get(f, explain_decisions, "/explain",
                        "group=example.com&kind=Widget&namespace=default&name=web"),
                    "\"result\":\"patched\"");
}

/* Siblings share a generateName; the admission before the pod's first decision is its own, or reads
 * the same. */
static void an_admission_before_the_name(void **state) {
    struct fixture *f = *state;
    admit(f, "{\"generateName\":\"web-6d4-\"}", "CREATE");
    admit(f, "{\"generateName\":\"web-6d4-\"}", "CREATE");
    call_handler(&f->called, extender_filter,
                 "{\"Pod\":{\"metadata\":{\"name\":\"web-6d4-abcde\",\"namespace\":\"default\"}},"
                 "\"NodeNames\":[\"a\"]}");
    admit(f, "{\"generateName\":\"web-6d4-\"}", "CREATE");
    const char *answer = pod(f, "default/web-6d4-abcde");
    assert_contains(answer, "\"decisions\":[{\"number\":2,\"verb\":\"admit\"");
    assert_contains(answer, "\"generateName\":\"web-6d4-\"");
    assert_int_equal(count(answer, "\"number\":"), 2);
    answer = pod(f, "default/web-6d4-fghij"); /* not filtered yet */
    assert_contains(answer, "\"decisions\":[{\"number\":4,");
    assert_int_equal(count(answer, "\"number\":"), 1);
    expect_refused(f, pod(f, "default/abcde"), 404, "nothing is known of pod default/abcde");
    expect_refused(f, pod(f, "other/web-6d4-abcde"), 404, "nothing is known");
}

/* ---- what cannot be answered ---- */

#define FILTER_OF(namespace, name)                                                                 \
    "{\"Pod\":{\"metadata\":{\"namespace\":\"" namespace "\",\"name\":\"" name                     \
                                                         "\"},\"spec\":{}},\"NodeNames\":[\"a\"]}"

/* A pod is found by its own namespace and name, and by nothing that is made of the same words. */
static void pods_that_share_words(void **state) {
    struct fixture *f = *state;
    call_handler(&f->called, extender_filter, FILTER_OF("web", "shop"));
    call_handler(&f->called, extender_filter, FILTER_OF("redis", "redis"));
    static const char *const others[] = {"shop/web", "nginx/nginx", "web/web",
                                         "webs/hop", "we/bshop",    "redis/shop"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        expect_refused(f, pod(f, others[i]), 404, "nothing is known");
    assert_contains(pod(f, "web/shop"), "\"namespace\":\"web\",\"name\":\"shop\"");
    assert_int_equal(count(f->response.text.p, "\"verb\":"), 1);
    assert_contains(pod(f, "redis/redis"), "\"namespace\":\"redis\",\"name\":\"redis\"");
    assert_int_equal(count(f->response.text.p, "\"verb\":"), 1);
}

/* ---- any object ---- */

/* Records a decision about an object that no verb of today decides about. */
static void record(struct fixture *f, struct subject subject, const char *result) {
    struct recording rec;
    const struct decision_about about = {.verb = "decide", .subject = subject, .result = result};
    assert_true(recording_begin(&rec, f->ring, &about));
    recording_end(&rec);
}

#define GROUP "cluster.open-cluster-management.io"

static void any_object(void **state) {
    struct fixture *f = *state;
    record(f, (struct subject){STR(GROUP), STR("Placement"), STR("shop"), STR("web")}, "one");
    record(f, (struct subject){STR(""), STR("Node"), STR(""), STR("a")}, "two");
    record(f, subject_pod(STR("shop"), STR("web")), "three");
    record(f, (struct subject){STR(GROUP), STR("Placement"), STR("shop"), STR("web")}, "four");
    static const struct {
        const char *query, *part;
        int count;
    } asked[] = {
        {"group=" GROUP "&kind=Placement&namespace=shop&name=web",
         "\"decisions\":[{\"number\":1,\"verb\":\"decide\",\"result\":\"one\"", 2},
        {"name=web&namespace=shop&kind=Placement&group=" GROUP "&limit=1",
         "\"decisions\":[{\"number\":4,", 1},
        {"group=" GROUP "&kind=Placement&namespace=shop&name=web&before=4",
         "\"group\":\"" GROUP "\",\"kind\":\"Placement\",\"namespace\":\"shop\",\"name\":\"web\"",
         1},
        {"kind=Node&name=a", "\"kind\":\"Node\",\"name\":\"a\"", 1},
        {"group=&kind=Pod&namespace=shop&name=web", "\"result\":\"three\"", 1},
    };
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        assert_contains(recent(f, asked[i].query), asked[i].part);
        assert_int_equal(f->response.status, 200);
        assert_int_equal(count(f->response.text.p, "\"number\":"), asked[i].count);
    }
    assert_int_equal(count(pod(f, "shop/web"), "\"number\":"), 1);
    assert_int_equal(count(recent(f, ""), "\"number\":"), 4);
    expect_refused(f, recent(f, "kind=Placement&namespace=shop&name=web"), 404,
                   "nothing is known of placement shop/web: ");
    expect_refused(f, recent(f, "group=" GROUP "&kind=PlacementDecision&namespace=shop&name=web"),
                   404, "nothing is known of placementdecision." GROUP " shop/web: ");
    expect_refused(f, recent(f, "kind=Node&name=b"), 404, "nothing is known of node b: ");
    static const char *const vague[] = {"kind=Pod", "name=web", "namespace=shop", "group=apps",
                                        "kind=&name=web"};
    for (size_t i = 0; i < sizeof vague / sizeof vague[0]; i++)
        expect_refused(f, recent(f, vague[i]), 400, "expected kind= and name=");
    expect_refused(f, get(f, explain_pod, "/explain/pods/shop/web", "kind=Node"), 400,
                   "the path names the object already");
}

/* The longest names that the API server lets through are found; what is longer is in the list. */
static void long_names(void **state) {
    struct fixture *f = *state;
    char namespace[64], name[254], body[600], path[600];
    memset(namespace, 'n', sizeof namespace - 1);
    memset(name, 'p', sizeof name - 1);
    namespace[63] = name[253] = '\0';
    (void)snprintf(body, sizeof body, FILTER_OF("%s", "%s"), namespace, name); /* fits */
    (void)snprintf(path, sizeof path, "%s/%s", namespace, name);               /* fits */
    call_handler(&f->called, extender_filter, body);
    assert_contains(pod(f, path), name);
    (void)snprintf(body, sizeof body, FILTER_OF("%s%s", "x"), name, name); /* fits */
    call_handler(&f->called, extender_filter, body);
    assert_contains(recent(f, "limit=1"), "\"number\":2");
}

static void paths(void **state) {
    struct fixture *f = *state;
    static const char *const bad[] = {"", "web", "default/", "/web", "default/web/x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_refused(f, pod(f, bad[i]), 404, "expected /explain/pods/NAMESPACE/NAME");
}

static void from_elsewhere(void **state) {
    struct fixture *f = *state;
    http_handler_fn *const all[] = {explain_decisions, explain_pod, explain_what_if};
    call_handler(&f->called, extender_filter, NODES);
    for (size_t i = 0; i < 3; i++) {
        const struct asked asked = {all[i], "/explain/pods/default/web", "", CALLED_POD, true,
                                    1 << 20};
        expect_refused(f, ask_as(f, &asked), 403, "explain.tokenFile");
        assert_int_equal(count(f->response.text.p, "web"), 0);
    }
}

static void without_a_ring(void **state) {
    struct fixture *f = *state;
    f->called.x.decisions = NULL;
    call_handler(&f->called, extender_filter, NODES);
    expect_refused(f, recent(f, ""), 404, "explain.decisions is 0");
    assert_contains(what_if(f, "{\"pod\":" CALLED_POD "}"), "\"verb\":\"filter\"");
    assert_int_equal(ring_size(f->ring).added, 0);
}

/* At every size an answer or 503, never half of one. */
static void out_of_memory(void **state) {
    struct fixture *f = *state;
    http_handler_fn *const all[] = {explain_decisions, explain_pod};
    int refused = 0, fine = 0;
    for (int i = 0; i < 4; i++)
        call_handler(&f->called, extender_filter, NODES);
    for (size_t i = 0; i < 2; i++)
        for (size_t bytes = 1; bytes < 16 << 10; bytes += 200) {
            const struct asked asked = {all[i], "/explain/pods/default/web", "", "", false, bytes};
            const char *answer = ask_as(f, &asked);
            if (f->response.status == 200) {
                fine++;
                assert_int_equal(count(answer, "\"number\":"), 4);
            } else {
                refused++;
                expect_refused(f, answer, 503, "no memory");
            }
        }
    assert_true(fine > 0);
    assert_true(refused > 0);
}

/* ---- what if ---- */

static void what_would_be(void **state) {
    struct fixture *f = *state;
    const char *answer = what_if(f, "{\"pod\":" CALLED_POD ",\"nodeNames\":[\"a\",\"x\"]}");
    assert_int_equal(f->response.status, 200);
    assert_contains(answer, "\"verb\":\"filter\",\"result\":\"answered\"");
    assert_contains(answer, "\"candidates\":2,\"passed\":1,\"dropped\":[{\"verdict\":"
                            "\"Unschedulable\",\"reason\":\"over maxSkew on zone\",\"nodes\":1,"
                            "\"names\":[\"a\"]}]}");
    assert_contains(answer, "\"verb\":\"prioritize\"");
    assert_int_equal(count(answer, "\"verb\":\"admit\""), 0); /* it has a uid */
    assert_contains(answer, "\"pod\":" CALLED_POD
                            ",\"notJudged\":\"limits and capacity of volumes, devices, "
                            "NodeResourcesFit (no "
                            "node reports its allocatable resources)\",\"findings\":[");
    assert_contains(what_if(f, "{\"pod\":" CALLED_POD "}"), "\"candidates\":4,\"passed\":2");
    assert_int_equal(ring_size(f->ring).added, 0);
}

#define NEW_POD                                                                                    \
    "{\"kind\":\"Pod\",\"metadata\":{\"generateName\":\"web-\",\"labels\":{\"foo\":\"\"}},"        \
    "\"spec\":{}}"
#define POLICY                                                                                     \
    "{\"kind\":\"TopologyPolicy\",\"metadata\":{\"name\":\"even\"},\"spec\":{\"pods\":{"           \
    "\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]}}}"

/* How many of the four nodes pass for a pod with these terms, before it is stored and after. */
static void check_stored(struct fixture *f, const char *fresh, const char *stored,
                         const char *passed) {
    static const char head[] = "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"w\",\"labels\":{"
                               "\"foo\":\"\",\"rev\":\"2\"}%s},\"spec\":{%s}}";
    char body[1024];
    (void)snprintf(body, sizeof body, head, "", fresh);
    assert_contains(what_if(f, body), passed);
    (void)snprintf(body, sizeof body, head, ",\"uid\":\"u9\"", stored);
    assert_contains(what_if(f, body), passed);
}

/* upstream: registry/core/pod/strategy.go merges the keys into the selector when a pod is created;
 * kube-scheduler reads the selector alone of podAffinity, and both of spread constraints. */
static void before_a_pod_is_stored(void **state) {
#define APART_FROM(selector, more)                                                                 \
    "\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":["      \
    "{\"topologyKey\":\"node\",\"labelSelector\":{\"matchExpressions\":[{\"key\":\"foo\","         \
    "\"operator\":\"Exists\"}" selector "]}" more "}]}}"
#define SPREAD_BY(selector)                                                                        \
    "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\","                      \
    "\"whenUnsatisfiable\":\"DoNotSchedule\",\"matchLabelKeys\":[\"rev\"],\"labelSelector\":{"     \
    "\"matchExpressions\":[{\"key\":\"foo\",\"operator\":\"Exists\"}" selector "]}}]"
#define REQUIREMENT(key, op, value)                                                                \
    ",{\"key\":\"" key "\",\"operator\":\"" op "\",\"values\":[\"" value "\"]}"
    struct fixture *f = *state;
    check_stored(f, APART_FROM("", ""), APART_FROM("", ""), "\"candidates\":4,\"passed\":3");
    check_stored(f, APART_FROM("", ",\"matchLabelKeys\":[\"rev\"]"),
                 APART_FROM(REQUIREMENT("rev", "In", "2"), ",\"matchLabelKeys\":[\"rev\"]"),
                 "\"candidates\":4,\"passed\":4");
    check_stored(f, APART_FROM("", ",\"mismatchLabelKeys\":[\"foo\"]"),
                 APART_FROM(REQUIREMENT("foo", "NotIn", ""), ",\"mismatchLabelKeys\":[\"foo\"]"),
                 "\"candidates\":4,\"passed\":4");
    check_stored(f, APART_FROM("", ",\"matchLabelKeys\":[\"none\"]"),
                 APART_FROM("", ",\"matchLabelKeys\":[\"none\"]"), "\"candidates\":4,\"passed\":3");
    check_stored(f, SPREAD_BY(""), SPREAD_BY(REQUIREMENT("rev", "In", "2")),
                 "\"candidates\":4,\"passed\":4");
}

/* What kube-scheduler's configuration adds to every pod: a filter, and scores. */
static void with_added_affinity(void **state) {
#define IN_ZONE1                                                                                   \
    "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"zone1\"]}]}"
    struct fixture *f = *state;
    const char *answer = what_if(
        f, "{\"pod\":" NEW_POD ",\"addedAffinity\":{"
           "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[" IN_ZONE1
           "]}}}");
    assert_contains(answer, "\"candidates\":4,\"passed\":2");
    assert_contains(answer, "node(s) didn't match scheduler-enforced node affinity");
    answer = what_if(f, "{\"pod\":" NEW_POD ",\"addedAffinity\":{"
                        "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":5,"
                        "\"preference\":" IN_ZONE1 "}]}}");
    assert_contains(answer, "\"candidates\":4,\"passed\":4");
    assert_int_equal(count(answer, "\"NodeAffinity\":100"), 2);
    assert_int_equal(count(answer, "\"NodeAffinity\":0"), 2);
    assert_int_equal(count(what_if(f, NEW_POD), "NodeAffinity"), 0);
    assert_contains(what_if(f, "{\"pod\":" NEW_POD ",\"addedAffinity\":null}"), "\"passed\":4");
}

/* The policy's constraint is injected, and then judged. */
static void what_a_policy_would_do(void **state) {
    struct fixture *f = *state;
    const char *answer = what_if(f, NEW_POD);
    assert_int_equal(count(answer, "\"verb\":\"admit\""), 0); /* no webhook, no policies */
    assert_contains(answer, "\"candidates\":4,\"passed\":4");
    answer = what_if(f, "{\"policies\":[" POLICY "],\"pod\":" NEW_POD "}");
    assert_contains(answer, "\"verb\":\"admit\",\"result\":\"patched\"");
    assert_contains(answer, "\"generateName\":\"web-\"");
    assert_contains(answer, "\"policy\":\"even\"");
    assert_contains(answer, "\"candidates\":4,\"passed\":2");
    assert_contains(answer, "\"pod\":{\"kind\":\"Pod\",\"metadata\":{\"generateName\":\"web-\","
                            "\"labels\":{\"foo\":\"\"}},\"spec\":{\"topologySpreadConstraints\":[");
    f->explain.webhook = &f->webhook;
    assert_contains(what_if(f, NEW_POD), "\"verb\":\"admit\",\"result\":\"unchanged\"");
    assert_contains(what_if(f, "{\"policies\":[" POLICY "],\"pod\":" NEW_POD "}"),
                    "\"result\":\"patched\"");
    assert_int_equal(count(what_if(f, "{\"pod\":" CALLED_POD "}"), "\"verb\":\"admit\""), 0);
}

static void bad_questions(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *body, *part;
    } bad[] = {
        {"", "Question"},
        {"[]", "expected a Pod, or an object with a pod"},
        {"{}", "Question.pod: missing"},
        {"{\"pod\":3}", "expected a Pod"},
        {"{\"pod\":{}}x", "Question"},
        {"{\"pod\":{\"metadata\":{\"name\":4}}}", "Pod.metadata.name: expected a string"},
        {"{\"pods\":{}}", "unknown member; there are pod, nodeNames, addedAffinity, "
                          "ignoredResources, ignoredResourceGroups, notRead, policies, workload "
                          "and podSpecPath"},
        {"{\"pod\":{},\"addedAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
         "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"Near\"}]}]}}"
         "}",
         "Question.addedAffinity: it has a term that does not parse"},
        {"{\"kind\":\"Pod\",\"apiVersion\":\"example.com/v1\"}",
         "Pod: apiVersion is 'example.com/v1'; expected v1"},
        {"{\"pod\":{\"kind\":\"Deployment\",\"apiVersion\":\"apps/v1\"}}",
         "kind is 'Deployment'; expected Pod"},
        {"{\"pod\":{},\"policies\":[{\"kind\":\"TopologyPolicy\",\"apiVersion\":\"example.com/"
         "v1\"}]}",
         "Question.policies[0]: apiVersion is 'example.com/v1'; expected evenkeel.io/v1alpha1"},
        {"{\"pod\":{},\"nodeNames\":3}", "Question.nodeNames: expected an array"},
        {"{\"pod\":{},\"policies\":[{\"kind\":\"Pod\"}]}", "expected TopologyPolicy"},
        {"{\"pod\":{},\"policies\":[{\"kind\":\"TopologyPolicy\",\"spec\":{\"spred\":[]}}]}",
         "spred"},
        {"{\"pod\":{},\"policies\":[" POLICY ",{\"kind\":\"TopologyPolicy\","
         "\"metadata\":{\"name\":\"none\"},\"spec\":{\"pods\":{}}}]}",
         "Question.policies[1]: the policy cannot work: spec.pods has none of spread"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_refused(f, what_if(f, bad[i].body), 400, bad[i].part);
}

/* A pod that cannot be judged is answered with the reason. */
static void what_would_be_refused(void **state) {
    struct fixture *f = *state;
    const char *answer =
        what_if(f, "{\"pod\":{\"metadata\":{\"name\":\"w\"},\"spec\":{"
                   "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\","
                   "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{"
                   "\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"Near\"}]}}]}}}");
    assert_contains(answer, "\"verb\":\"filter\",\"result\":\"refused\"");
    assert_contains(answer, "\"message\":\"spec.topologySpreadConstraints[0]");
}

static void before_the_first_sync(void **state) {
    struct fixture *f = *state;
    struct cache *ready = f->called.c.cache, *empty;
    assert_int_equal(cache_new(&(struct cache_options){0}, &empty, NULL), 0);
    f->called.x.cache = empty;
    expect_refused(f, what_if(f, "{\"pod\":" CALLED_POD "}"), 503, "not ready");
    f->called.x.cache = ready;
    cache_free(empty);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_verb_in_order),
        TEST(nodes_that_were_not_offered),
        TEST(what_is_refused),
        TEST(stale_data),
        TEST(the_last_ones),
        TEST(pages),
        TEST(an_admission_by_name),
        TEST(a_denied_change),
        TEST(a_change_of_another_kind),
        TEST(an_admission_before_the_name),
        TEST(pods_that_share_words),
        TEST(any_object),
        TEST(long_names),
        TEST(paths),
        TEST(from_elsewhere),
        TEST(without_a_ring),
        TEST(out_of_memory),
        TEST(what_would_be),
        TEST(before_a_pod_is_stored),
        TEST(with_added_affinity),
        TEST(what_a_policy_would_do),
        TEST(bad_questions),
        TEST(what_would_be_refused),
        TEST(before_the_first_sync),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO); /* warnings are what is tested */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
