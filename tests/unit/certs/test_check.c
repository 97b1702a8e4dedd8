#include "certs/check.h"

#include "unit/certs/issued.h"

/* An authority of 100 days and a server's certificate of 50, as files. */
struct fixture {
    char *dir;
    struct authority *authority;
};

static int set_up(void **state) {
    static struct fixture f;
    if (make_folder((void **)&f.dir) != 0)
        return -1;
    f.authority = new_authority("test CA", 100, NOW);
    struct issued ca = save(f.authority);
    struct issued leaf = issue_server(f.authority, 50, NOW, "a.example", "10.0.0.1", "fd00::1");
    put_file(in(f.dir, "ca.crt"), strbuf_str(&ca.certificate), 0644);
    put_file(in(f.dir, "tls.crt"), strbuf_str(&leaf.certificate), 0644);
    put_file(in(f.dir, "tls.key"), strbuf_str(&leaf.key), 0600);
    issued_done(&ca);
    issued_done(&leaf);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    authority_free(f->authority);
    return remove_folder((void **)&f->dir);
}

struct question {
    const char *certificate, *key, *ca; /* names of files; NULL: the usual ones */
    const char *host, *other_host;      /* NULL: none */
    int64_t at_s;
    int within_days;
};

/* Asks, and compares the problems with `wanted`: part of each, in order, NULL at the end. */
static void check(const struct fixture *f, struct question q, const char *const *wanted) {
    const struct str hosts[] = {str_of(q.host), str_of(q.other_host)};
    char certificate[512], key[512], ca[512];
    (void)snprintf(certificate, sizeof certificate, "%s/%s", f->dir,
                   q.certificate != NULL ? q.certificate : "tls.crt"); /* short, as below */
    (void)snprintf(key, sizeof key, "%s/%s", f->dir, q.key != NULL ? q.key : "tls.key");
    (void)snprintf(ca, sizeof ca, "%s/%s", f->dir, q.ca != NULL ? q.ca : "ca.crt");
    const struct check_request request = {.certificate_path = certificate,
                                          .key_path = key,
                                          .ca_path = ca,
                                          .hosts = hosts,
                                          .host_count = q.other_host != NULL ? 2 : q.host != NULL,
                                          .within_days = q.within_days,
                                          .now_s = q.at_s};
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct check_report report;
    struct err err;
    check_ok(certs_check(&request, &arena, &report, &err), &err);
    for (size_t i = 0; i < report.count; i++) {
        if (wanted[i] == NULL)
            fail_msg("not expected: %s", report.problems[i].p);
        assert_contains(report.problems[i].p, wanted[i]);
    }
    if (wanted[report.count] != NULL)
        fail_msg("missing: %s", wanted[report.count]);
    arena_done(&arena);
}

#define CHECK(f, q, ...) check(f, (struct question)q, (const char *const[]){__VA_ARGS__, NULL})
#define Q(...)                                                                                     \
    { __VA_ARGS__ }

static void test_all_is_well(void **state) {
    CHECK(*state, Q(.at_s = NOW, .within_days = 14), NULL);
    CHECK(*state, Q(.at_s = NOW, .host = "a.example"), NULL);
    CHECK(*state, Q(.at_s = NOW, .host = "fd00:0::1"), NULL);
    CHECK(*state, Q(.at_s = NOW - 200), NULL);
}

static void test_dates(void **state) {
    CHECK(*state, Q(.at_s = NOW + 36 * DAY, .within_days = 14), NULL);
    CHECK(*state, Q(.at_s = NOW + 36 * DAY + 1, .within_days = 14),
          "tls.crt: the certificate expires in 13 days, on 2026-02-20 00:00:00 UTC: renew it");
    CHECK(*state, Q(.at_s = NOW + 50 * DAY, .within_days = 0),
          "tls.crt: the certificate expired on 2026-02-20 00:00:00 UTC: renew it");
    CHECK(*state, Q(.at_s = NOW + 90 * DAY, .within_days = 14), "the certificate expired on",
          "ca.crt: the CA certificate expires in 10 days, on 2026-04-11 00:00:00 UTC: make a new");
    CHECK(*state, Q(.at_s = NOW + 100 * DAY), "the certificate expired on",
          "ca.crt: the CA certificate expired on");
    CHECK(
        *state, Q(.at_s = NOW - 301),
        "the certificate is not valid before 2025-12-31 23:55:00 UTC: check this machine's clock");
}

static void test_host(void **state) {
    CHECK(*state, Q(.at_s = NOW, .host = "b.example"),
          "tls.crt: the certificate is not for host 'b.example': issue a certificate for it");
    CHECK(*state, Q(.at_s = NOW, .host = "server"), "not for host 'server'"); /* its CN */
    CHECK(*state, Q(.at_s = NOW, .host = "a:1"), "leave out the port");
    CHECK(*state, Q(.at_s = NOW, .host = "a.example", .other_host = "b.example"),
          "not for host 'b.example'");
    CHECK(*state, Q(.at_s = NOW, .host = "b.example", .other_host = "c.example"),
          "not for host 'b.example'", "not for host 'c.example'");
}

static void test_no_names(void **state) {
    struct fixture *f = *state;
    struct issued leaf = issue_server(f->authority, 50, NOW, NULL, NULL, NULL);
    put_file(in(f->dir, "bare.crt"), strbuf_str(&leaf.certificate), 0644);
    put_file(in(f->dir, "bare.key"), strbuf_str(&leaf.key), 0600);
    issued_done(&leaf);
    CHECK(f, Q(.certificate = "bare.crt", .key = "bare.key", .at_s = NOW, .host = "server"),
          "no subject alternative names, and clients written in Go ignore the common name 'server'",
          "not for host 'server'");
}

static void test_key(void **state) {
    struct fixture *f = *state;
    struct issued other = issue_server(f->authority, 50, NOW, "a.example", NULL, NULL);
    put_file(in(f->dir, "other.key"), strbuf_str(&other.key), 0600);
    issued_done(&other);
    CHECK(f, Q(.key = "other.key", .at_s = NOW),
          "other.key: the key does not belong to the certificate");
    CHECK(f, Q(.key = "ca.crt", .at_s = NOW), "the key is open to every user (mode 0644): chmod",
          "ca.crt: no private key without a passphrase in it");
    assert_int_equal(chmod(in(f->dir, "tls.key"), 0640), 0); /* a group may: Secrets with fsGroup */
    CHECK(f, Q(.at_s = NOW), NULL);
    assert_int_equal(chmod(in(f->dir, "tls.key"), 0604), 0);
    CHECK(f, Q(.at_s = NOW), "tls.key: the key is open to every user (mode 0604): chmod 600");
}

static void test_wrong_authority(void **state) {
    struct fixture *f = *state;
    struct authority *other = new_authority("test CA", 100, NOW);
    struct issued ca = save(other);
    put_file(in(f->dir, "other.crt"), strbuf_str(&ca.certificate), 0644);
    issued_done(&ca);
    authority_free(other);
    CHECK(f, Q(.ca = "other.crt", .at_s = NOW), "the certificate does not lead to the CA in");
    CHECK(f, Q(.ca = "tls.key", .at_s = NOW), "CA bundle: no certificate");
}

static void test_client_certificate(void **state) {
    struct fixture *f = *state;
    const struct leaf_request request = {
        .common_name = STR("c"), .client = true, .days = 50, .now_s = NOW};
    struct issued client = {0};
    struct err err;
    check_ok(authority_issue(f->authority, &request, &client.certificate, &client.key, &err), &err);
    put_file(in(f->dir, "client.crt"), strbuf_str(&client.certificate), 0644);
    put_file(in(f->dir, "client.key"), strbuf_str(&client.key), 0600);
    issued_done(&client);
    CHECK(f, Q(.certificate = "client.crt", .key = "client.key", .at_s = NOW),
          "client.crt: the certificate is not for servers", "no subject alternative names");
}

static void test_chain(void **state) {
    struct fixture *f = *state;
    struct strbuf chain = {0};
    struct err err;
    check_ok(file_read(in(f->dir, "tls.crt"), 1 << 16, &chain, &err), &err);
    struct authority *old = new_authority("old", 1, NOW - 10 * DAY);
    struct issued ca = save(old);
    strbuf_append_str(&chain, strbuf_str(&ca.certificate));
    put_file(in(f->dir, "chain.crt"), strbuf_str(&chain), 0644);
    CHECK(f, Q(.certificate = "chain.crt", .at_s = NOW),
          "chain.crt: an intermediate certificate expired on 2025-12-23");
    issued_done(&ca);
    authority_free(old);
    strbuf_done(&chain);
}

static void test_unreadable(void **state) {
    CHECK(*state, Q(.certificate = "none", .key = "none", .ca = "none", .at_s = NOW),
          "none': No such file or directory: give a file that this user can read",
          "none': No such file", "none': No such file");
    CHECK(*state, Q(.certificate = "tls.key", .at_s = NOW),
          "tls.key: no certificate (-----BEGIN CERTIFICATE-----) in it: give the server's");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_is_well, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dates, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_host, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_authority, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_client_certificate, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unreadable, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
