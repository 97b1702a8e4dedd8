/* The webhook's certificate in a Secret, with replicas whose client is the test itself. */
#include "controllers/serving_certificate.h"

#include "base/base64.h"
#include "base/log.h"
#include "base/metrics.h"
#include "certs/bundle.h"
#include "certs/inspect.h"
#include "unit/certs/issued.h"
#include "unit/controllers/stored.h"
#include "unit/http/fixture.h"
#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATH "/api/v1/namespaces/ns/secrets"

static const struct str hosts[] = {{"evenkeel.ns.svc", 15}};

struct replica {
    struct kube_client client;
    struct writer *writer;
    struct certificate_controller *controller;
    struct reflector_sink sink;
    struct strbuf bundle, certificate, key; /* as handed over */
    unsigned bundles, pairs;
};

static struct stored secret, client_secret;
static struct certificate_controller *client; /* of kube-scheduler's certificate, beside `a` */
static struct replica a, b;
static struct kube_client events_client;
static struct event_recorder *recorder;

static void put(struct strbuf *to, struct str text) {
    strbuf_clear(to);
    strbuf_append_str(to, text);
}

static void on_bundle(void *ctx, struct str bundle, struct str certificate) {
    struct replica *r = ctx;
    (void)certificate;
    put(&r->bundle, bundle);
    r->bundles++;
}

static void on_pair(void *ctx, struct str certificate, struct str key) {
    struct replica *r = ctx;
    put(&r->certificate, certificate);
    put(&r->key, key);
    r->pairs++;
}

static bool keeps; /* options.keep_authority of the next */

static void start(struct replica *r, bool self_signed) {
    struct err err;
    *r = (struct replica){.pairs = 0};
    fake_init(&r->client);
    r->writer = fake_writer(&r->client);
    const struct certificate_controller_options options = {.names = &certificate_of_webhook,
                                                           .client = &r->client,
                                                           .writer = r->writer,
                                                           .clock = &r->client.clock.clock,
                                                           .io = &fake_io,
                                                           .events = recorder,
                                                           .namespace = "ns",
                                                           .name = "tls",
                                                           .self_signed = self_signed,
                                                           .keep_authority = keeps,
                                                           .hosts = hosts,
                                                           .host_count = self_signed,
                                                           .on_bundle = on_bundle,
                                                           .on_pair = on_pair,
                                                           .ctx = r};
    check_ok(certificate_controller_new(&options, &r->controller, &err), &err);
    r->sink = certificate_controller_sink(r->controller);
    log_use_clock(&r->client.clock.clock);
}

static void end(struct replica *r) {
    certificate_controller_free(r->controller);
    writer_free(r->writer);
    strbuf_done(&r->bundle);
    strbuf_done(&r->certificate);
    key_done(&r->key);
    *r = (struct replica){.pairs = 0};
}

static int set_up(void **state) {
    (void)state;
    fake_init(&events_client);
    const struct event_options events = {.client = &events_client,
                                         .clock = &events_client.clock.clock,
                                         .instance = "me",
                                         .io = &fake_io};
    return event_recorder_new(&events, &recorder, NULL);
}

static int tear_down(void **state) {
    (void)state;
    keeps = false;
    certificate_controller_free(client);
    client = NULL;
    stored_done(&client_secret);
    end(&a);
    end(&b);
    stored_done(&secret);
    event_recorder_free(recorder);
    metrics_reset();
    return 0;
}

static void expect_no_event(void) {
    fake_run(&events_client);
    assert_null(events_client.request);
}

static double metric(const char *result) {
    char series[96];
    (void)snprintf(series, sizeof series,
                   "evenkeel_certificate_writes_total{certificate=\"webhook\",result=\"%s\"}",
                   result); /* fits */
    return metric_now(series);
}

/* What a Secret has at a path, decoded; static, until the fourth call after. */
static struct str data_of(const struct stored *s, const char *key) {
    static struct strbuf texts[4];
    static unsigned next;
    struct arena arena;
    struct str decoded = {0};
    char path[64];
    (void)snprintf(path, sizeof path, "data/%s", key);
    arena_init(&arena, 1 << 20);
    assert_true(base64_decode(str_of(stored_text(s, path)), &arena, &decoded));
    struct strbuf *text = &texts[next++ % 4];
    put(text, decoded);
    arena_done(&arena);
    return strbuf_str(text);
}

static struct str data(const char *key) {
    return data_of(&secret, key);
}

static bool is_trusted(struct str certificate, struct str bundle) {
    const struct certificate_trust trust = {
        .chain_pem = certificate, .ca_pem = bundle, .at_any_time = true};
    return certificate_verify(&trust, NULL, NULL) == 0;
}

static int64_t seconds(void) {
    return fake_io.wall_us() / 1000000;
}

/* The Secret as somebody else fills it, with an authority of 3650 days. */
static void fill_keyed(int days, const char *annotations, bool with_key) {
    struct authority *authority = new_authority("somebody", 3650, seconds());
    struct issued ca = save(authority);
    struct issued leaf = issue_server(authority, days, seconds(), "evenkeel.ns.svc", NULL, NULL);
    struct strbuf json = {0};
    strbuf_appendf(&json,
                   "{\"metadata\":{\"uid\":\"u\",\"annotations\":{%s}},\"data\":{\"ca.crt\":\"",
                   annotations);
    base64_append(&json, strbuf_str(&ca.certificate));
    strbuf_appendf(&json, "\",\"tls.crt\":\"");
    base64_append(&json, strbuf_str(&leaf.certificate));
    strbuf_appendf(&json, "\",\"tls.key\":\"");
    base64_append(&json, strbuf_str(&leaf.key));
    strbuf_appendf(&json, "\",\"ca.key\":\"");
    base64_append(&json, with_key ? strbuf_str(&ca.key) : STR(""));
    strbuf_appendf(&json, "\"}}");
    strbuf_append_char(&json, '\0');
    stored_set(&secret, json.p);
    strbuf_done(&json);
    issued_done(&ca);
    issued_done(&leaf);
    authority_free(authority);
}

static void fill(int days, const char *annotations) {
    fill_keyed(days, annotations, false);
}

/* Made and handed over. */
static void begin(struct replica *r) {
    start(r, true);
    stored_list(&secret, &r->sink);
    stored_serve(&secret, &r->client);
    stored_tell(&secret, &r->sink);
    assert_int_equal(r->pairs, 1);
}

/* ---- tests ---- */

static void test_the_first(void **state) {
    (void)state;
    start(&a, true);
    fake_run(&a.client);
    assert_null(a.client.request); /* nothing is known yet */
    stored_list(&secret, &a.sink);
    assert_non_null(a.client.request);
    assert_string_equal(a.client.request->method, "POST");
    assert_string_equal(a.client.request->path, PATH "?fieldManager=evenkeel");
    stored_serve(&secret, &a.client);
    assert_int_equal(a.pairs, 0); /* only what the watch says counts */
    fake_expect_event(&events_client, "CertificateIssued", "there is no authority yet");
    stored_tell(&secret, &a.sink);
    assert_int_equal(a.pairs, 1);
    assert_true(str_eq(strbuf_str(&a.certificate), data("tls.crt")));
    assert_true(str_eq(strbuf_str(&a.key), data("tls.key")));
    assert_true(str_eq(strbuf_str(&a.bundle), data("ca.crt")));
    assert_true(is_trusted(data("tls.crt"), data("ca.crt")));
    assert_string_equal(stored_text(&secret, "type"), "kubernetes.io/tls");
    fake_pass(&a.client, 3600000);
    assert_null(a.client.request);
    assert_int_equal(a.pairs, 1);
    assert_true(metric("success") == 1);
    expect_no_event();
}

static void test_replicas_that_start_together(void **state) {
    (void)state;
    start(&a, true);
    start(&b, true);
    stored_list(&secret, &a.sink);
    stored_list(&secret, &b.sink);
    stored_serve(&secret, &b.client);
    stored_serve(&secret, &a.client);
    assert_int_equal(secret.writes, 1);
    assert_int_equal(secret.conflicts, 1);
    stored_tell(&secret, &a.sink);
    stored_tell(&secret, &b.sink);
    fake_pass(&a.client, 120000);
    fake_pass(&b.client, 120000);
    assert_null(a.client.request);
    assert_null(b.client.request);
    assert_int_equal(a.pairs, 1);
    assert_int_equal(b.pairs, 1);
    assert_true(str_eq(strbuf_str(&a.key), strbuf_str(&b.key)));
}

static void test_renewed_by_one_of_them(void **state) {
    (void)state;
    begin(&a);
    start(&b, true);
    stored_list(&secret, &b.sink);
    assert_int_equal(b.pairs, 1);
    assert_null(b.client.request);
    fake_pass(&a.client, 60000);
    fake_jump(60 * DAY);
    fake_pass(&a.client, 10000);
    fake_pass(&b.client, 10000);
    assert_string_equal(a.client.request->method, "PATCH");
    assert_string_equal(a.client.request->path, PATH "/tls?fieldManager=evenkeel");
    assert_string_equal(a.client.request->content_type, "application/merge-patch+json");
    stored_serve(&secret, &a.client);
    stored_serve(&secret, &b.client);
    assert_int_equal(secret.writes, 2);
    assert_int_equal(secret.conflicts, 1);
    stored_tell(&secret, &b.sink);
    stored_tell(&secret, &a.sink);
    assert_int_equal(a.pairs, 2); /* at once: the authority is the same */
    assert_int_equal(b.pairs, 2);
    assert_true(str_eq(strbuf_str(&a.certificate), strbuf_str(&b.certificate)));
    fake_pass(&b.client, 120000);
    assert_null(b.client.request);
}

static void test_clocks_that_jump(void **state) {
    (void)state;
    begin(&a);
    fake_expect_event(&events_client, "CertificateIssued", "there is no authority yet");
    fake_jump(365 * DAY);
    fake_pass(&a.client, 59999);
    assert_null(a.client.request); /* a minute between writes, whatever happens */
    fake_pass(&a.client, 1);
    stored_serve(&secret, &a.client);
    fake_expect_event(&events_client, "CertificateIssued", "the certificate has expired");
    stored_tell(&secret, &a.sink);
    assert_int_equal(a.pairs, 2);
    fake_jump(-365 * DAY);
    fake_pass(&a.client, 60000);
    stored_serve(&secret, &a.client);
    fake_expect_event(&events_client, "CertificateIssued", "the certificate is not valid yet");
    stored_tell(&secret, &a.sink);
    assert_int_equal(a.pairs, 3);
    assert_true(is_trusted(strbuf_str(&a.certificate), strbuf_str(&a.bundle)));
}

/* The wall clock of `a` is a year ahead or behind, that of the API server and of `b` is not: nobody
 * writes, and when it is time both mean the same. */
static void test_a_wrong_clock(void **state) {
    (void)state;
    const int64_t ahead_days[] = {365, -365, 20 * 365, -20 * 365};
    begin(&a);
    start(&b, true);
    stored_list(&secret, &b.sink);
    fake_expect_event(&events_client, "CertificateIssued", "there is no authority yet");
    fake_pass(&a.client, 60000);
    for (size_t i = 0; i < sizeof ahead_days / sizeof ahead_days[0]; i++) {
        fake_jump(ahead_days[i] * DAY);
        a.client.server_ahead_us = b.client.server_ahead_us = -ahead_days[i] * DAY * 1000000;
        fake_pass(&a.client, 120000);
        assert_null(a.client.request);
        fake_jump(-ahead_days[i] * DAY);
        a.client.server_ahead_us = b.client.server_ahead_us = 0;
    }
    expect_no_event();
    a.client.server_ahead_us = b.client.server_ahead_us = 365 * DAY * 1000000;
    fake_pass(&a.client, 10000);
    stored_serve(&secret, &a.client);
    fake_expect_event(&events_client, "CertificateIssued", "the certificate has expired");
    stored_tell(&secret, &a.sink);
    stored_tell(&secret, &b.sink);
    fake_pass(&b.client, 120000);
    assert_null(b.client.request);
    assert_int_equal(secret.writes, 2);
}

static void test_one_that_is_about_to_expire(void **state) {
    (void)state;
    fill(1, "\"evenkeel.io/certificates\":\"self-signed\"");
    start(&a, true);
    stored_list(&secret, &a.sink);
    assert_int_equal(a.pairs, 1);
    assert_string_equal(a.client.request->method, "PATCH"); /* no key of the authority */
    stored_serve(&secret, &a.client);
    stored_tell(&secret, &a.sink);
    assert_true(is_trusted(strbuf_str(&a.certificate), strbuf_str(&a.bundle)));
    fake_jump(DAY - 60);
    fake_pass(&a.client, 60000);
    stored_serve(&secret, &a.client);
    stored_tell(&secret, &a.sink);
    struct str leaf = data("tls.crt");
    const struct certificate_trust trust = {
        .chain_pem = leaf, .ca_pem = strbuf_str(&a.bundle), .at_s = seconds() + 30 * DAY};
    assert_int_equal(certificate_verify(&trust, NULL, NULL), 0);
}

/* Everybody else's API server has seen the bundle before the first leaf of the new authority. */
static void test_another_authority_is_shown_later(void **state) {
    (void)state;
    begin(&a);
    struct strbuf before = {0};
    put(&before, strbuf_str(&a.certificate));
    stored_set(&secret, NULL);
    stored_tell(&secret, &a.sink);
    assert_null(a.client.request); /* a minute has not passed */
    assert_int_equal(a.pairs, 1);
    fake_pass(&a.client, 60000);
    assert_string_equal(a.client.request->method, "POST");
    stored_serve(&secret, &a.client);
    stored_tell(&secret, &a.sink);
    assert_int_equal(a.bundles, 2);
    assert_true(is_trusted(strbuf_str(&before), strbuf_str(&a.bundle))); /* both */
    assert_true(is_trusted(data("tls.crt"), strbuf_str(&a.bundle)));
    assert_false(str_eq(data("tls.crt"), strbuf_str(&before)));
    fake_pass(&a.client, 4999);
    assert_int_equal(a.pairs, 1);
    fake_pass(&a.client, 1);
    assert_int_equal(a.pairs, 2);
    assert_true(str_eq(data("tls.crt"), strbuf_str(&a.certificate)));
    strbuf_done(&before);
}

static void test_what_is_not_ours_is_served_and_not_written(void **state) {
    (void)state;
    fill(90, "");
    start(&a, true);
    stored_list(&secret, &a.sink);
    assert_int_equal(a.pairs, 1);
    fake_expect_event(&events_client, "CertificateNotOurs", "webhook.certificates.mode Secret");
    fake_jump(80 * DAY);
    fake_pass(&a.client, 10000);
    fake_expect_event(&events_client, "CertificateExpires", "expires in 239 hours");
    fake_pass(&a.client, 600000);
    expect_no_event();
    fake_jump(80 * DAY);
    fake_pass(&a.client, 600000);
    fake_expect_event(&events_client, "CertificateExpires", "has expired");
    fake_pass(&a.client, 600000);
    assert_null(a.client.request);
    expect_no_event();
    stored_set(&secret, "{\"metadata\":{\"uid\":\"u\"},\"data\":{}}"); /* emptied: ours to fill */
    stored_tell(&secret, &a.sink);
    assert_string_equal(a.client.request->method, "PATCH");
}

static void test_filled_by_others(void **state) {
    (void)state;
    start(&a, false);
    stored_list(&secret, &a.sink);
    fake_pass(&a.client, 60000);
    assert_null(a.client.request);
    assert_int_equal(a.pairs, 0);
    fill(90, "");
    stored_tell(&secret, &a.sink);
    assert_int_equal(a.pairs, 1);
    assert_true(str_eq(strbuf_str(&a.bundle), data("ca.crt")));
    stored_touch(&secret); /* nothing of interest */
    stored_tell(&secret, &a.sink);
    assert_int_equal(a.pairs, 1);
    fake_jump(90 * DAY);
    fake_pass(&a.client, 10000);
    fake_expect_event(&events_client, "CertificateExpires", "has expired");
    fill(90, "");
    stored_tell(&secret, &a.sink);
    fake_pass(&a.client, 5000);
    assert_int_equal(a.pairs, 2);
    stored_set(&secret, NULL);
    stored_tell(&secret, &a.sink);
    fake_pass(&a.client, 60000);
    assert_null(a.client.request);
    assert_int_equal(a.pairs, 2);
    expect_no_event();
}

static unsigned count(const char *text, const char *words) {
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, words)) != NULL; at++)
        n++;
    return n;
}

/* Cert-manager and others make the Secret first and fill it later: what is waited for is logged. */
static void test_one_that_others_have_not_filled(void **state) {
    (void)state;
    char text[2000] = "";
    int log = memfd_create("log", MFD_CLOEXEC);
    assert_true(log >= 0);
    log_setup(LOG_WARN, LOG_LOGFMT, log);
    start(&a, false);
    stored_set(&secret, "{\"metadata\":{\"uid\":\"u\"},\"data\":{}}");
    stored_list(&secret, &a.sink);
    fake_pass(&a.client, 600000); /* is no reason to say it again */
    assert_true(pread(log, text, sizeof text - 1, 0) >= 0);
    assert_int_equal(count(text, "tls.crt"), 1);
    assert_int_equal(count(text, "secret=tls"), 1);
    fill(90, "");
    stored_tell(&secret, &a.sink);
    assert_int_equal(a.pairs, 1);
    stored_set(&secret, "{\"metadata\":{\"uid\":\"u\"},\"data\":{}}");
    stored_tell(&secret, &a.sink);
    assert_true(pread(log, text, sizeof text - 1, 0) >= 0);
    assert_int_equal(count(text, "tls.crt"), 2);
    log_setup(LOG_WARN, LOG_LOGFMT, STDERR_FILENO);
    (void)close(log);
}

static void test_one_that_is_not_there(void **state) {
    (void)state;
    char text[2000] = "";
    int log = memfd_create("log", MFD_CLOEXEC);
    assert_true(log >= 0);
    log_setup(LOG_WARN, LOG_LOGFMT, log);
    start(&a, false);
    stored_list(&secret, &a.sink);
    fake_pass(&a.client, 600000);
    stored_list(&secret, &a.sink);
    fake_pass(&a.client, 600000);
    assert_true(pread(log, text, sizeof text - 1, 0) >= 0);
    assert_int_equal(count(text, "is not there yet"), 1);
    log_setup(LOG_WARN, LOG_LOGFMT, STDERR_FILENO);
    (void)close(log);
}

static void test_what_cannot_be_written_is_tried_again(void **state) {
    (void)state;
    start(&a, true);
    secret.refuse = 403;
    stored_list(&secret, &a.sink);
    int64_t waits[] = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000};
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        stored_serve(&secret, &a.client);
        fake_pass(&a.client, waits[i] - 1);
        assert_null(a.client.request);
        fake_pass(&a.client, 1);
        assert_non_null(a.client.request);
    }
    fake_fail(&a.client, -ECONNREFUSED);
    assert_true(metric("error") == 9);
    secret.refuse = 0;
    fake_pass(&a.client, 60000);
    stored_serve(&secret, &a.client);
    stored_tell(&secret, &a.sink);
    assert_int_equal(a.pairs, 1);
    assert_true(metric("success") == 1);
}

static void test_a_listing_without_it(void **state) {
    (void)state;
    begin(&a);
    fake_pass(&a.client, 60000);
    stored_set(&secret, NULL);
    stored_list(&secret, &a.sink);
    assert_string_equal(a.client.request->method, "POST");
    stored_serve(&secret, &a.client);
    stored_list(&secret, &a.sink);
    fake_pass(&a.client, 5000);
    assert_int_equal(a.pairs, 2);
}

/* ---- the extender's ---- */

static void begin_keeping(struct replica *r) {
    keeps = true;
    begin(r);
    fake_expect_event(&events_client, "CertificateIssued", "there is no authority yet");
    fake_pass(&r->client, 60000);
}

/* Of a client that goes on trusting the bundle that it has read at its start. */
static void expect_same_authority(struct str read_at_start) {
    stored_serve(&secret, &a.client);
    stored_tell(&secret, &a.sink);
    assert_true(str_eq(data("ca.crt"), read_at_start));
    assert_true(is_trusted(strbuf_str(&a.certificate), read_at_start));
    assert_true(data("ca.key").n > 0);
    fake_pass(&a.client, 120000);
    assert_null(a.client.request); /* and that is good */
}

static void test_an_authority_outlives_its_secret(void **state) {
    (void)state;
    struct strbuf read_at_start = {0};
    begin_keeping(&a);
    put(&read_at_start, data("ca.crt"));
    stored_set(&secret, NULL);
    stored_tell(&secret, &a.sink);
    assert_string_equal(a.client.request->method, "POST");
    expect_same_authority(strbuf_str(&read_at_start));
    assert_int_equal(a.pairs, 2);
    strbuf_done(&read_at_start);
}

static void break_member(const char *name, const char *base64) {
    cJSON *members = cJSON_GetObjectItemCaseSensitive(secret.object, "data");
    assert_non_null(members);
    cJSON_DeleteItemFromObjectCaseSensitive(members, name);
    assert_non_null(cJSON_AddStringToObject(members, name, base64));
    stored_touch(&secret);
    stored_tell(&secret, &a.sink);
}

static void test_an_authority_that_somebody_has_broken(void **state) {
    (void)state;
    struct strbuf read_at_start = {0};
    begin_keeping(&a);
    put(&read_at_start, data("ca.crt"));
    break_member("ca.crt", "bm8gUEVN");
    expect_same_authority(strbuf_str(&read_at_start));
    fake_expect_event(&events_client, "CertificateIssued", "missing or broken");
    break_member("tls.key", "bm8gUEVN");
    expect_same_authority(strbuf_str(&read_at_start));
    strbuf_done(&read_at_start);
}

/* To the second: 14 days before the end it is told once, and at the end once more. */
static void test_the_end_of_what_others_renew(void **state) {
    (void)state;
    fill(15, "");
    start(&a, false);
    stored_list(&secret, &a.sink);
    const struct {
        int64_t later_s;
        const char *note;
    } looks[] = {{DAY, NULL},
                 {1, "expires in 335 hours"},
                 {14 * DAY - 2, NULL},
                 {1, "has expired"},
                 {DAY, NULL}};
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        fake_jump(looks[i].later_s);
        stored_touch(&secret);
        stored_tell(&secret, &a.sink);
        if (looks[i].note == NULL)
            expect_no_event();
        else
            fake_expect_event(&events_client, "CertificateExpires", looks[i].note);
    }
}

static void test_a_certificate_without_its_key(void **state) {
    (void)state;
    start(&a, false);
    stored_list(&secret, &a.sink);
    fill(90, "");
    break_member("tls.key", "");
    fake_pass(&a.client, 60000);
    assert_int_equal(a.pairs, 0);
}

/* The pair waits until API servers have learned of its authority; then it is not there any more. */
static void test_a_pair_that_is_gone_before_its_turn(void **state) {
    (void)state;
    fill(90, "");
    start(&a, false);
    stored_list(&secret, &a.sink);
    assert_int_equal(a.pairs, 1);
    fill(90, ""); /* of another authority */
    stored_tell(&secret, &a.sink);
    assert_int_equal(a.pairs, 1);
    stored_set(&secret, NULL);
    stored_tell(&secret, &a.sink);
    fake_pass(&a.client, 60000);
    assert_int_equal(a.pairs, 1);
}

static void put_somebodys(struct strbuf *base64) {
    struct authority *authority = new_authority("somebody", 3650, seconds());
    struct issued ca = save(authority);
    base64_append(base64, strbuf_str(&ca.certificate));
    strbuf_append_char(base64, '\0');
    assert_non_null(base64->p);
    issued_done(&ca);
    authority_free(authority);
}

/* A good one, but not the key's: nobody is told of it. */
static void test_another_certificate_in_place_of_the_authoritys(void **state) {
    (void)state;
    struct strbuf read_at_start = {0}, pasted = {0};
    begin_keeping(&a);
    put(&read_at_start, data("ca.crt"));
    put_somebodys(&pasted);
    break_member("ca.crt", pasted.p);
    assert_int_equal(a.bundles, 1);
    expect_same_authority(strbuf_str(&read_at_start));
    assert_true(str_eq(strbuf_str(&a.bundle), strbuf_str(&read_at_start)));
    fake_expect_event(&events_client, "CertificateIssued", "missing or broken");
    /* and where the Secret goes before it is mended */
    secret.refuse = 403;
    break_member("ca.crt", pasted.p);
    stored_serve(&secret, &a.client);
    stored_set(&secret, NULL);
    secret.refuse = 0;
    stored_tell(&secret, &a.sink);
    fake_pass(&a.client, 60000);
    expect_same_authority(strbuf_str(&read_at_start));
    strbuf_done(&pasted);
    strbuf_done(&read_at_start);
}

/* Certificate and key of another one: that is wanted, and the kept one is not put back. */
static void test_another_authority_with_its_key(void **state) {
    (void)state;
    struct authority *authority = new_authority("somebody", 3650, seconds());
    struct issued ca = save(authority);
    struct strbuf certificate = {0}, key = {0};
    begin_keeping(&a);
    base64_append(&certificate, strbuf_str(&ca.certificate));
    base64_append(&key, strbuf_str(&ca.key));
    strbuf_append_char(&certificate, '\0');
    strbuf_append_char(&key, '\0');
    cJSON *members = cJSON_GetObjectItemCaseSensitive(secret.object, "data");
    cJSON_DeleteItemFromObjectCaseSensitive(members, "ca.key");
    assert_non_null(cJSON_AddStringToObject(members, "ca.key", key.p));
    break_member("ca.crt", certificate.p);
    assert_true(str_eq(strbuf_str(&a.bundle), strbuf_str(&ca.certificate)));
    stored_serve(&secret, &a.client); /* a leaf of it */
    stored_tell(&secret, &a.sink);
    assert_true(is_trusted(data("tls.crt"), strbuf_str(&ca.certificate)));
    strbuf_done(&certificate);
    key_done(&key);
    issued_done(&ca);
    authority_free(authority);
}

/* The kept authority's key is gone, too: a new authority, of which the bundle is told at once. */
static void test_a_certificate_and_a_key_of_two_others(void **state) {
    (void)state;
    struct strbuf kept_key = {0}, certificate = {0}, key = {0};
    struct authority *authority = new_authority("somebody", 3650, seconds());
    struct issued ca = save(authority);
    begin_keeping(&a);
    put(&kept_key, data("ca.key"));
    put_somebodys(&certificate);
    base64_append(&key, strbuf_str(&ca.key));
    strbuf_append_char(&key, '\0');
    cJSON *members = cJSON_GetObjectItemCaseSensitive(secret.object, "data");
    cJSON_DeleteItemFromObjectCaseSensitive(members, "ca.key");
    assert_non_null(cJSON_AddStringToObject(members, "ca.key", key.p));
    break_member("ca.crt", certificate.p);
    assert_int_equal(a.bundles, 2);
    stored_serve(&secret, &a.client);
    stored_tell(&secret, &a.sink);
    assert_false(str_eq(data("ca.key"), strbuf_str(&kept_key)));
    assert_false(str_eq(data("ca.key"), strbuf_str(&ca.key)));
    assert_true(is_trusted(data("tls.crt"), data("ca.crt")));
    strbuf_done(&certificate);
    key_done(&kept_key);
    key_done(&key);
    issued_done(&ca);
    authority_free(authority);
}

/* Others' authority, key and all, signs nothing: with the Secret it is gone. */
static void test_an_authority_of_others_is_not_kept(void **state) {
    (void)state;
    struct strbuf theirs = {0};
    keeps = true;
    fill_keyed(90, "", true);
    put(&theirs, data("ca.key"));
    start(&a, true);
    stored_list(&secret, &a.sink);
    assert_int_equal(a.pairs, 1);
    stored_set(&secret, NULL);
    stored_tell(&secret, &a.sink);
    assert_string_equal(a.client.request->method, "POST");
    stored_serve(&secret, &a.client);
    stored_tell(&secret, &a.sink);
    assert_true(data("ca.key").n > 0);
    assert_false(str_eq(data("ca.key"), strbuf_str(&theirs)));
    key_done(&theirs);
}

/* kube-scheduler has read an authority before: it must be started again only where there was one.
 */
static void test_a_new_authority_in_place_of_another_is_logged(void **state) {
    (void)state;
    static const char words[] = "so start it again with the new ca.crt";
    char text[4000] = "";
    int log = memfd_create("log", MFD_CLOEXEC);
    assert_true(log >= 0);
    log_setup(LOG_WARN, LOG_LOGFMT, log);
    begin_keeping(&a);
    assert_true(pread(log, text, sizeof text - 1, 0) >= 0);
    assert_int_equal(count(text, words), 0);
    break_member("ca.key", "");
    stored_serve(&secret, &a.client);
    assert_true(pread(log, text, sizeof text - 1, 0) >= 0);
    assert_int_equal(count(text, words), 1);
    log_setup(LOG_WARN, LOG_LOGFMT, STDERR_FILENO);
    (void)close(log);
}

/* That is how a person asks for another one. The leaf stays until its time. */
static void test_an_emptied_key_makes_a_new_authority(void **state) {
    (void)state;
    begin_keeping(&a);
    struct strbuf before = {0}, leaf = {0};
    put(&before, data("ca.crt"));
    put(&leaf, data("tls.crt"));
    break_member("ca.key", "");
    stored_serve(&secret, &a.client);
    stored_tell(&secret, &a.sink);
    assert_false(str_eq(data("ca.crt"), strbuf_str(&before)));
    assert_true(str_eq(data("tls.crt"), strbuf_str(&leaf)));
    assert_true(is_trusted(strbuf_str(&leaf), data("ca.crt")));
    strbuf_done(&before);
    strbuf_done(&leaf);
}

/* ---- its client's ---- */

static struct reflector_sink start_client(const char *name) {
    struct err err;
    const struct certificate_controller_options options = {.names = &certificate_of_client,
                                                           .client = &a.client,
                                                           .writer = a.writer,
                                                           .clock = &a.client.clock.clock,
                                                           .io = &fake_io,
                                                           .events = recorder,
                                                           .namespace = "ns",
                                                           .name = "client",
                                                           .self_signed = true,
                                                           .signer = a.controller,
                                                           .common_name = str_of(name),
                                                           .days = 90};
    check_ok(certificate_controller_new(&options, &client, &err), &err);
    return certificate_controller_sink(client);
}

static void expect_good_client(const char *name) {
    struct str leaf = data_of(&client_secret, "tls.crt");
    struct arena arena;
    struct certificate *chain;
    size_t count;
    struct err err;
    const struct certificate_trust trust = {
        .chain_pem = leaf, .ca_pem = data("ca.crt"), .of_client = true, .at_s = seconds()};
    arena_init(&arena, 1 << 20);
    check_ok(certificates_read(leaf, &arena, &chain, &count, &err), &err);
    assert_str(chain[0].common_name, name);
    check_ok(certificate_verify(&trust, NULL, &err), &err);
    assert_true(bundle_same(data_of(&client_secret, "ca.crt"), data("ca.crt")));
    assert_string_equal(stored_text(&client_secret, "data/ca.key"), "");
    arena_done(&arena);
}

static void serve_client(const struct reflector_sink *sink) {
    stored_serve(&client_secret, &a.client);
    stored_tell(&client_secret, sink);
}

static void test_a_client(void **state) {
    (void)state;
    start(&a, true);
    struct reflector_sink sink = start_client("system:kube-scheduler");
    stored_list(&client_secret, &sink);
    assert_null(a.client.request); /* nobody can sign it yet */
    stored_list(&secret, &a.sink);
    stored_serve(&secret, &a.client);
    assert_null(a.client.request); /* only what the watch says counts */
    stored_tell(&secret, &a.sink);
    certificate_controller_look(client);
    assert_string_equal(a.client.request->method, "POST");
    assert_string_equal(a.client.request->path, PATH "?fieldManager=evenkeel");
    serve_client(&sink);
    expect_good_client("system:kube-scheduler");
    assert_true(metric_now("evenkeel_certificate_writes_total{certificate=\"client\","
                           "result=\"success\"}") == 1);
    fake_pass(&a.client, 120000);
    assert_null(a.client.request);
}

static struct reflector_sink begin_client(void) {
    begin(&a);
    struct reflector_sink sink = start_client("system:kube-scheduler");
    stored_list(&client_secret, &sink);
    serve_client(&sink);
    expect_good_client("system:kube-scheduler");
    fake_pass(&a.client, 60000);
    return sink;
}

static void test_a_client_is_renewed(void **state) {
    (void)state;
    struct reflector_sink sink = begin_client();
    struct strbuf before = {0};
    put(&before, data_of(&client_secret, "tls.crt"));
    fake_jump(60 * DAY);
    fake_pass(&a.client, 10000);
    for (int i = 0; i < 2; i++) { /* the server's is as old */
        bool of_client = strstr(a.client.request->path, "/client?") != NULL;
        stored_serve(of_client ? &client_secret : &secret, &a.client);
        stored_tell(of_client ? &client_secret : &secret, of_client ? &sink : &a.sink);
        fake_pass(&a.client, 1000);
    }
    expect_good_client("system:kube-scheduler");
    assert_false(str_eq(data_of(&client_secret, "tls.crt"), strbuf_str(&before)));
    const struct certificate_trust trust = {.chain_pem = strbuf_str(&before),
                                            .ca_pem = data("ca.crt"),
                                            .of_client = true,
                                            .at_s = seconds() + 29 * DAY};
    assert_int_equal(certificate_verify(&trust, NULL, NULL), 0); /* for who has the old one */
    strbuf_done(&before);
}

static void test_a_client_that_is_deleted_or_broken(void **state) {
    (void)state;
    struct reflector_sink sink = begin_client();
    stored_set(&client_secret, NULL);
    stored_tell(&client_secret, &sink);
    assert_string_equal(a.client.request->method, "POST");
    serve_client(&sink);
    expect_good_client("system:kube-scheduler");
    fake_pass(&a.client, 60000);
    cJSON *members = cJSON_GetObjectItemCaseSensitive(client_secret.object, "data");
    cJSON_DeleteItemFromObjectCaseSensitive(members, "tls.key");
    assert_non_null(cJSON_AddStringToObject(members, "tls.key", "bm8gUEVN"));
    stored_touch(&client_secret);
    stored_tell(&client_secret, &sink);
    assert_string_equal(a.client.request->method, "PATCH");
    serve_client(&sink);
    expect_good_client("system:kube-scheduler");
}

/* A certificate that was stolen is refused by its name, and kube-scheduler gets another one. */
static void test_a_client_of_another_name(void **state) {
    (void)state;
    (void)begin_client();
    certificate_controller_free(client);
    struct reflector_sink sink = start_client("kube-scheduler-2");
    stored_list(&client_secret, &sink);
    assert_string_equal(a.client.request->method, "PATCH");
    serve_client(&sink);
    expect_good_client("kube-scheduler-2");
}

static void test_a_client_of_somebody_else(void **state) {
    (void)state;
    begin(&a);
    fake_expect_event(&events_client, "CertificateIssued", "there is no authority yet");
    struct reflector_sink sink = start_client("system:kube-scheduler");
    stored_set(&client_secret,
               "{\"metadata\":{\"uid\":\"u\"},\"data\":{\"tls.crt\":\"bm8gUEVN\"}}");
    stored_list(&client_secret, &sink);
    fake_pass(&a.client, 120000);
    assert_null(a.client.request);
    fake_expect_event(&events_client, "CertificateNotOurs",
                      "set another extender.certificates.clientSecretName");
}

/* Whoever has filled the server's Secret has not asked us to use that authority's key. */
static void expect_unsigned(bool with_key) {
    fill_keyed(90, "", with_key);
    start(&a, true);
    stored_list(&secret, &a.sink);
    fake_expect_event(&events_client, "CertificateNotOurs", "webhook.certificates.mode Secret");
    struct reflector_sink sink = start_client("system:kube-scheduler");
    stored_list(&client_secret, &sink);
    certificate_controller_look(client);
    fake_pass(&a.client, 120000);
    assert_null(a.client.request);
    fake_expect_event(&events_client, "CertificateNotOurs", "Evenkeel has no authority to sign it");
    fake_pass(&a.client, 600000);
    expect_no_event();
    stored_set(&secret, NULL);
    stored_tell(&secret, &a.sink);
    stored_serve(&secret, &a.client);
    stored_tell(&secret, &a.sink);
    certificate_controller_look(client);
    fake_pass(&a.client, 60000);
    serve_client(&sink);
    expect_good_client("system:kube-scheduler");
}

static void test_a_client_whose_signer_is_somebody_elses(void **state) {
    (void)state;
    expect_unsigned(true);
}

static void test_a_client_whose_signer_has_no_key(void **state) {
    (void)state;
    expect_unsigned(false);
}

static void test_the_end(void **state) {
    (void)state;
    start(&a, true);
    stored_list(&secret, &a.sink);
    assert_non_null(a.client.request);
    certificate_controller_free(a.controller);
    writer_free(a.writer);
    a.controller = NULL;
    a.writer = NULL;
    fake_done(&a.client);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_the_first),
        TEST(test_replicas_that_start_together),
        TEST(test_renewed_by_one_of_them),
        TEST(test_clocks_that_jump),
        TEST(test_a_wrong_clock),
        TEST(test_one_that_is_about_to_expire),
        TEST(test_another_authority_is_shown_later),
        TEST(test_what_is_not_ours_is_served_and_not_written),
        TEST(test_filled_by_others),
        TEST(test_one_that_is_not_there),
        TEST(test_another_authority_with_its_key),
        TEST(test_the_end_of_what_others_renew),
        TEST(test_a_certificate_without_its_key),
        TEST(test_a_pair_that_is_gone_before_its_turn),
        TEST(test_one_that_others_have_not_filled),
        TEST(test_what_cannot_be_written_is_tried_again),
        TEST(test_a_listing_without_it),
        TEST(test_an_authority_outlives_its_secret),
        TEST(test_an_authority_that_somebody_has_broken),
        TEST(test_another_certificate_in_place_of_the_authoritys),
        TEST(test_a_certificate_and_a_key_of_two_others),
        TEST(test_an_authority_of_others_is_not_kept),
        TEST(test_a_new_authority_in_place_of_another_is_logged),
        TEST(test_an_emptied_key_makes_a_new_authority),
        TEST(test_a_client),
        TEST(test_a_client_is_renewed),
        TEST(test_a_client_that_is_deleted_or_broken),
        TEST(test_a_client_of_another_name),
        TEST(test_a_client_of_somebody_else),
        TEST(test_a_client_whose_signer_is_somebody_elses),
        TEST(test_a_client_whose_signer_has_no_key),
        TEST(test_the_end),
    };
    return cmocka_run_group_tests_name("certificate_controller", tests, NULL, NULL);
}
