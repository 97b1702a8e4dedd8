/* TLS of a listener: what is offered, and certificates that change while it runs. */
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/http.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/http/pki.h"
#include "unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static const char reloads[] =
    "evenkeel_certificate_reload_total{listener=\"test\",result=\"success\"}";
static const char refusals[] =
    "evenkeel_certificate_reload_total{listener=\"test\",result=\"error\"}";

struct all {
    struct pki pki;
    struct served served;
    struct net_tls tls; /* of clients: trusts the CA "ca" */
    char cert[512], key[512], ca[512];
    int log[2]; /* a pipe: what the listener logs */
};

static struct clock_fake log_clock;

/* A CA "ca" and pairs "one" (serial 1), "two" (serial 2), signed by it; "live" is served. */
static struct all *prepare(void) {
    struct all *a = calloc(1, sizeof *a);
    assert_non_null(a);
    pki_init(&a->pki);
    pki_make(&a->pki, &(struct pki_wish){.name = "ca", .cn = "test CA", .ca = true});
    pki_make(&a->pki,
             &(struct pki_wish){
                 .name = "one", .issuer = "ca", .cn = "one", .for_servers = true, .serial = 1});
    pki_make(&a->pki,
             &(struct pki_wish){
                 .name = "two", .issuer = "ca", .cn = "two", .for_servers = true, .serial = 2});
    pki_copy(&a->pki, "one.pem", "live.pem");
    pki_copy(&a->pki, "one.key", "live.key");
    (void)snprintf(a->cert, sizeof a->cert, "%s", pki_path(&a->pki, "live.pem"));
    (void)snprintf(a->key, sizeof a->key, "%s", pki_path(&a->pki, "live.key"));
    (void)snprintf(a->ca, sizeof a->ca, "%s", pki_path(&a->pki, "ca.pem"));
    a->tls.ca_file = a->ca;
    served_init(&a->served);
    a->served.options.tls.cert_file = a->cert;
    a->served.options.tls.key_file = a->key;
    assert_int_equal(pipe(a->log), 0);
    log_clock.at_ms += 20000; /* a new window of the log's rate limit for every test */
    log_use_clock(&log_clock.clock);
    log_setup(LOG_INFO, LOG_LOGFMT, a->log[1]);
    return a;
}

static struct all *begin(void) {
    struct all *a = prepare();
    served_start(&a->served);
    return a;
}

static void end(struct all *a) {
    served_done(&a->served);
    pki_done(&a->pki);
    log_setup(LOG_INFO, LOG_LOGFMT, STDERR_FILENO);
    (void)close(a->log[0]);
    (void)close(a->log[1]);
    free(a);
}

/* How many lines were logged since the last call. */
static int logged(struct all *a, char *text, size_t size) {
    int lines = 0;
    log_setup(LOG_INFO, LOG_LOGFMT, a->log[1]);
    LOG_I("mark"); /* so that reading never waits */
    ssize_t n = read(a->log[0], text, size - 1);
    assert_true(n > 0);
    text[n] = '\0';
    for (ssize_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    return lines - 1;
}

static void expect_serial(struct all *a, unsigned serial) {
    struct net net;
    struct net_answer answer = {0};
    assert_true(net_open_tls(&net, served_address(&a->served), &a->tls));
    assert_int_equal(net_serial(&net), serial);
    assert_true(net_post(&net, "/echo", 3, &answer));
    assert_int_equal(answer.status, 200);
    net_answer_done(&answer);
    net_close(&net);
}

static void test_versions_and_ciphers(void **state) {
    (void)state;
    static const struct {
        const char *priorities;
        bool ok;
    } cases[] = {
        {"NORMAL", true},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.3", true},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.2", true},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-256-GCM", true},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+CHACHA20-POLY1305", true},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.1", false},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.0", false},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-CBC:+AES-256-CBC", false},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+RSA", false},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+DHE-RSA", false},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-FFDHE2048", false},
    };
    struct all *a = prepare();
    pki_make(&a->pki, /* an RSA key, with which every one of them would be possible */
             &(struct pki_wish){.name = "live", .issuer = "ca", .cn = "rsa", .rsa = true});
    served_start(&a->served);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct net net;
        a->tls.priorities = cases[i].priorities;
        bool ok = net_open_tls(&net, served_address(&a->served), &a->tls);
        if (ok != cases[i].ok)
            fail_msg("%s was %s", cases[i].priorities, ok ? "accepted" : "refused");
        if (i == 0)
            assert_int_equal(gnutls_protocol_get_version(net.tls), GNUTLS_TLS1_3);
        net_close(&net);
    }
    end(a);
}

static void test_no_resumption(void **state) {
    (void)state;
    static const char *const versions[] = {"NORMAL:-VERS-ALL:+VERS-TLS1.3",
                                           "NORMAL:-VERS-ALL:+VERS-TLS1.2"};
    struct all *a = begin();
    for (int i = 0; i < 2; i++) {
        struct net net;
        struct net_answer answer = {0};
        gnutls_datum_t session;
        a->tls.priorities = versions[i];
        assert_true(net_open_tls(&net, served_address(&a->served), &a->tls));
        assert_true(net_post(&net, "/echo", 3, &answer)); /* a ticket would come with this */
        assert_int_equal(gnutls_session_get_flags(net.tls) & GNUTLS_SFLAGS_SESSION_TICKET, 0);
        assert_int_equal(gnutls_session_get_data2(net.tls, &session), 0);
        gnutls_free(session.data);
        net_answer_done(&answer);
        net_close(&net);
    }
    end(a);
}

static void test_reload(void **state) {
    (void)state;
    struct all *a = begin();
    struct net old;
    struct net_answer answer = {0};
    assert_true(net_open_tls(&old, served_address(&a->served), &a->tls));
    assert_int_equal(net_serial(&old), 1);
    http_listener_poll_files(a->served.listener);
    assert_true(metric_now(reloads) == 0);
    pki_copy(&a->pki, "two.pem", "live.pem");
    pki_copy(&a->pki, "two.key", "live.key");
    expect_serial(a, 1); /* nobody has looked yet */
    http_listener_poll_files(a->served.listener);
    expect_serial(a, 2);
    assert_true(metric_now(reloads) == 1);
    assert_true(metric_now(refusals) == 0);
    assert_true(net_post(&old, "/echo", 5, &answer)); /* the connection from before goes on */
    assert_int_equal(answer.status, 200);
    net_answer_done(&answer);
    net_close(&old);
    end(a);
}

/* While a certificate and its key are swapped one after the other, they do not fit. */
static void test_a_pair_that_does_not_fit_is_refused(void **state) {
    (void)state;
    struct all *a = begin();
    char text[4096];
    (void)logged(a, text, sizeof text);
    pki_copy(&a->pki, "two.pem", "live.pem");
    for (int i = 0; i < 3; i++)
        http_listener_poll_files(a->served.listener);
    assert_int_equal(logged(a, text, sizeof text), 1); /* said once per change */
    assert_contains(text, "they do not belong together");
    assert_true(metric_now(refusals) == 1);
    expect_serial(a, 1);
    pki_copy(&a->pki, "two.key", "live.key");
    http_listener_poll_files(a->served.listener);
    assert_true(metric_now(reloads) == 1);
    expect_serial(a, 2);
    end(a);
}

static void test_files_that_are_broken_or_gone(void **state) {
    (void)state;
    struct all *a = begin();
    char text[4096];
    (void)logged(a, text, sizeof text);
    pki_copy(&a->pki, "one.key", "live.pem"); /* a key where certificates should be */
    http_listener_poll_files(a->served.listener);
    assert_int_equal(logged(a, text, sizeof text), 1);
    assert_contains(text, "no PEM certificates in it");
    assert_int_equal(unlink(a->cert), 0);
    http_listener_poll_files(a->served.listener);
    assert_int_equal(logged(a, text, sizeof text), 1);
    assert_contains(text, "No such file");
    expect_serial(a, 1);
    pki_copy(&a->pki, "two.pem", "live.pem");
    pki_copy(&a->pki, "two.key", "live.key");
    http_listener_poll_files(a->served.listener);
    expect_serial(a, 2);
    end(a);
}

/* As the kubelet does it: the files are links into a folder that is itself a link. */
static void test_symlink_swap(void **state) {
    (void)state;
    struct all *a = prepare();
    char one_pem[512], one_key[512], two_pem[512], two_key[512], spare[512];
    (void)snprintf(one_pem, sizeof one_pem, "%s", pki_path(&a->pki, "one.pem"));
    (void)snprintf(one_key, sizeof one_key, "%s", pki_path(&a->pki, "one.key"));
    (void)snprintf(two_pem, sizeof two_pem, "%s", pki_path(&a->pki, "two.pem"));
    (void)snprintf(two_key, sizeof two_key, "%s", pki_path(&a->pki, "two.key"));
    (void)snprintf(spare, sizeof spare, "%s", pki_path(&a->pki, "spare"));
    assert_int_equal(unlink(a->cert), 0);
    assert_int_equal(unlink(a->key), 0);
    assert_int_equal(symlink(one_pem, a->cert), 0);
    assert_int_equal(symlink(one_key, a->key), 0);
    served_start(&a->served);
    expect_serial(a, 1);
    assert_int_equal(symlink(two_pem, spare), 0);
    assert_int_equal(rename(spare, a->cert), 0);
    assert_int_equal(symlink(two_key, spare), 0);
    assert_int_equal(rename(spare, a->key), 0);
    http_listener_poll_files(a->served.listener);
    expect_serial(a, 2);
    end(a);
}

struct visitor {
    struct all *all;
    _Atomic bool *done;
    unsigned visits, failures;
};

static void *visit(void *arg) {
    struct visitor *v = arg;
    struct net net;
    struct net_answer answer = {0};
    while (!*v->done) {
        bool ok = net_open_tls(&net, served_address(&v->all->served), &v->all->tls);
        ok = ok && net_post(&net, "/echo", 100, &answer) && answer.status == 200;
        v->failures += !ok;
        v->visits++;
        net_close(&net);
    }
    net_answer_done(&answer);
    return NULL;
}

/* Nobody notices that certificates are swapped all the time. */
static void test_reload_under_load(void **state) {
    (void)state;
    struct all *a = begin();
    _Atomic bool done = false;
    struct visitor visitors[2] = {{.all = a, .done = &done}, {.all = a, .done = &done}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, visit, &visitors[i]), 0);
    for (int i = 0; i < 60; i++) {
        pki_copy(&a->pki, i % 2 != 0 ? "one.pem" : "two.pem", "live.pem");
        http_listener_poll_files(a->served.listener); /* does not fit now */
        pki_copy(&a->pki, i % 2 != 0 ? "one.key" : "two.key", "live.key");
        http_listener_poll_files(a->served.listener);
        metric_becomes(reloads, i + 1);
    }
    done = true;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(visitors[i].failures, 0);
        assert_true(visitors[i].visits > 0);
    }
    assert_true(metric_now(refusals) == 60);
    end(a);
}

static void test_expiry(void **state) {
    (void)state;
    struct all *a = begin();
    char text[4096];
    double expires =
        metric_now("evenkeel_certificate_expiration_timestamp_seconds{listener=\"test\"}");
    assert_true(expires > (double)time(NULL) + 3000 && expires < (double)time(NULL) + 3700);
    (void)logged(a, text, sizeof text);
    pki_make(&a->pki, &(struct pki_wish){.name = "live", .cn = "old", .from_s = -90, .to_s = -60});
    http_listener_poll_files(a->served.listener);
    assert_int_equal(logged(a, text, sizeof text), 2); /* a warning, and that it was loaded */
    assert_contains(text, "has expired");
    expires = metric_now("evenkeel_certificate_expiration_timestamp_seconds{listener=\"test\"}");
    assert_true(expires < (double)time(NULL));
    http_listener_poll_files(a->served.listener);
    assert_int_equal(logged(a, text, sizeof text), 0); /* once */
    end(a);
}

/* What is said of the pair in the files, and that it is served whatever its dates are. */
static void test_dates_of_the_pair(void **state) {
    (void)state;
    static const struct {
        int from_s, to_s;
        const char *said; /* NULL: only that it was loaded */
    } cases[] = {
        {-9000, 2000, NULL},
        {-9500, 500, "expires soon: put a renewed pair into its files"},
        {-9000, -1, "has expired, and clients refuse it: put a renewed pair"},
        {3600, 7200, "is not valid yet: set this machine's clock right"},
        {-3600, 3600, NULL}, /* and nothing of the one before */
    };
    struct all *a = begin();
    char text[4096];
    (void)logged(a, text, sizeof text);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pki_make(&a->pki, &(struct pki_wish){.name = "live",
                                             .issuer = "ca",
                                             .cn = "live",
                                             .from_s = cases[i].from_s,
                                             .to_s = cases[i].to_s,
                                             .serial = (unsigned char)(i + 1)});
        http_listener_poll_files(a->served.listener);
        assert_int_equal(logged(a, text, sizeof text), cases[i].said != NULL ? 2 : 1);
        assert_contains(text, cases[i].said != NULL ? cases[i].said : "loaded again");
        struct net net;
        const struct net_tls careless = {.ca_file = NULL};
        assert_true(net_open_tls(&net, served_address(&a->served), &careless));
        assert_int_equal(net_serial(&net), i + 1);
        net_close(&net);
    }
    end(a);
}

static void test_start_errors(void **state) {
    (void)state;
    struct all *a = prepare();
    struct http_listener *l = NULL;
    struct err err;
    a->served.options.tls.cert_file = "/nowhere/tls.crt";
    assert_int_equal(http_listener_start(&a->served.options, clock_real(), &l, &err), -ENOENT);
    assert_contains(err.text, "'/nowhere/tls.crt'");
    a->served.options.tls.cert_file = a->ca;
    assert_int_equal(http_listener_start(&a->served.options, clock_real(), &l, &err), -EINVAL);
    assert_contains(err.text, "they do not belong together");
    a->served.options.tls.cert_file = a->cert;
    a->served.options.tls.key_file = a->cert;
    assert_int_equal(http_listener_start(&a->served.options, clock_real(), &l, &err), -EINVAL);
    assert_contains(err.text, "no unencrypted PEM private key in it");
    a->served.options.tls.key_file = a->key;
    a->served.options.tls.client_ca_file = a->key;
    assert_int_equal(http_listener_start(&a->served.options, clock_real(), &l, &err), -EINVAL);
    assert_contains(err.text, "no PEM certificates in it");
    assert_null(l);
    assert_true(metric_now(reloads) == -1); /* nothing is left behind */
    end(a);
}

static void test_length_of_our_chain(void **state) {
    (void)state;
    struct all *a = prepare();
    struct pki_wish live = {.name = "live", .issuer = "ca", .cn = "far away", .serial = 7};
    struct http_listener *l = NULL;
    struct err err;
    pki_make_chain(&a->pki, &live, LIMIT_TLS_CHAIN + 1);
    assert_int_equal(http_listener_start(&a->served.options, clock_real(), &l, &err), -EINVAL);
    assert_contains(err.text, "more than 16 certificates in it");
    pki_make_chain(&a->pki, &live, LIMIT_TLS_CHAIN);
    served_start(&a->served);
    a->tls.ca_file = NULL;
    expect_serial(a, 7);
    end(a);
}

static struct strbuf read_file(const struct all *a, const char *name) {
    struct strbuf text = {.max = LIMIT_CONFIG_BYTES + 1};
    struct err err;
    assert_int_equal(file_read(pki_path(&a->pki, name), LIMIT_CONFIG_BYTES, &text, &err), 0);
    return text;
}

static int hand_over(struct all *a, const char *certificate, const char *key, struct err *err) {
    struct strbuf certificate_pem = read_file(a, certificate), key_pem = read_file(a, key);
    int r = http_listener_set_certificate(a->served.listener, strbuf_str(&certificate_pem),
                                          strbuf_str(&key_pem), "the test", err);
    strbuf_done(&certificate_pem);
    strbuf_done(&key_pem);
    return r;
}

/* From a Secret, and not from files. */
static void test_handed_over(void **state) {
    (void)state;
    struct all *a = prepare();
    struct net net;
    struct err err;
    a->served.options.tls.cert_file = a->served.options.tls.key_file = NULL;
    a->served.options.tls.handed_over = true;
    served_start(&a->served);
    assert_false(net_open_tls(&net, served_address(&a->served), &a->tls)); /* there is none yet */
    net_close(&net);
    assert_int_equal(hand_over(a, "one.pem", "one.key", &err), 0);
    expect_serial(a, 1);
    http_listener_poll_files(a->served.listener); /* there are none */
    assert_int_equal(hand_over(a, "two.pem", "one.key", &err), -EINVAL);
    assert_contains(err.text, "'the test': they do not belong together");
    assert_int_equal(hand_over(a, "two.key", "two.key", &err), -EINVAL);
    expect_serial(a, 1);
    assert_int_equal(hand_over(a, "two.pem", "two.key", &err), 0);
    expect_serial(a, 2);
    assert_true(metric_now(reloads) == 2);
    assert_true(metric_now(refusals) == 2);
    end(a);
}

static void test_a_file_and_handed_over(void **state) {
    (void)state;
    struct all *a = prepare();
    struct http_listener *l = NULL;
    struct err err;
    a->served.options.tls.handed_over = true;
    assert_int_equal(http_listener_start(&a->served.options, clock_real(), &l, &err), -EINVAL);
    assert_contains(err.text, "not both");
    end(a);
}

int main(void) {
    clock_fake_init(&log_clock, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions_and_ciphers),
        cmocka_unit_test(test_no_resumption),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_a_pair_that_does_not_fit_is_refused),
        cmocka_unit_test(test_files_that_are_broken_or_gone),
        cmocka_unit_test(test_symlink_swap),
        cmocka_unit_test(test_reload_under_load),
        cmocka_unit_test(test_expiry),
        cmocka_unit_test(test_dates_of_the_pair),
        cmocka_unit_test(test_start_errors),
        cmocka_unit_test(test_length_of_our_chain),
        cmocka_unit_test(test_handed_over),
        cmocka_unit_test(test_a_file_and_handed_over),
    };
    return cmocka_run_group_tests_name("tls", tests, NULL, NULL);
}
