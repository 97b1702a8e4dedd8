/*
 * `evenkeel check cluster`: policies with mode Require that bind nobody, because no
 * ValidatingWebhookConfiguration has API servers ask.
 */
#include "check/validating.h"

#include "unit/kube/api.h"
#include "unit/unit.h"

#include <pthread.h>

#define POLICIES_PATH "/apis/evenkeel.io/v1alpha1/topologypolicies"
#define POLICIES POLICIES_PATH "?limit=500"
#define CONFIGURATIONS "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?"

struct fixture {
    struct api api;
    struct arena arena;
    struct findings findings;
    struct configuration configuration;
    struct kube_access access;
    struct kube_client *client;
    const char *more_policies, *more_configurations; /* where the lists go on at "next" */
};

/* What the API server shows. An answer without text is a 403. */
struct shown {
    const char *policies, *configurations, *named;
};

static int setup(void **state) {
    static struct fixture f;
    struct err err;
    f = (struct fixture){.client = NULL};
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    if (kube_client_new(&f.access, NULL, &f.client, &err) != 0)
        fail_msg("%s", err.text);
    arena_init(&f.arena, 1 << 20);
    findings_init(&f.findings, &f.arena);
    configuration_init(&f.configuration);
    f.configuration.webhook.listen = ":9443";
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    kube_client_free(f->client);
    configuration_done(&f->configuration);
    arena_done(&f->arena);
    api_done(&f->api);
    return 0;
}

/* The request for /done tells the server that nothing else will be asked for. */
static void *run_check(void *ctx) {
    struct fixture *f = ctx;
    CLEANUP(strbuf_done) struct strbuf body = {0};
    struct err err;
    int status;
    validating_check(&f->configuration, f->client, &f->findings);
    if (kube_call(f->client, "GET", "/done", STR(""), &body, &status, &err) != 0)
        print_error("%s\n", err.text); /* the test waits in vain and fails */
    return NULL;
}

static void answer(struct api_call *call, const char *text) {
    api_answer(call, text != NULL ? 200 : 403, "", text != NULL ? text : "{}");
}

/* What is said, one line each. */
static void expect(struct fixture *f, const struct shown *shown, const char *wanted) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_check, f), 0);
    for (bool last = false; !last;) {
        struct api_call call = {0};
        api_take(&f->api, &call);
        last = str_eq(call.path, STR("/done"));
        if (str_eq(call.path, STR(POLICIES)))
            answer(&call, shown->policies);
        else if (str_eq(call.path, STR(CONFIGURATIONS "limit=500")))
            answer(&call, shown->configurations);
        else if (str_eq(call.path,
                        STR(CONFIGURATIONS "fieldSelector=metadata.name%3Dours&limit=500")))
            answer(&call, shown->named);
        else if (str_eq(call.path, STR(POLICIES "&continue=next")))
            answer(&call, f->more_policies);
        else if (str_eq(call.path, STR(CONFIGURATIONS "limit=500&continue=next")))
            answer(&call, f->more_configurations);
        else
            answer(&call, last ? "{}" : NULL);
        api_call_done(&call);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (uint32_t i = 0; i < f->findings.count; i++) {
        assert_int_equal(f->findings.items[i].severity, SEVERITY_WARNING);
        strbuf_appendf(&got, "%.*s\n", STR_ARG(f->findings.items[i].problem));
    }
    assert_str(strbuf_str(&got), wanted);
}

#define POLICY(name, mode)                                                                         \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"priority\":1,\"mode\":\"" mode "\","        \
    "\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]}}}"
#define LIST(items) "{\"metadata\":{},\"items\":[" items "]}"
#define PAGE(items) "{\"metadata\":{\"continue\":\"next\"},\"items\":[" items "]}"
#define SERVICE(path)                                                                              \
    "{\"metadata\":{\"name\":\"x\"},\"webhooks\":[{\"name\":\"first\",\"clientConfig\":{"          \
    "\"service\":{\"name\":\"a\",\"namespace\":\"b\",\"path\":\"" path "\"},"                      \
    "\"caBundle\":\"\"}},{\"clientConfig\":{\"url\":\"https://a.example/other\"}}]}"
#define URL(url) "{\"webhooks\":[{\"clientConfig\":{\"url\":\"" url "\",\"service\":null}}]}"
#define TWO                                                                                        \
    LIST(POLICY("gold", "Require") "," POLICY("tin", "Enforce") "," POLICY("jade", "Require"))
#define NOBODY                                                                                     \
    "binds nobody: no ValidatingWebhookConfiguration has API servers call "                        \
    "/webhooks/v1/pods/validate\n"
#define UNSEEN                                                                                     \
    "may bind nobody: whether a ValidatingWebhookConfiguration has API servers call "              \
    "/webhooks/v1/pods/validate cannot be seen\n"

static void policies_that_bind_nobody_are_named(void **state) {
    const struct shown shown = {TWO, LIST(SERVICE("/webhooks/v1/pods")), NULL};
    expect(*state, &shown, "mode Require (gold, jade) " NOBODY);
}

static void no_configuration_asks_nobody(void **state) {
    const struct shown shown = {TWO, "{\"items\":null}", NULL};
    expect(*state, &shown, "mode Require (gold, jade) " NOBODY);
}

static void the_first_three_of_many_are(void **state) {
    const struct shown shown = {LIST(POLICY("a", "Require") "," POLICY("b", "Require") "," POLICY(
                                    "c", "Require") "," POLICY("d", "Require")),
                                LIST(""), NULL};
    expect(*state, &shown, "mode Require (a, b, c and 1 more) " NOBODY);
}

static void lists_go_on(void **state) {
    const struct shown shown = {PAGE(POLICY("a", "Enforce")), PAGE(SERVICE("/a")), NULL};
    struct fixture *f = *state;
    f->more_policies = LIST(POLICY("b", "Require"));
    f->more_configurations = LIST(SERVICE("/webhooks/v1/pods/validate"));
    expect(f, &shown, "");
    f->more_configurations = LIST(SERVICE("/b"));
    expect(f, &shown, "mode Require (b) " NOBODY);
}

static void a_list_that_cannot_be_read_is_no_good_news(void **state) {
    expect(*state, &(struct shown){"{\"items\":[", LIST(""), NULL},
           "whether policies with mode Require bind anybody was not found out: " POLICIES_PATH
           ".items[0]: the text ends where a value should be, at byte 10\n");
}

#define REQUIRE(name, match, key)                                                                  \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"mode\":\"Require\",\"match\":{" match       \
    "},\"pods\":{\"spread\":[{\"topologyKey\":\"" key                                              \
    "\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]}}}"

/* One that cannot be decoded, and one whose key no node can have: both match nothing. */
static void policies_that_cannot_work_bind_nobody_anyway(void **state) {
    const struct shown shown = {
        LIST(REQUIRE("a", "\"objectSelector\":{\"matchLabel\":{}}",
                     "zone") "," REQUIRE("b", "", "no key") "," REQUIRE("c", "", "zone")),
        LIST(""), NULL};
    expect(*state, &shown, "mode Require (c) " NOBODY);
}

static void a_service_or_an_url_is_asked(void **state) {
    struct shown shown = {TWO, LIST(SERVICE("/a") "," SERVICE("/webhooks/v1/pods/validate")), NULL};
    expect(*state, &shown, "");
    shown.configurations = LIST(URL("https://10.0.0.1:9443/webhooks/v1/pods/validate"));
    expect(*state, &shown, "");
}

static void other_modes_need_none(void **state) {
    const struct shown shown = {LIST(POLICY("a", "Enforce") "," POLICY("b", "Audit")), LIST(""),
                                NULL};
    expect(*state, &shown, "");
}

static void policies_that_are_not_shown_need_none(void **state) {
    expect(*state, &(struct shown){NULL, LIST(""), NULL}, "");
}

static void what_may_not_be_seen_is_said(void **state) {
    expect(*state, &(struct shown){TWO, NULL, NULL}, "mode Require (gold, jade) " UNSEEN);
}

static void but_not_to_a_door_that_is_no_webhook(void **state) {
    struct fixture *f = *state;
    f->configuration.webhook.listen = "0";
    expect(f, &(struct shown){TWO, NULL, NULL}, "");
}

/* The rights of the webhook's own pods are by name. */
static void the_configuration_s_own_names_are_tried(void **state) {
    static const char *const names[] = {"ours"};
    struct fixture *f = *state;
    f->configuration.webhook.certificates.validating = names;
    f->configuration.webhook.certificates.validating_count = 1;
    expect(f, &(struct shown){TWO, NULL, LIST(SERVICE("/webhooks/v1/pods/validate"))}, "");
    expect(f, &(struct shown){TWO, NULL, LIST("")}, "mode Require (gold, jade) " NOBODY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(policies_that_bind_nobody_are_named),
        TEST(no_configuration_asks_nobody),
        TEST(the_first_three_of_many_are),
        TEST(lists_go_on),
        TEST(a_list_that_cannot_be_read_is_no_good_news),
        TEST(policies_that_cannot_work_bind_nobody_anyway),
        TEST(a_service_or_an_url_is_asked),
        TEST(other_modes_need_none),
        TEST(policies_that_are_not_shown_need_none),
        TEST(what_may_not_be_seen_is_said),
        TEST(but_not_to_a_door_that_is_no_webhook),
        TEST(the_configuration_s_own_names_are_tried),
    };
    return cmocka_run_group_tests_name("check_validating", tests, NULL, NULL);
}
