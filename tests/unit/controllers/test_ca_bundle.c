/* caBundles of one configuration, which others rewrite, with replicas whose client is the test. */
#include "controllers/ca_bundle.h"

#include "base/base64.h"
#include "base/log.h"
#include "base/metrics.h"
#include "unit/certs/issued.h"
#include "unit/controllers/stored.h"
#include "unit/http/fixture.h"
#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>

#define PATH "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/evenkeel"
#define SERIES(name) "evenkeel_" name "{configuration=\"evenkeel\"}"
#define ERRORS "evenkeel_ca_bundle_writes_total{configuration=\"evenkeel\",result=\"error\"}"
#define OURS "webhooks/0/clientConfig/caBundle"

enum { REPLICAS = 2, STEP_MS = 100 };

struct replica {
    struct kube_client client;
    struct writer *writer;
    struct ca_bundle_controller *controller;
    struct reflector_sink sink;
};

static struct stored stored;
static struct replica replicas[REPLICAS];
static struct kube_client events_client;
static struct event_recorder *recorder;
static struct issued ca, other_ca, leaf;
static enum webhook_kind kind; /* of the object */
static char right[4096];       /* the bundle, as base64 */

static void start(struct replica *r) {
    struct err err;
    *r = (struct replica){.controller = NULL};
    fake_init(&r->client);
    r->writer = fake_writer(&r->client);
    const struct ca_bundle_controller_options options = {.writer = r->writer,
                                                         .clock = &r->client.clock.clock,
                                                         .events = recorder,
                                                         .kind = kind,
                                                         .name = "evenkeel",
                                                         .seed = (uint64_t)(r - replicas)};
    check_ok(ca_bundle_controller_new(&options, &r->controller, &err), &err);
    r->sink = ca_bundle_controller_sink(r->controller);
    log_use_clock(&r->client.clock.clock);
}

static void end(struct replica *r) {
    ca_bundle_controller_free(r->controller);
    writer_free(r->writer);
    r->controller = NULL;
    r->writer = NULL;
}

static int make_certificates(void **state) {
    (void)state;
    struct authority *a = new_authority("ours", 3650, NOW);
    struct authority *b = new_authority("other", 3650, NOW);
    struct strbuf text = {0};
    ca = save(a);
    other_ca = save(b);
    leaf = issue_server(a, 90, NOW, "evenkeel.ns.svc", "h.example", NULL);
    base64_append(&text, strbuf_str(&ca.certificate));
    assert_true(text.n < sizeof right);
    memcpy(right, text.p, text.n);
    strbuf_done(&text);
    authority_free(a);
    authority_free(b);
    return 0;
}

static int free_certificates(void **state) {
    (void)state;
    issued_done(&ca);
    issued_done(&other_ca);
    issued_done(&leaf);
    return 0;
}

static int set_up(void **state) {
    (void)state;
    fake_init(&events_client);
    const struct event_options events = {.client = &events_client,
                                         .clock = &events_client.clock.clock,
                                         .instance = "me",
                                         .io = &fake_io};
    assert_int_equal(event_recorder_new(&events, &recorder, NULL), 0);
    stored_set(&stored,
               "{\"metadata\":{\"uid\":\"u\"},\"webhooks\":["
               "{\"name\":\"a\",\"clientConfig\":{\"service\":{\"namespace\":\"ns\",\"name\":"
               "\"evenkeel\"}}},"
               "{\"name\":\"b\",\"clientConfig\":{\"url\":\"https://elsewhere/\",\"caBundle\":"
               "\"eA==\"}},"
               "{\"name\":\"c\",\"clientConfig\":{\"url\":\"https://h.example:9443/x\"}}]}");
    for (int i = 0; i < REPLICAS; i++)
        start(&replicas[i]);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int i = 0; i < REPLICAS; i++)
        end(&replicas[i]);
    stored_done(&stored);
    event_recorder_free(recorder);
    metrics_reset();
    return 0;
}

static void trust(struct replica *r, const struct issued *authority) {
    ca_bundle_controller_trust(r->controller, strbuf_str(&authority->certificate),
                               strbuf_str(&leaf.certificate));
}

static void tell_all(void) {
    for (int i = 0; i < REPLICAS; i++)
        if (replicas[i].controller != NULL)
            stored_tell(&stored, &replicas[i].sink);
}

/* Time passes for all; requests are answered, and what comes of them is told. */
static void pass(int64_t ms) {
    for (; ms > 0; ms -= STEP_MS) {
        for (int i = 0; i < REPLICAS; i++)
            fake_pass(&replicas[i].client, STEP_MS);
        for (int i = 0; i < REPLICAS; i++) {
            if (replicas[i].client.request == NULL)
                continue;
            unsigned version = stored.version;
            stored_serve(&stored, &replicas[i].client);
            if (stored.version != version)
                tell_all();
        }
    }
}

static bool is_right(void) {
    return strcmp(stored_text(&stored, OURS), right) == 0 &&
           strcmp(stored_text(&stored, "webhooks/2/clientConfig/caBundle"), right) == 0;
}

/* Somebody writes another bundle ("" as well), and is noted as the manager. */
static void rewrite(const char *bundle, const char *manager) {
    cJSON *webhook =
        cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(stored.object, "webhooks"), 0);
    cJSON *client = cJSON_GetObjectItemCaseSensitive(webhook, "clientConfig");
    cJSON *metadata = cJSON_GetObjectItemCaseSensitive(stored.object, "metadata");
    cJSON_DeleteItemFromObjectCaseSensitive(client, "caBundle");
    assert_non_null(cJSON_AddStringToObject(client, "caBundle", bundle));
    cJSON_DeleteItemFromObjectCaseSensitive(metadata, "managedFields");
    cJSON *managers = cJSON_AddArrayToObject(metadata, "managedFields");
    cJSON *one = cJSON_CreateObject();
    assert_non_null(cJSON_AddStringToObject(one, "manager", manager));
    if (bundle[0] != '\0') /* who removes a field does not own it */
        assert_non_null(
            cJSON_AddObjectToObject(cJSON_AddObjectToObject(one, "fieldsV1"), "f:caBundle"));
    assert_true(cJSON_AddItemToArray(managers, one));
    stored_touch(&stored);
    tell_all();
}

/* All replicas know everything, and the bundle is right. */
static void begin(void) {
    for (int i = 0; i < REPLICAS; i++) {
        stored_list(&stored, &replicas[i].sink);
        trust(&replicas[i], &ca);
    }
    pass(10000); /* long enough for a rewrite not to be an answer */
    assert_true(is_right());
    assert_int_equal(stored.writes, 1);
}

/* ---- tests ---- */

static void test_an_empty_one_is_filled(void **state) {
    (void)state;
    stored_list(&stored, &replicas[0].sink);
    pass(1000);
    assert_int_equal(stored.writes, 0); /* it is not known yet what is right */
    assert_true(metric_now(SERIES("webhook_configuration_right")) == 0);
    trust(&replicas[0], &ca);
    fake_pass(&replicas[0].client, 500);
    assert_non_null(replicas[0].client.request);
    assert_string_equal(replicas[0].client.request->path, PATH "?fieldManager=evenkeel");
    assert_string_equal(replicas[0].client.request->content_type,
                        "application/strategic-merge-patch+json");
    stored_serve(&stored, &replicas[0].client);
    stored_tell(&stored, &replicas[0].sink);
    assert_true(is_right());
    assert_string_equal(stored_text(&stored, "webhooks/1/clientConfig/caBundle"), "eA==");
    assert_true(metric_now(SERIES("webhook_configuration_right")) == 1);
    assert_true(metric_now(SERIES("ca_bundle_foreign_writes_total")) == 0);
    pass(600000);
    assert_int_equal(stored.writes, 1);
}

/* One that validates is the same under another path. */
static void test_one_that_validates(void **state) {
    (void)tear_down(state);
    kind = WEBHOOK_VALIDATING;
    (void)set_up(state);
    kind = WEBHOOK_MUTATING;
    trust(&replicas[0], &ca);
    stored_tell(&stored, &replicas[0].sink);
    fake_pass(&replicas[0].client, 1000);
    assert_non_null(replicas[0].client.request);
    assert_string_equal(replicas[0].client.request->path,
                        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/"
                        "evenkeel?fieldManager=evenkeel");
    assert_int_equal(
        metric_now("evenkeel_webhook_configuration_right{configuration=\"validating/evenkeel\"}"),
        0);
}

static void test_one_of_several_replicas_writes(void **state) {
    (void)state;
    begin();
    rewrite("", "argocd");
    pass(500);
    assert_true(is_right());
    assert_int_equal(stored.writes, 2);
    pass(600000);
    assert_int_equal(stored.writes, 2);
}

static void test_who_did_it_is_said(void **state) {
    (void)state;
    begin();
    rewrite("eA==", "argocd-controller");
    fake_expect_event(&events_client, "CABundleRewritten",
                      "field manager 'argocd-controller' rewrote the caBundle");
    assert_true(metric_now(SERIES("ca_bundle_foreign_writes_total")) == 1);
    assert_true(metric_now(SERIES("webhook_configuration_right")) == 0);
    pass(20000);
    rewrite("", "argocd-controller");
    fake_expect_event(&events_client, "CABundleRewritten", "somebody removed the caBundle");
}

/* Fault 16: an hour of it. */
static void test_a_writer_every_ten_seconds(void **state) {
    (void)state;
    begin();
    for (unsigned i = 0; i < 360; i++) {
        rewrite(i % 2 == 0 ? "" : "eA==", "gitops");
        pass(500);
        if (!is_right())
            fail_msg("not mended in time, at the %uth time", i);
        assert_int_equal(stored.writes, i + 2); /* one for each */
        pass(9500);
    }
}

/* One who answers each of our writes at once, for twelve hours; then he goes. */
static void test_no_fight(void **state) {
    (void)state;
    unsigned rewritten = 0;
    begin();
    for (int second = 0; second < 12 * 3600; second++) {
        if (is_right()) {
            rewrite("", "stubborn");
            rewritten++;
        }
        pass(1000);
    }
    assert_in_range(rewritten, 140, 160); /* every five minutes after the first ones */
    assert_in_range(stored.writes, rewritten, rewritten + 1);
    pass(400000);
    assert_true(is_right());
    rewrite("", "another");
    pass(500);
    assert_true(is_right()); /* long after: at once again */
}

/* Until it is right; how long that took. */
static int64_t mended_ms(void) {
    int64_t ms = 0;
    for (; !is_right(); ms += STEP_MS) {
        assert_true(ms < 600000);
        pass(STEP_MS);
    }
    return ms;
}

/* Who rewrites within eight seconds is answered slowly; at eight seconds it is mended at once. */
static void test_eight_seconds(void **state) {
    (void)state;
    begin();
    rewrite("", "x");
    assert_in_range(mended_ms(), 0, 500);
    pass(8000);
    rewrite("", "x");
    assert_in_range(mended_ms(), 0, 500);
    pass(8000 - STEP_MS);
    rewrite("", "x");
    assert_in_range(mended_ms(), 1000, 1500);
}

/* They count from when it became right, not from what was seen of it last. */
static void test_eight_seconds_of_the_bundle(void **state) {
    (void)state;
    begin();
    rewrite("", "x");
    (void)mended_ms();
    pass(7000);
    stored_touch(&stored); /* something else in the object */
    tell_all();
    pass(2000);
    rewrite("", "x");
    assert_in_range(mended_ms(), 0, 500);
}

/* What is wrong already has no other writer to blame, and a conflict makes nothing quicker. */
static void test_one_that_is_wrong_meanwhile(void **state) {
    (void)state;
    begin();
    end(&replicas[1]);
    rewrite("", "x");
    stored_touch(&stored);
    tell_all();
    assert_true(metric_now(SERIES("ca_bundle_foreign_writes_total")) == 1);
    (void)mended_ms();
    rewrite("", "x");
    fake_pass(&replicas[0].client, 1500); /* answered after a second */
    assert_non_null(replicas[0].client.request);
    stored_touch(&stored); /* before our write arrives */
    stored_serve(&stored, &replicas[0].client);
    assert_int_equal(stored.conflicts, 1);
    tell_all();
    fake_pass(&replicas[0].client, 999);
    assert_null(replicas[0].client.request);
    fake_pass(&replicas[0].client, 501);
    assert_non_null(replicas[0].client.request);
    stored_serve(&stored, &replicas[0].client);
    assert_true(is_right());
}

static void test_an_empty_bundle(void **state) {
    (void)state;
    stored_list(&stored, &replicas[0].sink);
    ca_bundle_controller_trust(replicas[0].controller, STR(""), strbuf_str(&leaf.certificate));
    pass(10000);
    assert_int_equal(stored.writes, 0);
    trust(&replicas[0], &ca);
    pass(500);
    assert_true(is_right());
}

static void test_another_writer_in_between(void **state) {
    (void)state;
    begin();
    rewrite("", "x");
    fake_pass(&replicas[0].client, 500);
    assert_non_null(replicas[0].client.request);
    stored_touch(&stored); /* before our write arrives */
    stored_serve(&stored, &replicas[0].client);
    assert_int_equal(stored.conflicts, 1);
    assert_false(is_right());
    tell_all();
    pass(500);
    assert_true(is_right());
    assert_int_equal(stored.writes, 2);
}

/* Nothing is written on top of a version that is known to be old, and the fresh one is mended as
 * soon as any other. */
static void test_after_a_conflict(void **state) {
    (void)state;
    begin();
    end(&replicas[1]);
    rewrite("", "x");
    fake_pass(&replicas[0].client, 500);
    stored_touch(&stored); /* before our write arrives */
    stored_serve(&stored, &replicas[0].client);
    assert_int_equal(stored.conflicts, 1);
    fake_pass(&replicas[0].client, 600000);
    assert_null(replicas[0].client.request);
    stored_tell(&stored, &replicas[0].sink);
    fake_pass(&replicas[0].client, 500);
    stored_touch(&stored);
    stored_serve(&stored, &replicas[0].client); /* the next conflict */
    stored_tell(&stored, &replicas[0].sink);    /* at once */
    fake_pass(&replicas[0].client, 500);
    stored_serve(&stored, &replicas[0].client);
    assert_true(is_right());
}

static void test_what_cannot_be_written_is_tried_again(void **state) {
    (void)state;
    begin();
    stored.refuse = 403;
    rewrite("", "x");
    fake_expect_event(&events_client, "CABundleRewritten", "somebody removed the caBundle");
    pass(60000);
    fake_expect_event(&events_client, "CABundleNotRepaired",
                      "the caBundle is wrong and could not be repaired: ");
    assert_false(is_right());
    assert_in_range(metric_now(ERRORS), 5, 7);
    stored.refuse = 0;
    pass(60500);
    assert_true(is_right());
    assert_int_equal(stored.writes, 2);
}

static void test_a_new_authority(void **state) {
    (void)state;
    begin();
    rewrite("", "x"); /* he would wait for a while if it were him again */
    pass(500);
    rewrite("", "x");
    pass(2000);
    assert_true(is_right());
    struct issued both = {0};
    strbuf_append_str(&both.certificate, strbuf_str(&other_ca.certificate));
    strbuf_append_str(&both.certificate, strbuf_str(&ca.certificate));
    unsigned writes = stored.writes;
    trust(&replicas[0], &both);
    trust(&replicas[1], &both);
    pass(500);
    assert_false(is_right());
    assert_int_equal(stored.writes, writes + 1);
    assert_true(metric_now(SERIES("ca_bundle_foreign_writes_total")) == 2);
    assert_true(metric_now(SERIES("webhook_configuration_right")) == 1);
    issued_done(&both);
}

/* Fault 17. */
static void test_a_deleted_one_is_not_made_anew(void **state) {
    (void)state;
    begin();
    char *kept = cJSON_PrintUnformatted(stored.object);
    stored_set(&stored, NULL);
    tell_all();
    fake_expect_event(&events_client, "WebhookConfigurationMissing", "apply it again");
    assert_true(metric_now(SERIES("webhook_configuration_right")) == 0);
    pass(600000);
    assert_int_equal(stored.writes, 1);
    stored_set(&stored, kept);
    cJSON *webhooks = cJSON_GetObjectItemCaseSensitive(stored.object, "webhooks");
    cJSON *client =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(webhooks, 0), "clientConfig");
    cJSON_DeleteItemFromObjectCaseSensitive(client, "caBundle");
    tell_all();
    pass(500);
    assert_true(is_right());
    assert_int_equal(stored.writes, 2);
    cJSON_free(kept);
}

static void test_one_that_is_not_there(void **state) {
    (void)state;
    stored_set(&stored, NULL);
    stored_list(&stored, &replicas[0].sink);
    trust(&replicas[0], &ca);
    fake_expect_event(&events_client, "WebhookConfigurationMissing",
                      "the configuration is missing");
    stored_list(&stored, &replicas[0].sink); /* said once */
    fake_run(&events_client);
    assert_null(events_client.request);
}

static void test_one_that_calls_somebody_else(void **state) {
    (void)state;
    stored_set(&stored, "{\"metadata\":{},\"webhooks\":[{\"name\":\"b\",\"clientConfig\":{\"url\":"
                        "\"https://elsewhere/\"}}]}");
    stored_list(&stored, &replicas[0].sink);
    trust(&replicas[0], &ca);
    pass(10000);
    assert_int_equal(stored.writes, 0);
    assert_true(metric_now(SERIES("webhook_configuration_right")) == 0);
}

static void test_the_end(void **state) {
    (void)state;
    begin();
    rewrite("", "x");
    fake_pass(&replicas[0].client, 500);
    assert_non_null(replicas[0].client.request);
    for (int i = 0; i < REPLICAS; i++) {
        end(&replicas[i]);
        fake_done(&replicas[i].client);
    }
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_an_empty_one_is_filled),
        TEST(test_one_that_validates),
        TEST(test_one_of_several_replicas_writes),
        TEST(test_who_did_it_is_said),
        TEST(test_a_writer_every_ten_seconds),
        TEST(test_no_fight),
        TEST(test_another_writer_in_between),
        TEST(test_eight_seconds),
        TEST(test_eight_seconds_of_the_bundle),
        TEST(test_one_that_is_wrong_meanwhile),
        TEST(test_an_empty_bundle),
        TEST(test_after_a_conflict),
        TEST(test_what_cannot_be_written_is_tried_again),
        TEST(test_a_new_authority),
        TEST(test_a_deleted_one_is_not_made_anew),
        TEST(test_one_that_is_not_there),
        TEST(test_one_that_calls_somebody_else),
        TEST(test_the_end),
    };
    return cmocka_run_group_tests_name("ca_bundle_controller", tests, make_certificates,
                                       free_certificates);
}
