/* POST /webhooks/v1/placements. */
#include "base/log.h"
#include "handlers/webhook.h"
#include "unit/cluster_builder.h"

#include <stdio.h>
#include <unistd.h>

#define REVIEW(operation, object, old)                                                             \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":"   \
    "\"1\",\"operation\":\"" operation "\",\"namespace\":\"ns\",\"resource\":{\"group\":"          \
    "\"cluster.open-cluster-management.io\",\"version\":\"v1beta1\",\"resource\":\"placements\"}," \
    "\"object\":" object ",\"oldObject\":" old "}}"
#define ANSWER(more)                                                                               \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","                        \
    "\"response\":{\"uid\":\"1\"," more "}}"
#define TERMS                                                                                      \
    "\"spreadPolicy\":{\"spreadConstraints\":[{\"topologyKey\":\"zone\",\"topologyKeyType\":"      \
    "\"Label\"}]}"
#define HARD_TERMS                                                                                 \
    "\"spreadPolicy\":{\"spreadConstraints\":[{\"topologyKey\":\"zone\",\"topologyKeyType\":"      \
    "\"Label\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]}"
#define HARD "{\"metadata\":{\"name\":\"p\"},\"spec\":{" HARD_TERMS "}}"
#define PLACEMENT "{\"metadata\":{\"name\":\"p\"},\"spec\":{" TERMS "}}"

struct fixture {
    struct webhook webhook;
    struct http_response response;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){0};
    f.webhook.placements.known =
        (struct placement_knowledge){.mode = PLACEMENT_SCORES, .owns = true, .shards = 4};
    assert_int_equal(policy_source_new(NULL, 0, &f.webhook.placements.known.policies, NULL), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    strbuf_done(&f->response.text);
    policy_source_free(f->webhook.placements.known.policies);
    return 0;
}

static const char *ask(struct fixture *f, const char *body) {
    struct arena arena;
    arena_init(&arena, 1 << 20);
    const struct http_request request = {
        .path = STR("/webhooks/v1/placements"), .body = str_of(body), .arena = &arena};
    strbuf_done(&f->response.text);
    f->response = (struct http_response){0};
    webhook_review(&f->webhook, &request, &f->response);
    arena_done(&arena);
    strbuf_append(&f->response.text, "", 1);
    return f->response.text.p;
}

static void scores_take_a_publisher(void **state) {
    struct fixture *f = *state;
    assert_string_equal(
        ask(f, REVIEW("CREATE", PLACEMENT, "null")),
        ANSWER("\"allowed\":true,\"warnings\":[\"evenkeel: spec.spreadPolicy: mode Scores is off "
               "here (ocm.scores): Open Cluster Management decides without its terms; with mode "
               "Owner, Evenkeel would decide with them\"]"));
    f->webhook.placements.known.inject_scores = true;
    assert_contains(ask(f, REVIEW("CREATE", PLACEMENT, "null")), "\"patchType\":\"JSONPatch\"");
    assert_int_equal(f->response.status, 200);
}

static bool leads;

static bool has_leader(void *ctx) {
    return *(const bool *)ctx;
}

/* A gate selects nothing until somebody publishes scores. */
static void gates_take_a_leader(void **state) {
    struct fixture *f = *state;
    static const char warning[] = "no replica of Evenkeel leads at the moment";
    struct placement_knowledge *known = &f->webhook.placements.known;
    char ungated[4096];
    known->inject_scores = true;
    known->has_leader = has_leader;
    known->ctx = &leads;
    leads = false;
    (void)snprintf(ungated, sizeof ungated, "%s", ask(f, REVIEW("CREATE", HARD, "null")));
    assert_contains(ungated, "\"patchType\":\"JSONPatch\"");
    assert_contains(ungated, warning);
    assert_null(strstr(ask(f, REVIEW("CREATE", PLACEMENT, "null")), warning)); /* soft */
    assert_null(strstr(ask(f, REVIEW("UPDATE", HARD, HARD)), warning)); /* the leader's, later */
    leads = true;
    const char *gated = ask(f, REVIEW("CREATE", HARD, "null"));
    assert_null(strstr(gated, warning));
    assert_true(strlen(gated) > strlen(ungated)); /* by the predicate, in base64 */
}

/* Keys are drawn anew for each. */
static void keys_differ(void **state) {
    struct fixture *f = *state;
    char first[4096];
    f->webhook.placements.known.inject_scores = true;
    (void)snprintf(first, sizeof first, "%s", ask(f, REVIEW("CREATE", PLACEMENT, "null")));
    assert_string_not_equal(ask(f, REVIEW("CREATE", PLACEMENT, "null")), first);
}

static void owners(void **state) {
    struct fixture *f = *state;
    f->webhook.placements.known.mode = PLACEMENT_OWNER;
    assert_contains(ask(f, REVIEW("CREATE", PLACEMENT, "null")), "\"patch\":");
    assert_string_equal(ask(f, REVIEW("UPDATE", PLACEMENT, PLACEMENT)), ANSWER("\"allowed\":true"));
    assert_string_equal(ask(f, REVIEW("DELETE", "null", PLACEMENT)), ANSWER("\"allowed\":true"));
}

static void refused(void **state) {
    struct fixture *f = *state;
    const char *text = ask(f, REVIEW("CREATE", "{\"spec\":{\"numberOfClusters\":-1}}", "null"));
    assert_contains(text, "\"allowed\":false,\"status\":{\"code\":422,");
    assert_contains(text, "spec.numberOfClusters: -1 is negative");
    assert_int_equal(f->response.status, 200);
    assert_contains(ask(f, "{}"), "AdmissionReview.apiVersion: expected");
    assert_int_equal(f->response.status, 400);
}

static void mistakes(void **state) {
    assert_string_equal(
        ask(*state, REVIEW("CREATE", "{\"spec\":{\"numberOfCluster\":1}}", "null")),
        ANSWER("\"allowed\":true,\"warnings\":[\"spec.numberOfCluster: 'numberOfCluster' is no "
               "field; the nearest is 'numberOfClusters'. Write numberOfClusters\"]"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(scores_take_a_publisher),
                                       TEST(gates_take_a_leader),
                                       TEST(keys_differ),
                                       TEST(owners),
                                       TEST(refused),
                                       TEST(mistakes)};
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
