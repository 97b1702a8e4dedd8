/*
 * `evenkeel check cluster`: policies with mode Require that bind nobody, because no
 * ValidatingWebhookConfiguration has API servers ask.
 */
#include "check/validating.h"

#include "unit/check/checking.h"
#include "unit/unit.h"

#define POLICIES_PATH "/apis/evenkeel.io/v1alpha1/topologypolicies"
#define POLICIES POLICIES_PATH "?limit=500"
#define CONFIGURATIONS "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?"

/* What the API server shows. An answer without text is a 403. */
struct shown {
    const char *policies, *configurations, *named;
};
struct shown_pages {
    struct shown first;
    const char *more_policies, *more_configurations; /* where the lists go on at "next" */
};

static void run_check(struct checking *c) {
    validating_check(&c->configuration, c->client, &c->findings);
}

static int setup(void **state) {
    struct checking *c = checking_open(run_check);
    c->configuration.webhook.listen = ":9443";
    *state = c;
    return 0;
}

static int teardown(void **state) {
    checking_close(*state);
    return 0;
}

static void answer(struct api_call *call, const char *text) {
    api_answer(call, text != NULL ? 200 : 403, "", text != NULL ? text : "{}");
}

/* What the API server answers to a call. */
static const char *shown_to(const struct api_call *call, const struct shown_pages *shown) {
    const struct {
        const char *path, *text;
    } rows[] = {
        {POLICIES, shown->first.policies},
        {POLICIES "&continue=next", shown->more_policies},
        {CONFIGURATIONS "limit=500", shown->first.configurations},
        {CONFIGURATIONS "limit=500&continue=next", shown->more_configurations},
        {CONFIGURATIONS "fieldSelector=metadata.name%3Dours&limit=500", shown->first.named},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (str_eq(call->path, str_of(rows[i].path)))
            return rows[i].text;
    return NULL;
}

/* What is said, one line each. */
static void expect_pages(struct checking *c, const struct shown_pages *shown, const char *wanted) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    struct api_call call;
    checking_start(c);
    while (checking_take(c, &call)) {
        answer(&call, shown_to(&call, shown));
        api_call_done(&call);
    }
    for (uint32_t i = 0; i < c->findings.count; i++) {
        assert_int_equal(c->findings.items[i].severity, SEVERITY_WARNING);
        strbuf_appendf(&got, "%.*s\n", STR_ARG(c->findings.items[i].problem));
    }
    assert_str(strbuf_str(&got), wanted);
}

static void expect(struct checking *c, const struct shown *shown, const char *wanted) {
    expect_pages(c, &(struct shown_pages){.first = *shown}, wanted);
}

#define POLICY(name, mode)                                                                         \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"priority\":1,\"mode\":\"" mode "\","        \
    "\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]}}}"
#define LIST(items) "{\"metadata\":{},\"items\":[" items "]}"
#define PAGE(items) "{\"metadata\":{\"continue\":\"next\"},\"items\":[" items "]}"
#define RULES(rules) "\"rules\":[" rules "],"
#define RULE(operations) "{\"apiGroups\":[\"\"],\"operations\":[" operations "]}"
#define BOTH RULES(RULE("\"CREATE\",\"UPDATE\""))
#define RULED_SERVICE(rules, path)                                                                 \
    "{\"metadata\":{\"name\":\"x\"},\"webhooks\":[{\"name\":\"first\"," rules "\"clientConfig\":{" \
    "\"service\":{\"name\":\"a\",\"namespace\":\"b\",\"path\":\"" path "\"},"                      \
    "\"caBundle\":\"\"}},{" BOTH "\"clientConfig\":{\"url\":\"https://a.example/other\"}}]}"
#define SERVICE(path) RULED_SERVICE(BOTH, path)
#define URL(url)                                                                                   \
    "{\"webhooks\":[{\"clientConfig\":{\"url\":\"" url                                             \
    "\",\"service\":null}," RULES(RULE("\"*\"")) "\"name\":\"n\"}]}"
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
    struct shown_pages shown = {{PAGE(POLICY("a", "Enforce")), PAGE(SERVICE("/a")), NULL},
                                LIST(POLICY("b", "Require")),
                                LIST(SERVICE("/webhooks/v1/pods/validate"))};
    expect_pages(*state, &shown, "");
    shown.more_configurations = LIST(SERVICE("/b"));
    expect_pages(*state, &shown, "mode Require (b) " NOBODY);
}

static void a_list_that_cannot_be_read_is_no_good_news(void **state) {
    expect(*state, &(struct shown){"{\"items\":[", LIST(""), NULL},
           "cannot find out whether policies with mode Require bind anybody: " POLICIES_PATH
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

/* A pod with gates is narrowed after its creation. */
static void nobody_asks_when_gates_go(void **state) {
#define OUR "/webhooks/v1/pods/validate"
#define GATES                                                                                      \
    "mode Require (gold, jade) does not bind pods with schedulingGates: no "                       \
    "ValidatingWebhookConfiguration has API servers call /webhooks/v1/pods/validate when "         \
    "schedulingGates are removed (operation UPDATE)\n"
    static const struct {
        const char *configurations, *wanted;
    } rows[] = {
        {LIST(RULED_SERVICE(RULES(RULE("\"CREATE\"")), OUR)), GATES},
        {LIST(RULED_SERVICE("\"rules\":null,", OUR)), GATES},
        {LIST(RULED_SERVICE(RULES("{\"operations\":null}"), OUR)), GATES},
        {LIST(RULED_SERVICE(RULES(RULE("\"DELETE\",\"CONNECT\"")), OUR)), GATES},
        /* another webhook's rules are not ours */
        {LIST(RULED_SERVICE(RULES(RULE("\"CREATE\"")), OUR) "," SERVICE("/a")), GATES},
        {LIST(RULED_SERVICE(RULES(RULE("\"CREATE\"") "," RULE("\"UPDATE\"")), OUR)), ""},
        /* in any order */
        {LIST(RULED_SERVICE(RULES(RULE("\"UPDATE\"") "," RULE("\"CREATE\"")), OUR)), ""},
        {LIST(RULED_SERVICE(RULES(RULE("\"UPDATE\",\"CREATE\"")), OUR)), ""},
        {LIST(RULED_SERVICE(RULES(RULE("\"*\",\"CREATE\"")), OUR)), ""},
        {LIST(RULED_SERVICE(RULES(RULE("\"CREATE\"")), OUR) "," SERVICE(OUR)), ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct checking *c = *state;
        c->findings.count = 0;
        expect(c, &(struct shown){TWO, rows[i].configurations, NULL}, rows[i].wanted);
    }
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
    struct checking *c = *state;
    c->configuration.webhook.listen = "0";
    expect(c, &(struct shown){TWO, NULL, NULL}, "");
}

/* The rights of the webhook's own pods are by name. */
static void the_configuration_s_own_names_are_tried(void **state) {
    static const char *const names[] = {"ours"};
    struct checking *c = *state;
    c->configuration.webhook.certificates.validating = names;
    c->configuration.webhook.certificates.validating_count = 1;
    expect(c, &(struct shown){TWO, NULL, LIST(SERVICE("/webhooks/v1/pods/validate"))}, "");
    expect(c, &(struct shown){TWO, NULL, LIST("")}, "mode Require (gold, jade) " NOBODY);
    /* one that is shown is enough, whatever follows it */
    static const char *const more[] = {"ours", "hidden"};
    c->configuration.webhook.certificates.validating = more;
    c->configuration.webhook.certificates.validating_count = 2;
    c->findings.count = 0;
    expect(c, &(struct shown){TWO, NULL, LIST(SERVICE(OUR))}, "");
    expect(c, &(struct shown){TWO, NULL, LIST("")}, "mode Require (gold, jade) " NOBODY);
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
        TEST(nobody_asks_when_gates_go),
        TEST(other_modes_need_none),
        TEST(policies_that_are_not_shown_need_none),
        TEST(what_may_not_be_seen_is_said),
        TEST(but_not_to_a_door_that_is_no_webhook),
        TEST(the_configuration_s_own_names_are_tried),
    };
    return cmocka_run_group_tests_name("check_validating", tests, NULL, NULL);
}
